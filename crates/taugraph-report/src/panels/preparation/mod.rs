//! What was done to the input: what was dropped, filled in or scaled.

use serde_json::{Value, json};
use taugraph::Result;
use taugraph::fit::RobustPart;
use taugraph::neighbors::Space;
use taugraph::progress::Run;

use super::{Panel, PanelKind};
use crate::frame::Frame;
use crate::subject::Subject;
use crate::words::{grouped, listed};

pub const PANEL: PanelKind = PanelKind::of::<Preparation>("preparation", include_str!("panel.js"));

struct Preparation {
    /// One sentence for each step.
    says: Vec<String>,
}

impl Panel for Preparation {
    fn new(subject: &Subject<'_>, _: &Frame, _: &Run<'_>) -> Result<Option<Self>> {
        let says = match subject.graph().robust() {
            Some(part) => done(subject, part),
            None => vec!["The graph was given; nothing was prepared.".into()],
        };
        Ok(Some(Self { says }))
    }

    fn json(&self) -> Value {
        json!(self.says)
    }
}

fn done(subject: &Subject<'_>, part: &RobustPart) -> Vec<String> {
    let graph = subject.graph();
    let mut says = Vec::new();
    if let Some(done) = &part.preparation {
        let scaling = graph.config().preparation_for(false).standardize.name();
        says.push(format!("{} columns were used, scaled by {scaling}.", grouped(done.used.len())));
        for (what, names) in [("constant", &done.constant), ("empty", &done.empty)] {
            if !names.is_empty() {
                says.push(format!("Dropped {what} columns: {}.", listed(names)));
            }
        }
        for column in done.used.iter().filter(|column| column.n_missing > 0) {
            let (cells, name) = (grouped(column.n_missing), &done.names[column.column]);
            says.push(format!(
                "{cells} missing cells of {name} were filled with its median, {:.4}.",
                column.fill
            ));
        }
        if let Some(share) = done.pca_share {
            says.push(format!("Principal components kept {:.1} % of the variance.", 100.0 * share));
        }
    }
    let copies = part.nodes.duplicates.n_copies();
    if copies > 0 {
        says.push(format!("{} rows equal an earlier one and share its node.", grouped(copies)));
    }
    says.push(match (part.space(), part.metric()) {
        (_, Some(metric)) => format!("Distances are {}.", metric.name()),
        (Some(Space::Neighbors(_)), None) => "Neighbors were given.".into(),
        _ => "Distances were given.".into(),
    });
    let search = &part.nodes.search;
    if search.sample > 0 {
        let (share, points) = (100.0 * search.recall, grouped(search.sample));
        says.push(format!("{share:.1} % of the true neighbors were found, measured on {points} points."));
    }
    says
}
