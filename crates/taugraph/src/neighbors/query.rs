//! Neighbors of new points among known ones.

use super::cells::Cells;
use super::f32_points::F32Points;
use super::panels::Panels;
use super::search::MANY_POINTS;
use super::tiles::{self, Queries};
use super::{MetricPoints, SearchInfo, SearchParams, TREE_COLUMNS, UsedSearch, scan, tree};
use crate::distance::Metric;
use crate::error::{Error, Result};
use crate::points::Points;
use crate::progress::Run;

/// From this many queries on it pays to divide the known points into cells for them.
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
/// among very many known ones: those are searched in cells, with the default recall.
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
        prepared = new.clone().unit_rows(run.scratch)?;
        &prepared
    } else {
        new
    };
    run.stage("neighbors of new points", Some(new.len() as u64))?;
    if metric == Metric::Manhattan {
        let distance = |row: usize, point: usize| metric.distance(new.row(row), points.row(point));
        let (ids, distances) = scan::nearest(new.len(), points.len(), k, |_, _| true, distance, run)?;
        return Ok(NeighborQuery { k, ids, distances, info: SearchInfo::exact(UsedSearch::Scan) });
    }
    if points.n_columns() <= TREE_COLUMNS {
        let (ids, distances) = tree::nearest_of_new(points, new, metric, k, run)?;
        return Ok(NeighborQuery { k, ids, distances, info: SearchInfo::exact(UsedSearch::Tree) });
    }
    if points.len() >= MANY_POINTS && new.len() >= MANY_QUERIES {
        let cells = Cells::new(points, metric, k, run)?;
        if let Some(found) = cells.nearest_of_new(new, k, SearchParams::default().recall, run)? {
            let used = UsedSearch::Cells { cells: cells.len(), probes: found.probes };
            let info = SearchInfo { used, recall: found.recall, sample: found.sample };
            return Ok(NeighborQuery { k, ids: found.ids, distances: found.distances, info });
        }
    }
    let f32_points = F32Points::new(points);
    let queries = Queries { f32_points: &f32_points.of_new(new), are_known: false };
    let all: Vec<u32> = (0..new.len() as u32).collect();
    let panels = Panels::of_all(&f32_points, run)?;
    let (ids, distances) = tiles::nearest(queries, &all, &f32_points, &panels, metric, k, run)?;
    Ok(NeighborQuery { k, ids, distances, info: SearchInfo::exact(UsedSearch::Tiles) })
}
