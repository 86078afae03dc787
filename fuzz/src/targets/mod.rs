//! What each fuzz target does with bytes. The targets call it, and so does a test that replays the corpus and variations of it, so that
//! targets and corpus are compiled and run with every other test.

mod csv_records;
mod datasets;
mod files;
mod graphs;
mod models;
mod texts;

pub use csv_records::csv_records;
pub use datasets::datasets;
pub use files::{files, npy, npz, on_disk, parquet};
pub use graphs::graph;
pub use models::{config, model};
pub use texts::{csv, labels, matrix_market, svmlight};

/// A target: its name, which is that of the folder of its corpus, and what it does.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: &[Target] = &[
    ("csv", csv),
    ("csv_records", csv_records),
    ("labels", labels),
    ("matrix_market", matrix_market),
    ("svmlight", svmlight),
    ("npy", npy),
    ("npz", npz),
    ("parquet", parquet),
    ("files", files),
    ("on_disk", on_disk),
    ("datasets", datasets),
    ("config", config),
    ("model", model),
    ("graph", graph),
];

/// Runs the target of a name.
///
/// # Panics
/// If there is none, or if what it checks does not hold.
pub fn run(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|(known, _)| *known == name);
    target.expect("a target of this name").1(bytes);
}

/// What a reader may hold: less than the fuzzer allows.
fn budget() -> taugraph_io::Budget {
    taugraph_io::Budget::of(Some(1 << 28))
}
