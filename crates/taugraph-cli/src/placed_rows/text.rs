//! New rows in a few lines for a terminal.

use std::fmt::Write;

use super::PlacedRows;
use super::agreement::Agreement;
use crate::cost::{StageCost, total};
use crate::report::{grouped, listed};

impl PlacedRows<'_> {
    pub fn text(&self, model_name: &str, scores: &Agreement, stages: &[StageCost]) -> String {
        let mut text = format!(
            "{}: {} rows, placed among {} nodes of {model_name}\n",
            self.rows.name,
            grouped(self.rows.n_rows),
            grouped(self.model.n_nodes())
        );
        let _ = self.write_text(scores, &mut text);
        let _ = writeln!(text, "time      {:.2} s", total(stages).time.seconds);
        for note in self.notes() {
            let _ = writeln!(text, "note      {note}");
        }
        text
    }

    fn write_text(&self, scores: &Agreement, text: &mut String) -> std::fmt::Result {
        if let Some(clusters) = &self.placed.clusters {
            let mut sizes = vec![0usize; self.model.n_clusters().unwrap_or(0)];
            clusters.labels.iter().for_each(|&label| sizes[label as usize] += 1);
            writeln!(text, "clusters  {}", listed(sizes.iter().map(|&size| grouped(size))))?;
            writeln!(text, "          {} rows with a margin below 0.1", unsure(&clusters.margins))?;
        }
        if let Some(classes) = &self.placed.classes {
            let mut sizes = vec![0usize; self.classes.len()];
            classes.labels.iter().flatten().for_each(|&label| sizes[label as usize] += 1);
            let named = self.classes.iter().zip(&sizes);
            writeln!(
                text,
                "labels    {}",
                listed(named.map(|(name, &size)| format!("{name} {}", grouped(size))))
            )?;
            writeln!(text, "          {} rows with a margin below 0.1", unsure(&classes.margins))?;
        }
        if let Some(scores) = &scores.clusters {
            writeln!(text, "scores    {}", scores.text())?;
        }
        if let Some(scores) = &scores.labels {
            writeln!(
                text,
                "scores    accuracy {:.3}, balanced {:.3} over {} rows",
                scores.accuracy,
                scores.balanced_accuracy,
                grouped(scores.n_rows)
            )?;
        }
        Ok(())
    }
}

fn unsure(margins: &[f64]) -> String {
    grouped(margins.iter().filter(|margin| **margin < 0.1).count())
}
