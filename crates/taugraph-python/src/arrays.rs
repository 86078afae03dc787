//! NumPy arrays for Python, without copies where the representation is the same.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use taugraph::graph::SparseGraph;

/// Row offsets, columns and values, as scipy has them.
pub type Csr<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<f64>>);

/// A graph for scipy.
pub fn csr_of(py: Python<'_>, offsets: Vec<u64>, ids: Vec<u32>, values: Vec<f64>) -> Csr<'_> {
    let offsets: Vec<i64> = bytemuck::cast_vec(offsets);
    let ids: Vec<i32> = bytemuck::cast_vec(ids);
    (offsets.into_pyarray(py), ids.into_pyarray(py), values.into_pyarray(py))
}

pub fn csr_of_graph<'py>(py: Python<'py>, graph: &SparseGraph) -> Csr<'py> {
    csr_of(py, graph.offsets().to_vec(), graph.ids().to_vec(), graph.weights().to_vec())
}

/// A table with this many columns, row by row.
pub fn table<'py, T: numpy::Element>(
    py: Python<'py>,
    values: Vec<T>,
    n_columns: usize,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let n_rows = values.len().checked_div(n_columns).unwrap_or(0);
    values.into_pyarray(py).reshape([n_rows, n_columns])
}

/// Clusters and classes as Python counts them.
pub fn labels_of<'py>(py: Python<'py>, labels: &[u32]) -> Bound<'py, PyArray1<i64>> {
    labels.iter().map(|&label| i64::from(label)).collect::<Vec<_>>().into_pyarray(py)
}

/// The same with −1 for none.
pub fn with_gaps(labels: &[Option<u32>]) -> Vec<i64> {
    labels.iter().map(|label| label.map_or(-1, i64::from)).collect()
}
