//! Algorithm 2 of the paper: a greedy walk in the distances of the graph Laplacian kernel.
//!
//! K = L_sym† and S_ij = K_ii + K_jj − 2·K_ij = |z_i − z_j|² with z_i the entries of the eigenvectors at i, each divided
//! by the square root of its eigenvalue. Across components S is infinite: taken literally, the pseudo-inverse would give a
//! small distance there. From node j, up to `max_walk` times, the walk moves to the nearest node not yet visited and ends
//! where that node is labeled; each label is as close as the walk ever came to it. The moves do not depend on the labels,
//! so one table of walks serves every set of labels.

use rayon::prelude::*;

use super::labeled_nodes::LabeledNodes;
use super::rules::Scores;
use crate::distance::Metric;
use crate::error::{Result, require};
use crate::graph::{Components, SparseGraph};
use crate::memory::{MemoryEstimate, refuse_if_over};
use crate::neighbors::{Space, nearest_neighbors};
use crate::points::Points;
use crate::progress::Run;
use crate::spectral::{
    EigenParams, EigenSolver, Laplacian, LaplacianKind, SolverChoice, smallest_eigenpairs,
};

/// Marks the end of a walk.
const END: u32 = u32::MAX;

/// How much of the kernel a walk uses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WalkInfo {
    /// Eigenpairs of the kernel in use.
    pub n_pairs: usize,
    /// Eigenpairs in total.
    pub n_all: usize,
    /// Bound on the largest missing eigenvalue of K, relative to the largest of all; 0 if none is missing.
    pub truncation: f64,
}

/// The walks from every node, independent of labels.
#[derive(Debug, Clone)]
pub struct WalkTable {
    components: Components,
    /// z of each node.
    coordinates: Vec<f64>,
    n_pairs: usize,
    /// All of S, if the coordinates take as much memory anyway.
    distances: Option<Vec<f64>>,
    /// Nodes of the walk from each node, itself first.
    walks: Vec<u32>,
    max_walk: usize,
    truncation: f64,
}

impl WalkTable {
    /// With all eigenpairs: takes the memory and time of a dense eigenproblem.
    pub fn exact(graph: &SparseGraph, max_walk: usize, run: &Run<'_>) -> Result<Self> {
        let components = graph.components();
        let n_pairs = graph.n_nodes() - components.len();
        let dense = EigenParams { solver: SolverChoice::Only(EigenSolver::Dense), ..EigenParams::default() };
        Self::in_pairs(graph, components.clone(), n_pairs, dense, max_walk, run)
    }

    /// With the `n_pairs` leading eigenpairs only.
    pub fn truncated(graph: &SparseGraph, n_pairs: usize, max_walk: usize, run: &Run<'_>) -> Result<Self> {
        let components = graph.components();
        let rule = "must be at least 1 and at most the number of nodes minus the number of components";
        let fits = n_pairs >= 1 && n_pairs + components.len() <= graph.n_nodes();
        require(fits, "kernel pairs", n_pairs, rule)?;
        Self::in_pairs(graph, components.clone(), n_pairs, EigenParams::default(), max_walk, run)
    }

    fn in_pairs(
        graph: &SparseGraph,
        components: Components,
        n_pairs: usize,
        eigen: EigenParams,
        max_walk: usize,
        run: &Run<'_>,
    ) -> Result<Self> {
        require((1..=100).contains(&max_walk), "max walk", max_walk, "must be between 1 and 100")?;
        let n = graph.n_nodes();
        // Coordinates, the copy that is searched, the eigenvectors they come from; and, if all pairs are used, the distances.
        let estimate = |n: usize| {
            let stages = vec![("kernel", 40 * n as u64 * n_pairs.min(n) as u64)];
            MemoryEstimate::of(stages)
        };
        refuse_if_over(n, run.memory_limit, estimate, "walk in fewer eigenpairs")?;
        let laplacian = Laplacian::new(graph, LaplacianKind::Symmetric);
        let found = smallest_eigenpairs(&laplacian, components.len() + n_pairs, &eigen, run)?;
        // The null space comes first; it is known from the components, not from a threshold.
        let values = &found.values[components.len()..];
        let coordinates = coordinates(values, &found.vectors[components.len() * n..], n);
        let mut walks = vec![END; n * max_walk];
        for nodes in components.nodes() {
            walk_component(&nodes, &coordinates, n_pairs, max_walk, &mut walks, run)?;
        }
        let is_exact = n_pairs + components.len() == n;
        // Eigenvalues of K are the inverses: those after the last pair are no larger than its own.
        let truncation = if is_exact { 0.0 } else { values[0] / values[n_pairs - 1] };
        let mut table =
            Self { components, coordinates, n_pairs, distances: None, walks, max_walk, truncation };
        if is_exact {
            let row = |i: usize| (0..n).map(|j| table.distance(i, j)).collect::<Vec<f64>>();
            table.distances = Some((0..n).into_par_iter().flat_map_iter(row).collect());
        }
        Ok(table)
    }

    /// S between two nodes: the kernel distance, infinite across components.
    pub fn kernel_distance(&self, i: usize, j: usize) -> f64 {
        let of = self.components.of_nodes();
        if of[i] == of[j] { self.distance(i, j) } else { f64::INFINITY }
    }

    fn distance(&self, i: usize, j: usize) -> f64 {
        if let Some(distances) = &self.distances {
            return distances[i * self.components.of_nodes().len() + j];
        }
        let at = |node: usize| &self.coordinates[node * self.n_pairs..(node + 1) * self.n_pairs];
        at(i).iter().zip(at(j)).map(|(a, b)| (a - b) * (a - b)).sum()
    }

    /// How much of the kernel is used.
    pub fn info(&self) -> WalkInfo {
        let n_all = self.components.of_nodes().len() - self.components.len();
        WalkInfo { n_pairs: self.n_pairs, n_all, truncation: self.truncation }
    }

    /// For each node and class, minus the smallest distance from the walk to a label of the class.
    pub(super) fn scores(&self, labeled: &LabeledNodes) -> Scores {
        let (n, width) = (self.components.of_nodes().len(), labeled.n_classes());
        let of_nodes = self.components.of_nodes();
        let mut values = vec![f64::NEG_INFINITY; n * width];
        for (node, row) in values.chunks_exact_mut(width).enumerate() {
            let walk = &self.walks[node * self.max_walk..(node + 1) * self.max_walk];
            for (step, &place) in walk.iter().enumerate() {
                // The walk ends before a labeled node; its starting node does not count.
                if place == END || (step > 0 && labeled.get(place as usize).is_some()) {
                    break;
                }
                for (label, class) in labeled.iter() {
                    if of_nodes[label as usize] == of_nodes[node] {
                        let best = &mut row[class as usize];
                        *best = best.max(-self.distance(place as usize, label as usize));
                    }
                }
            }
        }
        let info = super::SolveInfo { iterations: 0, residual: 0.0 };
        Scores { values, info }
    }
}

/// z of each of the `n` nodes: its entries of the eigenvectors, each divided by the square root of its eigenvalue.
fn coordinates(values: &[f64], vectors: &[f64], n: usize) -> Vec<f64> {
    let mut coordinates = vec![0.0; n * values.len()];
    for (pair, (value, vector)) in values.iter().zip(vectors.chunks_exact(n)).enumerate() {
        let root = value.sqrt();
        let places = coordinates[pair..].iter_mut().step_by(values.len());
        places.zip(vector).for_each(|(place, v)| *place = v / root);
    }
    coordinates
}

/// The walks within one component. At most `max_walk` − 1 other nodes have been visited when the walk moves, so one of the
/// `max_walk` nearest is always new.
fn walk_component(
    nodes: &[u32],
    coordinates: &[f64],
    n_pairs: usize,
    max_walk: usize,
    walks: &mut [u32],
    run: &Run<'_>,
) -> Result<()> {
    if nodes.len() == 1 || n_pairs == 0 {
        nodes.iter().for_each(|&node| walks[node as usize * max_walk] = node);
        return Ok(());
    }
    let at = |&node: &u32| &coordinates[node as usize * n_pairs..(node as usize + 1) * n_pairs];
    let points = Points::new(nodes.iter().flat_map(at).copied().collect(), n_pairs)?;
    let space = Space::from_points(points, Metric::Euclidean)?;
    let near = nearest_neighbors(&space, max_walk.min(nodes.len() - 1), run)?;
    for (start, &node) in nodes.iter().enumerate() {
        let walk = &mut walks[node as usize * max_walk..(node as usize + 1) * max_walk];
        let mut visited = vec![start as u32];
        walk[0] = node;
        for step in walk.iter_mut().skip(1) {
            let here = visited[visited.len() - 1] as usize;
            let Some(&next) = near.ids(here).iter().find(|id| !visited.contains(id)) else { break };
            visited.push(next);
            *step = nodes[next as usize];
        }
    }
    Ok(())
}
