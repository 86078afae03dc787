//! A table: its columns, copies of rows, the memory that a run on it needs.

use std::fmt::Write;

use serde_json::json;
use taugraph::points::Numbers;
use taugraph::progress::Run;
use taugraph::robust::RowSize;
use taugraph_io::{Budget, Table};

use super::Description;
use super::columns::{ColumnLine, MAX_LISTED, column_lines, write_lines};
use super::copies::{copies_text, n_copies};
use super::memory::memory_needed;
use crate::failure::Outcome;
use crate::report::grouped;
use crate::settings::Settings;

/// What the description of a column takes, most of it in JSON.
const LINE_BYTES: u64 = 2_000;

/// Every column is described in JSON, the first ones for people.
pub fn of_table(
    name: &str,
    (table, values): (&Table, Numbers<'_>),
    settings: &Settings,
    run: &Run<'_>,
    (as_json, budget): (bool, &Budget),
) -> Outcome<Description> {
    let n_columns = table.columns.len();
    let n_described = if as_json { n_columns } else { n_columns.min(MAX_LISTED) };
    budget.take(LINE_BYTES * n_described as u64, name)?;
    // A column is sorted.
    let held = budget.hold(8 * table.n_rows as u64, name)?;
    let lines = column_lines(table, values, n_described);
    drop(held);
    let copies = n_copies(table, values, run)?;
    let precision = settings.params.preparation.precision.unwrap_or(values.precision());
    let memory = memory_needed(table.n_rows, RowSize::Columns(table.n_numbers, precision), settings);
    let mut text = format!("{name}: {} rows, {} columns\n\n", grouped(table.n_rows), grouped(n_columns));
    let _ = write_lines(&mut text, &lines, n_columns);
    if let Some(copies) = copies {
        let _ = write!(text, "\n{}", copies_text(copies));
    }
    text += &memory.text;
    let json = json!({
        "name": name,
        "kind": "table",
        "rows": table.n_rows,
        "columns": lines.iter().map(ColumnLine::json).collect::<Vec<_>>(),
        "duplicates": copies,
        "memory": memory.json,
    });
    Ok(Description { text, json })
}
