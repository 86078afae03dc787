//! Which nodes are merged, level by level. Depends on the graph alone.

use rayon::prelude::*;

use crate::graph::SparseGraph;

/// No level is made below this many nodes: what is left is inverted.
const COARSEST: usize = 64;
/// Nodes are paired with a free neighbor if its bond is at least this share of their strongest one.
const STRONG: f64 = 0.25;
/// Rows that one thread makes at a time, at least.
const ROWS: usize = 1 << 14;
/// Into so many chunks rows are divided at most: each remembers a place for every merged node.
const CHUNKS: usize = 16;
/// Nodes without neighbors merge with nothing.
const ALONE: u32 = u32::MAX;

/// Weights between the nodes of one level, row by row.
#[derive(Debug, Clone, Default)]
pub(super) struct Pattern {
    pub offsets: Vec<usize>,
    pub ids: Vec<u32>,
    /// Where in the row of the merged node each entry ends up; [`INSIDE`] if both ends merge.
    pub slots: Vec<u32>,
    /// The first member of each merged node, and one past the last member of the last; members lie beside each other, nodes
    /// that merge with nothing come behind them.
    pub firsts: Vec<u32>,
}

/// Marks entries whose two ends merge.
pub(super) const INSIDE: u32 = u32::MAX;

impl Pattern {
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }
}

/// The levels, finest first, the nodes of each in an order that keeps together what merges: neighbors in the graph are
/// neighbors in memory.
#[derive(Debug, Clone)]
pub(crate) struct Hierarchy {
    /// The node of the graph at each place of the finest level.
    order: Vec<u32>,
    /// Weights of the finest level.
    weights: Vec<f64>,
    /// The last one has no members.
    patterns: Vec<Pattern>,
    /// The heaviest weight of the graph: all weights here are divided by it, so that squares neither vanish nor overflow.
    heaviest: f64,
}

impl Hierarchy {
    pub fn new(graph: &SparseGraph) -> Self {
        let heaviest = graph.weights().iter().copied().fold(0.0, f64::max);
        let heaviest = if heaviest > 0.0 { heaviest } else { 1.0 };
        let mut levels = vec![Level::of(graph, heaviest)];
        let mut mergers: Vec<Vec<u32>> = Vec::new();
        loop {
            let fine = &levels[levels.len() - 1];
            if fine.len() <= COARSEST {
                break;
            }
            // Pairs of pairs.
            let pairs = fine.paired();
            let halved = fine.merged(&pairs);
            let mut of_pairs = halved.paired();
            // What is a component by now has to have its own say on the next level before it is left out.
            let pairs_of_pairs = of_pairs.iter().filter(|merged| **merged != ALONE);
            let n_merged = pairs_of_pairs.max().map_or(0, |last| last + 1);
            let alone = of_pairs.iter_mut().filter(|merged| **merged == ALONE);
            alone.zip(n_merged..).for_each(|(merged, own)| *merged = own);
            let merged = halved.merged(&of_pairs);
            let through = |&pair: &u32| if pair == ALONE { ALONE } else { of_pairs[pair as usize] };
            mergers.push(pairs.iter().map(through).collect());
            levels.push(merged);
        }
        // From the coarsest level down: nodes follow the order of what they merge into.
        let mut order: Vec<u32> = (0..levels[levels.len() - 1].len() as u32).collect();
        let mut patterns = Vec::new();
        let mut weights = Vec::new();
        while let Some(level) = levels.pop() {
            let firsts = match mergers.get(levels.len()) {
                None => Vec::new(),
                Some(merger) => {
                    let firsts;
                    (order, firsts) = members_in_order(merger, &order);
                    firsts
                }
            };
            let pattern;
            (pattern, weights) = level.in_order(&order, firsts);
            if let Some(coarse) = patterns.last() {
                patterns.push(with_slots(pattern, coarse));
            } else {
                patterns.push(pattern);
            }
        }
        patterns.reverse();
        Self { order, weights, patterns, heaviest }
    }

    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// What everything of the size of a weight has to be divided by.
    pub fn heaviest(&self) -> f64 {
        self.heaviest
    }

    pub(super) fn weights(&self) -> &[f64] {
        &self.weights
    }

    pub(super) fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }

    /// Bytes of the levels of a graph of so many nodes and edges while they are made, and as they are kept with one system on
    /// them. Each level has about a third of the entries of the one before.
    pub fn bytes(n_nodes: u64, n_edges: u64) -> [u64; 2] {
        [2 * n_edges * 42 + n_nodes * 96, 2 * n_edges * 28 + n_nodes * 64]
    }
}

/// Members of the merged nodes, these in their order, and where each begins; nodes that merge with nothing at the end.
fn members_in_order(merger: &[u32], order: &[u32]) -> (Vec<u32>, Vec<u32>) {
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

/// Finds the place of every entry in the row of the merged node.
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

/// A graph in the making.
struct Level {
    offsets: Vec<usize>,
    ids: Vec<u32>,
    weights: Vec<f64>,
}

impl Level {
    fn of(graph: &SparseGraph, heaviest: f64) -> Self {
        Self {
            offsets: graph.offsets().iter().map(|&offset| offset as usize).collect(),
            ids: graph.ids().to_vec(),
            weights: graph.weights().iter().map(|weight| weight / heaviest).collect(),
        }
    }

    fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    fn row(&self, node: usize) -> impl ExactSizeIterator<Item = (u32, f64)> + '_ {
        let entries = self.offsets[node]..self.offsets[node + 1];
        self.ids[entries.clone()].iter().copied().zip(self.weights[entries].iter().copied())
    }

    /// The pair of each node. Nodes with few neighbors choose first, because they have the least choice; one whose strong
    /// neighbors are all taken joins the pair of the strongest.
    fn paired(&self) -> Vec<u32> {
        let n = self.len();
        let roots: Vec<f64> =
            (0..n).map(|node| self.row(node).map(|(_, weight)| weight).sum::<f64>().sqrt()).collect();
        let mut turns: Vec<u32> = (0..n as u32).collect();
        turns.sort_by_key(|&node| self.offsets[node as usize + 1] - self.offsets[node as usize]);
        let mut pair_of = vec![ALONE; n];
        let mut n_pairs = 0;
        for node in turns {
            if pair_of[node as usize] != ALONE {
                continue;
            }
            let (mut strongest, mut free) = ((0.0, ALONE), (0.0, ALONE));
            for (other, weight) in self.row(node as usize) {
                let bond = weight / roots[other as usize];
                if bond > strongest.0 {
                    strongest = (bond, other);
                }
                if bond > free.0 && pair_of[other as usize] == ALONE {
                    free = (bond, other);
                }
            }
            let partner = if free.0 >= STRONG * strongest.0 { free.1 } else { strongest.1 };
            if partner == ALONE {
                continue;
            }
            if pair_of[partner as usize] == ALONE {
                pair_of[partner as usize] = n_pairs;
                n_pairs += 1;
            }
            pair_of[node as usize] = pair_of[partner as usize];
        }
        pair_of
    }

    /// The graph of the merged nodes; weight within one is dropped.
    fn merged(&self, merged_of: &[u32]) -> Self {
        let n_merged =
            merged_of.iter().filter(|merged| **merged != ALONE).max().map_or(0, |last| *last as usize + 1);
        let identity: Vec<u32> = (0..n_merged as u32).collect();
        let (members, firsts) = members_in_order(merged_of, &identity);
        let rows_from = |first: usize| {
            let mut rows = Self { offsets: vec![0], ids: Vec::new(), weights: Vec::new() };
            let mut place = vec![usize::MAX; n_merged];
            for own in first..n_merged.min(first + chunk_of(n_merged)) {
                let start = rows.ids.len();
                for &node in &members[firsts[own] as usize..firsts[own + 1] as usize] {
                    for (other, weight) in self.row(node as usize) {
                        let other = merged_of[other as usize] as usize;
                        if other == own {
                            continue;
                        }
                        // Places of earlier rows lie before the start of this one.
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
        };
        Self::joined((0..n_merged).into_par_iter().step_by(chunk_of(n_merged)).map(rows_from).collect())
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
    fn in_order(self, order: &[u32], firsts: Vec<u32>) -> (Pattern, Vec<f64>) {
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

/// Rows of a chunk, of so many in all.
fn chunk_of(n_rows: usize) -> usize {
    n_rows.div_ceil(CHUNKS).max(ROWS)
}

/// Chunks of a list that end there.
fn cut<T>(mut values: &mut [T], ends: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let mut chunks = Vec::new();
    let mut begin = 0;
    for end in ends {
        let (chunk, rest) = values.split_at_mut(end - begin);
        chunks.push(chunk);
        (values, begin) = (rest, end);
    }
    chunks
}
