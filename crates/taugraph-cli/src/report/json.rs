//! A run as JSON.

use serde_json::{Value, json};
use taugraph::fit::RobustPart;

use super::Report;
use crate::cost::{peak_memory, total};

/// The program itself, its threads, and what the allocator keeps of memory that was given back; 10 MB before anything is read.
const PROGRAM_BYTES: u64 = 32 << 20;

impl Report<'_> {
    /// Parameters, diagnostics and results. All but `seconds`, `total` and `memory`, and where the features were, is the same whenever the run is repeated.
    pub fn json(&self) -> Value {
        let graph = self.graph().node_graph();
        let mut all = json!({
            "taugraph": env!("CARGO_PKG_VERSION"),
            "command": self.command,
            "settings": self.settings,
            "input": {
                "name": self.dataset.name,
                "rows": self.dataset.n_rows,
                "features": self.dataset.features,
                "features_are_on": if self.dataset.is_on_disk { "disk" } else { "memory" },
            },
            "graph": { "nodes": graph.n_nodes(), "edges": graph.n_edges() },
            "warnings": self.warnings(),
            "seconds": self.stages,
            "total": total(&self.stages),
        });
        if let Some(peak) = peak_memory() {
            all["memory"]["peak_bytes"] = json!(peak);
        }
        if let Some(size) = self.dataset.sparse {
            all["input"]["columns"] = json!(size.n_columns);
            all["input"]["entries"] = json!(size.n_entries);
        }
        if self.graph().row_size().is_some() {
            let (params, is_sparse) = (&self.settings.params, self.dataset.sparse.is_some());
            let metric = self.graph().robust().and_then(|part| part.metric());
            all["input"]["metric"] = json!(metric.map(|metric| metric.name()));
            all["input"]["standardize"] = json!(params.preparation_for(is_sparse).standardize.name());
        }
        if let Some(robust) = self.graph().robust() {
            self.add_robust(robust, &mut all);
        }
        if let Some(clusters) = self.clusters() {
            self.add_clusters(clusters, &mut all);
        }
        if let Some(scores) = &self.scores {
            all["scores"] = scores.json();
        }
        if let Some(rows) = self.labeled_rows() {
            all["propagation"] = rows.json();
            all["propagation"]["suggestions"] = self.suggestions_json();
        }
        if let Some(evaluation) = &self.evaluation {
            all["evaluation"] = evaluation.json();
        }
        all
    }

    fn add_robust(&self, robust: &RobustPart, all: &mut Value) {
        let graph = &robust.nodes;
        if let Some(prepared) = &robust.preparation {
            all["input"]["preparation"] = json!({
                "constant": prepared.constant,
                "empty": prepared.empty,
                "imputed_cells": prepared.n_imputed,
                "pca_share": prepared.pca_share,
                "columns": prepared.used.iter().map(|column| json!({
                    "name": self.dataset.features[column.column],
                    "missing": column.n_missing,
                    "fill": column.fill,
                    "center": column.center,
                    "scale": column.scale,
                })).collect::<Vec<_>>(),
            });
        }
        if let (Some(_), Some(row)) = (&robust.preparation, self.graph().row_size()) {
            let (n, params) = (self.dataset.n_rows, &self.settings.params);
            let estimate = match self.clusters() {
                Some(_) => taugraph::cluster::whole_run_estimate(n, row, &params.graph, &params.cluster),
                None => taugraph::robust::memory_estimate(n, row, &params.graph),
            };
            all["memory"]["needed_bytes"] = json!(PROGRAM_BYTES + estimate.peak().1);
            all["memory"]["estimated_bytes"] = json!(PROGRAM_BYTES + estimate.most());
        }
        all["graph"]["duplicates"] = json!(graph.duplicates.n_copies());
        all["graph"]["search"] = json!(graph.search);
        all["graph"]["links_are_shortest"] = json!(graph.links_are_shortest);
        all["graph"]["candidates"] = json!(graph.stochastic.edges().len());
        all["graph"]["components"] = json!(graph.components.sizes());
        all["graph"]["links"] =
            json!(graph.links.iter().map(|link| json!([link.i, link.j, link.weight])).collect::<Vec<_>>());
        all["graph"]["decay"] = json!(
            graph
                .stochastic
                .decay()
                .iter()
                .zip(graph.stochastic.component_counts())
                .map(|((tau, n), components)| json!({"tau": tau, "edges": n, "components": components}))
                .collect::<Vec<_>>()
        );
        all["graph"]["flat_decay"] = json!(graph.stochastic.has_flat_decay());
        all["graph"]["crossing_rate"] = json!(graph.crossing_rate);
        all["graph"]["training"] = json!(
            graph
                .training
                .iter()
                .map(|training| json!({
                    "tau": training.tau,
                    "losses": training.losses,
                    "stop": training.stop,
                }))
                .collect::<Vec<_>>()
        );
        all["graph"]["first_scales"] = summary(graph.first_scales.values());
        all["graph"]["scales"] = summary(graph.scales.values());
    }
}

/// Smallest, median and largest.
fn summary(values: &[f64]) -> Value {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    json!({ "min": sorted[0], "median": sorted[sorted.len() / 2], "max": sorted[sorted.len() - 1] })
}
