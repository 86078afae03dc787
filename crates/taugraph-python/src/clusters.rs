//! Clusters and embeddings, of robust graphs and of graphs that are given.

use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use taugraph::cluster::{ClusterParams, Clustering, spectral_clustering};
use taugraph::graph::SparseGraph;
use taugraph::points::Duplicates;
use taugraph::spectral::{EigenParams, Embedding, LaplacianKind, RowNormalization, embed};

use crate::arrays::{CsrInput, graph_of, table};
use crate::errors::parse;
use crate::running::{RunArgs, run};

/// Clusters of rows.
#[pyclass(frozen, name = "Clustering", module = "taugraph._core")]
pub struct PyClustering {
    pub clustering: Clustering,
    pub params: ClusterParams,
    pub duplicates: Duplicates,
}

#[pymethods]
impl PyClustering {
    /// Cluster of each row.
    fn labels<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let labels = self.duplicates.restore(&self.clustering.labels);
        labels.into_iter().map(i64::from).collect::<Vec<_>>().into_pyarray(py)
    }

    fn n_clusters(&self) -> usize {
        self.clustering.n_clusters()
    }

    /// Eigenvalues, and the gaps after them that the number of clusters is read from.
    fn eigengap(&self) -> (Vec<f64>, Vec<f64>) {
        (self.clustering.eigengap.eigenvalues().to_vec(), self.clustering.eigengap.gaps().to_vec())
    }

    fn n_components(&self) -> usize {
        self.clustering.n_components
    }

    /// Whether no smaller eigenpair was missed, as far as the solver knows.
    fn is_confirmed(&self) -> bool {
        self.clustering.embedding.as_ref().is_none_or(|embedding| embedding.info.confirmed)
    }

    /// Coordinates of each row; `None` if components of the graph were clustered one by one.
    fn embedding<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let embedding = self.clustering.embedding.as_ref();
        embedding.map(|embedding| coordinates(py, embedding, &self.duplicates)).transpose()
    }
}

/// Coordinates of rows.
#[pyclass(frozen, name = "Embedding", module = "taugraph._core")]
pub struct PyEmbedding {
    pub embedding: Embedding,
    pub kind: LaplacianKind,
    pub rows: RowNormalization,
    pub duplicates: Duplicates,
}

#[pymethods]
impl PyEmbedding {
    fn coordinates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        coordinates(py, &self.embedding, &self.duplicates)
    }

    fn eigenvalues(&self) -> Vec<f64> {
        self.embedding.eigenvalues.clone()
    }

    fn is_confirmed(&self) -> bool {
        self.embedding.info.confirmed
    }
}

fn coordinates<'py>(
    py: Python<'py>,
    embedding: &Embedding,
    duplicates: &Duplicates,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let rows = duplicates.node_of_row().iter().flat_map(|&node| embedding.row(node as usize));
    table(py, rows.copied().collect(), embedding.n_columns)
}

impl PyClustering {
    /// Clusters of a graph whose nodes stand for rows.
    pub fn new(
        py: Python<'_>,
        graph: &SparseGraph,
        duplicates: &Duplicates,
        params: &str,
        run_args: &RunArgs,
    ) -> PyResult<Self> {
        let params = parse(py, "cluster", params)?;
        let clustering = run(py, run_args, |run| spectral_clustering(graph, &params, run))?;
        Ok(Self { clustering, params, duplicates: duplicates.clone() })
    }
}

impl PyEmbedding {
    /// An embedding of such a graph; the names are those of the Laplacian and of what becomes of the rows.
    pub fn new(
        py: Python<'_>,
        graph: &SparseGraph,
        duplicates: &Duplicates,
        n_columns: usize,
        (laplacian, rows): (&str, &str),
        run_args: &RunArgs,
    ) -> PyResult<Self> {
        let (kind, rows) = (parse(py, "laplacian", laplacian)?, parse(py, "rows", rows)?);
        let eigen = EigenParams::default();
        let embedding = run(py, run_args, |run| embed(graph, kind, n_columns, rows, &eigen, run))?;
        Ok(Self { embedding, kind, rows, duplicates: duplicates.clone() })
    }
}

/// Clusters of a graph.
#[pyfunction]
pub fn cluster_graph(
    py: Python<'_>,
    graph: CsrInput<'_>,
    params: &str,
    run_args: RunArgs,
) -> PyResult<PyClustering> {
    let graph = graph_of(py, &graph)?;
    PyClustering::new(py, &graph, &Duplicates::none(graph.n_nodes()), params, &run_args)
}

/// An embedding of a graph.
#[pyfunction]
pub fn embed_graph(
    py: Python<'_>,
    graph: CsrInput<'_>,
    n_columns: usize,
    laplacian: &str,
    rows: &str,
    run_args: RunArgs,
) -> PyResult<PyEmbedding> {
    let graph = graph_of(py, &graph)?;
    let duplicates = Duplicates::none(graph.n_nodes());
    PyEmbedding::new(py, &graph, &duplicates, n_columns, (laplacian, rows), &run_args)
}
