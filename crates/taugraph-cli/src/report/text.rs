//! A run in a few lines for a terminal.

use std::fmt::Write as _;

use taugraph_terminal::visible_in_line;

use super::{Report, grouped, sparkline};
use crate::cost::total;

impl Report<'_> {
    /// A few lines for a terminal, without color.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let _ = self.write_text(&mut text);
        text
    }

    fn write_text(&self, text: &mut String) -> std::fmt::Result {
        let dataset = self.dataset;
        let name = visible_in_line(&dataset.name);
        match (dataset.features.len(), dataset.sparse) {
            (_, Some(size)) => writeln!(
                text,
                "{}: {} rows, {} columns, {} entries, {} distance",
                name,
                grouped(dataset.n_rows),
                grouped(size.n_columns),
                grouped(size.n_entries),
                self.graph().robust().and_then(|part| part.metric()).map_or("no", |metric| metric.name())
            )?,
            (0, None) => writeln!(text, "{}: {} nodes", name, grouped(dataset.n_rows))?,
            (d, None) => {
                let place = if dataset.is_on_disk { " (on disk)" } else { "" };
                let rows = grouped(dataset.n_rows);
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
        writeln!(text, "time      {:.2} s", total(&self.stages).time.seconds)?;
        for warning in self.warnings() {
            writeln!(text, "note      {}", visible_in_line(&warning))?;
        }
        if let Some(rows) = self.labeled_rows() {
            rows.write_text(text)?;
        }
        self.write_suggestions(text)?;
        match &self.evaluation {
            Some(evaluation) => evaluation.write_text(text),
            None => Ok(()),
        }
    }
}
