//! What `evaluate` found over its trials.

use std::fmt::Write;

use serde_json::{Value, json};
use taugraph::propagate::{Evaluation, Trials};

use super::walk::{walk_json, walk_text};
use super::{grouped, mean_and_deviation};

/// Accuracies of labels that spread from a few rows.
pub struct Evaluated<'a> {
    pub found: &'a Evaluation,
    pub trials: Trials,
    pub classes: &'a [String],
}

impl Evaluated<'_> {
    /// The result itself, a few lines.
    pub fn table(&self) -> String {
        let n = grouped(self.found.accuracies.len());
        let trials = match self.trials {
            Trials::AllPairs => format!("all {n} pairs of labeled rows (exact)"),
            Trials::Random(_) => {
                format!("{n} draws of one labeled row for each of {} classes", self.classes.len())
            }
        };
        format!(
            "{trials}\naccuracy           {}\nbalanced_accuracy  {}\nmajority           {:.4}\n",
            mean_and_deviation(&self.found.accuracies, 4),
            mean_and_deviation(&self.found.balanced, 4),
            self.found.majority
        )
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "classes": self.classes,
            "exact": self.trials == Trials::AllPairs,
            "accuracies": self.found.accuracies,
            "balanced_accuracies": self.found.balanced,
            "majority": self.found.majority,
            "walk": self.found.walk.map(walk_json),
        })
    }

    pub(super) fn write_text(&self, text: &mut String) -> std::fmt::Result {
        match self.found.walk {
            Some(walk) => writeln!(text, "labels    {}", walk_text(walk)),
            None => Ok(()),
        }
    }
}
