//! The robust graph of points, distances or neighbours, and what is made from it.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use serde_json::json;
use taugraph::cluster::{Clustering, StabilityParams, spectral_clustering, stability};
use taugraph::distance::{DistanceMatrix, Metric};
use taugraph::model::Model;
use taugraph::neighbors::{NeighborGraph, Space};
use taugraph::params::{CheckedGraphParams, GraphParams};
use taugraph::points::{PreparationParams, PreparationRule, SparsePoints, prepare, prepare_sparse};
use taugraph::propagate::{Examples, PropagateParams, Propagation, propagate};
use taugraph::robust::{RobustGraph, robust_graph};
use taugraph::spectral::{EigenParams, EmbeddingRows, LaplacianKind, embed};

use crate::arrays::{Csr, CsrInput, csr_of_graph, parts_of, table};
use crate::clusters::{PyClustering, PyEmbedding};
use crate::errors::{checked, parse};
use crate::labels::{PyPropagation, examples_of};
use crate::model::PyModel;
use crate::running::{RunArgs, aside, run};

/// A robust graph with the points that it was made from.
#[pyclass(frozen, name = "RobustGraph", module = "taugraph._core")]
pub struct PyRobustGraph {
    graph: Arc<RobustGraph>,
    params: CheckedGraphParams,
    space: Space,
    rule: Option<PreparationRule>,
    preparation: serde_json::Value,
}

/// Graph and what was prepared, without Python.
struct Made {
    space: Space,
    graph: RobustGraph,
    rule: Option<PreparationRule>,
    preparation: serde_json::Value,
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
        let params = checked_params(py, params)?;
        let (values, n_columns) = (points.as_slice()?, points.shape()[1]);
        let made = run(py, &run_args, |run| {
            run.stage("prepare", None)?;
            let prepared = prepare(values, n_columns, &preparation, run)?;
            let rule = Some(prepared.rule());
            let preparation = json!({
                "constant_columns": prepared.constant_columns,
                "empty_columns": prepared.empty_columns,
                "imputed_cells": prepared.n_imputed(),
                "pca_share": prepared.pca.as_ref().map(|pca| pca.explained()),
            });
            let space = Space::from_points(prepared.points, metric)?;
            let graph = robust_graph(&space, &params, run)?;
            Ok(Made { space, graph, rule, preparation })
        })?;
        Ok(Self::new(made, params))
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
        let params = checked_params(py, params)?;
        let (offsets, columns, values) = parts_of(&points)?;
        let made = run(py, &run_args, |run| {
            let points =
                prepare_sparse(SparsePoints::new(n_columns, offsets, columns, values)?, &preparation)?;
            let space = Space::from_sparse(points, metric)?;
            let graph = robust_graph(&space, &params, run)?;
            Ok(Made { space, graph, rule: None, preparation: json!({}) })
        })?;
        Ok(Self::new(made, params))
    }

    /// From distances between all pairs.
    #[staticmethod]
    fn from_distances(
        py: Python<'_>,
        distances: PyReadonlyArray2<'_, f64>,
        params: &str,
        run_args: RunArgs,
    ) -> PyResult<Self> {
        let params = checked_params(py, params)?;
        let (values, n) = (distances.as_slice()?, distances.shape()[0]);
        let made = run(py, &run_args, |run| {
            let space = Space::Distances(DistanceMatrix::new(values.to_vec(), n)?);
            let graph = robust_graph(&space, &params, run)?;
            Ok(Made { space, graph, rule: None, preparation: json!({}) })
        })?;
        Ok(Self::new(made, params))
    }

    /// From the nearest neighbours of every point, nearest first.
    #[staticmethod]
    fn from_neighbors(
        py: Python<'_>,
        ids: PyReadonlyArray2<'_, u32>,
        distances: PyReadonlyArray2<'_, f64>,
        params: &str,
        run_args: RunArgs,
    ) -> PyResult<Self> {
        let params = checked_params(py, params)?;
        let (n, k) = (ids.shape()[0], ids.shape()[1]);
        let (ids, distances) = (ids.as_slice()?.to_vec(), distances.as_slice()?.to_vec());
        let made = run(py, &run_args, |run| {
            let space = Space::Neighbors(NeighborGraph::new(n, k, ids, distances)?);
            let graph = robust_graph(&space, &params, run)?;
            Ok(Made { space, graph, rule: None, preparation: json!({}) })
        })?;
        Ok(Self::new(made, params))
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

    /// The distinct point of each row, and the first row of each distinct point.
    fn nodes<'py>(&self, py: Python<'py>) -> (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>) {
        let duplicates = &self.graph.duplicates;
        (
            duplicates.node_of_row().to_vec().into_pyarray(py),
            duplicates.row_of_node().to_vec().into_pyarray(py),
        )
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
            "preparation": self.preparation,
        })
        .to_string()
    }

    /// Clusters of the graph.
    fn cluster(&self, py: Python<'_>, params: &str, run_args: RunArgs) -> PyResult<PyClustering> {
        let params = parse(py, "cluster", params)?;
        let clustering = run(py, &run_args, |run| spectral_clustering(&self.graph.graph, &params, run))?;
        Ok(PyClustering { clustering, params, duplicates: self.graph.duplicates.clone() })
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
        let kind: LaplacianKind = parse(py, "laplacian", laplacian)?;
        let rows: EmbeddingRows = parse(py, "rows", rows)?;
        let eigen = EigenParams::default();
        let embedding =
            run(py, &run_args, |run| embed(&self.graph.graph, kind, n_columns, rows, &eigen, run))?;
        Ok(PyEmbedding { embedding, kind, rows, duplicates: self.graph.duplicates.clone() })
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
        let params: PropagateParams = parse(py, "propagate", params)?;
        let given = examples_of(py, labels.as_slice()?)?;
        let duplicates = &self.graph.duplicates;
        let (examples, n_conflicts) = checked(py, Examples::of_rows(&given, n_classes, duplicates))?;
        let propagation = run(py, &run_args, |run| propagate(&self.graph.graph, &examples, &params, run))?;
        let rows = propagation.of_rows(&given, duplicates, params.hold);
        Ok(PyPropagation { propagation, rows, n_conflicts, n_classes })
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

type ModelParts<'a> = (
    Option<(&'a Clustering, &'a taugraph::cluster::ClusterParams)>,
    Option<&'a PyEmbedding>,
    Option<&'a Propagation>,
);

impl PyRobustGraph {
    fn new(made: Made, params: CheckedGraphParams) -> Self {
        let Made { space, graph, rule, preparation } = made;
        Self { graph: Arc::new(graph), params, space, rule, preparation }
    }

    /// `values` stand for sparse points, which models do not have.
    fn model_with(
        &self,
        (clusters, embedding, classes): ModelParts<'_>,
        values: Option<&[f64]>,
        n_columns: usize,
    ) -> taugraph::error::Result<Model> {
        let mut model = match (values, &self.space) {
            (Some(values), Space::Sparse(sparse)) => {
                let points = taugraph::points::Points::new(values.to_vec(), n_columns)?;
                let space = Space::from_points(points, sparse.metric())?;
                Model::new(&space, &self.graph, &self.params)?
            }
            _ => Model::new(&self.space, &self.graph, &self.params)?,
        };
        if let Some(rule) = &self.rule {
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
