//! The stages of the library in the order in which a command needs them.

use taugraph::cluster::{Clustering, Stability, StabilityParams, spectral_clustering, stability};
use taugraph::graph::SparseGraph;
use taugraph::neighbors::Space;
use taugraph::points::{ColumnModel, prepare};
use taugraph::progress::Run;
use taugraph::robust::{RobustGraph, robust_graph};

use crate::dataset::{Body, Dataset, Values, of_points};
use crate::failure::{Failure, Outcome};
use crate::features::with_advice;
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
    pub graph: RobustGraph,
    /// `None` for precomputed distances.
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

    pub fn robust(&self) -> Option<&Robust> {
        match self {
            Built::Robust(robust) => Some(robust),
            Built::Given(_) => None,
        }
    }
}

/// Makes the graph; the raw points are given back to the system on the way.
pub fn build_graph(dataset: &mut Dataset, settings: &Settings, run: &Run<'_>) -> Outcome<Built> {
    let params = settings.graph.clone().check()?;
    let body = std::mem::replace(&mut dataset.body, Body::Points(Values::Memory(Vec::new())));
    let extent = (dataset.n_rows, dataset.features.len());
    let advise = |error| match dataset.is_on_disk {
        true => error,
        false => with_advice(error, extent, settings),
    };
    let (space, preparation) = match body {
        Body::Graph(graph) => return Ok(Built::Given(graph)),
        Body::Distances(space) => (space, None),
        Body::Points(values) => {
            let found = prepare(&values, dataset.features.len(), &settings.preparation, run)
                .map_err(|error| of_points(advise(error), dataset))?;
            drop(values);
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
            let space = Space::from_points_with(found.points, settings.metric, run.scratch)
                .map_err(|error| of_points(error, dataset))?;
            (space, Some(prepared))
        }
    };
    let graph = robust_graph(&space, &params, run).map_err(|error| match preparation {
        Some(_) => advise(error),
        None => error,
    })?;
    Ok(Built::Robust(Box::new(Robust { graph, preparation })))
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
