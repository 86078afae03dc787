//! The label that propagation gave each row.

use taugraph::{FittedLabels, GivenLabels};
use taugraph_io::{NewColumn, Output, write_table};

use super::probability_columns;
use crate::failure::Outcome;
use crate::row_ids::{RowIds, table_of_rows};

pub fn write_labels(
    found: &FittedLabels,
    given: &GivenLabels,
    ids: Option<&RowIds>,
    target: &Output,
) -> Outcome<()> {
    let classes = given.classes();
    let name = |label: &Option<u32>| label.map_or(String::new(), |label| classes[label as usize].clone());
    let mut columns = vec![
        NewColumn::texts("label", found.labels().iter().map(name)),
        NewColumn::numbers("margin", found.margins().iter().copied()),
        NewColumn::texts("flag", flags(found, given).into_iter().map(String::from)),
    ];
    columns.extend(probability_columns(classes, found.probabilities()));
    Ok(write_table(&table_of_rows(ids, columns), target)?)
}

/// What became of each row: empty where it got a label that it did not have.
pub fn flags(found: &FittedLabels, given: &GivenLabels) -> Vec<&'static str> {
    let flag = |(found, given): (&Option<u32>, &Option<u32>)| match (found, given) {
        (found, Some(_)) if found == given => "given",
        (_, Some(_)) => "corrected",
        (Some(_), None) => "",
        (None, None) => "unreached",
    };
    found.labels().iter().zip(given.of_rows()).map(flag).collect()
}
