//! A weak background for small tables: the locally scaled affinity of all pairs, added to the sparse graph.
//!
//! On tables of a few hundred rows without clear groups one label for each class has to be compared over the whole table, and 15 neighbors are too
//! narrow for that: what is farther than a few steps depends on single edges. A background W + ε·W_ls with ε = 1/(10·N) hardly changes a
//! graph with structure. Where it has none, because not even the best cut is a bottleneck, there is nothing to lose, and ε grows up to .1
//! with the second eigenvalue of the normalized Laplacian: ε = .1/N + min(.1, (λ₂/.08)⁴). docs/decisions/0027 has the measurements.

use rayon::prelude::*;

use super::WEAK;
use crate::affinity::AffinityKind;
use crate::error::Result;
use crate::graph::SparseGraph;
use crate::neighbors::NeighborGraph;
use crate::progress::Run;
use crate::scale::{FirstScale, first_scales};
use crate::spectral::{EigenParams, Laplacian, LaplacianKind, smallest_eigenpairs};

/// The scale of a point is the distance to this neighbor,
const NEIGHBOR: usize = 7;
/// and at least this share of the median scale, as in the preset `local-scaling`.
const SCALE_FLOOR: f64 = 0.5;
/// The weight of the background in a graph with bottlenecks, times the number of nodes; and its largest in one without.
const WEIGHT: f64 = 0.1;
/// The second eigenvalue at which that would be 1.
const NO_BOTTLENECK: f64 = 0.08;

/// The graph with a background. `distance` is that of two nodes.
pub fn with_background(
    graph: &SparseGraph,
    neighbors: &NeighborGraph,
    distance: impl Fn(usize, usize) -> f64 + Sync,
    run: &Run<'_>,
) -> Result<SparseGraph> {
    let n = graph.n_nodes();
    let weight = WEIGHT / n as f64 + WEIGHT.min((second_eigenvalue(graph, run)? / NO_BOTTLENECK).powi(4));
    let scale = FirstScale::KthNeighbor { k: NEIGHBOR.min(neighbors.k()) };
    let scales = first_scales(neighbors, &scale, SCALE_FLOOR)?;
    let inverse: Vec<f64> = scales.values().iter().map(|scale| 1.0 / scale).collect();
    let heaviest = graph.weights().iter().copied().fold(0.0, f64::max);
    let between = |i: usize, j: usize| {
        let (i, j) = (i.min(j), i.max(j));
        let distance = distance(i, j);
        let kind = AffinityKind::SquaredDistance;
        weight * (-kind.exponent(distance * distance, inverse[i], inverse[j])).exp()
    };
    let row = |i: usize| {
        let mut sparse = graph.row(i).peekable();
        let mut entries: Vec<(u32, f64)> = Vec::with_capacity(n);
        for j in (0..n).filter(|&j| j != i) {
            let own = sparse.next_if(|(id, _)| *id as usize == j);
            let background = Some(between(i, j)).filter(|weight| *weight > WEAK * heaviest);
            if own.is_some() || background.is_some() {
                entries.push((j as u32, own.map_or(0.0, |own| own.1) + background.unwrap_or(0.0)));
            }
        }
        entries
    };
    let rows: Vec<Vec<(u32, f64)>> = (0..n).into_par_iter().map(row).collect();
    let mut offsets = vec![0u64];
    rows.iter().for_each(|row| offsets.push(offsets[offsets.len() - 1] + row.len() as u64));
    let (ids, weights) = rows.into_iter().flatten().unzip();
    SparseGraph::new(offsets, ids, weights)
}

/// The second eigenvalue of the normalized Laplacian; 0 if the graph is not connected.
fn second_eigenvalue(graph: &SparseGraph, run: &Run<'_>) -> Result<f64> {
    if graph.components().len() > 1 || graph.n_nodes() < 3 {
        return Ok(0.0);
    }
    let laplacian = Laplacian::new(graph, LaplacianKind::Symmetric);
    Ok(smallest_eigenpairs(&laplacian, 2, &EigenParams::default(), run)?.values[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::Metric;
    use crate::neighbors::{Space, nearest_neighbors};
    use crate::params::Preset;
    use crate::points::Points;
    use crate::random::{Stage, Stream};
    use crate::robust::robust_graph;

    fn robust(n: usize, n_groups: usize) -> (Space, SparseGraph, NeighborGraph) {
        let mut draws = Stream::new(3, Stage::Generator).at(0, 0);
        let values = (0..5 * n).map(|at| draws.normal() + 12.0 * ((at / 5) % n_groups) as f64).collect();
        let space = Space::from_points(Points::new(values, 5).unwrap(), Metric::Euclidean).unwrap();
        let neighbors = nearest_neighbors(&space, 12, &Run::new(0)).unwrap();
        let graph =
            robust_graph(&space, &Preset::Robust.params().check().unwrap(), &Run::new(0)).unwrap().graph;
        (space, graph, neighbors)
    }

    #[test]
    fn the_background_is_local_scaling_and_weak_where_there_are_groups() {
        for (n_groups, is_weak) in [(2, true), (1, false)] {
            let (space, graph, neighbors) = robust(120, n_groups);
            let found =
                with_background(&graph, &neighbors, |i, j| space.distance(i, j), &Run::new(0)).unwrap();
            let plain = robust_graph(&space, &Preset::LocalScaling.params().check().unwrap(), &Run::new(0));
            let plain = plain.unwrap().graph;
            let added = |i: usize, j: usize| found.weight(i, j).unwrap() - graph.weight(i, j).unwrap_or(0.0);
            let epsilon = added(0, 2) / plain.weight(0, 2).unwrap();
            assert!(
                (epsilon < 0.001) == is_weak && (0.1 / 120.0..0.2).contains(&(epsilon * 1.000001)),
                "{epsilon}"
            );
            for (i, j) in [(0, 4), (3, 17), (5, 99)] {
                let expected = epsilon * plain.weight(i, j).unwrap_or(0.0);
                assert!((added(i, j) - expected).abs() <= 1e-9 * epsilon, "{i} {j}");
            }
        }
    }
}
