//! The kernel of every search by distance to all candidates: squared distances of a few queries to sixteen candidates at
//! once, computed in registers and compared there with each query's bound so far. Only candidates that pass are ever written.
//!
//! A score is |y|² − 2·x·y, the squared distance without the query's own |x|². Candidates are packed in panels of sixteen,
//! column by column.

use std::ops::Range;

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::f32_points::{F32Points, norm};
#[cfg(target_arch = "x86_64")]
use super::lanes::Avx512;
use super::lanes::{Lanes, Pulp};
use crate::error::Result;
use crate::memory::LargeTable;
use crate::progress::Run;

/// Candidates per panel.
pub(super) const LANES: usize = 16;
/// Queries compared with a panel together.
pub(super) const GROUP: usize = 6;
/// The smaller group, for the remaining queries.
const SMALL_GROUP: usize = 3;
/// The id of an empty slot.
const NOBODY: u32 = u32::MAX;
/// Values of a line of the cache. Vectors that begin with one are loaded twice as fast as those that straddle two.
const LINE: usize = 16;

/// Candidates, packed for the kernel.
pub(super) struct Panels {
    /// From the beginning of a line of the cache on: for each panel and column, sixteen values in single precision, two in each
    /// double-precision slot.
    values: LargeTable,
    /// Infinite for empty slots, which therefore pass no bound.
    squared_norms: Vec<f32>,
    ids: Vec<u32>,
    n_columns: usize,
}

/// Receives candidates.
pub(super) trait Sink {
    /// Whether only the lowest score of every vector of candidates is wanted, and no candidates.
    const LOWEST_ONLY: bool = false;

    /// The lowest score of a vector of candidates, if only those are wanted.
    fn note(&mut self, _query: usize, _lowest: f32) {}

    /// Whether all scores are wanted, with the lowest of each part, and no candidates.
    const ALL: bool = false;

    /// The scores of a part, if all are wanted, and the lowest.
    fn keep(&mut self, _query: usize, _scores: &[f32], _lowest: f32) {}

    /// Whether the queries are candidates of the candidates, too.
    const BOTH_WAYS: bool = false;

    /// The highest squared distance that the candidates from this one on accept, by their places among the offered ones.
    fn reach(&self, _first: usize) -> &[f32] {
        &[]
    }

    /// |x|² of a query.
    fn squared_norm(&self, _query: usize) -> f32 {
        f32::INFINITY
    }

    /// Offers a query to the candidates from this one on, given their |y|² and scores.
    fn offer_back(&mut self, _query: usize, _first: usize, _squared_norms: &[f32], _scores: &[f32]) {}

    /// The highest score that the query in this lane accepts; unless finite, it accepts nothing.
    fn bound(&self, query: usize) -> f32;

    /// Offers candidates with their scores, at least one of which is not above the bound.
    fn take(&mut self, query: usize, ids: &[u32], scores: &[f32]);
}

impl Panels {
    /// Packs the points group by group, each group starting a new panel; also returns the first panel of each group, followed by
    /// the end of the last. They are stored in the run's scratch if there is one.
    pub fn new<'a>(
        points: &F32Points<'_>,
        groups: impl Iterator<Item = &'a [u32]>,
        run: &Run<'_>,
    ) -> Result<(Self, Vec<usize>)> {
        let mut ids = Vec::with_capacity(points.len().next_multiple_of(LANES));
        let mut bounds = vec![0];
        for group in groups {
            ids.extend_from_slice(group);
            ids.resize(ids.len().next_multiple_of(LANES), NOBODY);
            bounds.push(ids.len() / LANES);
        }
        let d = points.n_columns();
        let values = LargeTable::zeros((ids.len() * d + LINE) / 2, run.scratch)?;
        let append = |id: usize, out: &mut Vec<f32>| points.append_row(id, out);
        let panels = Self::pack(values, ids, d, |id| points.squared_norm(id), append);
        Ok((panels, bounds))
    }

    /// All points in their original order.
    pub fn of_all(points: &F32Points<'_>, run: &Run<'_>) -> Result<Self> {
        let all: Vec<u32> = (0..points.len() as u32).collect();
        Ok(Self::new(points, std::iter::once(&all[..]), run)?.0)
    }

    /// Rows that are already in single precision, in their original order. There are few of them, so they stay in memory.
    pub fn of_rows(rows: &[f32], n_columns: usize) -> Self {
        let n = rows.len() / n_columns;
        let mut ids: Vec<u32> = (0..n as u32).collect();
        ids.resize(n.next_multiple_of(LANES), NOBODY);
        let values = LargeTable::Memory(vec![0.0; (ids.len() * n_columns + LINE) / 2]);
        let row = |id: usize| rows[id * n_columns..(id + 1) * n_columns].iter().copied();
        let append = |id: usize, out: &mut Vec<f32>| out.extend(row(id));
        Self::pack(values, ids, n_columns, |id| (norm(row(id)) * norm(row(id))) as f32, append)
    }

    /// Writes the rows of `ids` into the zeros of `values`: two single-precision values in each slot.
    fn pack(
        mut values: LargeTable,
        ids: Vec<u32>,
        n_columns: usize,
        squared_norm: impl Fn(usize) -> f32 + Sync,
        append_row: impl Fn(usize, &mut Vec<f32>) + Sync,
    ) -> Self {
        let singles: &mut [f32] = bytemuck::cast_slice_mut(values.as_mut());
        let first = first_of_line(singles);
        let singles = &mut singles[first..];
        let mut squared_norms = vec![f32::INFINITY; ids.len()];
        let panels = singles.par_chunks_exact_mut(LANES * n_columns);
        let panels = panels.zip(squared_norms.par_chunks_exact_mut(LANES)).zip(ids.par_chunks_exact(LANES));
        panels.for_each_init(Vec::new, |row, ((values, squares), ids)| {
            for (lane, &id) in ids.iter().enumerate().filter(|(_, id)| **id != NOBODY) {
                squares[lane] = squared_norm(id as usize);
                row.clear();
                append_row(id as usize, row);
                for (column, &value) in row.iter().enumerate() {
                    values[column * LANES + lane] = value;
                }
            }
        });
        Self { values, squared_norms, ids, n_columns }
    }

    /// Number of panels.
    pub fn len(&self) -> usize {
        self.ids.len() / LANES
    }

    fn singles(&self) -> &[f32] {
        let singles: &[f32] = bytemuck::cast_slice(self.values.as_ref());
        &singles[first_of_line(singles)..]
    }

    /// For a group of queries, the lowest score in each of several parts of some panels, appended to `lowest`: at least as many
    /// candidates as there are parts have scores no higher than the highest of these.
    pub fn lowest_of_parts(&self, panels: Range<usize>, queries: &[f32], lowest: &mut [Vec<f32>; GROUP]) {
        self.offer(panels, queries, &mut Lowest(lowest));
    }

    /// The candidates of some panels, in the order of their scores.
    pub fn ids(&self, panels: Range<usize>) -> &[u32] {
        &self.ids[panels.start * LANES..panels.end * LANES]
    }

    /// Offers the candidates of some panels to a group of queries from [`interleave`].
    pub fn offer<K: Sink>(&self, panels: Range<usize>, queries: &[f32], sink: &mut K) {
        let d = self.n_columns;
        let values = &self.singles()[panels.start * LANES * d..panels.end * LANES * d];
        let squared_norms = &self.squared_norms[panels.start * LANES..panels.end * LANES];
        let ids = &self.ids[panels.start * LANES..panels.end * LANES];
        match queries.len() / d {
            SMALL_GROUP => Offer::<_, SMALL_GROUP> { values, squared_norms, ids, queries, sink }.dispatch(),
            _ => Offer::<_, GROUP> { values, squared_norms, ids, queries, sink }.dispatch(),
        }
    }
}

/// Where a line of the cache begins. Memory stays where it is, so this does not change.
fn first_of_line(values: &[f32]) -> usize {
    values.as_ptr().align_offset(LINE * size_of::<f32>()).min(LINE)
}

/// Records the lowest scores.
struct Lowest<'a>(&'a mut [Vec<f32>; GROUP]);

impl Sink for Lowest<'_> {
    const LOWEST_ONLY: bool = true;

    #[inline(always)]
    fn note(&mut self, query: usize, lowest: f32) {
        self.0[query].push(lowest);
    }

    fn bound(&self, _: usize) -> f32 {
        f32::NEG_INFINITY
    }

    fn take(&mut self, _: usize, _: &[u32], _: &[f32]) {}
}

/// All scores of a group of queries, and the lowest of each part of them.
#[derive(Default)]
pub(super) struct AllScores {
    scores: [Vec<f32>; GROUP],
    lowest: [Vec<f32>; GROUP],
    /// How many scores and parts there are of each query; the lists are longer.
    ends: [(usize, usize); GROUP],
}

impl AllScores {
    /// Makes room for the scores of so many candidates.
    pub fn clear(&mut self, n_candidates: usize) {
        let lists = self.scores.iter_mut().chain(&mut self.lowest);
        lists.filter(|list| list.len() < n_candidates).for_each(|list| list.resize(n_candidates, 0.0));
        self.ends = [(0, 0); GROUP];
    }

    /// The scores of a query, and the lowest of each of their equal parts.
    pub fn of(&self, query: usize) -> (&[f32], &[f32]) {
        let (n_scores, n_parts) = self.ends[query];
        (&self.scores[query][..n_scores], &self.lowest[query][..n_parts])
    }
}

impl Sink for AllScores {
    const ALL: bool = true;

    #[inline(always)]
    fn keep(&mut self, query: usize, scores: &[f32], lowest: f32) {
        let (n_scores, n_parts) = &mut self.ends[query];
        self.scores[query][*n_scores..*n_scores + scores.len()].copy_from_slice(scores);
        self.lowest[query][*n_parts] = lowest;
        *n_scores += scores.len();
        *n_parts += 1;
    }

    fn bound(&self, _: usize) -> f32 {
        f32::NEG_INFINITY
    }

    fn take(&mut self, _: usize, _: &[u32], _: &[f32]) {}
}

/// Up to [`GROUP`] queries in the layout of the kernel, −2·x column by column; absent ones are 0.
pub(super) fn interleave(
    rows: impl ExactSizeIterator<Item = impl Iterator<Item = f32>>,
    n_columns: usize,
    out: &mut Vec<f32>,
) {
    let lanes = if rows.len() <= SMALL_GROUP { SMALL_GROUP } else { GROUP };
    out.clear();
    out.resize(n_columns * lanes, 0.0);
    for (lane, row) in rows.enumerate() {
        for (value, to) in row.zip(out[lane..].iter_mut().step_by(lanes)) {
            *to = -2.0 * value;
        }
    }
}

/// `Q` queries.
struct Offer<'a, K, const Q: usize> {
    values: &'a [f32],
    squared_norms: &'a [f32],
    ids: &'a [u32],
    queries: &'a [f32],
    sink: &'a mut K,
}

impl<K: Sink, const Q: usize> WithSimd for Offer<'_, K, Q> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.run::<_, 2>(Pulp(simd));
    }
}

impl<K: Sink, const Q: usize> Offer<'_, K, Q> {
    fn dispatch(self) {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512) = Avx512::new() {
            return avx512.call(
                #[inline(always)]
                |avx512| self.run::<_, 2>(avx512),
            );
        }
        pulp::Arch::new().dispatch(self);
    }

    /// `V` vectors of candidates at a time, of one panel or of several: enough independent sums to keep the arithmetic units busy.
    #[inline(always)]
    fn run<L: Lanes, const V: usize>(mut self, simd: L) {
        let n = self.ids.len();
        let n_together = n / (V * L::LEN) * (V * L::LEN);
        for first in (0..n_together).step_by(V * L::LEN) {
            self.offer_vectors::<_, V>(simd, first);
        }
        for first in (n_together..n).step_by(L::LEN) {
            self.offer_vectors::<_, 1>(simd, first);
        }
    }

    /// Offers `V` vectors of candidates from this one on.
    #[inline(always)]
    fn offer_vectors<L: Lanes, const V: usize>(&mut self, simd: L, first: usize) {
        let d = self.queries.len() / Q;
        // What a vector has in the first column and, from there on, in every sixteenth place.
        let columns: [&[f32]; V] = std::array::from_fn(|v| {
            let candidate = first + v * L::LEN;
            let (panel, lane) = (candidate / LANES, candidate % LANES);
            &self.values[panel * LANES * d + lane..][..(d - 1) * LANES + L::LEN]
        });
        let norms: [L::Vector; V] =
            std::array::from_fn(|v| simd.load(&self.squared_norms[first + v * L::LEN..][..L::LEN]));
        let mut scores = [norms; Q];
        for (column, x) in self.queries.chunks_exact(Q).enumerate() {
            let column: [L::Vector; V] =
                std::array::from_fn(|v| simd.load(&columns[v][column * LANES..][..L::LEN]));
            for query in 0..Q {
                let x = simd.splat(x[query]);
                for v in 0..V {
                    scores[query][v] = simd.mul_add(x, column[v], scores[query][v]);
                }
            }
        }
        for query in 0..Q {
            let mut stored = [0.0; 2 * LANES];
            for v in 0..V {
                simd.store(scores[query][v], &mut stored[v * L::LEN..(v + 1) * L::LEN]);
            }
            let parts = stored[..V * L::LEN].chunks(LANES).enumerate();
            parts.for_each(|(part, scores)| self.take(simd, query, first + part * LANES, scores));
        }
    }

    /// Gives the scores of a query and the candidates from this one on, a panel or less, to the sink.
    #[inline(always)]
    fn take<L: Lanes>(&mut self, simd: L, query: usize, first: usize, scores: &[f32]) {
        if K::LOWEST_ONLY {
            // Half a panel at a time, whatever the width of the vectors: small lists have few panels.
            for half in scores.chunks(LANES / 2) {
                self.sink.note(query, half.iter().fold(f32::INFINITY, |a, &b| a.min(b)));
            }
            return;
        }
        let n_vectors = scores.len() / L::LEN;
        let vector = |slice: &[f32], v: usize| simd.load(&slice[v * L::LEN..(v + 1) * L::LEN]);
        if K::BOTH_WAYS {
            let reach = self.sink.reach(first);
            let own = simd.splat(self.sink.squared_norm(query));
            let bound = simd.splat(self.sink.bound(query));
            // The squared distance is the score + |x|². Rarely does anyone accept: one comparison tells for both sides.
            let above =
                |v: usize| simd.sub(vector(scores, v), simd.max(simd.sub(vector(reach, v), own), bound));
            if simd.lowest((1..n_vectors).fold(above(0), |least, v| simd.min(least, above(v)))) > 0.0 {
                return;
            }
            self.sink.offer_back(query, first, &self.squared_norms[first..first + scores.len()], scores);
        }
        let least = (1..n_vectors).fold(vector(scores, 0), |least, v| simd.min(least, vector(scores, v)));
        let lowest = simd.lowest(least);
        if K::ALL {
            self.sink.keep(query, scores, lowest);
        } else if lowest <= self.sink.bound(query) {
            self.sink.take(query, &self.ids[first..first + scores.len()], scores);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Points;
    use crate::random::{Stage, Stream};

    /// The widest instructions of this processor and those of pulp: the same bits.
    #[test]
    fn scores_do_not_depend_on_the_width_of_the_vectors() {
        for (n, d) in [(1, 7), (50, 16), (100, 130)] {
            let mut draws = Stream::new(8, Stage::Generator).at(0, 0);
            let points = Points::new((0..n * d).map(|_| draws.normal()).collect(), d).unwrap();
            let f32_points = F32Points::new(&points);
            let panels = Panels::of_all(&f32_points, &Run::new(0)).unwrap();
            let mut queries = Vec::new();
            let rows = f32_points.gathered(&[0; GROUP]);
            interleave(rows.chunks_exact(d).map(|row| row.iter().copied()), d, &mut queries);
            let scores = |is_widest: bool| {
                let mut all = AllScores::default();
                all.clear(panels.ids.len());
                let values = &panels.singles()[..panels.ids.len() * d];
                let (squared_norms, ids) = (&panels.squared_norms[..], &panels.ids[..]);
                let offer =
                    Offer::<_, GROUP> { values, squared_norms, ids, queries: &queries, sink: &mut all };
                if is_widest {
                    offer.dispatch()
                } else {
                    pulp::Arch::new().dispatch(offer)
                }
                (0..GROUP).map(|query| all.of(query).0.to_vec()).collect::<Vec<_>>()
            };
            assert_eq!(scores(true), scores(false), "{n} × {d}");
        }
    }
}
