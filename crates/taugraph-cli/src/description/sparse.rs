//! A sparse matrix: its size and, if its rows are points, what they are like.

use std::fmt::Write;

use serde_json::json;
use taugraph::points::Duplicates;
use taugraph::robust::RowSize;
use taugraph_io::SparseMatrix;

use super::copies::copies_text;
use super::memory::memory_needed;
use super::{Description, n_different};
use crate::dataset::{holds_points, sparse_points};
use crate::failure::Outcome;
use crate::report::grouped;
use crate::settings::Settings;

pub fn of_sparse(
    name: &str,
    matrix: SparseMatrix,
    labels: Option<Vec<String>>,
    settings: &Settings,
) -> Outcome<Description> {
    let (rows, columns, entries) = (matrix.n_rows, matrix.n_columns, matrix.values.len());
    let mut text = format!(
        "{name}: sparse matrix, {} × {}, {} entries\n",
        grouped(rows),
        grouped(columns),
        grouped(entries)
    );
    let mut json =
        json!({ "name": name, "kind": "sparse", "rows": rows, "columns": columns, "entries": entries });
    if let Some(labels) = &labels {
        let classes = n_different(labels);
        let _ = writeln!(text, "labels: {} different values", grouped(classes));
        json["labels"] = json!(classes);
    }
    if holds_points(&matrix, labels.is_some(), settings.input.kind) {
        let points = sparse_points(matrix, name)?;
        let empty_rows = (0..rows).filter(|&row| points.n_entries_of(row) == 0).count();
        let copies = Duplicates::of_sparse(&points).n_copies();
        let memory = memory_needed(rows, RowSize::of_sparse(&points), settings);
        let used = points.n_used_columns();
        let _ = writeln!(
            text,
            "taken as points: {} rows are all zero, {} columns occur, the longest row has {} entries",
            grouped(empty_rows),
            grouped(used),
            grouped(points.longest_row())
        );
        let _ = write!(text, "{}{}", copies_text(copies), memory.text);
        json["taken_as"] = json!("points");
        json["zero_rows"] = json!(empty_rows);
        json["used_columns"] = json!(used);
        json["longest_row"] = json!(points.longest_row());
        json["duplicates"] = json!(copies);
        json["memory"] = memory.json;
    }
    Ok(Description { text, json })
}
