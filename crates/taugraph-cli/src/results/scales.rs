//! The local scales of each row.

use std::path::Path;

use taugraph::FittedGraph;
use taugraph_io::{NewColumn, Output, write_table};

use crate::dataset::Kind;
use crate::failure::{Failure, Outcome};
use crate::row_ids::{RowIds, table_of_rows};

/// Before the work: whether there will be scales, if they are asked for.
pub fn check_scales(path: Option<&Path>, kind: Kind) -> Outcome<()> {
    if path.is_some() && kind == Kind::Graph {
        let message = "--scales needs points or distances; a given graph has no local scales";
        return Err(Failure::Usage(message.into()));
    }
    Ok(())
}

pub fn write_scales(graph: &FittedGraph, ids: Option<&RowIds>, path: &Path) -> Outcome<()> {
    let columns = vec![
        NewColumn::numbers("first_scale", graph.first_scales().unwrap_or_default()),
        NewColumn::numbers("scale", graph.local_scales().unwrap_or_default()),
    ];
    Ok(write_table(&table_of_rows(ids, columns), &Output::new(path))?)
}
