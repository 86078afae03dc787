//! What `propagate` says of the rows: how many got which label, and which to look at.

use std::fmt::Write;

use serde_json::{Value, json};
use taugraph::{FittedLabels, GivenLabels};

use super::walk::{walk_json, walk_text};
use super::{grouped, listed};
use crate::results::flags;

/// What every row got.
pub(super) struct LabeledRows<'a> {
    found: &'a FittedLabels,
    classes: &'a [String],
    flags: Vec<&'static str>,
}

impl<'a> LabeledRows<'a> {
    pub fn new(found: &'a FittedLabels, given: &'a GivenLabels) -> Self {
        Self { found, classes: given.classes(), flags: flags(found, given) }
    }

    fn count(&self, flag: &str) -> usize {
        self.flags.iter().filter(|own| **own == flag).count()
    }

    /// Rows of each class, as given and as found.
    fn counts(&self) -> Vec<(usize, usize)> {
        let mut counts = vec![(0, 0); self.classes.len()];
        for (label, flag) in self.found.labels().iter().zip(&self.flags) {
            if let Some(label) = label {
                let (given, all) = &mut counts[*label as usize];
                *given += usize::from(*flag == "given");
                *all += 1;
            }
        }
        counts
    }

    pub fn json(&self) -> Value {
        let spread = self.found.propagation();
        let name = |label: &Option<u32>| label.map(|label| &self.classes[label as usize]);
        json!({
            "classes": self.classes.iter().zip(self.counts()).map(|(class, (given, all))| json!({
                "name": class, "labeled": given, "rows": all,
            })).collect::<Vec<_>>(),
            "iterations": spread.info.iterations,
            "residual": spread.info.residual,
            "walk": spread.walk.map(walk_json),
            "components": spread.n_components,
            "weak_edges_left_out": spread.n_weak_edges,
            "abstained": self.count("unreached"),
            "corrected": self.count("corrected"),
            "conflicting_copies": self.found.n_conflicts(),
            "temperature": spread.temperature,
            "outside_group": spread.outside_group.is_some().then(|| {
                // Counted from 1, as in a file of labels.
                self.found.rows_outside_group().iter().map(|row| row + 1).collect::<Vec<_>>()
            }),
            "labels": self.found.labels().iter().map(name).collect::<Vec<_>>(),
            "margins": self.found.margins(),
        })
    }

    pub fn write_text(&self, text: &mut String) -> std::fmt::Result {
        let of_class = |(class, (given, all)): (&String, (usize, usize))| {
            format!("{class} {} ({} given)", grouped(all), grouped(given))
        };
        writeln!(text, "labels    {}", listed(self.classes.iter().zip(self.counts()).map(of_class)))?;
        let rows = self.found.margins().iter().zip(&self.flags);
        let unsure = rows.filter(|(margin, flag)| flag.is_empty() && **margin < 0.1).count();
        let spread = self.found.propagation();
        let how = match spread.walk {
            Some(walk) => walk_text(walk),
            None => format!("{} iterations", spread.info.iterations),
        };
        writeln!(text, "          {} rows with a margin below 0.1; {how}", grouped(unsure))?;
        match spread.temperature {
            Some(temperature) => writeln!(
                text,
                "          probabilities calibrated on labeled rows left out, temperature {temperature:.2}"
            )?,
            None => writeln!(
                text,
                "          probabilities are not calibrated: that takes 20 labeled rows and harmonic functions"
            )?,
        }
        self.notes().iter().try_for_each(|note| writeln!(text, "note      {note}"))
    }

    /// What the user should know about.
    pub fn notes(&self) -> Vec<String> {
        let notes = [
            (
                self.count("unreached"),
                "rows are reached by no label and got none; --set propagate.link=yes joins the components of a given graph",
            ),
            (self.count("corrected"), "labeled rows were outvoted by their neighbors"),
            (
                self.found.propagation().n_weak_edges,
                "edges weigh less than 1e-10 of the heaviest and were left out",
            ),
            (
                self.found.rows_outside_group().len(),
                "labeled rows lie in the group of another class, and their label was not spread; --json names them",
            ),
            (
                self.found.n_conflicts(),
                "groups of equal rows have different labels: the most frequent one counts",
            ),
        ];
        let notes = notes.iter().filter(|(count, _)| *count > 0);
        notes.map(|(count, note)| format!("{} {note}", grouped(*count))).collect()
    }
}
