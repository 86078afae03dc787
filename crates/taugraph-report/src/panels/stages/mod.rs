//! Time and memory of each stage.

use serde_json::{Value, json};
use taugraph::Result;
use taugraph::progress::Run;

use super::{Panel, PanelKind};
use crate::frame::Frame;
use crate::subject::Subject;

pub const PANEL: PanelKind = PanelKind::of::<Stages>("stages", include_str!("panel.js"));

struct Stages {
    /// Name, seconds, and peak memory by its end.
    stages: Vec<(String, f64, Option<u64>)>,
}

impl Panel for Stages {
    fn new(subject: &Subject<'_>, _: &Frame, _: &Run<'_>) -> Result<Option<Self>> {
        Ok((!subject.stages.is_empty()).then(|| Self { stages: subject.stages.clone() }))
    }

    fn json(&self) -> Value {
        json!(self.stages)
    }
}
