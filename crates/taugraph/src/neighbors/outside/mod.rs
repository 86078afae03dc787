//! For each group of points, the shortest distance to a point of another group: one Borůvka round.

mod by_tiles;
mod by_tree;
mod cell_pairs;
mod frontier;
mod group_pairs;
mod representatives;

use std::cell::OnceCell;

use rayon::prelude::*;

use super::ivf::Ivf;
use super::search::PointSearch;
use super::{SearchParams, Space, sparse};
use crate::distance::{Geometry, Metric, SquareTransform};
use crate::error::Result;
use crate::points::Points;
use crate::progress::Run;
use crate::random::{Stage, Stream};
use by_tiles::{by_frontiers, by_tiles};
use by_tree::by_tree;
use cell_pairs::CellPairs;
use frontier::Cells;
use group_pairs::GroupPairs;

/// Maximum number of pairs, times columns, for an exact search by tiles; a second or two.
const MAX_WORK: u64 = 32_000_000_000;

/// A pair of points in different groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OutsidePair {
    pub distance: f64,
    pub inside: u32,
    pub outside: u32,
}

impl OutsidePair {
    /// Shorter first; ties by the ids, lower first, the same from either side.
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

/// Searches for the shortest pairs between groups.
pub(crate) struct OutsideSearch<'a> {
    space: &'a Space,
    params: &'a SearchParams,
    /// Built on first use.
    ivf: OnceCell<Ivf<'a>>,
    /// The groups of the first search by tiles; `None` if they are of no use.
    cells: OnceCell<Option<Cells>>,
    /// The shortest pairs between them, if frontiers are of no use.
    group_pairs: OnceCell<GroupPairs>,
    /// The same for groups that are too large to look at all pairs.
    cell_pairs: OnceCell<Option<CellPairs>>,
}

/// The shortest pair leaving each group, and whether it is guaranteed to be the shortest.
pub(crate) struct OutsidePairs {
    pub shortest: Vec<Option<OutsidePair>>,
    pub is_exact: bool,
}

impl<'a> OutsideSearch<'a> {
    pub fn new(space: &'a Space, params: &'a SearchParams) -> Self {
        Self {
            space,
            params,
            ivf: OnceCell::new(),
            cells: OnceCell::new(),
            group_pairs: OnceCell::new(),
            cell_pairs: OnceCell::new(),
        }
    }

    /// The shortest pair leaving each group that has one, except group `skipped`.
    ///
    /// If all other groups search, the skipped one (ideally the largest) need not. If the groups are so large that this would take
    /// very long, large groups search from the centers of groups, or by sampled representatives if there are many: the pairs are then
    /// short, but perhaps not the shortest.
    ///
    /// # Panics
    /// If the space is a neighbor graph, which has no distances to points outside it.
    pub fn nearest(
        &self,
        group: &[u32],
        n_groups: usize,
        skipped: u32,
        run: &Run<'_>,
    ) -> Result<OutsidePairs> {
        let mut is_exact = true;
        let found = match self.space {
            Space::Points(space) => match PointSearch::of(space) {
                PointSearch::Scan => by_scan(self.space, group, skipped, run)?,
                PointSearch::Tree(transform) => by_tree(space.points(), transform, group, skipped, run)?,
                PointSearch::Panels(transform)
                    if self.may_look_at_all_pairs(space.points(), group, skipped) =>
                {
                    let points = space.points();
                    let cells = self.cells.get_or_init(|| Cells::new(points, group, n_groups)).as_ref();
                    match cells.and_then(|cells| cells.frontiers(points, transform, group, n_groups, skipped))
                    {
                        Some(frontiers) => by_frontiers(points, transform, group, &frontiers, run)?,
                        None => self.by_all_pairs(points, transform, group, n_groups, skipped, run)?,
                    }
                }
                PointSearch::Panels(transform) => {
                    is_exact = false;
                    self.by_representatives(space.points(), transform, group, n_groups, skipped, run)?
                }
            },
            // For a fixed point inside, the nearest point outside with the lowest id also has the lowest key.
            Space::Sparse(points) => sparse::nearest_in_other_groups(points, group, skipped, run)?
                .into_iter()
                .map(|(inside, outside, distance)| OutsidePair { distance, inside, outside })
                .collect(),
            Space::Distances(_) => by_scan(self.space, group, skipped, run)?,
            Space::Neighbors(_) => panic!("a neighbor graph has no distances to points outside it"),
        };
        let mut shortest = vec![None; n_groups];
        for pair in found {
            let place = &mut shortest[group[pair.inside as usize] as usize];
            *place = OutsidePair::better(*place, Some(pair));
        }
        Ok(OutsidePairs { shortest, is_exact })
    }

    /// The shortest pairs, after looking at all pairs of points: once, if that serves every round.
    fn by_all_pairs(
        &self,
        points: &Points,
        transform: SquareTransform,
        group: &[u32],
        n_groups: usize,
        skipped: u32,
        run: &Run<'_>,
    ) -> Result<Vec<OutsidePair>> {
        let n_searching = group.iter().filter(|&&own| own != skipped).count();
        if self.group_pairs.get().is_none() && GroupPairs::pays(points.len(), n_groups, n_searching) {
            let made = GroupPairs::new(points, transform, group, n_groups, run)?;
            self.group_pairs.get_or_init(|| made);
        }
        match self.group_pairs.get().and_then(|pairs| pairs.between(group, skipped)) {
            Some(found) => Ok(found),
            None => by_tiles(points, transform, group, &members_of(group, skipped, usize::MAX, run), run),
        }
    }

    /// Whether an exact search is fast enough; never after a round in which it was not, since what was found for two groups then serves the later
    /// rounds.
    fn may_look_at_all_pairs(&self, points: &Points, group: &[u32], skipped: u32) -> bool {
        if self.cell_pairs.get().is_some_and(Option::is_some) {
            return false;
        }
        let n_searching = group.iter().filter(|&&own| own != skipped).count();
        !self.params.tries_ivf(points.len()) || !is_much_work(points, n_searching)
    }
}

/// The shortest pair (distance, point, other point) from the group of each query to a point of another group, looking at every pair; ties by the
/// lower id, then the higher.
pub(crate) fn shortest_to_other_groups(
    points: &Points,
    metric: Metric,
    group: &[u32],
    queries: &[u32],
    run: &Run<'_>,
) -> Result<Vec<(f64, u32, u32)>> {
    let mut queries = queries.to_vec();
    queries.sort_unstable_by_key(|&row| (group[row as usize], row));
    let lists: Vec<Vec<u32>> =
        queries.chunk_by(|&a, &b| group[a as usize] == group[b as usize]).map(<[u32]>::to_vec).collect();
    let pairs = match metric.geometry() {
        Geometry::SquaredEuclidean(transform) => by_tiles(points, transform, group, &lists, run)?,
        Geometry::General(distance) => {
            let of_query = |&inside: &u32| {
                let others =
                    (0..points.len() as u32).filter(|&j| group[j as usize] != group[inside as usize]);
                let pairs = others.map(|outside| {
                    let distance = distance(points.row(inside as usize), points.row(outside as usize));
                    OutsidePair { distance, inside, outside }
                });
                pairs.fold(None, |best, pair| OutsidePair::better(best, Some(pair)))
            };
            queries.par_iter().filter_map(of_query).collect()
        }
    };
    let mut shortest: Vec<OutsidePair> = Vec::new();
    let mut pairs = pairs;
    pairs.sort_by_key(|pair| group[pair.inside as usize]);
    for same in pairs.chunk_by(|a, b| group[a.inside as usize] == group[b.inside as usize]) {
        shortest.extend(same.iter().copied().map(Some).fold(None, OutsidePair::better));
    }
    Ok(shortest.into_iter().map(|pair| (pair.distance, pair.inside, pair.outside)).collect())
}

/// Whether a search of so many points among all takes long.
fn is_much_work(points: &Points, n_searching: usize) -> bool {
    n_searching as u64 * points.values().len() as u64 > MAX_WORK
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

/// The points of each group except `skipped`; of groups of more than `most`, a random sample of that many.
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

    /// Groups that lie apart, touch or contain each other, on a grid with many ties.
    #[test]
    fn frontiers_lose_no_pair() {
        let run = Run::new(0);
        let params = SearchParams::default();
        let mut n_used = 0;
        for (seed, apart) in (0..40).zip([0, 3, 8, 20].iter().cycle()) {
            let (n, d, n_groups) = (400, 7 + seed as usize % 4, 2 + seed as usize % 9);
            let mut draws = Stream::new(seed, Stage::Generator).at(1, 0);
            let group: Vec<u32> = (0..n).map(|i| (i % n_groups) as u32).collect();
            let places: Vec<usize> = (0..n_groups * d).map(|_| draws.below(apart + 1)).collect();
            let value = |at: usize| places[group[at / d] as usize * d + at % d];
            let values = (0..n * d).map(|at| (value(at) + draws.below(3)) as f64).collect();
            let points = Points::new(values, d).unwrap();
            for metric in [Metric::Euclidean, Metric::Cosine] {
                if metric == Metric::Cosine && (0..n).any(|i| points.row(i).iter().all(|v| v == 0.0)) {
                    continue;
                }
                let space = Space::from_points(points.clone(), metric).unwrap();
                let Space::Points(of_metric) = &space else { unreachable!() };
                let PointSearch::Panels(transform) = PointSearch::of(of_metric) else { unreachable!() };
                let search = OutsideSearch::new(&space, &params);
                // The second round joins groups of the first.
                for n_groups in [n_groups, n_groups.div_ceil(2)] {
                    let group: Vec<u32> = group.iter().map(|&group| group % n_groups as u32).collect();
                    let fast = search.nearest(&group, n_groups, 0, &run).unwrap();
                    let mut slow = vec![None; n_groups];
                    for pair in by_scan(&space, &group, 0, &run).unwrap() {
                        let place = &mut slow[group[pair.inside as usize] as usize];
                        *place = OutsidePair::better(*place, Some(pair));
                    }
                    assert_eq!(fast.shortest, slow);
                    let cells = search.cells.get().unwrap().as_ref().unwrap();
                    let found = cells.frontiers(of_metric.points(), transform, &group, n_groups, 0);
                    n_used += u32::from(found.is_some());
                }
            }
        }
        assert!((20..140).contains(&n_used), "{n_used}");
    }

    /// Groups of points all over the place, on a grid with many ties, in rounds that join them.
    #[test]
    fn pairs_of_groups_serve_every_round() {
        let run = Run::new(0);
        let params = SearchParams::default();
        for (seed, n_groups, grid) in [(1, 8, 3), (2, 6, 40), (3, 8, 1000)] {
            let (n, d) = (700, 9);
            let mut draws = Stream::new(seed, Stage::Generator).at(2, 0);
            let points = Points::new((0..n * d).map(|_| draws.below(grid) as f64).collect(), d).unwrap();
            let first: Vec<u32> = (0..n).map(|i| (i % n_groups) as u32).collect();
            let space = Space::from_points(points, Metric::Euclidean).unwrap();
            let search = OutsideSearch::new(&space, &params);
            for n_groups in [n_groups, n_groups.div_ceil(2), 2] {
                let group: Vec<u32> = first.iter().map(|&group| group % n_groups as u32).collect();
                let fast = search.nearest(&group, n_groups, 1, &run).unwrap();
                let mut slow = vec![None; n_groups];
                for pair in by_scan(&space, &group, 1, &run).unwrap() {
                    let place = &mut slow[group[pair.inside as usize] as usize];
                    *place = OutsidePair::better(*place, Some(pair));
                }
                assert_eq!(fast.shortest, slow, "seed {seed}, {n_groups} groups");
            }
            assert!(search.group_pairs.get().is_some(), "seed {seed}");
            // Other groups than those of the first round.
            let other: Vec<u32> = (0..n).map(|i| (i / 350) as u32).collect();
            let found = search.nearest(&other, 2, 0, &run).unwrap().shortest;
            let scanned = by_scan(&space, &other, 0, &run).unwrap();
            assert_eq!(found[1], scanned.into_iter().map(Some).fold(None, OutsidePair::better));
        }
    }

    /// Blobs of thousands of points: both ways find pairs barely longer than the shortest.
    #[test]
    fn large_groups_get_short_pairs() {
        let data = crate::generators::uneven_blobs(6000, 8, 4, 3).unwrap();
        let group: Vec<u32> = data.labels.iter().copied().collect();
        let space = Space::from_points(data.points, Metric::Euclidean).unwrap();
        let Space::Points(points) = &space else { unreachable!() };
        let PointSearch::Panels(transform) = PointSearch::of(points) else { unreachable!() };
        let run = Run::new(0);
        let params = SearchParams::default();
        let search = OutsideSearch::new(&space, &params);
        let exact = search.nearest(&group, 4, 0, &run).unwrap().shortest;
        let points = points.points();
        let cells = CellPairs::new(points, &group, 4).unwrap();
        for found in [
            search.by_representatives(points, transform, &group, 4, 0, &run).unwrap(),
            search
                .of_large_groups(points, transform, &group, &members_of(&group, 0, 256, &run), &run)
                .unwrap(),
            cells.nearest(points, transform, &group, &[1, 2, 3], &run).unwrap(),
            // Again, from what is known.
            cells.nearest(points, transform, &group, &[1, 2, 3], &run).unwrap(),
        ] {
            for own in 1..4 {
                let of_group = found.iter().filter(|pair| group[pair.inside as usize] == own);
                let pair = of_group.copied().map(Some).fold(None, OutsidePair::better).unwrap();
                let shortest = exact[own as usize].unwrap();
                assert!(pair.distance <= 1.15 * shortest.distance, "{pair:?} and {shortest:?}");
            }
        }
    }
}
