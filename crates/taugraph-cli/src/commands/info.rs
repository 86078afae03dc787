//! `taugraph info`.

use std::fmt::Write;

use serde_json::{Value, json};
use taugraph::cluster::{self, ClusterParams};
use taugraph::error::human_bytes;
use taugraph::memory;
use taugraph::points::{Duplicates, PreparationParams, Standardize, prepare};
use taugraph::progress::Run;
use taugraph::robust::{RowSize, memory_estimate};
use taugraph_io::{Cells, Contents, DiskTable, Output, Source, SparseMatrix, Table, is_safetensors};

use crate::args::InfoArgs;
use crate::dataset::{holds_points, read_contents, read_disk_table, sparse_points};
use crate::failure::Outcome;
use crate::features::Features;
use crate::model_file::load;
use crate::placed_rows::{describe, description};
use crate::report::{grouped, is_missing, write_json};
use crate::settings::Settings;

/// Columns listed for people; JSON has all.
const MAX_LISTED: usize = 100;

/// To find rows that are copies only missing cells matter.
fn for_copies() -> PreparationParams {
    PreparationParams::default().with(|params| params.standardize = Standardize::None)
}

pub fn info(args: &InfoArgs) -> Outcome<()> {
    let mut settings = Settings::default();
    settings.apply_input(&args.input)?;
    args.params.apply(&mut settings.params)?;
    let source = Source::new(&settings.input.file);
    let name = source.to_string();
    let run = Run::new(0);
    let features = Features::of_preparation(&args.input, &settings, &for_copies(), run.memory_limit)?;
    let run = features.place(run);
    let (text, value) = if let Some(read) = read_disk_table(&settings.input, &features) {
        let DiskTable { table, values } = read?;
        of_table(&name, &table, values.as_ref(), &settings, &run)?
    } else if is_safetensors(&source)? {
        let model = load(&source)?;
        (description(&name, &model), describe(&model))
    } else {
        match read_contents(&settings.input)? {
            Contents::Sparse(matrix) => of_sparse(&name, matrix, None, &settings)?,
            Contents::Labeled(found) => of_sparse(&name, found.matrix, Some(found.labels), &settings)?,
            Contents::Table(table) => of_table(&name, &table, &table.values, &settings, &run)?,
        }
    };
    match &args.json {
        Some(path) => write_json(&value, path),
        None => Ok(Output::Stdout.write(|out| out.write_all(text.as_bytes()))?),
    }
}

fn of_sparse(
    name: &str,
    matrix: SparseMatrix,
    labels: Option<Vec<String>>,
    settings: &Settings,
) -> Outcome<(String, Value)> {
    let (rows, columns, entries) = (matrix.n_rows, matrix.n_columns, matrix.values.len());
    let mut text = format!(
        "{name}: sparse matrix, {} × {}, {} entries\n",
        grouped(rows),
        grouped(columns),
        grouped(entries)
    );
    let mut value =
        json!({ "name": name, "kind": "sparse", "rows": rows, "columns": columns, "entries": entries });
    if let Some(labels) = &labels {
        let classes = different(labels);
        let _ = writeln!(text, "labels: {} different values", grouped(classes));
        value["labels"] = json!(classes);
    }
    if holds_points(&matrix, labels.is_some(), settings.input.kind) {
        let points = sparse_points(matrix, name)?;
        let empty_rows = (0..rows).filter(|&row| points.n_entries_of(row) == 0).count();
        let duplicates = Duplicates::of_sparse(&points).n_copies();
        let (memory_text, memory) = memory_needed(rows, RowSize::of_sparse(&points), settings);
        let used = points.n_used_columns();
        let _ = writeln!(
            text,
            "taken as points: {} rows are all zero, {} columns occur, the longest row has {} entries",
            grouped(empty_rows),
            grouped(used),
            grouped(points.longest_row())
        );
        let _ = write!(text, "{}{memory_text}", copies_text(duplicates));
        value["taken_as"] = json!("points");
        value["zero_rows"] = json!(empty_rows);
        value["used_columns"] = json!(used);
        value["longest_row"] = json!(points.longest_row());
        value["duplicates"] = json!(duplicates);
        value["memory"] = memory;
    }
    Ok((text, value))
}

fn copies_text(copies: usize) -> String {
    format!("{} rows are copies of an earlier one (they share a node)\n", grouped(copies))
}

fn different(texts: &[String]) -> usize {
    let mut distinct: Vec<&String> = texts.iter().collect();
    distinct.sort_unstable();
    distinct.dedup();
    distinct.len()
}

/// The most that graph and clustering together may need.
fn memory_needed(n: usize, row: RowSize, settings: &Settings) -> (String, Value) {
    let params = &settings.params.graph;
    let (stage, graph_bytes) = memory_estimate(n, row, params).peak();
    let candidates = match params.candidates {
        taugraph::params::CandidatePairs::All => n * n.saturating_sub(1) / 2,
        taugraph::params::CandidatePairs::Neighbors { k, .. } => n * k.min(n),
    };
    let (_, cluster_bytes) = cluster::memory_estimate(n, candidates as u64, &ClusterParams::default()).peak();
    let (needed, available) = (graph_bytes + cluster_bytes, memory::available());
    // Only dense points can be on disk.
    let on_disk = match row {
        RowSize::Columns(d) => {
            Some(memory_estimate(n, RowSize::OutOfCore(d), params).peak().1 + cluster_bytes)
        }
        _ => None,
    };
    let text = format!(
        "memory: at most {} with preset {}{}{}\n",
        human_bytes(needed),
        settings.params.preset.name(),
        on_disk.map_or(String::new(), |bytes| format!(", {} with the features on disk", human_bytes(bytes))),
        available.map_or(String::new(), |bytes| format!(", {} are available", human_bytes(bytes)))
    );
    let mut value = json!({ "preset": settings.params.preset.name(), "bytes": needed, "stage": stage, "available": available });
    if let Some(bytes) = on_disk {
        value["bytes_with_features_on_disk"] = json!(bytes);
    }
    (text, value)
}

/// One line about a column.
struct Line {
    name: String,
    kind: &'static str,
    missing: usize,
    /// Smallest, median, largest; or what is special.
    range: Option<[f64; 3]>,
    note: String,
}

fn lines(table: &Table, values: &[f64]) -> Vec<Line> {
    let describe = |column: &taugraph_io::Column| {
        let mut line =
            Line { name: column.name.clone(), kind: "number", missing: 0, range: None, note: String::new() };
        match &column.cells {
            Cells::Numbers(place) => {
                let cells = values.iter().skip(*place).step_by(table.n_numbers).copied();
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
                line.note = format!("{} different values", grouped(different(texts)));
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
    table.columns.iter().map(describe).collect()
}

fn of_table(
    name: &str,
    table: &Table,
    values: &[f64],
    settings: &Settings,
    run: &Run<'_>,
) -> Outcome<(String, Value)> {
    let lines = lines(table, values);
    let (n, d) = (table.n_rows, table.n_numbers);
    let duplicates = duplicates(table, values, run)?;
    let (memory_text, memory) = memory_needed(n, RowSize::Columns(d), settings);
    let mut text = format!("{name}: {} rows, {} columns\n\n", grouped(n), grouped(lines.len()));
    let _ = write_lines(&mut text, &lines);
    if let Some(copies) = duplicates {
        let _ = write!(text, "\n{}", copies_text(copies));
    }
    text += &memory_text;
    let value = json!({
        "name": name,
        "kind": "table",
        "rows": n,
        "columns": lines.iter().map(|line| json!({
            "name": line.name,
            "type": line.kind,
            "missing": line.missing,
            "min": line.range.map(|range| range[0]),
            "median": line.range.map(|range| range[1]),
            "max": line.range.map(|range| range[2]),
            "note": line.note,
        })).collect::<Vec<_>>(),
        "duplicates": duplicates,
        "memory": memory,
    });
    Ok((text, value))
}

fn write_lines(text: &mut String, lines: &[Line]) -> std::fmt::Result {
    let shown = &lines[..lines.len().min(MAX_LISTED)];
    let width = shown.iter().map(|line| line.name.chars().count()).max().unwrap_or(0).clamp(6, 40);
    writeln!(
        text,
        "{:width$}  {:8}  {:>9}  {:>12}  {:>12}  {:>12}",
        "column", "type", "missing", "min", "median", "max"
    )?;
    for line in shown {
        let short: String = line.name.chars().take(width).collect();
        write!(text, "{short:width$}  {:8}  {:>9}", line.kind, grouped(line.missing))?;
        match line.range {
            Some(range) => {
                range.iter().try_for_each(|value| write!(text, "  {:>12}", significant(*value)))?
            }
            None => write!(text, "  {:>12}  {:>12}  {:>12}", "", "", "")?,
        }
        writeln!(text, "  {}", line.note)?;
    }
    if lines.len() > shown.len() {
        writeln!(text, "… and {} more columns (--json has all)", grouped(lines.len() - shown.len()))?;
    }
    Ok(())
}

/// Six significant digits.
fn significant(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-4..1e9).contains(&magnitude) {
        return format!("{value:.4e}");
    }
    let before = if magnitude >= 1.0 { magnitude.log10().floor() as i32 + 1 } else { 1 };
    let text = format!("{value:.*}", (6 - before).max(0) as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// Rows that equal an earlier one, missing cells filled; `None` if no column varies.
fn duplicates(table: &Table, values: &[f64], run: &Run<'_>) -> Outcome<Option<usize>> {
    if table.n_numbers == 0 {
        return Ok(None);
    }
    match prepare(values, table.n_numbers, &for_copies(), run) {
        Ok(prepared) => Ok(Some(Duplicates::of_points(&prepared.points).n_copies())),
        Err(taugraph::error::Error::NoVaryingColumn { .. }) => Ok(Some(table.n_rows - 1)),
        Err(other) => Err(other.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::significant;

    #[test]
    fn numbers_are_short() {
        assert_eq!(significant(0.0), "0");
        assert_eq!(significant(1.5), "1.5");
        assert_eq!(significant(-123.456789), "-123.457");
        assert_eq!(significant(1e-9), "1.0000e-9");
        assert_eq!(significant(1234567.0), "1234567");
        assert_eq!(significant(0.1 + 0.2), "0.3");
    }
}
