//! Which nodes are merged, level by level. This depends on the graph alone.

use std::sync::Arc;

use rayon::prelude::*;

use super::merging::LevelGraph;
use crate::graph::SparseGraph;

/// A level with at most this many nodes is not coarsened further but inverted.
const COARSEST: usize = 64;
/// Minimum number of rows that one thread builds at a time.
pub(super) const ROWS: usize = 1 << 14;
/// Maximum number of chunks of rows: each chunk stores an index for every merged node.
const MAX_CHUNKS: usize = 16;
/// Nodes without neighbors merge with nothing.
pub(super) const ALONE: u32 = u32::MAX;

/// Weights between the nodes of one level, row by row.
#[derive(Debug, Clone, Default)]
pub(super) struct Pattern {
    pub offsets: Vec<usize>,
    pub ids: Vec<u32>,
    /// The position of each entry in the row of the merged node; [`INSIDE`] if both ends merge.
    pub slots: Vec<u32>,
    /// The first member of each merged node, followed by the end of the last; members are consecutive, and nodes
    /// that merge with nothing come last.
    pub firsts: Vec<u32>,
}

/// Marks entries whose two ends merge with each other.
pub(super) const INSIDE: u32 = u32::MAX;

impl Pattern {
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }
}

/// The levels, finest first. The nodes of each are in an order that keeps merged nodes together: neighbors in the graph are
/// neighbors in memory. Systems on them share them.
#[derive(Debug, Clone)]
pub(crate) struct Hierarchy {
    /// The node of the graph at each position of the finest level.
    order: Vec<u32>,
    /// Weights of the finest level; of all levels if only the graph itself is solved for.
    weights: Vec<Arc<Vec<f64>>>,
    /// The last one has no members.
    patterns: Vec<Arc<Pattern>>,
    /// The largest weight of the graph: all weights here are divided by it, so that squares neither underflow nor overflow.
    heaviest: f64,
}

impl Hierarchy {
    /// For any systems on a graph.
    pub fn new(graph: &SparseGraph) -> Self {
        Self::build(graph, Systems::Any)
    }

    /// For the Laplacian alone, without clamped nodes or additions: less memory.
    pub fn of_laplacian(graph: &SparseGraph) -> Self {
        Self::build(graph, Systems::Laplacian)
    }

    fn build(graph: &SparseGraph, systems: Systems) -> Self {
        let heaviest = super::unit_of(graph);
        let mut levels = vec![LevelGraph::of(graph, heaviest)];
        let mut mergers: Vec<Vec<u32>> = Vec::new();
        while let Some(fine) = levels.last().filter(|fine| fine.len() > COARSEST) {
            let (merger, merged) = merged_twice(fine);
            mergers.push(merger);
            levels.push(merged);
        }
        // From the coarsest level down: nodes follow the order of the nodes they merge into.
        let mut order: Vec<u32> = (0..levels[levels.len() - 1].len() as u32).collect();
        let mut patterns: Vec<Arc<Pattern>> = Vec::new();
        let mut weights: Vec<Arc<Vec<f64>>> = Vec::new();
        while let Some(level) = levels.pop() {
            let mut firsts = Vec::new();
            if let Some(merger) = mergers.get(levels.len()) {
                (order, firsts) = members_in_order(merger, &order);
            }
            let (pattern, of_level) = level.in_order(&order, firsts);
            if systems == Systems::Any {
                weights.clear();
            }
            weights.push(Arc::new(of_level));
            let pattern = match patterns.last() {
                Some(coarse) if systems == Systems::Any => with_slots(pattern, coarse),
                _ => pattern,
            };
            patterns.push(Arc::new(pattern));
        }
        patterns.reverse();
        weights.reverse();
        Self { order, weights, patterns, heaviest }
    }

    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The unit of weights: everything on that scale is divided by it.
    pub fn heaviest(&self) -> f64 {
        self.heaviest
    }

    /// Weights of the finest level.
    pub(super) fn weights(&self) -> &Arc<Vec<f64>> {
        &self.weights[0]
    }

    /// Weights of a coarser level, if they are the same in every system.
    pub(super) fn coarse_weights(&self, depth: usize) -> Option<&Arc<Vec<f64>>> {
        self.weights.get(depth)
    }

    pub(super) fn patterns(&self) -> &[Arc<Pattern>] {
        &self.patterns
    }

    /// Where the nodes of a level begin on the finest one, in the order of the hierarchy, followed by the end of the last. If there are not so
    /// many levels it is the coarsest; nodes that merge with nothing before are nodes of their own.
    pub fn aggregates(&self, depth: usize) -> Vec<u32> {
        let mut begins: Vec<u32> = (0..=self.order.len() as u32).collect();
        let mut alone = Vec::new();
        for pattern in self.patterns[..self.patterns.len() - 1].iter().take(depth) {
            let n_members = pattern.firsts[pattern.firsts.len() - 1] as usize;
            // They come last on every level.
            alone.splice(..0, begins[n_members + 1..].iter().copied());
            begins = pattern.firsts.iter().map(|&first| begins[first as usize]).collect();
        }
        begins.extend(alone);
        begins
    }

    /// Bytes for the levels of a graph of this size, while they are built, and afterwards with one system on
    /// them. Each level has about a third of the entries of the one before.
    pub fn bytes(n_nodes: u64, n_edges: u64) -> [u64; 2] {
        [2 * n_edges * 42 + n_nodes * 96, 2 * n_edges * 28 + n_nodes * 64]
    }

    /// The same for the Laplacian alone.
    pub fn bytes_of_laplacian(n_nodes: u64, n_edges: u64) -> [u64; 2] {
        [2 * n_edges * 38 + n_nodes * 96, 2 * n_edges * 19 + n_nodes * 64]
    }
}

/// What a hierarchy serves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Systems {
    /// Systems that clamp nodes: weights of merged nodes depend on which.
    Any,
    Laplacian,
}

/// The merged node of each node, and their graph: pairs of pairs.
fn merged_twice(fine: &LevelGraph) -> (Vec<u32>, LevelGraph) {
    let pairs = fine.paired();
    let halved = fine.merged(&pairs);
    let mut of_pairs = halved.paired();
    // A node that is by now a whole component must appear on the next level once before it is dropped.
    let pairs_of_pairs = of_pairs.iter().filter(|merged| **merged != ALONE);
    let n_merged = pairs_of_pairs.max().map_or(0, |last| last + 1);
    let alone = of_pairs.iter_mut().filter(|merged| **merged == ALONE);
    alone.zip(n_merged..).for_each(|(merged, own)| *merged = own);
    let merged = halved.merged(&of_pairs);
    let through = |&pair: &u32| if pair == ALONE { ALONE } else { of_pairs[pair as usize] };
    (pairs.iter().map(through).collect(), merged)
}

/// Members of the merged nodes, in the order of these, and where each begins; nodes that merge with nothing come last.
pub(super) fn members_in_order(merger: &[u32], order: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut place = vec![0u32; order.len()];
    order.iter().enumerate().for_each(|(at, &merged)| place[merged as usize] = at as u32);
    let mut firsts = vec![0u32; order.len() + 1];
    for &merged in merger.iter().filter(|merged| **merged != ALONE) {
        firsts[place[merged as usize] as usize + 1] += 1;
    }
    for at in 0..order.len() {
        firsts[at + 1] += firsts[at];
    }
    let mut next = firsts.clone();
    let mut alone = firsts[order.len()];
    let mut members = vec![0u32; merger.len()];
    for (node, &merged) in merger.iter().enumerate() {
        let at = if merged == ALONE { &mut alone } else { &mut next[place[merged as usize] as usize] };
        members[*at as usize] = node as u32;
        *at += 1;
    }
    (members, firsts)
}

/// Finds the position of every entry in the row of the merged node.
fn with_slots(mut pattern: Pattern, coarse: &Pattern) -> Pattern {
    let n_merged = coarse.len();
    let mut merged_of = vec![ALONE; pattern.len()];
    for merged in 0..n_merged {
        merged_of[pattern.firsts[merged] as usize..pattern.firsts[merged + 1] as usize].fill(merged as u32);
    }
    let mut slots = vec![INSIDE; pattern.ids.len()];
    let entries_from = |merged: usize| pattern.offsets[pattern.firsts[merged] as usize];
    let rows = chunk_of(n_merged);
    let ends = (0..n_merged).step_by(rows).map(|first| entries_from((first + rows).min(n_merged)));
    cut(&mut slots, ends).into_par_iter().enumerate().for_each(|(chunk, slots)| {
        let first = chunk * rows;
        let mut slot_of = vec![INSIDE; n_merged];
        for merged in first..n_merged.min(first + rows) {
            let row = &coarse.ids[coarse.offsets[merged]..coarse.offsets[merged + 1]];
            row.iter().enumerate().for_each(|(slot, &other)| slot_of[other as usize] = slot as u32);
            for entry in entries_from(merged)..entries_from(merged + 1) {
                let other = merged_of[pattern.ids[entry] as usize];
                if other as usize != merged {
                    slots[entry - entries_from(first)] = slot_of[other as usize];
                }
            }
        }
    });
    pattern.slots = slots;
    pattern
}

/// Number of rows per chunk, given the total.
pub(super) fn chunk_of(n_rows: usize) -> usize {
    n_rows.div_ceil(MAX_CHUNKS).max(ROWS)
}

/// Chunks of a list that end there.
pub(super) fn cut<T>(mut values: &mut [T], ends: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let mut chunks = Vec::new();
    let mut begin = 0;
    for end in ends {
        let (chunk, rest) = values.split_at_mut(end - begin);
        chunks.push(chunk);
        (values, begin) = (rest, end);
    }
    chunks
}
