//! How stable a clustering is: agreement with the clusterings of realized graphs.

use super::{ClusterCount, ClusterParams, Clustering, spectral_clustering};
use crate::affinity::local_affinity;
use crate::error::{Result, require};
use crate::graph::SparseGraph;
use crate::labels::Labels;
use crate::metrics::{ari, match_labels};
use crate::params::CheckedGraphParams;
use crate::progress::Run;
use crate::random::Stage;
use crate::robust::RobustGraph;
use crate::stochastic::Realizations;

/// Weight of an edge that a draw leaves out: as good as absent, but no point falls off the graph.
const ABSENT: f64 = 1e-6;

/// Parameters of the stability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct StabilityParams {
    /// Realized graphs.
    pub draws: usize,
}

impl Default for StabilityParams {
    fn default() -> Self {
        Self { draws: 10 }
    }
}

/// Agreement over the realized graphs.
#[derive(Debug, Clone, PartialEq)]
pub struct Stability {
    /// Mean adjusted Rand index between the clustering and those of the draws.
    pub overall: f64,
    /// The index of each draw.
    pub of_draws: Vec<f64>,
    /// For each node the share of the draws that put it in the same cluster, clusters matched as well as possible.
    pub of_nodes: Vec<f64>,
}

/// Draws graphs from the edge probabilities, clusters each, and compares with `clustering`.
///
/// The cost is that of `draws` spectral clusterings.
pub fn stability(
    robust: &RobustGraph,
    graph_params: &CheckedGraphParams,
    clustering: &Clustering,
    cluster_params: &ClusterParams,
    params: &StabilityParams,
    run: &Run<'_>,
) -> Result<Stability> {
    let rule = "must be between 1 and 1048576";
    require((1..=1 << 20).contains(&params.draws), "stability draws", params.draws, rule)?;
    let edges = robust.stochastic.edges();
    let affinity = local_affinity(graph_params.affinity, &robust.scales, edges, &robust.distances);
    let draws = Realizations::new(&robust.stochastic, run.seed, Stage::Stability);
    let exactly =
        ClusterParams { clusters: ClusterCount::Exactly(clustering.n_clusters()), ..*cluster_params };
    let links: Vec<(u32, u32, f64)> = robust.links.iter().map(|link| (link.i, link.j, link.weight)).collect();
    let mut of_draws = Vec::with_capacity(params.draws);
    let mut agreements = vec![0u32; clustering.labels.len()];
    for draw in 0..params.draws {
        run.check()?;
        let labels = run.checkpointed(
            &format!("stability-{draw}"),
            |kept: &Labels| kept.len() == clustering.labels.len(),
            || {
                let present = draws.draw(draw);
                let weights: Vec<f64> = affinity
                    .iter()
                    .zip(&present)
                    .map(|(&w, &present)| if present { w.max(ABSENT) } else { ABSENT })
                    .collect();
                let graph = SparseGraph::from_edges(edges, &weights)?.with_edges(&links);
                Ok(spectral_clustering(&graph, &exactly, &run.without_checkpoints())?.labels)
            },
        )?;
        of_draws.push(ari(&clustering.labels, &labels)?);
        let matched = match_labels(&clustering.labels, &labels)?;
        for ((count, own), other) in agreements.iter_mut().zip(clustering.labels.iter()).zip(&matched) {
            *count += u32::from(own == other);
        }
    }
    let n_draws = params.draws as f64;
    Ok(Stability {
        overall: of_draws.iter().sum::<f64>() / n_draws,
        of_nodes: agreements.iter().map(|&count| f64::from(count) / n_draws).collect(),
        of_draws,
    })
}
