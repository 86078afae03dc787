//! The panels below the map. Each is a folder: `mod.rs` has what it computes, its data and its figures; `panel.js` draws
//! the data on the page.
//!
//! To add a panel, add a folder with these two files and its name here: as a module and in [`ALL`].

mod answer;
mod comparison;
mod decay;
mod eigenvalues;
mod groups;
mod preparation;
mod scales;
mod settings;
mod stages;
mod training;

use serde_json::Value;
use taugraph::Result;
use taugraph::progress::Run;

use crate::frame::Frame;
use crate::subject::Subject;

/// Every panel, in the order of the page.
pub const ALL: &[PanelKind] = &[
    answer::PANEL,
    decay::PANEL,
    training::PANEL,
    scales::PANEL,
    eigenvalues::PANEL,
    groups::PANEL,
    comparison::PANEL,
    preparation::PANEL,
    stages::PANEL,
    settings::PANEL,
];

/// What a panel shows.
pub trait Panel: Send + Sync {
    /// Computes it; `None` if there is nothing to show.
    fn new(subject: &Subject<'_>, frame: &Frame, run: &Run<'_>) -> Result<Option<Self>>
    where
        Self: Sized;

    /// The data for its script.
    fn json(&self) -> Value;

    /// The same as figures, if any.
    fn figures(&self) -> Vec<Figure> {
        Vec::new()
    }
}

/// A figure of a panel.
pub struct Figure {
    /// Its file name, without extension.
    pub name: &'static str,
    pub drawn: Box<dyn taugraph_figures::Panel>,
}

impl Figure {
    pub fn new(name: &'static str, drawn: impl taugraph_figures::Panel + 'static) -> Self {
        Self { name, drawn: Box::new(drawn) }
    }
}

type Compute = fn(&Subject<'_>, &Frame, &Run<'_>) -> Result<Option<Box<dyn Panel>>>;

/// A registered panel.
pub struct PanelKind {
    /// Its name in the data, and `panel-NAME` on the page.
    pub name: &'static str,
    /// Sets `panels.NAME` to a function from its data to an element.
    pub script: &'static str,
    pub compute: Compute,
}

impl PanelKind {
    const fn of<P: Panel + 'static>(name: &'static str, script: &'static str) -> Self {
        let compute: Compute = |subject, frame, run| {
            Ok(P::new(subject, frame, run)?.map(|panel| Box::new(panel) as Box<dyn Panel>))
        };
        Self { name, script, compute }
    }
}
