//! The stages of the library in the order in which a command needs them.

use std::borrow::Cow;

use taugraph::cluster::{self, Clustering, Stability, StabilityParams, spectral_clustering, stability};
use taugraph::error::Error;
use taugraph::graph::SparseGraph;
use taugraph::neighbors::Space;
use taugraph::points::{ColumnModel, Duplicates, PreparationRule, prepare, prepare_sparse};
use taugraph::progress::Run;
use taugraph::robust::{NodeGraph, RowSize, robust_graph};

use crate::dataset::{Body, Dataset, Values, of_points};
use crate::failure::{Failure, Outcome};
use crate::features::{prepared_row, with_advice};
use crate::settings::Settings;

/// A graph and where it comes from.
pub enum Built {
    /// Made from points or distances.
    Robust(Box<Robust>),
    /// Brought by the user.
    Given(SparseGraph),
}

/// A robust graph, and what was done to the points before.
pub struct Robust {
    pub graph: NodeGraph,
    /// `None` for sparse points and for precomputed distances.
    pub preparation: Option<Prepared>,
}

/// What the preparation did, in names of columns.
pub struct Prepared {
    pub kept: Vec<ColumnModel>,
    pub constant: Vec<String>,
    pub empty: Vec<String>,
    pub n_imputed: usize,
    /// Share of the variance that the principal components keep.
    pub pca_share: Option<f64>,
}

impl Built {
    /// The graph over the distinct points.
    pub fn graph(&self) -> &SparseGraph {
        match self {
            Built::Robust(robust) => &robust.graph.graph,
            Built::Given(graph) => graph,
        }
    }

    /// What was found for the nodes, for every row.
    pub fn of_rows<T: Clone>(&self, of_nodes: &[T]) -> Vec<T> {
        match self {
            Built::Robust(robust) => robust.graph.duplicates.restore(of_nodes),
            Built::Given(_) => of_nodes.to_vec(),
        }
    }

    /// Which rows are the same node.
    pub fn duplicates(&self) -> Cow<'_, Duplicates> {
        match self {
            Built::Robust(robust) => Cow::Borrowed(&robust.graph.duplicates),
            Built::Given(graph) => Cow::Owned(Duplicates::none(graph.n_nodes())),
        }
    }

    pub fn robust(&self) -> Option<&Robust> {
        match self {
            Built::Robust(robust) => Some(robust),
            Built::Given(_) => None,
        }
    }
}

/// Refuses a clustering of points that will not fit, before anything is computed.
pub fn refuse_if_too_large(dataset: &Dataset, settings: &Settings, run: &Run<'_>) -> Outcome<()> {
    let row = match &dataset.body {
        Body::Points(_) => prepared_row(dataset.features.len(), settings, dataset.is_on_disk),
        Body::Sparse(points) => RowSize::of_sparse(points),
        // Those that are given already are checked stage by stage.
        Body::Distances(_) | Body::Graph(_) => return Ok(()),
    };
    let refused = cluster::refuse_if_too_large(dataset.n_rows, row, &settings.graph, &settings.cluster, run);
    Ok(refused.map_err(|error| advise(error, dataset, settings))?)
}

/// A refusal for want of memory says if the disk would help.
fn advise(error: Error, dataset: &Dataset, settings: &Settings) -> Error {
    let may_be_on_disk = !dataset.is_on_disk && !dataset.features.is_empty();
    match may_be_on_disk {
        true => with_advice(error, (dataset.n_rows, dataset.features.len()), settings),
        false => error,
    }
}

/// The points of a graph, and how they were prepared: what a model needs beside the graph.
pub struct GraphPoints {
    pub space: Space,
    pub rule: PreparationRule,
}

/// Makes the graph; raw and prepared points are given back to the system on the way. Settles what the settings leave to the
/// input.
pub fn build_graph(dataset: &mut Dataset, settings: &mut Settings, run: &Run<'_>) -> Outcome<Built> {
    Ok(build_graph_and_points(dataset, settings, run)?.0)
}

/// The same, and the prepared points if the dataset has any.
pub fn build_graph_and_points(
    dataset: &mut Dataset,
    settings: &mut Settings,
    run: &Run<'_>,
) -> Outcome<(Built, Option<GraphPoints>)> {
    settings.settle(dataset.sparse.is_some());
    let params = settings.graph.clone().check()?;
    let body = std::mem::replace(&mut dataset.body, Body::Points(Values::Memory(Vec::new())));
    let mut rule = None;
    let (space, preparation) = match body {
        Body::Graph(graph) => return Ok((Built::Given(graph), None)),
        Body::Distances(space) => (space, None),
        Body::Sparse(points) => {
            let points = prepare_sparse(points, &settings.preparation())?;
            let space = Space::from_sparse(points, settings.metric());
            (space.map_err(|error| of_points(error, dataset))?, None)
        }
        Body::Points(values) => {
            let found = prepare(&values, dataset.features.len(), &settings.preparation(), run)
                .map_err(|error| of_points(advise(error, dataset, settings), dataset))?;
            drop(values);
            rule = Some(found.rule());
            let names = |columns: &[usize]| {
                columns.iter().map(|&column| dataset.features[column].clone()).collect::<Vec<_>>()
            };
            let prepared = Prepared {
                constant: names(&found.constant_columns),
                empty: names(&found.empty_columns),
                n_imputed: found.n_imputed(),
                kept: found.columns,
                pca_share: found.pca.as_ref().map(|pca| pca.explained()),
            };
            let space = Space::from_points_with(found.points, settings.metric(), run.scratch)
                .map_err(|error| of_points(error, dataset))?;
            (space, Some(prepared))
        }
    };
    let graph = robust_graph(&space, &params, run).map_err(|error| match preparation {
        Some(_) => advise(error, dataset, settings),
        None => error,
    })?;
    let points = rule.map(|rule| GraphPoints { space, rule });
    Ok((Built::Robust(Box::new(Robust { graph, preparation })), points))
}

/// Clusters the graph and, if asked, measures how stable that is.
pub fn cluster_graph(
    built: &Built,
    settings: &Settings,
    run: &Run<'_>,
) -> Outcome<(Clustering, Option<Stability>)> {
    if settings.stability > 0 && built.robust().is_none() {
        let message = "--stability draws from the probabilities of edges, which a given graph does not have";
        return Err(Failure::Usage(message.into()));
    }
    let clustering = spectral_clustering(built.graph(), &settings.cluster, run)?;
    let stable = match built.robust() {
        Some(robust) if settings.stability > 0 => {
            let params = StabilityParams { draws: settings.stability };
            let graph_params = settings.graph.clone().check()?;
            Some(stability(&robust.graph, &graph_params, &clustering, &settings.cluster, &params, run)?)
        }
        _ => None,
    };
    Ok((clustering, stable))
}
