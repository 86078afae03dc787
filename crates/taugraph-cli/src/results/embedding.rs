//! The spectral embedding of each row.

use std::path::Path;

use taugraph::{ClusterMethod, FittedClusters};
use taugraph_io::{Output, write_table};

use super::embedding_columns;
use crate::failure::{Failure, Outcome};
use crate::row_ids::{RowIds, table_of_rows};

/// Before anything is written: whether there is an embedding, if one is asked for.
pub fn check_embedding(path: Option<&Path>, found: &FittedClusters) -> Outcome<()> {
    if path.is_some() && found.clustering().embedding.is_none() {
        let message = match found.clustering().method {
            ClusterMethod::Agglomerate => {
                "--embedding: the clusters were agglomerated and have no embedding; --method spectral has one"
            }
            _ => "--embedding: components that are clustered separately have no common embedding",
        };
        return Err(Failure::Usage(message.into()));
    }
    Ok(())
}

pub fn write_embedding(found: &FittedClusters, ids: Option<&RowIds>, path: &Path) -> Outcome<()> {
    let coordinates = found.embedding().unwrap_or_default();
    let d = coordinates.len() / found.labels().len();
    Ok(write_table(&table_of_rows(ids, embedding_columns(d, &coordinates)), &Output::new(path))?)
}
