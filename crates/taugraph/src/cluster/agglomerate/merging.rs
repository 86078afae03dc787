//! Average linkage with a heap: the pair of groups with the largest mean weight merges first.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use super::LOWEST_THRESHOLD;
use super::coarse::{Boundary, CoarseGraph, Group};
use super::resistance::{local_resistance, share_at_boundary, spread_term};
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
    let mut merging = Merging::new(coarse, veto);
    for &(a, b) in apart {
        merging.apart[a as usize].insert(b);
        merging.apart[b as usize].insert(a);
    }
    loop {
        while let Some(pair) = merging.heap.pop() {
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

/// A pair of groups in a heap. Pairs of groups that have merged since stay in it and are passed over.
struct Ranked {
    /// The pair with the largest value comes first.
    value: f64,
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
    coarse: &'a CoarseGraph,
    veto: Veto,
    threshold: f64,
    /// Groups by their number in the tree; `None` once merged into another.
    groups: Vec<Option<Group>>,
    boundaries: Vec<BTreeMap<u32, Boundary>>,
    /// Micro-communities of each group.
    members: Vec<Vec<u32>>,
    /// Groups that each must not merge with.
    apart: Vec<BTreeSet<u32>>,
    /// Pairs by their linkage.
    heap: BinaryHeap<Ranked>,
    /// Pairs that wait, by their negative resistance.
    waiting: BinaryHeap<Ranked>,
    merges: Vec<Merge>,
}

impl<'a> Merging<'a> {
    fn new(coarse: &'a CoarseGraph, veto: Veto) -> Self {
        let mut merging = Self {
            coarse,
            veto,
            threshold: LOWEST_THRESHOLD,
            groups: coarse.groups.iter().copied().map(Some).collect(),
            boundaries: coarse.boundaries.clone(),
            members: (0..coarse.groups.len() as u32).map(|micro| vec![micro]).collect(),
            apart: vec![BTreeSet::new(); coarse.groups.len()],
            heap: BinaryHeap::new(),
            waiting: BinaryHeap::new(),
            merges: Vec::new(),
        };
        for a in 0..coarse.groups.len() as u32 {
            let beside: Vec<u32> = coarse.boundaries[a as usize].range(a + 1..).map(|(&b, _)| b).collect();
            beside.into_iter().for_each(|b| merging.push(a, b));
        }
        merging
    }

    fn group(&self, number: u32) -> Group {
        self.groups[number as usize].expect("a group that was not merged")
    }

    fn linkage(&self, a: u32, b: u32) -> f64 {
        self.boundaries[a as usize][&b].weight / (self.group(a).size * self.group(b).size)
    }

    fn push(&mut self, a: u32, b: u32) {
        self.heap.push(Ranked { value: self.linkage(a, b), pair: (a.min(b), a.max(b)) });
    }

    fn are_present(&self, (a, b): (u32, u32)) -> bool {
        self.groups[a as usize].is_some() && self.groups[b as usize].is_some()
    }

    /// Merges a pair, or has it wait.
    fn visit(&mut self, Ranked { pair: (a, b), .. }: Ranked) {
        if !self.are_present((a, b)) || self.apart[a as usize].contains(&b) {
            return;
        }
        let (of_a, of_b) = (self.group(a), self.group(b));
        let mut resistance = local_resistance(of_a, of_b, self.boundaries[a as usize][&b]);
        let may_wait = self.veto == Veto::ByResistance && of_a.size.min(of_b.size) >= MIN_SIZE;
        if may_wait && resistance > self.threshold {
            let share = share_at_boundary(self.coarse, &self.members[a as usize], &self.members[b as usize]);
            resistance += spread_term(share);
            if resistance > self.threshold {
                self.waiting.push(Ranked { value: -resistance, pair: (a, b) });
                return;
            }
        }
        self.merge((a, b), resistance);
    }

    fn merge(&mut self, (a, b): (u32, u32), resistance: f64) {
        let linkage = self.linkage(a, b);
        let joined = self.group(a).joined(self.group(b));
        let number = self.groups.len() as u32;
        let take =
            |list: &mut Vec<BTreeMap<u32, Boundary>>, group: u32| std::mem::take(&mut list[group as usize]);
        let (of_a, of_b) = (take(&mut self.boundaries, a), take(&mut self.boundaries, b));
        // The smaller list of boundaries is added to the larger.
        let (mut all, fewer) = if of_a.len() >= of_b.len() { (of_a, of_b) } else { (of_b, of_a) };
        for (other, boundary) in fewer {
            all.entry(other).or_default().add(boundary);
        }
        all.remove(&a);
        all.remove(&b);
        self.groups[a as usize] = None;
        self.groups[b as usize] = None;
        self.groups.push(Some(joined));
        let (of_a, of_b) =
            (std::mem::take(&mut self.members[a as usize]), std::mem::take(&mut self.members[b as usize]));
        self.members.push(of_a.into_iter().chain(of_b).collect());
        let of_b = std::mem::take(&mut self.apart[b as usize]);
        let mut apart = std::mem::take(&mut self.apart[a as usize]);
        apart.extend(of_b);
        apart.iter().for_each(|&other| {
            self.apart[other as usize].insert(number);
        });
        self.apart.push(apart);
        let beside: Vec<u32> = all.keys().copied().collect();
        for &other in &beside {
            let back = &mut self.boundaries[other as usize];
            back.remove(&a);
            back.remove(&b);
            back.insert(number, all[&other]);
        }
        self.boundaries.push(all);
        beside.into_iter().for_each(|other| self.push(other, number));
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
                        .filter_map(|(i, j)| coarse.boundaries[i as usize].get(&j))
                        .map(|boundary| boundary.weight)
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
