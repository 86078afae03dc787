//! One file for each command.

mod cluster;
mod compare;
mod demo;
mod evaluate;
mod generate;
mod graph;
mod info;
mod manual;
mod params;
mod predict;
mod propagate;

pub use cluster::{cluster, plot};
pub use compare::compare;
pub use demo::demo;
pub use evaluate::evaluate;
pub use generate::generate;
pub use graph::graph;
pub use info::info;
pub use manual::{completions, manual};
pub use params::params;
pub use predict::predict;
pub use propagate::propagate;

use std::path::Path;

use taugraph::FittedGraph;
use taugraph::model::Model;
use taugraph::robust::RowEdge;
use taugraph_io::{NewColumn, NewTable, Output, SparseMatrix, write_table};

use crate::dataset::{Dataset, Kind};
use crate::failure::{Failure, Outcome};
use crate::model_file;
use crate::settings::{InputSettings, Settings};

/// A model is made of points; to be found out before the work.
fn check_model_input(path: Option<&Path>, kind: Kind) -> Outcome<()> {
    let message = match kind {
        _ if path.is_none() => return Ok(()),
        Kind::Points => return Ok(()),
        Kind::Sparse => {
            "--save-model needs a dense table of points: new rows cannot be placed among sparse ones"
        }
        Kind::Distances | Kind::Graph => {
            "--save-model needs a table of points: new ones cannot be placed among distances or into a given graph"
        }
    };
    Err(Failure::Usage(message.into()))
}

/// Writes what places new rows, with the names that people know.
fn save_model(
    model: Model,
    command: &str,
    settings: &Settings,
    dataset: &Dataset,
    classes: &[String],
    path: &Path,
) -> Outcome<()> {
    model_file::save_model(model, command, settings, &dataset.features, classes, &Output::new(path))
}

/// What is text beside numbers in a table of results.
fn text_of(input: &InputSettings) -> Option<&'static str> {
    input.id_column.as_ref().map(|_| "the cells of --id-column")
}

/// The names of the rows, if there are any, and what belongs to them.
fn with_ids(dataset: &Dataset, id_name: Option<&str>, columns: Vec<NewColumn>) -> NewTable {
    let ids = dataset.ids.as_ref().zip(id_name);
    let ids = ids.map(|(ids, name)| NewColumn::texts(name, ids.iter().cloned()));
    NewTable::new(ids.into_iter().chain(columns).collect())
}

/// Local scales of each row.
fn write_scales(graph: &FittedGraph, dataset: &Dataset, id_name: Option<&str>, path: &Path) -> Outcome<()> {
    let columns = vec![
        NewColumn::numbers("first_scale", graph.first_scales().unwrap_or_default()),
        NewColumn::numbers("scale", graph.local_scales().unwrap_or_default()),
    ];
    Ok(write_table(&with_ids(dataset, id_name, columns), &Output::new(path))?)
}

/// The graph over all rows: as a matrix, or as a list of edges with what is known about each.
fn write_graph(fitted: &FittedGraph, target: &Output) -> Outcome<()> {
    let graph = fitted.graph();
    let matrix = SparseMatrix {
        n_rows: graph.n_nodes(),
        n_columns: graph.n_nodes(),
        offsets: graph.offsets().to_vec(),
        columns: graph.ids().to_vec(),
        values: graph.weights().to_vec(),
    };
    let edges = || {
        let upper = || matrix.entries().filter(|(i, j, _)| i < j);
        let mut columns = vec![
            NewColumn::integers("source", upper().map(|(i, _, _)| i64::from(i))),
            NewColumn::integers("target", upper().map(|(_, j, _)| i64::from(j))),
            NewColumn::numbers("weight", upper().map(|(_, _, weight)| weight)),
        ];
        if let Some(robust) = fitted.robust() {
            // A link between components is no candidate: nothing is known of it but its weight.
            let known = |i: u32, j: u32| match robust.nodes.row_edge(i, j) {
                RowEdge::Candidate { probability, distance } => (probability, distance),
                RowEdge::Copy => (1.0, 0.0),
                RowEdge::Link => (f64::NAN, f64::NAN),
            };
            columns.push(NewColumn::numbers("probability", upper().map(|(i, j, _)| known(i, j).0)));
            columns.push(NewColumn::numbers("distance", upper().map(|(i, j, _)| known(i, j).1)));
        }
        NewTable::new(columns)
    };
    Ok(taugraph_io::write_graph(&matrix, edges, target)?)
}
