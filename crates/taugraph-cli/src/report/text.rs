//! A run in a few lines for a terminal.

use std::fmt::Write as _;

use taugraph::FittedClusters;

use super::{Report, grouped, listed, sparkline};
use crate::progress::total_seconds;

impl Report<'_> {
    /// A few lines for a terminal, without color.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let _ = self.write_text(&mut text);
        text
    }

    fn write_text(&self, text: &mut String) -> std::fmt::Result {
        let dataset = self.dataset;
        match (dataset.features.len(), dataset.sparse) {
            (_, Some(size)) => writeln!(
                text,
                "{}: {} rows, {} columns, {} entries, {} distance",
                dataset.name,
                grouped(dataset.n_rows),
                grouped(size.n_columns),
                grouped(size.n_entries),
                self.graph().robust().and_then(|part| part.metric()).map_or("no", |metric| metric.name())
            )?,
            (0, None) => writeln!(text, "{}: {} nodes", dataset.name, grouped(dataset.n_rows))?,
            (d, None) => {
                let place = if dataset.is_on_disk { " (on disk)" } else { "" };
                let (name, rows) = (&dataset.name, grouped(dataset.n_rows));
                writeln!(text, "{name}: {rows} rows, {} features{place}", grouped(d))?
            }
        }
        let graph = self.graph().node_graph();
        write!(text, "graph     {} nodes, {} edges", grouped(graph.n_nodes()), grouped(graph.n_edges()))?;
        match self.graph().robust() {
            None => writeln!(text, " (given)")?,
            Some(robust) => {
                let components = robust.nodes.components.len();
                let noun = if components == 1 { "component" } else { "components" };
                write!(
                    text,
                    ", {} {noun}, preset {}",
                    grouped(components),
                    self.settings.params.preset.name()
                )?;
                let copies = robust.nodes.duplicates.n_copies();
                if copies > 0 {
                    write!(text, ", {} duplicate rows share a node", grouped(copies))?;
                }
                let decay = robust.nodes.stochastic.decay();
                let counts: Vec<usize> = decay.iter().map(|(_, count)| *count).collect();
                if let ([first, ..], [.., last]) = (decay, decay) {
                    writeln!(
                        text,
                        "\ndecay     {}  {} edges at tau {}, {} at {}",
                        sparkline(&counts),
                        grouped(first.1),
                        first.0,
                        grouped(last.1),
                        last.0
                    )?;
                }
                if robust.nodes.search.sample > 0 {
                    writeln!(
                        text,
                        "search    {:.1} % of the true neighbors found, measured on {} points",
                        100.0 * robust.nodes.search.recall,
                        robust.nodes.search.sample
                    )?;
                }
                if let Some(share) = robust.preparation.as_ref().and_then(|prepared| prepared.pca_share) {
                    writeln!(text, "pca       {:.1} % of the variance kept", 100.0 * share)?;
                }
            }
        }
        if let Some(found) = self.clusters() {
            self.write_clusters(found, text)?;
        }
        writeln!(text, "time      {:.2} s", total_seconds(&self.stages))?;
        for warning in self.warnings() {
            writeln!(text, "note      {warning}")?;
        }
        if let Some(rows) = self.labeled_rows() {
            rows.write_text(text)?;
        }
        match &self.evaluation {
            Some(evaluation) => evaluation.write_text(text),
            None => Ok(()),
        }
    }

    fn write_clusters(&self, found: &FittedClusters, text: &mut String) -> std::fmt::Result {
        let k = found.n_clusters();
        let how = match self.settings.params.cluster.n_clusters {
            Some(_) => String::new(),
            None => {
                let gap = found.eigengap().gaps().get(k.saturating_sub(1)).copied().unwrap_or(0.0);
                format!(", found by the eigengap ({gap:.2} of 1)")
            }
        };
        writeln!(text, "clusters  {k}{how}")?;
        let mut sizes = vec![0usize; k];
        found.labels().iter().for_each(|&label| sizes[label as usize] += 1);
        writeln!(text, "sizes     {}", listed(sizes.iter().map(|&size| grouped(size))))?;
        if let (Some(stability), Some(of_rows)) = (found.stability_of_nodes(), found.stability()) {
            let unsure = stability.of_nodes.iter().filter(|&&share| share < 0.8).count();
            let mut sums = vec![0.0; k];
            found.labels().iter().zip(&of_rows).for_each(|(&label, share)| sums[label as usize] += share);
            let means =
                sums.iter().zip(&sizes).map(|(sum, &size)| format!("{:.2}", sum / size.max(1) as f64));
            writeln!(
                text,
                "stability {:.3} over {} drawn graphs, {} nodes below 0.8; by cluster {}",
                stability.overall,
                stability.of_draws.len(),
                grouped(unsure),
                listed(means)
            )?;
        }
        if let Some(scores) = &self.scores {
            writeln!(text, "scores    {}", scores.text())?;
        }
        Ok(())
    }
}
