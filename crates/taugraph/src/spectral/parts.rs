//! Nearly separate parts of a graph, as guesses for its smallest eigenvectors.
//!
//! Clusters connected only by weak links give eigenvalues near 0 that are almost equal. Their eigenvectors are
//! almost those of the separate parts, D^½·1 on each: as starting vectors these provide what a random start would have to
//! find one by one.

use super::laplacian::Laplacian;
use crate::dense::dot;
use crate::graph::Components;

/// Edges lighter than this fraction of the geometric mean of their ends' degrees are weak.
const WEAK: f64 = 1e-3;
/// A part is nearly separate if its Rayleigh quotient (cut over volume) is below this fraction of the norm.
const NEARLY: f64 = 5e-3;

/// Guesses for at most `most` parts, largest first, column-major; empty if the graph has no such parts.
pub(super) fn guesses(laplacian: &Laplacian<'_>, most: usize) -> Vec<f64> {
    let graph = laplacian.graph();
    let n = graph.n_nodes();
    let degrees = laplacian.degrees();
    let strong = |i: usize, j: u32, weight: f64| weight >= WEAK * (degrees[i] * degrees[j as usize]).sqrt();
    let components = Components::of_strong_edges(graph, strong);
    if components.len() == 1 {
        return Vec::new();
    }
    let mut volumes = vec![0.0; components.len()];
    components.of_nodes().iter().zip(degrees).for_each(|(&part, degree)| volumes[part as usize] += degree);
    let mut parts: Vec<usize> = (0..components.len()).collect();
    parts.sort_by(|&a, &b| volumes[b].total_cmp(&volumes[a]).then(a.cmp(&b)));
    parts.truncate(most);
    let mut image = vec![0.0; n];
    laplacian
        .part_vectors(&components, parts)
        .chunks_exact(n)
        .filter(|guess| {
            laplacian.apply(guess, &mut image);
            dot(guess, &image) <= NEARLY * laplacian.norm_bound()
        })
        .flatten()
        .copied()
        .collect()
}
