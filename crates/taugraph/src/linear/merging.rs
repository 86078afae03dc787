//! Construction of one level of a hierarchy: which nodes merge, and the graph of the merged nodes.

use rayon::prelude::*;

use super::hierarchy::{ALONE, Pattern, ROWS, chunk_of, cut, members_in_order};
use crate::graph::SparseGraph;

/// A node is paired with a free neighbor if their bond is at least this fraction of the node's strongest.
const STRONG: f64 = 0.25;

/// The graph of one level: the user's graph with all weights divided by the largest, or one of merged nodes.
pub(super) struct LevelGraph {
    offsets: Vec<usize>,
    ids: Vec<u32>,
    weights: Vec<f64>,
}

impl LevelGraph {
    pub fn of(graph: &SparseGraph, heaviest: f64) -> Self {
        Self {
            offsets: graph.offsets().iter().map(|&offset| offset as usize).collect(),
            ids: graph.ids().to_vec(),
            weights: graph.weights().par_iter().with_min_len(ROWS).map(|weight| weight / heaviest).collect(),
        }
    }

    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    fn row(&self, node: usize) -> impl ExactSizeIterator<Item = (u32, f64)> + '_ {
        let entries = self.offsets[node]..self.offsets[node + 1];
        self.ids[entries.clone()].iter().copied().zip(self.weights[entries].iter().copied())
    }

    /// The pair of each node. Nodes with few neighbors choose first, because they have the least choice; a node whose strong
    /// neighbors are all taken joins the pair of the strongest.
    pub fn paired(&self) -> Vec<u32> {
        let n = self.len();
        let root = |node: usize| self.row(node).map(|(_, weight)| weight).sum::<f64>().sqrt();
        let roots: Vec<f64> = (0..n).into_par_iter().with_min_len(ROWS).map(root).collect();
        let mut turns: Vec<u32> = (0..n as u32).collect();
        let n_neighbors = |&node: &u32| self.offsets[node as usize + 1] - self.offsets[node as usize];
        turns.par_sort_by_key(n_neighbors);
        let mut pair_of = vec![ALONE; n];
        let mut n_pairs = 0;
        for node in turns {
            if pair_of[node as usize] != ALONE {
                continue;
            }
            let Some(partner) = self.partner(node as usize, &roots, &pair_of) else { continue };
            if pair_of[partner] == ALONE {
                pair_of[partner] = n_pairs;
                n_pairs += 1;
            }
            pair_of[node as usize] = pair_of[partner];
        }
        pair_of
    }

    /// The neighbor that a node merges with; none if it has no neighbors.
    fn partner(&self, node: usize, roots: &[f64], pair_of: &[u32]) -> Option<usize> {
        let (mut strongest, mut free) = ((0.0, ALONE), (0.0, ALONE));
        for (other, weight) in self.row(node) {
            let bond = weight / roots[other as usize];
            if bond > strongest.0 {
                strongest = (bond, other);
            }
            if bond > free.0 && pair_of[other as usize] == ALONE {
                free = (bond, other);
            }
        }
        let partner = if free.0 >= STRONG * strongest.0 { free.1 } else { strongest.1 };
        (partner != ALONE).then_some(partner as usize)
    }

    /// The graph of the merged nodes; weight inside a merged node is dropped.
    pub fn merged(&self, merged_of: &[u32]) -> Self {
        let n_merged =
            merged_of.iter().filter(|merged| **merged != ALONE).max().map_or(0, |last| *last as usize + 1);
        let identity: Vec<u32> = (0..n_merged as u32).collect();
        let (members, firsts) = members_in_order(merged_of, &identity);
        let rows = chunk_of(n_merged);
        let rows_from = |first: usize| {
            let members = (first..n_merged.min(first + rows))
                .map(|own| (own, &members[firsts[own] as usize..firsts[own + 1] as usize]));
            self.merged_rows(members, merged_of, n_merged)
        };
        Self::joined((0..n_merged).into_par_iter().step_by(rows).map(rows_from).collect())
    }

    /// The rows of some merged nodes, given with their members.
    fn merged_rows<'a>(
        &self,
        members: impl Iterator<Item = (usize, &'a [u32])>,
        merged_of: &[u32],
        n_merged: usize,
    ) -> Self {
        let mut rows = Self { offsets: vec![0], ids: Vec::new(), weights: Vec::new() };
        let mut place = vec![usize::MAX; n_merged];
        for (own, members) in members {
            let start = rows.ids.len();
            for &node in members {
                for (other, weight) in self.row(node as usize) {
                    let other = merged_of[other as usize] as usize;
                    if other == own {
                        continue;
                    }
                    // Positions from earlier rows lie before the start of this one.
                    if place[other] == usize::MAX || place[other] < start {
                        place[other] = rows.ids.len();
                        rows.ids.push(other as u32);
                        rows.weights.push(weight);
                    } else {
                        rows.weights[place[other]] += weight;
                    }
                }
            }
            rows.offsets.push(rows.ids.len());
        }
        rows
    }

    /// Rows that follow one another.
    fn joined(parts: Vec<Self>) -> Self {
        let n_entries = parts.iter().map(|part| part.ids.len()).sum();
        let mut whole = Self {
            offsets: vec![0],
            ids: Vec::with_capacity(n_entries),
            weights: Vec::with_capacity(n_entries),
        };
        for part in parts {
            let before = whole.ids.len();
            whole.offsets.extend(part.offsets[1..].iter().map(|offset| before + offset));
            whole.ids.extend(part.ids);
            whole.weights.extend(part.weights);
        }
        whole
    }

    /// The same graph with its nodes in another order.
    pub fn in_order(self, order: &[u32], firsts: Vec<u32>) -> (Pattern, Vec<f64>) {
        let mut place = vec![0u32; order.len()];
        order.iter().enumerate().for_each(|(at, &node)| place[node as usize] = at as u32);
        let mut offsets = vec![0];
        offsets.extend(order.iter().map(|&node| self.row(node as usize).len()));
        (1..offsets.len()).for_each(|at| offsets[at] += offsets[at - 1]);
        let (mut ids, mut weights) = (vec![0; self.ids.len()], vec![0.0; self.ids.len()]);
        let ends = || (0..order.len()).step_by(ROWS).map(|first| offsets[(first + ROWS).min(order.len())]);
        let chunks = order.par_chunks(ROWS).zip(cut(&mut ids, ends())).zip(cut(&mut weights, ends()));
        chunks.for_each(|((nodes, ids), weights)| {
            let entries = nodes.iter().flat_map(|&node| self.row(node as usize));
            for ((entry, id), to) in entries.zip(ids).zip(weights) {
                (*id, *to) = (place[entry.0 as usize], entry.1);
            }
        });
        (Pattern { offsets, ids, firsts, slots: Vec::new() }, weights)
    }
}
