//! How stable a clustering is: agreement with the clusterings of drawn graphs.
//!
//! A single realization of the stochastic graph has a fraction of its edges and falls apart. A draw is therefore the mean of
//! several: an edge of probability p is present in B of them, and its weight is multiplied by (B/(m·p))². Every draw has its own seed,
//! so that splits which are arbitrary come out differently each time.

use super::agglomerate::agglomerate;
use super::clustering::best_cut;
use super::{ClusterInput, ClusterMethod, ClusterParams, Clustering, Constraints, spectral_clustering};
use crate::error::{Error, Result, require};
use crate::graph::SparseGraph;
use crate::labels::Labels;
use crate::metrics::{ari, match_labels};
use crate::progress::Run;
use crate::random::{Stage, Stream};
use crate::robust::NodeGraph;

/// Realizations of which a draw is the mean.
const REALIZATIONS: u32 = 10;
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

/// Draws graphs from the edge probabilities, clusters each by the method of `clustering`, under the same constraints, and compares.
pub fn stability(
    robust: &NodeGraph,
    clustering: &Clustering,
    params: &ClusterParams,
    constraints: Option<&Constraints>,
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
                let graph = drawn(robust, seed)?;
                let input = ClusterInput { graph: &graph, neighbors: Some(&robust.neighbors), constraints };
                clustered(input, clustering, params, &quiet.with_seed(seed))
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

/// The graph with the weights of the draw that belongs to a seed.
fn drawn(robust: &NodeGraph, seed: u64) -> Result<SparseGraph> {
    let edges = robust.stochastic.edges();
    let probabilities = robust.stochastic.probabilities();
    let stream = Stream::new(seed, Stage::Stability);
    let weights: Vec<f64> = edges.map(|edge, i, j| {
        let weight = robust.graph.weight(i as usize, j as usize).unwrap_or(0.0);
        let probability = probabilities[edge];
        if probability <= 0.0 || weight == 0.0 {
            return weight * ABSENT;
        }
        let present = n_present(stream.at(i, j).uniform(), probability);
        let share = f64::from(present) / (f64::from(REALIZATIONS) * probability);
        weight * (share * share).max(ABSENT)
    });
    let links: Vec<(u32, u32, f64)> = robust.links.iter().map(|link| (link.i, link.j, link.weight)).collect();
    Ok(SparseGraph::from_edges(edges, &weights)?.with_edges(&links))
}

/// In how many realizations an edge of this probability is present: the quantile of the binomial distribution at a uniform draw.
fn n_present(uniform: f64, probability: f64) -> u32 {
    if probability >= 1.0 {
        return REALIZATIONS;
    }
    let odds = probability / (1.0 - probability);
    let mut chance = (1.0 - probability).powi(REALIZATIONS as i32);
    let mut below = chance;
    let mut present = 0;
    while uniform >= below && present < REALIZATIONS {
        chance *= odds * f64::from(REALIZATIONS - present) / f64::from(present + 1);
        below += chance;
        present += 1;
    }
    present
}

/// A graph clustered as `clustering` was.
fn clustered(
    input: ClusterInput<'_>,
    clustering: &Clustering,
    params: &ClusterParams,
    run: &Run<'_>,
) -> Result<Labels> {
    let run = &run.without_checkpoints();
    let n_clusters = clustering.n_clusters();
    match clustering.method {
        ClusterMethod::Agglomerate | ClusterMethod::Auto => {
            let trees = agglomerate(input, n_clusters, 1, run)?;
            let too_many = Error::TooManyClusters { clusters: n_clusters, distinct: input.graph.n_nodes() };
            let (_, labels, _) = best_cut(input, &trees, n_clusters).ok_or(too_many)?;
            Ok(labels)
        }
        ClusterMethod::Spectral => {
            let exactly = ClusterParams { n_clusters: Some(n_clusters), ..*params };
            Ok(spectral_clustering(input.graph, &exactly, run)?.labels)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_present_as_often_as_the_binomial_distribution_has_it() {
        for probability in [0.0, 0.03, 0.5, 0.9, 1.0] {
            let draws = 10_000;
            let counts: Vec<f64> = (0..draws)
                .map(|t| f64::from(n_present((f64::from(t) + 0.5) / f64::from(draws), probability)))
                .collect();
            let mean = counts.iter().sum::<f64>() / f64::from(draws);
            let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / f64::from(draws);
            assert!((mean - 10.0 * probability).abs() < 1e-2, "{probability}: {mean}");
            let expected = 10.0 * probability * (1.0 - probability);
            assert!((variance - expected).abs() < 2e-2, "{probability}: {variance}");
        }
    }
}
