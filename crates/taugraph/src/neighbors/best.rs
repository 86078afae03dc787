//! The smallest few of a stream of (value, id) pairs, by bounded insertion.

use super::panels::LANES;

/// Keeps the `capacity` smallest pairs, ordered by value, then by id.
#[derive(Debug)]
pub(super) struct Best<V> {
    pairs: Vec<(V, u32)>,
    capacity: usize,
}

impl<V: PartialOrd + Copy> Best<V> {
    /// An empty list with room for `capacity` pairs.
    pub fn new(capacity: usize) -> Self {
        Self { pairs: Vec::with_capacity(capacity + 1), capacity }
    }

    /// The largest value in the list once full: anything above it cannot enter.
    #[inline]
    pub fn bound(&self) -> Option<V> {
        (self.pairs.len() == self.capacity).then(|| self.pairs[self.capacity - 1].0)
    }

    /// The last pair once full: only pairs before it can enter.
    pub fn worst(&self) -> Option<(V, u32)> {
        (self.pairs.len() == self.capacity).then(|| self.pairs[self.capacity - 1])
    }

    /// Inserts the pair if it is among the smallest so far.
    #[inline]
    pub fn offer(&mut self, value: V, id: u32) {
        let full = self.pairs.len() == self.capacity;
        if full {
            let (worst, worst_id) = self.pairs[self.capacity - 1];
            if value > worst || (value == worst && id > worst_id) {
                return;
            }
        }
        let place = self.pairs.partition_point(|&(v, i)| v < value || (v == value && i < id));
        self.pairs.insert(place, (value, id));
        self.pairs.truncate(self.capacity);
    }

    /// The pairs, smallest first.
    pub fn pairs(&self) -> &[(V, u32)] {
        &self.pairs
    }

    /// Removes all pairs.
    pub fn clear(&mut self) {
        self.pairs.clear();
    }
}

impl Best<f64> {
    /// Replaces the list by the smallest of these pairs: faster than offering one after the other.
    pub fn fill(&mut self, pairs: impl Iterator<Item = (f64, u32)>) {
        self.pairs.clear();
        self.pairs.extend(pairs);
        self.pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.pairs.truncate(self.capacity);
    }
}

/// A short list of the candidates with the smallest scores: cheap to fill, unordered, ties at the cutoff broken
/// arbitrarily. For filters whose results are checked afterwards.
#[derive(Debug)]
pub(super) struct ShortList {
    /// Only the first `listed` are valid.
    pairs: Vec<(f32, u32)>,
    listed: usize,
    kept: usize,
    /// It is cut when it holds so many.
    full: usize,
    bound: f32,
}

impl ShortList {
    /// Keeps at least the `kept` smallest.
    pub fn new(kept: usize) -> Self {
        Self::with_room(kept, 2)
    }

    /// The same with room for so many times that number: more room means fewer cuts and looser bounds.
    pub fn with_room(kept: usize, times: usize) -> Self {
        let full = times * kept;
        Self { pairs: vec![(0.0, 0); full + LANES], listed: 0, kept, full, bound: f32::MAX }
    }

    /// Scores above this are not among the smallest: every candidate not in the list has at least this score.
    #[inline(always)]
    pub fn bound(&self) -> f32 {
        self.bound
    }

    /// Lowers the bound to a score that enough candidates are known not to exceed, before they are offered.
    pub fn narrow(&mut self, bound: f32) {
        self.bound = self.bound.min(bound);
    }

    /// How many are retained.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// Adds those of at most [`LANES`] candidates whose scores are not above the bound. Nearly always that is one of them: all are
    /// compared at once, and only those that pass are looked at.
    #[inline(always)]
    pub fn push(&mut self, scores: &[f32], ids: &[u32], excluded: u32) {
        let mut passing = 0u32;
        for (lane, &score) in scores.iter().enumerate() {
            passing |= u32::from(score <= self.bound) << lane;
        }
        while passing != 0 {
            let lane = passing.trailing_zeros() as usize;
            passing &= passing - 1;
            self.pairs[self.listed] = (scores[lane], ids[lane]);
            self.listed += usize::from(ids[lane] != excluded);
        }
        if self.listed >= self.full {
            self.cut();
        }
    }

    /// Adds a candidate whose score is not above the bound.
    #[inline(always)]
    pub fn add(&mut self, score: f32, id: u32) {
        self.pairs[self.listed] = (score, id);
        self.listed += 1;
        if self.listed >= self.full {
            self.cut();
        }
    }

    #[inline(never)]
    fn cut(&mut self) {
        self.pairs[..self.listed].select_nth_unstable_by(self.kept - 1, |a, b| a.0.total_cmp(&b.0));
        self.listed = self.kept;
        self.bound = self.pairs[self.kept - 1].0;
    }

    /// The `kept` smallest, or all if there are fewer.
    pub fn finish(&mut self) -> &[(f32, u32)] {
        if self.listed > self.kept {
            self.cut();
        }
        &self.pairs[..self.listed]
    }

    /// At least the `kept` smallest, or all if there are fewer: to check a few more takes less time than to find out which they are.
    pub fn candidates(&mut self) -> &[(f32, u32)] {
        if self.listed > self.kept + self.kept / 2 {
            self.cut();
        }
        &self.pairs[..self.listed]
    }
}
