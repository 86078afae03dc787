//! Labels spread from examples.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use taugraph::graph::SparseGraph;
use taugraph::points::Duplicates;
use taugraph::propagate::{LabeledNodes, PropagateParams, Propagation, RowLabels, propagate};

use crate::arrays::{CsrInput, graph_of, table, with_gaps};
use crate::errors::{checked, parse};
use crate::running::{RunArgs, run};

/// Labels of rows.
#[pyclass(frozen, name = "Propagation", module = "taugraph._core")]
pub struct PyPropagation {
    pub propagation: Propagation,
    pub rows: RowLabels,
    pub n_conflicts: usize,
    pub n_classes: usize,
}

#[pymethods]
impl PyPropagation {
    /// Class of each row, −1 where no example reaches.
    fn labels<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        with_gaps(&self.rows.labels).into_pyarray(py)
    }

    /// Probability of each class for each row.
    fn probabilities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        table(py, self.rows.probabilities.clone(), self.n_classes)
    }

    fn margins<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.rows.margins.clone().into_pyarray(py)
    }

    /// Iterations and residual of the linear systems; points whose copies have different labels.
    fn info(&self) -> (usize, f64, usize) {
        (self.propagation.info.iterations, self.propagation.info.residual, self.n_conflicts)
    }
}

impl PyPropagation {
    /// Labels on a graph whose nodes stand for rows; −1 where a row has none.
    pub fn new(
        py: Python<'_>,
        graph: &SparseGraph,
        duplicates: &Duplicates,
        labels: &PyReadonlyArray1<'_, i64>,
        n_classes: usize,
        params: &str,
        run_args: &RunArgs,
    ) -> PyResult<Self> {
        let params: PropagateParams = parse(py, "propagate", params)?;
        let given = labels.as_slice()?.iter().map(class_of).collect::<PyResult<Vec<_>>>()?;
        let (examples, n_conflicts) = checked(py, LabeledNodes::of_rows(&given, n_classes, duplicates))?;
        let propagation = run(py, run_args, |run| propagate(graph, &examples, &params, run))?;
        let rows = propagation.of_rows(&given, duplicates, params.clamping);
        Ok(Self { propagation, rows, n_conflicts, n_classes })
    }
}

/// A class as the library has it.
fn class_of(&label: &i64) -> PyResult<Option<u32>> {
    match label {
        -1 => Ok(None),
        label => u32::try_from(label).map(Some).map_err(|_| PyValueError::new_err("a class is out of range")),
    }
}

/// Labels on a graph.
#[pyfunction]
pub fn propagate_graph(
    py: Python<'_>,
    graph: CsrInput<'_>,
    labels: PyReadonlyArray1<'_, i64>,
    n_classes: usize,
    params: &str,
    run_args: RunArgs,
) -> PyResult<PyPropagation> {
    let graph = graph_of(py, &graph)?;
    PyPropagation::new(py, &graph, &Duplicates::none(graph.n_nodes()), &labels, n_classes, params, &run_args)
}
