//! Persistence of edges whose ends may be on different machines: each end counts its half of the pool, and the halves are added.

use rayon::prelude::*;

use crate::affinity::{AffinityKind, ScaledSpace};
use crate::error::{Error, Result};
use crate::neighbors::Space;
use crate::progress::Run;
use crate::quantile::{Around, Neighborhood};

/// Nodes that one thread processes in sequence.
const TOGETHER: usize = 128;

/// The half of the pool around the own end of each edge, in the order of the edges.
///
/// `space` has the own points and their halo, with a first scale for each. Everything else names points by their places in it: `own`, the
/// first `estimator.pool` neighbors of each own point, and its edges as compressed rows.
#[allow(clippy::too_many_arguments)]
pub fn half_pools(
    space: &Space,
    scales: &[f64],
    kind: AffinityKind,
    own: &[u32],
    neighbors: &[u32],
    (offsets, targets): (&[u64], &[u32]),
    (estimator, threshold): (&Neighborhood, f64),
    run: &Run<'_>,
) -> Result<Vec<f64>> {
    let pool = estimator.pool;
    for (what, expected, received) in [
        ("first scales", space.len(), scales.len()),
        ("neighbors in pools", own.len() * pool, neighbors.len()),
        ("offsets of edges", own.len() + 1, offsets.len()),
    ] {
        if expected != received {
            return Err(Error::Length { what, expected, received });
        }
    }
    let points = ScaledSpace::new(space, scales, kind);
    let chunks: Vec<usize> = (0..own.len()).step_by(TOGETHER).collect();
    let halves = chunks.into_par_iter().map(|first| {
        run.check()?;
        let mut around = Around::new(estimator, &points, threshold);
        let mut halves = Vec::new();
        for place in first..own.len().min(first + TOGETHER) {
            around.move_to(own[place], &neighbors[place * pool..(place + 1) * pool]);
            let row = &targets[offsets[place] as usize..offsets[place + 1] as usize];
            halves.extend(row.iter().map(|&other| around.half_of_pool(other)));
            run.progress.advance(1);
        }
        Ok(halves)
    });
    Ok(halves.collect::<Result<Vec<Vec<f64>>>>()?.concat())
}

/// The persistence of each edge from its two halves; the sum of two numbers has the same bits in either order.
pub fn joined_halves(estimator: &Neighborhood, own: &[f64], other: &[f64]) -> Result<Vec<f64>> {
    if own.len() != other.len() {
        return Err(Error::Length { what: "other halves", expected: own.len(), received: other.len() });
    }
    Ok(own.iter().zip(other).map(|(own, other)| (own + other) / estimator.size()).collect())
}
