//! Neighbors of very many points: only the cells nearest to a query are searched (an inverted file).
//!
//! How many cells that must be is not guessed. A sample of queries is searched exactly; the smallest number of cells
//! that holds the wanted share of their neighbors is tried on a second sample, and raised until that finds its share, too.

use std::ops::Range;

use rayon::prelude::*;

use super::best::{Best, ShortList};
use super::f32_points::F32Points;
use super::panels::{GROUP, Panels, interleave};
use super::partition::{Partition, sort_into_cells};
use super::scan::write_row;
use super::tiles::{self, Lists, QUERIES, Queries};
use crate::distance::Metric;
use crate::error::Result;
use crate::points::Points;
use crate::progress::{Progress, Run};
use crate::random::{Stage, Stream};

/// Points of a cell, up to and above [`MANY`] points.
const CELL: usize = 250;
const LARGER_CELL: usize = 500;
const MANY: usize = 100_000;
/// Queries of a sample.
const SAMPLE: usize = 512;
/// Queries of a cell look for their nearest cells among so many times as many that are nearest to the cell's own center. What
/// this loses is part of the measured recall.
const WIDER: usize = 6;
/// Queries whose results wait in memory for their place.
const WAITING: usize = 1 << 15;

/// Known points, cell by cell.
pub(super) struct Cells<'a> {
    metric: Metric,
    f32_points: F32Points<'a>,
    partition: Partition,
    panels: Panels,
    /// The first panel of each cell, and the end of the last one.
    bounds: Vec<usize>,
}

/// Neighbors, and how they were found.
pub(super) struct Found {
    pub ids: Vec<u32>,
    pub distances: Vec<f64>,
    pub probes: usize,
    /// Share of the true neighbors that were found, in a sample of queries.
    pub recall: f64,
    pub sample: usize,
}

impl<'a> Cells<'a> {
    /// Divides the known points; `k` neighbors will be asked for.
    pub fn new(known: &'a Points, metric: Metric, k: usize, run: &Run<'_>) -> Result<Self> {
        let size = if known.len() > MANY { LARGER_CELL } else { CELL };
        let mut f32_points = F32Points::new(known);
        // Cells of no more points than neighbors would all have to be searched.
        let partition = Partition::new(&mut f32_points, size.max(8 * k), run)?;
        let (panels, bounds) = Panels::new(&f32_points, partition.cells(), run)?;
        Ok(Self { metric, f32_points, partition, panels, bounds })
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.partition.centers.len()
    }

    /// The neighbors of every known point; `None` where so many cells must be searched that looking at all points is
    /// as fast.
    pub fn nearest_of_known(&self, k: usize, recall: f64, run: &Run<'_>) -> Result<Option<Found>> {
        let queries = Queries { f32_points: &self.f32_points, are_known: true };
        let blocks = self.partition.cells().enumerate().flat_map(|(cell, ids)| blocks_of(cell, ids));
        self.nearest(queries, &blocks.collect::<Vec<_>>(), k, recall, run)
    }

    /// The neighbors of new points among the known ones, or `None` as above.
    pub fn nearest_of_new(
        &self,
        new: &Points,
        k: usize,
        recall: f64,
        run: &Run<'_>,
    ) -> Result<Option<Found>> {
        let f32_points = self.f32_points.of_new(new);
        let mut order: Vec<u32> = (0..new.len() as u32).collect();
        let cells = self.partition.centers.assign(&f32_points, &order, run)?;
        let sizes = sort_into_cells(&mut order, cells);
        let mut rest = &order[..];
        let blocks: Vec<Block<'_>> = sizes
            .into_iter()
            .flat_map(|(cell, size)| {
                let (rows, after) = rest.split_at(size);
                rest = after;
                blocks_of(cell as usize, rows)
            })
            .collect();
        let queries = Queries { f32_points: &f32_points, are_known: false };
        self.nearest(queries, &blocks, k, recall, run)
    }

    /// The nearest known point that satisfies a condition, in the `probes` nearest cells of a known point.
    pub fn nearest_where(&self, row: u32, probes: usize, holds: impl Fn(u32) -> bool) -> Option<(f64, u32)> {
        let near = self.partition.centers.nearest(&self.f32_points, row, probes);
        let cells = near.iter().map(|&cell| cell as usize);
        let bounds = &self.partition.bounds;
        let ids = cells.flat_map(|cell| &self.partition.order[bounds[cell]..bounds[cell + 1]]).copied();
        let mut best = Best::new(1);
        for id in ids.filter(|&id| holds(id)) {
            best.offer(self.distance(self.f32_points.exact_row(row as usize), id), id);
        }
        best.pairs().first().copied()
    }

    /// The distance of a point to a known one.
    fn distance(&self, row: &[f64], id: u32) -> f64 {
        self.metric.distance(row, self.f32_points.exact_row(id as usize))
    }

    /// The neighbors of the queries in all blocks.
    fn nearest(
        &self,
        queries: Queries<'_>,
        blocks: &[Block<'_>],
        k: usize,
        recall: f64,
        run: &Run<'_>,
    ) -> Result<Option<Found>> {
        let samples =
            Stream::new(run.seed, Stage::Cells).at(u32::MAX, 0).permutation(queries.f32_points.len());
        let size = SAMPLE.min(samples.len().div_ceil(2));
        let (first, rest) = samples.split_at(size);
        // With one query there is no second sample.
        let second = if rest.is_empty() { first } else { &rest[..size.min(rest.len())] };
        let exact = |sample: &[u32]| {
            let quiet = Run { progress: &Unheard(run.progress), ..*run };
            tiles::nearest(queries, sample, &self.f32_points, &self.panels, self.metric, k, &quiet)
        };
        let ranks = self.ranks(queries, first, &exact(first)?.0, k);
        let truth = exact(second)?.1;
        let cell_of_query =
            cell_of(queries.f32_points.len(), blocks.iter().map(|block| (block.cell, block.rows)));
        let mut probes = 1 + share_quantile(&ranks, recall);
        loop {
            run.check()?;
            if probes * self.f32_points.len() / self.len() + self.len() > self.f32_points.len() / 4 {
                return Ok(None);
            }
            let distances_of = |row: &u32| {
                let cell = cell_of_query[*row as usize] as usize;
                self.search_block(queries, &[*row], cell, probes, k).1
            };
            let found: Vec<Vec<f64>> = second.par_iter().map(distances_of).collect();
            let reached = recall_of(found.iter().map(Vec::as_slice), &truth, k);
            if reached >= recall {
                let (ids, distances) = self.search(queries, blocks, probes, k, run)?;
                return Ok(Some(Found { ids, distances, probes, recall: reached, sample: second.len() }));
            }
            // The second sample was harder than the first.
            probes += probes.div_ceil(50);
        }
    }

    /// For each true neighbor of the sample: how many cells lie nearer to the query than the one that holds it.
    fn ranks(&self, queries: Queries<'_>, sample: &[u32], neighbors: &[u32], k: usize) -> Vec<usize> {
        let cell_of = cell_of(self.f32_points.len(), self.partition.cells().enumerate());
        let ranks = sample.par_iter().zip(neighbors.par_chunks_exact(k)).map(|(&query, neighbors)| {
            let cells = self.partition.centers.nearest(queries.f32_points, query, self.len());
            let mut rank = vec![0; self.len()];
            cells.iter().enumerate().for_each(|(place, &cell)| rank[cell as usize] = place);
            neighbors.iter().map(|&id| rank[cell_of[id as usize] as usize]).collect::<Vec<_>>()
        });
        ranks.collect::<Vec<_>>().concat()
    }

    /// The neighbors of every query within its nearest cells.
    fn search(
        &self,
        queries: Queries<'_>,
        blocks: &[Block<'_>],
        probes: usize,
        k: usize,
        run: &Run<'_>,
    ) -> Result<(Vec<u32>, Vec<f64>)> {
        let n = queries.f32_points.len();
        run.stage("neighbors", Some(n as u64))?;
        let (mut ids, mut distances) = (vec![0; n * k], vec![0.0; n * k]);
        for blocks in blocks.chunks(WAITING / QUERIES) {
            let found: Vec<(Vec<u32>, Vec<f64>)> = blocks
                .par_iter()
                .map(|block| {
                    run.check()?;
                    let found = self.search_block(queries, block.rows, block.cell, probes, k);
                    run.progress.advance(block.rows.len() as u64);
                    Ok(found)
                })
                .collect::<Result<_>>()?;
            for (block, (block_ids, block_distances)) in blocks.iter().zip(&found) {
                let of_rows = block_ids.chunks_exact(k).zip(block_distances.chunks_exact(k));
                for (&row, (row_ids, row_distances)) in block.rows.iter().zip(of_rows) {
                    let place = row as usize * k;
                    ids[place..place + k].copy_from_slice(row_ids);
                    distances[place..place + k].copy_from_slice(row_distances);
                }
            }
        }
        Ok((ids, distances))
    }

    /// Bounds for lists that nothing has been offered to, from the panels of the first cell. Without them a quarter of the time
    /// went into filling the lists with what was soon to leave them.
    fn narrow(&self, panels: Range<usize>, group: &[f32], places: &[u32], lists: &mut [ShortList]) {
        let mut lowest: [Vec<f32>; GROUP] = Default::default();
        self.panels.lowest_of_parts(panels, group, &mut lowest);
        for (&place, lowest) in places.iter().zip(&mut lowest) {
            // One more than are kept: the query itself may be among them.
            let list = &mut lists[place as usize];
            if lowest.len() > list.kept() {
                list.narrow(*lowest.select_nth_unstable_by(list.kept(), f32::total_cmp).1);
            }
        }
    }

    /// Neighbors of queries of one cell, which share most of the cells that they look into.
    fn search_block(
        &self,
        queries: Queries<'_>,
        rows: &[u32],
        cell: usize,
        probes: usize,
        k: usize,
    ) -> (Vec<u32>, Vec<f64>) {
        // All look into their own cell first. The bounds are soon so narrow that little of the other cells gets past them.
        let around = self.partition.centers.around(cell, WIDER * probes);
        let mut visitors: Vec<Vec<u32>> = vec![Vec::new(); around.len()];
        visitors[0] = (0..rows.len() as u32).collect();
        around.visit_nearest(queries.f32_points, rows, probes, |place, center| {
            if center > 0 {
                visitors[center].push(place as u32);
            }
        });
        let mut closest: Vec<ShortList> = rows.iter().map(|_| ShortList::new(kept(k))).collect();
        let d = self.f32_points.n_columns();
        // Each is needed once for every cell that it looks into.
        let points: Vec<f32> = rows.iter().flat_map(|&row| queries.f32_points.row(row as usize)).collect();
        let mut group = Vec::new();
        for (visited, visitors) in around.cells().zip(&visitors) {
            let panels = self.bounds[visited]..self.bounds[visited + 1];
            for places in visitors.chunks(GROUP) {
                let mut excluded = [u32::MAX; GROUP];
                for (excluded, &place) in excluded.iter_mut().zip(places) {
                    *excluded = queries.excluded(rows[place as usize]);
                }
                let point =
                    |&place: &u32| points[place as usize * d..(place as usize + 1) * d].iter().copied();
                interleave(places.iter().map(point), d, &mut group);
                if visited == cell {
                    self.narrow(panels.clone(), &group, places, &mut closest);
                }
                self.panels.offer(
                    panels.clone(),
                    &group,
                    &mut Lists { lists: &mut closest, places, excluded },
                );
            }
        }
        let (mut ids, mut distances) = (vec![0; rows.len() * k], vec![0.0; rows.len() * k]);
        let (mut best, mut listed, mut exact) = (Best::new(k), Vec::new(), Vec::new());
        let out = ids.chunks_exact_mut(k).zip(distances.chunks_exact_mut(k));
        for ((&query, closest), (ids, distances)) in rows.iter().zip(&mut closest).zip(out) {
            best.clear();
            let row = queries.f32_points.exact_row(query as usize);
            listed.clear();
            listed.extend(closest.finish().iter().map(|&(_, id)| id));
            self.metric.distances_to_each(row, &listed, |id| self.f32_points.exact_row(id), &mut exact);
            exact.iter().zip(&listed).for_each(|(&distance, &id)| best.offer(distance, id));
            if best.bound().is_none() {
                // Fewer than k points in all its cells: seldom, and then every point is looked at.
                queries.scan(query, &self.f32_points, self.metric, &mut best);
            }
            write_row(best.pairs(), ids, distances);
        }
        (ids, distances)
    }
}

/// Queries of one cell.
struct Block<'a> {
    cell: usize,
    rows: &'a [u32],
}

fn blocks_of(cell: usize, rows: &[u32]) -> impl Iterator<Item = Block<'_>> {
    let n_blocks = rows.len().div_ceil(QUERIES);
    rows.chunks(rows.len().div_ceil(n_blocks)).map(move |rows| Block { cell, rows })
}

/// The cell of each of `n` points, from the points of each cell.
fn cell_of<'a>(n: usize, cells: impl Iterator<Item = (usize, &'a [u32])>) -> Vec<u32> {
    let mut cell_of = vec![0; n];
    for (cell, ids) in cells {
        ids.iter().for_each(|&id| cell_of[id as usize] = cell as u32);
    }
    cell_of
}

/// A few more than `k` are kept: rounding may misplace neighbors that are almost equally far.
fn kept(k: usize) -> usize {
    k + (k / 4).max(4)
}

/// The smallest rank that a share of the ranks does not exceed.
fn share_quantile(ranks: &[usize], share: f64) -> usize {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    let place = (share * sorted.len() as f64).ceil() as usize;
    sorted[place.clamp(1, sorted.len()) - 1]
}

/// The share of found neighbors that are as near as the true ones. Of equally near points any is right.
fn recall_of<'a>(found: impl Iterator<Item = &'a [f64]>, truth: &[f64], k: usize) -> f64 {
    let right = found
        .zip(truth.chunks_exact(k))
        .map(|(found, truth)| found.iter().filter(|&&distance| distance <= truth[k - 1]).count());
    right.sum::<usize>() as f64 / truth.len() as f64
}

/// Cancels as the listener says, but tells it nothing: samples are no progress.
struct Unheard<'a>(&'a dyn Progress);

impl Progress for Unheard<'_> {
    fn canceled(&self) -> bool {
        self.0.canceled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::uneven_blobs;
    use crate::neighbors::{
        NeighborGraph, SearchMethod, SearchParams, Space, UsedSearch, nearest_neighbors, search_neighbors,
    };

    fn approximate(
        points: Points,
        k: usize,
        recall: f64,
    ) -> (NeighborGraph, crate::neighbors::SearchInfo, Space) {
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
            assert!(matches!(info.used, UsedSearch::Cells { .. }), "{info:?}");
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

    /// Without any groups the nearest cells hold little: every point is looked at, and the result is exact.
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
    fn more_neighbors_than_small_cells_hold() {
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
        let cells = Cells::new(&known, Metric::Euclidean, 10, &Run::new(2)).unwrap();
        let found = cells.nearest_of_new(&new, 10, 0.95, &Run::new(2)).unwrap().unwrap();
        let f32_points = F32Points::new(&known);
        let queries = Queries { f32_points: &f32_points.of_new(&new), are_known: false };
        let all: Vec<u32> = (0..4000).collect();
        let (_, truth) = tiles::nearest(
            queries,
            &all,
            &f32_points,
            &Panels::of_all(&f32_points, &Run::new(0)).unwrap(),
            Metric::Euclidean,
            10,
            &Run::new(0),
        )
        .unwrap();
        let recall = recall_of(found.distances.chunks_exact(10), &truth, 10);
        assert!((recall - found.recall).abs() < 0.02 && recall > 0.94, "{recall} and {}", found.recall);
    }
}
