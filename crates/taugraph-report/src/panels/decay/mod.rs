//! Decay of the edges: how many edges and components there are at each quantile.

use serde_json::Value;
use taugraph::Result;
use taugraph::progress::Run;
use taugraph_figures::{Curve, Curves, DecayPanel};

use super::{Figure, Panel, PanelKind};
use crate::frame::{Frame, Step};
use crate::subject::Subject;

pub const PANEL: PanelKind = PanelKind::of::<Decay>("decay", include_str!("panel.js"));

struct Decay {
    steps: Vec<Step>,
}

impl Panel for Decay {
    fn new(_: &Subject<'_>, frame: &Frame, _: &Run<'_>) -> Result<Option<Self>> {
        Ok((!frame.steps.is_empty()).then(|| Self { steps: frame.steps.clone() }))
    }

    fn json(&self) -> Value {
        self.steps.iter().map(Step::json).collect()
    }

    fn figures(&self) -> Vec<Figure> {
        let decay = self.steps.iter().map(|step| (step.tau, step.edges)).collect();
        let edges = DecayPanel { title: "edges present at each quantile".into(), decay };
        let most = self.steps.iter().map(|step| step.components).max().unwrap_or(1) as f64;
        let points = self.steps.iter().map(|step| (step.tau, step.components as f64)).collect();
        let components = Curves {
            title: "components at each quantile".into(),
            x_label: "quantile".into(),
            y_label: "components".into(),
            curves: vec![Curve { name: "components".into(), points }],
            y_range: (0.0, most.max(1.0)),
            marks: true,
        };
        vec![Figure::new("decay", edges), Figure::new("components", components)]
    }
}
