//! A table of cells, and how they are measured.

use std::time::Instant;

use rayon::prelude::*;

use super::journal::{Entry, Journal, Key};
use crate::data::Error;

/// One row of a table: a set, prepared in a stated way.
pub struct Row {
    /// Its name.
    pub name: String,
    /// What was done to the points before.
    pub preparation: &'static str,
    /// The paper's figure for some columns.
    pub published: Vec<(&'static str, f64)>,
}

/// What one measurement gives, in the order of [`Experiment::measures`].
pub type Values = Vec<f64>;

/// A table to be filled.
pub struct Experiment {
    /// Its name in files and in the journal.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What is measured and how, in a few sentences.
    pub about: String,
    /// Names of the values of a measurement; the first one is compared.
    pub measures: &'static [&'static str],
    /// Rows.
    pub rows: Vec<Row>,
    /// Names of the methods.
    pub columns: Vec<&'static str>,
    /// Seeds; each cell is measured with all of them.
    pub seeds: Vec<u64>,
    /// Pairs of columns that are compared: what the first adds to the second.
    pub comparisons: Vec<(&'static str, &'static str)>,
    /// Measures one cell (row, column) with one seed.
    pub measure: Box<dyn Fn(usize, usize, u64) -> Result<Values, Error> + Sync>,
}

/// What one measurement gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The values.
    pub values: Values,
    /// How long it took.
    pub seconds: f64,
}

/// All measurements of an experiment: by row, column and seed.
pub struct Found {
    /// The experiment.
    pub experiment: Experiment,
    /// Row by row, column by column, seed by seed.
    pub measured: Vec<Vec<Vec<Measured>>>,
}

impl Found {
    /// One value of a cell for every seed.
    pub fn values(&self, row: usize, column: usize, measure: usize) -> Vec<f64> {
        self.measured[row][column].iter().map(|measured| measured.values[measure]).collect()
    }

    /// Seconds of all measurements of a cell.
    pub fn seconds(&self, row: usize, column: usize) -> f64 {
        self.measured[row][column].iter().map(|measured| measured.seconds).sum()
    }
}

/// Who is told about the progress, and may stop the run.
pub trait Listener: Sync {
    /// So many measurements are to be made.
    fn start(&self, _experiment: &str, _total: usize) {}
    /// One has been made.
    fn advance(&self, _cell: &str) {}
    /// Whether to stop.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Makes every measurement that the journal does not have.
pub fn run(experiment: Experiment, journal: &Journal, listener: &dyn Listener) -> Result<Found, Error> {
    let (n_rows, n_columns) = (experiment.rows.len(), experiment.columns.len());
    let key = |row: usize, column: usize, seed: u64| Key {
        experiment: experiment.name.to_string(),
        row: experiment.rows[row].name.clone(),
        column: experiment.columns[column].to_string(),
        seed,
    };
    let all = (0..n_rows).flat_map(|row| (0..n_columns).map(move |column| (row, column)));
    let all = all.flat_map(|(row, column)| experiment.seeds.iter().map(move |&seed| (row, column, seed)));
    let missing: Vec<(usize, usize, u64)> =
        all.filter(|&(row, column, seed)| journal.get(&key(row, column, seed)).is_none()).collect();
    listener.start(experiment.name, missing.len());
    missing.par_iter().try_for_each(|&(row, column, seed)| {
        if listener.cancelled() {
            return Err(taugraph::error::Error::Cancelled.into());
        }
        let start = Instant::now();
        let values = (experiment.measure)(row, column, seed)?;
        let seconds = start.elapsed().as_secs_f64();
        journal.add(Entry { key: key(row, column, seed), values, seconds })?;
        listener.advance(&format!("{}, {}", experiment.rows[row].name, experiment.columns[column]));
        Ok::<(), Error>(())
    })?;
    let of_cell = |row: usize, column: usize| {
        let of_seed = |&seed: &u64| journal.get(&key(row, column, seed)).expect("it has just been measured");
        experiment.seeds.iter().map(of_seed).collect::<Vec<Measured>>()
    };
    let measured =
        (0..n_rows).map(|row| (0..n_columns).map(|column| of_cell(row, column)).collect()).collect();
    Ok(Found { experiment, measured })
}
