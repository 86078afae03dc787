//! Labels from a few labeled rows.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use taugraph::{FittedLabels, GivenLabels, LabelPropagation};

use crate::arrays::{table, with_gaps};
use crate::config::PyConfig;
use crate::errors::checked;
use crate::graph::{GraphFirst, Start, model_of, warnings_of};
use crate::input::PyInput;
use crate::model::PyModel;
use crate::running::{RunArgs, run};

/// Labels the rows of an input from the known ones: a class for each row, −1 if unknown.
#[pyfunction]
#[pyo3(signature = (input, labels, n_classes, config, run_args, baseline=None, graph_seed=None, weights=None))]
#[allow(clippy::too_many_arguments)]
pub fn fit_labels(
    py: Python<'_>,
    input: &PyInput,
    labels: PyReadonlyArray1<'_, i64>,
    n_classes: usize,
    config: PyConfig,
    run_args: RunArgs,
    baseline: Option<&str>,
    graph_seed: Option<u64>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<PyFittedLabels> {
    let known = labels.as_slice()?.iter().map(class_of).collect::<PyResult<Vec<_>>>()?;
    let mut given = GivenLabels::from_ids(known, n_classes);
    if let Some(weights) = weights {
        given = checked(py, given.with_weights(weights.as_slice()?.to_vec()))?;
    }
    let first = GraphFirst::new(py, baseline, graph_seed)?;
    let estimator = LabelPropagation::with_config(config.for_run(&run_args));
    let labels = input.lend(py, |lent| {
        run(py, &run_args, |run| match first.start(lent.input()?, estimator.config(), run)? {
            Start::Input(input) => estimator.fit_with(input, &given, run),
            Start::Graph(graph) => estimator.fit_graph(*graph, &given, run),
        })
    })?;
    Ok(PyFittedLabels { labels, given })
}

/// A class as the library has it.
fn class_of(&label: &i64) -> PyResult<Option<u32>> {
    match label {
        -1 => Ok(None),
        label => u32::try_from(label).map(Some).map_err(|_| PyValueError::new_err("a class is out of range")),
    }
}

/// Labels of rows.
#[pyclass(frozen, name = "FittedLabels", module = "taugraph._core")]
pub struct PyFittedLabels {
    labels: FittedLabels,
    given: GivenLabels,
}

impl PyFittedLabels {
    pub fn found(&self) -> &FittedLabels {
        &self.labels
    }

    /// The given labels.
    pub fn given(&self) -> &GivenLabels {
        &self.given
    }
}

#[pymethods]
impl PyFittedLabels {
    /// Class of each row, −1 where no label reaches.
    fn labels<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        with_gaps(self.labels.labels()).into_pyarray(py)
    }

    /// Probability of each class for each row.
    fn probabilities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        table(py, self.labels.probabilities().to_vec(), self.labels.classes().len())
    }

    fn margins<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.labels.margins().to_vec().into_pyarray(py)
    }

    /// Iterations of the linear systems.
    fn n_iterations(&self) -> usize {
        self.labels.propagation().info.iterations
    }

    /// The temperature of the probabilities, if they were calibrated.
    fn temperature(&self) -> Option<f64> {
        self.labels.propagation().temperature
    }

    /// Labeled rows that lie in the group of another class; nothing if classes were not matched with groups.
    fn outside_group<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let rows = self.labels.rows_outside_group();
        rows.iter().map(|&row| i64::from(row)).collect::<Vec<_>>().into_pyarray(py)
    }

    /// Rows to label next, the most useful first, and why.
    fn suggest(&self, py: Python<'_>, n: usize, run_args: RunArgs) -> PyResult<Vec<(u32, &'static str)>> {
        let found = run(py, &run_args, |run| self.labels.suggest(n, run))?;
        Ok(found.iter().map(|suggested| (suggested.row, suggested.reason.text())).collect())
    }

    /// Number of points whose copies were given different labels.
    fn n_conflicts(&self) -> usize {
        self.labels.n_conflicts()
    }

    fn warnings(&self) -> Vec<(&'static str, String)> {
        warnings_of(&self.labels.warnings())
    }

    #[pyo3(signature = (run_args, sparse=None))]
    fn model(&self, py: Python<'_>, run_args: RunArgs, sparse: Option<&PyInput>) -> PyResult<PyModel> {
        model_of(py, self.labels.graph(), sparse, &run_args, |model| self.labels.add_to(model))
    }
}
