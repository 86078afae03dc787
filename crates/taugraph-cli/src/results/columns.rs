//! Columns that several tables have.

use taugraph_io::NewColumn;

/// The group of each row, as a number.
pub fn group_column(name: &str, groups: &[u32]) -> NewColumn {
    NewColumn::integers(name, groups.iter().map(|&group| i64::from(group)))
}

/// Coordinates of each row in `d` dimensions.
pub fn embedding_columns(d: usize, coordinates: &[f64]) -> Vec<NewColumn> {
    number_columns((1..=d).map(|column| format!("embedding_{column}")).collect(), coordinates)
}

/// Probability of each class in each row.
pub fn probability_columns(classes: &[String], probabilities: &[f64]) -> Vec<NewColumn> {
    number_columns(classes.iter().map(|class| format!("p_{class}")).collect(), probabilities)
}

/// Columns of these names, from numbers that stand row by row.
pub(super) fn number_columns(names: Vec<String>, row_by_row: &[f64]) -> Vec<NewColumn> {
    let d = names.len();
    let of_column = |place: usize| row_by_row.iter().skip(place).step_by(d).copied();
    let named = names.into_iter().enumerate();
    named.map(|(place, name)| NewColumn::numbers(name, of_column(place))).collect()
}
