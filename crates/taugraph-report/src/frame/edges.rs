//! The edges that the map draws.

use serde_json::{Value, json};
use taugraph::FittedGraph;
use taugraph::graph::SparseGraph;
use taugraph::stochastic::StochasticGraph;

use crate::base64::{packed_u8, packed_u16, packed_u32};
use crate::words::grouped;

/// Maximum number of edges that a browser draws quickly.
const MAX_EDGES: usize = 250_000;

/// An edge between two of the points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// The end with the lower number.
    pub i: u32,
    /// The other end.
    pub j: u32,
    /// The number of quantiles, from the lowest up, at which it is present.
    pub level: u8,
    /// Its probability; in a given graph, its weight relative to the heaviest.
    pub probability: f64,
}

/// The edges shown, sorted by their ends.
pub struct ShownEdges {
    /// The quantiles, ascending; empty for given graphs.
    pub taus: Vec<f64>,
    pub edges: Vec<Edge>,
    /// A note if some are not shown.
    note: String,
}

impl ShownEdges {
    /// Edges between the points shown; the first of equal rows represents all of them.
    pub fn new(graph: &FittedGraph, point_of_node: &[u32]) -> Self {
        let shown = |i: u32, j: u32| {
            let (a, b) = (point_of_node[i as usize], point_of_node[j as usize]);
            (a != u32::MAX && b != u32::MAX).then(|| (a.min(b), a.max(b)))
        };
        let (taus, mut edges) = match graph.robust() {
            Some(part) => of_quantiles(&part.nodes.stochastic, shown),
            None => (Vec::new(), of_weights(graph.node_graph(), shown)),
        };
        let all = edges.len();
        if all > MAX_EDGES {
            // The likeliest and, among equally likely ones, those that persist longest.
            edges.sort_by(|a, b| {
                let likelier = b.probability.total_cmp(&a.probability);
                likelier.then(b.level.cmp(&a.level)).then((a.i, a.j).cmp(&(b.i, b.j)))
            });
            edges.truncate(MAX_EDGES);
        }
        edges.sort_by_key(|edge| (edge.i, edge.j));
        let note = match all > MAX_EDGES {
            true => format!("The {} likeliest of {} edges are drawn.", grouped(MAX_EDGES), grouped(all)),
            false => String::new(),
        };
        Self { taus, edges, note }
    }

    /// The number of edges from each point to higher ones, then those points, the levels and the probabilities.
    pub fn json(&self, n_points: usize) -> Value {
        let mut counts = vec![0u16; n_points];
        self.edges.iter().for_each(|edge| counts[edge.i as usize] += 1);
        let targets = || self.edges.iter().map(|edge| edge.j);
        let targets = match n_points <= usize::from(u16::MAX) {
            true => packed_u16(targets().map(|j| j as u16)),
            false => packed_u32(targets()),
        };
        let share = |probability: f64| (probability.clamp(0.0, 1.0) * 255.0).round() as u8;
        json!({
            "taus": self.taus,
            "note": self.note,
            "counts": packed_u16(counts),
            "targets": targets,
            "levels": packed_u8(self.edges.iter().map(|edge| edge.level)),
            "probabilities": packed_u8(self.edges.iter().map(|edge| share(edge.probability))),
        })
    }
}

/// For a robust graph: the quantiles, and the edges that are present at one of them or more.
fn of_quantiles(
    stochastic: &StochasticGraph,
    shown: impl Fn(u32, u32) -> Option<(u32, u32)>,
) -> (Vec<f64>, Vec<Edge>) {
    let taus: Vec<f64> = stochastic.decay().iter().map(|(tau, _)| *tau).take(usize::from(u8::MAX)).collect();
    let mut levels = vec![0u8; stochastic.edges().len()];
    for &tau in &taus {
        let present = stochastic.present_at(tau);
        levels.iter_mut().zip(present).for_each(|(level, present)| *level += u8::from(present));
    }
    let candidates = stochastic.edges().iter().zip(stochastic.probabilities()).zip(levels);
    let edges = candidates.filter_map(|(((i, j), &probability), level)| {
        shown(i, j).map(|(i, j)| Edge { i, j, level, probability })
    });
    // Edges present at no quantile are never drawn.
    (taus, edges.filter(|edge| edge.level > 0).collect())
}

/// For a given graph: all edges.
fn of_weights(graph: &SparseGraph, shown: impl Fn(u32, u32) -> Option<(u32, u32)>) -> Vec<Edge> {
    let heaviest = graph.weights().iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let of_node = |i: u32| graph.row(i as usize).filter(move |(j, _)| i < *j).map(move |(j, w)| (i, j, w));
    let edge = |(i, j, weight): (u32, u32, f64)| {
        shown(i, j).map(|(i, j)| Edge { i, j, level: 0, probability: weight / heaviest })
    };
    (0..graph.n_nodes() as u32).flat_map(of_node).filter_map(edge).collect()
}
