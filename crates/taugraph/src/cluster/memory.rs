//! The memory of clustering, before it begins.

use super::agglomerate;
use super::{ClusterCount, ClusterMethod, ClusterParams, ComponentPolicy};
use crate::error::Result;
use crate::memory::{MemoryEstimate, refuse_if_over};
use crate::params::GraphParams;
use crate::progress::Run;
use crate::robust::{self, RowSize};
use crate::spectral::{MAX_WITHOUT_NEAR, bytes as bytes_of_eigenpairs, max_bytes as max_bytes_of_eigenpairs};

/// The memory of clustering a graph of `n` nodes at each stage, including the graph.
pub fn memory_estimate(n: usize, n_edges: u64, params: &ClusterParams) -> MemoryEstimate {
    let pairs = match params.count() {
        ClusterCount::Exactly(clusters) => clusters,
        ClusterCount::Automatic { max } => max.saturating_add(1),
    }
    .min(n);
    let solving = bytes_of_eigenpairs(n, pairs);
    let max_solving = max_bytes_of_eigenpairs(n, n_edges, pairs);
    let (n, pairs) = (n as u64, pairs as u64);
    let graph = 24 * n_edges + 40 * n;
    // A disconnected graph is copied with its links.
    let copy = if params.components == ComponentPolicy::Link { graph } else { 0 };
    let embedding = 16 * n * pairs;
    // Each restart in progress has its own distances and labels, and each finished one keeps its labels; with very
    // many points the restarts use a sample.
    let seen = if n > 50_000 { 50_000.max(n / 8) + pairs } else { n };
    let grouping = 24 * seen * rayon::current_num_threads() as u64
        + 4 * seen * params.kmeans.restarts as u64
        + if seen < n { 8 * seen * pairs + 16 * n } else { 0 };
    let merging = match params.method {
        ClusterMethod::Spectral if params.n_clusters.is_some() => 0,
        _ => agglomerate::bytes(n, n_edges),
    };
    // Few nodes are agglomerated at the same time.
    let beside = if n <= MAX_WITHOUT_NEAR as u64 { merging } else { 0 };
    let stages = vec![
        ("agglomeration", graph + copy + merging),
        ("eigenpairs", graph + copy + beside + solving.max(embedding)),
        ("k-means", graph + copy + beside + embedding + grouping),
    ];
    MemoryEstimate { stages, at_most: graph + copy + beside + max_solving }
}

/// The memory of a run from points to clusters at each stage: [`crate::robust::memory_estimate`], then the clustering and
/// what is retained of the graph.
pub fn whole_run_estimate(
    n: usize,
    row: RowSize,
    graph: &GraphParams,
    params: &ClusterParams,
) -> MemoryEstimate {
    let mut estimate = robust::memory_estimate(n, row, graph);
    let (n_edges, held) = robust::held(n, row, graph);
    let clustering = memory_estimate(n, n_edges, params).plus(held);
    estimate.stages.extend(clustering.stages);
    estimate.at_most = clustering.at_most;
    estimate
}

/// Refuses a run from points to clusters that would need more memory than allowed, before it begins.
pub fn refuse_if_too_large(
    n: usize,
    row: RowSize,
    graph: &GraphParams,
    params: &ClusterParams,
    run: &Run<'_>,
) -> Result<()> {
    let estimate = |n: usize| whole_run_estimate(n, row, graph, params);
    refuse_if_over(n, run.memory_limit, estimate, "use fewer neighbors or clusters")
}
