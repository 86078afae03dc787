//! For each group of points, the shortest distance to a point of another group: one Borůvka round.

use std::ops::Range;

use rayon::prelude::*;

use super::tiles::{QUERIES, SinglePoints, next_at_most};
use super::tree::{Tree, of_square, square_bound};
use super::{MetricPoints, Space, TREE_COLUMNS, sparse};
use crate::distance::Metric;
use crate::error::Result;
use crate::points::Points;
use crate::progress::Run;

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

/// The shortest pair out of each group that has one, except group `skipped`.
///
/// With all other groups looking outwards the skipped one (best the largest) need not look itself.
///
/// # Panics
/// If `space` is a neighbour graph, which does not know outside distances.
pub(crate) fn nearest_outside(
    space: &Space,
    group: &[u32],
    n_groups: usize,
    skipped: u32,
    run: &Run<'_>,
) -> Result<Vec<Option<OutsidePair>>> {
    let found = match space {
        Space::Points(MetricPoints { points, metric }) if *metric != Metric::Manhattan => {
            if points.n_columns() <= TREE_COLUMNS {
                by_tree(points, *metric, group, skipped, run)?
            } else {
                by_tiles(points, *metric, group, skipped, run)?
            }
        }
        // For a fixed point inside, the nearest outside with the lowest id has the lowest key, too.
        Space::Sparse(points) => sparse::nearest_in_other_groups(points, group, skipped, run)?
            .into_iter()
            .map(|(inside, outside, distance)| OutsidePair { distance, inside, outside })
            .collect(),
        Space::Neighbors(_) => panic!("a neighbour graph has no distances to points outside it"),
        _ => by_scan(space, group, skipped, run)?,
    };
    let mut shortest = vec![None; n_groups];
    for pair in found {
        let place = &mut shortest[group[pair.inside as usize] as usize];
        *place = OutsidePair::better(*place, Some(pair));
    }
    Ok(shortest)
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

fn by_tiles(
    points: &Points,
    metric: Metric,
    group: &[u32],
    skipped: u32,
    run: &Run<'_>,
) -> Result<Vec<OutsidePair>> {
    // Groups one after the other: a group's own points, which are near and of no interest, are then simply left out.
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    order.sort_by_key(|&i| (group[i as usize], i));
    let points = points.select(&order);
    let single = SinglePoints::new(&points);
    let n = points.len();
    let mut blocks: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    let mut begin = 0;
    for members in order.chunk_by(|&a, &b| group[a as usize] == group[b as usize]) {
        let own = begin..begin + members.len();
        if group[members[0] as usize] != skipped {
            let starts = own.clone().step_by(QUERIES);
            blocks.extend(starts.map(|start| (start..(start + QUERIES).min(own.end), own.clone())));
        }
        begin = own.end;
    }
    let found: Vec<Option<OutsidePair>> = blocks
        .into_par_iter()
        .map(|(queries, own)| {
            run.check()?;
            let mut best: Option<OutsidePair> = None;
            for among in [0..own.start, own.end..n] {
                single.for_each_tile(queries.start, queries.end, among, |query, first, scores| {
                    // Rounded up: a score above this proves a pair to be longer than the best one so far.
                    let limit = |best: &Option<OutsidePair>| match best {
                        None => f32::INFINITY,
                        Some(pair) => {
                            (single.limit(query, square_bound(metric, pair.distance)) as f32).next_up()
                        }
                    };
                    let mut next = next_at_most(scores, 0, limit(&best));
                    while let Some(place) = next {
                        let candidate = first + place;
                        let distance = metric.distance(points.row(query), points.row(candidate));
                        let pair = OutsidePair { distance, inside: order[query], outside: order[candidate] };
                        best = OutsidePair::better(best, Some(pair));
                        next = next_at_most(scores, place + 1, limit(&best));
                    }
                });
            }
            Ok(best)
        })
        .collect::<Result<_>>()?;
    Ok(found.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Stage, Stream};
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
            let fast = nearest_outside(&space, &group, n_groups as usize, 0, &run).unwrap();
            let mut slow = vec![None; n_groups as usize];
            for pair in by_scan(&space, &group, 0, &run).unwrap() {
                let place = &mut slow[group[pair.inside as usize] as usize];
                *place = OutsidePair::better(*place, Some(pair));
            }
            prop_assert_eq!(fast, slow);
        }
    }
}
