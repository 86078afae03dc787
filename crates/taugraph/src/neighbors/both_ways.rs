//! Neighbors of all points among themselves: the score of a pair serves both of its points, which halves the work of tiles.
//!
//! Points are divided into blocks. A pair of blocks is compared once, and the short lists of both are filled. Which candidates a list
//! holds may depend on the threads, but not the result: as in tiles, it is decided in double precision and proven.

use std::sync::{Mutex, MutexGuard};

use rayon::prelude::*;

use super::best::ShortList;
use super::f32_points::F32Points;
use super::panels::{AllScores, GROUP, LANES, Panels, Sink};
use super::tiles::{Decision, QUERIES, Queries, ShortLists, excluded_of, group, kept, offer_first};
use crate::distance::SquareTransform;
use crate::error::Result;
use crate::progress::Run;

/// Short lists of more points would take too much memory.
const MAX_POINTS: usize = 1 << 18;
/// With fewer columns the comparison of scores takes longer than the scores.
const MIN_COLUMNS: usize = 32;
/// Room of the short lists.
const ROOM: usize = 2;
/// Panels of a block.
const PANELS: usize = QUERIES / LANES;

/// Whether it is faster than tiles, and not too large.
pub(super) fn pays(n: usize, n_columns: usize) -> bool {
    n <= MAX_POINTS && n_columns >= MIN_COLUMNS
}

/// Bytes of the short lists.
pub(crate) fn bytes(n: u64, n_columns: u64, k: u64) -> u64 {
    let pairs = ROOM * kept(k as usize) + LANES;
    if pays(n as usize, n_columns as usize) { n * (8 * pairs as u64 + 64) } else { 0 }
}

/// The short lists of a block of points.
struct Block {
    rows: Vec<u32>,
    lists: Vec<ShortList>,
    /// The largest squared distance that each list accepts, with room for rounding; lower than any for empty slots.
    reach: Vec<f32>,
}

impl Block {
    /// Compares the points of a block with each other.
    fn new(number: usize, decision: &Decision<'_>, panels: &Panels) -> Self {
        let (queries, known) = (decision.queries, decision.known);
        let first = number * QUERIES;
        let rows: Vec<u32> = (first as u32..known.len().min(first + QUERIES) as u32).collect();
        let mut lists = decision.short_lists(rows.len(), ROOM);
        let places: Vec<u32> = (0..rows.len() as u32).collect();
        let (mut all, mut lowest) = (AllScores::default(), Vec::new());
        for (places, rows) in places.chunks(GROUP).zip(rows.chunks(GROUP)) {
            let own = panels_of(number, panels);
            let (group, excluded) = (group(queries.f32_points, rows), excluded_of(&queries, rows));
            offer_first(panels, own, &group, places, excluded, &mut lists, (&mut all, &mut lowest));
        }
        let mut reach = vec![f32::NEG_INFINITY; rows.len().next_multiple_of(LANES)];
        for ((reach, list), &row) in reach.iter_mut().zip(&lists).zip(&rows) {
            *reach = reach_of(list, known.squared_norm(row as usize));
        }
        Self { rows, lists, reach }
    }
}

/// The panels of a block.
fn panels_of(number: usize, panels: &Panels) -> std::ops::Range<usize> {
    number * PANELS..panels.len().min((number + 1) * PANELS)
}

/// The squared distance up to which a list accepts candidates. More than its rounding is added, and that of differences with it.
fn reach_of(list: &ShortList, squared_norm: f32) -> f32 {
    let reach = f64::from(list.bound()) + f64::from(squared_norm);
    let rounding = 4.0 * f64::from(f32::EPSILON) * reach.abs() + f64::from(f32::MIN_POSITIVE);
    ((reach + rounding) as f32).min(f32::MAX)
}

/// Offers the points of a block to a group of queries, and the queries to them.
struct BothWays<'a> {
    forth: ShortLists<'a>,
    rows: &'a [u32],
    squared_norms: [f32; GROUP],
    others: &'a mut Block,
}

impl Sink for BothWays<'_> {
    const BOTH_WAYS: bool = true;

    #[inline(always)]
    fn reach(&self, first: usize) -> &[f32] {
        &self.others.reach[first..]
    }

    #[inline(always)]
    fn squared_norm(&self, query: usize) -> f32 {
        self.squared_norms[query]
    }

    #[inline(always)]
    fn offer_back(&mut self, query: usize, first: usize, squared_norms: &[f32], scores: &[f32]) {
        let own = self.squared_norms[query];
        let places = first..first + scores.len();
        for ((place, &squared_norm), &score) in places.zip(squared_norms).zip(scores) {
            if score <= self.others.reach[place] - own {
                let list = &mut self.others.lists[place];
                let bound = list.bound();
                list.add(score + (own - squared_norm), self.rows[query]);
                if list.bound() < bound {
                    self.others.reach[place] = reach_of(list, squared_norm);
                }
            }
        }
    }

    #[inline(always)]
    fn bound(&self, query: usize) -> f32 {
        self.forth.bound(query)
    }

    #[inline(always)]
    fn take(&mut self, query: usize, ids: &[u32], scores: &[f32]) {
        self.forth.take(query, ids, scores);
    }
}

/// Ids and distances of the `k` nearest other points of every point.
pub(super) fn nearest_of_all(
    points: &F32Points<'_>,
    panels: &Panels,
    transform: SquareTransform,
    k: usize,
    run: &Run<'_>,
) -> Result<(Vec<u32>, Vec<f64>)> {
    let queries = Queries { f32_points: points, are_known: true };
    let decision = Decision { queries, known: points, transform, k };
    let n = points.len();
    let n_blocks = n.div_ceil(QUERIES);
    let blocks: Vec<Mutex<Block>> = (0..n_blocks)
        .into_par_iter()
        .map(|number| {
            run.check()?;
            Ok(Mutex::new(Block::new(number, &decision, panels)))
        })
        .collect::<Result<_>>()?;
    // Every block meets the half of the others that follow it in a circle: the same work for each.
    (0..n_blocks).into_par_iter().with_max_len(1).try_for_each(|own| {
        let opposite = (n_blocks.is_multiple_of(2) && own < n_blocks / 2).then_some(n_blocks / 2);
        let rows = locked(&blocks[own]).rows.clone();
        let groups: Vec<Vec<f32>> = rows.chunks(GROUP).map(|rows| group(points, rows)).collect();
        for step in (1..n_blocks.div_ceil(2)).chain(opposite) {
            run.check()?;
            let other = (own + step) % n_blocks;
            let (mut ours, mut others) = both_locked(&blocks, own, other);
            compare(&groups, &mut ours, &mut others, panels_of(other, panels), panels, points);
        }
        run.progress.advance(rows.len() as u64);
        Ok(())
    })?;
    let (mut ids, mut distances) = (vec![0; n * k], vec![0.0; n * k]);
    let out = ids.par_chunks_mut(k * QUERIES).zip(distances.par_chunks_mut(k * QUERIES));
    blocks.into_par_iter().zip(out).try_for_each(|(block, (ids, distances))| {
        run.check()?;
        let mut block = block.into_inner().expect("no thread panicked");
        decision.make(&block.rows, &mut block.lists, ids, distances);
        Ok(())
    })?;
    Ok((ids, distances))
}

/// Compares all points of two blocks.
fn compare(
    groups: &[Vec<f32>],
    ours: &mut Block,
    others: &mut Block,
    of_others: std::ops::Range<usize>,
    panels: &Panels,
    points: &F32Points<'_>,
) {
    let Block { rows, lists, reach } = ours;
    let places: Vec<u32> = (0..rows.len() as u32).collect();
    for ((group, places), rows) in groups.iter().zip(places.chunks(GROUP)).zip(rows.chunks(GROUP)) {
        // Absent queries of an incomplete group are infinitely far away.
        let mut squared_norms = [f32::INFINITY; GROUP];
        let of_rows = rows.iter().map(|&row| points.squared_norm(row as usize));
        squared_norms.iter_mut().zip(of_rows).for_each(|(to, from)| *to = from);
        let forth = ShortLists::new(lists, places, [u32::MAX; GROUP]);
        let mut sink = BothWays { forth, rows, squared_norms, others };
        panels.offer(of_others.clone(), group, &mut sink);
        for (&place, &squared_norm) in places.iter().zip(&squared_norms) {
            reach[place as usize] = reach_of(&lists[place as usize], squared_norm);
        }
    }
}

fn locked(block: &Mutex<Block>) -> MutexGuard<'_, Block> {
    block.lock().expect("no thread panicked")
}

/// Two blocks, locked in the order of their numbers, so that no two threads wait for each other.
fn both_locked(
    blocks: &[Mutex<Block>],
    a: usize,
    b: usize,
) -> (MutexGuard<'_, Block>, MutexGuard<'_, Block>) {
    let (low, high) = (locked(&blocks[a.min(b)]), locked(&blocks[a.max(b)]));
    if a < b { (low, high) } else { (high, low) }
}
