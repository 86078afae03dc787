//! Stage 1, points: a table of finite numbers, made from a raw table by [`prepare`]; or sparse points in compressed rows.

mod duplicates;
mod pca;
mod prepare;
mod rule;
mod sparse;
mod storage;

pub use duplicates::Duplicates;
pub use pca::{PcaModel, principal_components};
pub(crate) use prepare::sorted_quantile;
pub use prepare::{
    ColumnModel, Missing, Preparation, PreparationParams, Standardize, memory_estimate, prepare,
};
pub use rule::PreparationRule;
pub use sparse::{SparsePoints, prepare_sparse};
pub use storage::SharedValues;

use crate::error::{Error, Result};
use crate::memory::{LargeTable, Scratch};
use storage::Storage;

/// Number of values in a batch of rows that are reordered together.
const LOT: usize = 1 << 24;

/// A table of finite numbers, one row for each point.
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    values: Storage,
    n_columns: usize,
}

impl Points {
    /// Checks a row-major table: not empty, rectangular, every value finite, at most 2³² − 2 rows.
    pub fn new(values: Vec<f64>, n_columns: usize) -> Result<Self> {
        Self::from_storage(Storage::Owned(values), n_columns)
    }

    /// The same for values that stay where they are, for example in a mapped file.
    pub fn from_shared(values: SharedValues, n_columns: usize) -> Result<Self> {
        Self::from_storage(Storage::Shared(values), n_columns)
    }

    fn from_storage(values: Storage, n_columns: usize) -> Result<Self> {
        Self::check_table(&values, n_columns)?;
        Ok(Self { values, n_columns })
    }

    /// Whether the values are shared rather than owned.
    pub(crate) fn are_shared(&self) -> bool {
        matches!(self.values, Storage::Shared(_))
    }

    /// The rules of [`Points::new`] for values that stay where they are; gives the number of rows.
    pub(crate) fn check_table(values: &[f64], n_columns: usize) -> Result<usize> {
        check_shape(values, n_columns)?;
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(values.len() / n_columns),
            Some(position) => {
                let (row, column) = (position / n_columns, position % n_columns);
                Err(Error::NotFinite { row, column, value: values[position] })
            }
        }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.values.len() / self.n_columns
    }

    /// Never: a table without rows is refused.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// The coordinates of point `i`.
    #[inline]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.n_columns..(i + 1) * self.n_columns]
    }

    /// All values, row by row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The points named by `rows`, in that order.
    pub fn select(&self, rows: &[u32]) -> Points {
        let values = rows.iter().flat_map(|&row| self.row(row as usize)).copied().collect();
        Points { values: Storage::Owned(values), n_columns: self.n_columns }
    }

    /// The same, in the scratch if there is one. The rows of a batch are fetched in the order in which they lie on disk, so that
    /// the system can read ahead.
    pub(crate) fn select_into(&self, rows: &[u32], scratch: Option<&dyn Scratch>) -> Result<Points> {
        if scratch.is_none() {
            return Ok(self.select(rows));
        }
        let mut table = LargeTable::zeros(rows.len() * self.n_columns, scratch)?;
        let d = self.n_columns;
        let lot = (LOT / d).max(1);
        for (out, rows) in table.as_mut().chunks_mut(lot * d).zip(rows.chunks(lot)) {
            let mut sources: Vec<(u32, usize)> = rows.iter().copied().zip(0..).collect();
            sources.sort_unstable();
            for (row, place) in sources {
                out[place * d..(place + 1) * d].copy_from_slice(self.row(row as usize));
            }
        }
        Ok(Points { values: table.into(), n_columns: self.n_columns })
    }

    /// Rows scaled to Euclidean length 1, for the cosine distance. Owned values are changed in place, shared ones are
    /// copied, to the scratch if there is one.
    pub(crate) fn unit_rows(self, scratch: Option<&dyn Scratch>) -> Result<Points> {
        let mut table = self.values.into_table(scratch)?;
        for (row, values) in table.as_mut().chunks_exact_mut(self.n_columns).enumerate() {
            if !scale_to_unit(values) {
                return Err(Error::ZeroRow { row });
            }
        }
        Ok(Points { values: table.into(), n_columns: self.n_columns })
    }
}

/// Scales a row to Euclidean length 1; returns false and does nothing if it is all zero.
fn scale_to_unit(row: &mut [f64]) -> bool {
    // Dividing by the largest entry first keeps the squares from overflowing or underflowing.
    let largest = row.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    if largest == 0.0 {
        return false;
    }
    row.iter_mut().for_each(|v| *v /= largest);
    let norm = row.iter().map(|v| v * v).sum::<f64>().sqrt();
    row.iter_mut().for_each(|v| *v /= norm);
    true
}

/// The rules of a row-major table that also apply to raw tables.
pub(crate) fn check_shape(values: &[f64], n_columns: usize) -> Result<()> {
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
            assert!((points.row(row)[0] - 0.6).abs() < 1e-15 && (points.row(row)[1] - 0.8).abs() < 1e-15);
        }
        let zero = Points::new(vec![1.0, 0.0, 0.0, 0.0], 2).unwrap().unit_rows(None);
        assert_eq!(zero, Err(Error::ZeroRow { row: 1 }));
    }
}
