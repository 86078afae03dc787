//! Clusters of rows.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use taugraph::{Constraints, Explanation, FittedClusters, SpectralClustering};

use crate::arrays::{labels_of, table, with_gaps};
use crate::config::PyConfig;
use crate::graph::{GraphFirst, Start, model_of, warnings_of};
use crate::input::PyInput;
use crate::model::PyModel;
use crate::running::{RunArgs, aside, run};
use crate::values::to_python;

/// Clusters the rows of an input by the robust graph or by a baseline. Pairs of rows that must, or must not, share a cluster have
/// two columns.
#[pyfunction]
#[pyo3(signature = (input, config, run_args, baseline=None, graph_seed=None, must_link=None, cannot_link=None))]
#[allow(clippy::too_many_arguments)]
pub fn fit_clusters(
    py: Python<'_>,
    input: &PyInput,
    config: PyConfig,
    run_args: RunArgs,
    baseline: Option<&str>,
    graph_seed: Option<u64>,
    must_link: Option<PyReadonlyArray2<'_, u32>>,
    cannot_link: Option<PyReadonlyArray2<'_, u32>>,
) -> PyResult<PyFittedClusters> {
    let first = GraphFirst::new(py, baseline, graph_seed)?;
    let constraints = Constraints { must_link: pairs_of(must_link)?, cannot_link: pairs_of(cannot_link)? };
    let estimator = SpectralClustering::with_config(config.for_run(&run_args)).constraints(constraints);
    let clusters = input.lend(py, |lent| {
        run(py, &run_args, |run| match first.start(lent.input()?, estimator.config(), run)? {
            Start::Input(input) => estimator.fit_with(input, run),
            Start::Graph(graph) => estimator.fit_graph(*graph, run),
        })
    })?;
    Ok(PyFittedClusters { clusters })
}

fn pairs_of(pairs: Option<PyReadonlyArray2<'_, u32>>) -> PyResult<Vec<(u32, u32)>> {
    let Some(pairs) = pairs else { return Ok(Vec::new()) };
    if pairs.shape()[1] != 2 {
        return Err(PyValueError::new_err("pairs of rows have two columns"));
    }
    Ok(pairs.as_slice()?.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
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

type MergeArrays<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray2<i64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<i64>>,
);

#[pymethods]
impl PyFittedClusters {
    /// Cluster of each row, −1 for outliers if they were asked for.
    fn labels<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        with_gaps(&self.clusters.labels_without_outliers()).into_pyarray(py)
    }

    fn n_clusters(&self) -> usize {
        self.clusters.n_clusters()
    }

    /// The method that the labels come from.
    fn method(&self) -> &'static str {
        self.clusters.clustering().method.name()
    }

    /// If both methods ran: the ratio of their normalized cuts, and the modularity of agglomeration and of spectral clustering.
    fn choice(&self) -> Option<(f64, f64, f64)> {
        let choice = self.clusters.clustering().choice?;
        Some((choice.ratio(), choice.agglomerated.modularity, choice.spectral.modularity))
    }

    /// How sure the number of clusters is, in a sentence; `None` if it was given.
    fn evidence(&self) -> Option<String> {
        self.clusters.evidence()
    }

    /// The number of clusters by the boundaries, the resistance of the weakest, the word for it, and other numbers with theirs.
    fn count(&self) -> Option<(usize, f64, &'static str, Vec<(usize, f64)>)> {
        let count = self.clusters.clustering().count.as_ref()?;
        let alternatives = count.alternatives.iter().map(|other| (other.n_clusters, other.resistance));
        Some((count.n_clusters, count.resistance, count.evidence.name(), alternatives.collect()))
    }

    /// Nested clusters of each row from coarse to fine, each with the resistance of its weakest boundary.
    fn layers<'py>(&self, py: Python<'py>) -> Vec<(Bound<'py, PyArray1<i64>>, f64)> {
        let layers = self.clusters.layers();
        layers.iter().map(|(labels, resistance)| (labels_of(py, labels), *resistance)).collect()
    }

    /// Membership of each row in each cluster.
    fn memberships<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let memberships = aside(py, || self.clusters.memberships())?;
        table(py, memberships, self.clusters.n_clusters())
    }

    /// Outlier score of each row; `None` if the graph was given.
    fn outlier_scores<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        Some(self.clusters.outlier_scores()?.to_vec().into_pyarray(py))
    }

    /// The micro-community of each row, and of each merge the two groups, the linkage, the resistance and the number of distinct
    /// points; `None` if nothing was agglomerated.
    fn merge_tree<'py>(&self, py: Python<'py>) -> PyResult<Option<MergeArrays<'py>>> {
        let Some(tree) = &self.clusters.clustering().tree else { return Ok(None) };
        let merges = &tree.merges;
        let groups = merges.iter().flat_map(|merge| merge.groups.map(i64::from)).collect();
        Ok(Some((
            labels_of(py, &self.clusters.graph().per_row(&tree.micro_communities)),
            table(py, groups, 2)?,
            merges.iter().map(|merge| merge.linkage).collect::<Vec<_>>().into_pyarray(py),
            merges.iter().map(|merge| merge.resistance).collect::<Vec<_>>().into_pyarray(py),
            merges.iter().map(|merge| merge.size as i64).collect::<Vec<_>>().into_pyarray(py),
        )))
    }

    /// What each cluster is, by the columns of a table with the same rows.
    fn explain<'py>(
        &self,
        py: Python<'py>,
        points: &PyInput,
        run_args: RunArgs,
    ) -> PyResult<Bound<'py, PyAny>> {
        let found = points.lend(py, |lent| {
            run(py, &run_args, |run| self.clusters.explain(&lent.table(run.memory_limit)?))
        })?;
        to_python(py, &found.iter().map(explanation).collect())
    }

    /// Adjusted Rand index with the clusters of plain local scaling; `None` without points or with too many.
    fn agreement_with_local_scaling(&self, py: Python<'_>, run_args: RunArgs) -> PyResult<Option<f64>> {
        run(py, &run_args, |run| self.clusters.agreement_with_local_scaling(run))
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

    /// Stability over random graphs, if requested: overall, of each draw, of each row, of each cluster.
    fn stability<'py>(
        &self,
        py: Python<'py>,
    ) -> Option<(f64, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
        let (measured, of_rows) = (self.clusters.stability_of_nodes()?, self.clusters.stability()?);
        Some((
            measured.overall,
            measured.of_draws.clone().into_pyarray(py),
            of_rows.into_pyarray(py),
            measured.of_clusters.clone().into_pyarray(py),
        ))
    }

    fn warnings(&self) -> Vec<(&'static str, String)> {
        warnings_of(&self.clusters.warnings())
    }

    #[pyo3(signature = (run_args, sparse=None))]
    fn model(&self, py: Python<'_>, run_args: RunArgs, sparse: Option<&PyInput>) -> PyResult<PyModel> {
        model_of(py, self.clusters.graph(), sparse, &run_args, |model| self.clusters.add_to(model))
    }
}

/// An explanation with the numbers of columns.
fn explanation(found: &Explanation) -> Value {
    let columns = found.columns.iter().map(|one| {
        json!({
            "column": one.column,
            "mean": one.mean,
            "mean_outside": one.mean_outside,
            "standardized_difference": one.standardized_difference,
        })
    });
    let rule = found.rule.as_ref().map(|rule| {
        let conditions = rule.conditions.iter().map(|condition| {
            let operator = if condition.is_above { ">" } else { "<=" };
            json!({"column": condition.column, "operator": operator, "threshold": condition.threshold})
        });
        let conditions: Vec<Value> = conditions.collect();
        json!({"conditions": conditions, "precision": rule.precision, "recall": rule.recall})
    });
    let columns: Vec<Value> = columns.collect();
    json!({"size": found.size, "typical_rows": found.typical_rows, "columns": columns, "rule": rule})
}
