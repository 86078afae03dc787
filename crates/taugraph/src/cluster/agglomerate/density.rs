//! What the neighbors' distances say around each node: how dense it is there, and in how many dimensions.

use rayon::prelude::*;

use crate::graph::SparseGraph;
use crate::neighbors::NeighborGraph;

/// Neighbors that count.
const NEIGHBORS: usize = 15;
/// How often levels are smoothed.
pub(crate) const SMOOTHINGS: usize = 2;
/// Distances below this fraction of the largest count as this: equal points have no logarithm.
const MIN_RATIO: f64 = 1e-6;

/// Density and dimension around each node.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LocalDensity {
    /// u_i: the inverse of the local dimension, after Levina and Bickel (2004).
    pub inverse_dimension: Vec<f64>,
    /// ℓ_i = −ln r, r the distance to the farthest of the neighbors, smoothed twice over the graph: higher where it is denser.
    pub level: Vec<f64>,
}

impl LocalDensity {
    /// From the neighbors of each node.
    pub fn new(neighbors: &NeighborGraph, graph: &SparseGraph) -> Self {
        let k = neighbors.k().min(NEIGHBORS);
        let of_node = |i: usize| of_distances(&neighbors.distances(i)[..k]);
        let (inverse_dimension, mut level): (Vec<f64>, Vec<f64>) =
            (0..neighbors.len()).into_par_iter().map(of_node).unzip();
        for _ in 0..SMOOTHINGS {
            level = smoothed(graph, &level);
        }
        Self { inverse_dimension, level }
    }
}

/// The inverse dimension around a node and its level before smoothing, from the distances to its neighbors.
fn of_distances(distances: &[f64]) -> (f64, f64) {
    let k = distances.len();
    let farthest = distances[k - 1].max(f64::MIN_POSITIVE);
    let ratio = |&distance: &f64| (distance / farthest).max(MIN_RATIO);
    let sum: f64 = distances[..k - 1].iter().map(|distance| -ratio(distance).ln()).sum();
    // Unbiased for the k − 1 ratios of a Poisson process.
    let inverse = if k > 2 { sum / (k - 2) as f64 } else { 1.0 };
    (inverse, -farthest.ln())
}

/// The same for the nodes of a table of distances with `k` columns.
pub(crate) fn unsmoothed_density(distances: &[f64], k: usize) -> (Vec<f64>, Vec<f64>) {
    distances.par_chunks_exact(k).map(|distances| of_distances(&distances[..k.min(NEIGHBORS)])).unzip()
}

/// ½ℓ + ½D⁻¹Wℓ.
pub(crate) fn smoothed(graph: &SparseGraph, values: &[f64]) -> Vec<f64> {
    let of_node = |i: usize| {
        let (mut sum, mut degree) = (0.0, 0.0);
        for (j, weight) in graph.row(i) {
            sum += weight * values[j as usize];
            degree += weight;
        }
        if degree > 0.0 { 0.5 * values[i] + 0.5 * sum / degree } else { values[i] }
    };
    (0..graph.n_nodes()).into_par_iter().map(of_node).collect()
}
