//! Clusters of rows.

use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use taugraph::{FittedClusters, SpectralClustering};

use crate::arrays::{labels_of, table};
use crate::config::PyConfig;
use crate::graph::{GraphFirst, Start, model_of, warnings_of};
use crate::input::PyInput;
use crate::model::PyModel;
use crate::running::{RunArgs, run};

/// Clusters the rows of an input by the robust graph or by a baseline.
#[pyfunction]
#[pyo3(signature = (input, config, run_args, baseline=None, graph_seed=None))]
pub fn fit_clusters(
    py: Python<'_>,
    input: &PyInput,
    config: PyConfig,
    run_args: RunArgs,
    baseline: Option<&str>,
    graph_seed: Option<u64>,
) -> PyResult<PyFittedClusters> {
    let first = GraphFirst::new(py, baseline, graph_seed)?;
    let estimator = SpectralClustering::with_config(config.for_run(&run_args));
    let clusters = input.lend(py, |lent| {
        run(py, &run_args, |run| match first.start(lent.input()?, estimator.config(), run)? {
            Start::Input(input) => estimator.fit_with(input, run),
            Start::Graph(graph) => estimator.fit_graph(*graph, run),
        })
    })?;
    Ok(PyFittedClusters { clusters })
}

/// Clusters of rows.
#[pyclass(frozen, name = "FittedClusters", module = "taugraph._core")]
pub struct PyFittedClusters {
    clusters: FittedClusters,
}

impl PyFittedClusters {
    pub fn clusters(&self) -> &FittedClusters {
        &self.clusters
    }
}

#[pymethods]
impl PyFittedClusters {
    /// Cluster of each row.
    fn labels<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        labels_of(py, self.clusters.labels())
    }

    fn n_clusters(&self) -> usize {
        self.clusters.n_clusters()
    }

    /// Eigenvalues, and the gaps after them that determine the number of clusters.
    fn eigengap<'py>(&self, py: Python<'py>) -> (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>) {
        let gap = self.clusters.eigengap();
        (gap.eigenvalues().to_vec().into_pyarray(py), gap.gaps().to_vec().into_pyarray(py))
    }

    /// Connected components of the graph.
    fn n_components(&self) -> usize {
        self.clusters.clustering().n_components
    }

    /// Coordinates of each row; `None` if components of the graph were clustered separately.
    fn embedding<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let n_columns =
            self.clusters.clustering().embedding.as_ref().map_or(0, |embedding| embedding.n_columns);
        self.clusters.embedding().map(|coordinates| table(py, coordinates, n_columns)).transpose()
    }

    /// Stability over random graphs, if requested: overall, of each draw, of each row.
    fn stability<'py>(
        &self,
        py: Python<'py>,
    ) -> Option<(f64, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
        let (measured, of_rows) = (self.clusters.stability_of_nodes()?, self.clusters.stability()?);
        Some((measured.overall, measured.of_draws.clone().into_pyarray(py), of_rows.into_pyarray(py)))
    }

    fn warnings(&self) -> Vec<(&'static str, String)> {
        warnings_of(&self.clusters.warnings())
    }

    #[pyo3(signature = (run_args, sparse=None))]
    fn model(&self, py: Python<'_>, run_args: RunArgs, sparse: Option<&PyInput>) -> PyResult<PyModel> {
        model_of(py, self.clusters.graph(), sparse, &run_args, |model| self.clusters.add_to(model))
    }
}
