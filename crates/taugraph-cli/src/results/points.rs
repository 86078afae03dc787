//! Points with known groups: columns x1, x2, … and label.

use taugraph::generators::LabeledPoints;
use taugraph_io::{NewTable, Output, write_table};

use super::columns::number_columns;
use super::group_column;
use crate::failure::Outcome;

pub fn write_points(data: &LabeledPoints, target: &Output) -> Outcome<()> {
    let names = (1..=data.points.n_columns()).map(|column| format!("x{column}")).collect();
    let mut columns = number_columns(names, &data.points.values().to_f64());
    columns.push(group_column("label", &data.labels));
    Ok(write_table(&NewTable::new(columns), target)?)
}
