//! Stages one by one, metrics and generators.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use taugraph::baselines::{
    ConsensusParams, Gamma, NeighborWeights, PathBasedParams, PathWeights, consensus_clustering,
    neighbor_graph, path_based_graph, rbf_graph,
};
use taugraph::cluster::ClusterParams;
use taugraph::distance::Metric;
use taugraph::edges::Symmetrize;
use taugraph::error::Result;
use taugraph::generators::{SpiralDensity, add_noise, circles, moons, pinwheel, two_spirals, uneven_blobs};
use taugraph::metrics;
use taugraph::neighbors::{NeighborGraph, SearchParams, Space, search_neighbors};
use taugraph::params::{GraphParams, Preset};
use taugraph::points::{Points, PreparationParams, prepare};
use taugraph::progress::Run;
use taugraph::propagate::PropagateParams;
use taugraph::quantile::{
    AutoEncoder, Community, Constant, Estimator, Factorization, Identity, Neighborhood, Overlap,
};
use taugraph::robust::conditional_quantiles;
use taugraph::scale::{FirstScale, first_scales};

use crate::arrays::{Csr, csr_of_graph, table};
use crate::errors::{checked, parse};
use crate::running::{RunArgs, aside, run};

/// Bytes that the system could hand out now, where it says so.
#[pyfunction]
pub fn available_memory() -> Option<u64> {
    taugraph::memory::available()
}

/// Every preset with its parameters as JSON.
#[pyfunction]
pub fn presets() -> Vec<(&'static str, String)> {
    let json = |preset: Preset| serde_json::to_string(&preset.params()).expect("parameters are JSON");
    Preset::ALL.into_iter().map(|preset| (preset.name(), json(preset))).collect()
}

/// Every estimator with its usual parameters as JSON.
#[pyfunction]
pub fn estimators() -> Vec<(&'static str, String)> {
    let usual = [
        ("neighborhood", Estimator::Neighborhood(Neighborhood::default())),
        ("auto-encoder", Estimator::AutoEncoder(AutoEncoder::default())),
        ("factorization", Estimator::Factorization(Factorization::default())),
        ("overlap", Estimator::Overlap(Overlap::default())),
        ("community", Estimator::Community(Community::default())),
        ("identity", Estimator::Identity(Identity)),
        ("constant", Estimator::Constant(Constant)),
    ];
    usual.map(|(name, estimator)| (name, serde_json::to_string(&estimator).expect("it is JSON"))).into()
}

type Quantiles<'py> =
    (Bound<'py, PyArray2<u32>>, Bound<'py, PyArray1<f64>>, Option<Bound<'py, PyArray2<f64>>>);

/// Candidate edges, their similarities and, where the estimator gives them, the conditional quantiles of these, one column for each τ.
#[pyfunction]
pub fn quantiles<'py>(
    py: Python<'py>,
    points: PyReadonlyArray2<'py, f64>,
    metric: &str,
    params: &str,
    run_args: RunArgs,
) -> PyResult<Quantiles<'py>> {
    let metric: Metric = parse(py, "metric", metric)?;
    let params: GraphParams = parse(py, "graph", params)?;
    let params = checked(py, params.check())?;
    let points = points_of(py, &points)?;
    let found =
        run(py, &run_args, |run| conditional_quantiles(&Space::from_points(points, metric)?, &params, run))?;
    let rows = found.duplicates.row_of_node();
    let ends = found.edges.iter().flat_map(|(i, j)| [rows[i as usize], rows[j as usize]]).collect();
    let n_taus = found.quantiles.taus.len();
    let reconstructions = found.quantiles.reconstructions;
    let reconstructions = reconstructions.map(|values| table(py, values, n_taus)).transpose()?;
    Ok((table(py, ends, 2)?, found.similarities.into_pyarray(py), reconstructions))
}

/// Parameters of preparation, clustering and propagation that are used if none are given, as JSON.
#[pyfunction]
pub fn defaults() -> (String, String, String) {
    (
        serde_json::to_string(&PreparationParams::default()).expect("parameters are JSON"),
        serde_json::to_string(&ClusterParams::default()).expect("parameters are JSON"),
        serde_json::to_string(&PropagateParams::default()).expect("parameters are JSON"),
    )
}

type Neighbors<'py> = (Bound<'py, PyArray2<u32>>, Bound<'py, PyArray2<f64>>, String);

/// The k nearest neighbors of every point: ids, distances, and how they were found.
#[pyfunction]
pub fn neighbors<'py>(
    py: Python<'py>,
    points: PyReadonlyArray2<'py, f64>,
    k: usize,
    metric: &str,
    search: &str,
    run_args: RunArgs,
) -> PyResult<Neighbors<'py>> {
    let (metric, search): (Metric, SearchParams) =
        (parse(py, "metric", metric)?, parse(py, "search", search)?);
    let points = points_of(py, &points)?;
    let (found, info) =
        run(py, &run_args, |run| search_neighbors(&Space::from_points(points, metric)?, k, &search, run))?;
    let ids = (0..found.len()).flat_map(|i| found.ids(i)).copied().collect();
    let distances = (0..found.len()).flat_map(|i| found.distances(i)).copied().collect();
    let info = serde_json::to_string(&info).expect("it is JSON");
    Ok((table(py, ids, found.k())?, table(py, distances, found.k())?, info))
}

/// First local scales from the neighbors of every point.
#[pyfunction]
pub fn scales_of_neighbors<'py>(
    py: Python<'py>,
    ids: PyReadonlyArray2<'py, u32>,
    distances: PyReadonlyArray2<'py, f64>,
    first_scale: &str,
    floor: f64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let first_scale: FirstScale = parse(py, "first_scale", first_scale)?;
    let (n, k) = (ids.shape()[0], ids.shape()[1]);
    let (ids, distances) = (ids.as_slice()?.to_vec(), distances.as_slice()?.to_vec());
    let found = aside(py, || {
        NeighborGraph::new(n, k, ids, distances)
            .and_then(|neighbors| first_scales(&neighbors, &first_scale, floor))
    })?;
    Ok(checked(py, found)?.values().to_vec().into_pyarray(py))
}

fn points_of(py: Python<'_>, points: &PyReadonlyArray2<'_, f64>) -> PyResult<Points> {
    checked(py, Points::new(points.as_slice()?.to_vec(), points.shape()[1]))
}

/// Points prepared as those of the robust graph are.
fn prepared(values: &[f64], n_columns: usize, params: &PreparationParams, run: &Run<'_>) -> Result<Points> {
    run.stage("prepare", None)?;
    Ok(prepare(values, n_columns, params, run)?.points)
}

/// A baseline's graph over the distinct points, and the distinct point of each row.
#[pyfunction]
pub fn baseline_graph<'py>(
    py: Python<'py>,
    points: PyReadonlyArray2<'py, f64>,
    preparation: &str,
    metric: &str,
    kind: &str,
    k: usize,
    run_args: RunArgs,
) -> PyResult<(Csr<'py>, Bound<'py, PyArray1<u32>>)> {
    let (metric, preparation): (Metric, PreparationParams) =
        (parse(py, "metric", metric)?, parse(py, "preparation", preparation)?);
    let (values, n_columns) = (points.as_slice()?, points.shape()[1]);
    let found = run(py, &run_args, |run| {
        let space = Space::from_points(prepared(values, n_columns, &preparation, run)?, metric)?;
        let path_based = |weights| PathBasedParams { weights, neighbors: k, ..PathBasedParams::default() };
        match kind {
            "nearest-neighbors" => neighbor_graph(&space, k, Symmetrize::Union, NeighborWeights::One, run),
            "mutual-neighbors" => neighbor_graph(&space, k, Symmetrize::Mutual, NeighborWeights::One, run),
            "rbf" => rbf_graph(&space, Gamma::default(), run),
            "path-based" => path_based_graph(&space, &path_based(PathWeights::Plain), run),
            _ => path_based_graph(&space, &path_based(PathWeights::Robust), run),
        }
    })?;
    let nodes = found.duplicates.node_of_row().to_vec().into_pyarray(py);
    Ok((csr_of_graph(py, &found.graph), nodes))
}

/// Consensus clustering: labels, rounds, and whether the end was clear.
#[pyfunction]
pub fn consensus<'py>(
    py: Python<'py>,
    points: PyReadonlyArray2<'py, f64>,
    clusters: Vec<usize>,
    repeats: usize,
    n_clusters: Option<usize>,
    run_args: RunArgs,
) -> PyResult<(Bound<'py, PyArray1<i64>>, usize, bool)> {
    let (values, n_columns) = (points.as_slice()?, points.shape()[1]);
    let params = ConsensusParams { clusters, repeats, n_clusters, ..ConsensusParams::default() };
    let found = run(py, &run_args, |run| {
        let points = prepared(values, n_columns, &PreparationParams::default(), run)?;
        consensus_clustering(&points, &params, run)
    })?;
    let labels: Vec<i64> = found.labels.iter().map(|&label| i64::from(label)).collect();
    Ok((labels.into_pyarray(py), found.rounds, found.is_clear))
}

/// A metric by its name, of two lists of classes counted from 0.
#[pyfunction]
pub fn score(
    py: Python<'_>,
    name: &str,
    truth: PyReadonlyArray1<'_, u32>,
    found: PyReadonlyArray1<'_, u32>,
) -> PyResult<f64> {
    let (truth, found) = (truth.as_slice()?, found.as_slice()?);
    checked(
        py,
        match name {
            "nmi" => metrics::nmi(truth, found),
            "ari" => metrics::ari(truth, found),
            "ami" => metrics::ami(truth, found),
            "matched_accuracy" => metrics::matched_accuracy(truth, found),
            "balanced_accuracy" => metrics::balanced_accuracy(truth, found),
            _ => metrics::accuracy(truth, found),
        },
    )
}

/// Points of a shape and their classes, `share` of them disturbed by `noise`.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn generate<'py>(
    py: Python<'py>,
    shape: &str,
    n: usize,
    density: &str,
    n_columns: usize,
    n_blobs: u32,
    inner: f64,
    noise: f64,
    share: f64,
    seed: u64,
) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<i64>>)> {
    let density = match density {
        "even-length" => SpiralDensity::EvenLength,
        _ => SpiralDensity::UniformAngle,
    };
    let made = match shape {
        "spirals" => two_spirals(n, density, seed),
        "pinwheel" => pinwheel(n, seed),
        "moons" => moons(n, 0.0, seed),
        "circles" => circles(n, inner, 0.0, seed),
        _ => uneven_blobs(n, n_columns, n_blobs, seed),
    };
    let data = checked(py, made.and_then(|data| add_noise(&data, noise, share, seed)))?;
    let points = table(py, data.points.values().to_vec(), data.points.n_columns())?;
    let labels: Vec<i64> = data.labels.iter().map(|&label| i64::from(label)).collect();
    Ok((points, labels.into_pyarray(py)))
}
