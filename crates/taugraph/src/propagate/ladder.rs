//! Ladder persistence: how many of several partitions, from as many groups as classes to micro-communities, hold both ends of an edge.
//!
//! Labels should not cross between groups. The graph is agglomerated once, and its merge tree cut into C, 2C, 4C and 8C groups and into
//! the micro-communities; q is the share of these five that hold both ends of an edge, and its weight is multiplied by .1 + .9·q.

use rayon::prelude::*;

use crate::cluster::linkage_partitions;
use crate::error::Result;
use crate::graph::SparseGraph;
use crate::progress::Run;

/// Groups for each class.
const RUNGS: [usize; 4] = [1, 2, 4, 8];
/// What is left of the weight of an edge that every partition cuts.
const FLOOR: f64 = 0.1;

/// The graph with its weights multiplied.
pub(super) fn on_ladder(graph: &SparseGraph, n_classes: usize, run: &Run<'_>) -> Result<SparseGraph> {
    let sizes = RUNGS.map(|groups| groups * n_classes);
    let partitions = linkage_partitions(graph, &sizes, run)?;
    let share = |i: usize, j: usize| {
        let together = partitions.iter().filter(|groups| groups[i] == groups[j]).count();
        together as f64 / partitions.len() as f64
    };
    let row = |i: usize| -> Vec<f64> {
        let entries = graph.row(i);
        entries.map(|(j, weight)| weight * (FLOOR + (1.0 - FLOOR) * share(i, j as usize))).collect()
    };
    let weights: Vec<f64> = (0..graph.n_nodes()).into_par_iter().flat_map_iter(row).collect();
    SparseGraph::new(graph.offsets().to_vec(), graph.ids().to_vec(), weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::Edges;

    #[test]
    fn edges_between_groups_weigh_less_and_the_graph_stays_symmetric() {
        // Two cliques of six, joined by one edge.
        let clique = |first: u32| (0..6).flat_map(move |i| (0..i).map(move |j| (first + i, first + j)));
        let pairs = clique(0).chain(clique(6)).chain([(5, 6)]);
        let edges = Edges::from_pairs(12, pairs).unwrap();
        let graph = SparseGraph::from_edges(&edges, &vec![1.0; edges.len()]).unwrap();
        let found = on_ladder(&graph, 2, &Run::new(0)).unwrap();
        assert_eq!(found.ids(), graph.ids());
        let between = found.weight(5, 6).unwrap();
        assert!(between < 0.2, "{between}");
        assert!((0..5).all(|i| found.weight(i, i + 1).unwrap() > 2.0 * between));
        assert_eq!(found.weight(6, 5), found.weight(5, 6));
    }
}
