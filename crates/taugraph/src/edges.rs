//! A set of undirected edges, which distances, similarities, quantiles and probabilities refer to.
//!
//! Edge numbers follow the order (i, j) with i < j, so a value for each edge is a plain vector, and the edges
//! of a node are found in both directions without storing anything twice.

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::neighbors::NeighborGraph;
use crate::parameter::choices;

/// Undirected edges without self-loops, each stored once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edges {
    /// Edges of node i to higher nodes: `offsets[i]..offsets[i + 1]`.
    offsets: Vec<u64>,
    /// Their higher endpoints, ascending for each node.
    targets: Vec<u32>,
    /// Edges of node j to lower nodes, as (lower node, edge number): `lower_offsets[j]..lower_offsets[j + 1]`.
    lower_offsets: Vec<u64>,
    lower_sources: Vec<u32>,
    lower_numbers: Vec<u64>,
}

choices! {
    /// How directed neighbors become undirected edges.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Symmetrize = "union" {
        /// An edge if either point is a neighbor of the other.
        "union" => Union,
        /// An edge if each point is a neighbor of the other.
        "mutual" => Mutual,
    }
}

impl Edges {
    /// From the higher endpoints of each node's edges, ascending and already known to be well formed.
    fn from_upper(offsets: Vec<u64>, targets: Vec<u32>) -> Self {
        let n = offsets.len() - 1;
        let mut lower_offsets = vec![0u64; n + 1];
        for &j in &targets {
            lower_offsets[j as usize + 1] += 1;
        }
        for j in 0..n {
            lower_offsets[j + 1] += lower_offsets[j];
        }
        let mut next = lower_offsets.clone();
        let (mut lower_sources, mut lower_numbers) = (vec![0u32; targets.len()], vec![0u64; targets.len()]);
        for i in 0..n {
            for number in offsets[i]..offsets[i + 1] {
                let place = &mut next[targets[number as usize] as usize];
                lower_sources[*place as usize] = i as u32;
                lower_numbers[*place as usize] = number;
                *place += 1;
            }
        }
        Self { offsets, targets, lower_offsets, lower_sources, lower_numbers }
    }

    /// Checks a list of pairs in any order and direction; repeated pairs count once.
    pub fn from_pairs(n_nodes: usize, pairs: impl IntoIterator<Item = (u32, u32)>) -> Result<Self> {
        if n_nodes == 0 {
            return Err(Error::Empty { what: "rows" });
        }
        let mut upper: Vec<(u32, u32)> = Vec::new();
        for (i, j) in pairs {
            let (low, high) = (i.min(j), i.max(j));
            if high as usize >= n_nodes {
                let rule = "an edge refers to a node that does not exist";
                return Err(Error::BadStructure { row: low as usize, rule });
            }
            if low == high {
                return Err(Error::BadStructure { row: low as usize, rule: "an edge is a self-loop" });
            }
            upper.push((low, high));
        }
        upper.par_sort_unstable();
        upper.dedup();
        Ok(Self::from_sorted(n_nodes, &upper))
    }

    /// From sorted, distinct pairs with i < j.
    fn from_sorted(n_nodes: usize, upper: &[(u32, u32)]) -> Self {
        let mut offsets = vec![0u64; n_nodes + 1];
        for &(i, _) in upper {
            offsets[i as usize + 1] += 1;
        }
        for i in 0..n_nodes {
            offsets[i + 1] += offsets[i];
        }
        Self::from_upper(offsets, upper.iter().map(|pair| pair.1).collect())
    }

    /// Every pair of `n_nodes` nodes.
    pub fn all_pairs(n_nodes: usize) -> Self {
        let mut offsets = vec![0u64; n_nodes + 1];
        for i in 0..n_nodes {
            offsets[i + 1] = offsets[i] + (n_nodes - 1 - i) as u64;
        }
        Self::from_upper(offsets, (0..n_nodes as u32).flat_map(|i| i + 1..n_nodes as u32).collect())
    }

    /// The first `k` neighbors of each point, made symmetric.
    ///
    /// # Panics
    /// If the graph holds fewer than `k` neighbors of each point.
    pub fn from_neighbors(neighbors: &NeighborGraph, k: usize, symmetrize: Symmetrize) -> Self {
        assert!(k <= neighbors.k(), "the neighbor graph has fewer neighbors than the edges need");
        let n = neighbors.len();
        let is_edge = |i: usize, j: u32| match symmetrize {
            Symmetrize::Union => true,
            Symmetrize::Mutual => neighbors.ids(j as usize)[..k].contains(&(i as u32)),
        };
        let pairs = || {
            let of_node = |i: usize| {
                neighbors.ids(i)[..k].iter().filter(move |j| is_edge(i, **j)).map(move |&j| (i as u32, j))
            };
            (0..n).flat_map(of_node).map(|(i, j)| (i.min(j), i.max(j)))
        };
        // Pairs are collected by their lower node, which leaves a few to sort for each.
        let mut begins = vec![0usize; n + 1];
        pairs().for_each(|(i, _)| begins[i as usize + 1] += 1);
        (0..n).for_each(|i| begins[i + 1] += begins[i]);
        let mut next = begins.clone();
        let mut targets = vec![0u32; begins[n]];
        for (i, j) in pairs() {
            targets[next[i as usize]] = j;
            next[i as usize] += 1;
        }
        let mut offsets = vec![0u64];
        let mut n_kept = 0;
        for ends in begins.windows(2) {
            targets[ends[0]..ends[1]].sort_unstable();
            let first = n_kept;
            for at in ends[0]..ends[1] {
                // Neighbors of each other come twice.
                if n_kept == first || targets[n_kept - 1] != targets[at] {
                    targets[n_kept] = targets[at];
                    n_kept += 1;
                }
            }
            offsets.push(n_kept as u64);
        }
        targets.truncate(n_kept);
        Self::from_upper(offsets, targets)
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of edges.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there are no edges.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// The numbers of the edges from `i` to higher nodes.
    #[inline]
    pub fn upper(&self, i: usize) -> std::ops::Range<usize> {
        self.offsets[i] as usize..self.offsets[i + 1] as usize
    }

    /// The higher endpoint of an edge.
    #[inline]
    pub fn target(&self, edge: usize) -> u32 {
        self.targets[edge]
    }

    /// All edges as (i, j) with i < j, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.n_nodes()).flat_map(move |i| self.upper(i).map(move |edge| (i as u32, self.targets[edge])))
    }

    /// The number of the edge between two nodes, if there is one.
    pub fn find(&self, i: u32, j: u32) -> Option<usize> {
        let upper = self.upper(i.min(j) as usize);
        let place = self.targets[upper.clone()].binary_search(&i.max(j)).ok()?;
        Some(upper.start + place)
    }

    /// The edges of a node as (other endpoint, edge number), other endpoints ascending.
    pub fn incident(&self, i: usize) -> impl Iterator<Item = (u32, usize)> + '_ {
        let lower = self.lower_offsets[i] as usize..self.lower_offsets[i + 1] as usize;
        let below = lower.map(|place| (self.lower_sources[place], self.lower_numbers[place] as usize));
        below.chain(self.upper(i).map(|edge| (self.targets[edge], edge)))
    }

    /// Number of edges of a node.
    pub fn degree(&self, i: usize) -> usize {
        self.upper(i).len() + (self.lower_offsets[i + 1] - self.lower_offsets[i]) as usize
    }

    /// A value for each edge, computed in parallel from (edge number, i, j).
    pub fn map<T: Send + Sync + Clone + Default>(
        &self,
        value: impl Fn(usize, u32, u32) -> T + Sync,
    ) -> Vec<T> {
        let mut values = vec![T::default(); self.len()];
        self.for_each_row(&mut values, 1, |i, edges, row| {
            for (edge, out) in edges.zip(row) {
                *out = value(edge, i as u32, self.targets[edge]);
            }
        });
        values
    }

    /// Passes each node its edges to higher nodes and their part of `values` (`width` per edge), in parallel.
    pub(crate) fn for_each_row<T: Send>(
        &self,
        values: &mut [T],
        width: usize,
        work: impl Fn(usize, std::ops::Range<usize>, &mut [T]) + Sync,
    ) {
        let mut rest = values;
        let mut rows = Vec::with_capacity(self.n_nodes());
        for i in 0..self.n_nodes() {
            let (row, tail) = rest.split_at_mut(self.upper(i).len() * width);
            rest = tail;
            rows.push((i, row));
        }
        rows.into_par_iter().with_min_len(16).for_each(|(i, row)| work(i, self.upper(i), row));
    }

    /// The same with the nodes in the caller's order, which must contain each once; consecutive nodes are processed
    /// together.
    pub(crate) fn for_each_row_in_order<T: Send>(
        &self,
        order: &[u32],
        values: &mut [T],
        width: usize,
        work: impl Fn(usize, std::ops::Range<usize>, &mut [T]) + Sync,
    ) {
        let mut rest = values;
        let mut rows: Vec<Option<&mut [T]>> = Vec::with_capacity(self.n_nodes());
        for i in 0..self.n_nodes() {
            let (row, tail) = rest.split_at_mut(self.upper(i).len() * width);
            rest = tail;
            rows.push(Some(row));
        }
        let mut ordered: Vec<(u32, &mut [T])> =
            order.iter().map(|&i| (i, rows[i as usize].take().expect("each node is named once"))).collect();
        drop(rows);
        ordered.par_chunks_mut(128).for_each(|rows| {
            for (i, row) in rows {
                work(*i as usize, self.upper(*i as usize), row);
            }
        });
    }

    /// Bytes held by `n_edges` edges on `n_nodes` nodes.
    pub(crate) fn bytes(n_nodes: u64, n_edges: u64) -> u64 {
        16 * (n_nodes + 1) + 16 * n_edges
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn edges_know_both_ends(pairs in prop::collection::vec((0u32..20, 0u32..20), 0..80)) {
            let pairs: Vec<_> = pairs.into_iter().filter(|(i, j)| i != j).collect();
            let expected: BTreeSet<(u32, u32)> = pairs.iter().map(|&(i, j)| (i.min(j), i.max(j))).collect();
            let edges = Edges::from_pairs(20, pairs).unwrap();
            prop_assert_eq!(edges.iter().collect::<BTreeSet<_>>(), expected.clone());
            prop_assert_eq!(edges.len(), expected.len());
            for i in 0..20u32 {
                let incident: Vec<(u32, usize)> = edges.incident(i as usize).collect();
                prop_assert!(incident.windows(2).all(|pair| pair[0].0 < pair[1].0));
                prop_assert_eq!(incident.len(), edges.degree(i as usize));
                for (j, edge) in incident {
                    prop_assert_eq!(edges.iter().nth(edge), Some((i.min(j), i.max(j))));
                }
            }
            let numbers = edges.map(|edge, _, _| edge);
            prop_assert_eq!(numbers, (0..edges.len()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn union_and_mutual() {
        // 0 → 1, 1 → 2, 2 → 1.
        let neighbors = NeighborGraph::new(3, 1, vec![1, 2, 1], vec![1.0; 3]).unwrap();
        let pairs = |symmetrize| Edges::from_neighbors(&neighbors, 1, symmetrize).iter().collect::<Vec<_>>();
        assert_eq!(pairs(Symmetrize::Union), [(0, 1), (1, 2)]);
        assert_eq!(pairs(Symmetrize::Mutual), [(1, 2)]);
    }

    #[test]
    fn all_pairs_and_refusals() {
        assert_eq!(
            Edges::all_pairs(4).iter().collect::<Vec<_>>(),
            [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
        );
        assert!(Edges::all_pairs(1).is_empty());
        assert!(Edges::from_pairs(3, [(1, 1)]).is_err());
        assert!(Edges::from_pairs(3, [(1, 3)]).is_err());
    }
}
