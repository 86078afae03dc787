//! What `demo` shows: two noisy spirals, clustered with and without the robust graph.

mod example;
mod experiment;
mod figures;
mod words;

pub use example::write_example;
pub use experiment::Experiment;

/// As many as in the paper's figure.
const POINTS: usize = 300;
/// Deviation of the noise on every point.
const NOISE: f64 = 0.2;
/// One run proves little: the scores are also averaged over this many seeds.
const SEEDS: u64 = 10;
/// Drawn graphs for the stability on the page.
const STABILITY: usize = 10;
