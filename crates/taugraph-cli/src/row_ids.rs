//! The column that names the rows: read with a table, written beside the results.

use taugraph_io::{NewColumn, NewTable, Table};

/// What the rows are called.
pub struct RowIds {
    /// Name of the column.
    pub column: String,
    pub of_rows: Vec<String>,
}

impl RowIds {
    /// From a table, if a column is named.
    pub fn of_table(table: &Table, column: Option<&str>) -> Option<Self> {
        let column = column?;
        let of_rows = table.texts(column)?.to_vec();
        Some(Self { column: column.to_string(), of_rows })
    }
}

/// The names of the rows, if there are any, and what belongs to them.
pub fn table_of_rows(ids: Option<&RowIds>, columns: Vec<NewColumn>) -> NewTable {
    let ids = ids.map(|ids| NewColumn::texts(&ids.column, ids.of_rows.iter().cloned()));
    NewTable::new(ids.into_iter().chain(columns).collect())
}
