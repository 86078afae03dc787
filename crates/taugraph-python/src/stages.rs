//! Stages one by one, and consensus clustering.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use taugraph::baselines::{ConsensusParams, consensus_clustering};
use taugraph::neighbors::{NeighborGraph, Space, search_neighbors};
use taugraph::points::prepare;
use taugraph::robust::conditional_quantiles_for;
use taugraph::scale::first_scales;

use crate::arrays::{labels_of, table};
use crate::config::PyConfig;
use crate::errors::checked;
use crate::input::{Values, points_of};
use crate::running::{RunArgs, aside, run};
use crate::values::to_python;

type Quantiles<'py> =
    (Bound<'py, PyArray2<u32>>, Bound<'py, PyArray1<f64>>, Option<Bound<'py, PyArray2<f64>>>);

/// Candidate edges, their similarities and, if the estimator provides them, their conditional quantiles, one column for each τ.
#[pyfunction]
pub fn quantiles<'py>(
    py: Python<'py>,
    points: Values,
    config: PyConfig,
    run_args: RunArgs,
) -> PyResult<Quantiles<'py>> {
    let (points, metric) = (points_of(py, &points)?, config.config.metric_for(false));
    let params_for = |n_points: usize| Ok(config.config.graph_for(n_points)?.0);
    let found = run(py, &run_args, |run| {
        conditional_quantiles_for(&Space::from_points(points, metric)?, &params_for, run)
    })?;
    let rows = found.duplicates.row_of_node();
    let ends = found.edges.iter().flat_map(|(i, j)| [rows[i as usize], rows[j as usize]]).collect();
    let n_taus = found.quantiles.taus.len();
    let reconstructions = found.quantiles.reconstructions;
    let reconstructions = reconstructions.map(|values| table(py, values, n_taus)).transpose()?;
    Ok((table(py, ends, 2)?, found.similarities.into_pyarray(py), reconstructions))
}

type Neighbors<'py> = (Bound<'py, PyArray2<u32>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyAny>);

/// The k nearest neighbors of every point: ids, distances, and how they were found.
#[pyfunction]
pub fn neighbors<'py>(
    py: Python<'py>,
    points: Values,
    k: usize,
    config: PyConfig,
    run_args: RunArgs,
) -> PyResult<Neighbors<'py>> {
    let points = points_of(py, &points)?;
    let (metric, search) = (config.config.metric_for(false), config.config.graph.search);
    let (found, info) =
        run(py, &run_args, |run| search_neighbors(&Space::from_points(points, metric)?, k, &search, run))?;
    let ids = (0..found.len()).flat_map(|i| found.ids(i)).copied().collect();
    let distances = (0..found.len()).flat_map(|i| found.distances(i)).copied().collect();
    let info = to_python(py, &serde_json::to_value(info).expect("it is JSON"))?;
    Ok((table(py, ids, found.k())?, table(py, distances, found.k())?, info))
}

/// First local scales from the neighbors of every point.
#[pyfunction]
pub fn scales_of_neighbors<'py>(
    py: Python<'py>,
    ids: PyReadonlyArray2<'py, u32>,
    distances: PyReadonlyArray2<'py, f64>,
    config: PyConfig,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let graph = &config.config.graph;
    let (n, k) = (ids.shape()[0], ids.shape()[1]);
    let (ids, distances) = (ids.as_slice()?.to_vec(), distances.as_slice()?.to_vec());
    let found = aside(py, || {
        NeighborGraph::new(n, k, ids, distances)
            .and_then(|neighbors| first_scales(&neighbors, &graph.first_scale, graph.scale_floor))
    })?;
    Ok(checked(py, found)?.values().to_vec().into_pyarray(py))
}

/// Consensus clustering: labels, rounds, and whether the number of groups was clear at the end.
#[pyfunction]
pub fn consensus<'py>(
    py: Python<'py>,
    points: Values,
    clusters: Vec<usize>,
    repeats: usize,
    n_clusters: Option<usize>,
    run_args: RunArgs,
) -> PyResult<(Bound<'py, PyArray1<i64>>, usize, bool)> {
    let params = ConsensusParams { clusters, repeats, n_clusters, ..ConsensusParams::default() };
    let preparation = taugraph::Config::default().preparation_for(false);
    let found = points.lend(py, |values, n_columns| {
        run(py, &run_args, |run| {
            let points = prepare(values, n_columns, &preparation, run)?.points;
            consensus_clustering(&points, &params, run)
        })
    })?;
    Ok((labels_of(py, &found.labels), found.rounds, found.is_clear))
}
