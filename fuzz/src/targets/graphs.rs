//! Graphs from arbitrary numbers: points, neighbors, entries.

use taugraph::graph::{Asymmetry, SparseGraph};
use taugraph::neighbors::NeighborGraph;
use taugraph::progress::Run;
use taugraph::{RobustGraph, Table};

/// Rows of a graph: enough for every stage, and few enough to be fast.
const MAX_ROWS: usize = 40;

/// The first byte says what is made, the second how many columns or neighbors; then values of eight bytes.
pub fn graph(bytes: &[u8]) {
    let [kind, width, rest @ ..] = bytes else { return };
    let values: Vec<f64> = rest
        .chunks_exact(8)
        .map(|bytes| f64::from_le_bytes(bytes.try_into().expect("eight bytes")))
        .take(MAX_ROWS * 4)
        .collect();
    let width = usize::from(*width % 4) + 1;
    let run = Run::new(0).with_memory_limit(Some(1 << 28));
    let n = (values.len() / width).min(MAX_ROWS);
    let values = values[..n * width].to_vec();
    match kind % 3 {
        0 => {
            let Ok(table) = Table::new(values, width) else { return };
            if let Ok(found) = RobustGraph::new().fit_with(&table, &run) {
                let weights = found.node_graph().weights().iter();
                assert!(weights.into_iter().all(|weight| weight.is_finite() && *weight >= 0.0));
            }
        }
        1 => {
            let ids = rest.iter().map(|&byte| u32::from(byte) % (n as u32 + 1)).take(n * width).collect();
            let Ok(neighbors) = NeighborGraph::new(n, width, ids, values) else { return };
            let _ = RobustGraph::new().fit_with(neighbors, &run);
        }
        _ => {
            let entries = values.chunks_exact(width).zip(rest.chunks_exact(2));
            let entries =
                entries.map(|(cells, place)| (u32::from(place[0] % 8), u32::from(place[1] % 8), cells[0]));
            if let Ok((graph, _)) = SparseGraph::from_entries(8, entries, Asymmetry::Mean) {
                assert_eq!(graph.n_nodes(), 8);
            }
        }
    }
}
