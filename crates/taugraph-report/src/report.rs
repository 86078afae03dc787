//! Computes everything that a page and its figures show.

use taugraph::Result;
use taugraph::progress::Run;

use crate::frame::Frame;
use crate::header::{facts, title};
use crate::panels::{self, Panel};
use crate::subject::Subject;

/// The contents of a report: plain data, which [`crate::html`] and [`crate::write_figures`] draw.
pub struct Report {
    pub(crate) title: String,
    pub(crate) command: String,
    pub(crate) summary: String,
    pub(crate) facts: Vec<(&'static str, String)>,
    pub(crate) warnings: Vec<String>,
    pub(crate) frame: Frame,
    /// Name and content of the panels that have something to show, in their order on the page.
    pub(crate) panels: Vec<(&'static str, Box<dyn Panel>)>,
}

impl Report {
    /// Computes positions of the points, the comparison with graphs without quantiles, and all other panels.
    pub fn new(subject: &Subject<'_>, run: &Run<'_>) -> Result<Self> {
        subject.check()?;
        // Checkpoints of the run itself do not apply to its report.
        let run = &Run { checkpoints: None, ..*run };
        run.stage("report", None)?;
        let frame = Frame::new(subject, run)?;
        let mut shown = Vec::new();
        for kind in panels::ALL {
            shown.extend((kind.compute)(subject, &frame, run)?.map(|panel| (kind.name, panel)));
        }
        Ok(Self {
            title: title(subject),
            command: subject.command.clone(),
            summary: subject.summary.clone(),
            facts: facts(subject)?,
            warnings: subject.warnings.clone(),
            frame,
            panels: shown,
        })
    }
}
