//! The rows that a report shows, with the cells they had in the file.

use taugraph::random::{Stage, Stream};

use crate::dataset::{Body, Dataset};

/// Points that a browser moves smoothly.
pub const MAX_POINTS: usize = 20_000;
/// Columns of the table that go into the page, if they are not too long.
const MAX_COLUMNS: usize = 40;
/// Numbers of all columns together: 8 characters for each.
const MAX_CELLS: usize = 220_000;

/// Rows and raw columns, taken before the table is given back to the system.
pub struct Sample {
    /// Ascending, counted from 0.
    pub rows: Vec<u32>,
    /// Rows in all.
    pub n_rows: usize,
    /// Name and cells of each column.
    pub columns: Vec<(String, Vec<f64>)>,
    /// Columns in all.
    pub n_columns: usize,
}

impl Sample {
    pub fn new(dataset: &Dataset, seed: u64) -> Self {
        let n = dataset.n_rows;
        let mut rows: Vec<u32> = if n <= MAX_POINTS {
            (0..n as u32).collect()
        } else {
            Stream::new(seed, Stage::Shown).at(0, 0).permutation(n)[..MAX_POINTS].to_vec()
        };
        rows.sort_unstable();
        let n_columns = dataset.features.len();
        let columns = match &dataset.body {
            Body::Points(values) => {
                let shown = n_columns.min(MAX_COLUMNS).min(MAX_CELLS / rows.len().max(1));
                let cells = |column: usize| {
                    rows.iter().map(|&row| values[row as usize * n_columns + column]).collect::<Vec<f64>>()
                };
                let columns = (0..shown).map(|column| (dataset.features[column].clone(), cells(column)));
                columns.filter(|(_, cells)| cells.iter().any(|cell| cell.is_finite())).collect()
            }
            _ => Vec::new(),
        };
        Self { rows, n_rows: n, columns, n_columns }
    }

    /// Whether every row is shown.
    pub fn is_whole(&self) -> bool {
        self.rows.len() == self.n_rows
    }

    /// What belongs to the rows that are shown.
    pub fn of<T: Clone>(&self, of_rows: &[T]) -> Vec<T> {
        self.rows.iter().map(|&row| of_rows[row as usize].clone()).collect()
    }
}
