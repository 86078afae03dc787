//! The native part of the Python package `taugraph`: it converts, calls and maps errors. What it is called with has been
//! checked by the package around it.

// Tuples of arrays are what Python gets.
#![allow(clippy::type_complexity)]

mod arrays;
mod clusters;
mod datasets;
mod errors;
mod graph;
mod labels;
mod model;
mod running;
mod stages;

use pyo3::prelude::*;

/// Built in Rust.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<graph::PyRobustGraph>()?;
    module.add_class::<clusters::PyClustering>()?;
    module.add_class::<clusters::PyEmbedding>()?;
    module.add_class::<labels::PyPropagation>()?;
    module.add_class::<model::PyModel>()?;
    module.add_class::<model::PyPlacement>()?;
    module.add_function(wrap_pyfunction!(clusters::cluster_graph, module)?)?;
    module.add_function(wrap_pyfunction!(clusters::embed_graph, module)?)?;
    module.add_function(wrap_pyfunction!(labels::propagate_graph, module)?)?;
    module.add_function(wrap_pyfunction!(datasets::dataset_names, module)?)?;
    module.add_function(wrap_pyfunction!(datasets::dataset, module)?)?;
    module.add_function(wrap_pyfunction!(stages::available_memory, module)?)?;
    module.add_function(wrap_pyfunction!(stages::presets, module)?)?;
    module.add_function(wrap_pyfunction!(stages::estimators, module)?)?;
    module.add_function(wrap_pyfunction!(stages::quantiles, module)?)?;
    module.add_function(wrap_pyfunction!(stages::defaults, module)?)?;
    module.add_function(wrap_pyfunction!(stages::neighbors, module)?)?;
    module.add_function(wrap_pyfunction!(stages::scales_of_neighbors, module)?)?;
    module.add_function(wrap_pyfunction!(stages::baseline_graph, module)?)?;
    module.add_function(wrap_pyfunction!(stages::consensus, module)?)?;
    module.add_function(wrap_pyfunction!(stages::score, module)?)?;
    module.add_function(wrap_pyfunction!(stages::generate, module)?)
}
