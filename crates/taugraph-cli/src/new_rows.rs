//! A table of new rows in the columns of a model.

use std::collections::{HashMap, HashSet};

use taugraph::error::Error as LibraryError;
use taugraph::points::PreparationRule;
use taugraph_io::{Budget, Cells, Contents, Error as FileError, Role, Source};

use crate::dataset::{is_named, is_place_of, read_with_roles};
use crate::failure::{Failure, Outcome};
use crate::report::some_of;
use crate::row_ids::RowIds;
use crate::settings::InputSettings;

/// New rows, ready to be prepared.
pub struct NewRows {
    /// The file, for messages.
    pub name: String,
    pub n_rows: usize,
    /// Row by row in all columns of the model; NaN where a cell is missing or its column is not used.
    pub values: Vec<f64>,
    /// The column of true labels.
    pub labels: Option<Vec<String>>,
    pub ids: Option<RowIds>,
    /// Whether columns were found by their names.
    pub by_name: bool,
    /// Columns that the model does not know.
    pub ignored: Vec<String>,
    /// Used columns with missing cells.
    pub gaps: Vec<String>,
}

const TEXT_HINT: &str = "; the model was made from numbers there";

/// Reads the table. `columns` are the names of the model's columns, `rule` says which of them are used: all, if there is none.
pub fn read_new_rows(
    input: &InputSettings,
    columns: &[String],
    rule: Option<&PreparationRule>,
    budget: &Budget,
) -> Outcome<NewRows> {
    let name = Source::new(&input.file).to_string();
    let places: Vec<usize> = match rule {
        Some(rule) => rule.columns().iter().map(|model| model.column).collect(),
        None => (0..columns.len()).collect(),
    };
    let used: Vec<(&str, usize)> = places.iter().map(|&place| (columns[place].as_str(), place)).collect();
    let places: HashMap<&str, usize> = used.iter().copied().collect();
    for (flag, column) in [("--label-column", &input.label_column), ("--id-column", &input.id_column)] {
        if let Some(column) =
            column.as_ref().filter(|column| are_names(columns) && places.contains_key(column.as_str()))
        {
            return Err(Failure::Usage(format!("{flag}: '{column}' is a feature of the model")));
        }
    }
    let roles = |names: &[String]| roles(names, input, &used, are_names(columns), &name);
    let mut table = match read_with_roles(input, &roles, budget)? {
        Contents::Table(table) => table,
        Contents::Sparse(_) | Contents::Labeled(_) => {
            return Err(Failure::Input(format!(
                "{name} is a sparse matrix; new rows have to be a dense table"
            )));
        }
    };
    table.refuse_text(TEXT_HINT)?;
    let all: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    let by_name = are_names(&all) && are_names(columns);
    let numbers = table.number_names();
    if !by_name && numbers.len() != columns.len() {
        return Err(Failure::Input(format!(
            "{name} has {} columns to match by position, but the model was made from {}: {}; leave out the others with --drop",
            numbers.len(),
            columns.len(),
            some_of(columns)
        )));
    }
    // Where each number of a row belongs.
    let targets: Vec<usize> = match by_name {
        true => numbers.iter().map(|number| places[number]).collect(),
        false => (0..numbers.len()).collect(),
    };
    let n = table.n_rows;
    // In the columns of the model, and once more when they are prepared.
    budget.take((16 * n as u64).saturating_mul(columns.len() as u64), &name)?;
    let mut values = vec![f64::NAN; n * columns.len()];
    for (number, row) in values.chunks_exact_mut(columns.len()).enumerate() {
        let cells = (number * table.n_numbers..).map(|place| table.values.get(place));
        targets.iter().zip(cells).for_each(|(&target, cell)| row[target] = cell);
    }
    let has_gap = |place: usize| values.iter().skip(place).step_by(columns.len()).any(|cell| cell.is_nan());
    let gaps = used.iter().filter(|(_, place)| has_gap(*place)).map(|(name, _)| name.to_string()).collect();
    let known: HashSet<&str> = columns.iter().map(String::as_str).collect();
    let is_ignored = |column: &&taugraph_io::Column| {
        column.cells == Cells::Skipped
            && !is_named(&column.name, &input.drop)
            && !known.contains(column.name.as_str())
    };
    let ignored = table.columns.iter().filter(is_ignored).map(|column| column.name.clone()).collect();
    let labels = input.label_column.as_ref().and_then(|column| table.texts(column)).map(<[String]>::to_vec);
    let ids = RowIds::of_table(&table, input.id_column.as_deref());
    drop(std::mem::take(&mut table.values));
    Ok(NewRows { name, n_rows: n, values, labels, ids, by_name, ignored, gaps })
}

/// Numbers in the columns of the model, found by name or, where there are none, all columns that are left.
fn roles(
    names: &[String],
    input: &InputSettings,
    used: &[(&str, usize)],
    has_named_model: bool,
    file: &str,
) -> Result<Vec<Role>, FileError> {
    let there: HashSet<&str> = names.iter().map(String::as_str).collect();
    let texts: HashSet<&str> =
        [&input.label_column, &input.id_column].into_iter().flatten().map(String::as_str).collect();
    let by_name = are_names(names) && has_named_model;
    let features = used.iter().map(|(name, _)| *name).filter(|_| by_name);
    let has_places = |column: &str| names.iter().any(|name| is_place_of(name, column));
    let dropped = input.drop.iter().map(String::as_str).filter(|column| !has_places(column));
    let needed = texts.iter().copied().chain(dropped).chain(features.clone());
    if let Some(column) = needed.into_iter().find(|column| !there.contains(column)) {
        let (name, column) = (file.to_string(), column.to_string());
        return Err(FileError::UnknownColumn { name, column, known: some_of(names) });
    }
    let features: HashSet<&str> = features.collect();
    let role = |name: &String| match name.as_str() {
        text if texts.contains(text) => Role::Text,
        feature if by_name && features.contains(feature) => Role::Number,
        _ if by_name => Role::Skip,
        _ if is_named(name, &input.drop) => Role::Skip,
        _ => Role::Number,
    };
    Ok(names.iter().map(role).collect())
}

/// Whether columns have names of their own, not only those that count them.
fn are_names(names: &[String]) -> bool {
    let is_number = |name: &String| {
        name.strip_prefix("column_").is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    !names.iter().all(is_number)
}

/// Errors of the library about new rows, in the names of the file.
pub fn of_new_rows(error: LibraryError, name: &str) -> Failure {
    match error {
        LibraryError::ZeroRow { row } => Failure::Input(format!(
            "{name}, data row {}: all features are zero there, so the cosine distance is not defined; drop the row",
            row + 1
        )),
        LibraryError::NotFinite { row, value, .. } if value.is_nan() => Failure::Input(format!(
            "{name}, data row {}: a cell is missing, and the model does not say how to fill it",
            row + 1
        )),
        LibraryError::NotFinite { row, .. } | LibraryError::TooDistant { row } => Failure::Input(format!(
            "{name}, data row {}: a value is so large that no distance can be measured; correct it or drop the row",
            row + 1
        )),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::are_names;

    #[test]
    fn counted_columns_have_no_names() {
        let names = |list: &[&str]| are_names(&list.iter().map(|name| name.to_string()).collect::<Vec<_>>());
        assert!(!names(&["column_1", "column_3"]));
        assert!(names(&["column_1", "x"]) && names(&["column_a"]));
    }
}
