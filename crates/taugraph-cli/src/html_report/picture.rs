//! What has to be computed to show a run: positions of the points, the graph at each quantile, the same without quantiles.

use taugraph::cluster::{ClusterCount, ClusterParams, Clustering, spectral_clustering};
use taugraph::distance::Metric;
use taugraph::error::Error;
use taugraph::graph::SparseGraph;
use taugraph::neighbors::Space;
use taugraph::points::{Points, principal_components};
use taugraph::progress::Run;
use taugraph::robust::{NodeGraph, robust_graph};
use taugraph::spectral::{EigenParams, LaplacianKind, RowNormalization, embed};
use taugraph::tsne::tsne_of_graph;
use taugraph_report::{DecayStep, Eigenvalues, Layout};

use super::Subject;
use super::comparison::Comparison;
use crate::failure::Outcome;
use crate::progress::peak_memory;

/// Steps of t-SNE.
const TSNE_STEPS: usize = 400;
/// Up to this many nodes eigenvalues beyond a given number of clusters are looked at.
const MAX_LOOKED_AT: usize = 50_000;
/// Clusters up to which eigenvalues are shown.
const EIGENVALUES: usize = 15;
/// Eigenvectors behind the picture of a graph that was not clustered.
const COORDINATES: usize = 4;

/// What was computed to show it.
pub struct Picture {
    /// The most memory that the run had held before.
    pub memory_before: Option<u64>,
    pub layouts: Vec<Layout>,
    pub decay: Vec<DecayStep>,
    pub eigen: Option<Eigenvalues>,
    pub comparison: Comparison,
}

impl Picture {
    pub fn new(subject: &Subject<'_>, run: &Run<'_>) -> Outcome<Self> {
        // Finished stages of the run itself are not those of its pictures.
        let run = &Run { checkpoints: None, ..*run };
        let memory_before = peak_memory();
        run.stage("report", None)?;
        let layouts = layouts(subject, run)?;
        let decay = subject.report.built.robust().map_or(Vec::new(), |robust| decay(&robust.graph));
        let eigen = subject.clustering().map(|found| eigenvalues(found, subject, run)).transpose()?;
        let comparison = Comparison::new(subject, run)?;
        Ok(Self { memory_before, layouts, decay, eigen, comparison })
    }
}

/// Edges and components of the whole graph at each quantile.
fn decay(graph: &NodeGraph) -> Vec<DecayStep> {
    let of_step = |&(tau, edges): &(f64, usize)| {
        let sizes = graph.stochastic.component_sizes_at(tau);
        DecayStep { tau, edges, components: sizes.len(), largest: sizes.into_iter().max().unwrap_or(0) }
    };
    graph.stochastic.decay().iter().map(of_step).collect()
}

/// Those of the clustering, or, where the number was given, as many as would have been looked at.
fn eigenvalues(clustering: &Clustering, subject: &Subject<'_>, run: &Run<'_>) -> Outcome<Eigenvalues> {
    let (params, graph) = (&subject.report.settings.cluster, subject.report.built.graph());
    let clusters = clustering.n_clusters();
    let most = EIGENVALUES.max(clusters + 1);
    let is_given = matches!(params.clusters, ClusterCount::Exactly(_));
    let (gap, is_looked_at) = if is_given && most < graph.n_nodes() && graph.n_nodes() <= MAX_LOOKED_AT {
        let looked_at = ClusterParams { clusters: ClusterCount::Automatic { max: most }, ..*params };
        (spectral_clustering(graph, &looked_at, run)?.eigengap, true)
    } else {
        (clustering.eigengap.clone(), !is_given)
    };
    Ok(Eigenvalues {
        values: gap.eigenvalues().to_vec(),
        gaps: gap.gaps().to_vec(),
        clusters,
        suggested: is_looked_at.then(|| gap.suggestion()),
    })
}

fn layouts(subject: &Subject<'_>, run: &Run<'_>) -> Outcome<Vec<Layout>> {
    let sample = &subject.sample;
    let duplicates = subject.report.built.duplicates();
    let nodes: Vec<u32> = sample.rows.iter().map(|&row| duplicates.node_of_row()[row as usize]).collect();
    let mut layouts = Vec::new();
    let shown = subject.points.and_then(|points| match &points.space {
        Space::Points(space) => Some((space.points().select(&sample.rows), space.metric())),
        _ => None,
    });
    if let Some((points, _)) = &shown {
        let is_raw = subject.report.settings.preparation().pca.is_none();
        let (name, note, xy) = match points.n_columns() {
            1 if is_raw => ("the column", "", in_the_plane(points, run)?),
            2 if is_raw => ("the two columns", "", points.values().to_vec()),
            _ => {
                let note = "The directions in which the prepared points vary most.";
                ("principal components", note, in_the_plane(points, run)?)
            }
        };
        layouts.push(Layout { name: name.into(), note: note.into(), xy });
    }
    if let Some((xy, is_grouped)) = spectral(&nodes, subject, run)? {
        let note = match is_grouped {
            true => {
                "What k-means groups: the smallest eigenvectors of the graph, seen from where they vary most."
            }
            false => "The four smallest eigenvectors of the graph, seen from where they vary most.",
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

/// Two principal components, or what there is of them.
fn in_the_plane(points: &Points, run: &Run<'_>) -> Outcome<Vec<f64>> {
    let found = 2.min(points.n_columns()).min(points.len());
    let (rotated, _) = principal_components(points, found, run)?;
    let second = |row: &[f64]| row.get(1).copied().unwrap_or(0.0);
    Ok((0..rotated.len()).flat_map(|i| [rotated.row(i)[0], second(rotated.row(i))]).collect())
}

/// The eigenvectors in the plane, and whether they are those of the clustering.
fn spectral(nodes: &[u32], subject: &Subject<'_>, run: &Run<'_>) -> Outcome<Option<(Vec<f64>, bool)>> {
    let graph = subject.report.built.graph();
    let known = subject.clustering().and_then(|clustering| clustering.embedding.as_ref());
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
    let rows = nodes.iter().flat_map(|&node| embedding.row(node as usize)).copied().collect();
    Ok(Some((in_the_plane(&Points::new(rows, embedding.n_columns)?, run)?, is_grouped)))
}

/// t-SNE of the graph; of a sample, of the graph that the sampled points have among themselves.
fn tsne(
    shown: Option<(Points, Metric)>,
    start: Option<&Layout>,
    subject: &Subject<'_>,
    run: &Run<'_>,
) -> Outcome<Option<Vec<f64>>> {
    let (sample, built) = (&subject.sample, subject.report.built);
    let Some(start) = start.filter(|_| built.graph().n_nodes() > COORDINATES) else { return Ok(None) };
    let of_graph = |graph: &SparseGraph, row_of_node: &[u32]| -> Outcome<Vec<[f64; 2]>> {
        let at = |&row: &u32| [start.xy[2 * row as usize], start.xy[2 * row as usize + 1]];
        let start: Vec<f64> = row_of_node.iter().flat_map(at).collect();
        Ok(tsne_of_graph(graph, &start, TSNE_STEPS, run)?.as_chunks::<2>().0.to_vec())
    };
    if sample.is_whole() {
        let duplicates = built.duplicates();
        let of_nodes = of_graph(built.graph(), duplicates.row_of_node())?;
        return Ok(Some(duplicates.restore(&of_nodes).concat()));
    }
    let Some((points, metric)) = shown else { return Ok(None) };
    let space = Space::from_points(points, metric)?;
    let graph = match robust_graph(&space, &subject.report.settings.graph.clone().check()?, run) {
        Err(Error::Canceled) => return Err(Error::Canceled.into()),
        // Parameters that fit all points need not fit some: scales that were given, very many copies of a few.
        Err(_) => return Ok(None),
        Ok(graph) => graph,
    };
    let of_nodes = of_graph(&graph.graph, graph.duplicates.row_of_node())?;
    Ok(Some(graph.duplicates.restore(&of_nodes).concat()))
}
