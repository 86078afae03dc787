//! Rows that equal an earlier one.

use taugraph::error::Error;
use taugraph::points::{Duplicates, Numbers, PreparationParams, Standardize, prepare};
use taugraph::progress::Run;
use taugraph_io::Table;

use crate::failure::Outcome;
use crate::report::grouped;

/// To find rows that are copies only missing cells matter.
pub fn for_copies() -> PreparationParams {
    PreparationParams::default().with(|params| params.standardize = Standardize::None)
}

/// How many there are in a table, missing cells filled; `None` if it has no numbers.
pub(super) fn n_copies(table: &Table, values: Numbers<'_>, run: &Run<'_>) -> Outcome<Option<usize>> {
    if table.n_numbers == 0 {
        return Ok(None);
    }
    match prepare(values, table.n_numbers, &for_copies(), run) {
        Ok(prepared) => Ok(Some(Duplicates::of_points(&prepared.points).n_copies())),
        Err(Error::NoVaryingColumn { .. }) => Ok(Some(table.n_rows - 1)),
        Err(other) => Err(other.into()),
    }
}

pub(super) fn copies_text(copies: usize) -> String {
    format!("{} rows are copies of an earlier one (they share a node)\n", grouped(copies))
}
