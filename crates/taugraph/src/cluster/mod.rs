//! Stage 11, cluster: groups of nodes from the spectral embedding, their number, and how stable they are.

mod components;
mod eigengap;
mod kmeans;
mod stability;

pub use eigengap::Eigengap;
pub use kmeans::{KMeans, KMeansParams, kmeans};
pub use stability::{Stability, stability};

use crate::error::{Error, Result};
use crate::graph::SparseGraph;
use crate::labels::Labels;
use crate::links::{Link, link_by_degree};
use crate::memory::{MemoryEstimate, refuse_if_over};
use crate::parameter::{ParameterTree, choices, parameters};
use crate::params::GraphParams;
use crate::progress::Run;
use crate::robust::{self, RowSize};
use crate::spectral::{
    EigenParams, Embedding, Laplacian, LaplacianKind, RowNormalization, bytes as bytes_of_eigenpairs, embed,
    max_bytes as max_bytes_of_eigenpairs,
};

/// How many clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClusterCount {
    /// This many, exactly.
    Exactly(usize),
    /// The one with the largest relative eigengap, from 2 to `max`.
    Automatic {
        /// The most clusters considered.
        max: usize,
    },
}

choices! {
    /// What to do with a graph in several components.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ComponentPolicy = "link" {
        /// Join them by weak links first (graphs of [`crate::robust`] come linked by distance already).
        "link" => Link,
        /// Cluster each component on its own: no cluster spans two components.
        "separately" => Separately,
        /// Take the eigenvectors of all components together.
        "joint" => Joint,
        /// An error.
        "refuse" => Refuse,
    }
}

parameters! {
    /// Parameters of spectral clustering.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct ClusterParams {
        /// Number of clusters; none finds it from the eigenvalues.
        n_clusters: Option<usize> = None, "at least 1" => |count| *count != Some(0);
        /// The most clusters considered where the number is found.
        max_clusters: usize = 15, "at least 2" => |most| *most >= 2;
        /// Which Laplacian.
        laplacian: LaplacianKind = LaplacianKind::default();
        /// What becomes of the eigenvectors' rows.
        row_normalization: RowNormalization = RowNormalization::UnitLength;
        /// The eigensolvers.
        eigen: EigenParams = EigenParams::for_space();
        /// The grouping of the embedded points.
        kmeans: KMeansParams = KMeansParams::default();
        /// What to do with a graph in several connected components.
        components: ComponentPolicy = ComponentPolicy::Link;
        /// Drawn graphs over which the stability of each label is measured; 0 does not measure it.
        stability: usize = 0, "at most 1048576" => |draws| *draws <= 1 << 20;
    }
}

impl ClusterParams {
    /// The defaults with a fixed number of clusters.
    pub fn exactly(n_clusters: usize) -> Self {
        Self { n_clusters: Some(n_clusters), ..Self::default() }
    }

    /// How many clusters are asked for.
    fn count(&self) -> ClusterCount {
        match self.n_clusters {
            Some(clusters) => ClusterCount::Exactly(clusters),
            None => ClusterCount::Automatic { max: self.max_clusters },
        }
    }

    fn check(&self, n: usize) -> Result<()> {
        self.check_ranges("cluster")?;
        match self.n_clusters {
            Some(clusters) if clusters > n => Err(Error::TooManyClusters { clusters, distinct: n }),
            _ => Ok(()),
        }
    }
}

/// A clustering of the nodes of a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Clustering {
    /// Cluster of each node: 0, 1, … in the order of their first nodes; every cluster has a node.
    pub labels: Labels,
    /// The embedding that was grouped; `None` when components were clustered separately.
    pub embedding: Option<Embedding>,
    /// The smallest eigenvalues with their gaps: as many as clusters, or all considered where the number was sought.
    pub eigengap: Eigengap,
    /// Components of the graph as it was given.
    pub n_components: usize,
    /// Links added here because the graph came in components.
    pub links: Vec<Link>,
}

impl Clustering {
    /// Number of clusters.
    pub fn n_clusters(&self) -> usize {
        self.labels.n_classes()
    }
}

/// Clusters the nodes of a graph by its Laplacian's smallest eigenvectors; exactly as many clusters as asked for, or
/// an error.
pub fn spectral_clustering(graph: &SparseGraph, params: &ClusterParams, run: &Run<'_>) -> Result<Clustering> {
    let n = graph.n_nodes();
    params.check(n)?;
    let n_edges = graph.n_edges() as u64;
    refuse_if_over(n, run.memory_limit, |n| memory_estimate(n, n_edges, params), "ask for fewer clusters")?;
    let components = graph.components();
    let n_components = components.len();
    match params.components {
        _ if n_components == 1 => whole(graph, params, run, n_components, Vec::new()),
        ComponentPolicy::Refuse => Err(Error::Disconnected { components: n_components }),
        ComponentPolicy::Link => {
            let (linked, links) = link_by_degree(graph);
            whole(&linked, params, run, n_components, links)
        }
        ComponentPolicy::Joint => whole(graph, params, run, n_components, Vec::new()),
        ComponentPolicy::Separately => components::cluster_separately(graph, components, params, run),
    }
}

fn whole(
    graph: &SparseGraph,
    params: &ClusterParams,
    run: &Run<'_>,
    n_components: usize,
    links: Vec<Link>,
) -> Result<Clustering> {
    let n = graph.n_nodes();
    // One pair more than clusters would show the gap after them, but it lies inside the spectrum and can cost more than
    // all others together: it is only sought where the gaps decide.
    let n_pairs = match params.count() {
        ClusterCount::Exactly(clusters) => clusters,
        // Fewer clusters than components would be considered in vain: their eigenvalues are all alike.
        ClusterCount::Automatic { max } => max.max(n_components).saturating_add(1).min(n),
    };
    if let (ComponentPolicy::Joint, ClusterCount::Exactly(clusters)) = (params.components, params.count())
        && n_components > clusters
    {
        return Err(Error::FewerClustersThanComponents { clusters, components: n_components });
    }
    // Rows are brought to their length only after the number of columns is known.
    let rows = if params.row_normalization == RowNormalization::UnitLength {
        RowNormalization::Plain
    } else {
        params.row_normalization
    };
    let all = run.checkpointed(
        "embedding",
        |kept: &Embedding| (kept.coordinates.len(), kept.n_columns) == (n * n_pairs, n_pairs),
        || embed(graph, params.laplacian, n_pairs, rows, &params.eigen, run),
    )?;
    let bound = Laplacian::new(graph, params.laplacian).norm_bound();
    let eigengap = Eigengap::new(all.eigenvalues.clone(), bound);
    let n_clusters = match params.count() {
        ClusterCount::Exactly(clusters) => clusters,
        ClusterCount::Automatic { .. } => eigengap.suggestion(),
    };
    let embedding = all.truncated(n_clusters, params.row_normalization);
    let labels = run.checkpointed(
        "clusters",
        |kept: &Labels| (kept.len(), kept.n_classes()) == (n, n_clusters),
        || Ok(kmeans(&embedding.coordinates, n_clusters, n_clusters, &params.kmeans, run)?.labels),
    )?;
    Ok(Clustering { labels, embedding: Some(embedding), eigengap, n_components, links })
}

/// What clustering a graph of `n` nodes will hold at each stage, the graph included.
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
    // A graph that comes in components is copied with its links.
    let copy = if params.components == ComponentPolicy::Link { graph } else { 0 };
    let embedding = 16 * n * pairs;
    // Each start that is under way has distances and labels of its own, and every one that is done keeps its labels; of very
    // many points the starts see a sample.
    let seen = if n > 50_000 { 50_000.max(n / 8) + pairs } else { n };
    let grouping = 24 * seen * rayon::current_num_threads() as u64
        + 4 * seen * params.kmeans.restarts as u64
        + if seen < n { 8 * seen * pairs + 16 * n } else { 0 };
    let stages = vec![
        ("eigenpairs", graph + copy + solving.max(embedding)),
        ("k-means", graph + copy + embedding + grouping),
    ];
    MemoryEstimate { stages, at_most: graph + copy + max_solving }
}

/// What a run from points to clusters will hold at each stage: [`crate::robust::memory_estimate`], and the clustering beside
/// what is kept of the graph.
pub fn whole_run_estimate(
    n: usize,
    row: RowSize,
    graph: &GraphParams,
    params: &ClusterParams,
) -> MemoryEstimate {
    let mut estimate = robust::memory_estimate(n, row, graph);
    let (n_edges, held) = robust::held(n, graph);
    let clustering = memory_estimate(n, n_edges, params).plus(held);
    estimate.stages.extend(clustering.stages);
    estimate.at_most = clustering.at_most;
    estimate
}

/// Refuses a run from points to clusters that needs more than the run may use, before it begins.
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
