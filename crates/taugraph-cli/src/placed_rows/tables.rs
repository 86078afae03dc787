//! What new rows got, in files.

use std::path::Path;

use taugraph::model::Model;
use taugraph_io::{NewColumn, NewTable, Output, SparseMatrix, write_matrix, write_table};

use super::PlacedRows;
use crate::args::PredictCommand;
use crate::failure::{Failure, Outcome};
use crate::outputs::refuse_text_in_npy;
use crate::results::{embedding_columns, group_column, layer_columns, probability_columns};
use crate::row_ids::table_of_rows;

/// Before the work: whether this model can give what is asked for.
pub fn check_outputs(args: &PredictCommand, model: &Model) -> Outcome<()> {
    if args.embedding.is_some() && model.n_embedded().is_none() {
        let message = "--embedding: the model has no embedding; save one with taugraph cluster --save-model";
        return Err(Failure::Usage(message.into()));
    }
    match &args.output {
        Some(path) => refuse_text_in_npy(path, model.n_classes().map(|_| "labels")),
        None => Ok(()),
    }
}

impl PlacedRows<'_> {
    /// Clusters or labels.
    pub fn write_table(&self, target: &Output) -> Outcome<()> {
        let placed = &self.placed;
        let mut columns = Vec::new();
        if let Some(clusters) = &placed.clusters {
            columns.push(group_column("cluster", &clusters.labels));
            columns.push(NewColumn::numbers("cluster_margin", clusters.margins.iter().copied()));
        }
        if let (Some(classes), Some(labels)) = (&placed.classes, self.labels()) {
            columns.push(NewColumn::texts("label", labels.iter().map(|label| label.to_string())));
            columns.push(NewColumn::numbers("margin", classes.margins.iter().copied()));
        }
        columns
            .push(NewColumn::integers("outlier", placed.outlier.iter().map(|&outlier| i64::from(outlier))));
        if let Some(classes) = &placed.classes {
            columns.extend(probability_columns(&self.classes, &classes.probabilities));
        }
        if placed.clusters.is_some() {
            columns.push(NewColumn::numbers("membership", self.own_memberships()));
        }
        columns.push(NewColumn::numbers("outlier_score", placed.outlier_scores.iter().copied()));
        if let Some(clusters) = &placed.clusters {
            columns.extend(layer_columns(&self.model.layer_sizes(), &clusters.layers));
        }
        Ok(write_table(&table_of_rows(self.rows.ids.as_ref(), columns), target)?)
    }

    pub fn write_embedding(&self, path: &Path) -> Outcome<()> {
        let clusters = self.placed.clusters.as_ref();
        let embedding = clusters.and_then(|clusters| clusters.embedding.as_deref()).unwrap_or_default();
        let columns = embedding_columns(self.model.n_embedded().unwrap_or(0), embedding);
        Ok(write_table(&table_of_rows(self.rows.ids.as_ref(), columns), &Output::new(path))?)
    }

    /// New rows by rows of the model's table; of rows that are copies the first one has the edge.
    pub fn write_graph(&self, path: &Path) -> Outcome<()> {
        let placed = &self.placed;
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
        Ok(write_matrix(&matrix, edges, &Output::new(path))?)
    }
}
