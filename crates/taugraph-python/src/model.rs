//! Models that place new points, as handles that can be saved and pickled.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use taugraph::model::{Model, Placement};

use crate::arrays::{Csr, csr_of, labels_of, table, with_gaps};
use crate::errors::checked;
use crate::input::PyInput;
use crate::running::{RunArgs, aside, run};
use crate::values::{from_python, to_python};

/// A model.
#[pyclass(frozen, name = "Model", module = "taugraph._core")]
pub struct PyModel {
    model: Model,
}

impl PyModel {
    pub fn new(model: Model) -> Self {
        Self { model }
    }
}

#[pymethods]
impl PyModel {
    /// A model from the bytes of a file, from any front end.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: PyBackedBytes) -> PyResult<Self> {
        let model = aside(py, || Model::from_bytes(&data))?;
        Ok(Self::new(checked(py, model)?))
    }

    /// The bytes of a file with this model.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = aside(py, || self.model.to_bytes())?;
        Ok(PyBytes::new(py, &checked(py, bytes)?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let constructor = slf.get_type().getattr("from_bytes")?;
        Ok((constructor, (slf.get().to_bytes(slf.py())?,)))
    }

    /// A copy with names of columns and classes, and an origin; whatever is not given stays.
    #[pyo3(signature = (columns=None, classes=None, origin=None))]
    fn with_names(
        &self,
        py: Python<'_>,
        columns: Option<Vec<String>>,
        classes: Option<Vec<String>>,
        origin: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let mut model = self.model.clone();
        if let Some(columns) = columns {
            model = checked(py, model.with_columns(columns))?;
        }
        if let Some(classes) = classes {
            model = checked(py, model.with_class_names(classes))?;
        }
        if let Some(origin) = origin {
            model = model.with_origin(from_python(origin)?);
        }
        Ok(Self::new(model))
    }

    /// Columns of the raw points.
    fn n_columns(&self) -> usize {
        self.model.n_raw_columns()
    }

    /// Number of rows that it was built from.
    fn n_rows(&self) -> usize {
        self.model.n_rows()
    }

    /// Names of the columns of the table that it was built from.
    fn columns(&self) -> Option<Vec<String>> {
        self.model.columns().map(<[String]>::to_vec)
    }

    /// Names of the classes.
    fn class_names(&self) -> Option<Vec<String>> {
        self.model.class_names().map(<[String]>::to_vec)
    }

    /// The origin recorded by the front end that saved it.
    fn origin<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.model.origin().map(|origin| to_python(py, origin)).transpose()
    }

    /// Places new points.
    fn place(&self, py: Python<'_>, points: &PyInput, run_args: RunArgs) -> PyResult<PyPlacement> {
        let model = &self.model;
        let placement = points.lend(py, |lent| {
            run(py, &run_args, |run| {
                let table = lent.table(run.memory_limit)?;
                let (points, _) = model.prepare(table.values(), table.n_columns())?;
                model.place(&points, run)
            })
        })?;
        let (n_embedded, n_classes) = (model.n_embedded().unwrap_or(0), model.n_classes().unwrap_or(0));
        let (n_clusters, row_of_node) = (model.n_clusters().unwrap_or(0), model.row_of_node().to_vec());
        Ok(PyPlacement { placement, n_embedded, n_clusters, n_classes, row_of_node })
    }
}

/// Results for new points.
#[pyclass(frozen, name = "Placement", module = "taugraph._core")]
pub struct PyPlacement {
    placement: Placement,
    n_embedded: usize,
    n_clusters: usize,
    n_classes: usize,
    row_of_node: Vec<u32>,
}

#[pymethods]
impl PyPlacement {
    /// Weights to known rows; columns are indices of those.
    fn graph<'py>(&self, py: Python<'py>) -> Csr<'py> {
        let rows = self.placement.nodes.iter().map(|&node| self.row_of_node[node as usize]).collect();
        csr_of(py, self.placement.offsets.clone(), rows, self.placement.affinities.clone())
    }

    /// The known row that each point equals, −1 if none.
    fn same_as<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let row = |node: &Option<u32>| node.map(|node| self.row_of_node[node as usize]);
        with_gaps(&self.placement.same_as.iter().map(row).collect::<Vec<_>>()).into_pyarray(py)
    }

    /// Cluster and margin of each point.
    fn clusters<'py>(
        &self,
        py: Python<'py>,
    ) -> Option<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>)> {
        let clusters = self.placement.clusters.as_ref()?;
        Some((labels_of(py, &clusters.labels), clusters.margins.clone().into_pyarray(py)))
    }

    /// Membership of each point in each cluster.
    fn memberships<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let clusters = self.placement.clusters.as_ref();
        clusters.map(|clusters| table(py, clusters.memberships.clone(), self.n_clusters)).transpose()
    }

    /// Cluster of each point in each layer, from coarse to fine: a row for each point.
    fn layers<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<i64>>>> {
        let Some(clusters) = &self.placement.clusters else { return Ok(None) };
        let (n, layers) = (clusters.labels.len(), &clusters.layers);
        let labels = (0..n).flat_map(|row| layers.iter().map(move |layer| i64::from(layer[row])));
        labels.collect::<Vec<_>>().into_pyarray(py).reshape([n, layers.len()]).map(Some)
    }

    /// Outlier score of each point.
    fn outlier_scores<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.placement.outlier_scores.clone().into_pyarray(py)
    }

    fn embedding<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let embedding = self.placement.clusters.as_ref().and_then(|clusters| clusters.embedding.clone());
        embedding.map(|embedding| table(py, embedding, self.n_embedded)).transpose()
    }

    /// Class (−1 where none is near), probabilities and margin of each point.
    fn classes<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>)>>
    {
        let Some(classes) = &self.placement.classes else { return Ok(None) };
        let probabilities = table(py, classes.probabilities.clone(), self.n_classes)?;
        let labels = with_gaps(&classes.labels).into_pyarray(py);
        Ok(Some((labels, probabilities, classes.margins.clone().into_pyarray(py))))
    }
}
