//! Which rows to label next. Rows are counted from 1, as in a file of labels.

use std::fmt::Write;

use serde_json::{Value, json};
use taugraph_terminal::visible_in_line;

use super::Report;

impl Report<'_> {
    /// The name of a row, if rows have names.
    fn name_of(&self, row: u32) -> Option<&str> {
        self.dataset.ids.as_ref().map(|ids| ids.of_rows[row as usize].as_str())
    }

    pub(super) fn suggestions_json(&self) -> Value {
        let suggested = self.suggestions.iter();
        suggested
            .map(|found| json!({ "row": found.row + 1, "id": self.name_of(found.row), "reason": found.reason.text() }))
            .collect()
    }

    pub(super) fn write_suggestions(&self, text: &mut String) -> std::fmt::Result {
        if self.suggestions.is_empty() {
            return Ok(());
        }
        writeln!(text, "suggest   rows to label next, the most useful first:")?;
        self.suggestions.iter().try_for_each(|found| {
            let name =
                self.name_of(found.row).map_or(String::new(), |name| format!(" ({})", visible_in_line(name)));
            writeln!(text, "          row {}{name}: {}", found.row + 1, found.reason.text())
        })
    }
}
