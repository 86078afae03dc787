//! Nested answers, from coarse to fine.

use std::path::Path;

use taugraph::FittedClusters;
use taugraph::cluster::{ClusterMethod, ClusterParams, CountRule};
use taugraph_io::{NewColumn, Output, write_table};

use super::group_column;
use crate::failure::{Failure, Outcome};
use crate::row_ids::{RowIds, table_of_rows};

/// Before the work: whether there will be layers, if they are asked for.
pub fn check_layers(path: Option<&Path>, params: &ClusterParams) -> Outcome<()> {
    let is_agglomerated = params.method != ClusterMethod::Spectral
        || params.n_clusters.is_none() && params.count == CountRule::Boundaries;
    if path.is_some() && !is_agglomerated {
        let message =
            "--layers: spectral clustering alone has no layers; --method auto or agglomerate has them";
        return Err(Failure::Usage(message.into()));
    }
    Ok(())
}

pub fn write_layers(found: &FittedClusters, ids: Option<&RowIds>, path: &Path) -> Outcome<()> {
    let mut layers: Vec<Vec<u32>> = found.layers().into_iter().map(|(labels, _)| labels).collect();
    // Without evidence for several groups the clusters themselves are the only answer.
    if layers.is_empty() {
        layers.push(found.labels().to_vec());
    }
    let sizes: Vec<usize> = layers.iter().map(|labels| n_groups(labels)).collect();
    Ok(write_table(&table_of_rows(ids, layer_columns(&sizes, &layers)), &Output::new(path))?)
}

/// A column for each layer, named after its number of clusters.
pub fn layer_columns(n_clusters: &[usize], layers: &[Vec<u32>]) -> Vec<NewColumn> {
    let column = |(n, labels): (&usize, &Vec<u32>)| group_column(&format!("layer_{n}"), labels);
    n_clusters.iter().zip(layers).map(column).collect()
}

fn n_groups(labels: &[u32]) -> usize {
    labels.iter().max().map_or(0, |last| *last as usize + 1)
}
