//! Eigenvalues of the Laplacian, and what they say about the number of clusters.

use serde_json::{Value, json};
use taugraph::Result;
use taugraph::cluster::spectral_clustering;
use taugraph::progress::Run;
use taugraph_figures::{Curve, Curves};

use super::{Figure, Panel, PanelKind};
use crate::frame::Frame;
use crate::subject::Subject;

pub const PANEL: PanelKind = PanelKind::of::<Eigenvalues>("eigenvalues", include_str!("panel.js"));

/// Up to this many nodes, eigenvalues beyond a given number of clusters are computed.
const MAX_NODES: usize = 50_000;
/// Number of clusters up to which eigenvalues are shown, if there are not more clusters.
const CLUSTERS: usize = 15;
/// With more clusters there are no eigenvalues on the page.
const MAX_CLUSTERS: usize = 50;

struct Eigenvalues {
    /// The smallest ones, ascending.
    values: Vec<f64>,
    /// The relative gap after each, as used to choose the number of clusters.
    gaps: Vec<f64>,
    /// Number of clusters of the result.
    n_clusters: usize,
    /// Number of clusters that the gaps suggest, if more eigenvalues were computed than clusters.
    suggested: Option<usize>,
}

impl Panel for Eigenvalues {
    /// Those of the clustering or, if the number was given, as many as the automatic choice would have computed.
    fn new(subject: &Subject<'_>, _: &Frame, run: &Run<'_>) -> Result<Option<Self>> {
        let Some(clusters) = subject.clusters().filter(|clusters| clusters.n_clusters() <= MAX_CLUSTERS)
        else {
            return Ok(None);
        };
        let (graph, n_clusters) = (clusters.graph().node_graph(), clusters.n_clusters());
        let params = &clusters.graph().config().cluster;
        let most = CLUSTERS.max(n_clusters + 1);
        // The automatic choice uses more eigenvalues than clusters; the graph may have been clustered with a given number.
        let n_known = clusters.eigengap().eigenvalues().len();
        let is_given = params.n_clusters.is_some() || (n_known <= n_clusters && n_known < graph.n_nodes());
        let (gap, is_looked_at) = if is_given && most < graph.n_nodes() && graph.n_nodes() <= MAX_NODES {
            let mut looked_at = *params;
            (looked_at.n_clusters, looked_at.max_clusters) = (None, Some(most));
            (spectral_clustering(graph, &looked_at, run)?.eigengap, true)
        } else {
            (clusters.eigengap().clone(), !is_given)
        };
        if gap.eigenvalues().is_empty() {
            return Ok(None);
        }
        Ok(Some(Self {
            values: gap.eigenvalues().to_vec(),
            gaps: gap.gaps().to_vec(),
            n_clusters,
            suggested: is_looked_at.then(|| gap.suggestion()),
        }))
    }

    fn json(&self) -> Value {
        json!({
            "values": self.values,
            "gaps": self.gaps,
            "clusters": self.n_clusters,
            "suggested": self.suggested,
        })
    }

    fn figures(&self) -> Vec<Figure> {
        let most = self.values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let points = self.values.iter().enumerate().map(|(place, &value)| ((place + 1) as f64, value / most));
        let drawn = Curves {
            title: format!("eigenvalues as shares of {most:.3}; {} clusters", self.n_clusters),
            x_label: "index of the eigenvalue".into(),
            y_label: "share".into(),
            curves: vec![Curve { name: "eigenvalue".into(), points: points.collect() }],
            y_range: (0.0, 1.0),
            marks: true,
        };
        vec![Figure::new("eigenvalues", drawn)]
    }
}
