//! The graph over all rows.

use taugraph::FittedGraph;
use taugraph::robust::RowEdge;
use taugraph_io::{NewColumn, NewTable, Output, SparseMatrix};

use super::write_scales;
use crate::args::GraphOutputs;
use crate::failure::Outcome;
use crate::row_ids::RowIds;

/// As a matrix, or as a list of edges with what is known about each.
pub fn write_graph(fitted: &FittedGraph, target: &Output) -> Outcome<()> {
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

/// What a clustering may write of its graph.
pub fn write_graph_outputs(graph: &FittedGraph, ids: Option<&RowIds>, args: &GraphOutputs) -> Outcome<()> {
    if let Some(path) = &args.scales {
        write_scales(graph, ids, path)?;
    }
    match &args.graph_file {
        Some(path) => write_graph(graph, &Output::new(path)),
        None => Ok(()),
    }
}
