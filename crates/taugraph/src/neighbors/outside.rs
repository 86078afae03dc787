//! For each group of points, the shortest distance to a point of another group: one Borůvka round.

use std::cell::OnceCell;
use std::ops::Range;

use rayon::prelude::*;

use super::cells::Cells;
use super::f32_points::F32Points;
use super::panels::{GROUP, LANES, Panels, Sink};
use super::tiles::{self, QUERIES, TILE};
use super::tree::{Tree, of_square, square_bound};
use super::{MetricPoints, SearchParams, Space, TREE_COLUMNS, sparse};
use crate::distance::Metric;
use crate::error::Result;
use crate::points::Points;
use crate::progress::Run;
use crate::random::{Stage, Stream};

/// A pair of points in different groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OutsidePair {
    pub distance: f64,
    pub inside: u32,
    pub outside: u32,
}

impl OutsidePair {
    /// Shorter first; equal lengths by the ids, lower first, the same from either side.
    fn key(&self) -> (f64, u32, u32) {
        (self.distance, self.inside.min(self.outside), self.inside.max(self.outside))
    }

    fn better(a: Option<Self>, b: Option<Self>) -> Option<Self> {
        match (a, b) {
            (Some(a), Some(b)) => Some(if b.key() < a.key() { b } else { a }),
            (a, b) => a.or(b),
        }
    }
}

/// Pairs that an exact search by tiles may look at; a second or two in 16 columns.
const MAX_PAIRS: u64 = 2_000_000_000;
/// Members of a group that look around for all of it where there are too many pairs; smaller groups look exactly.
const REPRESENTATIVES: usize = 256;
/// Cells that a representative of a small group looks into.
const PROBES: usize = 8;

/// Searches for the shortest pairs between groups.
pub(crate) struct OutsideSearch<'a> {
    space: &'a Space,
    params: &'a SearchParams,
    cells: OnceCell<Cells<'a>>,
}

/// The shortest pair out of each group, and whether it surely is.
pub(crate) struct OutsidePairs {
    pub shortest: Vec<Option<OutsidePair>>,
    pub is_exact: bool,
}

impl<'a> OutsideSearch<'a> {
    pub fn new(space: &'a Space, params: &'a SearchParams) -> Self {
        Self { space, params, cells: OnceCell::new() }
    }

    /// The shortest pair out of each group that has one, except group `skipped`.
    ///
    /// With all other groups looking outwards the skipped one (best the largest) need not look itself. Where the groups are
    /// so large that this takes very long, some members of each look around, and what they find is shortened from either
    /// end in turn: the pairs are short then, but perhaps not the shortest.
    ///
    /// # Panics
    /// If the space is a neighbor graph, which does not know outside distances.
    pub fn nearest(
        &self,
        group: &[u32],
        n_groups: usize,
        skipped: u32,
        run: &Run<'_>,
    ) -> Result<OutsidePairs> {
        let n = self.space.len();
        let n_looking = group.iter().filter(|&&g| g != skipped).count();
        let mut is_exact = true;
        let found = match self.space {
            Space::Points(MetricPoints { points, metric, .. }) if *metric != Metric::Manhattan => {
                if points.n_columns() <= TREE_COLUMNS {
                    by_tree(points, *metric, group, skipped, run)?
                } else if !self.params.tries_cells(n) || n_looking as u64 * n as u64 <= MAX_PAIRS {
                    by_tiles(points, *metric, group, &members_of(group, skipped, usize::MAX, run), run)?
                } else {
                    is_exact = false;
                    self.by_representatives(points, *metric, group, skipped, run)?
                }
            }
            // For a fixed point inside, the nearest outside with the lowest id has the lowest key, too.
            Space::Sparse(points) => sparse::nearest_in_other_groups(points, group, skipped, run)?
                .into_iter()
                .map(|(inside, outside, distance)| OutsidePair { distance, inside, outside })
                .collect(),
            Space::Neighbors(_) => panic!("a neighbor graph has no distances to points outside it"),
            _ => by_scan(self.space, group, skipped, run)?,
        };
        let mut shortest = vec![None; n_groups];
        for pair in found {
            let place = &mut shortest[group[pair.inside as usize] as usize];
            *place = OutsidePair::better(*place, Some(pair));
        }
        Ok(OutsidePairs { shortest, is_exact })
    }

    fn by_representatives(
        &self,
        points: &'a Points,
        metric: Metric,
        group: &[u32],
        skipped: u32,
        run: &Run<'_>,
    ) -> Result<Vec<OutsidePair>> {
        let representatives = members_of(group, skipped, REPRESENTATIVES, run);
        let (large, small): (Vec<_>, Vec<_>) =
            representatives.into_iter().partition(|representatives| representatives.len() == REPRESENTATIVES);
        let n_small: usize = small.iter().map(Vec::len).sum();
        let mut unlucky = Vec::new();
        let mut found = Vec::new();
        if n_small as u64 * points.len() as u64 > MAX_PAIRS {
            let cells = match self.cells.get() {
                Some(cells) => cells,
                None => {
                    let made = Cells::new(points, metric, 1, run)?;
                    self.cells.get_or_init(|| made)
                }
            };
            let pairs: Vec<Option<OutsidePair>> = small
                .par_iter()
                .map(|representatives| {
                    run.check()?;
                    let outside = |row: u32| {
                        cells.nearest_where(row, PROBES, |id| group[id as usize] != group[row as usize])
                    };
                    let pairs = representatives.iter().map(|&inside| {
                        outside(inside).map(|(distance, outside)| OutsidePair { distance, inside, outside })
                    });
                    Ok(pairs.fold(None, OutsidePair::better))
                })
                .collect::<Result<_>>()?;
            for (representatives, pair) in small.into_iter().zip(pairs) {
                match pair {
                    Some(pair) => found.push(pair),
                    // All points around are of the same group.
                    None => unlucky.push(representatives),
                }
            }
        } else {
            unlucky = small;
        }
        found.extend(by_tiles(points, metric, group, &unlucky, run)?);
        let of_large = by_tiles(points, metric, group, &large, run)?;
        let shortened = of_large.into_par_iter().map(|pair| {
            run.check()?;
            Ok(shorten(pair, points, metric, group))
        });
        found.extend(shortened.collect::<Result<Vec<_>>>()?);
        Ok(found)
    }
}

fn by_scan(space: &Space, group: &[u32], skipped: u32, run: &Run<'_>) -> Result<Vec<OutsidePair>> {
    let n = space.len();
    let found: Vec<Option<OutsidePair>> = (0..n)
        .into_par_iter()
        .filter(|&i| group[i] != skipped)
        .map(|i| {
            run.check()?;
            Ok((0..n)
                .filter(|&j| group[j] != group[i])
                .map(|j| OutsidePair { distance: space.distance(i, j), inside: i as u32, outside: j as u32 })
                .fold(None, |best, pair| OutsidePair::better(best, Some(pair))))
        })
        .collect::<Result<_>>()?;
    Ok(found.into_iter().flatten().collect())
}

fn by_tree(
    points: &Points,
    metric: Metric,
    group: &[u32],
    skipped: u32,
    run: &Run<'_>,
) -> Result<Vec<OutsidePair>> {
    let tree = Tree::new(points);
    // The group of a whole subtree, where it has only one.
    let common: Vec<Option<u32>> = tree.fold(
        |ids| {
            let first = group[ids[0] as usize];
            ids.iter().all(|&i| group[i as usize] == first).then_some(first)
        },
        |a, b| if a == b { a } else { None },
    );
    let chunks: Vec<Vec<OutsidePair>> = tree
        .order
        .par_chunks(256)
        .map(|queries| {
            run.check()?;
            // Queries of a chunk lie together: what one group's best was bounds the next query of that group.
            let mut best: Vec<OutsidePair> = Vec::new();
            for &query in queries.iter().filter(|&&query| group[query as usize] != skipped) {
                let own = group[query as usize];
                let place = best.iter().position(|pair| group[pair.inside as usize] == own);
                let mut found = place.map(|place| best[place]);
                let bound = |found: Option<OutsidePair>| {
                    found.map_or(f64::INFINITY, |pair| square_bound(metric, pair.distance))
                };
                tree.search(
                    points.row(query as usize),
                    bound(found),
                    &|node| common[node] == Some(own),
                    &mut |id, squared| {
                        if group[id as usize] != own {
                            let distance = of_square(metric, squared);
                            found = OutsidePair::better(
                                found,
                                Some(OutsidePair { distance, inside: query, outside: id }),
                            );
                        }
                        bound(found)
                    },
                );
                match (place, found) {
                    (Some(place), Some(found)) => best[place] = found,
                    (None, Some(found)) => best.push(found),
                    (_, None) => {}
                }
            }
            Ok(best)
        })
        .collect::<Result<_>>()?;
    Ok(chunks.into_iter().flatten().collect())
}

/// The points of each group but one; of large groups a random choice of `most`.
fn members_of(group: &[u32], skipped: u32, most: usize, run: &Run<'_>) -> Vec<Vec<u32>> {
    let mut order: Vec<u32> = (0..group.len() as u32).filter(|&i| group[i as usize] != skipped).collect();
    order.par_sort_unstable_by_key(|&i| (group[i as usize], i));
    let groups = order.chunk_by(|&a, &b| group[a as usize] == group[b as usize]);
    let stream = Stream::new(run.seed, Stage::Representatives);
    groups
        .map(|members| {
            if members.len() <= most {
                return members.to_vec();
            }
            let chosen = stream.at(members[0], 0).permutation(members.len());
            let mut chosen: Vec<u32> = chosen[..most].iter().map(|&place| members[place as usize]).collect();
            chosen.sort_unstable();
            chosen
        })
        .collect()
}

/// The shortest pairs from the points of each list, all of one group, to points of other groups.
fn by_tiles(
    points: &Points,
    metric: Metric,
    group: &[u32],
    lists: &[Vec<u32>],
    run: &Run<'_>,
) -> Result<Vec<OutsidePair>> {
    if lists.is_empty() {
        return Ok(Vec::new());
    }
    // Groups one after the other: the panels of a group's own points, which are near and of no interest, are left out.
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    order.par_sort_unstable_by_key(|&i| (group[i as usize], i));
    let f32_points = F32Points::new(points);
    let (panels, _) = Panels::new(&f32_points, std::iter::once(&order[..]), run)?;
    let blocks: Vec<(&[u32], Range<usize>)> = lists
        .iter()
        .flat_map(|rows| {
            let own = group[rows[0] as usize];
            let begin = order.partition_point(|&i| group[i as usize] < own).div_ceil(LANES);
            let end = order.partition_point(|&i| group[i as usize] <= own) / LANES;
            rows.chunks(QUERIES).map(move |rows| (rows, begin..end.max(begin)))
        })
        .collect();
    let found: Vec<Option<OutsidePair>> = blocks
        .into_par_iter()
        .map(|(rows, own)| {
            run.check()?;
            let mut shortest = Shortest {
                points,
                metric,
                f32_points: &f32_points,
                group,
                rows: &[],
                best: None,
                bounds: [0.0; GROUP],
            };
            let groups: Vec<Vec<f32>> =
                rows.chunks(GROUP).map(|rows| tiles::group(&f32_points, rows)).collect();
            for range in [0..own.start, own.end..panels.len()] {
                for first in range.clone().step_by(TILE) {
                    let tile = first..(first + TILE).min(range.end);
                    for (queries, rows) in groups.iter().zip(rows.chunks(GROUP)) {
                        shortest.turn_to(rows);
                        panels.offer(tile.clone(), queries, &mut shortest);
                    }
                }
            }
            Ok(shortest.best)
        })
        .collect::<Result<_>>()?;
    Ok(found.into_iter().flatten().collect())
}

/// Takes the nearest point of the group to the pair's outer end, then the nearest outside to that, until neither changes.
fn shorten(pair: OutsidePair, points: &Points, metric: Metric, group: &[u32]) -> OutsidePair {
    let own = group[pair.inside as usize];
    let nearest = |to: u32, is_inside: bool| {
        let candidates = (0..points.len() as u32).filter(|&i| (group[i as usize] == own) == is_inside);
        let pairs = candidates.map(|i| {
            let distance = metric.distance(points.row(i as usize), points.row(to as usize));
            let (inside, outside) = if is_inside { (i, to) } else { (to, i) };
            OutsidePair { distance, inside, outside }
        });
        pairs.fold(None, |best, pair| OutsidePair::better(best, Some(pair)))
    };
    let mut best = pair;
    loop {
        let inward = OutsidePair::better(Some(best), nearest(best.outside, true)).unwrap_or(best);
        let outward = OutsidePair::better(Some(inward), nearest(inward.inside, false)).unwrap_or(inward);
        if outward == best {
            return best;
        }
        best = outward;
    }
}

/// The shortest pair out of the group of some queries so far.
struct Shortest<'a> {
    points: &'a Points,
    metric: Metric,
    f32_points: &'a F32Points<'a>,
    group: &'a [u32],
    /// The queries that are looking.
    rows: &'a [u32],
    best: Option<OutsidePair>,
    /// Scores above these prove that a pair is longer.
    bounds: [f32; GROUP],
}

impl<'a> Shortest<'a> {
    fn turn_to(&mut self, rows: &'a [u32]) {
        self.rows = rows;
        self.narrow();
    }

    fn narrow(&mut self) {
        self.bounds = [f32::NEG_INFINITY; GROUP];
        for (bound, &row) in self.bounds.iter_mut().zip(self.rows) {
            *bound = match &self.best {
                None => f32::MAX,
                // Rounded up.
                Some(pair) => {
                    let squared = square_bound(self.metric, pair.distance);
                    (self.f32_points.limit(row as usize, squared) as f32).next_up().min(f32::MAX)
                }
            };
        }
    }
}

impl Sink for Shortest<'_> {
    #[inline(always)]
    fn bound(&self, query: usize) -> f32 {
        self.bounds[query]
    }

    fn take(&mut self, query: usize, ids: &[u32], scores: &[f32]) {
        let row = self.rows[query];
        for (&id, &score) in ids.iter().zip(scores) {
            let may_be_near = score <= self.bounds[query];
            if !may_be_near || self.group[row as usize] == self.group[id as usize] {
                continue;
            }
            let distance = self.metric.distance(self.points.row(row as usize), self.points.row(id as usize));
            self.best =
                OutsidePair::better(self.best, Some(OutsidePair { distance, inside: row, outside: id }));
            self.narrow();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn tree_and_tiles_equal_the_scan(
            d in 1usize..12, n in 2usize..200, grid in 2usize..400, n_groups in 1u32..6, seed in any::<u64>(),
        ) {
            let mut draws = Stream::new(seed, Stage::Generator).at(0, 0);
            let values = (0..n * d).map(|_| draws.below(grid) as f64).collect();
            let group: Vec<u32> = (0..n).map(|_| draws.below(n_groups as usize) as u32).collect();
            let space = Space::from_points(Points::new(values, d).unwrap(), Metric::Euclidean).unwrap();
            let run = Run::new(0);
            let params = SearchParams::default();
            let fast = OutsideSearch::new(&space, &params).nearest(&group, n_groups as usize, 0, &run).unwrap();
            prop_assert!(fast.is_exact);
            let mut slow = vec![None; n_groups as usize];
            for pair in by_scan(&space, &group, 0, &run).unwrap() {
                let place = &mut slow[group[pair.inside as usize] as usize];
                *place = OutsidePair::better(*place, Some(pair));
            }
            prop_assert_eq!(fast.shortest, slow);
        }
    }

    /// Blobs of thousands of points: representatives and shortening find pairs that are hardly longer than the shortest.
    #[test]
    fn scouts_find_short_pairs() {
        let data = crate::generators::uneven_blobs(6000, 8, 4, 3).unwrap();
        let group: Vec<u32> = data.labels.iter().copied().collect();
        let space = Space::from_points(data.points, Metric::Euclidean).unwrap();
        let Space::Points(MetricPoints { points, metric, .. }) = &space else { unreachable!() };
        let run = Run::new(0);
        let params = SearchParams::default();
        let search = OutsideSearch::new(&space, &params);
        let exact = search.nearest(&group, 4, 0, &run).unwrap().shortest;
        let found = search.by_representatives(points, *metric, &group, 0, &run).unwrap();
        assert_eq!(found.len(), 3);
        for pair in found {
            let shortest = exact[group[pair.inside as usize] as usize].unwrap();
            assert!(pair.distance <= 1.15 * shortest.distance, "{pair:?} and {shortest:?}");
        }
    }
}
