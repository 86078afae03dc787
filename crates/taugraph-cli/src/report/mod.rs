//! A run described: for people as text, for machines as JSON.

mod clusters;
mod evaluation;
mod explanations;
mod json;
mod labels;
mod scores;
mod suggestions;
mod text;
mod walk;
mod warnings;
mod words;

use taugraph::fit::SuggestedRow;
use taugraph::{FittedClusters, FittedGraph};
use taugraph_report::Found;

use self::labels::LabeledRows;
use crate::args::RunArgs;
use crate::cost::StageCost;
use crate::dataset::Dataset;
use crate::failure::Outcome;
use crate::settings::Settings;

pub use evaluation::Evaluated;
pub use explanations::Explanations;
pub use scores::{Scores, is_missing};
pub use taugraph_terminal::{grouped, say, write_json};
pub use words::{listed, mean_and_deviation, significant, some_of, sparkline};

/// Everything that a report is made of.
pub struct Report<'a> {
    pub command: &'static str,
    pub settings: &'a Settings,
    pub dataset: &'a Dataset,
    pub found: Found<'a>,
    /// Of clusters, where true labels are known.
    pub scores: Option<Scores>,
    /// Of clusters in a table.
    pub explanations: Option<Explanations>,
    /// Of clusters of a small table: their agreement with those of plain local scaling.
    pub agreement: Option<f64>,
    /// Of labels: rows to label next.
    pub suggestions: Vec<SuggestedRow>,
    /// Of a graph on which labels were tried.
    pub evaluation: Option<Evaluated<'a>>,
    /// What each stage took.
    pub stages: Vec<StageCost>,
}

impl Report<'_> {
    /// Writes the JSON and prints the summary.
    pub fn publish(&self, args: &RunArgs) -> Outcome<()> {
        if let Some(path) = &args.json {
            write_json(&self.json(), path)?;
        }
        if !args.quiet {
            say(&self.text());
        }
        Ok(())
    }

    fn graph(&self) -> &FittedGraph {
        match self.found {
            Found::Graph(graph) => graph,
            Found::Clusters(clusters) => clusters.graph(),
            Found::Labels(labels, _) => labels.graph(),
        }
    }

    fn clusters(&self) -> Option<&FittedClusters> {
        if let Found::Clusters(clusters) = self.found { Some(clusters) } else { None }
    }

    fn labeled_rows(&self) -> Option<LabeledRows<'_>> {
        if let Found::Labels(found, given) = self.found { Some(LabeledRows::new(found, given)) } else { None }
    }
}
