//! Nodes of a cut move to the cluster that they are tied to most.
//!
//! Micro-communities are merged whole; nodes at their rims may have more weight to a cluster next to theirs.

use rayon::prelude::*;

use crate::graph::SparseGraph;
use crate::labels::Labels;

/// Maximum number of sweeps over all nodes; the last ones move next to nothing.
const SWEEPS: usize = 10;

/// Moves every node to the cluster with the largest sum of weights to it, one after the other, until none moves. A cluster keeps its
/// last node; in a tie a node stays, and so does a node for which `is_fixed`.
pub(crate) fn refine(
    graph: &SparseGraph,
    labels: &Labels,
    is_fixed: impl Fn(usize) -> bool + Sync,
) -> Labels {
    let mut clusters = labels.to_vec();
    move_nodes(graph, &mut clusters, &mut labels.sizes(), is_fixed);
    Labels::in_order_of_appearance(clusters)
}

/// The same in place; returns how often a node moved. `sizes` are the numbers of nodes in the clusters.
pub(crate) fn move_nodes(
    graph: &SparseGraph,
    clusters: &mut [u32],
    sizes: &mut [usize],
    is_fixed: impl Fn(usize) -> bool + Sync,
) -> usize {
    let mut sums = vec![0.0; sizes.len()];
    // Nodes that may move: at first those with a neighbor elsewhere, then those with a neighbor that moved.
    let before: &[u32] = clusters;
    let has_neighbor_elsewhere = |i: usize| graph.row(i).any(|(j, _)| before[j as usize] != before[i]);
    let mut is_marked: Vec<bool> = (0..graph.n_nodes())
        .into_par_iter()
        .map(|node| !is_fixed(node) && has_neighbor_elsewhere(node))
        .collect();
    let mut n_moves = 0;
    for _ in 0..SWEEPS {
        let mut n_moved = 0;
        for i in 0..graph.n_nodes() {
            if !std::mem::take(&mut is_marked[i]) {
                continue;
            }
            let own = clusters[i];
            for (j, weight) in graph.row(i) {
                sums[clusters[j as usize] as usize] += weight;
            }
            let mut best = own;
            for (j, _) in graph.row(i) {
                let candidate = clusters[j as usize];
                if sums[candidate as usize] > sums[best as usize] {
                    best = candidate;
                }
            }
            for (j, _) in graph.row(i) {
                sums[clusters[j as usize] as usize] = 0.0;
            }
            if best != own && sizes[own as usize] > 1 {
                sizes[own as usize] -= 1;
                sizes[best as usize] += 1;
                clusters[i] = best;
                n_moved += 1;
                graph.row(i).for_each(|(j, _)| is_marked[j as usize] = !is_fixed(j as usize));
            }
        }
        n_moves += n_moved;
        if n_moved == 0 {
            break;
        }
    }
    n_moves
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::Edges;

    #[test]
    fn a_node_goes_where_its_weight_is_and_no_cluster_vanishes() {
        // Node 2 is tied to 3 and 4 more than to 0 and 1; node 5 alone is a cluster of its own.
        let edges = Edges::from_pairs(6, [(0, 1), (1, 2), (2, 3), (2, 4), (3, 4), (4, 5)]).unwrap();
        let graph = SparseGraph::from_edges(&edges, &[1.0; 6]).unwrap();
        let labels = Labels::new(vec![0, 0, 0, 1, 1, 2], 3).unwrap();
        assert_eq!(refine(&graph, &labels, |_| false)[..], [0, 0, 1, 1, 1, 2]);
        assert_eq!(refine(&graph, &labels, |node| node == 2), labels);
    }
}
