//! A weak background for small tables: the locally scaled affinity of all pairs, added to the sparse graph.
//!
//! On tables of a few hundred rows without clear groups one label for each class has to be compared over the whole table, and 15 neighbors are too
//! narrow for that: what is farther than a few steps depends on single edges. A background W + ε·W_ls with ε = 1/(10·N) hardly changes a
//! graph with structure. Where it has none, because not even the best cut is a bottleneck, there is nothing to lose, and ε grows up to .1
//! with the second eigenvalue of the normalized Laplacian: ε = .1/N + min(.1, (λ₂/.08)⁴). docs/decisions/0027 has the measurements.

use rayon::prelude::*;

use super::WEAK;
use crate::error::Result;
use crate::graph::{Components, SparseGraph};
use crate::neighbors::{Gathered, NeighborGraph, Space};
use crate::progress::Run;
use crate::scale::{FirstScale, first_scales};
use crate::spectral::{EigenParams, Laplacian, LaplacianKind, smallest_eigenpairs};
use crate::vectorized::{largest, vectorized};

/// The scale of a point is the distance to this neighbor,
const NEIGHBOR: usize = 7;
/// and at least this share of the median scale, as in the preset `local-scaling`.
const SCALE_FLOOR: f64 = 0.5;
/// The weight of the background in a graph with bottlenecks, times the number of nodes; and its largest in one without.
const WEIGHT: f64 = 0.1;
/// The second eigenvalue at which that would be 1.
const NO_BOTTLENECK: f64 = 0.08;

/// Edges lighter than this share of the heaviest may be cut to see how small that eigenvalue is.
const WEAK_CUT: f64 = 1e-3;

/// Nodes whose distances are computed together.
const TOGETHER: usize = 64;

/// The graph with a background. The nodes are these rows of the space.
pub fn with_background(
    graph: &SparseGraph,
    neighbors: &NeighborGraph,
    space: &Space,
    rows: &[u32],
    run: &Run<'_>,
) -> Result<SparseGraph> {
    let n = graph.n_nodes();
    let weight = weight_of(graph, run)?;
    let scale = FirstScale::KthNeighbor { k: NEIGHBOR.min(neighbors.k()) };
    let scales = first_scales(neighbors, &scale, SCALE_FLOOR)?;
    let inverse: Vec<f64> = scales.values().iter().map(|scale| 1.0 / scale).collect();
    let least = WEAK * largest(graph.weights());
    // Above this exponent a weight is certainly too weak: no exponential is needed to see that.
    let too_far = (weight / least).ln() + 1.0;
    let of_exponent = |exponent: f64| {
        let background = if exponent > too_far { 0.0 } else { weight * (-exponent).exp() };
        if background > least { background } else { 0.0 }
    };
    let gathered: Vec<Gathered> = rows
        .chunks(TOGETHER)
        .map(|rows| {
            let mut gathered = Gathered::default();
            space.gather(rows.iter().copied(), &mut gathered);
            gathered
        })
        .collect();
    // Each pair once, from its lower end.
    let upper = |i: usize| {
        let mut sparse = graph.row(i).filter(|(id, _)| *id as usize > i);
        let mut entries: Vec<(u32, f64)> = Vec::new();
        let mut exponents = [0.0; TOGETHER];
        let mut next = sparse.next().unwrap_or(NOTHING);
        for (chunk, gathered) in gathered.iter().enumerate().skip((i + 1) / TOGETHER) {
            let first = chunk * TOGETHER;
            let exponents = &mut exponents[..gathered.ids().len()];
            space.distances_to(rows[i] as usize, gathered, exponents);
            to_exponents(exponents, &inverse[first..], inverse[i]);
            for (j, &exponent) in (first..).zip(exponents.iter()).skip((i + 1).saturating_sub(first)) {
                // Most pairs are neither near nor neighbors.
                let is_neighbor = next.0 as usize == j;
                if exponent > too_far && !is_neighbor {
                    continue;
                }
                let total = of_exponent(exponent) + if is_neighbor { next.1 } else { 0.0 };
                if is_neighbor {
                    next = sparse.next().unwrap_or(NOTHING);
                }
                if total > 0.0 {
                    entries.push((j as u32, total));
                }
            }
        }
        entries
    };
    let upper: Vec<_> = (0..n).into_par_iter().with_min_len(TOGETHER).map(upper).collect();
    SparseGraph::from_upper_rows(&upper)
}

/// After the last neighbor.
const NOTHING: (u32, f64) = (u32::MAX, 0.0);

vectorized! {
    /// Distances from a point become the exponents d²/(σ_i·σ_j), multiplied in the same order as for every affinity.
    fn to_exponents<'a>(distances: &'a mut [f64], inverse: &'a [f64], own: f64) -> () {
        for (distance, inverse) in distances.iter_mut().zip(inverse) {
            *distance = *distance * *distance * own * inverse;
        }
    }
}

/// ε. A cut can show that the eigenvalue is too small to change a bit of it; then it is not computed.
fn weight_of(graph: &SparseGraph, run: &Run<'_>) -> Result<f64> {
    let at =
        |eigenvalue: f64| WEIGHT / graph.n_nodes() as f64 + WEIGHT.min((eigenvalue / NO_BOTTLENECK).powi(4));
    match best_weak_cut(graph) {
        Some(bound) if at(bound) == at(0.0) => Ok(at(0.0)),
        _ => Ok(at(second_eigenvalue(graph, run)?)),
    }
}

/// An upper bound on the second eigenvalue, from the cuts around the parts that only weak edges join; `None` if there is one part. A
/// set S of nodes has the Rayleigh quotient cut(S)·vol/(vol(S)·(vol − vol(S))).
fn best_weak_cut(graph: &SparseGraph) -> Option<f64> {
    let least = WEAK_CUT * graph.weights().iter().copied().fold(0.0, f64::max);
    let parts = Components::of_strong_edges(graph, |_, _, weight| weight >= least);
    if parts.len() == 1 {
        return None;
    }
    let (mut volumes, mut cuts) = (vec![0.0; parts.len()], vec![0.0; parts.len()]);
    for (node, &part) in parts.of_nodes().iter().enumerate() {
        for (other, weight) in graph.row(node) {
            volumes[part as usize] += weight;
            cuts[part as usize] += if parts.of_nodes()[other as usize] == part { 0.0 } else { weight };
        }
    }
    let total: f64 = volumes.iter().sum();
    let quotients = cuts.iter().zip(&volumes).map(|(cut, volume)| cut * total / (volume * (total - volume)));
    Some(quotients.fold(f64::INFINITY, f64::min))
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
    use crate::neighbors::nearest_neighbors;
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

    /// The same pair by pair, both ends of each.
    fn naive(
        graph: &SparseGraph,
        neighbors: &NeighborGraph,
        distance: impl Fn(usize, usize) -> f64,
    ) -> SparseGraph {
        let n = graph.n_nodes();
        let weight = weight_of(graph, &Run::new(0)).unwrap();
        let scale = FirstScale::KthNeighbor { k: NEIGHBOR };
        let scales = first_scales(neighbors, &scale, SCALE_FLOOR).unwrap();
        let least = WEAK * graph.weights().iter().copied().fold(0.0, f64::max);
        let row = |i: usize| {
            let others = (0..n).filter(|&j| j != i).map(|j| {
                let (a, b) = (i.min(j), i.max(j));
                let (inverse_a, inverse_b) = (1.0 / scales.get(a), 1.0 / scales.get(b));
                let background = weight * (-(distance(a, b) * distance(a, b) * inverse_a * inverse_b)).exp();
                let background = if background > least { background } else { 0.0 };
                (j as u32, graph.weight(i, j).unwrap_or(0.0) + background)
            });
            others.filter(|(_, total)| *total > 0.0).collect()
        };
        SparseGraph::from_symmetric_rows((0..n).map(row).collect()).unwrap()
    }

    #[test]
    fn a_cut_bounds_the_eigenvalue() {
        for n_groups in [2, 3] {
            let (_, graph, _) = robust(120, n_groups);
            let (bound, exact) =
                (best_weak_cut(&graph).unwrap(), second_eigenvalue(&graph, &Run::new(0)).unwrap());
            assert!(exact <= bound * (1.0 + 1e-6) && bound < 1e-6, "{exact} {bound}");
        }
        assert_eq!(best_weak_cut(&robust(120, 1).1), None);
    }

    #[test]
    fn the_background_is_local_scaling_and_weak_where_there_are_groups() {
        for (n_groups, is_weak) in [(2, true), (1, false)] {
            let (space, graph, neighbors) = robust(120, n_groups);
            let every: Vec<u32> = (0..120).collect();
            let found = with_background(&graph, &neighbors, &space, &every, &Run::new(0)).unwrap();
            assert_eq!(found, naive(&graph, &neighbors, |i, j| space.distance(i, j)));
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
