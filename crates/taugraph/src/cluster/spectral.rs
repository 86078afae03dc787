//! Spectral clustering: k-means on the eigenvectors of the graph's Laplacian.

use super::components::cluster_separately;
use super::eigengap::Eigengap;
use super::kmeans::kmeans;
use super::memory::memory_estimate;
use super::{ClusterCount, ClusterMethod, ClusterParams, Clustering, ComponentPolicy};
use crate::error::{Error, Result};
use crate::graph::SparseGraph;
use crate::labels::Labels;
use crate::links::{Link, link_by_degree};
use crate::memory::refuse_if_over;
use crate::progress::Run;
use crate::spectral::{Embedding, Laplacian, Near, RowNormalization, embed_near};

/// Clusters the nodes of a graph by the eigenvectors of its Laplacian's smallest eigenvalues; gives exactly as many clusters as
/// requested, or an error.
pub fn spectral_clustering(graph: &SparseGraph, params: &ClusterParams, run: &Run<'_>) -> Result<Clustering> {
    spectral_clustering_near(graph, None, params, run)
}

/// The same, given another clustering of the nodes: on very many nodes the search for the eigenvectors starts from it.
pub(super) fn spectral_clustering_near(
    graph: &SparseGraph,
    near: Option<Near<'_>>,
    params: &ClusterParams,
    run: &Run<'_>,
) -> Result<Clustering> {
    let n = graph.n_nodes();
    params.check(n)?;
    refuse_without_edges(graph, params)?;
    let n_edges = graph.n_edges() as u64;
    refuse_if_over(n, run.memory_limit, |n| memory_estimate(n, n_edges, params), "request fewer clusters")?;
    let components = graph.components();
    let n_components = components.len();
    match params.components {
        _ if n_components == 1 => whole(graph, near, params, run, n_components, Vec::new()),
        ComponentPolicy::Refuse => Err(Error::Disconnected { components: n_components }),
        ComponentPolicy::Link => {
            let (linked, links) = link_by_degree(graph);
            whole(&linked, near, params, run, n_components, links)
        }
        ComponentPolicy::Joint => whole(graph, near, params, run, n_components, Vec::new()),
        ComponentPolicy::Separately => cluster_separately(graph, components, params, run),
    }
}

/// Components can be linked or clustered jointly only if there is an edge that shows how strong links are.
pub(super) fn refuse_without_edges(graph: &SparseGraph, params: &ClusterParams) -> Result<()> {
    let needs_edges = matches!(params.components, ComponentPolicy::Link | ComponentPolicy::Joint);
    match graph.n_nodes() {
        nodes if nodes > 1 && graph.n_edges() == 0 && needs_edges => Err(Error::NoEdges { nodes }),
        _ => Ok(()),
    }
}

fn whole(
    graph: &SparseGraph,
    near: Option<Near<'_>>,
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
        || embed_near(graph, params.laplacian, n_pairs, near, rows, &params.eigen, run),
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
    Ok(Clustering {
        embedding: Some(embedding),
        eigengap,
        n_components,
        links,
        ..Clustering::new(labels, ClusterMethod::Spectral)
    })
}
