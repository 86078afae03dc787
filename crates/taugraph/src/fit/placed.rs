//! Places new rows, prepared as the known ones were.

use super::input::Table;
use crate::error::Result;
use crate::model::{Model, Placement};
use crate::progress::Run;

pub(super) fn place(model: &Model, table: &Table<'_>, run: &Run<'_>) -> Result<Placement> {
    let (points, _) = model.prepare(table.values(), table.n_columns())?;
    model.place(&points, run)
}
