//! Neighbor graphs and the global Gaussian kernel, as most tools build them.

use super::BaselineGraph;
use crate::affinity::{AffinityKind, edge_distances, local_affinity};
use crate::edges::{Edges, Symmetrize};
use crate::error::{Result, require};
use crate::graph::SparseGraph;
use crate::memory::{MemoryEstimate, refuse_if_over};
use crate::neighbors::{Space, nearest_neighbors};
use crate::progress::Run;
use crate::scale::{FirstScale, first_scales};

/// The weights of a neighbor graph's edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeighborWeights {
    /// All equal.
    One,
    /// exp(−d²/(σ_iσ_j)), where the scale σ is the distance to the 7th neighbor, or the last if there are fewer.
    LocallyScaled,
}

/// Connects each point to its `k` nearest neighbors: an edge if either of two points chose the other, or if both did.
pub fn neighbor_graph(
    space: &Space,
    k: usize,
    symmetrize: Symmetrize,
    weights: NeighborWeights,
    run: &Run<'_>,
) -> Result<BaselineGraph> {
    require(k >= 1, "neighbors", k, "must be at least 1")?;
    let (distinct, duplicates) = space.distinct(run)?;
    let neighbors = nearest_neighbors(&distinct, k, run)?;
    let edges = Edges::from_neighbors(&neighbors, k, symmetrize);
    let weights = match weights {
        NeighborWeights::One => vec![1.0; edges.len()],
        NeighborWeights::LocallyScaled => {
            let scales = first_scales(&neighbors, &FirstScale::KthNeighbor { k: k.min(7) }, 0.0)?;
            let distances = edge_distances(&distinct, &edges);
            run.check()?;
            local_affinity(AffinityKind::SquaredDistance, &scales, &edges, &distances)
        }
    };
    Ok(BaselineGraph { graph: SparseGraph::from_edges(&edges, &weights)?, duplicates })
}

/// The width of the Gaussian kernel.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Gamma {
    /// γ = 1/(2·median²) of the distances between all points.
    #[default]
    MedianDistance,
    /// A given γ.
    Given(f64),
}

/// exp(−γ·d²) between all points: memory grows with N².
pub fn rbf_graph(space: &Space, gamma: Gamma, run: &Run<'_>) -> Result<BaselineGraph> {
    let (distinct, duplicates) = space.distinct(run)?;
    refuse_all_pairs(distinct.len(), run)?;
    run.stage("gaussian kernel", None)?;
    let edges = Edges::all_pairs(distinct.len());
    let distances = edge_distances(&distinct, &edges);
    let gamma = match gamma {
        Gamma::Given(gamma) => gamma,
        Gamma::MedianDistance => 0.5 / median(&distances).powi(2),
    };
    require(gamma > 0.0 && gamma.is_finite(), "gamma", gamma, "must be finite and above 0")?;
    let weights: Vec<f64> = distances.iter().map(|d| (-gamma * d * d).exp()).collect();
    run.check()?;
    Ok(BaselineGraph { graph: SparseGraph::from_edges(&edges, &weights)?, duplicates })
}

/// The upper median; 1 for an empty list.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    let middle = values.len() / 2;
    if values.is_empty() { 1.0 } else { *values.select_nth_unstable_by(middle, f64::total_cmp).1 }
}

/// Refuses all pairs if they, with two values on each edge and the resulting graph, would not fit in memory.
pub(super) fn refuse_all_pairs(n: usize, run: &Run<'_>) -> Result<()> {
    let estimate = |n: usize| {
        let pairs = (n as u64).pow(2) / 2;
        MemoryEstimate::of(vec![("all pairs", Edges::bytes(n as u64, pairs) + 40 * pairs)])
    };
    refuse_if_over(n, run.memory_limit, estimate, "use a graph of neighbors")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::Metric;
    use crate::points::Points;

    fn line() -> Space {
        let points = Points::new(vec![0.0, 1.0, 3.0, 3.0, 7.0], 1).unwrap();
        Space::from_points(points, Metric::Euclidean).unwrap()
    }

    #[test]
    fn neighbor_graphs_by_hand() {
        let of =
            |symmetrize| neighbor_graph(&line(), 1, symmetrize, NeighborWeights::One, &Run::new(0)).unwrap();
        // Nearest: 0 → 1, 1 → 0, 3 → 1, 7 → 3; the two points at 3 share a node.
        let union = of(Symmetrize::Union);
        assert_eq!(union.duplicates.node_of_row(), [0, 1, 2, 2, 3]);
        let has = |graph: &SparseGraph, i, j| graph.weight(i, j) == Some(1.0);
        assert!(has(&union.graph, 0, 1) && has(&union.graph, 1, 2) && has(&union.graph, 2, 3));
        assert_eq!(union.graph.n_edges(), 3);
        let mutual = of(Symmetrize::Mutual).graph;
        assert!(has(&mutual, 0, 1) && mutual.n_edges() == 1);
        let scaled =
            neighbor_graph(&line(), 1, Symmetrize::Union, NeighborWeights::LocallyScaled, &Run::new(0));
        // Scales 1, 1, 2, 4.
        assert_eq!(scaled.unwrap().graph.weight(1, 2), Some((-4.0f64 / 2.0).exp()));
    }

    #[test]
    fn the_gaussian_kernel_by_hand() {
        let given = rbf_graph(&line(), Gamma::Given(0.5), &Run::new(0)).unwrap().graph;
        assert_eq!(given.weight(0, 2), Some((-4.5f64).exp()));
        // Distances 1, 2, 3, 4, 6, 7: the upper median is 4.
        let median = rbf_graph(&line(), Gamma::MedianDistance, &Run::new(0)).unwrap().graph;
        assert_eq!(median.weight(0, 1), Some((-1.0f64 / 32.0).exp()));
        assert!(rbf_graph(&line(), Gamma::Given(-1.0), &Run::new(0)).is_err());
    }
}
