//! Neighbors of sparse points: a block of queries at a time goes through the columns that it has, and adds up its
//! products with every point that has them, too.
//!
//! The sums are those of [`SparsePoints::dot`], bit by bit: the same terms in the same order. So a search finds the
//! distances of the definition without computing them again; only close pairs, for which the definition takes
//! differences instead, are looked at once more. Points without a common column have products of 0, and of those only the
//! ones with the smallest norms can be neighbors: they are found in a list, without looking at the others.

use rayon::prelude::*;

use super::best::Best;
use super::scan::write_row;
use super::tree::{of_square, square_bound};
use crate::distance::Metric;
use crate::error::{Result, require};
use crate::points::SparsePoints;
use crate::progress::Run;
use crate::vectorized::vectorized;

/// Queries that go through the columns together. A column that many of them have is read once for all, and the sums
/// of a candidate with all of them are one line of the cache.
const LANES: usize = 8;
/// Candidates whose sums are held at a time: 256 KiB of sums. From 1024 to 16,384 the time hardly changes.
const TILE: usize = 1 << 12;
/// Candidates that share a mark "was added to".
const CHUNK: usize = 64;
/// Queries of a chunk of work.
const QUERIES: usize = 8 * LANES;

/// Sparse points ready for their metric (unit rows for the cosine distance).
#[derive(Debug, Clone)]
pub struct SparseMetricPoints {
    points: SparsePoints,
    /// All 1 for the cosine distance.
    squared_norms: Vec<f64>,
    metric: Metric,
}

impl SparseMetricPoints {
    pub(super) fn new(points: SparsePoints, metric: Metric) -> Result<Self> {
        let rule = "is not there for sparse points; use cosine or euclidean";
        require(metric != Metric::Manhattan, "metric", metric.name(), rule)?;
        let points = if metric == Metric::Cosine { points.unit_rows()? } else { points };
        let squared_norms = match metric {
            Metric::Cosine => vec![1.0; points.len()],
            _ => (0..points.len()).map(|i| points.squared_norm(i)).collect(),
        };
        Ok(Self { points, squared_norms, metric })
    }

    /// The points; scaled to length 1 for the cosine distance.
    pub fn points(&self) -> &SparsePoints {
        &self.points
    }

    /// The metric.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// The points named by `rows`, in that order.
    pub(super) fn select(&self, rows: &[u32]) -> Self {
        Self {
            points: self.points.select(rows),
            squared_norms: rows.iter().map(|&row| self.squared_norms[row as usize]).collect(),
            metric: self.metric,
        }
    }

    /// This defines every distance between sparse points, as `Metric::distance` does between dense ones.
    pub(super) fn distance(&self, i: usize, j: usize) -> f64 {
        of_square(self.metric, self.squared_distance(i, j))
    }

    /// Squared Euclidean distance; of unit rows for the cosine distance.
    pub(super) fn squared_distance(&self, i: usize, j: usize) -> f64 {
        self.squared_of_dot(i, j, self.points.dot(i, j))
    }

    /// |a|² + |b|² − 2·a·b where that does not cancel, and |a − b|² for close pairs, where it would.
    #[inline]
    fn squared_of_dot(&self, i: usize, j: usize, dot: f64) -> f64 {
        let both = self.squared_norms[i] + self.squared_norms[j];
        // What is not a number, because squares are beyond all numbers, takes the second way.
        if 4.0 * dot < both { both - 2.0 * dot } else { self.points.squared_difference(i, j) }
    }
}

/// Ids and distances of the `k` nearest of each point.
pub(super) fn nearest(space: &SparseMetricPoints, k: usize, run: &Run<'_>) -> Result<(Vec<u32>, Vec<f64>)> {
    let n = space.points.len();
    let transposed = Transposed::new(space);
    let queries: Vec<u32> = (0..n as u32).collect();
    let (mut ids, mut distances) = (vec![0; n * k], vec![0.0; n * k]);
    let rows = ids.par_chunks_mut(k * QUERIES).zip(distances.par_chunks_mut(k * QUERIES));
    queries.par_chunks(QUERIES).zip(rows).try_for_each(|(queries, (ids, distances))| {
        run.check()?;
        let found = transposed.search(queries, k, |i, j| i != j);
        let rows = ids.chunks_exact_mut(k).zip(distances.chunks_exact_mut(k));
        for (best, (ids, distances)) in found.iter().zip(rows) {
            write_row(best.pairs(), ids, distances);
        }
        run.progress.advance(queries.len() as u64);
        Ok(())
    })?;
    Ok((ids, distances))
}

/// For each point outside of group `skipped` that has one, the nearest point of another group: its id, theirs and the
/// distance.
pub(super) fn nearest_in_other_groups(
    space: &SparseMetricPoints,
    group: &[u32],
    skipped: u32,
    run: &Run<'_>,
) -> Result<Vec<(u32, u32, f64)>> {
    let transposed = Transposed::new(space);
    let queries: Vec<u32> =
        (0..group.len() as u32).filter(|&query| group[query as usize] != skipped).collect();
    let found: Vec<Vec<(u32, u32, f64)>> = queries
        .par_chunks(QUERIES)
        .map(|queries| {
            run.check()?;
            let found = transposed.search(queries, 1, |i, j| group[i] != group[j]);
            let of_query = |(&query, best): (&u32, &Best<f64>)| {
                best.pairs().first().map(|&(distance, id)| (query, id, distance))
            };
            Ok(queries.iter().zip(&found).filter_map(of_query).collect())
        })
        .collect::<Result<_>>()?;
    Ok(found.into_iter().flatten().collect())
}

/// The points by columns: for each column the points that have it, ascending, and their values in it.
struct Transposed<'a> {
    space: &'a SparseMetricPoints,
    offsets: Vec<usize>,
    ids: Vec<u32>,
    values: Vec<f64>,
    /// The points by their norm; equal norms by id.
    by_norm: Vec<u32>,
    longest_row: usize,
}

/// A column of a block of queries: where its points go on, and the queries' own values.
struct Column {
    next: usize,
    end: usize,
    weights: [f64; LANES],
}

impl<'a> Transposed<'a> {
    fn new(space: &'a SparseMetricPoints) -> Self {
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
    fn search(
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
        // Lanes without a query take nothing.
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
                    best.offer(of_square(self.space.metric, squared), candidate as u32);
                    limits[lane] = self.limit(query, best);
                }
            }
            next = next_within(sums, norms, &limits, place + 1);
        }
    }

    /// |b|² − 2·a·b above this proves that a pair is farther apart than all that were found.
    ///
    /// With |a|² it is the squared distance but for rounding: m products and sums, twice 2·m for the norms and for the
    /// differences of close pairs, m the entries of the longest row, each at most 2⁻⁵³ of (|a| + |b|)²; taken
    /// more than twice. And |b| ≤ |a| + distance for every pair as close.
    fn limit(&self, query: usize, best: &Best<f64>) -> f64 {
        let Some(bound) = best.bound() else { return f64::INFINITY };
        let squared = square_bound(self.space.metric, bound);
        let own = self.space.squared_norms[query];
        let reach = 2.0 * own.sqrt() + squared.sqrt();
        let roundings = (8 * self.longest_row + 32) as f64;
        squared - own + roundings * f64::EPSILON * reach * reach + f64::MIN_POSITIVE
    }

    /// Offers the candidates that have no column in common with any query of the block: their distance follows from the
    /// norms alone, so they come in the order of these.
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
            let distance = of_square(self.space.metric, norms[query as usize] + norm);
            if let Some((worst, worst_id)) = best.worst() {
                if distance > worst {
                    break;
                }
                if distance == worst && id > worst_id {
                    // The rest with this norm is as far away, with higher ids still.
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
            // A copy, which the compiler knows not to be among the sums: only then it takes vectors.
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

/// Whether a candidate may be as close as the limit says; so is what is not a number.
#[inline(always)]
fn is_within(norm: f64, dot: f64, limit: f64) -> bool {
    let is_beyond = norm - 2.0 * dot > limit;
    !is_beyond
}

vectorized! {
    /// The first place from `start` on at which a query may have a neighbor.
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

#[cfg(test)]
mod tests {
    use super::super::{NeighborGraph, OutsideSearch, SearchParams, Space, nearest_neighbors};
    use super::*;
    use crate::error::Error;
    use crate::points::Points;
    use crate::random::{Draws, Stage, Stream};
    use proptest::prelude::*;

    /// The same points twice: sparse, and as a dense table.
    fn both_forms(rows: &[Vec<f64>], metric: Metric) -> (Space, Space) {
        let d = rows[0].len();
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in rows {
            for (column, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                columns.push(column as u32);
                values.push(value);
            }
            offsets.push(values.len() as u64);
        }
        let points = SparsePoints::new(d, offsets, columns, values).unwrap();
        let dense = Points::new(rows.concat(), d).unwrap();
        (Space::from_sparse(points, metric).unwrap(), Space::from_points(dense, metric).unwrap())
    }

    /// Rows of which a share is zero; values from `draw`. No row is empty.
    fn random_rows(
        n: usize,
        d: usize,
        share: f64,
        draws: &mut Draws,
        draw: impl Fn(&mut Draws) -> f64,
    ) -> Vec<Vec<f64>> {
        let mut row = || {
            let mut row: Vec<f64> =
                (0..d).map(|_| if draws.uniform() < share { 0.0 } else { draw(draws) }).collect();
            if row.iter().all(|value| *value == 0.0) {
                row[draws.below(d)] = 1.0;
            }
            row
        };
        (0..n).map(|_| row()).collect()
    }

    /// The definition, without any cleverness.
    fn by_definition(space: &Space, k: usize) -> (Vec<u32>, Vec<f64>) {
        let (mut ids, mut distances) = (Vec::new(), Vec::new());
        for i in 0..space.len() {
            let mut row: Vec<(f64, u32)> =
                (0..space.len()).filter(|&j| j != i).map(|j| (space.distance(i, j), j as u32)).collect();
            row.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            ids.extend(row[..k].iter().map(|pair| pair.1));
            distances.extend(row[..k].iter().map(|pair| pair.0));
        }
        (ids, distances)
    }

    fn parts(graph: &NeighborGraph) -> (Vec<u32>, Vec<f64>) {
        let n = graph.len();
        let ids = (0..n).flat_map(|i| graph.ids(i)).copied().collect();
        (ids, (0..n).flat_map(|i| graph.distances(i)).copied().collect())
    }

    fn any_metric() -> impl Strategy<Value = Metric> {
        prop::sample::select(vec![Metric::Cosine, Metric::Euclidean])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(150))]
        /// Values from a few whole numbers, of either sign: ties, copies, rows that share no column, empty columns.
        #[test]
        fn the_search_has_the_bits_of_the_definition(
            n in 2usize..150, d in 1usize..40, k in 1usize..20, share in 0.0f64..1.0, grid in 1usize..5,
            least in -2i32..2, seed in any::<u64>(), metric in any_metric(),
        ) {
            let k = k.min(n - 1);
            let mut draws = Stream::new(seed, Stage::Generator).at(0, 0);
            let rows = random_rows(n, d, share, &mut draws, |draws| f64::from(least) + draws.below(grid) as f64);
            let (space, _) = both_forms(&rows, metric);
            let found = nearest_neighbors(&space, k, &Run::new(0)).unwrap();
            prop_assert_eq!(parts(&found), by_definition(&space, k));
        }

        /// Without ties the dense search finds the same neighbors, at the same distances but for rounding.
        #[test]
        fn dense_points_have_the_same_neighbors(
            d in 7usize..60, share in 0.0f64..0.9, seed in any::<u64>(), metric in any_metric(),
        ) {
            let mut draws = Stream::new(seed, Stage::Generator).at(0, 0);
            let mut rows = random_rows(120, d, share, &mut draws, |draws| draws.normal());
            // A common column, so that no two rows are equally far from a third because they share nothing with it.
            rows.iter_mut().for_each(|row| row[0] = 3.0 + draws.normal());
            let (sparse, dense) = both_forms(&rows, metric);
            let of_sparse = nearest_neighbors(&sparse, 9, &Run::new(0)).unwrap();
            let of_dense = nearest_neighbors(&dense, 9, &Run::new(0)).unwrap();
            prop_assert_eq!(parts(&of_sparse).0, parts(&of_dense).0);
            for (a, b) in parts(&of_sparse).1.iter().zip(parts(&of_dense).1) {
                prop_assert!((a - b).abs() <= 1e-12 * b, "{} {}", a, b);
            }
            let distinct = |space: &Space| space.distinct(&Run::new(0)).unwrap().1;
            let (of_sparse, of_dense) = (distinct(&sparse), distinct(&dense));
            prop_assert_eq!(of_sparse.node_of_row(), of_dense.node_of_row());
        }

        /// Magnitudes far apart, also those whose squares are beyond all numbers or vanish.
        #[test]
        fn extreme_values_have_the_bits_of_the_definition(
            seed in any::<u64>(), most in 0i32..200, metric in any_metric(),
        ) {
            let mut draws = Stream::new(seed, Stage::Generator).at(0, 0);
            let rows = random_rows(90, 12, 0.6, &mut draws, |draws| {
                draws.normal() * 10f64.powi(draws.below(2 * most as usize + 1) as i32 - most)
            });
            let (space, _) = both_forms(&rows, metric);
            let found = nearest_neighbors(&space, 5, &Run::new(0)).unwrap();
            prop_assert_eq!(parts(&found), by_definition(&space, 5));
        }

        #[test]
        fn the_nearest_of_other_groups_are_those_of_a_scan(
            n in 2usize..150, d in 1usize..30, share in 0.3f64..1.0, n_groups in 1usize..6, seed in any::<u64>(),
            metric in any_metric(),
        ) {
            let mut draws = Stream::new(seed, Stage::Generator).at(0, 0);
            let rows = random_rows(n, d, share, &mut draws, |draws| draws.below(4) as f64 - 1.0);
            let group: Vec<u32> = (0..n).map(|_| draws.below(n_groups) as u32).collect();
            let (space, _) = both_forms(&rows, metric);
            let found = OutsideSearch::new(&space, &SearchParams::default()).nearest(&group, n_groups, 0, &Run::new(0)).unwrap().shortest;
            for (own, found) in found.iter().enumerate() {
                let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
                let expected = pairs
                    .filter(|&(i, j)| own > 0 && group[i] == own as u32 && group[j] != own as u32)
                    .map(|(i, j)| (space.distance(i, j), i.min(j) as u32, i.max(j) as u32))
                    .min_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
                let ends = |a: u32, b: u32| (a.min(b), a.max(b));
                let found = found.map(|pair| {
                    let (low, high) = ends(pair.inside, pair.outside);
                    (pair.distance, low, high)
                });
                prop_assert_eq!(found, expected);
            }
        }
    }

    /// Several tiles, blocks and chunks of work, most chunks untouched.
    #[test]
    fn many_points_with_rare_columns() {
        let (n, k) = (2 * TILE + 77, 4);
        let mut draws = Stream::new(5, Stage::Generator).at(0, 0);
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for _ in 0..n {
            let mut own: Vec<u32> = (0..3).map(|_| draws.below(3000) as u32).collect();
            own.sort_unstable();
            own.dedup();
            values.extend(own.iter().map(|_| 1.0 + draws.below(3) as f64));
            columns.extend(own);
            offsets.push(values.len() as u64);
        }
        let points = SparsePoints::new(3000, offsets, columns, values).unwrap();
        for metric in [Metric::Cosine, Metric::Euclidean] {
            let space = Space::from_sparse(points.clone(), metric).unwrap();
            let found = nearest_neighbors(&space, k, &Run::new(0)).unwrap();
            for i in (0..n).step_by(509) {
                let mut row: Vec<(f64, u32)> =
                    (0..n).filter(|&j| j != i).map(|j| (space.distance(i, j), j as u32)).collect();
                row.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                let ids: Vec<u32> = row[..k].iter().map(|pair| pair.1).collect();
                assert_eq!(found.ids(i), ids, "{metric:?}, row {i}");
                assert!(found.distances(i).iter().zip(&row).all(|(a, b)| *a == b.0));
            }
        }
    }

    #[test]
    fn rows_without_a_common_column_are_at_distance_one() {
        let rows: Vec<Vec<f64>> =
            (0..6).map(|i| (0..6).map(|j| if i == j { 0.1 + j as f64 } else { 0.0 }).collect()).collect();
        let (space, _) = both_forms(&rows, Metric::Cosine);
        let found = nearest_neighbors(&space, 2, &Run::new(0)).unwrap();
        for (i, lowest) in [[1, 2], [0, 2], [0, 1], [0, 1], [0, 1], [0, 1]].iter().enumerate() {
            assert_eq!((found.ids(i), found.distances(i)), (&lowest[..], &[1.0, 1.0][..]));
        }
        let (space, _) = both_forms(&rows, Metric::Euclidean);
        let found = nearest_neighbors(&space, 2, &Run::new(0)).unwrap();
        assert_eq!(found.ids(5), [0, 1]);
        assert_eq!(space.distance(5, 0), (5.1f64 * 5.1 + 0.1 * 0.1).sqrt());
    }

    #[test]
    fn close_rows_keep_their_digits() {
        // 1 − cos is 5e-21 here, which a difference from 1 would lose.
        let (space, _) = both_forms(&[vec![1.0, 0.0], vec![1.0, 1e-10], vec![0.0, 1.0]], Metric::Cosine);
        let found = space.distance(0, 1);
        assert!((found / 5e-21 - 1.0).abs() < 1e-9, "{found}");
        assert_eq!(space.distance(0, 0), 0.0);
    }

    #[test]
    fn manhattan_is_refused() {
        let points = SparsePoints::new(1, vec![0, 1], vec![0], vec![1.0]).unwrap();
        let refused = Space::from_sparse(points, Metric::Manhattan);
        assert!(matches!(refused, Err(Error::Parameter { .. })));
    }
}
