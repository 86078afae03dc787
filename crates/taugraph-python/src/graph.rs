//! The robust graph of points, distances or neighbors, and what is made from it.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use serde_json::json;
use taugraph::cluster::{ClusterParams, Clustering, StabilityParams, stability};
use taugraph::distance::{DistanceMatrix, Metric};
use taugraph::error::Result;
use taugraph::model::Model;
use taugraph::neighbors::{NeighborGraph, Space};
use taugraph::params::{CheckedGraphParams, GraphParams};
use taugraph::points::{Points, PreparationParams, PreparationRule, SparsePoints, prepare, prepare_sparse};
use taugraph::progress::Run;
use taugraph::propagate::Propagation;
use taugraph::robust::{NodeGraph, robust_graph};

use crate::arrays::{Csr, CsrInput, csr_of_graph, parts_of, table};
use crate::clusters::{PyClustering, PyEmbedding};
use crate::errors::{checked, parse};
use crate::labels::PyPropagation;
use crate::model::PyModel;
use crate::running::{RunArgs, aside, run};

/// A robust graph with the points that it was made from.
#[pyclass(frozen, name = "RobustGraph", module = "taugraph._core")]
pub struct PyRobustGraph {
    graph: NodeGraph,
    params: CheckedGraphParams,
    prepared: Prepared,
}

/// What a graph is made of, and how the points of new rows follow.
struct Prepared {
    space: Space,
    rule: Option<PreparationRule>,
    report: serde_json::Value,
}

impl Prepared {
    /// Points, distances or neighbors that are taken as they are.
    fn as_it_is(space: Space) -> Self {
        Self { space, rule: None, report: json!({}) }
    }
}

#[pymethods]
impl PyRobustGraph {
    /// From a table of points.
    #[staticmethod]
    fn from_points(
        py: Python<'_>,
        points: PyReadonlyArray2<'_, f64>,
        preparation: &str,
        metric: &str,
        params: &str,
        run_args: RunArgs,
    ) -> PyResult<Self> {
        let (metric, preparation): (Metric, PreparationParams) =
            (parse(py, "metric", metric)?, parse(py, "preparation", preparation)?);
        let (values, n_columns) = (points.as_slice()?, points.shape()[1]);
        Self::new(py, params, &run_args, |run| {
            run.stage("prepare", None)?;
            let prepared = prepare(values, n_columns, &preparation, run)?;
            let rule = Some(prepared.rule());
            let report = json!({
                "constant_columns": prepared.constant_columns,
                "empty_columns": prepared.empty_columns,
                "imputed_cells": prepared.n_imputed(),
                "pca_share": prepared.pca.as_ref().map(|pca| pca.explained()),
            });
            Ok(Prepared { space: Space::from_points(prepared.points, metric)?, rule, report })
        })
    }

    /// From points in compressed rows.
    #[staticmethod]
    fn from_sparse(
        py: Python<'_>,
        points: CsrInput<'_>,
        n_columns: usize,
        preparation: &str,
        metric: &str,
        params: &str,
        run_args: RunArgs,
    ) -> PyResult<Self> {
        let (metric, preparation): (Metric, PreparationParams) =
            (parse(py, "metric", metric)?, parse(py, "preparation", preparation)?);
        let (offsets, columns, values) = parts_of(&points)?;
        Self::new(py, params, &run_args, |_| {
            let points = SparsePoints::new(n_columns, offsets, columns, values)?;
            Ok(Prepared::as_it_is(Space::from_sparse(prepare_sparse(points, &preparation)?, metric)?))
        })
    }

    /// From distances between all pairs.
    #[staticmethod]
    fn from_distances(
        py: Python<'_>,
        distances: PyReadonlyArray2<'_, f64>,
        params: &str,
        run_args: RunArgs,
    ) -> PyResult<Self> {
        let (values, n) = (distances.as_slice()?, distances.shape()[0]);
        Self::new(py, params, &run_args, |_| {
            Ok(Prepared::as_it_is(Space::Distances(DistanceMatrix::new(values.to_vec(), n)?)))
        })
    }

    /// From the nearest neighbors of every point, nearest first.
    #[staticmethod]
    fn from_neighbors(
        py: Python<'_>,
        ids: PyReadonlyArray2<'_, u32>,
        distances: PyReadonlyArray2<'_, f64>,
        params: &str,
        run_args: RunArgs,
    ) -> PyResult<Self> {
        let (n, k) = (ids.shape()[0], ids.shape()[1]);
        let (ids, distances) = (ids.as_slice()?.to_vec(), distances.as_slice()?.to_vec());
        Self::new(py, params, &run_args, |_| {
            Ok(Prepared::as_it_is(Space::Neighbors(NeighborGraph::new(n, k, ids, distances)?)))
        })
    }

    /// Weights between all rows.
    fn graph<'py>(&self, py: Python<'py>) -> PyResult<Csr<'py>> {
        let graph = aside(py, || self.graph.graph_of_rows())?;
        Ok(csr_of_graph(py, &graph))
    }

    /// Robust local scale of each row.
    fn scales<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.graph.duplicates.restore(self.graph.scales.values()).into_pyarray(py)
    }

    /// First local scale of each row.
    fn first_scales<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.graph.duplicates.restore(self.graph.first_scales.values()).into_pyarray(py)
    }

    /// Candidate edges between the first rows of distinct points: their ends, probability, persistence and distance.
    fn edges<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(
        Bound<'py, PyArray2<u32>>,
        Bound<'py, PyArray1<f64>>,
        Bound<'py, PyArray1<f64>>,
        Bound<'py, PyArray1<f64>>,
    )> {
        let (stochastic, rows) = (&self.graph.stochastic, self.graph.duplicates.row_of_node());
        let ends =
            stochastic.edges().iter().flat_map(|(i, j)| [rows[i as usize], rows[j as usize]]).collect();
        Ok((
            table(py, ends, 2)?,
            stochastic.probabilities().to_vec().into_pyarray(py),
            stochastic.persistence().to_vec().into_pyarray(py),
            self.graph.distances.clone().into_pyarray(py),
        ))
    }

    /// Quantiles and the edges that persist at each.
    fn decay(&self) -> Vec<(f64, usize)> {
        self.graph.stochastic.decay().to_vec()
    }

    /// What else there is to know, as JSON.
    fn diagnostics(&self) -> String {
        let graph = &self.graph;
        let training = graph
            .training
            .iter()
            .map(|training| json!({"tau": training.tau, "losses": training.losses, "stop": training.stop}));
        json!({
            "n_rows": graph.duplicates.n_rows(),
            "n_distinct": graph.duplicates.n_nodes(),
            "n_candidates": graph.stochastic.edges().len(),
            "components": graph.components.sizes(),
            "links": graph.links.iter().map(|link| json!([link.i, link.j, link.weight])).collect::<Vec<_>>(),
            "flat_decay": graph.stochastic.has_flat_decay(),
            "crossing_rate": graph.crossing_rate,
            "search": graph.search,
            "training": training.collect::<Vec<_>>(),
            "preparation": self.prepared.report,
        })
        .to_string()
    }

    /// Clusters of the graph.
    fn cluster(&self, py: Python<'_>, params: &str, run_args: RunArgs) -> PyResult<PyClustering> {
        PyClustering::new(py, &self.graph.graph, &self.graph.duplicates, params, &run_args)
    }

    /// Stability of clusters over drawn graphs: overall, of each draw, of each row.
    fn stability<'py>(
        &self,
        py: Python<'py>,
        clusters: &PyClustering,
        draws: usize,
        run_args: RunArgs,
    ) -> PyResult<(f64, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
        let Self { graph, params, .. } = self;
        let PyClustering { clustering, params: cluster, .. } = clusters;
        let draws = StabilityParams { draws };
        let found = run(py, &run_args, |run| stability(graph, params, clustering, cluster, &draws, run))?;
        let of_rows = graph.duplicates.restore(&found.of_nodes);
        Ok((found.overall, found.of_draws.into_pyarray(py), of_rows.into_pyarray(py)))
    }

    /// The smallest eigenvectors as coordinates.
    fn embed(
        &self,
        py: Python<'_>,
        n_columns: usize,
        laplacian: &str,
        rows: &str,
        run_args: RunArgs,
    ) -> PyResult<PyEmbedding> {
        let (graph, duplicates) = (&self.graph.graph, &self.graph.duplicates);
        PyEmbedding::new(py, graph, duplicates, n_columns, (laplacian, rows), &run_args)
    }

    /// Labels from examples: a class for each row, −1 where there is none.
    fn propagate(
        &self,
        py: Python<'_>,
        labels: PyReadonlyArray1<'_, i64>,
        n_classes: usize,
        params: &str,
        run_args: RunArgs,
    ) -> PyResult<PyPropagation> {
        let (graph, duplicates) = (&self.graph.graph, &self.graph.duplicates);
        PyPropagation::new(py, graph, duplicates, &labels, n_classes, params, &run_args)
    }

    /// What places new points: into the graph, and into clusters, an embedding or classes if they are given.
    #[pyo3(signature = (clusters=None, embedding=None, classes=None, points=None))]
    fn model(
        &self,
        py: Python<'_>,
        clusters: Option<&PyClustering>,
        embedding: Option<&PyEmbedding>,
        classes: Option<&PyPropagation>,
        points: Option<PyReadonlyArray2<'_, f64>>,
    ) -> PyResult<PyModel> {
        let values = points.as_ref().map(|points| points.as_slice()).transpose()?;
        let n_columns = points.as_ref().map_or(0, |points| points.shape()[1]);
        let parts = (
            clusters.map(|clusters| (&clusters.clustering, &clusters.params)),
            embedding,
            classes.map(|classes| &classes.propagation),
        );
        let model = aside(py, || self.model_with(parts, values, n_columns))?;
        Ok(PyModel::new(checked(py, model)?))
    }
}

type ModelParts<'a> =
    (Option<(&'a Clustering, &'a ClusterParams)>, Option<&'a PyEmbedding>, Option<&'a Propagation>);

impl PyRobustGraph {
    /// The graph of what `prepare` gives.
    fn new(
        py: Python<'_>,
        params: &str,
        run_args: &RunArgs,
        prepare: impl FnOnce(&Run<'_>) -> Result<Prepared> + Send,
    ) -> PyResult<Self> {
        let params = checked_params(py, params)?;
        let (prepared, graph) = run(py, run_args, |run| {
            let prepared = prepare(run)?;
            let graph = robust_graph(&prepared.space, &params, run)?;
            Ok((prepared, graph))
        })?;
        Ok(Self { graph, params, prepared })
    }

    /// `values` stand for sparse points, which models do not have.
    fn model_with(
        &self,
        (clusters, embedding, classes): ModelParts<'_>,
        values: Option<&[f64]>,
        n_columns: usize,
    ) -> Result<Model> {
        let mut model = match (values, &self.prepared.space) {
            (Some(values), Space::Sparse(sparse)) => {
                let points = Points::new(values.to_vec(), n_columns)?;
                let space = Space::from_points(points, sparse.metric())?;
                Model::new(&space, &self.graph, &self.params)?
            }
            _ => Model::new(&self.prepared.space, &self.graph, &self.params)?,
        };
        if let Some(rule) = &self.prepared.rule {
            model = model.with_rule(rule.clone())?;
        }
        if let Some((clustering, params)) = clusters {
            model = model.with_clusters(&self.graph, clustering, params)?;
        }
        if let Some(PyEmbedding { embedding, kind, rows, .. }) = embedding {
            model = model.with_embedding(&self.graph, embedding, *kind, *rows)?;
        }
        match classes {
            Some(propagation) => model.with_classes(propagation),
            None => Ok(model),
        }
    }
}

fn checked_params(py: Python<'_>, text: &str) -> PyResult<CheckedGraphParams> {
    let params: GraphParams = parse(py, "graph", text)?;
    checked(py, params.check())
}
