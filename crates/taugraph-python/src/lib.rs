//! The native part of the Python package `taugraph`: it converts arguments, calls the library and maps errors. Arguments have been
//! checked by the Python package, or are checked by the library.

// Python gets tuples of arrays.
#![allow(clippy::type_complexity)]

mod arrays;
mod ballast;
mod clusters;
mod config;
mod datasets;
mod embedding;
mod errors;
mod graph;
mod input;
mod labels;
mod model;
mod partition;
mod partition_graph;
mod partition_solver;
mod report;
mod running;
mod stages;
mod synthetic;
mod values;

use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: ballast::WithBallast = ballast::WithBallast;

/// Built in Rust.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<config::PyConfig>()?;
    module.add_class::<input::PyInput>()?;
    module.add_class::<graph::PyFittedGraph>()?;
    module.add_class::<clusters::PyFittedClusters>()?;
    module.add_class::<embedding::PyFittedEmbedding>()?;
    module.add_class::<labels::PyFittedLabels>()?;
    module.add_class::<model::PyModel>()?;
    module.add_class::<model::PyPlacement>()?;
    module.add_function(wrap_pyfunction!(config::preset_names, module)?)?;
    module.add_function(wrap_pyfunction!(config::baseline_names, module)?)?;
    module.add_function(wrap_pyfunction!(errors::error_names, module)?)?;
    module.add_function(wrap_pyfunction!(graph::fit_graph, module)?)?;
    module.add_function(wrap_pyfunction!(clusters::fit_clusters, module)?)?;
    module.add_function(wrap_pyfunction!(embedding::fit_embedding, module)?)?;
    module.add_function(wrap_pyfunction!(labels::fit_labels, module)?)?;
    module.add_function(wrap_pyfunction!(report::report, module)?)?;
    module.add_function(wrap_pyfunction!(stages::quantiles, module)?)?;
    module.add_function(wrap_pyfunction!(stages::neighbors, module)?)?;
    module.add_function(wrap_pyfunction!(stages::scales_of_neighbors, module)?)?;
    module.add_function(wrap_pyfunction!(stages::consensus, module)?)?;
    // Functions of the stages on many machines.
    module.add_function(wrap_pyfunction!(partition::block_rows, module)?)?;
    module.add_function(wrap_pyfunction!(partition::block_moments, module)?)?;
    module.add_function(wrap_pyfunction!(partition::joined_moments, module)?)?;
    module.add_function(wrap_pyfunction!(partition::column_model, module)?)?;
    module.add_function(wrap_pyfunction!(partition::prepared_rows, module)?)?;
    module.add_function(wrap_pyfunction!(partition::train_cells, module)?)?;
    module.add_function(wrap_pyfunction!(partition::cells_of_points, module)?)?;
    module.add_function(wrap_pyfunction!(partition::nearest_cells, module)?)?;
    module.add_function(wrap_pyfunction!(partition::search_cells, module)?)?;
    module.add_function(wrap_pyfunction!(partition::incident_edges, module)?)?;
    module.add_function(wrap_pyfunction!(partition::half_pools, module)?)?;
    module.add_function(wrap_pyfunction!(partition::joined_halves, module)?)?;
    module.add_function(wrap_pyfunction!(partition::edge_probabilities, module)?)?;
    module.add_function(wrap_pyfunction!(partition::robust_values, module)?)?;
    module.add_function(wrap_pyfunction!(partition::finished_scales, module)?)?;
    module.add_function(wrap_pyfunction!(partition::edge_weights, module)?)?;
    module.add_function(wrap_pyfunction!(partition::bit_histogram, module)?)?;
    module.add_function(wrap_pyfunction!(partition::value_of_key, module)?)?;
    module.add_function(wrap_pyfunction!(partition::nearest_outside, module)?)?;
    module.add_class::<partition_graph::PyPartGraph>()?;
    module.add_class::<partition_graph::PyMergeTrees>()?;
    module.add_function(wrap_pyfunction!(partition_graph::components_of_pairs, module)?)?;
    module.add_function(wrap_pyfunction!(partition_graph::link_weight, module)?)?;
    module.add_function(wrap_pyfunction!(partition_graph::unsmoothed_density, module)?)?;
    module.add_function(wrap_pyfunction!(partition_graph::smoothings, module)?)?;
    module.add_function(wrap_pyfunction!(partition_graph::cut_quality, module)?)?;
    module.add_function(wrap_pyfunction!(partition_graph::best_cut, module)?)?;
    module.add_function(wrap_pyfunction!(partition_graph::prefers_agglomeration, module)?)?;
    module.add_function(wrap_pyfunction!(partition_graph::max_spectral_clusters, module)?)?;
    module.add_class::<partition_solver::PyPartitionSolver>()?;
    module.add_class::<partition_solver::PyCoarseSolver>()?;
    module.add_class::<partition_solver::PyEigenSearch>()?;
    module.add_class::<partition_solver::PyEmbeddedRows>()?;
    module.add_function(wrap_pyfunction!(partition_solver::sum_in_order, module)?)?;
    module.add_function(wrap_pyfunction!(partition_solver::embedding_centers, module)?)?;
    module.add_function(wrap_pyfunction!(synthetic::score, module)?)?;
    module.add_function(wrap_pyfunction!(synthetic::generate, module)?)?;
    module.add_function(wrap_pyfunction!(datasets::dataset_names, module)?)?;
    module.add_function(wrap_pyfunction!(datasets::dataset, module)?)
}
