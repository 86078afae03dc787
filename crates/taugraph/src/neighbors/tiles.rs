//! Neighbours in many columns: tiles of single-precision matrix products filter, double precision decides.
//!
//! For a block of queries and a block of candidates the product gives |y|² − 2·x·y, the squared distance
//! without the query's own |x|². Rounding can misplace a pair by at most c·(|x| + |y|)². A search keeps a few more
//! candidates than asked for, computes their distances exactly, and accepts the result only if that bound proves that
//! nothing outside the kept ones can belong in it; otherwise that query is scanned in double precision. So the result
//! is exact, whatever the data.

use std::ops::Range;

use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::best::{Best, ShortList};
use super::scan::write_row;
use super::tree::square_bound;
use crate::distance::Metric;
use crate::error::Result;
use crate::points::Points;
use crate::progress::Run;
use crate::vectorized::vectorized;

/// Queries and candidates of a tile: 512 KiB of products, the fastest of the shapes tried on 20,000 × 50 points.
pub(super) const QUERIES: usize = 256;
const CANDIDATES: usize = 512;
/// Values looked at before branching.
const LANES: usize = 64;

/// Single-precision copy of the points, centred and scaled to norms of at most 1, with squared norms.
pub(super) struct SinglePoints {
    values: Vec<f32>,
    squared_norms: Vec<f32>,
    norms: Vec<f64>,
    n_columns: usize,
    scale: f64,
}

impl SinglePoints {
    /// Centring makes the norms, and with them the rounding, as small as they can be; scaling keeps the squares
    /// inside the range of single precision.
    pub fn new(points: &Points) -> Self {
        let (n, d) = (points.len(), points.n_columns());
        let mut mean = vec![0.0; d];
        for row in points.values().chunks_exact(d) {
            mean.iter_mut().zip(row).for_each(|(m, v)| *m += v / n as f64);
        }
        let largest = points
            .values()
            .par_chunks_exact(d)
            .map(|row| row.iter().zip(&mean).map(|(v, m)| (v - m).abs()).fold(0.0, f64::max));
        let largest = largest.reduce(|| 0.0, f64::max);
        let scale = 1.0 / (largest.max(f64::MIN_POSITIVE) * (d as f64).sqrt());
        let values: Vec<f32> = points
            .values()
            .par_chunks_exact(d)
            .flat_map_iter(|row| row.iter().zip(&mean).map(|(v, m)| ((v - m) * scale) as f32))
            .collect();
        let squares: Vec<f64> = values
            .par_chunks_exact(d)
            .map(|row| row.iter().map(|&v| f64::from(v) * f64::from(v)).sum())
            .collect();
        let squared_norms = squares.iter().map(|&s| s as f32).collect();
        let norms = squares.iter().map(|s| s.sqrt()).collect();
        Self { values, squared_norms, norms, n_columns: d, scale }
    }

    /// The score below which a pair may be as close as `squared` (a squared distance in the points' own unit):
    /// a candidate with a higher score is certainly farther from `query`.
    ///
    /// Score + |x|² is the squared distance but for rounding. Conversion, d products and sums, norm and final sum are
    /// at most d + 8 roundings of 2⁻²⁴ of (|x| + |y|)², doubled for safety, and |y| ≤ |x| + distance for every pair that
    /// close. What underflows adds at most the smallest normal number for each of them.
    pub fn limit(&self, query: usize, squared: f64) -> f64 {
        let squared = squared * self.scale * self.scale;
        let roundings = (self.n_columns + 8) as f64;
        let reach = 2.0 * self.norms[query] + squared.sqrt();
        let rounding = roundings * (f64::from(f32::EPSILON) * reach * reach + f64::from(f32::MIN_POSITIVE));
        squared + rounding - self.norms[query] * self.norms[query]
    }

    /// Calls `visit(query, first_candidate, scores)` for the queries `begin..end` and all candidates in `among`, in order.
    pub fn for_each_tile(
        &self,
        begin: usize,
        end: usize,
        among: Range<usize>,
        mut visit: impl FnMut(usize, usize, &[f32]),
    ) {
        let d = self.n_columns;
        let rows = |begin: usize, end: usize| {
            MatRef::from_row_major_slice(&self.values[begin * d..end * d], end - begin, d)
        };
        let queries = rows(begin, end);
        let mut tile = vec![0.0f32; (end - begin) * CANDIDATES];
        for first in among.clone().step_by(CANDIDATES) {
            let last = (first + CANDIDATES).min(among.end);
            let width = last - first;
            for row in tile.chunks_exact_mut(CANDIDATES) {
                row[..width].copy_from_slice(&self.squared_norms[first..last]);
            }
            // One column for each query: see the note at `dense::multiply` on destinations.
            let out =
                MatMut::from_column_major_slice_with_stride_mut(&mut tile, width, end - begin, CANDIDATES);
            faer::linalg::matmul::matmul(
                out,
                Accum::Add,
                rows(first, last),
                queries.transpose(),
                -2.0,
                Par::Seq,
            );
            for (offset, row) in tile.chunks_exact(CANDIDATES).enumerate() {
                visit(begin + offset, first, &row[..width]);
            }
        }
    }
}

/// Ids and distances of the `k` nearest of each point, Euclidean or cosine (of unit rows).
pub(super) fn nearest(
    points: &Points,
    metric: Metric,
    k: usize,
    run: &Run<'_>,
) -> Result<(Vec<u32>, Vec<f64>)> {
    let n = points.len();
    let single = SinglePoints::new(points);
    let kept = (k + (k / 2).max(8)).min(n - 1);
    let (mut ids, mut distances) = (vec![0; n * k], vec![0.0; n * k]);
    ids.par_chunks_mut(k * QUERIES).zip(distances.par_chunks_mut(k * QUERIES)).enumerate().try_for_each(
        |(block, (ids, distances))| {
            run.check()?;
            let begin = block * QUERIES;
            let end = (begin + QUERIES).min(n);
            let mut closest: Vec<ShortList> = (begin..end).map(|_| ShortList::new(kept)).collect();
            single.for_each_tile(begin, end, 0..n, |query, first, scores| {
                offer_all(&mut closest[query - begin], query, first, scores);
            });
            let rows = ids.chunks_exact_mut(k).zip(distances.chunks_exact_mut(k));
            let mut best = Best::new(k);
            for ((query, closest), (ids, distances)) in (begin..end).zip(&mut closest).zip(rows) {
                best.clear();
                let listed = closest.finish();
                for &(_, id) in listed {
                    best.offer(metric.distance(points.row(query), points.row(id as usize)), id);
                }
                let complete = listed.len() == n - 1;
                let farthest = best.bound().map_or(f64::INFINITY, |bound| square_bound(metric, bound));
                // Every candidate that is not listed scores at least the bound.
                let proven = f64::from(closest.bound()) > single.limit(query, farthest);
                if !(complete || proven) {
                    best.clear();
                    let row = points.row(query);
                    (0..n)
                        .filter(|&j| j != query)
                        .for_each(|j| best.offer(metric.distance(row, points.row(j)), j as u32));
                }
                write_row(best.pairs(), ids, distances);
            }
            run.progress.advance((end - begin) as u64);
            Ok(())
        },
    )?;
    Ok((ids, distances))
}

/// Whether any value is at most `bound`: mostly not, and then this is all that is done with them.
#[inline(always)]
fn any_at_most(values: &[f32], bound: f32) -> bool {
    let mut any = false;
    for &value in values {
        any |= value <= bound;
    }
    any
}

vectorized! {
    /// The position of the first value that is not above `bound`, from `start` on.
    pub(super) fn next_at_most<'a>(values: &'a [f32], start: usize, bound: f32) -> Option<usize> {
        let mut begin = start;
        while begin < values.len() {
            let end = (begin + LANES).min(values.len());
            if any_at_most(&values[begin..end], bound) {
                return (begin..end).find(|&place| values[place] <= bound);
            }
            begin = end;
        }
        None
    }
}

vectorized! {
    /// Offers the scores of consecutive candidates to the closest ones so far.
    fn offer_all<'a>(closest: &'a mut ShortList, query: usize, first: usize, scores: &'a [f32]) -> () {
        for (chunk, values) in scores.chunks(LANES).enumerate() {
            if !any_at_most(values, closest.bound()) {
                continue;
            }
            for (part, values) in values.chunks(8).enumerate() {
                if any_at_most(values, closest.bound()) {
                    for (lane, &value) in values.iter().enumerate() {
                        let candidate = first + chunk * LANES + part * 8 + lane;
                        if value <= closest.bound() && candidate != query {
                            closest.push(value, candidate as u32);
                        }
                    }
                }
            }
        }
    }
}
