//! Clustering each component of a graph on its own.
//!
//! The eigenvalues of the components together are those of the whole graph, so the smallest ones say how many clusters each
//! component gets: one for its eigenvalue 0, and one more for each further eigenvalue among the smallest.

use super::kmeans::kmeans;
use super::{ClusterCount, ClusterMethod, ClusterParams, Clustering, Eigengap};
use crate::error::{Error, Result};
use crate::graph::{Components, SparseGraph};
use crate::labels::Labels;
use crate::progress::Run;
use crate::spectral::{Embedding, Laplacian, RowNormalization, embed};

pub(super) fn cluster_separately(
    graph: &SparseGraph,
    components: &Components,
    params: &ClusterParams,
    run: &Run<'_>,
) -> Result<Clustering> {
    let n_components = components.len();
    let max = match params.count() {
        ClusterCount::Exactly(clusters) => clusters,
        // There are at least as many clusters as components, whatever the maximum.
        ClusterCount::Automatic { max } => max.max(n_components.saturating_add(1)).min(graph.n_nodes()),
    };
    if max < n_components {
        return Err(Error::FewerClustersThanComponents { clusters: max, components: n_components });
    }
    let members = components.nodes();
    let graphs = graph.split(components);
    let rows = if params.row_normalization == RowNormalization::UnitLength {
        RowNormalization::Plain
    } else {
        params.row_normalization
    };
    // A component can get at most what is left when every other component has one cluster; if the gaps decide, one more
    // eigenvalue shows the last gap.
    let further = match params.count() {
        ClusterCount::Exactly(_) => 1,
        ClusterCount::Automatic { .. } => 2,
    };
    let embeddings: Vec<Embedding> = graphs
        .iter()
        .map(|component| {
            let n_pairs = (max - n_components + further).min(component.n_nodes());
            embed(component, params.laplacian, n_pairs, rows, &params.eigen, run)
        })
        .collect::<Result<_>>()?;
    let mut eigenvalues: Vec<(f64, usize)> = embeddings
        .iter()
        .enumerate()
        .flat_map(|(component, embedding)| embedding.eigenvalues.iter().map(move |&value| (value, component)))
        .collect();
    // Zeros first, in the order of the components: each component gets its first cluster.
    eigenvalues.sort_by(|a, b| a.0.total_cmp(&b.0));
    let smallest: Vec<f64> = eigenvalues.iter().take(max + 1).map(|pair| pair.0).collect();
    let bound = Laplacian::new(graph, params.laplacian).norm_bound();
    let eigengap = Eigengap::new(smallest, bound);
    let n_clusters = match params.count() {
        ClusterCount::Exactly(clusters) => clusters,
        ClusterCount::Automatic { .. } => eigengap.suggestion().max(n_components),
    };
    let mut shares = vec![1usize; n_components];
    let further = embeddings.iter().enumerate().flat_map(|(component, embedding)| {
        embedding.eigenvalues.iter().skip(1).map(move |&value| (value, component))
    });
    let mut further: Vec<(f64, usize)> = further.collect();
    further.sort_by(|a, b| a.0.total_cmp(&b.0));
    if further.len() < n_clusters - n_components {
        return Err(Error::TooManyClusters { clusters: n_clusters, distinct: n_components + further.len() });
    }
    further[..n_clusters - n_components].iter().for_each(|&(_, component)| shares[component] += 1);
    let mut labels = vec![0u32; graph.n_nodes()];
    let mut used = 0u32;
    for ((nodes, embedding), &share) in members.iter().zip(embeddings).zip(&shares) {
        let own = embedding.truncated(share, params.row_normalization);
        let of_component = kmeans(&own.coordinates, share, share, &params.kmeans, run)?.labels;
        nodes.iter().zip(of_component.iter()).for_each(|(&node, label)| labels[node as usize] = used + label);
        used += share as u32;
    }
    let labels = Labels::in_order_of_appearance(labels);
    Ok(Clustering { eigengap, n_components, ..Clustering::new(labels, ClusterMethod::Spectral) })
}
