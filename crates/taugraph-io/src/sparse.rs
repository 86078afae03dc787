//! Sparse matrices in compressed rows, as stored in files: any shape, any values.

use crate::budget::Budget;
use crate::error::{Error, Result};

/// A sparse matrix in compressed rows; columns ascend within a row and each occurs once.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseMatrix {
    /// Rows.
    pub n_rows: usize,
    /// Columns.
    pub n_columns: usize,
    /// Where each row begins, followed by the end of the last.
    pub offsets: Vec<u64>,
    /// Column of each entry.
    pub columns: Vec<u32>,
    /// Value of each entry.
    pub values: Vec<f64>,
}

/// A sparse matrix whose rows have labels.
#[derive(Debug, Clone, PartialEq)]
pub struct LabeledMatrix {
    /// Label of each row.
    pub labels: Vec<String>,
    /// The rows.
    pub matrix: SparseMatrix,
}

impl SparseMatrix {
    /// From entries in any order; those at the same position are summed, as in scipy.
    ///
    /// `format` and `name` are for messages.
    pub(crate) fn from_entries(
        shape: (usize, usize),
        mut entries: Vec<(u32, u32, f64)>,
        format: &'static str,
        name: &str,
        budget: &Budget,
    ) -> Result<Self> {
        check_shape(shape, entries.len(), format, name)?;
        // The result, and beside it the room to sort.
        budget.take(12 * entries.len() as u64 + 8 * (shape.0 as u64 + 1), name)?;
        let (n_rows, n_columns) = shape;
        for &(row, column, _) in &entries {
            if row as usize >= n_rows || column as usize >= n_columns {
                let problem = format!(
                    "an entry at ({row}, {column}) lies outside its {n_rows} rows and {n_columns} columns"
                );
                return Err(Error::Malformed { name: name.to_string(), format, problem });
            }
        }
        entries.sort_by_key(|&(row, column, _)| (row, column));
        let mut offsets = vec![0u64; n_rows + 1];
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        budget.reserve(&mut columns, entries.len(), name)?;
        budget.reserve(&mut values, entries.len(), name)?;
        let mut before = None;
        for (row, column, value) in entries {
            if before == Some((row, column)) {
                *values.last_mut().expect("there is one before") += value;
                continue;
            }
            before = Some((row, column));
            columns.push(column);
            values.push(value);
            offsets[row as usize + 1] += 1;
        }
        for row in 0..n_rows {
            offsets[row + 1] += offsets[row];
        }
        Ok(Self { n_rows, n_columns, offsets, columns, values })
    }

    /// Row, column and value of every entry, row by row.
    pub fn entries(&self) -> impl Iterator<Item = (u32, u32, f64)> + '_ {
        (0..self.n_rows).flat_map(move |row| {
            let range = self.offsets[row] as usize..self.offsets[row + 1] as usize;
            range.map(move |place| (row as u32, self.columns[place], self.values[place]))
        })
    }
}

/// A matrix with far more rows than entries is a mistake or an attempt to exhaust memory. Columns cost nothing, however many:
/// hashed features have millions.
pub(crate) fn check_shape(
    shape: (usize, usize),
    n_entries: usize,
    format: &'static str,
    name: &str,
) -> Result<()> {
    let (most, longest) = (u32::MAX as usize - 1, shape.0.max(shape.1));
    if longest > most || shape.0 > 1_000_000 + 16 * n_entries {
        let problem =
            format!("it claims {} × {} cells, but contains only {n_entries} entries", shape.0, shape.1);
        return Err(Error::Malformed { name: name.to_string(), format, problem });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_sorted_and_added() {
        let entries = vec![(1, 0, 2.0), (0, 1, 1.0), (1, 0, 3.0)];
        let matrix = SparseMatrix::from_entries((2, 2), entries, "test", "x", Budget::unlimited()).unwrap();
        assert_eq!((&matrix.offsets[..], &matrix.columns[..]), (&[0, 1, 2][..], &[1, 0][..]));
        assert_eq!(matrix.values, [1.0, 5.0]);
        assert_eq!(matrix.entries().collect::<Vec<_>>(), [(0, 1, 1.0), (1, 0, 5.0)]);
    }

    #[test]
    fn impossible_shapes_are_refused() {
        assert!(
            SparseMatrix::from_entries((2, 2), vec![(2, 0, 1.0)], "test", "x", Budget::unlimited()).is_err()
        );
        assert!(
            SparseMatrix::from_entries((1 << 31, 2), vec![(2, 0, 1.0)], "test", "x", Budget::unlimited())
                .is_err()
        );
        assert!(
            SparseMatrix::from_entries((usize::MAX, 2), vec![], "test", "x", Budget::unlimited()).is_err()
        );
        assert!(
            SparseMatrix::from_entries((2, usize::MAX), vec![], "test", "x", Budget::unlimited()).is_err()
        );
        assert!(
            SparseMatrix::from_entries((2, 1 << 31), vec![(1, 5, 1.0)], "test", "x", Budget::unlimited())
                .is_ok()
        );
    }
}
