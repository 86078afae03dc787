//! How strongly each node belongs to each cluster.

use rayon::prelude::*;

use crate::graph::SparseGraph;
use crate::labels::Labels;

/// The strength of each node's membership in each cluster, node by node; those of a node sum to 1.
///
/// It is the chance of ending in the cluster after one or two steps of a random walk over the edges, half and half: a node whose
/// neighbors, and theirs, lie in its own cluster has 1 there. A node without edges belongs to its own cluster.
pub fn memberships(graph: &SparseGraph, labels: &Labels) -> Vec<f64> {
    let k = labels.n_classes();
    let of_label = |j: usize, weight: f64, row: &mut [f64]| row[labels[j] as usize] += weight;
    let one = after_step(graph, labels, k, &of_label);
    let of_neighbor = |j: usize, weight: f64, row: &mut [f64]| {
        let beside = &one[j * k..(j + 1) * k];
        row.iter_mut().zip(beside).for_each(|(sum, share)| *sum += weight * share);
    };
    let two = after_step(graph, labels, k, &of_neighbor);
    one.iter().zip(&two).map(|(one, two)| 0.5 * (one + two)).collect()
}

/// Weighted means over the neighbors of each node.
fn after_step(
    graph: &SparseGraph,
    labels: &Labels,
    k: usize,
    add: &(dyn Fn(usize, f64, &mut [f64]) + Sync),
) -> Vec<f64> {
    let mut means = vec![0.0; graph.n_nodes() * k];
    means.par_chunks_mut(k).enumerate().for_each(|(i, row)| {
        let mut degree = 0.0;
        for (j, weight) in graph.row(i) {
            add(j as usize, weight, row);
            degree += weight;
        }
        match degree > 0.0 {
            true => row.iter_mut().for_each(|share| *share /= degree),
            false => row[labels[i] as usize] = 1.0,
        }
    });
    means
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::Edges;

    #[test]
    fn strengths_sum_to_one_and_are_largest_inside() {
        // A path of five; the middle node lies between two clusters, the sixth node has no edge.
        let edges = Edges::from_pairs(6, [(0, 1), (1, 2), (2, 3), (3, 4)]).unwrap();
        let graph = SparseGraph::from_edges(&edges, &[1.0; 4]).unwrap();
        let found = memberships(&graph, &Labels::new(vec![0, 0, 0, 1, 1, 2], 3).unwrap());
        for row in found.chunks_exact(3) {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
        assert_eq!(found[..3], [1.0, 0.0, 0.0]);
        // Half after one step, three quarters after two.
        assert_eq!(found[6..9], [0.625, 0.375, 0.0]);
        assert_eq!(found[15..], [0.0, 0.0, 1.0]);
    }
}
