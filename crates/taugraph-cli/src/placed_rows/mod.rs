//! New rows in a model: what they got, for files, people and machines.

mod agreement;
mod json;
mod notes;
mod tables;
mod text;

use taugraph::model::{Model, Placement};
use taugraph::progress::Run;
use taugraph_io::Budget;

use crate::failure::Outcome;
use crate::model_file::{classes_of, columns_of};
use crate::new_rows::{NewRows, of_new_rows, read_new_rows};
use crate::settings::InputSettings;

pub use tables::check_outputs;

/// What was found, and for what.
pub struct PlacedRows<'a> {
    model: &'a Model,
    /// Names of the classes.
    classes: Vec<String>,
    rows: NewRows,
    placed: Placement,
    n_filled: usize,
}

impl<'a> PlacedRows<'a> {
    /// Reads the rows and places them.
    pub fn new(model: &'a Model, input: &InputSettings, run: &Run<'_>, budget: &Budget) -> Outcome<Self> {
        let columns = columns_of(model);
        let mut rows = read_new_rows(input, &columns, model.preparation(), budget)?;
        let raw = std::mem::take(&mut rows.values);
        let of_rows = |error| of_new_rows(error, &rows.name);
        let (points, n_filled) = model.prepare(&raw, columns.len()).map_err(of_rows)?;
        drop(raw);
        let placed = model.place(&points, run).map_err(of_rows)?;
        Ok(Self { model, classes: classes_of(model), rows, placed, n_filled })
    }

    /// How strongly each row belongs to its own cluster.
    fn own_memberships(&self) -> Vec<f64> {
        let Some(clusters) = &self.placed.clusters else { return Vec::new() };
        let rows = clusters.memberships.chunks_exact(self.model.n_clusters().unwrap_or(1));
        rows.zip(&clusters.labels).map(|(row, &label)| row[label as usize]).collect()
    }

    /// Name of the class of each row; empty without one.
    fn labels(&self) -> Option<Vec<&str>> {
        let classes = self.placed.classes.as_ref()?;
        let name = |label: &Option<u32>| label.map_or("", |label| self.classes[label as usize].as_str());
        Some(classes.labels.iter().map(name).collect())
    }
}
