//! Models that place new points, as handles that can be pickled.

use std::borrow::Cow;

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyReadonlyArrayDyn,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use taugraph::arrays::{Array, Arrays, Values};
use taugraph::model::{Model, Placement};
use taugraph::points::Points;

use crate::arrays::{Csr, csr_of, table, with_gaps};
use crate::errors::{checked, parse};
use crate::running::{RunArgs, aside, run};

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
    /// From what `arrays` gave.
    #[staticmethod]
    fn from_arrays(py: Python<'_>, header: &str, named: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut arrays = Arrays::new();
        for (name, array) in named.iter() {
            arrays.insert(name.extract()?, checked(py, array_of(&array)?)?);
        }
        let header = parse(py, "the header of a model", header)?;
        let model = aside(py, || Model::from_arrays(header, arrays))?;
        Ok(Self::new(checked(py, model)?))
    }

    /// Everything as a text and named arrays.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<(String, Bound<'py, PyDict>)> {
        let (header, arrays) = self.model.to_arrays();
        let named = PyDict::new(py);
        for (name, array) in arrays.iter() {
            let shape = array.shape().to_vec();
            let any = match array.values() {
                Values::F64(values) => values.to_vec().into_pyarray(py).reshape(shape)?.into_any(),
                Values::U32(values) => values.to_vec().into_pyarray(py).reshape(shape)?.into_any(),
                Values::U64(values) => values.to_vec().into_pyarray(py).reshape(shape)?.into_any(),
            };
            named.set_item(name, any)?;
        }
        Ok((serde_json::to_string(&header).expect("names and numbers are JSON"), named))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (String, Bound<'py, PyDict>))> {
        let constructor = slf.get_type().getattr("from_arrays")?;
        Ok((constructor, slf.get().arrays(slf.py())?))
    }

    /// Places new points.
    fn place(
        &self,
        py: Python<'_>,
        points: PyReadonlyArray2<'_, f64>,
        run_args: RunArgs,
    ) -> PyResult<PyPlacement> {
        let (values, n_columns) = (points.as_slice()?, points.shape()[1]);
        let model = &self.model;
        let placement = run(py, &run_args, |run| {
            let points = match model.preparation() {
                Some(_) => model.prepare(values, n_columns)?.0,
                None => Points::new(values.to_vec(), n_columns)?,
            };
            model.place(&points, run)
        })?;
        let (n_embedded, n_classes) = (model.n_embedded().unwrap_or(0), model.n_classes().unwrap_or(0));
        let row_of_node = model.row_of_node().to_vec();
        Ok(PyPlacement { placement, n_embedded, n_classes, row_of_node })
    }
}

fn array_of(array: &Bound<'_, PyAny>) -> PyResult<taugraph::error::Result<Array<'static>>> {
    if let Ok(array) = array.extract::<PyReadonlyArrayDyn<'_, f64>>() {
        return Ok(Array::new(array.shape().to_vec(), Values::F64(Cow::Owned(array.as_slice()?.to_vec()))));
    }
    if let Ok(array) = array.extract::<PyReadonlyArrayDyn<'_, u32>>() {
        return Ok(Array::new(array.shape().to_vec(), Values::U32(Cow::Owned(array.as_slice()?.to_vec()))));
    }
    if let Ok(array) = array.extract::<PyReadonlyArrayDyn<'_, u64>>() {
        return Ok(Array::new(array.shape().to_vec(), Values::U64(Cow::Owned(array.as_slice()?.to_vec()))));
    }
    Err(PyTypeError::new_err("the arrays of a model are float64, uint32 or uint64"))
}

/// Where new points are.
#[pyclass(frozen, name = "Placement", module = "taugraph._core")]
pub struct PyPlacement {
    placement: Placement,
    n_embedded: usize,
    n_classes: usize,
    row_of_node: Vec<u32>,
}

#[pymethods]
impl PyPlacement {
    /// Weights to known rows, columns counted as those.
    fn graph<'py>(&self, py: Python<'py>) -> Csr<'py> {
        let rows = self.placement.nodes.iter().map(|&node| self.row_of_node[node as usize]).collect();
        csr_of(py, self.placement.offsets.clone(), rows, self.placement.affinities.clone())
    }

    /// The known row that each point equals, −1 where it equals none.
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
        let labels: Vec<i64> = clusters.labels.iter().map(|&label| i64::from(label)).collect();
        Some((labels.into_pyarray(py), clusters.margins.clone().into_pyarray(py)))
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
