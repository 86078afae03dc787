//! NumPy arrays in and out, without copies where the bits are the same.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use taugraph::error::Error;
use taugraph::graph::{Asymmetry, SparseGraph};

use crate::errors::{checked, exception};
use crate::running::aside;

/// Row offsets, columns and values, as scipy has them.
pub type Csr<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<f64>>);

/// The same as they come in; scipy's 32-bit offsets are widened before.
pub type CsrInput<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i32>, PyReadonlyArray1<'py, f64>);

/// A graph for scipy.
pub fn csr_of(py: Python<'_>, offsets: Vec<u64>, ids: Vec<u32>, values: Vec<f64>) -> Csr<'_> {
    let offsets: Vec<i64> = bytemuck::cast_vec(offsets);
    let ids: Vec<i32> = bytemuck::cast_vec(ids);
    (offsets.into_pyarray(py), ids.into_pyarray(py), values.into_pyarray(py))
}

pub fn csr_of_graph<'py>(py: Python<'py>, graph: &SparseGraph) -> Csr<'py> {
    csr_of(py, graph.offsets().to_vec(), graph.ids().to_vec(), graph.weights().to_vec())
}

/// Offsets and ids of a square or rectangular matrix; negative ones become too large, and are refused as such.
pub fn parts_of(csr: &CsrInput<'_>) -> PyResult<(Vec<u64>, Vec<u32>, Vec<f64>)> {
    let (offsets, ids, values) = csr;
    let offsets: Vec<u64> = bytemuck::cast_slice(offsets.as_slice()?).to_vec();
    let ids: Vec<u32> = bytemuck::cast_slice(ids.as_slice()?).to_vec();
    Ok((offsets, ids, values.as_slice()?.to_vec()))
}

/// A graph from scipy; loops are dropped.
pub fn graph_of(py: Python<'_>, csr: &CsrInput<'_>) -> PyResult<SparseGraph> {
    let (offsets, ids, weights) = parts_of(csr)?;
    let ascending = offsets.first() == Some(&0) && offsets.windows(2).all(|pair| pair[0] <= pair[1]);
    if !ascending || offsets.last() != Some(&(ids.len() as u64)) || ids.len() != weights.len() {
        let rule = "offsets must begin with 0, ascend and end with the number of entries";
        return Err(exception(py, &Error::BadStructure { row: 0, rule }));
    }
    let n = offsets.len() - 1;
    let rows = (0..n as u32).flat_map(|row| {
        let entries = offsets[row as usize] as usize..offsets[row as usize + 1] as usize;
        entries.map(move |entry| (row, entry))
    });
    let entries = rows.map(|(row, entry)| (row, ids[entry], weights[entry]));
    let made = aside(py, || SparseGraph::from_entries(n, entries, Asymmetry::Refuse))?;
    Ok(checked(py, made)?.0)
}

/// A table of so many columns, row by row.
pub fn table<'py, T: numpy::Element>(
    py: Python<'py>,
    values: Vec<T>,
    n_columns: usize,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let n_rows = values.len().checked_div(n_columns).unwrap_or(0);
    values.into_pyarray(py).reshape([n_rows, n_columns])
}

/// Labels as Python has them: −1 where there is none.
pub fn with_gaps(labels: &[Option<u32>]) -> Vec<i64> {
    labels.iter().map(|label| label.map_or(-1, i64::from)).collect()
}
