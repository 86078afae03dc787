//! A table: its columns, copies of rows, the memory that a run on it needs.

use std::fmt::Write;

use serde_json::json;
use taugraph::progress::Run;
use taugraph::robust::RowSize;
use taugraph_io::Table;

use super::Description;
use super::columns::{ColumnLine, column_lines, write_lines};
use super::copies::{copies_text, n_copies};
use super::memory::memory_needed;
use crate::failure::Outcome;
use crate::report::grouped;
use crate::settings::Settings;

pub fn of_table(
    name: &str,
    table: &Table,
    values: &[f64],
    settings: &Settings,
    run: &Run<'_>,
) -> Outcome<Description> {
    let lines = column_lines(table, values);
    let copies = n_copies(table, values, run)?;
    let memory = memory_needed(table.n_rows, RowSize::Columns(table.n_numbers), settings);
    let mut text = format!("{name}: {} rows, {} columns\n\n", grouped(table.n_rows), grouped(lines.len()));
    let _ = write_lines(&mut text, &lines);
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
