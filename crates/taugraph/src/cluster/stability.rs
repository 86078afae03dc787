//! How stable a clustering is: agreement with the clusterings of realized graphs.

use super::{ClusterParams, Clustering, spectral_clustering};
use crate::affinity::local_affinity;
use crate::error::{Result, require};
use crate::graph::SparseGraph;
use crate::labels::Labels;
use crate::metrics::{ari, match_labels};
use crate::params::CheckedGraphParams;
use crate::progress::Run;
use crate::random::Stage;
use crate::robust::NodeGraph;
use crate::stochastic::Realizations;

/// Weight of an edge that a draw omits: practically absent, but no point becomes isolated.
const ABSENT: f64 = 1e-6;

/// Agreement over the realized graphs.
#[derive(Debug, Clone, PartialEq)]
pub struct Stability {
    /// Mean adjusted Rand index between the clustering and those of the draws.
    pub overall: f64,
    /// The index of each draw.
    pub of_draws: Vec<f64>,
    /// For each node, the share of the draws that put it in the same cluster, under the best matching of clusters.
    pub of_nodes: Vec<f64>,
}

/// Draws graphs from the edge probabilities, clusters each, and compares with `clustering`.
///
/// The cost is one spectral clustering per draw.
pub fn stability(
    robust: &NodeGraph,
    graph_params: &CheckedGraphParams,
    clustering: &Clustering,
    cluster_params: &ClusterParams,
    run: &Run<'_>,
) -> Result<Stability> {
    let rule = "must be at least 1";
    let n_draws = cluster_params.stability;
    require(n_draws >= 1, "cluster.stability", n_draws, rule)?;
    let edges = robust.stochastic.edges();
    let affinity = local_affinity(graph_params.affinity, &robust.scales, edges, &robust.distances);
    let draws = Realizations::new(&robust.stochastic, run.seed, Stage::Stability);
    let exactly = ClusterParams { n_clusters: Some(clustering.n_clusters()), ..*cluster_params };
    let links: Vec<(u32, u32, f64)> = robust.links.iter().map(|link| (link.i, link.j, link.weight)).collect();
    let mut of_draws = Vec::with_capacity(n_draws);
    let mut agreements = vec![0u32; clustering.labels.len()];
    for draw in 0..n_draws {
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
    let n_draws = n_draws as f64;
    Ok(Stability {
        overall: of_draws.iter().sum::<f64>() / n_draws,
        of_nodes: agreements.iter().map(|&count| f64::from(count) / n_draws).collect(),
        of_draws,
    })
}
