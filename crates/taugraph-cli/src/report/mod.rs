//! A run described: for people as text, for machines as JSON.

mod json;
mod scores;
mod text;
mod warnings;
mod words;

use serde_json::Value;
use taugraph::{FittedClusters, FittedGraph};

use crate::args::RunArgs;
use crate::dataset::Dataset;
use crate::failure::Outcome;
use crate::progress::StageCost;
use crate::settings::Settings;

pub use scores::{Scores, is_missing};
pub use taugraph_terminal::{grouped, say, write_json};
pub use words::{listed, mean_and_deviation, significant, some_of, sparkline};

/// Everything that a report is made of.
pub struct Report<'a> {
    pub command: &'a str,
    pub settings: &'a Settings,
    pub dataset: &'a Dataset,
    pub graph: &'a FittedGraph,
    pub clusters: Option<Clusters<'a>>,
    /// What each stage took.
    pub stages: &'a [StageCost],
}

/// The clustering, if there is one.
pub struct Clusters<'a> {
    pub found: &'a FittedClusters,
    pub scores: Option<Scores>,
}

impl Report<'_> {
    /// Writes the JSON, with one more section if there is one, and prints the summary with what follows it.
    pub fn publish(&self, section: Option<(&str, Value)>, more: &str, args: &RunArgs) -> Outcome<()> {
        if let Some(path) = &args.json {
            let mut json = self.json();
            if let Some((name, value)) = section {
                json[name] = value;
            }
            write_json(&json, path)?;
        }
        if !args.quiet {
            say(&format!("{}{more}", self.text()));
        }
        Ok(())
    }
}
