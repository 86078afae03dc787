//! The search for the neighbors of every point: which method applies, and what it finds.

use super::both_ways;
use super::f32_points::F32Points;
use super::ivf::Ivf;
use super::panels::Panels;
use super::tiles::{self, Queries};
use super::{MetricPoints, NeighborGraph, SearchInfo, SearchParams, Space, UsedSearch, scan, sparse, tree};
use crate::distance::{Geometry, SquareTransform};
use crate::error::{Error, Result};
use crate::parameter::ParameterTree;
use crate::points::Points;
use crate::progress::Run;

/// Euclidean and cosine searches in at most this many columns use the tree. A tree is faster in few columns and slower in
/// many; the exact crossover was not measured.
pub const TREE_COLUMNS: usize = 6;

/// Ids and distances of the neighbors, row by row.
pub(super) type Rows = (Vec<u32>, Vec<f64>);

/// The search that suits the points, by their metric and number of columns.
pub(super) enum PointSearch {
    /// Every pair, under any metric.
    Scan,
    /// A k-d tree.
    Tree(SquareTransform),
    /// Tiles or, for very many points, inverted lists; both work on panels.
    Panels(SquareTransform),
}

impl PointSearch {
    pub fn of(points: &MetricPoints) -> Self {
        match points.metric().geometry() {
            Geometry::General(_) => PointSearch::Scan,
            Geometry::SquaredEuclidean(transform) if points.points().n_columns() <= TREE_COLUMNS => {
                PointSearch::Tree(transform)
            }
            Geometry::SquaredEuclidean(transform) => PointSearch::Panels(transform),
        }
    }
}

/// The `k` nearest neighbors of every point, exactly; equal distances go to the lower index.
///
/// Takes time of about n·log n for Euclidean and cosine distances in a few columns, the number of pairs of entries that share a
/// column for sparse points, n² otherwise; memory of 12 bytes for each of the n·k entries and a double-precision copy of the points.
pub fn nearest_neighbors(space: &Space, k: usize, run: &Run<'_>) -> Result<NeighborGraph> {
    Ok(search_neighbors(space, k, &SearchParams::exact(), run)?.0)
}

/// The `k` nearest neighbors of every point, with the requested recall, and how they were found.
pub fn search_neighbors(
    space: &Space,
    k: usize,
    params: &SearchParams,
    run: &Run<'_>,
) -> Result<(NeighborGraph, SearchInfo)> {
    params.check_ranges("graph.search")?;
    let n = space.len();
    if k == 0 {
        return Err(Error::Parameter {
            name: "neighbors".into(),
            value: "0".into(),
            rule: "must be at least 1".into(),
        });
    }
    if k >= n {
        return Err(Error::TooFewPoints { needed: k, distinct: n });
    }
    run.stage("neighbors", Some(n as u64))?;
    let ((ids, distances), info) = match space {
        Space::Points(points) => among_points(points, k, params, run)?,
        Space::Sparse(points) => (sparse::nearest(points, k, run)?, SearchInfo::exact(UsedSearch::ByColumns)),
        Space::Distances(matrix) => {
            let found = scan::nearest(n, n, k, |i, j| i != j, |i, j| matrix.get(i, j), run)?;
            (found, SearchInfo::exact(UsedSearch::Scan))
        }
        Space::Neighbors(graph) => (first_neighbors(graph, k, run)?, SearchInfo::exact(UsedSearch::Given)),
    };
    Ok((NeighborGraph { n, k, ids, distances }, info))
}

fn among_points(
    space: &MetricPoints,
    k: usize,
    params: &SearchParams,
    run: &Run<'_>,
) -> Result<(Rows, SearchInfo)> {
    let (points, metric) = (space.points(), space.metric());
    match PointSearch::of(space) {
        PointSearch::Scan => {
            let (n, distance) =
                (points.len(), |i: usize, j: usize| metric.distance(points.row(i), points.row(j)));
            let found = scan::nearest(n, n, k, |i, j| i != j, distance, run)?;
            Ok((found, SearchInfo::exact(UsedSearch::Scan)))
        }
        PointSearch::Tree(transform) => {
            Ok((tree::nearest(points, transform, k, run)?, SearchInfo::exact(UsedSearch::Tree)))
        }
        PointSearch::Panels(transform) => {
            if params.tries_ivf(points.len()) {
                let ivf = Ivf::new(points, transform, k, run)?;
                if let Some(found) = ivf.nearest_of_known(k, params.recall, run)? {
                    return Ok(found);
                }
            }
            run.stage("neighbors", Some(points.len() as u64))?;
            Ok((by_tiles(points, transform, k, run)?, SearchInfo::exact(UsedSearch::Tiles)))
        }
    }
}

fn by_tiles(points: &Points, transform: SquareTransform, k: usize, run: &Run<'_>) -> Result<Rows> {
    let f32_points = F32Points::new(points);
    let panels = Panels::of_all(&f32_points, run)?;
    if both_ways::pays(points.len(), points.n_columns()) {
        return both_ways::nearest_of_all(&f32_points, &panels, transform, k, run);
    }
    let queries = Queries { f32_points: &f32_points, are_known: true };
    let all: Vec<u32> = (0..points.len() as u32).collect();
    tiles::nearest(queries, &all, &f32_points, &panels, transform, k, run)
}

/// The first `k` of the given neighbors.
fn first_neighbors(graph: &NeighborGraph, k: usize, run: &Run<'_>) -> Result<Rows> {
    if k > graph.k() {
        return Err(Error::Parameter {
            name: "neighbors".into(),
            value: k.to_string(),
            rule: "the given neighbor graph has fewer neighbors of each point".into(),
        });
    }
    let n = graph.len();
    run.progress.advance(n as u64);
    let ids = (0..n).flat_map(|i| &graph.ids(i)[..k]).copied().collect();
    let distances = (0..n).flat_map(|i| &graph.distances(i)[..k]).copied().collect();
    Ok((ids, distances))
}
