//! New rows as JSON.

use serde_json::{Value, json};

use super::PlacedRows;
use super::agreement::Agreement;
use crate::cost::{StageCost, total};
use crate::description::model_json;

impl PlacedRows<'_> {
    pub fn json(&self, scores: &Agreement, stages: &[StageCost]) -> Value {
        let placed = &self.placed;
        let mut all = json!({
            "taugraph": env!("CARGO_PKG_VERSION"),
            "command": "predict",
            "model": model_json(self.model),
            "input": {
                "name": self.rows.name,
                "rows": self.rows.n_rows,
                "by_name": self.rows.by_name,
                "ignored": self.rows.ignored,
                "filled_cells": self.n_filled,
            },
            "outlier": placed.outlier,
            "novelty": placed.novelty,
            "outlier_scores": placed.outlier_scores,
            "known": placed.same_as.iter().map(|node| node.map(|node| self.model.row_of_node()[node as usize])).collect::<Vec<_>>(),
            "notes": self.notes(),
            "seconds": stages,
            "total": total(stages),
        });
        if let Some(clusters) = &placed.clusters {
            all["clusters"] = json!({
                "labels": clusters.labels,
                "margins": clusters.margins,
                "memberships": self.own_memberships(),
                "layers": self.model.layer_sizes().iter().zip(&clusters.layers).map(|(n_clusters, labels)| json!({
                    "n_clusters": n_clusters, "labels": labels,
                })).collect::<Vec<_>>(),
            });
            if let Some(scores) = &scores.clusters {
                all["clusters"]["scores"] = scores.json();
            }
        }
        if let (Some(classes), Some(labels)) = (&placed.classes, self.labels()) {
            let names = labels.iter().map(|label| (!label.is_empty()).then_some(label)).collect::<Vec<_>>();
            all["labels"] = json!({ "labels": names, "margins": classes.margins });
            if let Some(scores) = &scores.labels {
                all["labels"]["scores"] = json!({
                    "accuracy": scores.accuracy,
                    "balanced_accuracy": scores.balanced_accuracy,
                    "rows": scores.n_rows,
                });
            }
        }
        all
    }
}
