//! Neighbors of sparse points: one block of queries at a time goes through its nonzero columns and accumulates its
//! products with every point that has them, too.
//!
//! The sums are those of [`SparsePoints::dot`], bit for bit: the same terms in the same order. So a search gets the
//! distances of the definition without computing them again; only close pairs, for which the definition uses
//! differences instead, are recomputed. Points without a common column have products of 0, and of those only the
//! ones with the smallest norms can be neighbors: they are taken from a sorted list, without scanning the others.

mod transposed;

use rayon::prelude::*;

use super::best::Best;
use super::scan::write_row;
use crate::distance::{Geometry, Metric, RowForm, SquareTransform};
use crate::error::{Error, Result};
use crate::points::SparsePoints;
use crate::progress::Run;
use transposed::{LANES, Transposed};

/// Queries per chunk of work.
const QUERIES: usize = 8 * LANES;

/// Why a metric is refused, and which are supported.
const UNSUPPORTED: &str = "is not available for sparse points; use cosine or euclidean";

/// Sparse points prepared for their metric (unit rows for the cosine distance).
#[derive(Debug, Clone)]
pub struct SparseMetricPoints {
    points: SparsePoints,
    /// All 1 for unit rows.
    squared_norms: Vec<f64>,
    metric: Metric,
    transform: SquareTransform,
}

impl SparseMetricPoints {
    pub(super) fn new(points: SparsePoints, metric: Metric) -> Result<Self> {
        let transform = match metric.geometry() {
            Geometry::SquaredEuclidean(transform) => transform,
            Geometry::General(_) => {
                return Err(Error::Parameter {
                    name: "metric".into(),
                    value: metric.name().into(),
                    rule: UNSUPPORTED.into(),
                });
            }
        };
        let (points, squared_norms) = match metric.rows() {
            RowForm::AsGiven => {
                let norms = (0..points.len()).map(|i| points.squared_norm(i)).collect();
                (points, norms)
            }
            RowForm::UnitLength => {
                let norms = vec![1.0; points.len()];
                (points.unit_rows()?, norms)
            }
        };
        Ok(Self { points, squared_norms, metric, transform })
    }

    /// The points; scaled to length 1 for the cosine distance.
    pub fn points(&self) -> &SparsePoints {
        &self.points
    }

    /// The metric.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// The points `rows`, in that order.
    pub(super) fn select(&self, rows: &[u32]) -> Self {
        Self {
            points: self.points.select(rows),
            squared_norms: rows.iter().map(|&row| self.squared_norms[row as usize]).collect(),
            ..*self
        }
    }

    /// This defines every distance between sparse points, as `Metric::distance` does between dense ones.
    pub(super) fn distance(&self, i: usize, j: usize) -> f64 {
        self.transform.distance_at(self.squared_euclidean(i, j))
    }

    /// Squared distance, as affinities use it.
    pub(super) fn squared_distance(&self, i: usize, j: usize) -> f64 {
        self.transform.squared_distance_at(self.squared_euclidean(i, j))
    }

    /// Squared Euclidean distance of the prepared rows.
    fn squared_euclidean(&self, i: usize, j: usize) -> f64 {
        self.squared_of_dot(i, j, self.points.dot(i, j))
    }

    /// |a|² + |b|² − 2·a·b where that does not cancel, and |a − b|² for close pairs, where it would.
    #[inline]
    fn squared_of_dot(&self, i: usize, j: usize, dot: f64) -> f64 {
        let both = self.squared_norms[i] + self.squared_norms[j];
        // NaN, when squares overflow, takes the second branch.
        if 4.0 * dot < both { both - 2.0 * dot } else { self.points.squared_difference(i, j) }
    }
}

/// Ids and distances of the `k` nearest of each point.
pub(super) fn nearest(space: &SparseMetricPoints, k: usize, run: &Run<'_>) -> Result<(Vec<u32>, Vec<f64>)> {
    let n = space.points.len();
    let transposed = Transposed::new(space);
    let queries: Vec<u32> = (0..n as u32).collect();
    let (mut ids, mut distances) = (vec![0; n * k], vec![0.0; n * k]);
    let rows = ids.par_chunks_mut(k * QUERIES).zip(distances.par_chunks_mut(k * QUERIES));
    queries.par_chunks(QUERIES).zip(rows).try_for_each(|(queries, (ids, distances))| {
        run.check()?;
        let found = transposed.search(queries, k, |i, j| i != j);
        let rows = ids.chunks_exact_mut(k).zip(distances.chunks_exact_mut(k));
        for (best, (ids, distances)) in found.iter().zip(rows) {
            write_row(best.pairs(), ids, distances);
        }
        run.progress.advance(queries.len() as u64);
        Ok(())
    })?;
    Ok((ids, distances))
}

/// For each point outside group `skipped`, the nearest point of another group if there is one: both ids and the
/// distance.
pub(super) fn nearest_in_other_groups(
    space: &SparseMetricPoints,
    group: &[u32],
    skipped: u32,
    run: &Run<'_>,
) -> Result<Vec<(u32, u32, f64)>> {
    let transposed = Transposed::new(space);
    let queries: Vec<u32> =
        (0..group.len() as u32).filter(|&query| group[query as usize] != skipped).collect();
    let found: Vec<Vec<(u32, u32, f64)>> = queries
        .par_chunks(QUERIES)
        .map(|queries| {
            run.check()?;
            let found = transposed.search(queries, 1, |i, j| group[i] != group[j]);
            let of_query = |(&query, best): (&u32, &Best<f64>)| {
                best.pairs().first().map(|&(distance, id)| (query, id, distance))
            };
            Ok(queries.iter().zip(&found).filter_map(of_query).collect())
        })
        .collect::<Result<_>>()?;
    Ok(found.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests;
