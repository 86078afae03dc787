//! What each fuzz target does with bytes. The targets call it, and so does a test that replays the corpus and variations of it, so that
//! targets and corpus are compiled and run with every other test.

mod csv_records;
mod datasets;
mod files;
mod graphs;
mod models;
mod texts;

/// A target: its name, which is that of the folder of its corpus, and what it does.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: &[Target] = &[
    ("csv", texts::csv),
    ("csv_records", csv_records::csv_records),
    ("labels", texts::labels),
    ("matrix_market", texts::matrix_market),
    ("svmlight", texts::svmlight),
    ("npy", files::npy),
    ("npz", files::npz),
    ("parquet", files::parquet),
    ("files", files::files),
    ("on_disk", files::on_disk),
    ("datasets", datasets::datasets),
    ("config", models::config),
    ("model", models::model),
    ("graph", graphs::graph),
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
