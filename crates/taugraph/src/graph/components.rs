//! Connected components.

use std::ops::ControlFlow;

use super::SparseGraph;
use crate::edges::Edges;
use crate::error::Result;

/// The component of each node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    component: Vec<u32>,
    sizes: Vec<usize>,
}

impl Components {
    /// Components of a graph, numbered by their lowest node.
    pub(super) fn of_graph(graph: &SparseGraph) -> Self {
        Self::of_strong_edges(graph, |_, _, _| true)
    }

    /// Components of the graph that keeps only the edges (i, j, weight) that are `strong`, tested once with i < j.
    pub(crate) fn of_strong_edges(graph: &SparseGraph, strong: impl Fn(usize, u32, f64) -> bool) -> Self {
        // Row by row in memory order, not by walking from node to node.
        let strong = &strong;
        let strong_of = |i: usize| {
            let is_strong = move |&(j, weight): &(u32, f64)| i < j as usize && strong(i, j, weight);
            graph.row(i).filter(is_strong).map(move |(j, _)| (i as u32, j))
        };
        Self::of_pairs(graph.n_nodes(), (0..graph.n_nodes()).flat_map(strong_of))
    }

    /// Components of `n_nodes` nodes joined by these pairs, in any order; numbered by their lowest node.
    pub(crate) fn of_pairs(n_nodes: usize, mut pairs: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut joined = Joined::new(n_nodes);
        // Where most pairs are edges, a few rows join everything.
        let _ = pairs.try_for_each(|pair| {
            joined.add(pair);
            if joined.n_components == 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let (mut component, mut sizes) = (vec![0; n_nodes], Vec::new());
        for node in 0..n_nodes as u32 {
            let root = joined.root(node);
            if root == node {
                component[node as usize] = sizes.len() as u32;
                sizes.push(0);
            }
            component[node as usize] = component[root as usize];
            sizes[component[node as usize] as usize] += 1;
        }
        Self { component, sizes }
    }

    /// The components after these pairs of nodes are joined as well.
    pub(crate) fn joined_by(&self, pairs: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut firsts: Vec<Option<u32>> = vec![None; self.len()];
        let to_first = (0u32..)
            .zip(&self.component)
            .map(|(node, &component)| (node, *firsts[component as usize].get_or_insert(node)));
        Self::of_pairs(self.component.len(), to_first.chain(pairs))
    }

    /// Number of components.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Never: a graph has at least one node.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The component of each node.
    pub fn of_nodes(&self) -> &[u32] {
        &self.component
    }

    /// Nodes in each component.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The component with the most nodes; the first in case of a tie.
    pub fn largest(&self) -> u32 {
        let most = self.sizes.iter().max().expect("at least one component");
        self.sizes.iter().position(|size| size == most).expect("it is there") as u32
    }

    /// The nodes of each component, ascending.
    pub fn nodes(&self) -> Vec<Vec<u32>> {
        let mut nodes: Vec<Vec<u32>> = self.sizes.iter().map(|&size| Vec::with_capacity(size)).collect();
        for (node, &component) in self.component.iter().enumerate() {
            nodes[component as usize].push(node as u32);
        }
        nodes
    }

    /// The graph of the components as nodes: the sum of all weights between two of them.
    pub(crate) fn graph_between(&self, graph: &SparseGraph) -> Result<SparseGraph> {
        let mut between: Vec<((u32, u32), f64)> = Vec::new();
        for (node, &own) in self.of_nodes().iter().enumerate() {
            let others = graph.row(node).map(|(other, weight)| (self.of_nodes()[other as usize], weight));
            let others = others.filter(|(other, _)| own < *other);
            between.extend(others.map(|(other, weight)| ((own, other), weight)));
        }
        // Equal pairs stay in the order of the nodes.
        between.sort_by_key(|(pair, _)| *pair);
        let pairs = between.chunk_by(|a, b| a.0 == b.0);
        let (pairs, weights): (Vec<(u32, u32)>, Vec<f64>) =
            pairs.map(|same| (same[0].0, same.iter().map(|(_, weight)| weight).sum::<f64>())).unzip();
        SparseGraph::from_edges(&Edges::from_pairs(self.len(), pairs)?, &weights)
    }
}

/// Nodes that have been joined by pairs so far: a union-find whose roots are the lowest nodes.
pub(crate) struct Joined {
    parent: Vec<u32>,
    n_components: usize,
}

impl Joined {
    /// No node is joined with another.
    pub fn new(n_nodes: usize) -> Self {
        Self { parent: (0..n_nodes as u32).collect(), n_components: n_nodes }
    }

    fn root(&mut self, mut node: u32) -> u32 {
        let parent = &mut self.parent;
        while parent[node as usize] != node {
            parent[node as usize] = parent[parent[node as usize] as usize];
            node = parent[node as usize];
        }
        node
    }

    fn add(&mut self, (i, j): (u32, u32)) {
        let (a, b) = (self.root(i), self.root(j));
        self.parent[a.max(b) as usize] = a.min(b);
        self.n_components -= usize::from(a != b);
    }

    /// Adds pairs and gives the number of components that are left.
    pub fn join(&mut self, pairs: impl Iterator<Item = (u32, u32)>) -> usize {
        pairs.for_each(|pair| self.add(pair));
        self.n_components
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_between_parts_are_summed() {
        let edges = Edges::from_pairs(5, [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]).unwrap();
        let graph = SparseGraph::from_edges(&edges, &[4.0, 1.0, 0.5, 4.0, 0.25]).unwrap();
        let parts = Components::of_strong_edges(&graph, |_, _, weight| weight > 2.0);
        assert_eq!(parts.of_nodes(), [0, 0, 1, 1, 2]);
        let between = parts.graph_between(&graph).unwrap();
        let rows: Vec<Vec<(u32, f64)>> = (0..3).map(|part| between.row(part).collect()).collect();
        assert_eq!(rows, [vec![(1, 1.5)], vec![(0, 1.5), (2, 0.25)], vec![(1, 0.25)]]);
    }

    #[test]
    fn components_are_found_and_numbered_by_their_lowest_node() {
        let edges = Edges::from_pairs(6, [(4, 1), (5, 3), (3, 1)]).unwrap();
        let graph = SparseGraph::from_edges(&edges, &[1.0; 3]).unwrap();
        let components = Components::of_graph(&graph);
        assert_eq!(Components::of_pairs(6, [(4, 1), (5, 3), (3, 1)].into_iter()), components);
        assert_eq!(components.of_nodes(), [0, 1, 2, 1, 1, 1]);
        assert_eq!(components.sizes(), [1, 4, 1]);
        assert_eq!(components.largest(), 1);
        assert_eq!(components.nodes()[1], [1, 3, 4, 5]);
    }
}
