//! What the user should know about a run.

use taugraph::distance::Metric;
use taugraph::graph::Changes;
use taugraph::params::Preset;
use taugraph::points::PreparationParams;
use taugraph::quantile::StopReason;

use super::{Report, grouped, listed};
use crate::pipeline::Robust;

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
        if let Some(robust) = self.built.robust() {
            self.warn_of_graph(robust, &mut warnings);
        }
        if let Some(clusters) = &self.clusters {
            let clustering = clusters.clustering;
            if !clustering.links.is_empty() {
                warnings.push(format!(
                    "the graph came in {} components, which were joined by weak links; --components separately clusters each",
                    clustering.n_components
                ));
            }
            let is_unsure = |info: &taugraph::spectral::EigenInfo| !info.confirmed;
            if clustering.embedding.as_ref().is_some_and(|embedding| is_unsure(&embedding.info)) {
                warnings.push(
                    "the eigensolver could not make sure that it missed no eigenvalue; ask for fewer clusters".into(),
                );
            }
        }
        warnings
    }

    fn warn_of_input(&self, warnings: &mut Vec<String>) {
        let of_table = self.built.robust().is_some_and(|robust| robust.preparation.is_some());
        let of_points = of_table || self.dataset.sparse.is_some();
        let prepares = self.settings.preparation() != PreparationParams::default();
        if !of_points && (prepares || self.settings.metric() != Metric::default()) {
            warnings.push("preparation and metric have no effect on a given graph or given distances".into());
        }
        if self.built.robust().is_none() && self.settings.graph != Preset::default().params() {
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
        let scored = self.clusters.as_ref().and_then(|clusters| clusters.scores);
        if let (Some(labels), Some(scores)) = (&self.dataset.labels, scored)
            && scores.n_rows < labels.len()
        {
            let without = grouped(labels.len() - scores.n_rows);
            warnings.push(format!("{without} rows without a label do not count in the scores"));
        }
    }

    fn warn_of_graph(&self, robust: &Robust, warnings: &mut Vec<String>) {
        if let Some(prepared) = &robust.preparation {
            for (what, names) in [("constant", &prepared.constant), ("empty", &prepared.empty)] {
                if !names.is_empty() {
                    warnings.push(format!("left out, because {what}: {}", listed(names)));
                }
            }
            if prepared.n_imputed > 0 {
                let columns = prepared.kept.iter().filter(|column| column.n_missing > 0);
                let names: Vec<String> =
                    columns.map(|column| self.dataset.features[column.column].clone()).collect();
                warnings.push(format!(
                    "{} missing cells were filled with the median of their column: {}",
                    prepared.n_imputed,
                    listed(&names)
                ));
            }
        }
        let graph = &robust.graph;
        if graph.stochastic.has_flat_decay() {
            let advice = match self.settings.graph.estimator {
                taugraph::quantile::Estimator::AutoEncoder(_)
                | taugraph::quantile::Estimator::Factorization(_) => "lower --rank",
                _ => "raise --threshold, or use --preset robust",
            };
            warnings.push(format!("the decay is flat: every edge has the same probability; {advice}"));
        }
        let cut_short =
            graph.training.iter().filter(|training| training.stop == StopReason::IterationLimit).count();
        if cut_short > 0 {
            warnings.push(format!(
                "{cut_short} of {} models were still improving when --epochs ended their training",
                graph.training.len()
            ));
        }
        if !graph.links.is_empty() {
            warnings.push(format!(
                "the graph fell into {} components, which were joined by weak links; more --neighbors join them better",
                graph.components.len()
            ));
        } else if graph.components.len() > 1 {
            warnings.push(format!("the graph is in {} components", graph.components.len()));
        }
    }
}
