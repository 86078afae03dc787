//! Neighbors of very many points by inverted lists (IVF): each query probes only the lists whose centroids are nearest to it.
//!
//! The number of lists to probe is not guessed. A sample of queries is searched exactly; the smallest number of lists
//! that contains the target share of their neighbors is tried on a second sample, and raised until that reaches the target, too.

use rayon::prelude::*;

use super::best::{Best, ShortList};
use super::codes::Codes;
use super::descent::{self, Descent};
use super::f32_points::F32Points;
use super::panels::{GROUP, Panels, interleave};
use super::partition::{Partition, sort_into_lists};
use super::scan::write_row;
use super::search::Rows;
use super::tiles::{self, QUERIES, Queries, ShortLists, narrow};
use super::{SearchInfo, UsedSearch};
use crate::distance::SquareTransform;
use crate::error::Result;
use crate::points::{Numbers, Points};
use crate::progress::Run;
use crate::random::{Stage, Stream};

/// Points per list, for up to and for more than [`MANY`] points.
const LIST: usize = 250;
const LARGER_LIST: usize = 500;
const MANY: usize = 100_000;
/// Queries per sample.
const SAMPLE: usize = 512;
/// Queries that decide whether descent is tried, and when it is over.
const SMALL_SAMPLE: usize = 128;
/// If a round of descent replaced a smaller share of the entries of all lists and the recall is not reached, its lists are too short.
const STANDSTILL: f64 = 1e-3;
/// So are they if so many times the gain that is to be expected of all further rounds is not enough.
const HOPE: f64 = 1.5;
/// The queries of one list choose the lists to probe from this many times as many, namely those nearest to the centroid of their
/// own list. What this loses is part of the measured recall.
pub(super) const WIDER: usize = 6;
/// Queries whose results are buffered before they are written in place.
const WAITING: usize = 1 << 15;

/// Known points in inverted lists.
pub(super) struct Ivf<'a> {
    transform: SquareTransform,
    f32_points: F32Points<'a>,
    partition: Partition,
    panels: Panels,
    /// The first panel of each list, and the end of the last one.
    bounds: Vec<usize>,
}

impl<'a> Ivf<'a> {
    /// Divides the known points into lists, for searches of `k` neighbors.
    pub fn new(known: &'a Points, transform: SquareTransform, k: usize, run: &Run<'_>) -> Result<Self> {
        let size = if known.len() > MANY { LARGER_LIST } else { LIST };
        let mut f32_points = F32Points::new(known);
        // If lists had no more points than the number of neighbors, all would have to be probed.
        let partition = Partition::new(&mut f32_points, size.max(8 * k), run)?;
        let (panels, bounds) = Panels::new(&f32_points, partition.lists(), run)?;
        Ok(Self { transform, f32_points, partition, panels, bounds })
    }

    /// Number of inverted lists.
    pub fn len(&self) -> usize {
        self.partition.centroids.len()
    }

    /// The neighbors of every known point, and how they were found; `None` if so many lists must be probed that scanning
    /// all points is as fast.
    pub fn nearest_of_known(
        &self,
        k: usize,
        recall: f64,
        run: &Run<'_>,
    ) -> Result<Option<(Rows, SearchInfo)>> {
        let queries = Queries { f32_points: &self.f32_points, are_known: true };
        let blocks = self.partition.lists().enumerate().flat_map(|(list, ids)| blocks_of(list, ids));
        self.nearest(queries, &blocks.collect::<Vec<_>>(), k, recall, run)
    }

    /// The neighbors of new points among the known ones, or `None` as above.
    pub fn nearest_of_new(
        &self,
        new: &Points,
        k: usize,
        recall: f64,
        run: &Run<'_>,
    ) -> Result<Option<(Rows, SearchInfo)>> {
        let f32_points = self.f32_points.of_new(new);
        let mut order: Vec<u32> = (0..new.len() as u32).collect();
        let lists = self.partition.centroids.assign(&f32_points, &order, run)?;
        let sizes = sort_into_lists(&mut order, lists);
        let mut rest = &order[..];
        let blocks: Vec<Block<'_>> = sizes
            .into_iter()
            .flat_map(|(list, size)| {
                let (rows, after) = rest.split_at(size);
                rest = after;
                blocks_of(list as usize, rows)
            })
            .collect();
        let queries = Queries { f32_points: &f32_points, are_known: false };
        self.nearest(queries, &blocks, k, recall, run)
    }

    /// The nearest known point that satisfies a condition, in the `n_probe` nearest lists of a known point.
    pub fn nearest_where(&self, row: u32, n_probe: usize, holds: impl Fn(u32) -> bool) -> Option<(f64, u32)> {
        let nearest = self.partition.centroids.nearest(&self.f32_points, row, n_probe);
        let lists = nearest.iter().map(|&list| list as usize);
        let bounds = &self.partition.bounds;
        let ids = lists.flat_map(|list| &self.partition.order[bounds[list]..bounds[list + 1]]).copied();
        let mut best = Best::new(1);
        for id in ids.filter(|&id| holds(id)) {
            best.offer(self.distance(self.f32_points.exact_row(row as usize), id), id);
        }
        best.pairs().first().copied()
    }

    /// The distance from a point to a known one.
    fn distance(&self, row: Numbers<'_>, id: u32) -> f64 {
        self.transform.distance(row, self.f32_points.exact_row(id as usize))
    }

    /// The neighbors of the queries in all blocks.
    fn nearest(
        &self,
        queries: Queries<'_>,
        blocks: &[Block<'_>],
        k: usize,
        recall: f64,
        run: &Run<'_>,
    ) -> Result<Option<(Rows, SearchInfo)>> {
        let samples = Stream::new(run.seed, Stage::Ivf).at(u32::MAX, 0).permutation(queries.f32_points.len());
        let size = SAMPLE.min(samples.len().div_ceil(2));
        let (first, rest) = samples.split_at(size);
        // With one query there is no second sample.
        let second = if rest.is_empty() { first } else { &rest[..size.min(rest.len())] };
        let exact = |sample: &[u32]| {
            // To search samples is no progress.
            run.quietly(|run| {
                tiles::nearest(queries, sample, &self.f32_points, &self.panels, self.transform, k, run)
            })
        };
        let (few, others) = first.split_at(SMALL_SAMPLE.min(size));
        let (neighbors, distances) = exact(few)?;
        let mut ranks = self.ranks(queries, few, &neighbors, k);
        let truth = exact(second)?.1;
        let n_candidates = |n_probe: usize| n_probe * self.f32_points.len() / self.len();
        let likely = n_candidates(1 + share_quantile(&ranks, recall));
        // Descent reads points in no order, so they must be in memory, and only a sample tells when it is over.
        let is_possible = queries.are_known && run.scratch.is_none() && recall < 1.0;
        // An exact search compares every pair once.
        let otherwise = if self.is_too_much(likely) { self.f32_points.len() / 2 } else { likely };
        let advantage = descent::advantage(otherwise, self.f32_points.n_columns(), k);
        if is_possible && descent::pays(advantage) {
            let max_widened = descent::max_widened(advantage);
            let found = self.descend([(few, &distances), (second, &truth)], k, recall, max_widened, run)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        ranks.extend(self.ranks(queries, others, &exact(others)?.0, k));
        let list_of_query =
            list_of(queries.f32_points.len(), blocks.iter().map(|block| (block.list, block.rows)));
        let mut n_probe = 1 + share_quantile(&ranks, recall);
        loop {
            run.check()?;
            if self.is_too_much(n_candidates(n_probe)) {
                return Ok(None);
            }
            let distances_of = |row: &u32| {
                let list = list_of_query[*row as usize] as usize;
                self.search_block(queries, &[*row], list, n_probe, k).1
            };
            let found: Vec<Vec<f64>> = second.par_iter().map(distances_of).collect();
            let reached = recall_of(found.iter().map(Vec::as_slice), &truth, k);
            if reached >= recall {
                let found = self.search(queries, blocks, n_probe, k, run)?;
                let used = UsedSearch::Ivf { n_lists: self.len(), n_probe };
                return Ok(Some((found, SearchInfo { used, recall: reached, sample: second.len() })));
            }
            // The second sample turned out harder than the first.
            n_probe += n_probe.div_ceil(50);
        }
    }

    /// Whether scanning all points is as fast as comparing each with so many.
    fn is_too_much(&self, n_candidates: usize) -> bool {
        n_candidates + self.len() > self.f32_points.len() / 4
    }

    /// The neighbors of every known point by descent, or `None` if the recall is not reached. Samples of queries with the distances of their true
    /// neighbors tell when it is: the first one in every round, the last one in the end.
    fn descend(
        &self,
        samples: [(&[u32], &[f64]); 2],
        k: usize,
        recall: f64,
        max_widened: usize,
        run: &Run<'_>,
    ) -> Result<Option<(Rows, SearchInfo)>> {
        run.stage("neighbors", Some(self.f32_points.len() as u64))?;
        let order = &self.partition.order;
        let mut place_of = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &id)| place_of[id as usize] = place);
        let codes = Codes::new(&self.f32_points, order);
        let mut descent = Descent::new(&codes, &self.f32_points, &self.partition, k, run)?;
        let queries = Queries { f32_points: &self.f32_points, are_known: true };
        let decide = |descent: &Descent<'_>, row: u32, nearest: &mut Nearest| {
            let listed = descent.list(place_of[row as usize]).map(|place| order[place as usize]);
            nearest.decide(self, queries, row, listed);
        };
        let measured = |descent: &Descent<'_>, (rows, truth): (&[u32], &[f64])| {
            let found = rows.par_iter().map_init(
                || Nearest::new(k),
                |nearest, &row| {
                    decide(descent, row, nearest);
                    nearest.best.pairs().iter().map(|pair| pair.0).collect::<Vec<_>>()
                },
            );
            recall_of(found.collect::<Vec<_>>().iter().map(Vec::as_slice), truth, k)
        };
        let mut n_widened = 0;
        let (mut changed_before, mut reached_before) = (0.0, 0.0);
        for n_rounds in 1.. {
            let changed = descent.round(run)?;
            let reached = samples.map(|sample| measured(&descent, sample));
            if reached.iter().all(|&reached| reached >= recall) {
                // List by list: neighbors of one point are neighbors of the next, and still in the cache.
                let blocks: Vec<(&[u32], usize)> = order.chunks(QUERIES).map(|rows| (rows, 0)).collect();
                let found = in_place(&blocks, order.len(), k, run, |rows, _| {
                    let (mut ids, mut distances) = (vec![0; rows.len() * k], vec![0.0; rows.len() * k]);
                    let out = ids.chunks_exact_mut(k).zip(distances.chunks_exact_mut(k));
                    let mut nearest = Nearest::new(k);
                    for (&row, (ids, distances)) in rows.iter().zip(out) {
                        decide(&descent, row, &mut nearest);
                        write_row(nearest.best.pairs(), ids, distances);
                    }
                    (ids, distances)
                })?;
                let used = UsedSearch::Descent { n_lists: self.len(), n_rounds };
                let info = SearchInfo { used, recall: reached[1], sample: samples[1].0.len() };
                return Ok(Some((found, info)));
            }
            // Gains shrink as the changes do, by the same factor in every round. One round does not tell by which: its gain may be infinite.
            let lowest = reached[0].min(reached[1]);
            let expected: f64 =
                (lowest - reached_before).max(0.0) * changed / f64::max(changed_before - changed, 0.0);
            (changed_before, reached_before) = (changed, lowest);
            if changed < STANDSTILL || lowest + HOPE * expected < recall {
                if n_widened == max_widened {
                    break;
                }
                descent.widen();
                n_widened += 1;
                changed_before = 0.0;
            }
        }
        Ok(None)
    }

    /// For each true neighbor of the sample: how many lists are nearer to the query than the one that contains it.
    fn ranks(&self, queries: Queries<'_>, sample: &[u32], neighbors: &[u32], k: usize) -> Vec<usize> {
        let list_of = list_of(self.f32_points.len(), self.partition.lists().enumerate());
        let ranks = sample.par_iter().zip(neighbors.par_chunks_exact(k)).map(|(&query, neighbors)| {
            let lists = self.partition.centroids.nearest(queries.f32_points, query, self.len());
            let mut rank = vec![0; self.len()];
            lists.iter().enumerate().for_each(|(place, &list)| rank[list as usize] = place);
            neighbors.iter().map(|&id| rank[list_of[id as usize] as usize]).collect::<Vec<_>>()
        });
        ranks.collect::<Vec<_>>().concat()
    }

    /// The neighbors of every query within its nearest lists.
    fn search(
        &self,
        queries: Queries<'_>,
        blocks: &[Block<'_>],
        n_probe: usize,
        k: usize,
        run: &Run<'_>,
    ) -> Result<Rows> {
        run.stage("neighbors", Some(queries.f32_points.len() as u64))?;
        let blocks: Vec<(&[u32], usize)> = blocks.iter().map(|block| (block.rows, block.list)).collect();
        in_place(&blocks, queries.f32_points.len(), k, run, |rows, list| {
            self.search_block(queries, rows, list, n_probe, k)
        })
    }

    /// Neighbors of the queries of one list, which probe mostly the same lists.
    fn search_block(
        &self,
        queries: Queries<'_>,
        rows: &[u32],
        list: usize,
        n_probe: usize,
        k: usize,
    ) -> Rows {
        // All probe their own list first. The bounds are soon so tight that little of the other lists passes them.
        let around = self.partition.centroids.around(list, WIDER * n_probe);
        let mut visitors: Vec<Vec<u32>> = vec![Vec::new(); around.len()];
        visitors[0] = (0..rows.len() as u32).collect();
        around.visit_nearest(queries.f32_points, rows, n_probe, |place, centroid| {
            if centroid > 0 {
                visitors[centroid].push(place as u32);
            }
        });
        let mut closest: Vec<ShortList> = rows.iter().map(|_| ShortList::new(kept(k))).collect();
        let d = self.f32_points.n_columns();
        // Each query is needed once for every list that it probes.
        let points = queries.f32_points.gathered(rows);
        let mut group = Vec::new();
        let mut lowest = Default::default();
        for (visited, visitors) in around.lists().zip(&visitors) {
            let panels = self.bounds[visited]..self.bounds[visited + 1];
            for places in visitors.chunks(GROUP) {
                let mut excluded = [u32::MAX; GROUP];
                for (excluded, &place) in excluded.iter_mut().zip(places) {
                    *excluded = queries.excluded(rows[place as usize]);
                }
                let point =
                    |&place: &u32| points[place as usize * d..(place as usize + 1) * d].iter().copied();
                interleave(places.iter().map(point), d, &mut group);
                if visited == list {
                    narrow(&self.panels, panels.clone(), &group, places, &mut closest, &mut lowest);
                }
                let sink = &mut ShortLists::new(&mut closest, places, excluded);
                self.panels.offer(panels.clone(), &group, sink);
            }
        }
        let (mut ids, mut distances) = (vec![0; rows.len() * k], vec![0.0; rows.len() * k]);
        let mut nearest = Nearest::new(k);
        let out = ids.chunks_exact_mut(k).zip(distances.chunks_exact_mut(k));
        for ((&query, closest), (ids, distances)) in rows.iter().zip(&mut closest).zip(out) {
            nearest.decide(self, queries, query, closest.finish().iter().map(|&(_, id)| id));
            write_row(nearest.best.pairs(), ids, distances);
        }
        (ids, distances)
    }
}

/// Rows that are searched at once, and their list.
type RowsOfList<'a> = (&'a [u32], usize);

/// What `search` finds for blocks of rows, in the order of the rows.
fn in_place(
    blocks: &[RowsOfList<'_>],
    n: usize,
    k: usize,
    run: &Run<'_>,
    search: impl Fn(&[u32], usize) -> Rows + Sync,
) -> Result<Rows> {
    let (mut ids, mut distances) = (vec![0; n * k], vec![0.0; n * k]);
    let search_all = |blocks: &[RowsOfList<'_>]| {
        let found = blocks.par_iter().map(|&(rows, list)| {
            run.check()?;
            let found = search(rows, list);
            run.progress.advance(rows.len() as u64);
            Ok(found)
        });
        found.collect::<Result<Vec<Rows>>>()
    };
    let mut write = |(blocks, found): (&[RowsOfList<'_>], Vec<Rows>)| {
        for ((rows, _), (block_ids, block_distances)) in blocks.iter().zip(&found) {
            let of_rows = block_ids.chunks_exact(k).zip(block_distances.chunks_exact(k));
            for (&row, (row_ids, row_distances)) in rows.iter().zip(of_rows) {
                let place = row as usize * k;
                ids[place..place + k].copy_from_slice(row_ids);
                distances[place..place + k].copy_from_slice(row_distances);
            }
        }
    };
    // What was found last is written while others search.
    let mut waiting = None;
    for blocks in blocks.chunks(WAITING / QUERIES) {
        let (found, ()) =
            rayon::join(|| search_all(blocks), || waiting.take().into_iter().for_each(&mut write));
        waiting = Some((blocks, found?));
    }
    waiting.into_iter().for_each(&mut write);
    Ok((ids, distances))
}

/// Decides in double precision which candidates are the nearest.
struct Nearest {
    best: Best<f64>,
    candidates: Vec<u32>,
    distances: Vec<f64>,
}

impl Nearest {
    fn new(k: usize) -> Self {
        Self { best: Best::new(k), candidates: Vec::new(), distances: Vec::new() }
    }

    /// Leaves the nearest of the candidates of a query in `best`.
    fn decide(
        &mut self,
        ivf: &Ivf<'_>,
        queries: Queries<'_>,
        query: u32,
        candidates: impl Iterator<Item = u32>,
    ) {
        let Self { best, candidates: listed, distances } = self;
        listed.clear();
        listed.extend(candidates);
        let row = queries.f32_points.exact_row(query as usize);
        ivf.transform.distances_to_each(row, listed, |id| ivf.f32_points.exact_row(id), distances);
        best.fill(distances.iter().copied().zip(listed.iter().copied()));
        if best.bound().is_none() {
            // Fewer than k points in all its lists: this is rare, and then every point is scanned.
            queries.scan(query, &ivf.f32_points, ivf.transform, best);
        }
    }
}

/// Queries of one list.
struct Block<'a> {
    list: usize,
    rows: &'a [u32],
}

fn blocks_of(list: usize, rows: &[u32]) -> impl Iterator<Item = Block<'_>> {
    let n_blocks = rows.len().div_ceil(QUERIES);
    rows.chunks(rows.len().div_ceil(n_blocks)).map(move |rows| Block { list, rows })
}

/// The list of each of `n` points, from the points of each list.
fn list_of<'a>(n: usize, lists: impl Iterator<Item = (usize, &'a [u32])>) -> Vec<u32> {
    let mut list_of = vec![0; n];
    for (list, ids) in lists {
        ids.iter().for_each(|&id| list_of[id as usize] = list as u32);
    }
    list_of
}

/// A few more than `k` candidates: rounding may misorder neighbors at almost equal distances.
fn kept(k: usize) -> usize {
    k + (k / 4).max(4)
}

/// The smallest rank that at least the given share of the ranks does not exceed.
fn share_quantile(ranks: &[usize], share: f64) -> usize {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    let place = (share * sorted.len() as f64).ceil() as usize;
    sorted[place.clamp(1, sorted.len()) - 1]
}

/// The share of found neighbors that are as near as the true ones. Among equally near points any is correct.
fn recall_of<'a>(found: impl Iterator<Item = &'a [f64]>, truth: &[f64], k: usize) -> f64 {
    let right = found
        .zip(truth.chunks_exact(k))
        .map(|(found, truth)| found.iter().filter(|&&distance| distance <= truth[k - 1]).count());
    right.sum::<usize>() as f64 / truth.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::Metric;
    use crate::generators::uneven_blobs;
    use crate::neighbors::{
        NeighborGraph, SearchMethod, SearchParams, Space, nearest_neighbors, search_neighbors,
    };

    fn approximate(points: Points, k: usize, recall: f64) -> (NeighborGraph, SearchInfo, Space) {
        let space = Space::from_points(points, Metric::Euclidean).unwrap();
        let params = SearchParams { method: SearchMethod::Approximate, recall };
        let (graph, info) = search_neighbors(&space, k, &params, &Run::new(1)).unwrap();
        (graph, info, space)
    }

    /// Share of the neighbors that are as near as the true ones, over all points.
    fn true_recall(found: &NeighborGraph, space: &Space, k: usize) -> f64 {
        let truth = nearest_neighbors(space, k, &Run::new(0)).unwrap();
        let all = |graph: &NeighborGraph| {
            (0..graph.len()).flat_map(|i| graph.distances(i).to_vec()).collect::<Vec<_>>()
        };
        recall_of(all(found).chunks_exact(k), &all(&truth), k)
    }

    #[test]
    fn the_recall_that_is_reported_is_the_recall() {
        let points = uneven_blobs(12_000, 8, 12, 5).unwrap().points;
        for asked in [0.8, 0.95, 0.99] {
            let (graph, info, space) = approximate(points.clone(), 10, asked);
            assert!(matches!(info.used, UsedSearch::Ivf { .. }), "{info:?}");
            let recall = true_recall(&graph, &space, 10);
            assert!(info.recall >= asked && (recall - info.recall).abs() < 0.02, "{recall} and {info:?}");
            assert!(
                NeighborGraph::new(
                    graph.len(),
                    10,
                    (0..graph.len()).flat_map(|i| graph.ids(i).to_vec()).collect(),
                    (0..graph.len()).flat_map(|i| graph.distances(i).to_vec()).collect()
                )
                .is_ok()
            );
        }
    }

    /// Points around two subspaces of 24 dimensions, in 256 columns with noise, of which lists would have to be probed by the dozen.
    fn overlapping(n: usize) -> Points {
        const D: usize = 256;
        const INNER: usize = 24;
        let mut draws = Stream::new(11, Stage::Generator).at(0, 0);
        let bases: Vec<f64> = (0..2 * INNER * D).map(|_| draws.normal()).collect();
        let mut values = Vec::with_capacity(n * D);
        for row in 0..n {
            let mut point: Vec<f64> = (0..D).map(|_| 0.5 * draws.normal()).collect();
            for direction in bases.chunks_exact(D).skip(row % 2 * INNER).take(INNER) {
                let weight = draws.normal();
                point.iter_mut().zip(direction).for_each(|(value, along)| *value += weight * along);
            }
            values.extend(point);
        }
        Points::new(values, D).unwrap()
    }

    #[test]
    fn descent_reaches_the_recall_with_the_same_bits_on_any_number_of_threads() {
        let asked = 0.98;
        let (graph, info, space) = approximate(overlapping(50_000), 10, asked);
        assert!(matches!(info.used, UsedSearch::Descent { .. }), "{info:?}");
        let recall = true_recall(&graph, &space, 10);
        assert!(info.recall >= asked && (recall - info.recall).abs() < 0.02, "{recall} and {info:?}");
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let again = pool.install(|| approximate(overlapping(50_000), 10, asked));
            assert_eq!((&again.0, again.1), (&graph, info), "{threads} threads");
        }
    }

    /// Without clusters the nearest lists contain few of the neighbors: every point is scanned, and the result is exact.
    #[test]
    fn shapeless_points_are_searched_exactly() {
        let mut draws = Stream::new(3, Stage::Generator).at(0, 0);
        let points = Points::new((0..6000 * 40).map(|_| draws.normal()).collect(), 40).unwrap();
        let (graph, info, space) = approximate(points, 10, 0.98);
        assert_eq!((info.used, info.recall), (UsedSearch::Tiles, 1.0));
        assert_eq!(graph, nearest_neighbors(&space, 10, &Run::new(0)).unwrap());
    }

    /// Half of the points are copies of one, the rest lies on a coarse grid: ties and duplicates everywhere.
    #[test]
    fn duplicates_and_ties() {
        let mut draws = Stream::new(4, Stage::Generator).at(0, 0);
        let values = (0..10_000 * 7).map(|place| if place < 5000 * 7 { 0.0 } else { draws.below(4) as f64 });
        let (graph, info, space) = approximate(Points::new(values.collect(), 7).unwrap(), 12, 0.98);
        assert!(info.recall >= 0.98 && true_recall(&graph, &space, 12) >= 0.97, "{info:?}");
    }

    #[test]
    fn more_neighbors_than_small_lists_hold() {
        let points = uneven_blobs(3000, 7, 3, 6).unwrap().points;
        let (graph, _, space) = approximate(points, 400, 0.98);
        assert!(true_recall(&graph, &space, 400) >= 0.97);
        let (tiny, info, _) = approximate(uneven_blobs(9, 7, 3, 6).unwrap().points, 8, 1.0);
        assert_eq!((tiny.len(), info.recall), (9, 1.0));
    }

    #[test]
    fn new_points_are_found_too() {
        let all = uneven_blobs(16_000, 9, 9, 7).unwrap().points;
        let rows = |range: std::ops::Range<u32>| all.select(&range.collect::<Vec<_>>());
        let (known, new) = (rows(0..12_000), rows(12_000..16_000));
        let ivf = Ivf::new(&known, SquareTransform::Root, 10, &Run::new(2)).unwrap();
        let ((_, distances), info) = ivf.nearest_of_new(&new, 10, 0.95, &Run::new(2)).unwrap().unwrap();
        let f32_points = F32Points::new(&known);
        let queries = Queries { f32_points: &f32_points.of_new(&new), are_known: false };
        let all: Vec<u32> = (0..4000).collect();
        let (_, truth) = tiles::nearest(
            queries,
            &all,
            &f32_points,
            &Panels::of_all(&f32_points, &Run::new(0)).unwrap(),
            SquareTransform::Root,
            10,
            &Run::new(0),
        )
        .unwrap();
        let recall = recall_of(distances.chunks_exact(10), &truth, 10);
        assert!((recall - info.recall).abs() < 0.02 && recall > 0.94, "{recall} and {info:?}");
    }
}
