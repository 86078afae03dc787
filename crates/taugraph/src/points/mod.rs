//! Stage 1, points: a table of finite numbers, made from a raw table by [`prepare`]; or sparse points in compressed rows.

mod columns;
mod duplicates;
mod moments;
mod numbers;
mod pca;
mod prepare;
mod rule;
mod sparse;
mod storage;

pub use columns::ColumnModel;
pub(crate) use columns::sorted_quantile;
pub use duplicates::Duplicates;
pub use moments::{BLOCK, Moments};
pub use numbers::{Numbers, Precision};
pub(crate) use numbers::{Value, with_values};
pub use pca::{PcaModel, principal_components};
pub(crate) use prepare::prepare_raw;
pub use prepare::{Missing, Preparation, PreparationParams, Standardize, memory_estimate, prepare};
pub use rule::PreparationRule;
pub use sparse::{SparsePoints, prepare_sparse};
pub use storage::SharedValues;
pub(crate) use storage::{RawValues, Storage, Typed};

use crate::error::{Error, Result};
use crate::memory::{LargeTable, Scratch};
use storage::with_storage;

/// Number of values in a batch of rows that are reordered together.
const LOT: usize = 1 << 24;

/// A table of finite numbers, one row for each point.
#[derive(Debug, Clone)]
pub struct Points {
    values: Storage,
    n_columns: usize,
}

/// Points are equal if their coordinates are, in whatever precision and wherever they are.
impl PartialEq for Points {
    fn eq(&self, other: &Self) -> bool {
        self.n_columns == other.n_columns && self.values() == other.values()
    }
}

impl Points {
    /// Checks a row-major table: not empty, rectangular, every value finite, at most 2³² − 2 rows.
    pub fn new(values: Vec<f64>, n_columns: usize) -> Result<Self> {
        Self::from_storage(Storage::F64(Typed::Owned(values)), n_columns)
    }

    /// The same in single precision: half the memory, and results that are still computed in double precision.
    pub fn from_f32(values: Vec<f32>, n_columns: usize) -> Result<Self> {
        Self::from_storage(Storage::F32(Typed::Owned(values)), n_columns)
    }

    /// The same for values that stay where they are, for example in a mapped file.
    pub fn from_shared(values: SharedValues, n_columns: usize) -> Result<Self> {
        Self::from_storage(values.into(), n_columns)
    }

    fn from_storage(values: Storage, n_columns: usize) -> Result<Self> {
        Self::check_table(values.numbers(), n_columns)?;
        Ok(Self { values, n_columns })
    }

    /// Whether the values are shared rather than owned.
    pub(crate) fn are_shared(&self) -> bool {
        self.values.is_shared()
    }

    /// The rules of [`Points::new`] for values that stay where they are; gives the number of rows.
    pub(crate) fn check_table(values: Numbers<'_>, n_columns: usize) -> Result<usize> {
        check_shape(values, n_columns)?;
        match first_where(values, |value| !value.is_finite()) {
            None => Ok(values.len() / n_columns),
            Some(position) => {
                let (row, column) = (position / n_columns, position % n_columns);
                Err(Error::NotFinite { row, column, value: values.get(position) })
            }
        }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.values().len() / self.n_columns
    }

    /// Never: a table without rows is refused.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// The precision in which the coordinates are stored.
    pub fn precision(&self) -> Precision {
        self.values().precision()
    }

    /// The coordinates of point `i`.
    #[inline]
    pub fn row(&self, i: usize) -> Numbers<'_> {
        self.values.numbers().slice(i * self.n_columns, self.n_columns)
    }

    /// All values, row by row.
    pub fn values(&self) -> Numbers<'_> {
        self.values.numbers()
    }

    /// The points named by `rows`, in that order.
    pub fn select(&self, rows: &[u32]) -> Points {
        fn selected<T: Value>(values: &[T], rows: &[u32], d: usize) -> Storage {
            let mut chosen = Vec::with_capacity(rows.len() * d);
            rows.iter().for_each(|&row| chosen.extend_from_slice(&values[row as usize * d..][..d]));
            T::stored(Typed::Owned(chosen))
        }
        let values = with_values!(self.values(), values => selected(values, rows, self.n_columns));
        Points { values, n_columns: self.n_columns }
    }

    /// The same, in the scratch if there is one. The rows of a batch are fetched in the order in which they lie on disk, so that
    /// the system can read ahead.
    pub(crate) fn select_into(&self, rows: &[u32], scratch: Option<&dyn Scratch>) -> Result<Points> {
        fn selected<T: Value>(
            values: &[T],
            rows: &[u32],
            d: usize,
            scratch: &dyn Scratch,
        ) -> Result<Storage> {
            let mut table = LargeTable::<T>::zeros(rows.len() * d, Some(scratch))?;
            let lot = (LOT / d).max(1);
            for (out, rows) in table.as_mut().chunks_mut(lot * d).zip(rows.chunks(lot)) {
                let mut sources: Vec<(u32, usize)> = rows.iter().copied().zip(0..).collect();
                sources.sort_unstable();
                for (row, place) in sources {
                    out[place * d..(place + 1) * d].copy_from_slice(&values[row as usize * d..][..d]);
                }
            }
            Ok(T::stored(table.into()))
        }
        let Some(scratch) = scratch else { return Ok(self.select(rows)) };
        let values = with_values!(self.values(), values => selected(values, rows, self.n_columns, scratch)?);
        Ok(Points { values, n_columns: self.n_columns })
    }

    /// Rows scaled to Euclidean length 1, for the cosine distance. Owned values are changed in place, shared ones are
    /// copied, to the scratch if there is one.
    pub(crate) fn unit_rows(self, scratch: Option<&dyn Scratch>) -> Result<Points> {
        fn scaled<T: Value>(values: Typed<T>, d: usize, scratch: Option<&dyn Scratch>) -> Result<Storage> {
            let mut table = values.into_table(scratch)?;
            for (row, values) in table.as_mut().chunks_exact_mut(d).enumerate() {
                if !scale_to_unit(values) {
                    return Err(Error::ZeroRow { row });
                }
            }
            Ok(T::stored(table.into()))
        }
        let values = with_storage!(self.values, values => scaled(values, self.n_columns, scratch)?);
        Ok(Points { values, n_columns: self.n_columns })
    }

    /// The same points, their coordinates rounded to single precision if that is what is wanted, or widened.
    pub(crate) fn in_precision(self, precision: Precision) -> Points {
        let values = match (precision, self.values()) {
            (Precision::Single, Numbers::F64(values)) => {
                Storage::F32(Typed::Owned(values.iter().map(|&value| value as f32).collect()))
            }
            (Precision::Double, Numbers::F32(values)) => {
                Storage::F64(Typed::Owned(values.iter().map(|&value| value.into()).collect()))
            }
            _ => return self,
        };
        Points { values, n_columns: self.n_columns }
    }
}

/// Scales a row to Euclidean length 1; returns false and does nothing if it is all zero.
fn scale_to_unit<T: Value>(row: &mut [T]) -> bool {
    // Dividing by the largest entry first keeps the squares from overflowing or underflowing.
    let largest = row.iter().fold(0.0f64, |m, &v| m.max(v.into().abs()));
    if largest == 0.0 {
        return false;
    }
    let relative = |v: T| v.into() / largest;
    let norm = row.iter().map(|&v| relative(v) * relative(v)).sum::<f64>().sqrt();
    row.iter_mut().for_each(|v| *v = T::rounded(relative(*v) / norm));
    true
}

/// The first number that is so.
fn first_where(values: Numbers<'_>, is_so: impl Fn(f64) -> bool) -> Option<usize> {
    with_values!(values, values => values.iter().position(|&value| is_so(value.widened())))
}

/// The rules of a row-major table that also apply to raw tables.
pub(crate) fn check_shape(values: Numbers<'_>, n_columns: usize) -> Result<()> {
    if n_columns == 0 {
        return Err(Error::Empty { what: "columns" });
    }
    if values.is_empty() {
        return Err(Error::Empty { what: "rows" });
    }
    let rows = values.len() / n_columns;
    if rows * n_columns != values.len() {
        return Err(Error::Shape { values: values.len(), rows: rows + 1, columns: n_columns });
    }
    check_count(rows)
}

/// Ids are 32-bit, and the largest is reserved as a sentinel.
pub(crate) fn check_count(points: usize) -> Result<()> {
    let most = u32::MAX as usize - 1;
    if points > most { Err(Error::TooManyPoints { points, most }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_checked() {
        assert_eq!(Points::new(vec![], 2), Err(Error::Empty { what: "rows" }));
        assert_eq!(Points::new(vec![1.0], 0), Err(Error::Empty { what: "columns" }));
        assert_eq!(Points::new(vec![1.0; 5], 2), Err(Error::Shape { values: 5, rows: 3, columns: 2 }));
        let bad = Points::new(vec![0.0, 1.0, 2.0, f64::INFINITY], 2);
        assert_eq!(bad, Err(Error::NotFinite { row: 1, column: 1, value: f64::INFINITY }));
    }

    #[test]
    fn unit_rows_survive_extreme_magnitudes() {
        let points = Points::new(vec![3e300, 4e300, 3e-300, 4e-300], 2).unwrap().unit_rows(None).unwrap();
        for row in 0..2 {
            let row = points.row(row);
            assert!((row.get(0) - 0.6).abs() < 1e-15 && (row.get(1) - 0.8).abs() < 1e-15);
        }
        let zero = Points::new(vec![1.0, 0.0, 0.0, 0.0], 2).unwrap().unit_rows(None);
        assert_eq!(zero, Err(Error::ZeroRow { row: 1 }));
    }

    /// The length is that of the widened row; only the coordinates are rounded.
    #[test]
    fn unit_rows_of_single_precision_are_rounded_once() {
        let values = vec![3e38f32, 1e38, 1e-40, 2e-40, 0.1, 0.7];
        let wide = Points::new(values.iter().map(|&value| value.into()).collect(), 2).unwrap();
        let unit = Points::from_f32(values, 2).unwrap().unit_rows(None).unwrap();
        assert_eq!(unit.precision(), Precision::Single);
        assert_eq!(unit, wide.unit_rows(None).unwrap().in_precision(Precision::Single));
    }
}
