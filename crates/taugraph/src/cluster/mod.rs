//! Stage 11, cluster: groups of nodes from the spectral embedding, their number, and how stable they are.

mod components;
mod eigengap;
mod kmeans;
mod stability;

pub use eigengap::Eigengap;
pub use kmeans::{KMeans, KMeansParams, kmeans};
pub use stability::{Stability, StabilityParams, stability};

use crate::error::{Error, Result, require};
use crate::graph::{Components, SparseGraph};
use crate::labels::Labels;
use crate::links::{Link, link_by_degree};
use crate::memory::{MemoryEstimate, refuse_if_over};
use crate::params::GraphParams;
use crate::progress::Run;
use crate::robust::{self, RowSize};
use crate::spectral::{
    EigenParams, Embedding, Laplacian, LaplacianKind, RowNormalization, bytes as bytes_of_eigenpairs, embed,
    max_bytes as max_bytes_of_eigenpairs,
};

/// How many clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum ClusterCount {
    /// This many, exactly.
    Exactly(usize),
    /// The one with the largest relative eigengap, from 2 to `most`.
    Automatic {
        /// Most clusters considered.
        max: usize,
    },
}

impl Default for ClusterCount {
    fn default() -> Self {
        ClusterCount::Automatic { max: 15 }
    }
}

/// What to do with a graph in several components.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum ComponentPolicy {
    /// Join them by weak links first (graphs of [`crate::robust`] come linked by distance already).
    #[default]
    Link,
    /// Cluster each component on its own: no cluster spans two components.
    Separately,
    /// Take the eigenvectors of all components together.
    Joint,
    /// An error.
    Refuse,
}

/// Parameters of spectral clustering.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct ClusterParams {
    /// How many clusters.
    pub clusters: ClusterCount,
    /// Which Laplacian.
    pub laplacian: LaplacianKind,
    /// What becomes of the eigenvectors' rows.
    pub rows: RowNormalization,
    /// The eigensolvers.
    pub eigen: EigenParams,
    /// The grouping of the embedded points.
    pub kmeans: KMeansParams,
    /// What to do with a graph in several components.
    pub components: ComponentPolicy,
}

impl Default for ClusterParams {
    fn default() -> Self {
        Self {
            clusters: ClusterCount::default(),
            laplacian: LaplacianKind::default(),
            rows: RowNormalization::default(),
            eigen: EigenParams::for_space(),
            kmeans: KMeansParams::default(),
            components: ComponentPolicy::default(),
        }
    }
}

impl ClusterParams {
    /// The defaults with a fixed number of clusters.
    pub fn exactly(n_clusters: usize) -> Self {
        Self { clusters: ClusterCount::Exactly(n_clusters), ..Self::default() }
    }

    fn check(&self, n: usize) -> Result<()> {
        self.eigen.check()?;
        self.kmeans.check()?;
        match self.clusters {
            ClusterCount::Exactly(0) => require(false, "clusters", 0, "must be at least 1"),
            ClusterCount::Exactly(clusters) if clusters > n => {
                Err(Error::TooManyClusters { clusters, distinct: n })
            }
            ClusterCount::Automatic { max } => require(max >= 2, "most clusters", max, "must be at least 2"),
            ClusterCount::Exactly(_) => Ok(()),
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
    let components = Components::of_graph(graph);
    let n_components = components.len();
    match params.components {
        _ if n_components == 1 => whole(graph, params, run, n_components, Vec::new()),
        ComponentPolicy::Refuse => Err(Error::Disconnected { components: n_components }),
        ComponentPolicy::Link => {
            let (linked, links) = link_by_degree(graph);
            whole(&linked, params, run, n_components, links)
        }
        ComponentPolicy::Joint => whole(graph, params, run, n_components, Vec::new()),
        ComponentPolicy::Separately => components::cluster_separately(graph, &components, params, run),
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
    let n_pairs = match params.clusters {
        ClusterCount::Exactly(clusters) => clusters,
        // Fewer clusters than components would be considered in vain: their eigenvalues are all alike.
        ClusterCount::Automatic { max } => max.max(n_components).saturating_add(1).min(n),
    };
    if let (ComponentPolicy::Joint, ClusterCount::Exactly(clusters)) = (params.components, params.clusters)
        && n_components > clusters
    {
        return Err(Error::FewerClustersThanComponents { clusters, components: n_components });
    }
    // Rows are brought to their length only after the number of columns is known.
    let rows =
        if params.rows == RowNormalization::UnitLength { RowNormalization::Plain } else { params.rows };
    let all = run.checkpointed(
        "embedding",
        |kept: &Embedding| (kept.coordinates.len(), kept.n_columns) == (n * n_pairs, n_pairs),
        || embed(graph, params.laplacian, n_pairs, rows, &params.eigen, run),
    )?;
    let bound = Laplacian::new(graph, params.laplacian).norm_bound();
    let eigengap = Eigengap::new(all.eigenvalues.clone(), bound);
    let n_clusters = match params.clusters {
        ClusterCount::Exactly(clusters) => clusters,
        ClusterCount::Automatic { .. } => eigengap.suggestion(),
    };
    let embedding = all.truncated(n_clusters, params.rows);
    let labels = run.checkpointed(
        "clusters",
        |kept: &Labels| (kept.len(), kept.n_classes()) == (n, n_clusters),
        || Ok(kmeans(&embedding.coordinates, n_clusters, n_clusters, &params.kmeans, run)?.labels),
    )?;
    Ok(Clustering { labels, embedding: Some(embedding), eigengap, n_components, links })
}

/// What clustering a graph of `n` nodes will hold at each stage, the graph included.
pub fn memory_estimate(n: usize, n_edges: u64, params: &ClusterParams) -> MemoryEstimate {
    let pairs = match params.clusters {
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
