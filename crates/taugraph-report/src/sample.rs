//! The rows that a report shows, with the cells they had in the table.

use taugraph::points::Numbers;
use taugraph::random::{Stage, Stream};

use crate::words::grouped;

/// Maximum number of points that a browser moves smoothly.
const MAX_POINTS: usize = 20_000;
/// Maximum number of columns in the page, if they are not too long.
const MAX_COLUMNS: usize = 40;
/// Maximum number of cells over all columns, at 8 characters each.
const MAX_CELLS: usize = 220_000;

/// Rows and raw columns, copied before the table is freed.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Ascending, counted from 0.
    pub(crate) rows: Vec<u32>,
    /// Total number of rows.
    pub(crate) n_rows: usize,
    /// Name and cells of each column.
    pub(crate) columns: Vec<(String, Vec<f64>)>,
    /// Total number of columns.
    n_columns: usize,
}

impl Sample {
    /// All rows, or a random sample of very many. A table is given as its values, row by row, and the names of all columns.
    ///
    /// # Panics
    /// If the values do not fill `n_rows` rows of as many columns as there are names.
    pub fn new(n_rows: usize, table: Option<(Numbers<'_>, &[String])>, seed: u64) -> Self {
        let mut rows: Vec<u32> = if n_rows <= MAX_POINTS {
            (0..n_rows as u32).collect()
        } else {
            Stream::new(seed, Stage::Shown).at(0, 0).permutation(n_rows)[..MAX_POINTS].to_vec()
        };
        rows.sort_unstable();
        let Some((values, names)) = table else {
            return Self { rows, n_rows, columns: Vec::new(), n_columns: 0 };
        };
        let n_columns = names.len();
        assert_eq!(values.len(), n_rows * n_columns, "one value for each row and column");
        let shown = n_columns.min(MAX_COLUMNS).min(MAX_CELLS / rows.len().max(1));
        let cells = |column: usize| -> Vec<f64> {
            rows.iter().map(|&row| values.get(row as usize * n_columns + column)).collect()
        };
        let columns = (0..shown).map(|column| (names[column].clone(), cells(column)));
        let columns = columns.filter(|(_, cells)| cells.iter().any(|cell| cell.is_finite())).collect();
        Self { rows, n_rows, columns, n_columns }
    }

    /// Whether every row is shown.
    pub(crate) fn is_whole(&self) -> bool {
        self.rows.len() == self.n_rows
    }

    /// The values of the rows shown.
    pub(crate) fn of<T: Clone>(&self, of_rows: &[T]) -> Vec<T> {
        self.rows.iter().map(|&row| of_rows[row as usize].clone()).collect()
    }

    /// A note on what is not shown.
    pub(crate) fn note(&self) -> String {
        let mut note = String::new();
        if !self.is_whole() {
            let (all, shown) = (grouped(self.n_rows), grouped(MAX_POINTS));
            note = format!(
                "A random sample of {shown} of the {all} points, and the edges among them. The decay, the components next to the slider and the \
                 sizes of groups refer to all points."
            );
        }
        if !self.columns.is_empty() && self.columns.len() < self.n_columns {
            note += &format!(" The first {} of {} columns can be shown.", self.columns.len(), self.n_columns);
        }
        note.trim().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn very_many_rows_are_sampled() {
        let values: Vec<f64> = (0..60_000).map(f64::from).collect();
        let names = ["a", "b"].map(String::from);
        let sample = Sample::new(30_000, Some((Numbers::from(&values), &names)), 1);
        assert_eq!((sample.rows.len(), sample.is_whole()), (MAX_POINTS, false));
        assert!(sample.rows.is_sorted() && sample.rows != Sample::new(30_000, None, 2).rows);
        assert_eq!(sample.columns[1].1[7], 2.0 * f64::from(sample.rows[7]) + 1.0);
        assert!(sample.note().starts_with("A random sample of 20,000 of the 30,000 points"));
        let values = [1.0f32, f32::NAN, 2.0, f32::NAN, 3.0, f32::NAN];
        let whole = Sample::new(3, Some((Numbers::from(&values), &names)), 1);
        assert_eq!(
            whole.columns,
            [("a".to_string(), vec![1.0, 2.0, 3.0])],
            "nothing is shown of empty columns"
        );
    }
}
