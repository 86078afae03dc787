//! The clustering of a graph: by the method that suits it, with the number of clusters given or found.

use rayon::prelude::*;

use super::agglomerate::{Agglomeration, MergeTree, agglomerate, refine};
use super::choice::{CutQuality, MethodChoice};
use super::constraints::Constraints;
use super::count::{CountByBoundaries, Layer, layers};
use super::eigengap::Eigengap;
use super::spectral::{refuse_without_edges, spectral_clustering, spectral_clustering_near};
use super::{ClusterMethod, ClusterParams, ComponentPolicy, CountRule};
use crate::error::{Error, Result, require};
use crate::graph::SparseGraph;
use crate::labels::Labels;
use crate::links::{Link, link_by_degree};
use crate::neighbors::NeighborGraph;
use crate::progress::Run;
use crate::robust::NodeGraph;
use crate::spectral::{Embedding, MAX_WITHOUT_NEAR, Near};

/// With more clusters eigenvectors cost more than they add: `auto` agglomerates.
pub const MAX_SPECTRAL: usize = 50;
/// Micro-communities depend on chance, and with them what is merged: the graph is agglomerated so often; mean resistances and the best
/// cut count,
const TIMES: usize = 5;
/// but for graphs of more nodes than this: theirs vary less, and take longer.
const MANY_NODES: usize = 100_000;
/// Normalized cuts are about the same up to this factor.
const ABOUT: f64 = 1.1;

/// Eigenpairs of which some did not converge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unconverged {
    /// Pairs within the tolerance.
    pub converged: usize,
    /// Pairs that were sought.
    pub wanted: usize,
}

/// A clustering of the nodes of a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Clustering {
    /// Cluster of each node: 0, 1, … in the order of their first nodes; every cluster has a node.
    pub labels: Labels,
    /// The method that the labels come from: spectral or agglomerate.
    pub method: ClusterMethod,
    /// What the choice between both methods was based on; `None` if only one ran.
    pub choice: Option<MethodChoice>,
    /// How the boundaries of the merge tree determined the number of clusters; `None` if it was given, or found by the eigengap.
    pub count: Option<CountByBoundaries>,
    /// The merge tree; `None` if nothing was agglomerated.
    pub tree: Option<MergeTree>,
    /// Nested answers from coarse to fine; empty if there is no evidence for more than one group, or nothing was agglomerated.
    pub layers: Vec<Layer>,
    /// Eigenpairs that did not converge, so that only the other method has an answer.
    pub unconverged: Option<Unconverged>,
    /// The embedding that was clustered; `None` without eigenvectors, or if components were clustered separately.
    pub embedding: Option<Embedding>,
    /// The smallest eigenvalues with their gaps: as many as clusters, or all considered if they determined the number; none if
    /// there were no eigenvectors.
    pub eigengap: Eigengap,
    /// Components of the given graph.
    pub n_components: usize,
    /// Links added because the graph had several components.
    pub links: Vec<Link>,
}

impl Clustering {
    /// Labels, and nothing else known.
    pub(super) fn new(labels: Labels, method: ClusterMethod) -> Self {
        Self {
            labels,
            method,
            choice: None,
            unconverged: None,
            count: None,
            tree: None,
            layers: Vec::new(),
            embedding: None,
            eigengap: Eigengap::none(),
            n_components: 1,
            links: Vec::new(),
        }
    }

    /// Number of clusters.
    pub fn n_clusters(&self) -> usize {
        self.labels.n_classes()
    }
}

/// What is clustered.
#[derive(Debug, Clone, Copy)]
pub struct ClusterInput<'a> {
    /// The graph.
    pub graph: &'a SparseGraph,
    /// The distances to the neighbors of each node, if they are known: they help to find the number of clusters.
    pub neighbors: Option<&'a NeighborGraph>,
    /// Pairs that must or must not share a cluster.
    pub constraints: Option<&'a Constraints>,
}

impl<'a> From<&'a SparseGraph> for ClusterInput<'a> {
    fn from(graph: &'a SparseGraph) -> Self {
        Self { graph, neighbors: None, constraints: None }
    }
}

impl<'a> From<&'a NodeGraph> for ClusterInput<'a> {
    fn from(robust: &'a NodeGraph) -> Self {
        Self { graph: &robust.graph, neighbors: Some(&robust.neighbors), constraints: None }
    }
}

/// Clusters the nodes of a graph; gives exactly as many clusters as requested, or an error.
pub fn cluster<'a>(
    input: impl Into<ClusterInput<'a>>,
    params: &ClusterParams,
    run: &Run<'_>,
) -> Result<Clustering> {
    let input = input.into();
    let graph = input.graph;
    let n = graph.n_nodes();
    params.check(n)?;
    refuse_without_edges(graph, params)?;
    if input.constraints.is_some_and(|constraints| !constraints.is_empty()) {
        let rule = "must be agglomerate or auto if pairs of rows must or must not share a cluster";
        require(params.method != ClusterMethod::Spectral, "cluster.method", "spectral", rule)?;
        // Eigenvectors know nothing of pairs.
        if params.method == ClusterMethod::Auto || params.count == CountRule::Eigengap {
            let method = ClusterMethod::Agglomerate;
            return cluster(input, &ClusterParams { method, count: CountRule::Boundaries, ..*params }, run);
        }
    }
    let finds_number = params.n_clusters.is_none();
    if params.method == ClusterMethod::Spectral && !(finds_number && params.count == CountRule::Boundaries) {
        return spectral_clustering(graph, params, run);
    }
    if finds_number && params.count == CountRule::Eigengap {
        let by_eigengap = spectral_clustering(graph, params, &run.without_checkpoints())?.n_clusters();
        return cluster(input, &ClusterParams { n_clusters: Some(by_eigengap), ..*params }, run);
    }
    let n_components = graph.components().len();
    let (linked, links) = match params.components {
        ComponentPolicy::Refuse if n_components > 1 => {
            return Err(Error::Disconnected { components: n_components });
        }
        ComponentPolicy::Link if n_components > 1 => {
            let (linked, links) = link_by_degree(graph);
            (Some(linked), links)
        }
        _ => (None, Vec::new()),
    };
    let connected = linked.as_ref().unwrap_or(graph);
    let connected_input = ClusterInput { graph: connected, ..input };
    let n_times = if n > MANY_NODES { 1 } else { TIMES };
    let agglomerated = || agglomerate(connected_input, params.n_clusters.unwrap_or(1), n_times, run);
    let takes_both =
        |n_clusters| params.method == ClusterMethod::Auto && (2..=MAX_SPECTRAL).contains(&n_clusters);
    // Parallel loops over few nodes are short, so both methods run side by side. Two stages at a time cannot be told apart.
    let (trees, mut of_eigenvectors) = if n <= MAX_WITHOUT_NEAR && params.n_clusters.is_some_and(takes_both) {
        let spectral = || run.quietly(|run| spectral_clustering_near(graph, None, params, run));
        let (trees, spectral) = rayon::join(agglomerated, spectral);
        (trees?, Some(spectral))
    } else {
        (agglomerated()?, None)
    };
    let (n_clusters, count) = match params.n_clusters {
        Some(given) => (given, None),
        None => {
            let by_resistance: Vec<&MergeTree> = trees.iter().map(|trees| &trees.by_resistance).collect();
            let found = CountByBoundaries::new(&by_resistance);
            let most = params.max_clusters.unwrap_or(n).min(n);
            (found.n_clusters.clamp(params.min_clusters.unwrap_or(1).min(most), most), Some(found))
        }
    };
    let least = trees[0].by_linkage.min_groups();
    if n_clusters < least {
        let apart = input.constraints.and_then(|constraints| constraints.cannot_link.first());
        return Err(match apart {
            Some(&(i, j)) => {
                let rule = "rows that must not share a cluster leave more clusters than requested; the pair is the first of them";
                Error::BadConstraint { i, j, rule }
            }
            None => Error::FewerClustersThanComponents { clusters: n_clusters, components: least },
        });
    }
    let agglomerated = best_cut(connected_input, &trees, n_clusters);
    let chosen = agglomerated.as_ref().map_or(0, |(index, ..)| *index);
    let tree = trees.into_iter().nth(chosen).expect("at least one agglomeration").by_resistance;
    let agglomerated = agglomerated
        .filter(|_| params.method != ClusterMethod::Spectral)
        .map(|(_, labels, quality)| (labels, quality));
    let mut by_eigenvectors = |other: Option<&Labels>| {
        if let Some(found) = of_eigenvectors.take() {
            return found;
        }
        let regions = other.map(|_| tree.regions());
        let near = other.zip(regions.as_deref()).map(|(groups, regions)| Near { groups, regions });
        let exactly = ClusterParams { n_clusters: Some(n_clusters), ..*params };
        spectral_clustering_near(graph, near, &exactly, run)
    };
    let found = match agglomerated {
        // A tree may have too few micro-communities for so many clusters.
        None => by_eigenvectors(None)?,
        Some((labels, quality)) => match params.method {
            _ if takes_both(n_clusters) => match by_eigenvectors(Some(&labels)) {
                // After so much work one of two answers is better than none.
                Err(Error::EigenNotConverged { converged, wanted, .. }) => Clustering {
                    unconverged: Some(Unconverged { converged, wanted }),
                    ..Clustering::new(labels, ClusterMethod::Agglomerate)
                },
                found => {
                    let spectral = found?;
                    let of_spectral = CutQuality::new(connected, &spectral.labels);
                    let choice = MethodChoice { agglomerated: quality, spectral: of_spectral };
                    let method = ClusterMethod::Agglomerate;
                    let found = match choice.prefers_agglomeration() {
                        true => Clustering { labels, method, embedding: None, ..spectral },
                        false => spectral,
                    };
                    Clustering { choice: Some(choice), ..found }
                }
            },
            _ => Clustering::new(labels, ClusterMethod::Agglomerate),
        },
    };
    let is_answer =
        |count: &&CountByBoundaries| count.n_clusters == n_clusters && count.resistance.is_finite();
    let resistance = count.as_ref().filter(is_answer).map(|count| count.resistance);
    let layers = layers(&tree, n_clusters, resistance);
    Ok(Clustering { count, tree: Some(tree), layers, n_components, links, ..found })
}

/// The best of the cuts of all trees into so many clusters, with the index of its agglomeration; `None` if none has one. Of those with
/// about the smallest normalized cut the one with the largest modularity: either alone goes astray, the first with two overlapping
/// groups, the second with groups of very different sizes.
pub(super) fn best_cut(
    ClusterInput { graph, constraints, .. }: ClusterInput<'_>,
    trees: &[Agglomeration],
    n_clusters: usize,
) -> Option<(usize, Labels, CutQuality)> {
    let is_named = constraints.map(|constraints| constraints.named(graph.n_nodes()));
    let is_fixed = |node: usize| is_named.as_ref().is_some_and(|named| named[node]);
    let all: Vec<(usize, &MergeTree)> = trees
        .iter()
        .enumerate()
        .flat_map(|(index, trees)| [(index, &trees.by_resistance), (index, &trees.by_linkage)])
        .collect();
    let cut = |(index, tree): (usize, &MergeTree)| {
        let labels = refine(graph, &tree.cut(n_clusters)?, is_fixed);
        let quality = CutQuality::new(graph, &labels);
        Some((index, labels, quality))
    };
    let cuts: Vec<(usize, Labels, CutQuality)> = all.into_par_iter().filter_map(cut).collect();
    let qualities: Vec<CutQuality> = cuts.iter().map(|(_, _, quality)| *quality).collect();
    cuts.into_iter().nth(best_of(&qualities)?)
}

/// The best of several cuts into as many clusters; `None` if there is none.
pub(crate) fn best_of(cuts: &[CutQuality]) -> Option<usize> {
    let least = cuts.iter().map(|quality| quality.normalized_cut).fold(f64::INFINITY, f64::min);
    // Backwards, because the last of equals is the maximum.
    let near = (0..cuts.len()).rev().filter(|&index| cuts[index].normalized_cut <= ABOUT * least);
    near.max_by(|&a, &b| cuts[a].modularity.total_cmp(&cuts[b].modularity))
}
