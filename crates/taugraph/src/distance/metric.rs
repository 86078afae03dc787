//! The metrics, each described in one place.
//!
//! To add a metric, add a variant of [`Metric`] and its arm in [`Metric::description`]; without it nothing compiles. Searches,
//! queries and bounds name no metric: they only use its [`RowForm`] and its [`Geometry`].

use super::sums::{lane_sum, squared_between, squared_to_each};
use crate::parameter::choices;
use crate::points::{Numbers, Value, with_values};

choices! {
    /// Distance between two rows.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Metric = "euclidean" {
        /// √Σ(a − b)².
        "euclidean" => Euclidean,
        /// Σ|a − b|.
        "manhattan" => Manhattan,
        /// 1 − cos(a, b); in [0, 2]. A row of zeros is an error.
        "cosine" => Cosine,
    }
}

/// All that the rest of the library knows about a metric.
struct Description {
    rows: RowForm,
    geometry: Geometry,
}

/// How rows are prepared before distances between them are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowForm {
    /// Unchanged.
    AsGiven,
    /// Scaled to length 1; a row of zeros is an error.
    UnitLength,
}

/// What a distance is a function of, which decides which searches apply.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Geometry {
    /// An increasing function of the squared Euclidean distance between prepared rows. The k-d tree, the tiles, the inverted lists
    /// and sparse points rely on this.
    SquaredEuclidean(SquareTransform),
    /// Any other function of two prepared rows. Searches scan every pair, and sparse points are refused.
    General(fn(Numbers<'_>, Numbers<'_>) -> f64),
}

impl Metric {
    #[inline(always)]
    fn description(self) -> Description {
        match self {
            Metric::Euclidean => Description {
                rows: RowForm::AsGiven,
                geometry: Geometry::SquaredEuclidean(SquareTransform::Root),
            },
            Metric::Manhattan => {
                Description { rows: RowForm::AsGiven, geometry: Geometry::General(manhattan) }
            }
            Metric::Cosine => Description {
                rows: RowForm::UnitLength,
                geometry: Geometry::SquaredEuclidean(SquareTransform::Half),
            },
        }
    }

    /// How rows are prepared for it.
    pub(crate) fn rows(self) -> RowForm {
        self.description().rows
    }

    /// What its distances are a function of.
    #[inline(always)]
    pub(crate) fn geometry(self) -> Geometry {
        self.description().geometry
    }

    /// Distance between two prepared rows.
    ///
    /// This function defines every distance in the library: searches may filter by faster formulas, but the distances
    /// they compare and report are exactly these, to the bit.
    #[inline]
    pub(crate) fn distance(self, a: Numbers<'_>, b: Numbers<'_>) -> f64 {
        match self.geometry() {
            Geometry::SquaredEuclidean(transform) => transform.distance(a, b),
            Geometry::General(distance) => distance(a, b),
        }
    }

    /// Squared distance between two prepared rows, as affinities use it.
    #[inline]
    pub(crate) fn squared_distance(self, a: Numbers<'_>, b: Numbers<'_>) -> f64 {
        match self.geometry() {
            Geometry::SquaredEuclidean(transform) => transform.squared_distance_at(squared_between(a, b)),
            Geometry::General(distance) => distance(a, b).powi(2),
        }
    }

    /// Squared distances from `from` to the given rows: bit for bit [`Metric::squared_distance`], faster where possible.
    pub(crate) fn squared_distances_to_each<'a>(
        self,
        from: Numbers<'_>,
        ids: &[u32],
        row: impl Fn(usize) -> Numbers<'a>,
        out: &mut [f64],
    ) {
        match self.geometry() {
            Geometry::SquaredEuclidean(transform) => {
                squared_to_each(from, ids, row, out);
                out.iter_mut().for_each(|value| *value = transform.squared_distance_at(*value));
            }
            Geometry::General(distance) => {
                out.iter_mut()
                    .zip(ids)
                    .for_each(|(out, &id)| *out = distance(from, row(id as usize)).powi(2));
            }
        }
    }
}

/// How a distance follows from the squared Euclidean distance of the same rows. All are increasing, so bounds on one are
/// bounds on the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SquareTransform {
    /// √s.
    Root,
    /// s/2. For unit rows this is 1 − cos, without the cancellation in that difference for close rows.
    Half,
}

impl SquareTransform {
    /// The distance at a squared Euclidean distance.
    #[inline]
    pub(crate) fn distance_at(self, squared: f64) -> f64 {
        match self {
            SquareTransform::Root => squared.sqrt(),
            SquareTransform::Half => squared / 2.0,
        }
    }

    /// The square of that distance, without taking a root first.
    #[inline]
    pub(crate) fn squared_distance_at(self, squared: f64) -> f64 {
        match self {
            SquareTransform::Root => squared,
            SquareTransform::Half => self.distance_at(squared).powi(2),
        }
    }

    /// The inverse, rounded up: a squared Euclidean distance that no pair at `distance` exceeds.
    #[inline]
    pub(crate) fn square_bound(self, distance: f64) -> f64 {
        let squared = match self {
            SquareTransform::Root => distance * distance,
            SquareTransform::Half => distance * 2.0,
        };
        squared * (1.0 + 4.0 * f64::EPSILON) + f64::MIN_POSITIVE
    }

    /// Distance between two prepared rows.
    #[inline]
    pub(crate) fn distance(self, a: Numbers<'_>, b: Numbers<'_>) -> f64 {
        self.distance_at(squared_between(a, b))
    }

    /// Distances from `from` to the given rows: bit for bit [`SquareTransform::distance`], but faster.
    pub(crate) fn distances_to_each<'a>(
        self,
        from: Numbers<'_>,
        ids: &[u32],
        row: impl Fn(usize) -> Numbers<'a>,
        out: &mut Vec<f64>,
    ) {
        out.clear();
        out.resize(ids.len(), 0.0);
        squared_to_each(from, ids, row, out);
        out.iter_mut().for_each(|value| *value = self.distance_at(*value));
    }
}

#[inline]
fn manhattan(a: Numbers<'_>, b: Numbers<'_>) -> f64 {
    with_values!(a, a => with_values!(b, b => {
        lane_sum(a.len(), |t| (a[t].widened() - b[t].widened()).abs())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Stage, Stream};
    use proptest::prelude::*;

    #[test]
    fn metrics_by_hand() {
        let (a, b) = ([1.0, 2.0, 3.0, 4.0, 5.0], [1.0f32, 0.0, 3.0, 1.0, 4.0]);
        let (a, b) = (Numbers::from(&a), Numbers::from(&b));
        assert_eq!(Metric::Euclidean.distance(a, b), 14f64.sqrt());
        assert_eq!(Metric::Euclidean.squared_distance(a, b), 14.0);
        assert_eq!(Metric::Manhattan.distance(a, b), 6.0);
        let (a, b) = ([1.0, 0.0], [0.6, 0.8]);
        assert!((Metric::Cosine.distance(Numbers::from(&a), Numbers::from(&b)) - 0.4).abs() < 1e-15);
    }

    #[test]
    fn every_way_to_a_distance_has_the_same_bits() {
        let mut draws = Stream::new(8, Stage::Generator).at(0, 0);
        for n_columns in [1, 2, 3, 4, 7, 16, 50] {
            let values: Vec<f64> = (0..40 * n_columns).map(|_| draws.normal()).collect();
            let row = |i: usize| Numbers::from(&values).slice(i * n_columns, n_columns);
            let ids: Vec<u32> = (0..40).rev().collect();
            let all = |f: &dyn Fn(Numbers<'_>, Numbers<'_>) -> f64| -> Vec<f64> {
                ids.iter().map(|&id| f(row(id as usize), row(3))).collect()
            };
            for metric in Metric::all() {
                let mut found = vec![0.0; ids.len()];
                metric.squared_distances_to_each(row(3), &ids, row, &mut found);
                assert_eq!(found, all(&|a, b| metric.squared_distance(a, b)));
                if let Geometry::SquaredEuclidean(transform) = metric.geometry() {
                    transform.distances_to_each(row(3), &ids, row, &mut found);
                    assert_eq!(found, all(&|a, b| metric.distance(a, b)));
                }
            }
        }
    }

    proptest! {
        /// What the bounds of the searches rely on, rounding included.
        #[test]
        fn transforms_increase_and_their_inverse_bounds(
            a in 0.0f64..1e3, b in 0.0f64..1e3, exponent in -150i32..150,
        ) {
            let (a, b) = (a.min(b) * 10f64.powi(exponent), a.max(b) * 10f64.powi(exponent));
            for metric in Metric::all() {
                if let Geometry::SquaredEuclidean(transform) = metric.geometry() {
                    let distance = transform.distance_at(b);
                    prop_assert!(transform.distance_at(a) <= distance);
                    prop_assert!(b <= transform.square_bound(distance));
                    let squared = transform.squared_distance_at(b);
                    prop_assert!((squared - distance * distance).abs() <= 1e-15 * squared);
                }
            }
        }
    }
}
