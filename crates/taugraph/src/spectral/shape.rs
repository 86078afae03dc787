//! How long and narrow a graph is: its length in steps from node to node, and the work of factorizing it along its length.
//!
//! Spirals, roads and curves of any kind are narrow: in breadth-first order from one of their ends every node is adjacent only
//! to nodes of its own level and the two next to it, and a factorization fills no more than that band (Cuthill and McKee
//! 1969; ends found as in George and Liu 1979). The same shapes have the small eigenvalue gaps at which plain Lanczos
//! stalls. A few passes over the edges find out, whereas a symbolic factorization costs as much as computing the factor.

use crate::graph::SparseGraph;

/// Maximum number of sweeps for an end of a component: each starts from the far end of the one before.
const SWEEPS: usize = 4;

/// Nodes in breadth-first order from `start`, and where each level begins, followed by the end of the last.
struct Levels {
    nodes: Vec<usize>,
    bounds: Vec<usize>,
}

impl Levels {
    /// `seen` is the last sweep that visited each node; `sweep` is a new one.
    fn from(graph: &SparseGraph, start: usize, seen: &mut [u32], sweep: u32) -> Self {
        seen[start] = sweep;
        let mut levels = Levels { nodes: vec![start], bounds: vec![0, 1] };
        while let [.., begin, end] = levels.bounds[..] {
            for place in begin..end {
                for (neighbor, _) in graph.row(levels.nodes[place]) {
                    let neighbor = neighbor as usize;
                    if seen[neighbor] != sweep {
                        seen[neighbor] = sweep;
                        levels.nodes.push(neighbor);
                    }
                }
            }
            if levels.nodes.len() == end {
                break;
            }
            levels.bounds.push(levels.nodes.len());
        }
        levels
    }

    fn len(&self) -> usize {
        self.bounds.len() - 1
    }

    /// The node of the last level with the fewest neighbors.
    fn far_end(&self, graph: &SparseGraph) -> usize {
        let last = &self.nodes[self.bounds[self.len() - 1]..];
        *last.iter().min_by_key(|&&node| (graph.n_neighbors(node), node)).expect("a level has nodes")
    }

    /// Work of a banded factorization, in which each row reaches back to the previous level.
    fn work(&self) -> f64 {
        let sizes: Vec<f64> = self.bounds.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let before = std::iter::once(&0.0).chain(&sizes);
        sizes.iter().zip(before).map(|(size, before)| size * (size + before).powi(2)).sum()
    }
}

/// The shape of a graph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shape {
    /// Multiplications of a Cholesky factorization that fills the whole band; an upper bound.
    pub band_work: f64,
    /// Steps from one end of the longest component to the other.
    pub length: usize,
}

/// Measures a graph from its ends. What one sweep proves may settle what the shape is needed for: given the least band work and the largest
/// length that a component can have, `is_settled` tells whether its ends need not be found.
pub(super) fn shape(graph: &SparseGraph, is_settled: impl Fn(f64, usize) -> bool) -> Shape {
    let mut seen = vec![0; graph.n_nodes()];
    let mut sweep = 0;
    let mut shape = Shape { band_work: 0.0, length: 0 };
    for first in 0..graph.n_nodes() {
        if seen[first] > 0 {
            continue;
        }
        sweep += 1;
        let mut levels = Levels::from(graph, first, &mut seen, sweep);
        // No two nodes are farther apart than twice the distance of the farthest, and most evenly spread levels take the least work.
        let (size, longest) = (levels.nodes.len() as f64, 2 * (levels.len() - 1));
        let least_work = size.powi(3) / ((longest + 1) as f64).powi(2);
        let sweeps = if is_settled(least_work, longest) { 1 } else { SWEEPS };
        for _ in 1..sweeps {
            sweep += 1;
            let from_far = Levels::from(graph, levels.far_end(graph), &mut seen, sweep);
            let grew = from_far.len() > levels.len();
            levels = from_far;
            if !grew {
                break;
            }
        }
        shape.band_work += levels.work();
        shape.length = shape.length.max(levels.len() - 1);
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::Edges;

    fn shape_of(n: usize, pairs: impl IntoIterator<Item = (u32, u32)>) -> Shape {
        let edges = Edges::from_pairs(n, pairs.into_iter().collect::<Vec<_>>()).unwrap();
        shape(&SparseGraph::from_edges(&edges, &vec![1.0; edges.len()]).unwrap(), |_, _| false)
    }

    /// Whatever node the search begins with, it finds an end: each row is adjacent to one earlier node.
    #[test]
    fn a_shuffled_path_is_unrolled() {
        let name = |place: usize| (place * 37 % 101) as u32;
        let shape = shape_of(101, (1..101).map(|place| (name(place - 1), name(place))));
        assert_eq!(shape, Shape { band_work: 1.0 + 100.0 * 4.0, length: 100 });
    }

    #[test]
    fn a_grid_is_crossed_along_its_length() {
        let at = |row: u32, column: u32| row * 40 + column;
        let along = (0..3).flat_map(|r| (1..40).map(move |c| (at(r, c - 1), at(r, c))));
        let across = (1..3).flat_map(|r| (0..40).map(move |c| (at(r - 1, c), at(r, c))));
        assert!(shape_of(120, along.chain(across)).band_work <= 120.0 * 36.0);
    }

    #[test]
    fn components_add_up() {
        assert_eq!(shape_of(3, []).band_work, 3.0);
        // A star is crossed from one leaf over the hub: levels of 1, 1 and 4 nodes.
        let star = (1..6).map(|leaf| (0, leaf));
        assert_eq!(shape_of(6, star.clone()).band_work, 1.0 + 4.0 + 4.0 * 25.0);
        assert_eq!(shape_of(8, star.chain([(6, 7)])).band_work, 105.0 + 5.0);
    }

    #[test]
    fn a_complete_graph_costs_what_a_dense_factor_costs() {
        let pairs = (0..20u32).flat_map(|i| (0..i).map(move |j| (i, j)));
        assert_eq!(shape_of(20, pairs).band_work, 1.0 + 19.0 * 400.0);
    }
}
