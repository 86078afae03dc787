//! With and without the quantiles: the same run on graphs without quantiles.

use serde_json::{Value, json};
use taugraph::cluster::spectral_clustering;
use taugraph::params::{GraphParams, Preset};
use taugraph::progress::Run;
use taugraph::propagate::{LabeledNodes, propagate};
use taugraph::quantile::Estimator;
use taugraph::robust::{NodeGraph, robust_graph};
use taugraph::{Error, Result};
use taugraph_figures::{Bars, Level};

use super::{Figure, Panel, PanelKind};
use crate::frame::Frame;
use crate::scores::{Scores, agreement};
use crate::subject::{Found, Subject};
use crate::words::grouped;

pub const PANEL: PanelKind = PanelKind::of::<Comparison>("comparison", include_str!("panel.js"));

/// Up to this many rows the run is repeated without the quantiles.
const MAX_COMPARED: usize = 50_000;
/// Up to this many rows, local scaling over all pairs, as originally proposed, is compared.
const MAX_ALL_PAIRS: usize = 2_000;
const MEANING: &str = "Agreement is NMI: 1 if the groups are the same, 0 if they have nothing in common. If the quantiles change nothing, there was no \
                       noise for them to separate.";

struct Comparison {
    /// This result first, then the others.
    rows: Vec<Compared>,
    /// An explanation of the rows, or why there are none.
    note: String,
}

/// The result on one graph.
struct Compared {
    /// Which graph.
    graph: &'static str,
    /// Agreement with the result shown.
    agreement: f64,
    /// Agreement with known labels.
    score: Option<f64>,
}

impl Panel for Comparison {
    fn new(subject: &Subject<'_>, _: &Frame, run: &Run<'_>) -> Result<Option<Self>> {
        let (Some(groups), Some(part)) = (subject.groups(), subject.graph().robust()) else {
            return Ok(None);
        };
        let Some(space) = part.space() else { return Ok(None) };
        let found = groups.of_rows;
        if found.len() > MAX_COMPARED {
            let note = format!(
                "Not compared, because that would take as long as another run. Up to {} rows, every report includes the comparison.",
                grouped(MAX_COMPARED)
            );
            return Ok(Some(Self { rows: Vec::new(), note }));
        }
        let mut certain: GraphParams = (*part.params).clone();
        certain.estimator = Estimator::Constant;
        let mut graphs = vec![("the same edges, every p = 1", certain)];
        if found.len() <= MAX_ALL_PAIRS && space.knows_all_pairs() {
            graphs.push(("plain local scaling, all pairs", Preset::LocalScaling.params()));
        }
        let truth = subject.truth();
        let score = |groups: &[Option<u32>]| -> Result<Option<f64>> {
            let Some(truth) = &truth else { return Ok(None) };
            Ok(Scores::new(truth, groups)?.map(|scores| scores.nmi))
        };
        let mut rows = vec![Compared { graph: "this graph", agreement: 1.0, score: score(&found)? }];
        for (name, params) in graphs {
            let nodes = match robust_graph(space, &params.check()?, run) {
                // A preset whose neighborhoods are too large for the data is skipped.
                Err(Error::TooFewPoints { .. }) => continue,
                nodes => nodes?,
            };
            let again = match grouped_again(subject, &nodes, run) {
                Err(Error::Canceled) => return Err(Error::Canceled),
                // The other graph may have components that cannot be clustered; the result itself is unaffected.
                Err(_) => continue,
                Ok(again) => again,
            };
            rows.push(Compared { graph: name, agreement: agreement(&found, &again)?, score: score(&again)? });
        }
        Ok(Some(Self { rows, note: MEANING.into() }))
    }

    fn json(&self) -> Value {
        let rows = self
            .rows
            .iter()
            .map(|row| json!({ "graph": row.graph, "agreement": row.agreement, "score": row.score }));
        let is_scored = self.rows.iter().any(|row| row.score.is_some());
        json!({
            "rows": rows.collect::<Vec<_>>(),
            "note": self.note,
            "scoreName": is_scored.then_some("NMI with the known labels"),
        })
    }

    fn figures(&self) -> Vec<Figure> {
        if self.rows.is_empty() {
            return Vec::new();
        }
        let level = |row: &Compared| Level { mean: row.agreement, deviation: 0.0 };
        let drawn = Bars {
            title: "agreement with this graph's result".into(),
            y_label: "NMI".into(),
            // There is room for only a few words.
            series: self.rows.iter().map(|row| row.graph.trim_start_matches("the ").into()).collect(),
            groups: vec![(String::new(), self.rows.iter().map(level).collect())],
        };
        vec![Figure::new("comparison", drawn)]
    }
}

/// The same number of clusters, or labels from the same given ones, on another graph of the same points; for every row.
fn grouped_again(subject: &Subject<'_>, nodes: &NodeGraph, run: &Run<'_>) -> Result<Vec<Option<u32>>> {
    let config = subject.graph().config();
    match subject.found {
        Found::Graph(_) => Ok(Vec::new()),
        Found::Clusters(clusters) => {
            let mut params = config.cluster;
            params.n_clusters = Some(clusters.n_clusters());
            let again = spectral_clustering(&nodes.graph, &params, run)?;
            Ok(nodes.duplicates.restore(&again.labels).into_iter().map(Some).collect())
        }
        Found::Labels(_, given) => {
            let (params, n_classes) = (&config.propagate, given.classes().len());
            let (labeled, _) =
                LabeledNodes::of_rows(given.of_rows(), given.weights(), n_classes, &nodes.duplicates)?;
            let again = propagate(nodes, &labeled, params, run)?;
            Ok(again.of_rows(given.of_rows(), &nodes.duplicates, params.clamping).labels)
        }
    }
}
