//! The figures: points, edges at a few quantiles, clusters.

use std::path::{Path, PathBuf};

use taugraph_figures::{ABSENT, DecayPanel, GraphPanel, INK, Panel, PlaneMap, class_color, write_figure};

use super::experiment::{Attempt, Experiment};
use super::{NOISE, POINTS};
use crate::failure::Outcome;
use crate::report::grouped;

impl Experiment {
    /// Draws every figure, and all of them on one page.
    pub fn draw(&self, folder: &Path) -> Outcome<Vec<PathBuf>> {
        let map = PlaneMap::new(&self.data.points.values().to_f64(), 2);
        let stochastic = &self.graph()?.stochastic;
        let points = |title: String, colors: Vec<_>| GraphPanel {
            title,
            map: &map,
            edges: Vec::new(),
            colors,
            radius: 2.2,
            marked: Vec::new(),
        };
        let graph = |title: String, edges: Vec<(u32, u32, Option<f64>)>, radius: f64| GraphPanel {
            title,
            map: &map,
            edges,
            colors: vec![ABSENT; map.n_points()],
            radius,
            marked: Vec::new(),
        };
        let input = points(format!("input: {POINTS} points, noise {NOISE}"), vec![INK; map.n_points()]);
        let at = |tau: f64| {
            let present = stochastic.edges().iter().zip(stochastic.present_at(tau));
            let edges: Vec<_> =
                present.filter(|(_, present)| *present).map(|((i, j), _)| (i, j, None)).collect();
            graph(format!("edges present at τ = {tau}: {}", grouped(edges.len())), edges, 1.6)
        };
        let (low, middle, high) = (at(0.1), at(0.3), at(0.7));
        let decay = DecayPanel {
            title: "decay: edges present at each quantile".into(),
            decay: stochastic.decay().to_vec(),
        };
        let likely = stochastic.edges().iter().zip(stochastic.probabilities());
        let likely = likely.map(|((i, j), &p)| (i, j, Some(p))).collect();
        let probable = graph("stochastic graph, dark = likely".into(), likely, 1.2);
        let grouped_by = |name: &str, attempt: &Attempt| {
            let colors = attempt.found.labels().iter().copied().map(class_color).collect();
            points(format!("{name}: NMI {:.2}", attempt.nmi), colors)
        };
        let by_plain = grouped_by("local scaling", &self.plain);
        let by_robust = grouped_by("robust graph", &self.robust);
        let all: [(&str, &dyn Panel); 8] = [
            ("input", &input),
            ("graph-tau-0.1", &low),
            ("graph-tau-0.3", &middle),
            ("graph-tau-0.7", &high),
            ("decay", &decay),
            ("stochastic-graph", &probable),
            ("clusters-local-scaling", &by_plain),
            ("clusters-robust", &by_robust),
        ];
        let mut files = Vec::new();
        for (name, panel) in all {
            files.extend(write_figure(folder, name, &[panel], 1)?);
        }
        files.extend(write_figure(folder, "overview", &all.map(|(_, panel)| panel), 4)?);
        Ok(files)
    }
}
