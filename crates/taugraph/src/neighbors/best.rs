//! The smallest few of a stream of (value, id) pairs, by bounded insertion.

/// Keeps the `capacity` smallest pairs, ordered by value, then by id.
#[derive(Debug)]
pub(super) struct Best<V> {
    pairs: Vec<(V, u32)>,
    capacity: usize,
}

impl<V: PartialOrd + Copy> Best<V> {
    /// Room for `capacity` pairs.
    pub fn new(capacity: usize) -> Self {
        Self { pairs: Vec::with_capacity(capacity + 1), capacity }
    }

    /// The largest kept value once full: what is above it cannot enter.
    #[inline]
    pub fn bound(&self) -> Option<V> {
        (self.pairs.len() == self.capacity).then(|| self.pairs[self.capacity - 1].0)
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

    /// Forgets all pairs.
    pub fn clear(&mut self) {
        self.pairs.clear();
    }
}
