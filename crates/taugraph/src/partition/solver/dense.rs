//! Small matrices that go between partitions and the search.

use faer::{Mat, MatRef};

use crate::error::{Error, Result};

/// A matrix, row by row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Dense {
    /// The entries.
    pub values: Vec<f64>,
    /// Entries of a row.
    pub n_columns: usize,
}

impl Dense {
    /// Checks that all rows are whole.
    pub fn new(values: Vec<f64>, n_columns: usize) -> Result<Self> {
        match n_columns {
            0 => Err(Error::Empty { what: "columns" }),
            _ if !values.len().is_multiple_of(n_columns) => {
                let expected = values.len().next_multiple_of(n_columns);
                Err(Error::Length { what: "matrix", expected, received: values.len() })
            }
            _ => Ok(Self { values, n_columns }),
        }
    }

    pub(super) fn of(matrix: MatRef<'_, f64>) -> Self {
        let rows = (0..matrix.nrows()).flat_map(|row| (0..matrix.ncols()).map(move |column| (row, column)));
        let values = rows.map(|(row, column)| matrix[(row, column)]).collect();
        Self { values, n_columns: matrix.ncols() }
    }

    pub(super) fn to_mat(&self) -> Mat<f64> {
        Mat::from_fn(self.n_rows(), self.n_columns, |row, column| self.values[row * self.n_columns + column])
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.values.len() / self.n_columns
    }

    /// The entries of a row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.n_columns..(row + 1) * self.n_columns]
    }

    /// Adds what the partitions contribute, in their order.
    pub fn sum(parts: &[Dense]) -> Result<Dense> {
        let Some((first, rest)) = parts.split_first() else {
            return Err(Error::Empty { what: "partitions" });
        };
        let mut sum = first.clone();
        for part in rest {
            if part.values.len() != sum.values.len() {
                let (expected, received) = (sum.values.len(), part.values.len());
                return Err(Error::Length { what: "products of a partition", expected, received });
            }
            sum.values.iter_mut().zip(&part.values).for_each(|(sum, value)| *sum += value);
        }
        Ok(sum)
    }
}
