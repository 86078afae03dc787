//! Agglomeration on a weighted graph: micro-communities, merged by average linkage.
//!
//! Two orders of merging, on the same micro-communities: by linkage alone, for a given number of clusters; and with vetoes, where
//! boundaries that resist wait ([`resistance`](self::resistance)), for an unknown number. The time is that of the Louvain method, a
//! few sweeps over the edges; all that follows depends on the number of micro-communities only.

mod coarse;
mod density;
mod members;
mod merging;
mod micro;
mod refine;
mod resistance;
mod tree;

pub(crate) use coarse::{Boundary, Group, GroupRow, group_rows};
pub(crate) use density::{LocalDensity, SMOOTHINGS, smoothed, unsmoothed_density};
pub(crate) use micro::micro_communities;
pub(crate) use refine::{move_nodes, refine};
pub use tree::{Level, Merge, MergeTree};

use rayon::prelude::*;

use self::coarse::CoarseGraph;
use self::merging::{Veto, merge_all};
use super::ClusterInput;
use crate::error::Result;
use crate::graph::SparseGraph;
use crate::labels::Labels;
use crate::progress::Run;

/// Boundaries of a lower resistance never wait.
pub(super) const LOWEST_THRESHOLD: f64 = 1.5;

/// Both merge trees of a graph.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Agglomeration {
    /// Merged by linkage alone.
    pub by_linkage: MergeTree,
    /// Merged with vetoes.
    pub by_resistance: MergeTree,
}

/// Agglomerates the nodes of a graph `n_times`, from other micro-communities each time: at least three times as many as `n_clusters`.
/// The distances to the neighbors tell densities; without them only conductances count.
pub(super) fn agglomerate(
    ClusterInput { graph, neighbors, constraints }: ClusterInput<'_>,
    n_clusters: usize,
    n_times: usize,
    run: &Run<'_>,
) -> Result<Vec<Agglomeration>> {
    run.stage("micro-communities", None)?;
    let density = neighbors.map(|neighbors| LocalDensity::new(neighbors, graph));
    let communities = |time: usize| micro_communities(graph, n_clusters, time as u32, run);
    let fits = |kept: &Labels| kept.len() == graph.n_nodes();
    let communities: Vec<Labels> = match n_times {
        // Once only if it takes long.
        1 => vec![run.checkpointed("micro-communities", fits, || communities(0))?],
        _ => (0..n_times).into_par_iter().map(communities).collect::<Result<_>>()?,
    };
    run.stage("merging", None)?;
    let merged = |micro: Labels| {
        run.check()?;
        let (micro, apart) = match constraints {
            Some(constraints) => constraints.separated(&micro)?,
            None => (micro, Vec::new()),
        };
        let coarse = CoarseGraph::new(graph, &micro, density.as_ref());
        merge_both(&coarse, &micro, &apart, run)
    };
    communities.into_par_iter().map(merged).collect()
}

/// Both merge trees of groups that `micro` gives to the nodes.
fn merge_both(
    coarse: &CoarseGraph,
    micro: &Labels,
    apart: &[(u32, u32)],
    run: &Run<'_>,
) -> Result<Agglomeration> {
    let tree = |veto| -> Result<MergeTree> {
        Ok(MergeTree { micro_communities: micro.clone(), merges: merge_all(coarse, apart, veto, run)? })
    };
    let (by_linkage, by_resistance) = rayon::join(|| tree(Veto::Never), || tree(Veto::ByResistance));
    Ok(Agglomeration { by_linkage: by_linkage?, by_resistance: by_resistance? })
}

/// Both merge trees of micro-communities given by their rows, each of which takes the place of a node.
pub(crate) fn merge_rows(rows: Vec<GroupRow>, run: &Run<'_>) -> Result<Agglomeration> {
    let micro = Labels::new((0..rows.len() as u32).collect(), rows.len())?;
    merge_both(&CoarseGraph::of_rows(rows), &micro, &[], run)
}

/// Nested partitions of a graph by linkage alone: into as many groups as each of `sizes`, as far as the merge tree has so many, and into
/// the micro-communities.
pub(crate) fn linkage_partitions(graph: &SparseGraph, sizes: &[usize], run: &Run<'_>) -> Result<Vec<Labels>> {
    run.stage("micro-communities", None)?;
    let largest = sizes.iter().copied().max().unwrap_or(1);
    let micro = micro_communities(graph, largest.div_ceil(micro::PER_CLUSTER), 0, run)?;
    let coarse = CoarseGraph::new(graph, &micro, None);
    let merges = merge_all(&coarse, &[], Veto::Never, run)?;
    let tree = MergeTree { micro_communities: micro, merges };
    let n_micro = tree.micro_communities.n_classes();
    let cut = |&size: &usize| tree.cut(size.max(tree.min_groups()).min(n_micro));
    let mut partitions: Vec<Labels> = sizes.iter().filter_map(cut).collect();
    partitions.push(tree.micro_communities);
    Ok(partitions)
}

/// Bytes of an agglomeration at its peak: the levels of the Louvain method, the first of which is a copy of the graph, and again copies
/// in the order of the visits, for two resolutions.
pub(crate) fn bytes(n: u64, n_edges: u64) -> u64 {
    3 * 24 * n_edges + 24 * n_edges / 2 + 128 * n
}
