//! Shortest pairs between groups by a k-d tree.

use rayon::prelude::*;

use super::OutsidePair;
use crate::distance::SquareTransform;
use crate::error::Result;
use crate::neighbors::tree::Tree;
use crate::points::Points;
use crate::progress::Run;

/// Pairs leaving the groups except `skipped`; the shortest ones are among them.
pub(super) fn by_tree(
    points: &Points,
    transform: SquareTransform,
    group: &[u32],
    skipped: u32,
    run: &Run<'_>,
) -> Result<Vec<OutsidePair>> {
    let tree = Tree::new(points);
    // The group of every subtree that lies in a single group.
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
            // Queries of a chunk are near each other: the best pair of a group so far bounds its next query.
            let mut best: Vec<OutsidePair> = Vec::new();
            for &query in queries.iter().filter(|&&query| group[query as usize] != skipped) {
                let own = group[query as usize];
                let place = best.iter().position(|pair| group[pair.inside as usize] == own);
                let mut found = place.map(|place| best[place]);
                let bound = |found: Option<OutsidePair>| {
                    found.map_or(f64::INFINITY, |pair| transform.square_bound(pair.distance))
                };
                tree.search(
                    points.row(query as usize),
                    bound(found),
                    &|node| common[node] == Some(own),
                    &mut |id, squared| {
                        if group[id as usize] != own {
                            let distance = transform.distance_at(squared);
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
