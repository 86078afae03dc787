//! What the user should know about a run.

use taugraph::graph::Changes;
use taugraph::{Config, Warning};

use super::{Report, grouped};

impl Report<'_> {
    /// What the user should know about, in plain words with what to do.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        self.warn_of_input(&mut warnings);
        let Changes { n_loops, n_asymmetric } = self.dataset.changes;
        if n_loops > 0 {
            warnings.push(format!("{n_loops} entries on the diagonal of the graph were left out"));
        }
        if n_asymmetric > 0 {
            warnings.push(format!(
                "{n_asymmetric} pairs of the graph had two different entries; both have one now"
            ));
        }
        let found = match self.clusters() {
            Some(clusters) => clusters.warnings(),
            None => self.graph().warnings(),
        };
        warnings.extend(found.iter().map(Warning::to_string));
        warnings
    }

    /// The same with what is said of labeled rows, which JSON has as numbers.
    pub fn warnings_and_notes(&self) -> Vec<String> {
        let notes = self.labeled_rows().map(|rows| rows.notes()).unwrap_or_default();
        self.warnings().into_iter().chain(notes).collect()
    }

    fn warn_of_input(&self, warnings: &mut Vec<String>) {
        let of_table = self.graph().robust().is_some_and(|robust| robust.preparation.is_some());
        let of_points = of_table || self.dataset.sparse.is_some();
        let (params, usual) = (&self.settings.params, Config::default());
        if !of_points && (params.preparation != usual.preparation || params.metric.is_some()) {
            warnings.push("preparation and metric have no effect on a given graph or given distances".into());
        }
        if self.graph().robust().is_none() && params.graph != usual.graph {
            warnings.push("the parameters of the graph have no effect on a given graph".into());
        }
        let is_label = |name: &&String| {
            ["label", "labels", "class", "cluster", "target", "y"].contains(&name.to_lowercase().as_str())
        };
        if let (true, Some(name)) = (of_table, self.dataset.features.iter().find(is_label)) {
            warnings.push(format!(
                "'{name}' is used as a feature; --label-column {name} or --drop {name} keeps it out"
            ));
        }
        if let (Some(labels), Some(scores)) = (&self.dataset.labels, self.scores)
            && scores.n_rows < labels.len()
        {
            let without = grouped(labels.len() - scores.n_rows);
            warnings.push(format!("{without} rows without a label do not count in the scores"));
        }
    }
}
