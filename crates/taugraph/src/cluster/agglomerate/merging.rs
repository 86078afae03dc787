//! Average linkage with a heap: the pair of groups with the largest mean weight merges first.

use std::cmp::Ordering;
use std::collections::{BTreeSet, BinaryHeap};

use super::LOWEST_THRESHOLD;
use super::coarse::{Boundary, CoarseGraph, Group};
use super::members::Members;
use super::resistance::{is_concentrated, local_resistance, share_at_boundary, spread_term};
use super::tree::Merge;
use crate::error::Result;
use crate::progress::Run;

/// Groups of fewer nodes merge whatever their boundaries say.
const MIN_SIZE: f64 = 8.0;

/// What may merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Veto {
    /// Everything, by linkage alone.
    Never,
    /// Boundaries whose resistance exceeds a threshold wait until nothing else is left; then the weakest of them merges, and the
    /// threshold rises to its resistance.
    ByResistance,
}

/// Merges until nothing has a boundary with anything, but for pairs that must stay apart.
pub(super) fn merge_all(
    coarse: &CoarseGraph,
    apart: &[(u32, u32)],
    veto: Veto,
    run: &Run<'_>,
) -> Result<Vec<Merge>> {
    let mut merging = Merging::new(coarse, apart, veto);
    loop {
        while let Some(pair) = merging.next_pair() {
            run.check()?;
            merging.visit(pair);
        }
        // The weakest of what resisted.
        let Some(Ranked { value, pair }) = merging.waiting.pop() else { return Ok(merging.merges) };
        if merging.are_present(pair) {
            merging.threshold = merging.threshold.max(-value);
            merging.merge(pair, -value);
        }
    }
}

/// A pair of groups with its rank. Pairs of groups that have merged since stay where they are and are passed over.
#[derive(Clone, Copy)]
struct Ranked {
    /// The pair with the largest value comes first.
    value: f64,
    /// The lower number first.
    pair: (u32, u32),
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    /// In a tie the lowest numbers come first.
    fn cmp(&self, other: &Self) -> Ordering {
        self.value.total_cmp(&other.value).then_with(|| other.pair.cmp(&self.pair))
    }
}

struct Merging<'a> {
    veto: Veto,
    threshold: f64,
    /// Groups by their number in the tree; `None` once merged into another.
    groups: Vec<Option<Group>>,
    /// The boundaries of each group, ascending. Those with groups that have merged since stay in the row and are passed over; the
    /// merged group has a higher number than all before, so its boundary is added at the end.
    boundaries: Vec<Vec<(u32, Boundary)>>,
    members: Members<'a>,
    /// Groups that each must not merge with.
    apart: Vec<BTreeSet<u32>>,
    /// Each group's pairs with groups of lower numbers by their linkage, the best last.
    queues: Vec<Vec<Ranked>>,
    /// The best pair of each group's queue, taken from there.
    heap: BinaryHeap<Ranked>,
    /// Pairs that wait, by their negative resistance.
    waiting: BinaryHeap<Ranked>,
    merges: Vec<Merge>,
}

impl<'a> Merging<'a> {
    fn new(coarse: &'a CoarseGraph, apart: &[(u32, u32)], veto: Veto) -> Self {
        let n = coarse.groups.len();
        let mut merging = Self {
            veto,
            threshold: LOWEST_THRESHOLD,
            groups: coarse.groups.iter().copied().map(Some).collect(),
            boundaries: coarse.boundaries.clone(),
            members: Members::new(coarse),
            apart: vec![BTreeSet::new(); n],
            queues: vec![Vec::new(); n],
            heap: BinaryHeap::new(),
            waiting: BinaryHeap::new(),
            merges: Vec::new(),
        };
        for &(a, b) in apart {
            merging.apart[a as usize].insert(b);
            merging.apart[b as usize].insert(a);
        }
        (0..n as u32).for_each(|group| merging.enqueue(group));
        merging
    }

    fn group(&self, number: u32) -> Group {
        self.groups[number as usize].expect("a group that was not merged")
    }

    fn boundary(&self, a: u32, b: u32) -> Boundary {
        let row = &self.boundaries[a as usize];
        row[row.binary_search_by_key(&b, |beside| beside.0).expect("groups beside each other")].1
    }

    fn linkage(&self, a: u32, b: u32, boundary: &Boundary) -> f64 {
        boundary.weight / (self.group(a).size * self.group(b).size)
    }

    /// The boundaries of a group with groups that are present.
    fn beside(&self, group: u32) -> impl Iterator<Item = (u32, Boundary)> + '_ {
        let row = self.boundaries[group as usize].iter().copied();
        row.filter(|(other, _)| self.groups[*other as usize].is_some())
    }

    /// The boundaries of two groups as those of one.
    fn joined_boundaries(&self, a: u32, b: u32) -> Vec<(u32, Boundary)> {
        let (mut of_a, mut of_b) = (self.beside(a).peekable(), self.beside(b).peekable());
        let mut joined = Vec::new();
        loop {
            let order = match (of_a.peek(), of_b.peek()) {
                (Some(first), Some(second)) => first.0.cmp(&second.0),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => break,
            };
            let mut next = Boundary::default();
            let mut other = 0;
            if order.is_le() {
                let (number, boundary) = of_a.next().expect("peeked");
                (other, next) = (number, boundary);
            }
            if order.is_ge() {
                let (number, boundary) = of_b.next().expect("peeked");
                next.add(boundary);
                other = number;
            }
            if other != a && other != b {
                joined.push((other, next));
            }
        }
        joined
    }

    /// Ranks the pairs of a group with those of lower numbers: every pair is in one queue.
    fn enqueue(&mut self, group: u32) {
        let ranked = |(other, boundary): (u32, Boundary)| Ranked {
            value: self.linkage(other, group, &boundary),
            pair: (other, group),
        };
        let lower = self.beside(group).take_while(|(other, _)| *other < group);
        let mut queue: Vec<Ranked> = lower.map(ranked).collect();
        queue.sort_unstable();
        self.heap.extend(queue.pop());
        self.queues[group as usize] = queue;
    }

    /// The pair with the largest linkage that was not visited yet.
    fn next_pair(&mut self) -> Option<(u32, u32)> {
        loop {
            let Ranked { pair, .. } = self.heap.pop()?;
            let group = pair.1 as usize;
            if self.groups[group].is_none() {
                self.queues[group] = Vec::new();
                continue;
            }
            let is_present = |ranked: &Ranked| self.groups[ranked.pair.0 as usize].is_some();
            while let Some(next) = self.queues[group].pop() {
                if is_present(&next) {
                    self.heap.push(next);
                    break;
                }
            }
            if self.are_present(pair) {
                return Some(pair);
            }
        }
    }

    fn are_present(&self, (a, b): (u32, u32)) -> bool {
        self.groups[a as usize].is_some() && self.groups[b as usize].is_some()
    }

    /// Merges a pair, or has it wait.
    fn visit(&mut self, (a, b): (u32, u32)) {
        if self.apart[a as usize].contains(&b) {
            return;
        }
        let resistance = self.resistance(a, b);
        if self.veto == Veto::Never || resistance <= self.threshold {
            self.merge((a, b), resistance);
        } else {
            self.waiting.push(Ranked { value: -resistance, pair: (a, b) });
        }
    }

    /// The resistance of a boundary: in full only where it decides.
    fn resistance(&mut self, a: u32, b: u32) -> f64 {
        let (of_a, of_b) = (self.group(a), self.group(b));
        let boundary = self.boundary(a, b);
        let local = local_resistance(of_a, of_b, boundary);
        if self.veto == Veto::Never || local <= self.threshold {
            return local;
        }
        if of_a.size.min(of_b.size) < MIN_SIZE {
            return local.min(self.threshold);
        }
        if is_concentrated(of_a, of_b, boundary) {
            return local;
        }
        let (parts_of_a, parts_of_b, across) = self.members.parts_of_both(a, b);
        local + spread_term(share_at_boundary(parts_of_a, parts_of_b, &across))
    }

    fn merge(&mut self, (a, b): (u32, u32), resistance: f64) {
        let boundary = self.boundary(a, b);
        let linkage = self.linkage(a, b, &boundary);
        let joined = self.group(a).joined(self.group(b), boundary.weight);
        let number = self.groups.len() as u32;
        let boundaries = self.joined_boundaries(a, b);
        [a, b].iter().for_each(|&group| self.boundaries[group as usize] = Vec::new());
        self.groups[a as usize] = None;
        self.groups[b as usize] = None;
        self.groups.push(Some(joined));
        self.members.merge(a, b);
        let [mut apart, of_b] = [a, b].map(|group| std::mem::take(&mut self.apart[group as usize]));
        apart.extend(of_b);
        apart.iter().for_each(|&other| {
            self.apart[other as usize].insert(number);
        });
        self.apart.push(apart);
        for &(other, boundary) in &boundaries {
            self.boundaries[other as usize].push((number, boundary));
        }
        self.boundaries.push(boundaries);
        self.queues.push(Vec::new());
        self.enqueue(number);
        self.merges.push(Merge {
            groups: [a, b],
            linkage,
            resistance,
            threshold: if self.veto == Veto::Never { f64::INFINITY } else { self.threshold },
            size: joined.size as usize,
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tree::MergeTree;
    use super::*;
    use crate::edges::Edges;
    use crate::graph::SparseGraph;
    use crate::labels::Labels;

    /// Every pair looked at before every merge.
    fn naive(coarse: &CoarseGraph) -> Vec<[u32; 2]> {
        let mut sets: Vec<Option<Vec<u32>>> =
            (0..coarse.groups.len() as u32).map(|i| Some(vec![i])).collect();
        let mut merges = Vec::new();
        loop {
            let mut best: Option<(f64, [u32; 2])> = None;
            for b in 0..sets.len() {
                for a in 0..b {
                    let (Some(of_a), Some(of_b)) = (&sets[a], &sets[b]) else { continue };
                    let weight: f64 = of_a
                        .iter()
                        .flat_map(|&i| of_b.iter().map(move |&j| (i, j)))
                        .flat_map(|(i, j)| {
                            coarse.boundaries[i as usize].iter().filter(move |beside| beside.0 == j)
                        })
                        .map(|(_, boundary)| boundary.weight)
                        .sum();
                    let size = |set: &[u32]| set.iter().map(|&i| coarse.groups[i as usize].size).sum::<f64>();
                    let linkage = weight / (size(of_a) * size(of_b));
                    let pair = [a as u32, b as u32];
                    let is_better = best
                        .is_none_or(|(value, place)| linkage > value || (linkage == value && pair < place));
                    if weight > 0.0 && is_better {
                        best = Some((linkage, pair));
                    }
                }
            }
            let Some((_, [a, b])) = best else { return merges };
            let joined = [sets[a as usize].take().unwrap(), sets[b as usize].take().unwrap()].concat();
            sets.push(Some(joined));
            merges.push([a, b]);
        }
    }

    proptest! {
        /// Weights are small whole numbers, so that sums are exact and ties are many.
        #[test]
        fn the_heap_merges_what_the_naive_search_merges(
            weights in prop::collection::vec((0u32..9, 0u32..9, 1u32..4), 1..30),
            sizes in prop::collection::vec(1usize..3, 9),
        ) {
            let starts: Vec<usize> = sizes.iter().scan(0, |sum, size| { *sum += size; Some(*sum - size) }).collect();
            let n = sizes.iter().sum::<usize>();
            let mut pairs: Vec<(u32, u32, f64)> = weights
                .iter()
                .filter(|(a, b, _)| a != b)
                .map(|&(a, b, w)| (starts[a as usize] as u32, starts[b as usize] as u32, f64::from(w)))
                .map(|(a, b, w)| (a.min(b), a.max(b), w))
                .collect();
            pairs.sort_by_key(|pair| (pair.0, pair.1));
            pairs.dedup_by_key(|pair| (pair.0, pair.1));
            let edges = Edges::from_pairs(n, pairs.iter().map(|pair| (pair.0, pair.1))).unwrap();
            let values: Vec<f64> = edges
                .iter()
                .map(|(i, j)| pairs.iter().find(|pair| (pair.0, pair.1) == (i.min(j), i.max(j))).unwrap().2)
                .collect();
            let graph = SparseGraph::from_edges(&edges, &values).unwrap();
            let labels = sizes.iter().enumerate().flat_map(|(group, &size)| vec![group as u32; size]).collect();
            let coarse = CoarseGraph::new(&graph, &Labels::new(labels, 9).unwrap(), None);
            let merges = merge_all(&coarse, &[], Veto::Never, &Run::new(0)).unwrap();
            let found: Vec<[u32; 2]> = merges.iter().map(|merge| merge.groups).collect();
            prop_assert_eq!(found, naive(&coarse));
            // With vetoes the order differs, but everything that is connected ends in one group.
            let vetoed = merge_all(&coarse, &[], Veto::ByResistance, &Run::new(0)).unwrap();
            // What must stay apart never shares a group.
            let apart = merge_all(&coarse, &[(0, 5)], Veto::Never, &Run::new(0)).unwrap();
            let tree = MergeTree { micro_communities: Labels::new((0..9).collect(), 9).unwrap(), merges: apart };
            let last = tree.cut(tree.min_groups()).unwrap();
            prop_assert_ne!(last[0], last[5]);
            prop_assert_eq!(vetoed.len(), merges.len());
            prop_assert!(vetoed.windows(2).all(|pair| pair[0].threshold <= pair[1].threshold));
        }
    }
}
