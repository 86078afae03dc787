//! Path-based similarity (Chang and Yeung 2005, 2008): two points are as similar as the weakest step of the best path between
//! them.
//!
//! With −ln of the similarities as costs, this is the minimax path, and the best paths run in the minimum spanning tree. In
//! the robust form points in sparse regions count less: the similarity of i and j is multiplied by α_i·α_j, where α_i is the sum of
//! the similarities of i to its neighbors, relative to the largest such sum. An outlier is then no stepping stone between two groups.

use super::BaselineGraph;
use super::plain::{median, refuse_all_pairs};
use crate::edges::Edges;
use crate::error::{Result, require};
use crate::graph::SparseGraph;
use crate::neighbors::{NeighborGraph, Space, nearest_neighbors};
use crate::progress::Run;

/// Whether points in sparse regions count less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PathWeights {
    /// All points count equally.
    Plain,
    /// Points in sparse regions count less.
    #[default]
    Robust,
}

/// Parameters of path-based similarity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathBasedParams {
    /// Whether points in sparse regions count less.
    pub weights: PathWeights,
    /// σ of the similarities exp(−d²/(2σ²)); `None` uses the median distance to the last neighbor.
    pub scale: Option<f64>,
    /// Number of neighbors that determine the scale and the density.
    pub neighbors: usize,
}

impl Default for PathBasedParams {
    fn default() -> Self {
        Self { weights: PathWeights::default(), scale: None, neighbors: 7 }
    }
}

/// The graph of the path-based similarities of all pairs.
pub fn path_based_graph(space: &Space, params: &PathBasedParams, run: &Run<'_>) -> Result<BaselineGraph> {
    let (distinct, duplicates) = space.distinct(run)?;
    refuse_all_pairs(distinct.len(), run)?;
    let neighbors =
        nearest_neighbors(&distinct, params.neighbors.min(distinct.len().saturating_sub(1)), run)?;
    let scale = params.scale.unwrap_or_else(|| {
        let last: Vec<f64> = (0..distinct.len()).map(|i| neighbors.distances(i)[neighbors.k() - 1]).collect();
        median(&last)
    });
    require(scale > 0.0 && scale.is_finite(), "path scale", scale, "must be finite and above 0")?;
    run.stage("paths", None)?;
    let surcharges = match params.weights {
        PathWeights::Plain => vec![0.0; distinct.len()],
        PathWeights::Robust => surcharges(&neighbors, scale),
    };
    let cost = |i: usize, j: usize| {
        distinct.distance(i, j).powi(2) / (2.0 * scale * scale) + surcharges[i] + surcharges[j]
    };
    let edges = Edges::all_pairs(distinct.len());
    let weights: Vec<f64> = path_costs(&edges, cost, run)?.into_iter().map(|cost| (-cost).exp()).collect();
    run.check()?;
    Ok(BaselineGraph { graph: SparseGraph::from_edges(&edges, &weights)?, duplicates })
}

/// −ln α of each point.
fn surcharges(neighbors: &NeighborGraph, scale: f64) -> Vec<f64> {
    let similarity = |d: &f64| (-d * d / (2.0 * scale * scale)).exp();
    let sums: Vec<f64> =
        (0..neighbors.len()).map(|i| neighbors.distances(i).iter().map(similarity).sum()).collect();
    let most = sums.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    sums.iter().map(|sum| -(sum / most).max(f64::MIN_POSITIVE).ln()).collect()
}

/// For each pair, the smallest possible maximum step cost of a path between them, in the order of all pairs.
///
/// # Panics
/// If `edges` are not all pairs.
pub fn path_costs(
    edges: &Edges,
    cost: impl Fn(usize, usize) -> f64 + Sync,
    run: &Run<'_>,
) -> Result<Vec<f64>> {
    let n = edges.n_nodes();
    assert_eq!(edges.len(), n * n.saturating_sub(1) / 2, "all pairs");
    let tree = spanning_tree(n, &cost, run)?;
    let mut costs = vec![0.0; edges.len()];
    edges.for_each_row(&mut costs, 1, |i, numbers, row| {
        if run.progress.canceled() {
            return;
        }
        // From i through the tree, with the costliest step so far.
        let mut dearest = vec![0.0f64; n];
        let mut is_reached = vec![false; n];
        is_reached[i] = true;
        let mut reached = vec![i];
        while let Some(node) = reached.pop() {
            for &(other, step) in &tree[node] {
                if !std::mem::replace(&mut is_reached[other], true) {
                    dearest[other] = dearest[node].max(step);
                    reached.push(other);
                }
            }
        }
        numbers.zip(row).for_each(|(edge, out)| *out = dearest[edges.target(edge) as usize]);
    });
    run.check()?;
    Ok(costs)
}

/// The edges of the minimum spanning tree at each node (Prim's algorithm).
fn spanning_tree(
    n: usize,
    cost: &impl Fn(usize, usize) -> f64,
    run: &Run<'_>,
) -> Result<Vec<Vec<(usize, f64)>>> {
    let mut tree = vec![Vec::new(); n];
    let mut best = vec![(f64::INFINITY, 0usize); n];
    let mut is_in = vec![false; n];
    let mut node = 0;
    for _ in 1..n {
        run.check()?;
        is_in[node] = true;
        let mut next = (f64::INFINITY, usize::MAX);
        for other in (0..n).filter(|&other| !is_in[other]) {
            let step = cost(node, other);
            if step < best[other].0 {
                best[other] = (step, node);
            }
            if best[other].0 < next.0 || next.1 == usize::MAX {
                next = (best[other].0, other);
            }
        }
        let (step, from) = best[next.1];
        tree[from].push((next.1, step));
        tree[next.1].push((from, step));
        node = next.1;
    }
    Ok(tree)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::Metric;
    use crate::points::Points;
    use crate::random::{Stage, Stream};

    /// All pairs by Floyd–Warshall, with the costliest step in place of the sum.
    #[test]
    fn path_costs_equal_the_naive_ones() {
        for n in [1usize, 2, 3, 30] {
            let mut draws = Stream::new(n as u64, Stage::Generator).at(0, 0);
            // Few values, so that there are ties.
            let of_pairs: Vec<f64> = (0..n * n).map(|_| draws.below(6) as f64).collect();
            let given = |i: usize, j: usize| if i == j { 0.0 } else { of_pairs[i.min(j) * n + i.max(j)] };
            let mut naive: Vec<f64> = (0..n * n).map(|place| given(place / n, place % n)).collect();
            for k in 0..n {
                for place in 0..n * n {
                    let through = naive[place / n * n + k].max(naive[k * n + place % n]);
                    naive[place] = naive[place].min(through);
                }
            }
            let edges = Edges::all_pairs(n);
            let found = path_costs(&edges, given, &Run::new(0)).unwrap();
            for ((i, j), cost) in edges.iter().zip(found) {
                assert_eq!(cost, naive[i as usize * n + j as usize]);
            }
        }
    }

    /// Two groups with one point between them: it joins them in the plain form, not in the robust one.
    #[test]
    fn an_outlier_is_no_stepping_stone() {
        let group = |at: f64| (0..8).map(move |i| at + 0.1 * f64::from(i));
        let values: Vec<f64> = group(0.0).chain([1.7]).chain(group(2.7)).collect();
        let space = Space::from_points(Points::new(values, 1).unwrap(), Metric::Euclidean).unwrap();
        let across = |weights: PathWeights| {
            let params = PathBasedParams { weights, scale: Some(0.5), neighbors: 4 };
            path_based_graph(&space, &params, &Run::new(0)).unwrap().graph.weight(0, 16).unwrap()
        };
        assert!((across(PathWeights::Plain) - (-2.0f64).exp()).abs() < 1e-12);
        assert!(across(PathWeights::Robust) < 0.5 * across(PathWeights::Plain));
    }
}
