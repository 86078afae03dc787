//! Coordinates of rows.

use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use taugraph::{FittedEmbedding, SpectralEmbedding};

use crate::arrays::table;
use crate::config::PyConfig;
use crate::graph::{GraphFirst, Start, model_of, warnings_of};
use crate::input::PyInput;
use crate::model::PyModel;
use crate::running::{RunArgs, run};

/// Embeds the rows of an input by the robust graph or by a baseline.
#[pyfunction]
#[pyo3(signature = (input, config, run_args, baseline=None, graph_seed=None))]
pub fn fit_embedding(
    py: Python<'_>,
    input: &PyInput,
    config: PyConfig,
    run_args: RunArgs,
    baseline: Option<&str>,
    graph_seed: Option<u64>,
) -> PyResult<PyFittedEmbedding> {
    let first = GraphFirst::new(py, baseline, graph_seed)?;
    let estimator = SpectralEmbedding::with_config(config.for_run(&run_args));
    let embedding = input.lend(py, |lent| {
        run(py, &run_args, |run| match first.start(lent.input()?, estimator.config(), run)? {
            Start::Input(input) => estimator.fit_with(input, run),
            Start::Graph(graph) => estimator.fit_graph(*graph, run),
        })
    })?;
    Ok(PyFittedEmbedding { embedding })
}

/// Coordinates of rows.
#[pyclass(frozen, name = "FittedEmbedding", module = "taugraph._core")]
pub struct PyFittedEmbedding {
    embedding: FittedEmbedding,
}

#[pymethods]
impl PyFittedEmbedding {
    fn coordinates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        table(py, self.embedding.coordinates(), self.embedding.n_components())
    }

    /// The eigenvalue of each coordinate.
    fn eigenvalues<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.embedding.eigenvalues().to_vec().into_pyarray(py)
    }

    fn warnings(&self) -> Vec<(&'static str, String)> {
        warnings_of(&self.embedding.warnings())
    }

    #[pyo3(signature = (run_args, sparse=None))]
    fn model(&self, py: Python<'_>, run_args: RunArgs, sparse: Option<&PyInput>) -> PyResult<PyModel> {
        model_of(py, self.embedding.graph(), sparse, &run_args, |model| self.embedding.add_to(model))
    }
}
