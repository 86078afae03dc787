//! The experiment in words and in JSON.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::experiment::Experiment;
use super::{NOISE, POINTS, SEEDS};
use crate::failure::Outcome;
use crate::report::{grouped, mean_and_deviation, sparkline};

impl Experiment {
    pub fn json(&self, files: &[PathBuf]) -> Value {
        json!({
            "taugraph": env!("CARGO_PKG_VERSION"),
            "seed": self.seed,
            "points": POINTS,
            "noise": NOISE,
            "nmi": self.rows.iter().map(|row| json!({
                "graph": row.name,
                "this_seed": row.nmi,
                "seeds": row.of_seeds,
            })).collect::<Vec<_>>(),
            "files": files.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>(),
        })
    }

    /// What was done, where the files are and what to try next.
    pub fn text(&self, folder: &Path, data_file: &Path, seconds: f64) -> Outcome<String> {
        let stochastic = &self.graph()?.stochastic;
        let decay = stochastic.decay();
        let counts: Vec<usize> = decay.iter().map(|(_, edges)| *edges).collect();
        let mut table = String::new();
        for row in &self.rows {
            let of_seeds = mean_and_deviation(&row.of_seeds, 3);
            let _ = writeln!(table, "    {:<30} {:.3}        {of_seeds}", row.name, row.nmi);
        }
        Ok(format!(
            "\
Two spirals of {POINTS} points, Gaussian noise of deviation {NOISE} on all of them. Agreement of two
spectral clusters with the two arms (NMI), for seed {} and as mean ± deviation over seeds 0 to {}:

    graph                          seed {:<6}  all seeds
{table}
The robust graph asked of each of its {} candidate edges up to which quantile of the similarities
around it it persists: {} edges at tau = {}, {} at tau = {}.  {}
Edges between the arms die early, edges along them persist; scales and weights follow.

Open {} in a browser (every figure is beside it as .svg and .png).
{seconds:.1} s in all. Try next:

    taugraph cluster {} --label-column label
    taugraph cluster {} --label-column label --preset local-scaling
    taugraph info YOUR.csv
    taugraph cluster YOUR.csv --output clusters.csv --report clusters.html
",
            self.seed,
            SEEDS - 1,
            self.seed,
            grouped(stochastic.edges().len()),
            grouped(counts[0]),
            decay[0].0,
            grouped(counts[counts.len() - 1]),
            decay[decay.len() - 1].0,
            sparkline(&counts),
            folder.join("report.html").display(),
            data_file.display(),
            data_file.display(),
        ))
    }
}
