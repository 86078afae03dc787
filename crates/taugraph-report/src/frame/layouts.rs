//! Positions of the points: columns, principal components, the spectral embedding, t-SNE.

use taugraph::distance::Metric;
use taugraph::graph::SparseGraph;
use taugraph::neighbors::Space;
use taugraph::points::{Points, principal_components};
use taugraph::progress::Run;
use taugraph::robust::robust_graph;
use taugraph::spectral::{EigenParams, LaplacianKind, RowNormalization, embed};
use taugraph::tsne::tsne_of_graph;
use taugraph::{Error, Result};

use super::Layout;
use crate::subject::Subject;

/// Steps of t-SNE.
const TSNE_STEPS: usize = 400;
/// Eigenvectors for the layout of a graph that was not clustered.
const COORDINATES: usize = 4;

/// The first one is shown first.
pub fn layouts(subject: &Subject<'_>, run: &Run<'_>) -> Result<Vec<Layout>> {
    let (sample, graph) = (&subject.sample, subject.graph());
    let mut layouts = Vec::new();
    let shown = graph.robust().and_then(|part| match part.space()? {
        Space::Points(space) => Some((space.points().select(&sample.rows), space.metric())),
        _ => None,
    });
    if let Some((points, _)) = &shown {
        let is_raw = graph.config().preparation.pca.is_none();
        let (name, note, xy) = match points.n_columns() {
            1 if is_raw => ("the column", "", in_the_plane(points, run)?),
            2 if is_raw => ("the two columns", "", points.values().to_vec()),
            _ => {
                let note = "The two directions of largest variance of the prepared points.";
                ("principal components", note, in_the_plane(points, run)?)
            }
        };
        layouts.push(Layout { name: name.into(), note: note.into(), xy });
    }
    if let Some((xy, is_grouped)) = spectral(subject, run)? {
        let note = match is_grouped {
            true => {
                "The coordinates that k-means clustered: the smallest eigenvectors of the graph, projected onto their two directions of largest variance."
            }
            false => {
                "The four smallest eigenvectors of the graph, projected onto their two directions of largest variance."
            }
        };
        layouts.push(Layout { name: "spectral embedding".into(), note: note.into(), xy });
    }
    if let Some(xy) = tsne(shown, layouts.first(), subject, run)? {
        let of = if sample.is_whole() { "the graph" } else { "a graph of the sample alone" };
        let note = format!(
            "t-SNE of {of} keeps neighbors together; sizes of groups and gaps between them mean little."
        );
        layouts.push(Layout { name: "t-SNE".into(), note, xy });
    }
    Ok(layouts)
}

/// Two principal components, or fewer if there are not as many.
fn in_the_plane(points: &Points, run: &Run<'_>) -> Result<Vec<f64>> {
    let found = 2.min(points.n_columns()).min(points.len());
    let (rotated, _) = principal_components(points, found, run)?;
    let second = |i: usize| if found > 1 { rotated.row(i).get(1) } else { 0.0 };
    Ok((0..rotated.len()).flat_map(|i| [rotated.row(i).get(0), second(i)]).collect())
}

/// The eigenvectors in the plane, and whether they are those of the clustering.
fn spectral(subject: &Subject<'_>, run: &Run<'_>) -> Result<Option<(Vec<f64>, bool)>> {
    let graph = subject.graph().node_graph();
    let known = subject.clusters().and_then(|clusters| clusters.clustering().embedding.as_ref());
    let own;
    let (embedding, is_grouped) = match known {
        Some(embedding) if embedding.n_columns > 1 => (embedding, true),
        _ if graph.n_nodes() > COORDINATES => {
            let (kind, rows) = (LaplacianKind::Symmetric, RowNormalization::UnitLength);
            own = embed(graph, kind, COORDINATES, rows, &EigenParams::for_space(), run)?;
            (&own, false)
        }
        _ => return Ok(None),
    };
    let duplicates = subject.graph().duplicates();
    let nodes = subject.sample.of(duplicates.node_of_row());
    let rows = nodes.iter().flat_map(|&node| embedding.row(node as usize)).copied().collect();
    Ok(Some((in_the_plane(&Points::new(rows, embedding.n_columns)?, run)?, is_grouped)))
}

/// t-SNE of the graph; for a sample, of a graph of the sampled points alone.
fn tsne(
    shown: Option<(Points, Metric)>,
    start: Option<&Layout>,
    subject: &Subject<'_>,
    run: &Run<'_>,
) -> Result<Option<Vec<f64>>> {
    let (sample, graph) = (&subject.sample, subject.graph());
    let Some(start) = start.filter(|_| graph.node_graph().n_nodes() > COORDINATES) else { return Ok(None) };
    let of_graph = |graph: &SparseGraph, row_of_node: &[u32]| -> Result<Vec<[f64; 2]>> {
        let at = |&row: &u32| [start.xy[2 * row as usize], start.xy[2 * row as usize + 1]];
        let start: Vec<f64> = row_of_node.iter().flat_map(at).collect();
        Ok(tsne_of_graph(graph, &start, TSNE_STEPS, run)?.as_chunks::<2>().0.to_vec())
    };
    if sample.is_whole() {
        let of_nodes = of_graph(graph.node_graph(), graph.duplicates().row_of_node())?;
        return Ok(Some(graph.per_row(&of_nodes).concat()));
    }
    let (Some((points, metric)), Some(part)) = (shown, graph.robust()) else { return Ok(None) };
    let of_sample = match robust_graph(&Space::from_points(points, metric)?, &part.params, run) {
        Err(Error::Canceled) => return Err(Error::Canceled),
        // Parameters that suit all points need not suit a sample: given scales, very many copies of a few points.
        Err(_) => return Ok(None),
        Ok(graph) => graph,
    };
    let of_nodes = of_graph(&of_sample.graph, of_sample.duplicates.row_of_node())?;
    Ok(Some(of_sample.duplicates.restore(&of_nodes).concat()))
}
