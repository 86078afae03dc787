//! The training of the quantile models: the loss of each τ over the iterations, and how many quantiles crossed.

use serde_json::{Value, json};
use taugraph::Result;
use taugraph::progress::Run;
use taugraph::quantile::Training as Trained;
use taugraph_figures::{Curve, Curves};

use super::{Figure, Panel, PanelKind};
use crate::frame::Frame;
use crate::subject::Subject;

pub const PANEL: PanelKind = PanelKind::of::<Training>("training", include_str!("panel.js"));

/// Points of a curve: more would not be seen.
const MAX_POINTS: usize = 120;

struct Training {
    models: Vec<Model>,
    crossing_rate: Option<f64>,
}

struct Model {
    /// `None` for a joint model of all τ.
    tau: Option<f64>,
    iterations: usize,
    stop: Value,
    /// (iteration, loss), thinned.
    losses: Vec<(usize, f64)>,
}

impl Model {
    fn new(training: &Trained) -> Self {
        let n = training.losses.len();
        let step = n.div_ceil(MAX_POINTS).max(1);
        let shown = (0..n).filter(|at| at % step == 0 || at + 1 == n);
        Self {
            tau: training.tau,
            iterations: n,
            stop: json!(training.stop),
            losses: shown.map(|at| (at + 1, training.losses[at])).collect(),
        }
    }

    fn name(&self) -> String {
        self.tau.map_or("all τ".into(), |tau| format!("τ = {tau}"))
    }
}

impl Panel for Training {
    fn new(subject: &Subject<'_>, _: &Frame, _: &Run<'_>) -> Result<Option<Self>> {
        let Some(robust) = subject.graph().robust() else { return Ok(None) };
        let models: Vec<Model> = robust.nodes.training.iter().map(Model::new).collect();
        Ok((!models.is_empty()).then_some(Self { models, crossing_rate: robust.nodes.crossing_rate }))
    }

    fn json(&self) -> Value {
        let models = self.models.iter().map(|model| {
            json!({
                "name": model.name(),
                "iterations": model.iterations,
                "stop": model.stop,
                "losses": model.losses,
            })
        });
        json!({ "models": models.collect::<Vec<_>>(), "crossing_rate": self.crossing_rate })
    }

    fn figures(&self) -> Vec<Figure> {
        let losses = || self.models.iter().flat_map(|model| &model.losses).map(|point| point.1);
        let (least, most) = (losses().fold(f64::INFINITY, f64::min), losses().fold(0.0, f64::max));
        let drawn = Curves {
            title: "loss of each quantile model".into(),
            x_label: "iteration".into(),
            y_label: "loss".into(),
            curves: self
                .models
                .iter()
                .map(|model| Curve {
                    name: model.name(),
                    points: model.losses.iter().map(|&(at, loss)| (at as f64, loss)).collect(),
                })
                .collect(),
            y_range: (least.min(0.0), most.max(f64::MIN_POSITIVE)),
            marks: false,
        };
        vec![Figure::new("training", drawn)]
    }
}
