//! What the pipeline starts from: points under a metric, distances, or neighbors.

use std::borrow::Cow;

use super::reordered::Reordered;
use super::{NeighborGraph, SparseMetricPoints};
use crate::distance::{Columns, DistanceMatrix, Geometry, Metric, RowForm, SquareTransform};
use crate::error::{Error, Result};
use crate::memory::Scratch;
use crate::points::{Duplicates, Numbers, Points, SparsePoints};
use crate::progress::Run;

/// How far the squared length of a unit row may be from 1. Coordinates in single precision are rounded by up to 2⁻²⁴ of themselves.
const UNIT_TOLERANCE: f64 = 1e-6;

/// What the pipeline starts from: anything that provides neighbors and, usually, distances.
#[derive(Debug, Clone)]
pub enum Space {
    /// Points and a metric; see [`Space::from_points`].
    Points(MetricPoints),
    /// Sparse points and a metric; see [`Space::from_sparse`].
    Sparse(SparseMetricPoints),
    /// Precomputed distances between all pairs.
    Distances(DistanceMatrix),
    /// A precomputed neighbor graph. Pairs outside it count as infinitely far apart.
    Neighbors(NeighborGraph),
}

/// Points prepared for their metric (unit rows for the cosine distance).
#[derive(Debug, Clone)]
pub struct MetricPoints {
    points: Points,
    metric: Metric,
    /// For out-of-core points: a copy in locality order.
    reordered: Option<Reordered>,
}

/// A few points of a space, copied so that the distances of other points to all of them take little time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gathered {
    ids: Vec<u32>,
    /// Their rows, if distances are a function of squared Euclidean ones.
    columns: Columns,
}

impl Gathered {
    /// The points.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }
}

impl MetricPoints {
    fn new(points: Points, metric: Metric, scratch: Option<&dyn Scratch>) -> Result<Self> {
        let points = match metric.rows() {
            RowForm::AsGiven => points,
            RowForm::UnitLength => points.unit_rows(scratch)?,
        };
        Ok(Self { points, metric, reordered: None })
    }

    /// Points that are already prepared and must not change by a bit.
    pub(crate) fn restored(points: Points, metric: Metric) -> Result<Self> {
        match metric.rows() {
            RowForm::AsGiven => {}
            RowForm::UnitLength => {
                let is_unit =
                    |row: Numbers<'_>| (row.iter().map(|v| v * v).sum::<f64>() - 1.0).abs() < UNIT_TOLERANCE;
                if let Some(row) = (0..points.len()).find(|&row| !is_unit(points.row(row))) {
                    let rule = "its length is not 1, as the metric requires";
                    return Err(Error::BadStructure { row, rule });
                }
            }
        }
        Ok(Self { points, metric, reordered: None })
    }

    /// The points; scaled to length 1 for the cosine distance.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// The metric.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// New points, prepared for the metric as these were.
    pub(crate) fn prepare_new<'a>(&self, new: &'a Points, run: &Run<'_>) -> Result<Cow<'a, Points>> {
        match self.metric.rows() {
            RowForm::AsGiven => Ok(Cow::Borrowed(new)),
            RowForm::UnitLength => new.clone().unit_rows(run.scratch).map(Cow::Owned),
        }
    }

    #[inline]
    fn row(&self, i: usize) -> Numbers<'_> {
        match &self.reordered {
            None => self.points.row(i),
            Some(copy) => copy.row(i),
        }
    }

    /// The points `rows`, in that order.
    fn select(&self, rows: &[u32], run: &Run<'_>) -> Result<Self> {
        let points = self.points.select_into(rows, run.scratch)?;
        Ok(Self { points, metric: self.metric, reordered: None })
    }
}

impl Space {
    /// Points under a metric.
    pub fn from_points(points: Points, metric: Metric) -> Result<Self> {
        Self::from_points_with(points, metric, None)
    }

    /// The same; copies of shared points that the metric needs go to the scratch.
    pub fn from_points_with(points: Points, metric: Metric, scratch: Option<&dyn Scratch>) -> Result<Self> {
        MetricPoints::new(points, metric, scratch).map(Space::Points)
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

    /// Distance from `i` to `j`; infinite for pairs that a neighbor graph does not contain.
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

    /// Squared distance from `i` to `j`, as affinities use it.
    #[inline]
    pub(crate) fn squared_distance(&self, i: usize, j: usize) -> f64 {
        match self {
            Space::Points(space) => space.metric.squared_distance(space.row(i), space.row(j)),
            Space::Sparse(space) => space.squared_distance(i, j),
            Space::Distances(_) | Space::Neighbors(_) => self.distance(i, j).powi(2),
        }
    }

    /// Squared distances from `i` to each of the given points.
    pub(crate) fn squared_distances(&self, i: usize, ids: &[u32], out: &mut [f64]) {
        match self {
            Space::Points(space) => {
                space.metric.squared_distances_to_each(space.row(i), ids, |j| space.row(j), out);
            }
            Space::Sparse(_) | Space::Distances(_) | Space::Neighbors(_) => {
                out.iter_mut().zip(ids).for_each(|(out, &j)| *out = self.squared_distance(i, j as usize));
            }
        }
    }

    /// Replaces the gathered points by these.
    pub(crate) fn gather(&self, ids: impl Iterator<Item = u32>, gathered: &mut Gathered) {
        gathered.ids.clear();
        gathered.ids.extend(ids);
        if let Space::Points(space) = self
            && let Geometry::SquaredEuclidean(_) = space.metric.geometry()
        {
            let rows = gathered.ids.iter().map(|&id| space.row(id as usize));
            gathered.columns.fill(space.points.n_columns(), rows);
        }
    }

    /// Squared distances from `i` to the gathered points: bit for bit [`Space::squared_distances`], faster where possible.
    pub(crate) fn squared_distances_to(&self, i: usize, gathered: &Gathered, out: &mut [f64]) {
        if let Space::Points(space) = self
            && let Geometry::SquaredEuclidean(transform) = space.metric.geometry()
        {
            gathered.columns.squared_from(space.row(i), out);
            out.iter_mut().for_each(|value| *value = transform.squared_distance_at(*value));
        } else {
            self.squared_distances(i, &gathered.ids, out);
        }
    }

    /// Number of gathered points whose squared distance from `i`, times their factor and then times `own`, is below the limit; `None`
    /// if distances are no roots of squared ones.
    pub(crate) fn n_scaled_below(
        &self,
        i: usize,
        gathered: &Gathered,
        factors: &[f64],
        own: f64,
        limit: f64,
    ) -> Option<usize> {
        match self {
            Space::Points(space)
                if matches!(space.metric.geometry(), Geometry::SquaredEuclidean(SquareTransform::Root)) =>
            {
                Some(gathered.columns.n_scaled_below(space.row(i), factors, own, limit))
            }
            _ => None,
        }
    }

    /// Distances from `i` to the gathered points: bit for bit [`Space::distance`], faster where possible.
    pub(crate) fn distances_to(&self, i: usize, gathered: &Gathered, out: &mut [f64]) {
        if let Space::Points(space) = self
            && let Geometry::SquaredEuclidean(transform) = space.metric.geometry()
        {
            gathered.columns.squared_from(space.row(i), out);
            out.iter_mut().for_each(|value| *value = transform.distance_at(*value));
        } else {
            out.iter_mut().zip(&gathered.ids).for_each(|(out, &j)| *out = self.distance(i, j as usize));
        }
    }

    /// Whether the distance between every two points is known.
    pub fn knows_all_pairs(&self) -> bool {
        !matches!(self, Space::Neighbors(_))
    }

    /// The distinct points, and which rows share one. Neighbor graphs are used as they are.
    pub fn distinct(&self, run: &Run<'_>) -> Result<(Cow<'_, Space>, Duplicates)> {
        match self {
            Space::Points(space) => self.without_copies(Duplicates::of_points(&space.points), |rows| {
                space.select(rows, run).map(Space::Points)
            }),
            Space::Sparse(space) => self.without_copies(Duplicates::of_sparse(space.points()), |rows| {
                Ok(Space::Sparse(space.select(rows)))
            }),
            Space::Distances(matrix) => {
                let duplicates = Duplicates::of_distances(matrix.len(), |i, j| matrix.get(i, j));
                self.without_copies(duplicates, |rows| Ok(Space::Distances(matrix.select(rows))))
            }
            Space::Neighbors(graph) => Ok((Cow::Borrowed(self), Duplicates::none(graph.len()))),
        }
    }

    /// The space itself if no row has a copy; otherwise what `select` makes of the first row of each point.
    fn without_copies(
        &self,
        duplicates: Duplicates,
        select: impl FnOnce(&[u32]) -> Result<Space>,
    ) -> Result<(Cow<'_, Space>, Duplicates)> {
        let distinct = match duplicates.n_copies() {
            0 => Cow::Borrowed(self),
            _ => Cow::Owned(select(duplicates.row_of_node())?),
        };
        Ok((distinct, duplicates))
    }

    /// The same space, for looking up distances between points that are close in the graph. Out-of-core points are read from a copy
    /// in locality order, where such points are stored together.
    pub(crate) fn reordered_by(&self, neighbors: &NeighborGraph, run: &Run<'_>) -> Result<Cow<'_, Space>> {
        let Space::Points(space) = self else { return Ok(Cow::Borrowed(self)) };
        match Reordered::new(&space.points, || neighbors.locality_order(), run)? {
            None => Ok(Cow::Borrowed(self)),
            reordered => Ok(Cow::Owned(Space::Points(MetricPoints { reordered, ..space.clone() }))),
        }
    }
}
