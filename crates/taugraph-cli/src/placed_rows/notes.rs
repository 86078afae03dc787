//! What the user should know about new rows.

use super::PlacedRows;
use crate::report::{grouped, some_of};

impl PlacedRows<'_> {
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let count = |of: &mut dyn Iterator<Item = bool>| of.filter(|is| *is).count();
        let far = count(&mut self.placed.outlier.iter().copied());
        if far > 0 {
            notes.push(format!(
                "{} rows are farther from everything than any row of the model (column outlier)",
                grouped(far)
            ));
        }
        let known = count(&mut self.placed.same_as.iter().map(Option::is_some));
        if known > 0 {
            notes.push(format!("{} rows equal rows of the model and got what those have", grouped(known)));
        }
        if let Some(labels) = self.labels() {
            let without = labels.iter().filter(|label| label.is_empty()).count();
            if without > 0 {
                notes.push(format!("{} rows are reached by no label and got none", grouped(without)));
            }
        }
        if self.n_filled > 0 {
            notes.push(format!(
                "{} missing cells were filled with the median of their column in the model's table: {}",
                self.n_filled,
                self.rows.gaps.join(", ")
            ));
        }
        if !self.rows.ignored.is_empty() {
            let names = some_of(&self.rows.ignored);
            notes.push(format!("columns that the model does not know were left aside: {names}"));
        }
        if !self.rows.by_name {
            notes.push("columns were matched by position, because they have no names".into());
        }
        notes
    }
}
