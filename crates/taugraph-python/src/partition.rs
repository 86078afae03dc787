//! What one machine contributes to a table that is spread over many: the arithmetic behind `taugraph.distributed`.
//!
//! Arrays are row-major and of the types below; the Python package ensures that.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use taugraph::edges::Symmetrize;
use taugraph::error::Error;
use taugraph::params::CandidatePairs;
use taugraph::partition::{
    self, CellSearch, Cells, Frame, IncidentEdges, Probes, ReverseNeighbor, prepared_space,
};
use taugraph::points::{BLOCK, ColumnModel, Moments, PreparationRule};
use taugraph::quantile::{Estimator, Neighborhood};

use crate::arrays::table;
use crate::config::PyConfig;
use crate::errors::{checked, exception};
use crate::input::{Values, points_of};
use crate::running::{RunArgs, aside, run};

type Ids<'py> = PyReadonlyArray1<'py, u32>;
type Numbers<'py> = PyReadonlyArray1<'py, f64>;
type Offsets<'py> = PyReadonlyArray1<'py, u64>;
type Array<'py, T> = Bound<'py, PyArray1<T>>;

/// Rows of a block, whose moments are joined in the order of the rows.
#[pyfunction]
pub fn block_rows() -> usize {
    BLOCK
}

/// Moments of the columns of one block of rows: a row of six numbers for each column.
#[pyfunction]
pub fn block_moments<'py>(py: Python<'py>, values: Values) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let moments = values.lend(py, |values, n_columns| {
        if let Some(place) = (0..values.len()).find(|&place| values.get(place).is_infinite()) {
            let (row, column) = (place / n_columns, place % n_columns);
            return Err(exception(py, &Error::NotFinite { row, column, value: values.get(place) }));
        }
        aside(py, || {
            let of_column = |column: usize| {
                let cells = (column..values.len()).step_by(n_columns).map(|place| values.get(place));
                to_row(Moments::of(cells.filter(|cell| !cell.is_nan())))
            };
            (0..n_columns).flat_map(of_column).collect::<Vec<f64>>()
        })
    })?;
    table(py, moments, 6)
}

/// Moments of blocks, one after the other, joined.
#[pyfunction]
pub fn joined_moments<'py>(
    py: Python<'py>,
    first: PyReadonlyArray2<'py, f64>,
    next: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let rows = first.as_slice()?.chunks_exact(6).zip(next.as_slice()?.chunks_exact(6));
    table(py, rows.flat_map(|(first, next)| to_row(of_row(first).joined(of_row(next)))).collect(), 6)
}

fn to_row(of: Moments) -> [f64; 6] {
    [of.count as f64, of.least, of.most, of.mean, of.squares, of.unit]
}

fn of_row(row: &[f64]) -> Moments {
    Moments { count: row[0] as u64, least: row[1], most: row[2], mean: row[3], squares: row[4], unit: row[5] }
}

/// How a column with these moments is filled and scaled: its number, fill, center and scale. The quantiles are the quartiles and the median of the
/// cells that are not missing, where they are needed.
#[pyfunction]
pub fn column_model<'py>(
    py: Python<'py>,
    column: usize,
    moments: Numbers<'py>,
    n_missing: usize,
    quartiles: [f64; 3],
    config: PyConfig,
) -> PyResult<Array<'py, f64>> {
    let standardize = config.config.preparation_for(false).standardize;
    let quantile = |share: f64| quartiles[(4.0 * share) as usize - 1];
    let model =
        partition::column_model(column, of_row(moments.as_slice()?), n_missing, standardize, quantile);
    Ok(vec![model.column as f64, model.fill, model.center, model.scale].into_pyarray(py))
}

/// Rows filled and scaled by the models of their columns, and scaled to length 1 if the metric asks for it.
#[pyfunction]
pub fn prepared_rows<'py>(
    py: Python<'py>,
    values: Values,
    models: PyReadonlyArray2<'py, f64>,
    is_single: bool,
    config: PyConfig,
) -> PyResult<Bound<'py, PyAny>> {
    let models = models.as_slice()?.chunks_exact(4).map(|model| ColumnModel {
        column: model[0] as usize,
        fill: model[1],
        center: model[2],
        scale: model[3],
        n_missing: 0,
    });
    let models = models.collect();
    let metric = config.config.metric_for(false);
    let points = values.lend(py, |values, n_columns| {
        let rule = PreparationRule::of_columns(n_columns, models, is_single);
        let prepared = aside(py, || {
            let (points, _) = rule.apply(values, n_columns)?;
            partition::unit_rows(points, metric)
        });
        checked(py, prepared?)
    })?;
    let n_columns = points.n_columns();
    match points.values() {
        taugraph::points::Numbers::F64(values) => Ok(table(py, values.to_vec(), n_columns)?.into_any()),
        taugraph::points::Numbers::F32(values) => Ok(table(py, values.to_vec(), n_columns)?.into_any()),
    }
}

/// Mean, scale and centers of cells.
type CellArrays<'py> = (Numbers<'py>, f64, PyReadonlyArray2<'py, f32>);

fn cells_of(py: Python<'_>, cells: &CellArrays<'_>) -> PyResult<Cells> {
    let (mean, scale, centers) = cells;
    let frame = Frame { mean: mean.as_slice()?.to_vec(), scale: *scale };
    checked(py, Cells::new(frame, centers.as_slice()?.to_vec()))
}

/// About so many cells, found on a sample of prepared points.
#[pyfunction]
pub fn train_cells<'py>(
    py: Python<'py>,
    sample: Values,
    n_cells: usize,
    run_args: RunArgs,
) -> PyResult<(Array<'py, f64>, f64, Bound<'py, PyArray2<f32>>)> {
    let sample = points_of(py, &sample)?;
    let cells = run(py, &run_args, |run| Cells::train(&sample, n_cells, run))?;
    let centers = table(py, cells.centers().to_vec(), sample.n_columns())?;
    Ok((cells.frame().mean.clone().into_pyarray(py), cells.frame().scale, centers))
}

/// The cell of each prepared point.
#[pyfunction]
pub fn cells_of_points<'py>(
    py: Python<'py>,
    points: Values,
    cells: CellArrays<'py>,
    run_args: RunArgs,
) -> PyResult<Array<'py, u32>> {
    let (points, cells) = (points_of(py, &points)?, cells_of(py, &cells)?);
    Ok(run(py, &run_args, |run| cells.of_points(&points, run))?.into_pyarray(py))
}

/// The cells nearest to each prepared point, nearest first.
#[pyfunction]
pub fn nearest_cells<'py>(
    py: Python<'py>,
    points: Values,
    cells: CellArrays<'py>,
    n_probe: usize,
    run_args: RunArgs,
) -> PyResult<Bound<'py, PyArray2<u32>>> {
    let (points, cells) = (points_of(py, &points)?, cells_of(py, &cells)?);
    let found = run(py, &run_args, |run| cells.nearest(&points, n_probe, run))?;
    table(py, found, n_probe.min(cells.len()))
}

/// Ids and distances of the nearest points of each query among those in the cells that it probes.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn search_cells<'py>(
    py: Python<'py>,
    points: Values,
    ids: Ids<'py>,
    cell_of_point: Ids<'py>,
    queries: Values,
    query_ids: Ids<'py>,
    probes: (Offsets<'py>, Ids<'py>),
    frame: (Numbers<'py>, f64),
    k: usize,
    config: PyConfig,
    run_args: RunArgs,
) -> PyResult<(Bound<'py, PyArray2<u32>>, Bound<'py, PyArray2<f64>>)> {
    let (points, queries) = (points_of(py, &points)?, points_of(py, &queries)?);
    let frame = Frame { mean: frame.0.as_slice()?.to_vec(), scale: frame.1 };
    let (ids, cell_of_point) = (ids.as_slice()?, cell_of_point.as_slice()?);
    let probes = Probes { offsets: probes.0.as_slice()?, cells: probes.1.as_slice()? };
    let (query_ids, metric) = (query_ids.as_slice()?, config.config.metric_for(false));
    let (found, distances) = run(py, &run_args, |run| {
        let search = CellSearch::new(&points, ids, cell_of_point, metric, &frame, run)?;
        search.nearest(&queries, query_ids, probes, k, run)
    })?;
    Ok((table(py, found, k)?, table(py, distances, k)?))
}

/// Candidate edges of the own nodes as offsets, other ends and lengths.
#[pyfunction]
pub fn incident_edges<'py>(
    py: Python<'py>,
    own: Ids<'py>,
    neighbors: PyReadonlyArray2<'py, u32>,
    distances: PyReadonlyArray2<'py, f64>,
    reverse: (Ids<'py>, Ids<'py>, Numbers<'py>),
    config: PyConfig,
) -> PyResult<(Array<'py, u64>, Array<'py, u32>, Array<'py, f64>)> {
    let symmetrize = match config.config.graph.candidates {
        CandidatePairs::Neighbors { symmetrize, .. } => symmetrize,
        CandidatePairs::All => Symmetrize::Union,
    };
    let ends = reverse.0.as_slice()?.iter().zip(reverse.1.as_slice()?).zip(reverse.2.as_slice()?);
    let reverse: Vec<ReverseNeighbor> =
        ends.map(|((&own, &by), &distance)| ReverseNeighbor { own, by, distance }).collect();
    let k = neighbors.shape()[1];
    let (own, neighbors, distances) = (own.as_slice()?, neighbors.as_slice()?, distances.as_slice()?);
    let edges = IncidentEdges::new(own, k, neighbors, distances, &reverse, symmetrize);
    let IncidentEdges { offsets, targets, distances } = checked(py, edges)?;
    Ok((offsets.into_pyarray(py), targets.into_pyarray(py), distances.into_pyarray(py)))
}

fn neighborhood_of(py: Python<'_>, config: &PyConfig) -> PyResult<Neighborhood> {
    match &config.config.graph.estimator {
        Estimator::Neighborhood(estimator) => Ok(*estimator),
        other => {
            let (name, value) = ("graph.estimator".into(), other.name().into());
            let rule = "must be neighborhood, whose quantiles need no other machine's edges".into();
            Err(exception(py, &Error::Parameter { name, value, rule }))
        }
    }
}

/// Half of the pool of each own edge. Points, by their places in the table, are the own ones and their halo.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn half_pools<'py>(
    py: Python<'py>,
    points: Values,
    scales: Numbers<'py>,
    own: Ids<'py>,
    neighbors: PyReadonlyArray2<'py, u32>,
    edges: (Offsets<'py>, Ids<'py>),
    config: PyConfig,
    run_args: RunArgs,
) -> PyResult<Array<'py, f64>> {
    let estimator = neighborhood_of(py, &config)?;
    let (points, metric) = (points_of(py, &points)?, config.config.metric_for(false));
    let (scales, own, neighbors) = (scales.as_slice()?, own.as_slice()?, neighbors.as_slice()?);
    let (edges, graph) = ((edges.0.as_slice()?, edges.1.as_slice()?), &config.config.graph);
    let halves = run(py, &run_args, |run| {
        let space = prepared_space(points, metric)?;
        let by = (&estimator, graph.threshold);
        partition::half_pools(&space, scales, graph.affinity, own, neighbors, edges, by, run)
    })?;
    Ok(halves.into_pyarray(py))
}

/// The persistence of edges from both halves of their pools.
#[pyfunction]
pub fn joined_halves<'py>(
    py: Python<'py>,
    own: Numbers<'py>,
    other: Numbers<'py>,
    config: PyConfig,
) -> PyResult<Array<'py, f64>> {
    let estimator = neighborhood_of(py, &config)?;
    let joined = partition::joined_halves(&estimator, own.as_slice()?, other.as_slice()?);
    Ok(checked(py, joined)?.into_pyarray(py))
}

/// The probability of each edge; `counts` are the edges of the whole graph that are present at each τ.
#[pyfunction]
pub fn edge_probabilities<'py>(
    py: Python<'py>,
    persistence: Numbers<'py>,
    counts: Vec<usize>,
    config: PyConfig,
) -> PyResult<Array<'py, f64>> {
    let graph = &config.config.graph;
    let (persistence, taus) = (persistence.as_slice()?, graph.taus.values());
    Ok(partition::probabilities(graph.probability, persistence, taus, &counts).into_pyarray(py))
}

/// Robust scales of the own nodes, before the floor.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn robust_values<'py>(
    py: Python<'py>,
    first: Numbers<'py>,
    own: Ids<'py>,
    edges: (Offsets<'py>, Ids<'py>, Numbers<'py>),
    probabilities: Numbers<'py>,
    config: PyConfig,
    seed: u64,
) -> PyResult<Array<'py, f64>> {
    let rows = (edges.0.as_slice()?, edges.1.as_slice()?);
    let (first, own, distances) = (first.as_slice()?, own.as_slice()?, edges.2.as_slice()?);
    let (rule, probabilities) = (config.config.graph.robust_scale, probabilities.as_slice()?);
    let values = partition::robust_values(rule, first, own, rows, distances, probabilities, seed);
    Ok(checked(py, values)?.into_pyarray(py))
}

/// Scales raised to the least one and, if they are robust ones, shrunk toward the median.
#[pyfunction]
pub fn finished_scales<'py>(
    py: Python<'py>,
    values: Numbers<'py>,
    least: f64,
    median: f64,
    is_robust: bool,
    config: PyConfig,
) -> PyResult<Array<'py, f64>> {
    let shrinkage = match is_robust {
        true => config.config.graph.scale_shrinkage,
        false => taugraph::scale::ScaleShrinkage::None,
    };
    Ok(partition::finished_scales(values.as_slice()?, least, median, shrinkage).into_pyarray(py))
}

/// The weight of each own edge.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn edge_weights<'py>(
    py: Python<'py>,
    own: Ids<'py>,
    edges: (Offsets<'py>, Ids<'py>, Numbers<'py>),
    persistence: Numbers<'py>,
    probabilities: Numbers<'py>,
    scale_of_own: Numbers<'py>,
    scale_of_target: Numbers<'py>,
    config: PyConfig,
) -> PyResult<Array<'py, f64>> {
    let (offsets, targets, distances) = (edges.0.as_slice()?, edges.1.as_slice()?, edges.2.as_slice()?);
    let rows = own.as_slice()?.iter().zip(offsets.windows(2));
    let is_lower: Vec<bool> = rows
        .flat_map(|(&id, ends)| {
            targets[ends[0] as usize..ends[1] as usize].iter().map(move |&other| id < other)
        })
        .collect();
    let graph = &config.config.graph;
    let weights = partition::edge_weights(
        (graph.affinity, graph.final_affinity),
        (offsets, distances),
        (persistence.as_slice()?, probabilities.as_slice()?),
        scale_of_own.as_slice()?,
        scale_of_target.as_slice()?,
        &is_lower,
    );
    Ok(weights.into_pyarray(py))
}

/// Numbers of values by their next sixteen bits, among those with the bits found so far.
#[pyfunction]
pub fn bit_histogram<'py>(
    py: Python<'py>,
    values: Numbers<'py>,
    prefix: u64,
    round: u32,
) -> PyResult<Array<'py, u64>> {
    Ok(partition::bit_histogram(values.as_slice()?, prefix, round).into_pyarray(py))
}

/// The number with these bits.
#[pyfunction]
pub fn value_of_key(key: u64) -> f64 {
    partition::value_of_key(key)
}

/// For each group of which there are queries: the group, the distance of the shortest pair to another group, and its ends.
#[pyfunction]
pub fn nearest_outside(
    py: Python<'_>,
    points: Values,
    ids: Ids<'_>,
    groups: Ids<'_>,
    queries: Ids<'_>,
    config: PyConfig,
    run_args: RunArgs,
) -> PyResult<Vec<(u32, f64, u32, u32)>> {
    let (points, metric) = (points_of(py, &points)?, config.config.metric_for(false));
    let (ids, groups, queries) = (ids.as_slice()?, groups.as_slice()?, queries.as_slice()?);
    let found =
        run(py, &run_args, |run| partition::nearest_outside(&points, metric, ids, groups, queries, run))?;
    Ok(found.iter().map(|pair| (pair.group, pair.distance, pair.inside, pair.outside)).collect())
}
