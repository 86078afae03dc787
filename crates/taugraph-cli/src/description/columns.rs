//! The columns of a table: what each holds, one line for people.

use std::fmt::Write;

use serde_json::{Value, json};
use taugraph::points::Numbers;
use taugraph_io::{Cells, Column, Table};
use taugraph_terminal::visible_in_line;

use super::n_different;
use crate::report::{grouped, is_missing, significant};

/// Columns listed for people; JSON has all.
pub(super) const MAX_LISTED: usize = 100;

/// One line about a column.
pub(super) struct ColumnLine {
    name: String,
    kind: &'static str,
    missing: usize,
    /// Smallest, median, largest; or what is special.
    range: Option<[f64; 3]>,
    note: String,
}

impl ColumnLine {
    pub fn json(&self) -> Value {
        json!({
            "name": self.name,
            "type": self.kind,
            "missing": self.missing,
            "min": self.range.map(|range| range[0]),
            "median": self.range.map(|range| range[1]),
            "max": self.range.map(|range| range[2]),
            "note": self.note,
        })
    }
}

/// Describes the first columns.
pub(super) fn column_lines(table: &Table, values: Numbers<'_>, count: usize) -> Vec<ColumnLine> {
    let describe = |column: &Column| {
        let mut line = ColumnLine {
            name: column.name.clone(),
            kind: "number",
            missing: 0,
            range: None,
            note: String::new(),
        };
        match &column.cells {
            Cells::Numbers(place) => {
                let cells = (0..table.n_rows).map(|row| values.get(row * table.n_numbers + place));
                let mut present: Vec<f64> = cells.filter(|value| !value.is_nan()).collect();
                line.missing = table.n_rows - present.len();
                present.sort_unstable_by(f64::total_cmp);
                if let (Some(&least), Some(&most)) = (present.first(), present.last()) {
                    // As missing cells are filled: the mean of the two in the middle, if there are two.
                    let middle = present.len() / 2;
                    let median = 0.5 * (present[(present.len() - 1) / 2] + present[middle]);
                    line.range = Some([least, median, most]);
                    if least == most {
                        line.note = "constant, will be left out".into();
                    }
                } else {
                    line.note = "empty, will be left out".into();
                }
            }
            Cells::Texts(texts) => {
                line.kind = "text";
                line.missing = texts.iter().filter(|text| is_missing(text)).count();
                line.note = format!("{} different values", grouped(n_different(texts)));
            }
            Cells::NotNumbers(place, cell) => {
                line.kind = "text";
                line.note =
                    format!("'{cell}' in {place}: --drop it, or name it --label-column or --id-column");
            }
            Cells::Skipped => line.kind = "left out",
        }
        line
    };
    table.columns.iter().take(count).map(describe).collect()
}

pub(super) fn write_lines(text: &mut String, lines: &[ColumnLine], n_columns: usize) -> std::fmt::Result {
    let shown = &lines[..lines.len().min(MAX_LISTED)];
    let names: Vec<_> = shown.iter().map(|line| visible_in_line(&line.name)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).clamp(6, 40);
    writeln!(
        text,
        "{:width$}  {:8}  {:>9}  {:>12}  {:>12}  {:>12}",
        "column", "type", "missing", "min", "median", "max"
    )?;
    for (line, name) in shown.iter().zip(&names) {
        let short: String = name.chars().take(width).collect();
        write!(text, "{short:width$}  {:8}  {:>9}", line.kind, grouped(line.missing))?;
        match line.range {
            Some(range) => {
                range.iter().try_for_each(|value| write!(text, "  {:>12}", significant(*value)))?
            }
            None => write!(text, "  {:>12}  {:>12}  {:>12}", "", "", "")?,
        }
        writeln!(text, "  {}", line.note)?;
    }
    if n_columns > shown.len() {
        writeln!(text, "… and {} more columns (--json has all)", grouped(n_columns - shown.len()))?;
    }
    Ok(())
}
