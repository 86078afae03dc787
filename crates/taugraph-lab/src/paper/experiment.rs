//! A table of cells, and how they are measured.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use taugraph::progress::Run;

use super::journal::{Entry, Journal, Key};
use crate::data::Error;
use crate::datasets::{Store, find};

/// One row of a table: a set, prepared in a stated way.
pub struct Row {
    /// Its name.
    pub name: String,
    /// The set of the registry that it needs, if any.
    pub set: Option<&'static str>,
    /// How the points were prepared.
    pub preparation: &'static str,
    /// The paper's figure for some columns.
    pub published: Vec<(&'static str, f64)>,
}

/// The values of one measurement, in the order of [`Experiment::measures`].
pub type Values = Vec<f64>;

/// Measures one cell (row, column) with the seed of the run.
pub type Measure = Box<dyn Fn(usize, usize, &Run<'_>) -> Result<Values, Error> + Sync>;

/// A table to be filled.
pub struct Experiment {
    /// Its name in files and in the journal.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What is measured and how, in a few sentences.
    pub about: String,
    /// Names of the values of a measurement.
    pub measures: &'static [&'static str],
    /// The one that is compared.
    pub compared: usize,
    /// Rows.
    pub rows: Vec<Row>,
    /// Names of the methods.
    pub columns: Vec<&'static str>,
    /// Seeds; each cell is measured with all of them.
    pub seeds: Vec<u64>,
    /// Pairs of columns that are compared: what the first adds to the second.
    pub comparisons: Vec<(&'static str, &'static str)>,
    /// Whether every seed has its own points and so counts as a pair in comparisons; otherwise seeds are averaged first.
    pub seeds_are_pairs: bool,
    /// Measures one cell (row, column) with the seed of the run.
    pub measure: Measure,
}

/// The result of one measurement.
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

/// Receives progress.
pub trait Listener: Sync {
    /// This many measurements will be made.
    fn start(&self, _experiment: &str, _total: usize) {}
    /// One has been made.
    fn advance(&self) {}
}

/// Makes every measurement that the journal does not have, on as many threads as the current pool has. `base` provides the memory limit and
/// cancellation; seeds are the experiment's own.
pub fn run(
    experiment: Experiment,
    journal: &Journal,
    listener: &dyn Listener,
    base: &Run<'_>,
) -> Result<Found, Error> {
    let (n_rows, n_columns) = (experiment.rows.len(), experiment.columns.len());
    let key = |row: usize, column: usize, seed: u64| Key {
        experiment: experiment.name.to_string(),
        row: experiment.rows[row].name.clone(),
        column: experiment.columns[column].to_string(),
        seed,
    };
    let known = |row: usize, column: usize, seed: u64| {
        journal.get(&key(row, column, seed)).filter(|known| known.values.len() == experiment.measures.len())
    };
    let all = (0..n_rows).flat_map(|row| (0..n_columns).map(move |column| (row, column)));
    let all = all.flat_map(|(row, column)| experiment.seeds.iter().map(move |&seed| (row, column, seed)));
    let missing: Vec<(usize, usize, u64)> =
        all.filter(|&(row, column, seed)| known(row, column, seed).is_none()).collect();
    // Fail now rather than after minutes of work on the others.
    let store = Store::from_environment();
    let rows: BTreeSet<usize> = missing.iter().map(|&(row, ..)| row).collect();
    for set in rows.into_iter().filter_map(|row| experiment.rows[row].set) {
        store.read(find(set)?)?;
    }
    listener.start(experiment.name, missing.len());
    let measure = |&(row, column, seed): &(usize, usize, u64)| {
        let start = Instant::now();
        let values = (experiment.measure)(row, column, &base.with_seed(seed))?;
        let seconds = start.elapsed().as_secs_f64();
        journal.add(Entry { key: key(row, column, seed), values, seconds })?;
        listener.advance();
        Ok::<(), Error>(())
    };
    on_single_threads(&missing, measure)?;
    let of_cell = |row: usize, column: usize| {
        let of_seed = |&seed: &u64| known(row, column, seed).expect("it has just been measured");
        experiment.seeds.iter().map(of_seed).collect::<Vec<Measured>>()
    };
    let measured =
        (0..n_rows).map(|row| (0..n_columns).map(|column| of_cell(row, column)).collect()).collect();
    Ok(Found { experiment, measured })
}

/// Works through the list on several threads, each with a pool of one thread: a measurement has a core to itself, so that
/// times can be compared. After an error no further measurement is started.
fn on_single_threads<T: Sync>(
    list: &[T],
    work: impl Fn(&T) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<Error>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..rayon::current_num_threads() {
            scope.spawn(|| {
                let pool =
                    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread can be started");
                while let Some(item) = list.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(error) = pool.install(|| work(item)) {
                        next.store(list.len(), Ordering::Relaxed);
                        failed.lock().expect("no thread panicked").get_or_insert(error);
                    }
                }
            });
        }
    });
    failed.into_inner().expect("no thread panicked").map_or(Ok(()), Err)
}
