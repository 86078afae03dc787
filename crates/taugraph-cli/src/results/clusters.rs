//! The cluster of each row, and how stable it is if that was measured.

use taugraph::FittedClusters;
use taugraph_io::{NewColumn, Output, write_table};

use super::group_column;
use crate::failure::Outcome;
use crate::row_ids::{RowIds, table_of_rows};

pub fn write_clusters(found: &FittedClusters, ids: Option<&RowIds>, target: &Output) -> Outcome<()> {
    let stability = found.stability().map(|of_rows| NewColumn::numbers("stability", of_rows));
    let columns = [group_column("cluster", found.labels())].into_iter().chain(stability).collect();
    Ok(write_table(&table_of_rows(ids, columns), target)?)
}
