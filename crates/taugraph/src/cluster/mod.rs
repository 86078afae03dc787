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
    /// The number with the largest relative eigengap, from 2 to `max`.
    Automatic {
        /// Maximum number of clusters considered.
        max: usize,
    },
}

choices! {
    /// What to do with a graph that has several connected components.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ComponentPolicy = "link" {
        /// Join them by weak links first (robust graphs are already linked by distance).
        "link" => Link,
        /// Cluster each component on its own: no cluster spans two components.
        "separately" => Separately,
        /// Use the eigenvectors of all components together.
        "joint" => Joint,
        /// Return an error.
        "refuse" => Refuse,
    }
}

parameters! {
    /// Parameters of spectral clustering.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct ClusterParams {
        /// Number of clusters; none chooses it by the eigengap.
        n_clusters: Option<usize> = None, "at least 1" => |count| *count != Some(0);
        /// Maximum number of clusters considered if the number is chosen automatically.
        max_clusters: usize = 15, "at least 2" => |most| *most >= 2;
        /// The Laplacian.
        laplacian: LaplacianKind = LaplacianKind::default();
        /// How the rows of eigenvector entries are normalized.
        row_normalization: RowNormalization = RowNormalization::UnitLength;
        /// The eigensolvers.
        eigen: EigenParams = EigenParams::for_space();
        /// k-means on the embedded points.
        kmeans: KMeansParams = KMeansParams::default();
        /// What to do with a graph that has several connected components.
        components: ComponentPolicy = ComponentPolicy::Link;
        /// Number of random graphs on which the stability of each label is measured; 0 skips the measurement.
        stability: usize = 0, "at most 1048576" => |draws| *draws <= 1 << 20;
    }
}

impl ClusterParams {
    /// The defaults with a fixed number of clusters.
    pub fn exactly(n_clusters: usize) -> Self {
        Self { n_clusters: Some(n_clusters), ..Self::default() }
    }

    /// How many clusters to find.
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
    /// The embedding that was clustered; `None` if components were clustered separately.
    pub embedding: Option<Embedding>,
    /// The smallest eigenvalues with their gaps: as many as clusters, or all considered if the number was chosen automatically.
    pub eigengap: Eigengap,
    /// Components of the given graph.
    pub n_components: usize,
    /// Links added because the graph had several components.
    pub links: Vec<Link>,
}

impl Clustering {
    /// Number of clusters.
    pub fn n_clusters(&self) -> usize {
        self.labels.n_classes()
    }
}

/// Clusters the nodes of a graph by the eigenvectors of its Laplacian's smallest eigenvalues; gives exactly as many clusters as
/// requested, or an error.
pub fn spectral_clustering(graph: &SparseGraph, params: &ClusterParams, run: &Run<'_>) -> Result<Clustering> {
    let n = graph.n_nodes();
    params.check(n)?;
    let n_edges = graph.n_edges() as u64;
    refuse_if_over(n, run.memory_limit, |n| memory_estimate(n, n_edges, params), "request fewer clusters")?;
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
    // One more eigenpair than clusters would show the gap after them, but it lies inside the spectrum and can cost more than
    // all others together: it is only computed if the gaps decide.
    let n_pairs = match params.count() {
        ClusterCount::Exactly(clusters) => clusters,
        // It is pointless to consider fewer clusters than components: their eigenvalues are all 0.
        ClusterCount::Automatic { max } => max.max(n_components).saturating_add(1).min(n),
    };
    if let (ComponentPolicy::Joint, ClusterCount::Exactly(clusters)) = (params.components, params.count())
        && n_components > clusters
    {
        return Err(Error::FewerClustersThanComponents { clusters, components: n_components });
    }
    // Rows are normalized only after the number of columns is known.
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
    let stages = vec![
        ("eigenpairs", graph + copy + solving.max(embedding)),
        ("k-means", graph + copy + embedding + grouping),
    ];
    MemoryEstimate { stages, at_most: graph + copy + max_solving }
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
    let (n_edges, held) = robust::held(n, graph);
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
