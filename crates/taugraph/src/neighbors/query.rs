//! Neighbors of new points among known ones.

use super::f32_points::F32Points;
use super::ivf::Ivf;
use super::method::MANY_POINTS;
use super::panels::Panels;
use super::search::{PointSearch, Rows};
use super::tiles::{self, Queries};
use super::{MetricPoints, SearchInfo, SearchParams, UsedSearch, scan, tree};
use crate::distance::SquareTransform;
use crate::error::{Error, Result};
use crate::points::Points;
use crate::progress::Run;

/// From this many queries on, inverted lists of the known points pay off.
const MANY_QUERIES: usize = 20_000;

/// The nearest known points of each new one.
#[derive(Debug, Clone, PartialEq)]
pub struct NeighborQuery {
    k: usize,
    ids: Vec<u32>,
    distances: Vec<f64>,
    info: SearchInfo,
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

    /// How they were found.
    pub fn info(&self) -> SearchInfo {
        self.info
    }
}

/// The `k` nearest known points of each new one, nearest first, ties to the lower index.
///
/// New points must have been prepared as the known ones were. The search is exact, except for very many new points
/// among very many known ones: those are searched by inverted lists, with the default recall.
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
    let new = &*known.prepare_new(new, run)?;
    run.stage("neighbors of new points", Some(new.len() as u64))?;
    let ((ids, distances), info) = match PointSearch::of(known) {
        PointSearch::Scan => {
            let distance = |row: usize, point: usize| metric.distance(new.row(row), points.row(point));
            let found = scan::nearest(new.len(), points.len(), k, |_, _| true, distance, run)?;
            (found, SearchInfo::exact(UsedSearch::Scan))
        }
        PointSearch::Tree(transform) => {
            let found = tree::nearest_of_new(points, new, transform, k, run)?;
            (found, SearchInfo::exact(UsedSearch::Tree))
        }
        PointSearch::Panels(transform) => by_panels(points, new, transform, k, run)?,
    };
    Ok(NeighborQuery { k, ids, distances, info })
}

/// By inverted lists if they pay off, by tiles otherwise.
fn by_panels(
    known: &Points,
    new: &Points,
    transform: SquareTransform,
    k: usize,
    run: &Run<'_>,
) -> Result<(Rows, SearchInfo)> {
    if known.len() >= MANY_POINTS && new.len() >= MANY_QUERIES {
        let ivf = Ivf::new(known, transform, k, run)?;
        if let Some(found) = ivf.nearest_of_new(new, k, SearchParams::default().recall, run)? {
            return Ok(found);
        }
    }
    let f32_points = F32Points::new(known);
    let queries = Queries { f32_points: &f32_points.of_new(new), are_known: false };
    let all: Vec<u32> = (0..new.len() as u32).collect();
    let panels = Panels::of_all(&f32_points, run)?;
    let found = tiles::nearest(queries, &all, &f32_points, &panels, transform, k, run)?;
    Ok((found, SearchInfo::exact(UsedSearch::Tiles)))
}
