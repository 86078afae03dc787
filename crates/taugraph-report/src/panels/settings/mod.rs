//! Every parameter.

use serde_json::Value;
use taugraph::Result;
use taugraph::progress::Run;

use super::{Panel, PanelKind};
use crate::frame::Frame;
use crate::subject::Subject;

pub const PANEL: PanelKind = PanelKind::of::<Settings>("settings", include_str!("panel.js"));

struct Settings {
    settings: Value,
}

impl Panel for Settings {
    fn new(subject: &Subject<'_>, _: &Frame, _: &Run<'_>) -> Result<Option<Self>> {
        Ok((!subject.settings.is_null()).then(|| Self { settings: subject.settings.clone() }))
    }

    fn json(&self) -> Value {
        self.settings.clone()
    }
}
