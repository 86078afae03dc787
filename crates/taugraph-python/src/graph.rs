//! The graph of any input, and what all fits share.

use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use serde_json::json;
use taugraph::error::Error;
use taugraph::fit::{Baseline, RobustPart};
use taugraph::model::Model;
use taugraph::progress::Run;
use taugraph::{Config, FittedGraph, Input, RobustGraph, Warning};

use crate::arrays::{Csr, csr_of_graph, table};
use crate::config::PyConfig;
use crate::errors::{exception, unknown_name};
use crate::input::PyInput;
use crate::model::PyModel;
use crate::running::{RunArgs, aside, run};
use crate::values::to_python;

/// A graph that is fitted before the rest: a baseline, or one with its own seed.
#[derive(Clone, Copy, Default)]
pub struct GraphFirst {
    baseline: Option<Baseline>,
    seed: Option<u64>,
}

/// The input of the rest.
pub enum Start<'a> {
    Input(Input<'a>),
    Graph(Box<FittedGraph>),
}

impl GraphFirst {
    pub fn new(py: Python<'_>, baseline: Option<&str>, seed: Option<u64>) -> PyResult<Self> {
        let named =
            |name| Baseline::named(name).ok_or_else(|| unknown_name(py, "graph", name, Baseline::NAMES));
        Ok(Self { baseline: baseline.map(named).transpose()?, seed })
    }

    pub fn start<'a>(self, input: Input<'a>, config: &Config, run: &Run<'_>) -> taugraph::Result<Start<'a>> {
        let seeded = self.seed.map_or(*run, |seed| run.with_seed(seed));
        Ok(match self {
            Self { baseline: Some(baseline), .. } => {
                Start::Graph(Box::new(baseline.fit(input, config, &seeded)?))
            }
            Self { baseline: None, seed: Some(_) } => {
                let graph = RobustGraph::with_config(config.clone()).fit_with(input, &seeded)?;
                Start::Graph(Box::new(graph))
            }
            Self { baseline: None, seed: None } => Start::Input(input),
        })
    }
}

/// The kind and text of each warning.
pub fn warnings_of(warnings: &[Warning]) -> Vec<(&'static str, String)> {
    warnings.iter().map(|warning| (warning.name(), warning.to_string())).collect()
}

/// The model that places new points: that of a graph, extended by `add`. Sparse points must be passed again.
pub fn model_of(
    py: Python<'_>,
    graph: &FittedGraph,
    sparse: Option<&PyInput>,
    run_args: &RunArgs,
    add: impl FnOnce(Model) -> taugraph::Result<Model> + Send,
) -> PyResult<PyModel> {
    let model = match sparse {
        None => run(py, run_args, |_| add(graph.model()?)),
        Some(sparse) => sparse.lend(py, |lent| {
            run(py, run_args, |run| add(graph.model_of_table(&lent.table(run.memory_limit)?)?))
        }),
    };
    model.map(PyModel::new)
}

/// The graph of an input.
#[pyfunction]
pub fn fit_graph(
    py: Python<'_>,
    input: &PyInput,
    config: PyConfig,
    run_args: RunArgs,
) -> PyResult<PyFittedGraph> {
    let estimator = RobustGraph::with_config(config.for_run(&run_args));
    let graph = input.lend(py, |lent| run(py, &run_args, |run| estimator.fit_with(lent.input()?, run)))?;
    Ok(PyFittedGraph { graph })
}

/// A fitted graph.
#[pyclass(frozen, name = "FittedGraph", module = "taugraph._core")]
pub struct PyFittedGraph {
    graph: FittedGraph,
}

impl PyFittedGraph {
    pub fn fitted(&self) -> &FittedGraph {
        &self.graph
    }

    /// The intermediate results of a graph; an error if the graph was given.
    fn robust(&self, py: Python<'_>) -> PyResult<&RobustPart> {
        let needs_points =
            || exception(py, &Error::NeedsPoints { stage: "inspecting the graph's edges and scales" });
        self.graph.robust().ok_or_else(needs_points)
    }
}

type Edges<'py> = (
    Bound<'py, PyArray2<u32>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
);

#[pymethods]
impl PyFittedGraph {
    /// Weights between all rows.
    fn graph<'py>(&self, py: Python<'py>) -> PyResult<Csr<'py>> {
        let graph = aside(py, || self.graph.graph())?;
        Ok(csr_of_graph(py, &graph))
    }

    /// Robust local scale of each row.
    fn local_scales<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let part = self.robust(py)?;
        Ok(self.graph.per_row(part.nodes.scales.values()).into_pyarray(py))
    }

    /// First local scale of each row.
    fn first_scales<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let part = self.robust(py)?;
        Ok(self.graph.per_row(part.nodes.first_scales.values()).into_pyarray(py))
    }

    /// Candidate edges between the first rows of distinct points: their ends, probability, persistence and distance.
    fn edges<'py>(&self, py: Python<'py>) -> PyResult<Edges<'py>> {
        let part = self.robust(py)?;
        let (stochastic, rows) = (&part.nodes.stochastic, part.nodes.duplicates.row_of_node());
        let ends =
            stochastic.edges().iter().flat_map(|(i, j)| [rows[i as usize], rows[j as usize]]).collect();
        Ok((
            table(py, ends, 2)?,
            stochastic.probabilities().to_vec().into_pyarray(py),
            stochastic.persistence().to_vec().into_pyarray(py),
            part.nodes.distances.clone().into_pyarray(py),
        ))
    }

    /// Quantiles and the number of edges that persist at each.
    fn decay(&self) -> Vec<(f64, usize)> {
        self.graph.decay().to_vec()
    }

    /// Further diagnostics.
    fn diagnostics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let part = self.robust(py)?;
        let nodes = &part.nodes;
        let training = nodes.training.iter();
        let training = training.map(|one| json!({"tau": one.tau, "losses": one.losses, "stop": one.stop}));
        let preparation = part.preparation.as_ref().map_or(json!({}), |done| {
            json!({
                "constant_columns": done.constant,
                "empty_columns": done.empty,
                "imputed_cells": done.n_imputed,
                "pca_share": done.pca_share,
            })
        });
        let found = json!({
            "n_rows": nodes.duplicates.n_rows(),
            "n_distinct": nodes.duplicates.n_nodes(),
            "n_candidates": nodes.stochastic.edges().len(),
            "metric": part.metric().map(|metric| metric.name()),
            "components": nodes.components.sizes(),
            "components_by_tau": nodes.stochastic.component_counts(),
            "links": nodes.links.iter().map(|link| json!([link.i, link.j, link.weight])).collect::<Vec<_>>(),
            "flat_decay": nodes.stochastic.has_flat_decay(),
            "crossing_rate": nodes.crossing_rate,
            "search": nodes.search,
            "training": training.collect::<Vec<_>>(),
            "preparation": preparation,
        });
        to_python(py, &found)
    }

    fn warnings(&self) -> Vec<(&'static str, String)> {
        warnings_of(&self.graph.warnings())
    }

    #[pyo3(signature = (run_args, sparse=None))]
    fn model(&self, py: Python<'_>, run_args: RunArgs, sparse: Option<&PyInput>) -> PyResult<PyModel> {
        model_of(py, &self.graph, sparse, &run_args, Ok)
    }
}
