//! Stage 3, neighbors: the k nearest of each point, and the nearest outside a group.
//!
//! Points in up to [`TREE_COLUMNS`] columns are searched by a k-d tree, wider ones by tiles, sparse ones by their columns, other
//! inputs by plain scans: these are exact, ties go to the lower index, and all return the bits of [`Space::distance`]. Very many
//! points are searched in cells; how many of the true neighbors that finds is measured every time ([`SearchInfo`]).

mod best;
mod cells;
mod checkpoint;
mod f32_points;
mod locality;
mod outside;
mod panels;
mod partition;
mod query;
mod reordered;
mod scan;
mod search;
mod sparse;
mod tiles;
mod tree;

pub(crate) use outside::OutsideSearch;
pub use query::{NeighborQuery, neighbors_of_new};
pub use search::{SearchInfo, SearchMethod, SearchParams, UsedSearch};
pub use sparse::SparseMetricPoints;

use cells::Cells;
use f32_points::F32Points;
use panels::Panels;
use reordered::Reordered;
use tiles::Queries;

use crate::distance::{DistanceMatrix, Metric, squared_euclidean, squared_to_each};
use crate::error::{Error, Result};
use crate::memory::Scratch;
use crate::parameter::ParameterTree;
use crate::points::{Duplicates, Points, SparsePoints, check_count};
use crate::progress::Run;
use std::borrow::Cow;

/// Euclidean and cosine searches in at most this many columns use the tree. A tree wins in few columns and loses in
/// many; where exactly the two cross was not measured.
pub const TREE_COLUMNS: usize = 6;

/// The k nearest neighbors of each point, nearest first; the point itself is not among them.
#[derive(Debug, Clone, PartialEq)]
pub struct NeighborGraph {
    n: usize,
    k: usize,
    ids: Vec<u32>,
    distances: Vec<f64>,
}

impl NeighborGraph {
    /// Checks neighbors that the user brings: `k` for each point, row by row, nearest first.
    pub fn new(n: usize, k: usize, ids: Vec<u32>, distances: Vec<f64>) -> Result<Self> {
        if n == 0 {
            return Err(Error::Empty { what: "rows" });
        }
        check_count(n)?;
        if k == 0 || k >= n {
            return Err(Error::TooFewPoints { needed: k, distinct: n });
        }
        for (what, received) in [("neighbor ids", ids.len()), ("neighbor distances", distances.len())] {
            if received != n * k {
                return Err(Error::Length { what, expected: n * k, received });
            }
        }
        for (row, (ids, distances)) in ids.chunks_exact(k).zip(distances.chunks_exact(k)).enumerate() {
            for (&j, &value) in ids.iter().zip(distances) {
                if !(value.is_finite() && value >= 0.0) {
                    return Err(Error::BadDistance { i: row, j: j as usize, value });
                }
            }
            let bad = |rule| Err(Error::BadStructure { row, rule });
            let mut sorted = ids.to_vec();
            sorted.sort_unstable();
            if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
                return bad("a neighbor is named twice");
            }
            if sorted.last().is_some_and(|&id| id as usize >= n) {
                return bad("a neighbor's id is not below the number of points");
            }
            if sorted.binary_search(&(row as u32)).is_ok() {
                return bad("a point is its own neighbor");
            }
            if distances.windows(2).any(|pair| pair[0] > pair[1]) {
                return bad("the neighbors are not sorted by distance");
            }
        }
        Ok(Self { n, k, ids, distances })
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Never: a graph without points is refused.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Neighbors of each point.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Ids of the neighbors of `i`, nearest first.
    #[inline]
    pub fn ids(&self, i: usize) -> &[u32] {
        &self.ids[i * self.k..(i + 1) * self.k]
    }

    /// Distances to the neighbors of `i`, ascending.
    #[inline]
    pub fn distances(&self, i: usize) -> &[f64] {
        &self.distances[i * self.k..(i + 1) * self.k]
    }

    /// The distance between `i` and `j` if one is among the other's neighbors.
    pub fn distance_between(&self, i: usize, j: usize) -> Option<f64> {
        let find = |i: usize, j: usize| {
            self.ids(i).iter().position(|&id| id as usize == j).map(|t| self.distances(i)[t])
        };
        find(i, j).or_else(|| find(j, i))
    }
}

/// What the pipeline starts from: anything that gives neighbors and, mostly, distances.
#[derive(Debug, Clone)]
pub enum Space {
    /// Points and a metric; made by [`Space::from_points`].
    Points(MetricPoints),
    /// Sparse points and a metric; made by [`Space::from_sparse`].
    Sparse(SparseMetricPoints),
    /// All distances, precomputed.
    Distances(DistanceMatrix),
    /// A neighbor graph, precomputed. Pairs outside it are taken as infinitely far apart.
    Neighbors(NeighborGraph),
}

/// Points ready for their metric (unit rows for the cosine distance).
#[derive(Debug, Clone)]
pub struct MetricPoints {
    points: Points,
    metric: Metric,
    /// For points outside memory: the same, neighbors close together.
    reordered: Option<Reordered>,
}

impl MetricPoints {
    /// The points; scaled to length 1 for the cosine distance.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// The metric.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    #[inline]
    fn row(&self, i: usize) -> &[f64] {
        match &self.reordered {
            None => self.points.row(i),
            Some(copy) => copy.row(i),
        }
    }

    /// Points that were ready for their metric before and are to keep their bits; rows must have length 1 for the cosine distance.
    pub(crate) fn restored(points: Points, metric: Metric) -> Result<Self> {
        let is_unit = |row: &[f64]| (row.iter().map(|v| v * v).sum::<f64>() - 1.0).abs() < 1e-9;
        let stretched = (0..points.len()).find(|&row| metric == Metric::Cosine && !is_unit(points.row(row)));
        match stretched {
            None => Ok(Self { points, metric, reordered: None }),
            Some(row) => {
                Err(Error::BadStructure { row, rule: "its length is not 1, as the cosine distance asks" })
            }
        }
    }
}

impl Space {
    /// Points under a metric.
    pub fn from_points(points: Points, metric: Metric) -> Result<Self> {
        Self::from_points_with(points, metric, None)
    }

    /// The same; what the metric has to copy of shared points goes to the scratch.
    pub fn from_points_with(points: Points, metric: Metric, scratch: Option<&dyn Scratch>) -> Result<Self> {
        let points = if metric == Metric::Cosine { points.unit_rows(scratch)? } else { points };
        Ok(Space::Points(MetricPoints { points, metric, reordered: None }))
    }

    /// Sparse points under the cosine or the Euclidean metric.
    pub fn from_sparse(points: SparsePoints, metric: Metric) -> Result<Self> {
        SparseMetricPoints::new(points, metric).map(Space::Sparse)
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        match self {
            Space::Points(space) => space.points.len(),
            Space::Sparse(space) => space.points().len(),
            Space::Distances(matrix) => matrix.len(),
            Space::Neighbors(graph) => graph.len(),
        }
    }

    /// Never: empty inputs are refused.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Distance from `i` to `j`; infinite where a neighbor graph does not say.
    #[inline]
    pub fn distance(&self, i: usize, j: usize) -> f64 {
        match self {
            Space::Points(space) => space.metric.distance(space.row(i), space.row(j)),
            Space::Sparse(space) => space.distance(i, j),
            Space::Distances(matrix) => matrix.get(i, j),
            Space::Neighbors(_) if i == j => 0.0,
            Space::Neighbors(graph) => graph.distance_between(i, j).unwrap_or(f64::INFINITY),
        }
    }

    /// Squared distance from `i` to `j`; for the Euclidean metric without taking a root first.
    #[inline]
    pub(crate) fn squared_distance(&self, i: usize, j: usize) -> f64 {
        match self {
            Space::Points(space) if space.metric == Metric::Euclidean => {
                squared_euclidean(space.row(i), space.row(j))
            }
            Space::Sparse(space) if space.metric() == Metric::Euclidean => space.squared_distance(i, j),
            _ => self.distance(i, j).powi(2),
        }
    }

    /// Squared distances from `i` to each of the named points.
    pub(crate) fn squared_distances(&self, i: usize, ids: &[u32], out: &mut [f64]) {
        match self {
            Space::Points(space) if space.metric == Metric::Euclidean => {
                squared_to_each(space.row(i), ids, |j| space.row(j), out);
            }
            _ => out.iter_mut().zip(ids).for_each(|(out, &j)| *out = self.squared_distance(i, j as usize)),
        }
    }

    /// Whether any two points have a known distance.
    pub fn knows_all_pairs(&self) -> bool {
        !matches!(self, Space::Neighbors(_))
    }

    /// The distinct points, and which rows share one. Neighbor graphs are taken as they are.
    pub fn distinct(&self, run: &Run<'_>) -> Result<(Cow<'_, Space>, Duplicates)> {
        let duplicates = match self {
            Space::Points(space) => Duplicates::of_points(&space.points),
            Space::Sparse(space) => Duplicates::of_sparse(space.points()),
            Space::Distances(matrix) => Duplicates::of_distances(matrix.len(), |i, j| matrix.get(i, j)),
            Space::Neighbors(graph) => Duplicates::none(graph.len()),
        };
        if duplicates.n_copies() == 0 {
            return Ok((Cow::Borrowed(self), duplicates));
        }
        let rows = duplicates.row_of_node();
        let distinct = match self {
            Space::Points(space) => {
                let points = space.points.select_into(rows, run.scratch)?;
                Space::Points(MetricPoints { points, metric: space.metric, reordered: None })
            }
            Space::Sparse(space) => Space::Sparse(space.select(rows)),
            Space::Distances(matrix) => Space::Distances(matrix.select(rows)),
            Space::Neighbors(_) => unreachable!("neighbor graphs have no copies"),
        };
        Ok((Cow::Owned(distinct), duplicates))
    }
}

impl Space {
    /// The same space for looking up distances between points that are close in the graph: where the points are outside memory
    /// it reads them from a copy in which such points lie together.
    pub(crate) fn reordered_by(&self, neighbors: &NeighborGraph, run: &Run<'_>) -> Result<Cow<'_, Space>> {
        let Space::Points(space) = self else { return Ok(Cow::Borrowed(self)) };
        match Reordered::new(&space.points, || neighbors.locality_order(), run)? {
            None => Ok(Cow::Borrowed(self)),
            reordered => Ok(Cow::Owned(Space::Points(MetricPoints { reordered, ..space.clone() }))),
        }
    }
}

/// The `k` nearest neighbors of every point, exactly; equal distances go to the lower index.
///
/// Time about n·log n for Euclidean and cosine distances in a few columns, the number of pairs of entries in one column for
/// sparse points, n² otherwise; memory 12 bytes for each of the n·k entries and an 8-byte copy of the points.
pub fn nearest_neighbors(space: &Space, k: usize, run: &Run<'_>) -> Result<NeighborGraph> {
    Ok(search_neighbors(space, k, &SearchParams::exact(), run)?.0)
}

/// The `k` nearest neighbors of every point, as well as asked for, and how well they were found.
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
    let is_other = |i: usize, j: usize| i != j;
    let ((ids, distances), info) = match space {
        Space::Points(MetricPoints { points, metric: Metric::Manhattan, .. }) => {
            let distance = |i: usize, j: usize| Metric::Manhattan.distance(points.row(i), points.row(j));
            (scan::nearest(n, n, k, is_other, distance, run)?, SearchInfo::exact(UsedSearch::Scan))
        }
        Space::Points(MetricPoints { points, metric, .. }) if points.n_columns() <= TREE_COLUMNS => {
            (tree::nearest(points, *metric, k, run)?, SearchInfo::exact(UsedSearch::Tree))
        }
        Space::Points(MetricPoints { points, metric, .. }) => {
            match in_cells(points, *metric, k, params, run)? {
                Some(found) => found,
                None => {
                    run.stage("neighbors", Some(n as u64))?;
                    let f32_points = F32Points::new(points);
                    let queries = Queries { f32_points: &f32_points, are_known: true };
                    let all: Vec<u32> = (0..n as u32).collect();
                    let panels = Panels::of_all(&f32_points, run)?;
                    let found = tiles::nearest(queries, &all, &f32_points, &panels, *metric, k, run)?;
                    (found, SearchInfo::exact(UsedSearch::Tiles))
                }
            }
        }
        Space::Distances(matrix) => {
            let found = scan::nearest(n, n, k, is_other, |i, j| matrix.get(i, j), run)?;
            (found, SearchInfo::exact(UsedSearch::Scan))
        }
        Space::Sparse(space) => (sparse::nearest(space, k, run)?, SearchInfo::exact(UsedSearch::ByColumns)),
        Space::Neighbors(graph) if k > graph.k => {
            return Err(Error::Parameter {
                name: "neighbors".into(),
                value: k.to_string(),
                rule: "the neighbor graph given holds fewer neighbors of each point".into(),
            });
        }
        Space::Neighbors(graph) => {
            run.progress.advance(n as u64);
            let ids = (0..n).flat_map(|i| &graph.ids(i)[..k]).copied().collect();
            let distances = (0..n).flat_map(|i| &graph.distances(i)[..k]).copied().collect();
            ((ids, distances), SearchInfo::exact(UsedSearch::Given))
        }
    };
    Ok((NeighborGraph { n, k, ids, distances }, info))
}

type FoundInCells = ((Vec<u32>, Vec<f64>), SearchInfo);

/// The neighbors by cells, where those are to be tried and save anything.
fn in_cells(
    points: &Points,
    metric: Metric,
    k: usize,
    params: &SearchParams,
    run: &Run<'_>,
) -> Result<Option<FoundInCells>> {
    if !params.tries_cells(points.len()) {
        return Ok(None);
    }
    let cells = Cells::new(points, metric, k, run)?;
    let found = cells.nearest_of_known(k, params.recall, run)?;
    Ok(found.map(|found| {
        let used = UsedSearch::Cells { cells: cells.len(), probes: found.probes };
        ((found.ids, found.distances), SearchInfo { used, recall: found.recall, sample: found.sample })
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Stage, Stream};
    use proptest::prelude::*;

    fn random_points(n: usize, d: usize, seed: u64) -> Points {
        let stream = Stream::new(seed, Stage::Generator);
        let values = (0..n).flat_map(|i| {
            let mut draws = stream.at(i as u32, 0);
            (0..d).map(|_| draws.normal()).collect::<Vec<_>>()
        });
        Points::new(values.collect(), d).unwrap()
    }

    /// The definition, without any cleverness.
    fn naive(space: &Space, k: usize) -> NeighborGraph {
        let n = space.len();
        let (mut ids, mut distances) = (Vec::new(), Vec::new());
        for i in 0..n {
            let mut row: Vec<(f64, u32)> =
                (0..n).filter(|&j| j != i).map(|j| (space.distance(i, j), j as u32)).collect();
            row.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            ids.extend(row[..k].iter().map(|pair| pair.1));
            distances.extend(row[..k].iter().map(|pair| pair.0));
        }
        NeighborGraph { n, k, ids, distances }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        /// Coordinates on a coarse grid: ties and duplicates everywhere.
        #[test]
        fn every_search_equals_the_oracle(
            d in 1usize..12, n in 2usize..90, k in 1usize..20, grid in 1u32..60, seed in any::<u64>(),
            metric in prop::sample::select(vec![Metric::Euclidean, Metric::Manhattan, Metric::Cosine]),
            shift in prop::sample::select(vec![0.0, 1e4]),
        ) {
            let k = k.min(n - 1);
            let mut draws = Stream::new(seed, Stage::Generator).at(0, 0);
            let values = (0..n * d).map(|_| shift + 1.0 + draws.below(grid as usize) as f64).collect();
            let space = Space::from_points(Points::new(values, d).unwrap(), metric).unwrap();
            prop_assert_eq!(nearest_neighbors(&space, k, &Run::new(0)).unwrap(), naive(&space, k));
        }

        #[test]
        fn smooth_points_and_outliers_equal_the_oracle(d in 1usize..40, seed in any::<u64>(), far in -120i32..120) {
            let mut values = random_points(150, d, seed).values().to_vec();
            values[0] = 10f64.powi(far);
            values[d] = -3.0 * 10f64.powi(far / 2);
            let space = Space::from_points(Points::new(values, d).unwrap(), Metric::Euclidean).unwrap();
            prop_assert_eq!(nearest_neighbors(&space, 7, &Run::new(0)).unwrap(), naive(&space, 7));
        }
    }

    #[test]
    fn several_tiles_equal_the_oracle() {
        let space = Space::from_points(random_points(2500, 9, 1), Metric::Euclidean).unwrap();
        assert_eq!(nearest_neighbors(&space, 15, &Run::new(0)).unwrap(), naive(&space, 15));
    }

    #[test]
    fn precomputed_inputs_give_the_same_neighbors() {
        let space = Space::from_points(random_points(60, 3, 2), Metric::Euclidean).unwrap();
        let graph = nearest_neighbors(&space, 9, &Run::new(0)).unwrap();
        let matrix = (0..60 * 60).map(|cell| space.distance(cell / 60, cell % 60)).collect();
        let distances = Space::Distances(DistanceMatrix::new(matrix, 60).unwrap());
        assert_eq!(nearest_neighbors(&distances, 9, &Run::new(0)).unwrap(), graph);
        let shorter = nearest_neighbors(&space, 4, &Run::new(0)).unwrap();
        let given = Space::Neighbors(graph);
        assert_eq!(nearest_neighbors(&given, 4, &Run::new(0)).unwrap(), shorter);
        assert!(matches!(nearest_neighbors(&given, 10, &Run::new(0)), Err(Error::Parameter { .. })));
    }

    #[test]
    fn impossible_requests_are_refused() {
        let space = Space::from_points(random_points(5, 2, 3), Metric::Euclidean).unwrap();
        let too_many = nearest_neighbors(&space, 5, &Run::new(0));
        assert_eq!(too_many, Err(Error::TooFewPoints { needed: 5, distinct: 5 }));
        assert!(nearest_neighbors(&space, 0, &Run::new(0)).is_err());
        let one = Space::from_points(random_points(1, 2, 3), Metric::Euclidean).unwrap();
        assert_eq!(
            nearest_neighbors(&one, 1, &Run::new(0)),
            Err(Error::TooFewPoints { needed: 1, distinct: 1 })
        );
        let rule = |ids: Vec<u32>, distances: Vec<f64>| match NeighborGraph::new(3, 1, ids, distances) {
            Err(Error::BadStructure { rule, .. }) => rule,
            other => panic!("{other:?}"),
        };
        assert!(rule(vec![0, 0, 0], vec![1.0; 3]).contains("its own"));
        assert!(rule(vec![1, 0, 9], vec![1.0; 3]).contains("below"));
        assert!(matches!(
            NeighborGraph::new(3, 1, vec![1, 0, 0], vec![f64::NAN; 3]),
            Err(Error::BadDistance { .. })
        ));
        let twice = NeighborGraph::new(3, 2, vec![1, 1, 0, 2, 0, 1], vec![1.0; 6]);
        assert!(matches!(twice, Err(Error::BadStructure { row: 0, .. })));
    }
}
