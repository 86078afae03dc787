//! The cluster of each row, how stable it is if that was measured, and how strongly the row belongs to it if that is asked for.

use taugraph::{FittedClusters, Outliers};
use taugraph_io::{NewColumn, Output, write_table};

use super::columns::number_columns;
use crate::dataset::Kind;
use crate::failure::{Failure, Outcome};
use crate::row_ids::{RowIds, table_of_rows};

/// Before the work: whether rows can be told to lie apart, if that is asked for.
pub fn check_outliers(outliers: Outliers, kind: Kind) -> Outcome<()> {
    if outliers != Outliers::None && kind == Kind::Graph {
        let message = "--outliers needs points or distances; a given graph has no local scales to compare";
        return Err(Failure::Usage(message.into()));
    }
    Ok(())
}

pub fn write_clusters(
    found: &FittedClusters,
    with_memberships: bool,
    ids: Option<&RowIds>,
    target: &Output,
) -> Outcome<()> {
    let mut columns = vec![NewColumn::integers("cluster", labels_or_outlier(found))];
    columns.extend(found.stability().map(|of_rows| NewColumn::numbers("stability", of_rows)));
    if with_memberships {
        let names = (0..found.n_clusters()).map(|cluster| format!("membership_{cluster}")).collect();
        columns.extend(number_columns(names, &found.memberships()));
        let scores = found.outlier_scores();
        columns.extend(scores.map(|scores| NewColumn::numbers("outlier_score", scores.iter().copied())));
    }
    Ok(write_table(&table_of_rows(ids, columns), target)?)
}

/// The cluster of each row; -1 for outliers.
pub fn labels_or_outlier(found: &FittedClusters) -> Vec<i64> {
    found.labels_without_outliers().into_iter().map(|label| label.map_or(-1, i64::from)).collect()
}
