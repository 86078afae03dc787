//! Neighbors in many columns by descent: a neighbor of a neighbor is likely a neighbor (NN-descent; Dong, Moses and Li 2011).
//!
//! Every point has a list of the nearest points found so far, at first from the inverted lists around it. In every round each point
//! introduces those in its list, and those that have it in theirs, to each other, unless they have met here before. Distances are those of
//! points rounded to bytes; lists are therefore longer than the number of neighbors, and double precision decides in the end.
//!
//! Introductions of a batch of points are compared with the lists as they were before it, and a list holds the nearest of all that were ever
//! offered to it, in any order: the result does not depend on the threads.

use rayon::prelude::*;

use super::best::ShortList;
use super::codes::{CodePanels, Codes, Instructions, QUERIES};
use super::f32_points::F32Points;
use super::ivf::WIDER;
use super::panels::LANES;
use super::partition::Partition;
use crate::error::Result;
use crate::progress::Run;
use crate::random::{Stage, Stream};

/// Inverted lists that each point probes at first. More take longer than the rounds they save.
const N_PROBE: usize = 12;
/// Neighbors up to which descent is tried: introductions are pairs, so their number grows as the square.
const MAX_NEIGHBORS: usize = 40;
/// Entries of a list, for so many neighbors.
fn size_of_list(k: usize) -> usize {
    2 * k + 4
}

/// At most so many new points are introduced by a point, and as many that have met before.
const MAX_INTRODUCED: usize = 64;
/// Points of an inverted list that start together.
const START: usize = 256;
/// Points that introduce others before the lists are brought up to date.
const BATCH: usize = 1 << 12;
/// Points that a thread lets introduce others at a time.
const CHUNK: usize = 128;
/// Consecutive points whose lists one thread brings up to date.
const SHARD: usize = 1 << 11;
/// Points whose introductions are prepared together.
const PREPARED: usize = 1 << 17;

/// How many times as long as descent it likely takes to compare every point with so many candidates. Both take a time for each column, descent also
/// one for each entry of a list; the constants are from 100,000 points in 64 and 384 columns.
pub(super) fn advantage(n_candidates: usize, n_columns: usize, k: usize) -> f64 {
    if k > MAX_NEIGHBORS {
        return 0.0;
    }
    (n_candidates * n_columns) as f64 / (((1 << 20) + (n_columns << 11)) * (k * k).div_ceil(225)) as f64
}

/// Whether descent is tried with that advantage: it may fail, and then its time is lost.
pub(super) fn pays(advantage: f64) -> bool {
    advantage >= 2.0
}

/// How often lists may be made longer: each time doubles the time.
pub(super) fn max_widened(advantage: f64) -> usize {
    match advantage {
        ..4.0 => 0,
        4.0..8.0 => 1,
        _ => 2,
    }
}

/// Bytes that descent takes for `n` points, if it may be used for them.
pub(crate) fn bytes(n: u64, n_columns: u64, k: u64) -> u64 {
    if !pays(advantage(n as usize, n_columns as usize, k as usize)) {
        return 0;
    }
    let entries = size_of_list(k as usize) as u64;
    // Who is in whose list, and whom a point introduces; lists of vectors grow by doubling.
    let prepared = n.min(PREPARED as u64) * entries * 40;
    // A batch in which all who are introduced are nearer than everyone in their lists: all new ones among themselves, and with those who met before.
    let found = n.min(BATCH as u64) * 3 * entries * entries * std::mem::size_of::<Found>() as u64;
    // Lists that were made longer twice, beside those made longer once.
    let lists = n * entries * 9 * 15 / 4;
    // At first the inverted lists in panels, of which the last one of each is not full; later the rest.
    Codes::bytes(n, n_columns) + lists + (prepared + found).max(CodePanels::bytes(n + n / 8, n_columns))
}

/// What became of an entry of a list.
const MET: u8 = 0;
const NEW: u8 = 1;
/// New, and introduced in this round.
const INTRODUCED: u8 = 2;

/// The nearest points found so far of every point, and what is needed to find nearer ones. Points are in the order of the inverted lists.
pub(super) struct Descent<'a> {
    codes: &'a Codes,
    instructions: Instructions,
    lists: Lists,
    n_rounds: u32,
}

/// A list for every point, nearest first, ties by place.
struct Lists {
    /// Entries of a list.
    size: usize,
    squares: Vec<f32>,
    places: Vec<u32>,
    states: Vec<u8>,
}

/// One list.
struct List<'a> {
    squares: &'a mut [f32],
    places: &'a mut [u32],
    states: &'a mut [u8],
}

impl List<'_> {
    /// Inserts a point unless it is there or too far away; whether it was inserted.
    fn insert(&mut self, square: f32, place: u32) -> bool {
        let mut at = self.places.len() - 1;
        // Without an early end the search for the place has no branches.
        let is_there = || self.places.iter().fold(false, |found, &listed| found | (listed == place));
        if (self.squares[at], self.places[at]) <= (square, place) || is_there() {
            return false;
        }
        while at > 0 && (self.squares[at - 1], self.places[at - 1]) > (square, place) {
            self.squares[at] = self.squares[at - 1];
            self.places[at] = self.places[at - 1];
            self.states[at] = self.states[at - 1];
            at -= 1;
        }
        (self.squares[at], self.places[at], self.states[at]) = (square, place, NEW);
        true
    }
}

impl Lists {
    fn new(n: usize, size: usize) -> Self {
        Self {
            size,
            squares: vec![f32::INFINITY; n * size],
            places: vec![u32::MAX; n * size],
            states: vec![MET; n * size],
        }
    }

    fn len(&self) -> usize {
        self.places.len() / self.size
    }

    /// The lists of consecutive points, in shards.
    fn shards(&mut self, n: usize) -> impl IndexedParallelIterator<Item = List<'_>> {
        let of_shard = n * self.size;
        let lists = self.squares.par_chunks_mut(of_shard).zip(self.places.par_chunks_mut(of_shard));
        lists.zip(self.states.par_chunks_mut(of_shard)).map(|((squares, places), states)| List {
            squares,
            places,
            states,
        })
    }
}

/// A point found for another.
struct Found {
    by: u32,
    place: u32,
    square: f32,
}

impl<'a> Descent<'a> {
    /// Lists of what the nearest inverted lists hold, for `k` neighbors.
    pub fn new(
        codes: &'a Codes,
        points: &F32Points<'_>,
        partition: &Partition,
        k: usize,
        run: &Run<'_>,
    ) -> Result<Self> {
        let instructions = Instructions::fastest();
        let mut lists = Lists::new(points.len(), size_of_list(k));
        let size = lists.size;
        let mut blocks = Vec::new();
        let (mut squares, mut places, mut states) =
            (&mut lists.squares[..], &mut lists.places[..], &mut lists.states[..]);
        for (number, ends) in partition.bounds.windows(2).enumerate() {
            for first in (ends[0]..ends[1]).step_by(START) {
                let rows = first..ends[1].min(first + START);
                let list = List {
                    squares: squares.split_off_mut(..rows.len() * size).expect("a list for every point"),
                    places: places.split_off_mut(..rows.len() * size).expect("a list for every point"),
                    states: states.split_off_mut(..rows.len() * size).expect("a list for every point"),
                };
                blocks.push((number, rows, list));
            }
        }
        let panels = panels_of_lists(codes, instructions, partition);
        blocks.into_par_iter().with_max_len(1).try_for_each(|(number, rows, list)| {
            run.check()?;
            let mut shorts = start(codes, &panels, points, partition, number, rows, size);
            let List { squares, places, states } = list;
            let lists = squares.chunks_exact_mut(size).zip(places.chunks_exact_mut(size));
            for (((squares, places), states), short) in
                lists.zip(states.chunks_exact_mut(size)).zip(&mut shorts)
            {
                let mut pairs = short.finish().to_vec();
                pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                for (at, &(square, place)) in pairs.iter().enumerate() {
                    (squares[at], places[at], states[at]) = (square, place, NEW);
                }
            }
            Ok(())
        })?;
        Ok(Self { codes, instructions, lists, n_rounds: 0 })
    }

    /// Makes all lists half as long again, and lets everyone introduce everyone in the next round.
    pub fn widen(&mut self) {
        let (n, before) = (self.lists.len(), self.lists.size);
        let mut wider = Lists::new(n, before + before / 2);
        wider.shards(1).zip(self.lists.shards(1)).with_min_len(1 << 10).for_each(|(wider, list)| {
            wider.squares[..before].copy_from_slice(list.squares);
            wider.places[..before].copy_from_slice(list.places);
            wider.states[..before].fill(NEW);
        });
        self.lists = wider;
    }

    /// The places of the first two thirds in the list of the point at a place. The nearest neighbors are hardly ever among the others, which are
    /// there to be introduced.
    pub fn list(&self, place: usize) -> impl Iterator<Item = u32> {
        let list = &self.lists.places[place * self.lists.size..][..self.lists.size * 2 / 3];
        list.iter().copied().take_while(|&place| place != u32::MAX)
    }

    /// One round of introductions; the share of all entries that it replaced.
    pub fn round(&mut self, run: &Run<'_>) -> Result<f64> {
        let n = self.lists.len();
        let mut n_changed = 0;
        for first in (0..n).step_by(PREPARED) {
            let prepared = self.introductions(first..n.min(first + PREPARED), run)?;
            for shards in prepared.chunks(BATCH / SHARD) {
                n_changed += self.introduce(shards, run)?;
            }
        }
        self.lists
            .states
            .par_iter_mut()
            .with_min_len(1 << 16)
            .filter(|state| **state == INTRODUCED)
            .for_each(|state| *state = MET);
        self.n_rounds += 1;
        Ok(n_changed as f64 / self.lists.places.len() as f64)
    }

    /// Whom each of these points introduces.
    fn introductions(&mut self, points: std::ops::Range<usize>, run: &Run<'_>) -> Result<Vec<Introductions>> {
        let size = self.lists.size;
        let order = Order::new(run.seed, self.n_rounds);
        let n_shards = points.len().div_ceil(SHARD);
        // By shard of those who are in a list: who is in whose list, and whether it is new there.
        let lists =
            self.lists.places.par_chunks(SHARD * size).zip(self.lists.states.par_chunks(SHARD * size));
        let reverse: Vec<Vec<Vec<Reverse>>> = lists
            .enumerate()
            .map(|(shard, (places, states))| {
                let mut buckets: Vec<Vec<Reverse>> = (0..n_shards).map(|_| Vec::new()).collect();
                for (entry, (&place, &state)) in places.iter().zip(states).enumerate() {
                    if points.contains(&(place as usize)) {
                        let by = (shard * SHARD + entry / size) as u32;
                        let bucket = &mut buckets[(place as usize - points.start) / SHARD];
                        bucket.push(Reverse { place, by, is_new: state != MET });
                    }
                }
                buckets
            })
            .collect();
        let entries = points.start * size..points.end * size;
        let places = self.lists.places[entries.clone()].par_chunks(SHARD * size);
        let states = self.lists.states[entries].par_chunks_mut(SHARD * size);
        let prepared = places.zip(states).enumerate().map(|(shard, (places, states))| {
            run.check()?;
            let first = points.start + shard * SHARD;
            // New ones, and those met before.
            let mut members: Vec<[Vec<Ranked>; 2]> = Vec::with_capacity(SHARD);
            for (row, (places, states)) in
                places.chunks_exact(size).zip(states.chunks_exact(size)).enumerate()
            {
                let mut of_row = [Vec::with_capacity(2 * size), Vec::with_capacity(2 * size)];
                let own = (first + row) as u32;
                for (&place, &state) in places.iter().zip(states).filter(|(place, _)| **place != u32::MAX) {
                    of_row[usize::from(state == MET)].push(order.ranked(own, place));
                }
                members.push(of_row);
            }
            for entry in reverse.iter().flat_map(|buckets| &buckets[shard]) {
                let of_row = &mut members[entry.place as usize - first];
                of_row[usize::from(!entry.is_new)].push(order.ranked(entry.place, entry.by));
            }
            let mut introductions = Introductions::default();
            let limit = size.min(MAX_INTRODUCED);
            let lists = places.chunks_exact(size).zip(states.chunks_exact_mut(size));
            for (row, (mut of_row, (places, states))) in members.into_iter().zip(lists).enumerate() {
                for of_state in &mut of_row {
                    of_state.sort_unstable();
                    of_state.dedup();
                    of_state.truncate(limit);
                }
                let [new, met] = of_row;
                let own = (first + row) as u32;
                for (place, state) in places.iter().zip(states).filter(|(_, state)| **state == NEW) {
                    // All up to the last one that was not cut off.
                    if new.last().is_some_and(|last| order.ranked(own, *place) <= *last) {
                        *state = INTRODUCED;
                    }
                }
                let begin = introductions.members.len();
                introductions.members.extend(new.iter().map(|member| member.place()));
                let others = met.iter().filter(|member| new.binary_search(member).is_err());
                introductions.members.extend(others.map(|member| member.place()));
                introductions.ends.push((begin + new.len(), introductions.members.len()));
            }
            Ok(introductions)
        });
        prepared.collect()
    }

    /// Makes these introductions, then brings the lists up to date; how many entries changed.
    fn introduce(&mut self, shards: &[Introductions], run: &Run<'_>) -> Result<usize> {
        let (n, size) = (self.lists.len(), self.lists.size);
        let reach = |place: u32| self.lists.squares[(place as usize + 1) * size - 1];
        let chunks: Vec<(&Introductions, usize)> = shards
            .iter()
            .flat_map(|shard| (0..shard.ends.len()).step_by(CHUNK).map(move |first| (shard, first)))
            .collect();
        let found: Vec<Vec<Vec<Found>>> = chunks
            .into_par_iter()
            .with_max_len(1)
            .map(|(shard, first)| {
                run.check()?;
                let mut found: Vec<Vec<Found>> = (0..n.div_ceil(SHARD)).map(|_| Vec::new()).collect();
                let mut panels = CodePanels::new(self.instructions);
                for row in first..shard.ends.len().min(first + CHUNK) {
                    let (members, n_new) = shard.of(row);
                    if n_new > 0 {
                        panels.pack(self.codes, members, reach);
                        meet(members, n_new, &panels, |by, place, square| {
                            if square < reach(by) {
                                found[by as usize / SHARD].push(Found { by, place, square });
                            }
                        });
                    }
                }
                Ok(found)
            })
            .collect::<Result<_>>()?;
        let changed = self.lists.shards(SHARD).enumerate().map(|(shard, lists)| {
            let mut n_changed = 0;
            for found in found.iter().flat_map(|found| &found[shard]) {
                let begin = (found.by as usize - shard * SHARD) * size;
                let mut list = List {
                    squares: &mut lists.squares[begin..begin + size],
                    places: &mut lists.places[begin..begin + size],
                    states: &mut lists.states[begin..begin + size],
                };
                n_changed += usize::from(list.insert(found.square, found.place));
            }
            n_changed
        });
        Ok(changed.sum())
    }
}

/// The points of each inverted list, which are compared with those of many others.
fn panels_of_lists(codes: &Codes, instructions: Instructions, partition: &Partition) -> Vec<CodePanels> {
    let lists = partition.bounds.par_windows(2).map(|ends| {
        let places: Vec<u32> = (ends[0] as u32..ends[1] as u32).collect();
        let mut panels = CodePanels::new(instructions);
        panels.pack(codes, &places, |_| f32::NEG_INFINITY);
        panels
    });
    lists.collect()
}

/// The points of inverted lists nearest to some points of one of them, which are queries.
fn start(
    codes: &Codes,
    lists: &[CodePanels],
    points: &F32Points<'_>,
    partition: &Partition,
    number: usize,
    rows: std::ops::Range<usize>,
    size: usize,
) -> Vec<ShortList> {
    let around = partition.centroids.around(number, WIDER * N_PROBE);
    let mut visitors: Vec<Vec<u32>> = vec![Vec::new(); around.len()];
    around.visit_nearest(points, &partition.order[rows.clone()], N_PROBE, |row, centroid| {
        visitors[centroid].push((rows.start + row) as u32);
    });
    let mut queries = CodePanels::new(lists[number].instructions());
    let mut shorts: Vec<ShortList> = rows.clone().map(|_| ShortList::new(size)).collect();
    for (visited, visitors) in around.lists().zip(&visitors) {
        let (panels, ends) = (&lists[visited], &partition.bounds[visited..visited + 2]);
        let mut members: Vec<u32> = (ends[0] as u32..ends[1] as u32).collect();
        members.resize(panels.len() * LANES, u32::MAX);
        for visitors in visitors.chunks(QUERIES) {
            queries.pack(codes, visitors, |place| shorts[place as usize - rows.start].bound());
            for (panel, members) in members.chunks_exact(LANES).enumerate() {
                let pairs = panels.compare(panel, &queries, 0);
                let near = visitors.iter().enumerate().filter(|(query, _)| pairs.near[*query] != 0);
                for (query, &place) in near {
                    let short = &mut shorts[place as usize - rows.start];
                    short.push(&pairs.squares[query], members, place);
                    *queries.reach(query) = short.bound();
                }
            }
        }
    }
    shorts
}

/// Compares the first members, which are the queries, with each other and with the rest, and calls `found` with both sides of every pair of which
/// at least one has the other within its reach.
#[inline]
fn meet(members: &[u32], n_queries: usize, panels: &CodePanels, mut found: impl FnMut(u32, u32, f32)) {
    for (panel, others) in members.chunks(LANES).enumerate() {
        // Of two queries, the first one is compared with the second.
        let n_queries = n_queries.min((panel + 1) * LANES);
        for first in (0..n_queries).step_by(QUERIES) {
            let pairs = panels.compare(panel, panels, first / QUERIES);
            for (query, near) in (first..n_queries).zip(pairs.near) {
                let mut near = near;
                while near != 0 {
                    let lane = near.trailing_zeros() as usize;
                    near &= near - 1;
                    if panel * LANES + lane > query {
                        let square = pairs.squares[query - first][lane];
                        found(members[query], others[lane], square);
                        found(others[lane], members[query], square);
                    }
                }
            }
        }
    }
}

/// A point that has another in its list.
struct Reverse {
    place: u32,
    by: u32,
    is_new: bool,
}

/// Whom consecutive points introduce.
#[derive(Default)]
struct Introductions {
    members: Vec<u32>,
    /// Where the new and all of a point end.
    ends: Vec<(usize, usize)>,
}

impl Introductions {
    /// Whom a point introduces, and how many of them, the first ones, are new.
    fn of(&self, row: usize) -> (&[u32], usize) {
        let begin = if row == 0 { 0 } else { self.ends[row - 1].1 };
        let (end_of_new, end) = self.ends[row];
        (&self.members[begin..end], end_of_new - begin)
    }
}

/// The random order, one for every round, in which the neighbors of a point are introduced if there are too many.
struct Order(u64);

impl Order {
    fn new(seed: u64, round: u32) -> Self {
        let mut draws = Stream::new(seed, Stage::Descent).at(round, 0);
        Self(u64::from(draws.bits()) << 32 | u64::from(draws.bits()))
    }

    /// The second of a pair, with a rank that depends on the pair only: the finalizer of SplitMix64.
    fn ranked(&self, a: u32, b: u32) -> Ranked {
        let mut bits = (u64::from(a.min(b)) << 32 | u64::from(a.max(b))) ^ self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Ranked((bits ^ (bits >> 31)) << 32 | u64::from(b))
    }
}

/// The place of a point behind its rank, in one number: sorting takes half as long as with two.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ranked(u64);

impl Ranked {
    fn place(self) -> u32 {
        self.0 as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Points;

    /// So few points that they all probe all lists: then every list holds the nearest by their codes, as many as there are, and rounds change nothing.
    #[test]
    fn few_points_with_copies_know_their_neighbors_from_the_start() {
        for (n, k) in [(2, 1), (9, 8), (60, 10)] {
            let mut draws = Stream::new(5, Stage::Generator).at(0, 0);
            let mut values: Vec<f64> = (0..n * 40).map(|_| draws.normal()).collect();
            // Two copies, one row of zeros.
            values.copy_within(0..40, 40);
            values[(n - 1) * 40..].fill(0.0);
            let points = Points::new(values, 40).unwrap();
            let run = Run::new(1);
            let mut f32_points = F32Points::new(&points);
            let partition = Partition::new(&mut f32_points, 16, &run).unwrap();
            let codes = Codes::new(&f32_points, &partition.order);
            let mut descent = Descent::new(&codes, &f32_points, &partition, k, &run).unwrap();
            let before = descent.lists.places.clone();
            for place in 0..n {
                let list = &before[place * descent.lists.size..][..descent.lists.size];
                let found: Vec<u32> = list.iter().copied().filter(|&other| other != u32::MAX).collect();
                let n_found = descent.lists.size.min(n - 1);
                assert_eq!(found.len(), n_found);
                assert!(!found.contains(&(place as u32)));
                let squares = &descent.lists.squares[place * descent.lists.size..][..n_found];
                assert!(squares.is_sorted());
                let (mut panels, mut queries) =
                    (CodePanels::new(Instructions::Any), CodePanels::new(Instructions::Any));
                let all: Vec<u32> = (0..n as u32).collect();
                panels.pack(&codes, &all, |_| 0.0);
                queries.pack(&codes, &[place as u32], |_| 0.0);
                let mut naive: Vec<f32> = (0..panels.len())
                    .flat_map(|panel| panels.compare(panel, &queries, 0).squares[0])
                    .collect();
                naive.truncate(n);
                naive.remove(place);
                naive.sort_unstable_by(f32::total_cmp);
                assert_eq!(squares, &naive[..n_found]);
            }
            assert_eq!(descent.round(&run).unwrap(), 0.0);
            assert_eq!(descent.lists.places, before);
            descent.widen();
            descent.round(&run).unwrap();
            let lists = descent.lists.places.chunks_exact(descent.lists.size);
            let n_found = lists.map(|list| list.iter().filter(|&&place| place != u32::MAX).count());
            assert!(
                n_found
                    .into_iter()
                    .all(|found| found == descent.lists.size.min(n - 1) || n > descent.lists.size)
            );
        }
    }
}
