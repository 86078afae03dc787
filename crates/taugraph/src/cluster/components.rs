//! Clustering each piece of a graph on its own.
//!
//! The pieces' eigenvalues together are those of the whole graph, so the smallest ones say how many clusters each
//! piece gets: one for its eigenvalue 0, and one more for each further eigenvalue among the smallest.

use super::kmeans::kmeans;
use super::{ClusterCount, ClusterParams, Clustering, Eigengap};
use crate::error::{Error, Result};
use crate::graph::{Components, SparseGraph};
use crate::labels::Labels;
use crate::progress::Run;
use crate::spectral::{Embedding, EmbeddingRows, Laplacian, embed};

pub(super) fn cluster_separately(
    graph: &SparseGraph,
    components: &Components,
    params: &ClusterParams,
    run: &Run<'_>,
) -> Result<Clustering> {
    let n_components = components.len();
    let most = match params.clusters {
        ClusterCount::Exactly(clusters) => clusters,
        // There are at least as many clusters as pieces, however few were to be considered.
        ClusterCount::Automatic { most } => most.max(n_components.saturating_add(1)).min(graph.n_nodes()),
    };
    if most < n_components {
        return Err(Error::FewerClustersThanComponents { clusters: most, components: n_components });
    }
    let pieces = components.nodes();
    let graphs = graph.split(components);
    let rows = if params.rows == EmbeddingRows::UnitLength { EmbeddingRows::Plain } else { params.rows };
    // A piece can get at most what is left when every other piece has one; where the gaps decide, one more shows them.
    let further = match params.clusters {
        ClusterCount::Exactly(_) => 1,
        ClusterCount::Automatic { .. } => 2,
    };
    let embeddings: Vec<Embedding> = graphs
        .iter()
        .map(|piece| {
            let n_pairs = (most - n_components + further).min(piece.n_nodes());
            embed(piece, params.laplacian, n_pairs, rows, &params.eigen, run)
        })
        .collect::<Result<_>>()?;
    let mut eigenvalues: Vec<(f64, usize)> = embeddings
        .iter()
        .enumerate()
        .flat_map(|(piece, embedding)| embedding.eigenvalues.iter().map(move |&value| (value, piece)))
        .collect();
    // Zeros first, in the order of the pieces: each piece gets its first cluster.
    eigenvalues.sort_by(|a, b| a.0.total_cmp(&b.0));
    let smallest: Vec<f64> = eigenvalues.iter().take(most + 1).map(|pair| pair.0).collect();
    let bound = Laplacian::new(graph, params.laplacian).norm_bound();
    let eigengap = Eigengap::new(smallest, bound);
    let n_clusters = match params.clusters {
        ClusterCount::Exactly(clusters) => clusters,
        ClusterCount::Automatic { .. } => eigengap.suggestion().max(n_components),
    };
    let mut shares = vec![1usize; n_components];
    let further = embeddings.iter().enumerate().flat_map(|(piece, embedding)| {
        embedding.eigenvalues.iter().skip(1).map(move |&value| (value, piece))
    });
    let mut further: Vec<(f64, usize)> = further.collect();
    further.sort_by(|a, b| a.0.total_cmp(&b.0));
    if further.len() < n_clusters - n_components {
        return Err(Error::TooManyClusters { clusters: n_clusters, distinct: n_components + further.len() });
    }
    further[..n_clusters - n_components].iter().for_each(|&(_, piece)| shares[piece] += 1);
    let mut labels = vec![0u32; graph.n_nodes()];
    let mut used = 0u32;
    for ((nodes, embedding), &share) in pieces.iter().zip(embeddings).zip(&shares) {
        let own = embedding.truncated(share, params.rows);
        let of_piece = kmeans(&own.coordinates, share, share, &params.kmeans, run)?.labels;
        nodes.iter().zip(of_piece.iter()).for_each(|(&node, label)| labels[node as usize] = used + label);
        used += share as u32;
    }
    let labels = Labels::in_order_of_appearance(labels);
    Ok(Clustering { labels, embedding: None, eigengap, n_components, links: Vec::new() })
}
