//! How many groups there are and how sure that is, in words; the layers, and what each cluster is.

use serde_json::{Value, json};
use taugraph::Result;
use taugraph::cluster::{Evidence, Explanation, MethodChoice, explain, typical_nodes};
use taugraph::progress::Run;

use super::{Panel, PanelKind};
use crate::frame::Frame;
use crate::subject::Subject;

pub const PANEL: PanelKind = PanelKind::of::<Answer>("answer", include_str!("panel.js"));

/// Clusters that are explained; more would be a page of their own.
const MAX_EXPLAINED: usize = 50;

struct Answer {
    n_clusters: usize,
    /// `None` if the number was given.
    sentence: Option<String>,
    method: &'static str,
    choice: Option<MethodChoice>,
    /// Number of clusters of each layer, and the resistance of its weakest boundary.
    layers: Vec<(usize, f64)>,
    explanations: Vec<Explanation>,
    columns: Vec<String>,
    /// The point of the page for a row, if it is shown.
    point_of_row: Vec<Option<u32>>,
}

impl Panel for Answer {
    fn new(subject: &Subject<'_>, _: &Frame, _: &Run<'_>) -> Result<Option<Self>> {
        let Some(clusters) = subject.clusters() else { return Ok(None) };
        let (sample, found) = (&subject.sample, clusters.clustering());
        let n_clusters = clusters.n_clusters();
        let mut point_of_row = vec![None; clusters.labels().len()];
        sample.rows.iter().zip(0..).for_each(|(&row, point)| point_of_row[row as usize] = Some(point));
        let n_columns = sample.columns.len();
        let explanations = if n_columns > 0 && n_clusters <= MAX_EXPLAINED {
            let cell = |place: usize| sample.columns[place % n_columns].1[place / n_columns];
            let values: Vec<f64> = (0..sample.rows.len() * n_columns).map(cell).collect();
            let rows = clusters.graph().duplicates().row_of_node();
            let nodes = typical_nodes(clusters.graph().node_graph(), &found.labels);
            let of_rows = |nodes: Vec<usize>| nodes.into_iter().map(|node| rows[node] as usize).collect();
            let typical = nodes.into_iter().map(of_rows).collect();
            explain(&values, n_columns, &sample.of(clusters.labels()), n_clusters, typical)
        } else {
            Vec::new()
        };
        Ok(Some(Self {
            n_clusters,
            sentence: clusters.evidence(),
            method: found.method.name(),
            choice: found.choice,
            layers: found.layers.iter().map(|layer| (layer.labels.n_classes(), layer.resistance)).collect(),
            explanations,
            columns: sample.columns.iter().map(|(name, _)| name.clone()).collect(),
            point_of_row,
        }))
    }

    fn json(&self) -> Value {
        let layer = |&(n_clusters, resistance): &(usize, f64)| {
            let evidence = Evidence::of_resistance(resistance).name();
            json!({ "clusters": n_clusters, "resistance": resistance, "evidence": evidence })
        };
        json!({
            "clusters": self.n_clusters,
            "sentence": self.sentence,
            "method": self.method,
            "choice": self.choice.map(|choice| json!({
                "ratio": choice.ratio(),
                "modularities": [choice.agglomerated.modularity, choice.spectral.modularity],
            })),
            "layers": self.layers.iter().map(layer).collect::<Vec<_>>(),
            "explanations": self.explanations.iter().map(|one| self.explanation(one)).collect::<Vec<_>>(),
        })
    }
}

impl Answer {
    fn explanation(&self, explanation: &Explanation) -> Value {
        let typical = explanation.typical_rows.iter().filter_map(|&row| self.point_of_row[row]);
        let column = |column: usize| &self.columns[column];
        json!({
            "size": explanation.size,
            "typical": typical.collect::<Vec<_>>(),
            "columns": explanation.columns.iter().map(|found| json!({
                "name": column(found.column),
                "mean": found.mean,
                "outside": found.mean_outside,
                "difference": found.standardized_difference,
            })).collect::<Vec<_>>(),
            "rule": explanation.rule.as_ref().map(|rule| json!({
                "conditions": rule.conditions.iter().map(|condition| json!({
                    "name": column(condition.column),
                    "above": condition.is_above,
                    "threshold": condition.threshold,
                })).collect::<Vec<_>>(),
                "precision": rule.precision,
                "recall": rule.recall,
            })),
        })
    }
}
