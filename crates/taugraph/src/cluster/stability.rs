//! How stable a clustering is: agreement with the clusterings of drawn graphs.
//!
//! A single realization of the stochastic graph has a fraction of its edges and falls apart. A draw is therefore the mean of
//! several: an edge of probability p is present in B of them, and its weight is multiplied by (B/(m·p))². Every draw has its own seed,
//! so that splits which are arbitrary come out differently each time.

use super::agglomerate::agglomerate;
use super::clustering::best_cut;
use super::{ClusterInput, ClusterMethod, ClusterParams, Clustering, spectral_clustering};
use crate::error::{Error, Result, require};
use crate::graph::SparseGraph;
use crate::labels::Labels;
use crate::metrics::{ari, match_labels};
use crate::progress::Run;
use crate::random::Stage;
use crate::robust::NodeGraph;
use crate::stochastic::Realizations;

/// Realizations of which a draw is the mean.
const REALIZATIONS: usize = 10;
/// Share of its weight that an edge keeps if no realization has it: practically absent, but no point becomes isolated.
const ABSENT: f64 = 1e-6;

/// Agreement over the drawn graphs.
#[derive(Debug, Clone, PartialEq)]
pub struct Stability {
    /// Mean adjusted Rand index between the clustering and those of the draws.
    pub overall: f64,
    /// The index of each draw that could be clustered.
    pub of_draws: Vec<f64>,
    /// For each node, the share of the draws that put it in the same cluster, under the best matching of clusters.
    pub of_nodes: Vec<f64>,
    /// The mean of that over the nodes of each cluster.
    pub of_clusters: Vec<f64>,
    /// Draws that could not be clustered into as many clusters; they do not count.
    pub n_failed: usize,
}

/// Draws graphs from the edge probabilities, clusters each by the method of `clustering`, and compares.
pub fn stability(
    robust: &NodeGraph,
    clustering: &Clustering,
    params: &ClusterParams,
    run: &Run<'_>,
) -> Result<Stability> {
    let n_draws = params.stability;
    require(n_draws >= 1, "cluster.stability", n_draws, "must be at least 1")?;
    run.stage("stability", Some(n_draws as u64))?;
    let quiet = run.with_progress(&crate::progress::Silent);
    let mut of_draws = Vec::with_capacity(n_draws);
    let mut agreements = vec![0u32; clustering.labels.len()];
    for draw in 0..n_draws {
        run.check()?;
        let found = run.checkpointed(
            &format!("stability-{draw}"),
            |kept: &Labels| kept.len() == clustering.labels.len(),
            || {
                let seed = run.seed.wrapping_add((draw as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
                clustered(&drawn(robust, draw, run)?, robust, clustering, params, &quiet.with_seed(seed))
            },
        );
        run.progress.advance(1);
        let labels = match found {
            Ok(labels) => labels,
            // One draw that has no such clustering says nothing about the others.
            Err(
                Error::EigenNotConverged { .. } | Error::TooManyClusters { .. } | Error::Numerical { .. },
            ) => continue,
            Err(error) => return Err(error),
        };
        of_draws.push(ari(&clustering.labels, &labels)?);
        let matched = match_labels(&clustering.labels, &labels)?;
        for ((count, own), other) in agreements.iter_mut().zip(clustering.labels.iter()).zip(&matched) {
            *count += u32::from(own == other);
        }
    }
    let n_counted = of_draws.len();
    let of_nodes: Vec<f64> =
        agreements.iter().map(|&count| f64::from(count) / n_counted.max(1) as f64).collect();
    let mut of_clusters = vec![0.0; clustering.n_clusters()];
    clustering.labels.iter().zip(&of_nodes).for_each(|(&label, share)| of_clusters[label as usize] += share);
    of_clusters.iter_mut().zip(clustering.labels.sizes()).for_each(|(sum, size)| *sum /= size as f64);
    Ok(Stability {
        overall: of_draws.iter().sum::<f64>() / n_counted.max(1) as f64,
        of_nodes,
        of_clusters,
        of_draws,
        n_failed: n_draws - n_counted,
    })
}

/// The graph with the weights of one draw.
fn drawn(robust: &NodeGraph, draw: usize, run: &Run<'_>) -> Result<SparseGraph> {
    let edges = robust.stochastic.edges();
    let draws = Realizations::new(&robust.stochastic, run.seed, Stage::Stability);
    let mut counts = vec![0u8; edges.len()];
    for realization in 0..REALIZATIONS {
        run.check()?;
        let present = draws.draw(draw * REALIZATIONS + realization);
        counts.iter_mut().zip(&present).for_each(|(count, &is_present)| *count += u8::from(is_present));
    }
    let probabilities = robust.stochastic.probabilities();
    let weights: Vec<f64> = edges.map(|edge, i, j| {
        let expected = REALIZATIONS as f64 * probabilities[edge];
        let share = if expected > 0.0 { (f64::from(counts[edge]) / expected).powi(2) } else { 0.0 };
        robust.graph.weight(i as usize, j as usize).unwrap_or(0.0) * share.max(ABSENT)
    });
    let links: Vec<(u32, u32, f64)> = robust.links.iter().map(|link| (link.i, link.j, link.weight)).collect();
    Ok(SparseGraph::from_edges(edges, &weights)?.with_edges(&links))
}

/// A graph clustered as `clustering` was.
fn clustered(
    graph: &SparseGraph,
    robust: &NodeGraph,
    clustering: &Clustering,
    params: &ClusterParams,
    run: &Run<'_>,
) -> Result<Labels> {
    let run = &run.without_checkpoints();
    let n_clusters = clustering.n_clusters();
    match clustering.method {
        ClusterMethod::Agglomerate | ClusterMethod::Auto => {
            let input = ClusterInput { graph, neighbors: Some(&robust.neighbors), constraints: None };
            let cut = best_cut(input, &agglomerate(input, n_clusters, run)?, n_clusters);
            let too_many = Error::TooManyClusters { clusters: n_clusters, distinct: graph.n_nodes() };
            Ok(cut.ok_or(too_many)?.0)
        }
        ClusterMethod::Spectral => {
            let exactly = ClusterParams { n_clusters: Some(n_clusters), ..*params };
            Ok(spectral_clustering(graph, &exactly, run)?.labels)
        }
    }
}
