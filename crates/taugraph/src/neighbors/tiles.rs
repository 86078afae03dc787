//! Neighbors in many columns: single precision filters, double precision decides.
//!
//! Rounding can change a score by at most c·(|x| + |y|)². A search retains a few more candidates than requested, computes
//! their distances exactly, and accepts the result only if that bound proves that no other point can belong
//! to it; otherwise that query is scanned in double precision. So the result is exact, whatever the data.

use std::ops::Range;

use rayon::prelude::*;

use super::best::{Best, ShortList};
use super::f32_points::F32Points;
use super::panels::{AllScores, GROUP, Panels, Sink, interleave};
use super::scan::write_row;
use crate::distance::SquareTransform;
use crate::error::Result;
use crate::progress::Run;

/// Queries per block.
pub(super) const QUERIES: usize = 256;
/// Panels that all queries of a block go through before the next are fetched: what the second-level cache holds for 50 columns.
pub(super) const TILE: usize = 64;

/// Room of the short lists: after narrowing few candidates pass, so that lists are rarely cut.
const ROOM: usize = 3;

/// Points whose neighbors are sought.
#[derive(Clone, Copy)]
pub(super) struct Queries<'a> {
    /// In the frame of the known points.
    pub f32_points: &'a F32Points<'a>,
    /// Whether they are the known points themselves, in which case none is its own neighbor.
    pub are_known: bool,
}

impl Queries<'_> {
    /// The point to exclude for a query.
    pub fn excluded(&self, row: u32) -> u32 {
        if self.are_known { row } else { u32::MAX }
    }

    /// The best of all known points for one query, in double precision.
    pub fn scan(&self, row: u32, known: &F32Points<'_>, transform: SquareTransform, best: &mut Best<f64>) {
        best.clear();
        let (point, excluded) = (self.f32_points.exact_row(row as usize), self.excluded(row));
        for id in (0..known.len() as u32).filter(|&id| id != excluded) {
            best.offer(transform.distance(point, known.exact_row(id as usize)), id);
        }
    }
}

/// Short lists of a group of queries.
pub(super) struct ShortLists<'a> {
    lists: &'a mut [ShortList],
    /// The list of each query of the group.
    places: &'a [u32],
    /// The point to exclude for each.
    excluded: [u32; GROUP],
    /// The bound of each list, where the kernel finds it at once.
    bounds: [f32; GROUP],
}

impl<'a> ShortLists<'a> {
    /// `places` are the lists of the queries of a group, `excluded` the point to exclude for each.
    pub fn new(lists: &'a mut [ShortList], places: &'a [u32], excluded: [u32; GROUP]) -> Self {
        // Absent queries of an incomplete group accept nothing.
        let mut bounds = [f32::NEG_INFINITY; GROUP];
        bounds.iter_mut().zip(places).for_each(|(bound, &place)| *bound = lists[place as usize].bound());
        Self { lists, places, excluded, bounds }
    }
}

impl Sink for ShortLists<'_> {
    #[inline(always)]
    fn bound(&self, query: usize) -> f32 {
        self.bounds[query]
    }

    #[inline(always)]
    fn take(&mut self, query: usize, ids: &[u32], scores: &[f32]) {
        let list = &mut self.lists[self.places[query] as usize];
        list.push(scores, ids, self.excluded[query]);
        self.bounds[query] = list.bound();
    }
}

/// Lowers the bounds of a group's empty short lists to what the first panels offered to it prove. Without that, lists are filled
/// with candidates that are soon displaced: a third of the time of a search among 5,000 points. `lowest` is work space.
pub(super) fn narrow(
    panels: &Panels,
    first: Range<usize>,
    group: &[f32],
    places: &[u32],
    lists: &mut [ShortList],
    lowest: &mut [Vec<f32>; GROUP],
) {
    lowest.iter_mut().for_each(Vec::clear);
    panels.lowest_of_parts(first, group, lowest);
    for (&place, lowest) in places.iter().zip(lowest) {
        // One more than needed: the query itself may be among them.
        let list = &mut lists[place as usize];
        if lowest.len() > list.kept() {
            list.narrow(*lowest.select_nth_unstable_by(list.kept(), f32::total_cmp).1);
        }
    }
}

/// Offers the first panels to a group with empty short lists: as [`narrow`] and then [`Panels::offer`], but every score is
/// computed once. All of a tile fit in the first-level cache. `all` and `lowest` are work space.
pub(super) fn offer_first(
    panels: &Panels,
    first: Range<usize>,
    group: &[f32],
    places: &[u32],
    excluded: [u32; GROUP],
    lists: &mut [ShortList],
    (all, lowest): (&mut AllScores, &mut Vec<f32>),
) {
    let ids = panels.ids(first.clone());
    all.clear(ids.len());
    panels.offer(first, group, all);
    for (query, &place) in places.iter().enumerate() {
        let list = &mut lists[place as usize];
        let (scores, of_parts) = all.of(query);
        // Few parts prove little: then the scores themselves are ranked. One more than needed: the query may be among them.
        let ranked = if of_parts.len() > 2 * list.kept() { of_parts } else { scores };
        if ranked.len() > list.kept() {
            lowest.clear();
            lowest.extend_from_slice(ranked);
            list.narrow(*lowest.select_nth_unstable_by(list.kept(), f32::total_cmp).1);
        }
        let size = scores.len() / of_parts.len();
        let parts = scores.chunks_exact(size).zip(ids.chunks_exact(size)).zip(of_parts);
        for ((scores, ids), &lowest) in parts {
            if lowest <= list.bound() {
                list.push(scores, ids, excluded[query]);
            }
        }
    }
}

/// Ids and distances of the `k` nearest known points of the queries `rows`.
pub(super) fn nearest(
    queries: Queries<'_>,
    rows: &[u32],
    known: &F32Points<'_>,
    panels: &Panels,
    transform: SquareTransform,
    k: usize,
    run: &Run<'_>,
) -> Result<(Vec<u32>, Vec<f64>)> {
    let decision = Decision { queries, known, transform, k };
    let (mut ids, mut distances) = (vec![0; rows.len() * k], vec![0.0; rows.len() * k]);
    // Few queries are shared by all threads.
    let size = QUERIES.min(rows.len().div_ceil(rayon::current_num_threads())).max(GROUP);
    let blocks = ids.par_chunks_mut(k * size).zip(distances.par_chunks_mut(k * size));
    blocks.zip(rows.par_chunks(size)).try_for_each(|((ids, distances), rows)| {
        run.check()?;
        let groups: Vec<Vec<f32>> = rows.chunks(GROUP).map(|rows| group(queries.f32_points, rows)).collect();
        let mut closest = decision.short_lists(rows.len(), ROOM);
        let places: Vec<u32> = (0..rows.len() as u32).collect();
        let (mut all, mut lowest) = (AllScores::default(), Vec::new());
        for first in (0..panels.len()).step_by(TILE) {
            let tile = first..(first + TILE).min(panels.len());
            for ((group, places), rows) in groups.iter().zip(places.chunks(GROUP)).zip(rows.chunks(GROUP)) {
                let excluded = excluded_of(&queries, rows);
                if first == 0 {
                    let work = (&mut all, &mut lowest);
                    offer_first(panels, tile.clone(), group, places, excluded, &mut closest, work);
                } else {
                    panels.offer(tile.clone(), group, &mut ShortLists::new(&mut closest, places, excluded));
                }
            }
        }
        decision.make(rows, &mut closest, ids, distances);
        run.progress.advance(rows.len() as u64);
        Ok(())
    })?;
    Ok((ids, distances))
}

/// Decides in double precision which of the short-listed points are the nearest.
#[derive(Clone, Copy)]
pub(super) struct Decision<'a> {
    pub queries: Queries<'a>,
    pub known: &'a F32Points<'a>,
    pub transform: SquareTransform,
    pub k: usize,
}

impl Decision<'_> {
    fn n_candidates(&self) -> usize {
        self.known.len() - usize::from(self.queries.are_known)
    }

    /// Empty short lists for so many queries.
    pub fn short_lists(&self, n_queries: usize, room: usize) -> Vec<ShortList> {
        let kept = kept(self.k).min(self.n_candidates());
        (0..n_queries).map(|_| ShortList::with_room(kept, room)).collect()
    }

    /// Writes ids and distances of the queries `rows`, to whose short lists all candidates were offered.
    pub fn make(&self, rows: &[u32], closest: &mut [ShortList], ids: &mut [u32], distances: &mut [f64]) {
        let Self { queries, known, transform, k } = *self;
        let out = ids.chunks_exact_mut(k).zip(distances.chunks_exact_mut(k));
        let (mut best, mut listed, mut exact) = (Best::new(k), Vec::new(), Vec::new());
        for ((&query, closest), (ids, distances)) in rows.iter().zip(closest).zip(out) {
            let row = queries.f32_points.exact_row(query as usize);
            listed.clear();
            listed.extend(closest.candidates().iter().map(|&(_, id)| id));
            transform.distances_to_each(row, &listed, |id| known.exact_row(id), &mut exact);
            best.fill(exact.iter().copied().zip(listed.iter().copied()));
            let complete = listed.len() == self.n_candidates();
            let farthest = best.bound().map_or(f64::INFINITY, |bound| transform.square_bound(bound));
            // Every candidate not in the list scores at least the bound.
            let proven = f64::from(closest.bound()) > queries.f32_points.limit(query as usize, farthest);
            if !(complete || proven) {
                queries.scan(query, known, transform, &mut best);
            }
            write_row(best.pairs(), ids, distances);
        }
    }
}

/// How many candidates are retained for `k` neighbors.
pub(super) fn kept(k: usize) -> usize {
    k + (k / 2).max(8)
}

/// A group of queries for the kernel.
pub(super) fn group(f32_points: &F32Points<'_>, rows: &[u32]) -> Vec<f32> {
    let (gathered, d) = (f32_points.gathered(rows), f32_points.n_columns());
    let mut group = Vec::new();
    interleave(gathered.chunks_exact(d).map(|row| row.iter().copied()), d, &mut group);
    group
}

/// The points to exclude for the queries of a group.
pub(super) fn excluded_of(queries: &Queries<'_>, rows: &[u32]) -> [u32; GROUP] {
    let mut excluded = [u32::MAX; GROUP];
    excluded.iter_mut().zip(rows).for_each(|(excluded, &row)| *excluded = queries.excluded(row));
    excluded
}
