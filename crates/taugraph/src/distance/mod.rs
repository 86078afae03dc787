//! Stage 2, distance: metrics between points, and precomputed distances.

mod matrix;
mod metric;
mod sums;

pub use matrix::DistanceMatrix;
pub use metric::Metric;
pub(crate) use metric::{Geometry, RowForm, SquareTransform};
pub(crate) use sums::{Columns, lane_sum, squared_euclidean};
