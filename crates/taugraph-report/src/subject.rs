//! What a report is about.

use serde_json::Value;
use taugraph::{Error, FittedClusters, FittedGraph, FittedLabels, GivenLabels, Result};

use crate::sample::Sample;

/// What was fitted.
#[derive(Debug, Clone, Copy)]
pub enum Found<'a> {
    /// A graph alone.
    Graph(&'a FittedGraph),
    /// Clusters of a graph.
    Clusters(&'a FittedClusters),
    /// Labels on a graph, and the labels that were given.
    Labels(&'a FittedLabels, &'a GivenLabels),
}

/// What to show.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    /// Name of the file or dataset, for the title.
    pub name: &'a str,
    /// What was fitted.
    pub found: Found<'a>,
    /// The rows to show.
    pub sample: Sample,
    /// Names of all rows.
    pub ids: Option<&'a [String]>,
    /// Known label of every row, against which the result is scored; cells that mean "no label" do not count.
    pub known_labels: Option<&'a [String]>,
    /// The command, or the code, that repeats the run.
    pub command: String,
    /// The run in a few lines of text.
    pub summary: String,
    /// Warnings, with what to do.
    pub warnings: Vec<String>,
    /// Each stage with its seconds and peak memory by its end, in bytes.
    pub stages: Vec<(String, f64, Option<u64>)>,
    /// Every parameter.
    pub settings: Value,
    /// Peak memory of the run, in bytes.
    pub peak_memory: Option<u64>,
}

/// Clusters or labels: their names, and that of each row.
pub(crate) struct Groups {
    /// `cluster` or `label`.
    pub kind: &'static str,
    pub names: Vec<String>,
    pub of_rows: Vec<Option<u32>>,
}

impl<'a> Subject<'a> {
    pub(crate) fn graph(&self) -> &'a FittedGraph {
        match self.found {
            Found::Graph(graph) => graph,
            Found::Clusters(clusters) => clusters.graph(),
            Found::Labels(labels, _) => labels.graph(),
        }
    }

    pub(crate) fn clusters(&self) -> Option<&'a FittedClusters> {
        if let Found::Clusters(clusters) = self.found { Some(clusters) } else { None }
    }

    pub(crate) fn labels(&self) -> Option<(&'a FittedLabels, &'a GivenLabels)> {
        if let Found::Labels(labels, given) = self.found { Some((labels, given)) } else { None }
    }

    pub(crate) fn groups(&self) -> Option<Groups> {
        match self.found {
            Found::Graph(_) => None,
            Found::Clusters(clusters) => Some(Groups {
                kind: "cluster",
                names: (0..clusters.n_clusters()).map(|cluster| cluster.to_string()).collect(),
                of_rows: clusters.labels().iter().copied().map(Some).collect(),
            }),
            Found::Labels(labels, _) => Some(Groups {
                kind: "label",
                names: labels.classes().to_vec(),
                of_rows: labels.labels().to_vec(),
            }),
        }
    }

    /// Known label of each row that can be scored; rows whose label was given do not count. `None` if there are none.
    pub(crate) fn truth(&self) -> Option<Vec<Option<&'a str>>> {
        let given = self.labels().map(|(_, given)| given.of_rows());
        let is_given = |row: usize| given.is_some_and(|given| given[row].is_some());
        let is_missing = |label: &str| taugraph_io::is_missing(label.trim().as_bytes());
        let truth: Vec<Option<&str>> = self
            .known_labels?
            .iter()
            .enumerate()
            .map(|(row, label)| Some(label.as_str()).filter(|label| !is_given(row) && !is_missing(label)))
            .collect();
        truth.iter().any(Option::is_some).then_some(truth)
    }

    /// Checks that everything refers to the same rows.
    pub(crate) fn check(&self) -> Result<()> {
        let expected = self.graph().n_rows();
        let lengths = [
            ("rows of the sample", Some(self.sample.n_rows)),
            ("names of rows", self.ids.map(<[String]>::len)),
            ("known labels", self.known_labels.map(<[String]>::len)),
            ("given labels", self.labels().map(|(_, given)| given.of_rows().len())),
        ];
        for (what, received) in lengths {
            if let Some(received) = received.filter(|&received| received != expected) {
                return Err(Error::Length { what, expected, received });
            }
        }
        Ok(())
    }
}
