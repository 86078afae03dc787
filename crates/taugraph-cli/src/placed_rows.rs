//! New rows in a model: what they got, for files, people and machines.

use std::fmt::Write as _;

use serde_json::{Value, json};
use taugraph::labels::Labels;
use taugraph::metrics::{accuracy, balanced_accuracy};
use taugraph::model::{Model, Placement};
use taugraph_io::{NewColumn, NewTable, Output, SparseMatrix, write_matrix};

use crate::description::model_json;
use crate::failure::Outcome;
use crate::new_rows::NewRows;
use crate::progress::{StageCost, total_seconds};
use crate::report::{Scores, grouped, is_missing, listed, some_of};

/// How well the results agree with true labels.
#[derive(Default)]
pub struct Agreement {
    clusters: Option<Scores>,
    /// Accuracy, balanced accuracy and the rows they are of.
    labels: Option<(f64, f64, usize)>,
}

/// What was found, and for what.
pub struct PlacedRows<'a> {
    pub model: &'a Model,
    /// Names of the classes.
    pub classes: &'a [String],
    pub rows: &'a NewRows,
    pub placed: &'a Placement,
    pub n_filled: usize,
}

impl PlacedRows<'_> {
    fn with_ids(&self, id_name: Option<&str>, columns: Vec<NewColumn>) -> NewTable {
        let ids = self.rows.ids.as_ref().zip(id_name);
        let ids = ids.map(|(ids, name)| NewColumn::texts(name, ids.iter().cloned()));
        NewTable::new(ids.into_iter().chain(columns).collect())
    }

    /// Name of the class of each row; empty without one.
    fn labels(&self) -> Option<Vec<&str>> {
        let classes = self.placed.classes.as_ref()?;
        let name = |label: &Option<u32>| label.map_or("", |label| self.classes[label as usize].as_str());
        Some(classes.labels.iter().map(name).collect())
    }

    pub fn table(&self, id_name: Option<&str>) -> NewTable {
        let placed = self.placed;
        let mut columns = Vec::new();
        if let Some(clusters) = &placed.clusters {
            columns
                .push(NewColumn::integers("cluster", clusters.labels.iter().map(|&label| i64::from(label))));
            columns.push(NewColumn::numbers("cluster_margin", clusters.margins.iter().copied()));
        }
        if let (Some(classes), Some(labels)) = (&placed.classes, self.labels()) {
            columns.push(NewColumn::texts("label", labels.iter().map(|label| label.to_string())));
            columns.push(NewColumn::numbers("margin", classes.margins.iter().copied()));
        }
        columns
            .push(NewColumn::integers("outlier", placed.outlier.iter().map(|&outlier| i64::from(outlier))));
        if let Some(classes) = &placed.classes {
            let width = self.classes.len();
            for (class, name) in self.classes.iter().enumerate() {
                let of_class = classes.probabilities.iter().skip(class).step_by(width).copied();
                columns.push(NewColumn::numbers(format!("p_{name}"), of_class));
            }
        }
        self.with_ids(id_name, columns)
    }

    pub fn embedding(&self, id_name: Option<&str>) -> NewTable {
        let clusters = self.placed.clusters.as_ref();
        let embedding = clusters.and_then(|clusters| clusters.embedding.as_deref()).unwrap_or_default();
        let d = self.model.n_embedded().unwrap_or(0);
        let columns = (0..d).map(|column| {
            let of_rows = embedding.iter().skip(column).step_by(d).copied();
            NewColumn::numbers(format!("embedding_{}", column + 1), of_rows)
        });
        self.with_ids(id_name, columns.collect())
    }

    /// New rows by rows of the model's table; of rows that are copies the first one has the edge.
    pub fn write_graph(&self, target: &Output) -> Outcome<()> {
        let placed = self.placed;
        let rows = self.model.row_of_node();
        let mut entries: Vec<(u32, u32, usize)> = Vec::with_capacity(placed.nodes.len());
        for row in 0..self.rows.n_rows {
            let of_row = placed.offsets[row] as usize..placed.offsets[row + 1] as usize;
            entries.extend(of_row.map(|edge| (row as u32, rows[placed.nodes[edge] as usize], edge)));
        }
        entries.sort_unstable();
        let matrix = SparseMatrix {
            n_rows: self.rows.n_rows,
            n_columns: self.model.n_rows(),
            offsets: placed.offsets.clone(),
            columns: entries.iter().map(|entry| entry.1).collect(),
            values: entries.iter().map(|entry| placed.affinities[entry.2]).collect(),
        };
        let edges = || {
            let of_edges = |values: &[f64]| entries.iter().map(|entry| values[entry.2]).collect::<Vec<f64>>();
            NewTable::new(vec![
                NewColumn::integers("source", entries.iter().map(|entry| i64::from(entry.0))),
                NewColumn::integers("target", entries.iter().map(|entry| i64::from(entry.1))),
                NewColumn::numbers("weight", of_edges(&placed.affinities)),
                NewColumn::numbers("probability", of_edges(&placed.probabilities)),
                NewColumn::numbers("distance", of_edges(&placed.distances)),
            ])
        };
        Ok(write_matrix(&matrix, edges, target)?)
    }

    pub fn scores(&self) -> Outcome<Agreement> {
        let Some(truth) = &self.rows.labels else { return Ok(Agreement::default()) };
        let clusters = match &self.placed.clusters {
            Some(clusters) => Scores::new(truth, &clusters.labels)?,
            None => None,
        };
        let labels = match self.labels() {
            Some(found) => score_labels(truth, &found)?,
            None => None,
        };
        Ok(Agreement { clusters, labels })
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let count = |of: &mut dyn Iterator<Item = bool>| of.filter(|is| *is).count();
        let far = count(&mut self.placed.outlier.iter().copied());
        if far > 0 {
            notes.push(format!(
                "{} rows are farther from everything than any row of the model (column outlier)",
                grouped(far)
            ));
        }
        let known = count(&mut self.placed.same_as.iter().map(Option::is_some));
        if known > 0 {
            notes.push(format!("{} rows equal rows of the model and got what those have", grouped(known)));
        }
        if let Some(labels) = self.labels() {
            let without = labels.iter().filter(|label| label.is_empty()).count();
            if without > 0 {
                notes.push(format!("{} rows are reached by no label and got none", grouped(without)));
            }
        }
        if self.n_filled > 0 {
            notes.push(format!(
                "{} missing cells were filled with the median of their column in the model's table: {}",
                self.n_filled,
                self.rows.gaps.join(", ")
            ));
        }
        if !self.rows.ignored.is_empty() {
            let names = some_of(&self.rows.ignored);
            notes.push(format!("columns that the model does not know were left aside: {names}"));
        }
        if !self.rows.by_name {
            notes.push("columns were matched by position, because they have no names".into());
        }
        notes
    }

    pub fn text(&self, model_name: &str, scores: &Agreement, stages: &[StageCost]) -> String {
        let mut text = format!(
            "{}: {} rows, placed among {} nodes of {model_name}\n",
            self.rows.name,
            grouped(self.rows.n_rows),
            grouped(self.model.n_nodes())
        );
        let _ = self.write_text(scores, &mut text);
        let total = total_seconds(stages);
        let _ = writeln!(text, "time      {total:.2} s");
        for note in self.notes() {
            let _ = writeln!(text, "note      {note}");
        }
        text
    }

    fn write_text(&self, scores: &Agreement, text: &mut String) -> std::fmt::Result {
        if let Some(clusters) = &self.placed.clusters {
            let mut sizes = vec![0usize; self.model.n_clusters().unwrap_or(0)];
            clusters.labels.iter().for_each(|&label| sizes[label as usize] += 1);
            writeln!(text, "clusters  {}", listed(sizes.iter().map(|&size| grouped(size))))?;
            writeln!(text, "          {} rows with a margin below 0.1", unsure(&clusters.margins))?;
        }
        if let Some(classes) = &self.placed.classes {
            let mut sizes = vec![0usize; self.classes.len()];
            classes.labels.iter().flatten().for_each(|&label| sizes[label as usize] += 1);
            let named = self.classes.iter().zip(&sizes);
            writeln!(
                text,
                "labels    {}",
                listed(named.map(|(name, &size)| format!("{name} {}", grouped(size))))
            )?;
            writeln!(text, "          {} rows with a margin below 0.1", unsure(&classes.margins))?;
        }
        if let Some(scores) = &scores.clusters {
            writeln!(
                text,
                "scores    NMI {:.3}, ARI {:.3}, AMI {:.3}, accuracy {:.3}, balanced {:.3}",
                scores.nmi, scores.ari, scores.ami, scores.accuracy, scores.balanced_accuracy
            )?;
        }
        if let Some((accuracy, balanced, n)) = scores.labels {
            writeln!(
                text,
                "scores    accuracy {accuracy:.3}, balanced {balanced:.3} over {} rows",
                grouped(n)
            )?;
        }
        Ok(())
    }

    pub fn json(&self, scores: &Agreement, stages: &[StageCost]) -> Value {
        let placed = self.placed;
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
            "known": placed.same_as.iter().map(|node| node.map(|node| self.model.row_of_node()[node as usize])).collect::<Vec<_>>(),
            "notes": self.notes(),
            "seconds": stages,
        });
        if let Some(clusters) = &placed.clusters {
            all["clusters"] = json!({ "labels": clusters.labels, "margins": clusters.margins });
            if let Some(scores) = &scores.clusters {
                all["clusters"]["scores"] = scores.json();
            }
        }
        if let (Some(classes), Some(labels)) = (&placed.classes, self.labels()) {
            let names = labels.iter().map(|label| (!label.is_empty()).then_some(label)).collect::<Vec<_>>();
            all["labels"] = json!({ "labels": names, "margins": classes.margins });
            if let Some((accuracy, balanced, rows)) = scores.labels {
                all["labels"]["scores"] =
                    json!({ "accuracy": accuracy, "balanced_accuracy": balanced, "rows": rows });
            }
        }
        all
    }
}

fn unsure(margins: &[f64]) -> String {
    grouped(margins.iter().filter(|margin| **margin < 0.1).count())
}

/// A row without a label that has a true one counts as wrong.
fn score_labels(truth: &[String], found: &[&str]) -> Outcome<Option<(f64, f64, usize)>> {
    let labeled = truth.iter().zip(found).filter(|(label, _)| !is_missing(label));
    let (truth, found): (Vec<&str>, Vec<&str>) =
        labeled.map(|(label, found)| (label.as_str(), *found)).unzip();
    if truth.is_empty() {
        return Ok(None);
    }
    let (truth, classes) = Labels::from_names(&truth);
    let other = classes.len() as u32;
    let found: Vec<u32> =
        found.iter().map(|name| classes.binary_search(name).map_or(other, |place| place as u32)).collect();
    Ok(Some((accuracy(&truth, &found)?, balanced_accuracy(&truth, &found)?, truth.len())))
}
