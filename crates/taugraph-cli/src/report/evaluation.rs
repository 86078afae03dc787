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
            Trials::Random { per_class: 1, .. } => {
                format!("{n} draws of one labeled row for each of {} classes", self.classes.len())
            }
            Trials::Random { per_class, .. } => {
                format!("{n} draws of {per_class} labeled rows for each of {} classes", self.classes.len())
            }
        };
        let mut table = format!(
            "{trials}\naccuracy           {}\nbalanced_accuracy  {}\nmajority           {:.4}\n",
            mean_and_deviation(&self.found.accuracies, 4),
            mean_and_deviation(&self.found.balanced, 4),
            self.found.majority
        );
        if let Some(reliability) = &self.found.reliability {
            table += &format!("calibration_error  {:.4}\n", reliability.calibration_error());
        }
        table
    }

    /// The temperatures of the trials that have one.
    fn temperatures(&self) -> Vec<f64> {
        self.found.temperatures.iter().flatten().copied().collect()
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "classes": self.classes,
            "exact": self.trials == Trials::AllPairs,
            "accuracies": self.found.accuracies,
            "balanced_accuracies": self.found.balanced,
            "majority": self.found.majority,
            "reliability": self.found.reliability.as_ref().map(|reliability| json!({
                "calibration_error": reliability.calibration_error(),
                "bins": reliability.bins.iter().map(|bin| json!({
                    "rows": bin.rows, "confidence": bin.confidence, "accuracy": bin.accuracy,
                })).collect::<Vec<_>>(),
            })),
            "temperatures": self.found.temperatures,
            "walk": self.found.walk.map(walk_json),
        })
    }

    pub(super) fn write_text(&self, text: &mut String) -> std::fmt::Result {
        if let Some(walk) = self.found.walk {
            writeln!(text, "labels    {}", walk_text(walk))?;
        }
        let Some(reliability) = &self.found.reliability else { return Ok(()) };
        writeln!(
            text,
            "certainty rows that were given a class with probability p, and the share of them that have it:"
        )?;
        let filled = reliability.bins.iter().filter(|bin| bin.rows > 0);
        filled.clone().try_for_each(|bin| {
            let (p, share) = (bin.confidence, bin.accuracy);
            writeln!(text, "          {p:.2}  {share:.2}  {} rows", grouped(bin.rows))
        })?;
        let fitted = self.temperatures();
        match fitted.is_empty() {
            true => writeln!(text, "          not calibrated: a draw has too few labeled rows for that"),
            false => writeln!(
                text,
                "          calibrated on labeled rows left out, temperature {}",
                mean_and_deviation(&fitted, 2)
            ),
        }
    }
}
