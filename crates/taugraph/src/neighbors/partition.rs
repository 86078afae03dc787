//! Points divided into inverted lists of a few hundred, each around a centroid: k-means on a sample, in single precision.

use rayon::prelude::*;

use super::best::ShortList;
use super::f32_points::F32Points;
use super::panels::{GROUP, Panels, Sink, interleave};
use super::tiles::{QUERIES, ShortLists, group};
use crate::error::Result;
use crate::progress::Run;
use crate::random::{Stage, Stream};

/// Sample points per centroid, and rounds of k-means: in measurements, more of either did not save any probing.
const SAMPLE: usize = 40;
const ROUNDS: usize = 6;
/// A list larger than this many times the intended size is divided again.
const OVERSIZED: usize = 4;
/// More lists than this are created by dividing twice and refined afterwards.
const AT_ONCE: usize = 512;
/// In a refinement, every point reconsiders this many centroids around its own.
const REACH: usize = 48;
const REFINEMENTS: usize = 2;
/// Maximum depth of repeated division; a list that is still too large is cut in point order.
const DEPTH: u32 = 4;

/// Centroids of inverted lists, in the frame of the points in single precision.
pub(super) struct Centroids {
    n_columns: usize,
    rows: Vec<f32>,
    /// The list of each centroid.
    lists: Vec<u32>,
    panels: Panels,
}

impl Centroids {
    pub fn new(rows: Vec<f32>, n_columns: usize) -> Self {
        let lists = (0..(rows.len() / n_columns) as u32).collect();
        let panels = Panels::of_rows(&rows, n_columns);
        Self { n_columns, rows, lists, panels }
    }

    /// The means of the lists.
    fn of_lists(points: &F32Points<'_>, order: &[u32], bounds: &[usize]) -> Self {
        let d = points.n_columns();
        let lists = bounds.par_windows(2);
        let means = lists.flat_map_iter(|list| mean(points, order[list[0]..list[1]].iter().copied(), d));
        Self::new(means.collect(), d)
    }

    /// The centroids, row by row.
    pub fn rows(&self) -> &[f32] {
        &self.rows
    }

    /// Number of centroids.
    pub fn len(&self) -> usize {
        self.lists.len()
    }

    /// The list of each centroid.
    pub fn lists(&self) -> impl Iterator<Item = usize> {
        self.lists.iter().map(|&list| list as usize)
    }

    fn row(&self, i: usize) -> &[f32] {
        &self.rows[i * self.n_columns..(i + 1) * self.n_columns]
    }

    /// The centroid of a list, and the others nearest to it, nearest first: `m` in all, or fewer if there are not as many.
    pub fn around(&self, list: usize, m: usize) -> Centroids {
        let mut query = Vec::new();
        interleave(std::iter::once(self.row(list).iter().copied()), self.n_columns, &mut query);
        let mut shorts = [ShortList::new(m.min(self.len()))];
        let sink = &mut ShortLists::new(&mut shorts, &[0], [list as u32; GROUP]);
        self.panels.offer(0..self.panels.len(), &query, sink);
        let others = sorted(&mut shorts[0]).into_iter().take(m - 1);
        let lists: Vec<u32> = std::iter::once(list as u32).chain(others).collect();
        let rows: Vec<f32> = lists.iter().flat_map(|&list| self.row(list as usize)).copied().collect();
        let panels = Panels::of_rows(&rows, self.n_columns);
        Centroids { n_columns: self.n_columns, rows, lists, panels }
    }

    /// Calls `found` with the index of each of the points `ids` and that of each of its `p` nearest centroids (or all, if there
    /// are fewer), in any order.
    pub fn visit_nearest(
        &self,
        points: &F32Points<'_>,
        ids: &[u32],
        p: usize,
        mut found: impl FnMut(usize, usize),
    ) {
        let places: Vec<u32> = (0..GROUP as u32).collect();
        for (first, ids) in ids.chunks(GROUP).enumerate() {
            let mut shorts: Vec<ShortList> = ids.iter().map(|_| ShortList::new(p.min(self.len()))).collect();
            let places = &places[..ids.len()];
            let sink = &mut ShortLists::new(&mut shorts, places, [u32::MAX; GROUP]);
            self.panels.offer(0..self.panels.len(), &group(points, ids), sink);
            for (point, short) in shorts.iter_mut().enumerate() {
                short.finish().iter().for_each(|pair| found(first * GROUP + point, pair.1 as usize));
            }
        }
    }

    /// The lists of the `p` nearest centroids of a point, nearest first; at most as many as there are.
    pub fn nearest(&self, points: &F32Points<'_>, id: u32, p: usize) -> Vec<u32> {
        let mut shorts = [ShortList::new(p.min(self.len()))];
        let sink = &mut ShortLists::new(&mut shorts, &[0], [u32::MAX; GROUP]);
        self.panels.offer(0..self.panels.len(), &group(points, &[id]), sink);
        sorted(&mut shorts[0]).into_iter().map(|centroid| self.lists[centroid as usize]).collect()
    }

    /// The list of the nearest centroid of each of the points `ids`.
    pub fn assign(&self, points: &F32Points<'_>, ids: &[u32], run: &Run<'_>) -> Result<Vec<u32>> {
        let mut nearest = vec![0; ids.len()];
        nearest.par_chunks_mut(QUERIES).zip(ids.par_chunks(QUERIES)).try_for_each(|(nearest, ids)| {
            run.check()?;
            for (nearest, ids) in nearest.chunks_mut(GROUP).zip(ids.chunks(GROUP)) {
                let mut best = [(f32::MAX, 0); GROUP];
                self.panels.offer(0..self.panels.len(), &group(points, ids), &mut First(&mut best));
                nearest
                    .iter_mut()
                    .zip(&best)
                    .for_each(|(nearest, best)| *nearest = self.lists[best.1 as usize]);
            }
            Ok(())
        })?;
        Ok(nearest)
    }
}

/// The ids of a short list, lowest score first.
fn sorted(short: &mut ShortList) -> Vec<u32> {
    let mut listed = short.finish().to_vec();
    listed.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    listed.iter().map(|pair| pair.1).collect()
}

/// The lowest score of each query of a group, and the candidate that has it; the first in case of ties.
struct First<'a>(&'a mut [(f32, u32); GROUP]);

impl Sink for First<'_> {
    #[inline(always)]
    fn bound(&self, query: usize) -> f32 {
        self.0[query].0
    }

    #[inline(always)]
    fn take(&mut self, query: usize, ids: &[u32], scores: &[f32]) {
        for (&id, &score) in ids.iter().zip(scores) {
            if score < self.0[query].0 {
                self.0[query] = (score, id);
            }
        }
    }
}

/// All points, list by list.
pub(super) struct Partition {
    /// Where each list begins in `order`, followed by the end of the last.
    pub bounds: Vec<usize>,
    /// The points, list after list.
    pub order: Vec<u32>,
    /// The mean of each list.
    pub centroids: Centroids,
}

impl Partition {
    /// Lists of about `size` points; none is empty and none is more than a few times as large. From then on, out-of-core points
    /// are read in this order.
    pub fn new(points: &mut F32Points<'_>, size: usize, run: &Run<'_>) -> Result<Self> {
        let mut order: Vec<u32> = (0..points.len() as u32).collect();
        let stream = Stream::new(run.seed, Stage::Ivf);
        let mut bounds = divide(points, &mut order, size, stream, 0, run)?;
        if points.len().div_ceil(size) > AT_ONCE {
            for _ in 0..REFINEMENTS {
                let sizes = refine(points, &mut order, &bounds, run)?;
                bounds = divide_oversized(points, &mut order, &sizes, size, stream, 0, run)?;
            }
        }
        points.reorder(&order, run)?;
        let centroids = Centroids::of_lists(points, &order, &bounds);
        Ok(Self { bounds, order, centroids })
    }

    /// The points of each list.
    pub fn lists(&self) -> impl Iterator<Item = &[u32]> {
        self.bounds.windows(2).map(|list| &self.order[list[0]..list[1]])
    }
}

/// Sorts the points `ids` into lists of about `size`; returns the bounds of the lists within `ids`.
fn divide(
    points: &F32Points<'_>,
    ids: &mut [u32],
    size: usize,
    stream: Stream,
    depth: u32,
    run: &Run<'_>,
) -> Result<Vec<usize>> {
    let n_lists = ids.len().div_ceil(size);
    let n_centroids = if n_lists > AT_ONCE { n_lists.isqrt() } else { n_lists };
    // Equal points cannot be divided by distance: any cut is as good as another.
    let same = ids.iter().all(|&i| points.row(i as usize).eq(points.row(ids[0] as usize)));
    if n_centroids == 1 || same || depth == DEPTH {
        return Ok((0..=n_lists).map(|list| list * ids.len() / n_lists).collect());
    }
    let centroids = sampled_centroids(points, ids, n_centroids, stream, depth, run)?;
    let list_of = centroids.assign(points, ids, run)?;
    let sizes = sort_into_lists(ids, list_of);
    divide_oversized(points, ids, &sizes, size, stream, depth, run)
}

/// The bounds of lists of these sizes, the oversized ones divided.
fn divide_oversized(
    points: &F32Points<'_>,
    ids: &mut [u32],
    sizes: &[(u32, usize)],
    size: usize,
    stream: Stream,
    depth: u32,
    run: &Run<'_>,
) -> Result<Vec<usize>> {
    let mut rest = ids;
    let lists: Vec<&mut [u32]> =
        sizes.iter().map(|&(_, size)| rest.split_off_mut(..size).expect("the sizes add up")).collect();
    // One loop for all lists: there are many, and each alone is too small for all threads.
    let divided = lists.into_par_iter().with_max_len(1).map(|list| match list.len() {
        n if n > OVERSIZED * size => divide(points, list, size, stream, depth + 1, run),
        n => Ok(vec![0, n]),
    });
    let mut bounds = vec![0];
    for inner in divided.collect::<Result<Vec<_>>>()? {
        let begin = bounds[bounds.len() - 1];
        bounds.extend(inner[1..].iter().map(|bound| begin + bound));
    }
    Ok(bounds)
}

/// Sorts points by list, then by id; returns each nonempty list and its size.
pub(super) fn sort_into_lists(ids: &mut [u32], list_of: Vec<u32>) -> Vec<(u32, usize)> {
    let mut pairs: Vec<(u32, u32)> = list_of.into_iter().zip(ids.iter().copied()).collect();
    pairs.par_sort_unstable();
    ids.iter_mut().zip(&pairs).for_each(|(id, pair)| *id = pair.1);
    pairs.chunk_by(|a, b| a.0 == b.0).map(|list| (list[0].0, list.len())).collect()
}

/// Moves every point to the nearest of the centroids around its own; returns the new sizes of the lists.
fn refine(
    points: &F32Points<'_>,
    ids: &mut [u32],
    bounds: &[usize],
    run: &Run<'_>,
) -> Result<Vec<(u32, usize)>> {
    let centroids = Centroids::of_lists(points, ids, bounds);
    let lists = bounds
        .par_windows(2)
        .enumerate()
        .map(|(list, ends)| centroids.around(list, REACH).assign(points, &ids[ends[0]..ends[1]], run));
    let list_of: Vec<Vec<u32>> = lists.collect::<Result<_>>()?;
    Ok(sort_into_lists(ids, list_of.concat()))
}

/// k-means on a sample of the points `ids`, started from points of the sample.
fn sampled_centroids(
    points: &F32Points<'_>,
    ids: &[u32],
    n_centroids: usize,
    stream: Stream,
    depth: u32,
    run: &Run<'_>,
) -> Result<Centroids> {
    let d = points.n_columns();
    let order = stream.at(ids[0], depth).permutation(ids.len());
    let mut sample: Vec<u32> =
        order.iter().take(SAMPLE * n_centroids).map(|&place| ids[place as usize]).collect();
    let mut values: Vec<f32> = sample[..n_centroids].iter().flat_map(|&i| points.row(i as usize)).collect();
    // In the order of the table, which may be on disk.
    sample.sort_unstable();
    for _ in 0..ROUNDS {
        let centroids = Centroids::new(values.clone(), d);
        let list_of = centroids.assign(points, &sample, run)?;
        let mut members: Vec<(u32, u32)> = list_of.into_iter().zip(sample.iter().copied()).collect();
        members.par_sort_unstable();
        let lists: Vec<&[(u32, u32)]> = members.chunk_by(|a, b| a.0 == b.0).collect();
        let mean_of = |list: &&[(u32, u32)]| mean(points, list.iter().map(|member| member.1), d);
        let means: Vec<Vec<f32>> = lists.par_iter().map(mean_of).collect();
        for (list, mean) in lists.iter().zip(means) {
            let place = list[0].0 as usize * d;
            values[place..place + d].copy_from_slice(&mean);
        }
    }
    Ok(Centroids::new(values, d))
}

fn mean(points: &F32Points<'_>, ids: impl ExactSizeIterator<Item = u32>, d: usize) -> Vec<f32> {
    let n = ids.len() as f64;
    let (mut sums, mut row) = (vec![0.0f64; d], Vec::with_capacity(d));
    for i in ids {
        row.clear();
        points.append_row(i as usize, &mut row);
        sums.iter_mut().zip(&row).for_each(|(sum, &v)| *sum += f64::from(v));
    }
    sums.iter().map(|sum| (sum / n) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Points;

    fn lists_of(values: Vec<f64>, d: usize, size: usize) -> Partition {
        let points = Points::new(values, d).unwrap();
        Partition::new(&mut F32Points::new(&points), size, &Run::new(3)).unwrap()
    }

    fn check(partition: &Partition, n: usize, largest: usize) {
        let mut seen = partition.order.clone();
        seen.sort_unstable();
        assert!(seen.iter().enumerate().all(|(i, &v)| i as u32 == v) && seen.len() == n);
        assert_eq!((partition.bounds[0], *partition.bounds.last().unwrap()), (0, n));
        assert_eq!(partition.centroids.len(), partition.bounds.len() - 1);
        let sizes = partition.bounds.windows(2).map(|list| list[1] - list[0]);
        assert!(sizes.clone().all(|size| size > 0 && size <= largest), "{:?}", sizes.collect::<Vec<_>>());
    }

    #[test]
    fn every_point_is_in_one_list() {
        let mut draws = Stream::new(1, Stage::Generator).at(0, 0);
        let values = (0..3000 * 8).map(|_| draws.normal()).collect();
        check(&lists_of(values, 8, 50), 3000, 200);
    }

    /// Nine of ten points are the same one: no centroid can divide them.
    #[test]
    fn heavy_duplicates_are_cut() {
        let mut draws = Stream::new(2, Stage::Generator).at(0, 0);
        let values = (0..4000 * 7).map(|place| if place < 3600 * 7 { 1.0 } else { draws.normal() }).collect();
        check(&lists_of(values, 7, 50), 4000, 200);
        check(&lists_of(vec![2.5; 1000 * 7], 7, 64), 1000, 64);
    }

    #[test]
    fn fewer_points_than_a_list_holds() {
        check(&lists_of(vec![1.0, 2.0, 3.0], 1, 50), 3, 3);
    }
}
