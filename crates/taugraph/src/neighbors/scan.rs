//! Neighbors by scanning every pair: for distances without structure, and as the fallback of the tiles.

use rayon::prelude::*;

use super::best::Best;
use crate::error::Result;
use crate::progress::Run;

/// Ids and distances of the `k` nearest of `n_known` points for each of `n_rows` rows; `is_candidate(row, point)` says
/// which of them count.
pub(super) fn nearest(
    n_rows: usize,
    n_known: usize,
    k: usize,
    is_candidate: impl Fn(usize, usize) -> bool + Sync,
    distance: impl Fn(usize, usize) -> f64 + Sync,
    run: &Run<'_>,
) -> Result<(Vec<u32>, Vec<f64>)> {
    let (mut ids, mut distances) = (vec![0; n_rows * k], vec![0.0; n_rows * k]);
    ids.par_chunks_mut(k).zip(distances.par_chunks_mut(k)).enumerate().try_for_each_init(
        || Best::new(k),
        |best, (i, (ids, distances))| {
            run.check()?;
            best.clear();
            let candidates = (0..n_known).filter(|&j| is_candidate(i, j));
            candidates.for_each(|j| best.offer(distance(i, j), j as u32));
            write_row(best.pairs(), ids, distances);
            run.progress.advance(1);
            Ok(())
        },
    )?;
    Ok((ids, distances))
}

/// Splits the pairs into the rows of ids and distances.
pub(super) fn write_row(pairs: &[(f64, u32)], ids: &mut [u32], distances: &mut [f64]) {
    for ((id, distance), &(d, j)) in ids.iter_mut().zip(distances).zip(pairs) {
        (*id, *distance) = (j, d);
    }
}
