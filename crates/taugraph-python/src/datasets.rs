//! The paper's datasets.

use numpy::PyArray2;
use pyo3::exceptions::{PyFileNotFoundError, PyKeyError};
use pyo3::prelude::*;
use taugraph_lab::datasets::{DATASETS, Store, find, load};

use crate::arrays::table;

/// Names of all datasets.
#[pyfunction]
pub fn dataset_names() -> Vec<&'static str> {
    DATASETS.iter().map(|info| info.id).collect()
}

/// Points, classes by name, and names of the columns.
#[pyfunction]
pub fn dataset<'py>(
    py: Python<'py>,
    name: &str,
) -> PyResult<(Bound<'py, PyArray2<f64>>, Vec<String>, Vec<String>)> {
    let info = find(name).map_err(|error| PyKeyError::new_err(error.to_string()))?;
    let found = load(info, &Store::from_environment())
        .map_err(|error| PyFileNotFoundError::new_err(error.to_string()))?;
    Ok((table(py, found.values, found.feature_names.len())?, found.labels, found.feature_names))
}
