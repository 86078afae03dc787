//! Sparse points by columns, and blocks of queries that go through them.

use super::SparseMetricPoints;
use crate::neighbors::best::Best;
use crate::vectorized::vectorized;

/// Queries that go through the columns together. A column that many of them share is read once for all, and the sums
/// of a candidate with all of them fill one cache line.
pub(super) const LANES: usize = 8;
/// Candidates whose sums are held at a time: 256 KiB of sums. From 1024 to 16,384 the time hardly changes.
pub(super) const TILE: usize = 1 << 12;
/// Candidates that share a "touched" flag.
const CHUNK: usize = 64;

/// The points by column: for each column, the points that have it, ascending, and their values in it.
pub(super) struct Transposed<'a> {
    space: &'a SparseMetricPoints,
    offsets: Vec<usize>,
    ids: Vec<u32>,
    values: Vec<f64>,
    /// The points sorted by norm, ties by id.
    by_norm: Vec<u32>,
    longest_row: usize,
}

/// A column of a block of queries: the position of its next point, and the queries' own values.
struct Column {
    next: usize,
    end: usize,
    weights: [f64; LANES],
}

impl<'a> Transposed<'a> {
    pub fn new(space: &'a SparseMetricPoints) -> Self {
        let (points, n) = (&space.points, space.points.len());
        let mut offsets = vec![0; points.n_used_columns() + 1];
        for i in 0..n {
            points.row(i).0.iter().for_each(|&column| offsets[column as usize + 1] += 1);
        }
        for column in 0..points.n_used_columns() {
            offsets[column + 1] += offsets[column];
        }
        let mut next = offsets.clone();
        let (mut ids, mut values) = (vec![0; points.n_entries()], vec![0.0; points.n_entries()]);
        for i in 0..n {
            let (columns, own) = points.row(i);
            for (&column, &value) in columns.iter().zip(own) {
                let place = &mut next[column as usize];
                (ids[*place], values[*place]) = (i as u32, value);
                *place += 1;
            }
        }
        let mut by_norm: Vec<u32> = (0..n as u32).collect();
        by_norm.sort_by(|&a, &b| space.squared_norms[a as usize].total_cmp(&space.squared_norms[b as usize]));
        Self { space, offsets, ids, values, by_norm, longest_row: points.longest_row() }
    }

    /// The `k` nearest of each query among the points that `is_candidate(query, point)` allows; fewer if there are fewer.
    pub fn search(
        &self,
        queries: &[u32],
        k: usize,
        is_candidate: impl Fn(usize, usize) -> bool,
    ) -> Vec<Best<f64>> {
        let n = self.space.points.len();
        let mut sums = vec![[0.0; LANES]; TILE.min(n)];
        let mut is_touched = vec![false; n.div_ceil(CHUNK)];
        let mut found: Vec<Best<f64>> = queries.iter().map(|_| Best::new(k)).collect();
        for (block, found) in queries.chunks(LANES).zip(found.chunks_mut(LANES)) {
            is_touched.fill(false);
            let mut columns = self.columns_of(block);
            for (first, is_touched) in (0..n).step_by(TILE).zip(is_touched.chunks_mut(TILE / CHUNK)) {
                let end = (first + TILE).min(n);
                let sums = &mut sums[..end - first];
                add_products(sums, is_touched, &mut columns, &self.ids, &self.values, first);
                let mut begin = first;
                for stretch in is_touched.chunk_by(|a, b| a == b) {
                    let stretch_end = (begin + stretch.len() * CHUNK).min(end);
                    if stretch[0] {
                        let sums = &mut sums[begin - first..stretch_end - first];
                        self.offer_sums(block, found, begin, sums, &is_candidate);
                        sums.fill([0.0; LANES]);
                    }
                    begin = stretch_end;
                }
            }
            for (&query, best) in block.iter().zip(found) {
                self.offer_untouched(query, best, &is_touched, &is_candidate);
            }
        }
        found
    }

    /// The columns of a block of queries, ascending.
    fn columns_of(&self, block: &[u32]) -> Vec<Column> {
        let mut entries: Vec<(u32, u32, f64)> = Vec::new();
        for (lane, &query) in (0..).zip(block) {
            let (columns, values) = self.space.points.row(query as usize);
            entries.extend(columns.iter().zip(values).map(|(&column, &value)| (column, lane, value)));
        }
        entries.sort_unstable_by_key(|&(column, lane, _)| (column, lane));
        let of_column = |entries: &[(u32, u32, f64)]| {
            let column = entries[0].0 as usize;
            let mut weights = [0.0; LANES];
            entries.iter().for_each(|&(_, lane, value)| weights[lane as usize] = value);
            Column { next: self.offsets[column], end: self.offsets[column + 1], weights }
        };
        entries.chunk_by(|a, b| a.0 == b.0).map(of_column).collect()
    }

    /// Offers the candidates from `first` on, whose products with the block are `sums`, to those found so far.
    fn offer_sums(
        &self,
        block: &[u32],
        found: &mut [Best<f64>],
        first: usize,
        sums: &[[f64; LANES]],
        is_candidate: &impl Fn(usize, usize) -> bool,
    ) {
        let norms = &self.space.squared_norms[first..first + sums.len()];
        // Lanes without a query accept nothing.
        let mut limits = [f64::NEG_INFINITY; LANES];
        for ((limit, &query), best) in limits.iter_mut().zip(block).zip(&*found) {
            *limit = self.limit(query as usize, best);
        }
        let mut next = next_within(sums, norms, &limits, 0);
        while let Some(place) = next {
            let candidate = first + place;
            for (lane, (&query, best)) in block.iter().zip(&mut *found).enumerate() {
                let (query, dot) = (query as usize, sums[place][lane]);
                if is_within(norms[place], dot, limits[lane]) && is_candidate(query, candidate) {
                    let squared = self.space.squared_of_dot(query, candidate, dot);
                    best.offer(self.space.transform.distance_at(squared), candidate as u32);
                    limits[lane] = self.limit(query, best);
                }
            }
            next = next_within(sums, norms, &limits, place + 1);
        }
    }

    /// |b|² − 2·a·b above this proves that a pair is farther apart than all those found.
    ///
    /// Plus |a|² it is the squared distance up to rounding: m products and sums, twice 2·m for the norms and for the
    /// differences of close pairs, where m is the number of entries of the longest row, each at most 2⁻⁵³ of (|a| + |b|)²;
    /// more than doubled for safety. And |b| ≤ |a| + distance for every pair this close.
    fn limit(&self, query: usize, best: &Best<f64>) -> f64 {
        let Some(bound) = best.bound() else { return f64::INFINITY };
        let squared = self.space.transform.square_bound(bound);
        let own = self.space.squared_norms[query];
        let reach = 2.0 * own.sqrt() + squared.sqrt();
        let roundings = (8 * self.longest_row + 32) as f64;
        squared - own + roundings * f64::EPSILON * reach * reach + f64::MIN_POSITIVE
    }

    /// Offers the candidates that have no column in common with any query of the block: their distance follows from the
    /// norms alone, so they are offered in order of norm.
    fn offer_untouched(
        &self,
        query: u32,
        best: &mut Best<f64>,
        is_touched: &[bool],
        is_candidate: &impl Fn(usize, usize) -> bool,
    ) {
        let norms = &self.space.squared_norms;
        let mut place = 0;
        while let Some(&id) = self.by_norm.get(place) {
            let (candidate, norm) = (id as usize, norms[id as usize]);
            let distance = self.space.transform.distance_at(norms[query as usize] + norm);
            if let Some((worst, worst_id)) = best.worst() {
                if distance > worst {
                    break;
                }
                if distance == worst && id > worst_id {
                    // The rest with this norm are just as far away, with higher ids.
                    place += self.by_norm[place..].partition_point(|&other| norms[other as usize] <= norm);
                    continue;
                }
            }
            if !is_touched[candidate / CHUNK] && is_candidate(query as usize, candidate) {
                best.offer(distance, id);
            }
            place += 1;
        }
    }
}

vectorized! {
    /// Adds the products of the columns' weights with the values of the candidates from `first` on, as many as there are
    /// sums. The columns come in ascending order, and with them the terms of every sum; a query without the column adds 0,
    /// which changes nothing.
    fn add_products<'a>(
        sums: &'a mut [[f64; LANES]],
        is_touched: &'a mut [bool],
        columns: &'a mut [Column],
        ids: &'a [u32],
        values: &'a [f64],
        first: usize,
    ) -> () {
        for column in columns {
            // A copy, so that the compiler knows it does not alias the sums: only then does it vectorize.
            let weights = column.weights;
            let (range, mut next) = (column.next..column.end, column.next);
            for (&id, &value) in ids[range.clone()].iter().zip(&values[range]) {
                let place = id as usize - first;
                let Some(sums) = sums.get_mut(place) else { break };
                let mut new = *sums;
                for (sum, weight) in new.iter_mut().zip(&weights) {
                    *sum += weight * value;
                }
                *sums = new;
                is_touched[place / CHUNK] = true;
                next += 1;
            }
            column.next = next;
        }
    }
}

/// Whether a candidate may be within the limit; true for NaN.
#[inline(always)]
fn is_within(norm: f64, dot: f64, limit: f64) -> bool {
    let is_beyond = norm - 2.0 * dot > limit;
    !is_beyond
}

vectorized! {
    /// The first position from `start` on at which a query may have a neighbor.
    fn next_within<'a>(
        sums: &'a [[f64; LANES]],
        norms: &'a [f64],
        limits: &'a [f64; LANES],
        start: usize,
    ) -> Option<usize> {
        for (place, (sums, &norm)) in sums.iter().zip(norms).enumerate().skip(start) {
            let mut any = false;
            for (&dot, &limit) in sums.iter().zip(limits) {
                any |= is_within(norm, dot, limit);
            }
            if any {
                return Some(place);
            }
        }
        None
    }
}
