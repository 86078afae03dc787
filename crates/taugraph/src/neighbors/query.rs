//! Neighbours of new points among known ones.

use super::{MetricPoints, scan};
use crate::distance::Metric;
use crate::error::{Error, Result};
use crate::points::Points;
use crate::progress::Run;

/// The nearest known points of each new one.
#[derive(Debug, Clone, PartialEq)]
pub struct NeighborQuery {
    k: usize,
    ids: Vec<u32>,
    distances: Vec<f64>,
}

impl NeighborQuery {
    /// The known points nearest to a new one, nearest first.
    pub fn ids(&self, row: usize) -> &[u32] {
        &self.ids[row * self.k..(row + 1) * self.k]
    }

    /// Their distances.
    pub fn distances(&self, row: usize) -> &[f64] {
        &self.distances[row * self.k..(row + 1) * self.k]
    }
}

/// The `k` nearest known points of each new one, nearest first, ties to the lower index.
///
/// New points must have been prepared as the known ones were.
pub fn neighbors_of_new(
    known: &MetricPoints,
    new: &Points,
    k: usize,
    run: &Run<'_>,
) -> Result<NeighborQuery> {
    let (points, metric) = (known.points(), known.metric());
    if new.n_columns() != points.n_columns() {
        let (expected, received) = (points.n_columns(), new.n_columns());
        return Err(Error::Length { what: "columns of the new points", expected, received });
    }
    if k == 0 || k > points.len() {
        return Err(Error::TooFewPoints { needed: k, distinct: points.len() });
    }
    let prepared;
    let new = if metric == Metric::Cosine {
        prepared = new.clone().unit_rows()?;
        &prepared
    } else {
        new
    };
    run.stage("neighbours of new points", Some(new.len() as u64))?;
    let distance = |row: usize, point: usize| metric.distance(new.row(row), points.row(point));
    let (ids, distances) = scan::nearest(new.len(), points.len(), k, |_, _| true, distance, run)?;
    Ok(NeighborQuery { k, ids, distances })
}
