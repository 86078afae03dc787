//! Short pairs between groups that are too large to scan every pair. Small groups search as a whole, unless they are so many that this
//! takes long, or there are no large ones after a round in which there were; then they search as large ones do: by the centers of groups or, if there are very many, by sampled representatives, whose
//! pairs are shortened from either end in turn.

use rayon::prelude::*;

use super::by_tiles::by_tiles;
use super::cell_pairs::CellPairs;
use super::{OutsidePair, OutsideSearch, is_much_work, members_of};
use crate::distance::SquareTransform;
use crate::error::Result;
use crate::neighbors::ivf::Ivf;
use crate::points::Points;
use crate::progress::Run;

/// Members sampled to search on behalf of a group; smaller groups search as a whole.
const REPRESENTATIVES: usize = 256;
/// Inverted lists that a member of a small group probes.
const N_PROBE: usize = 8;

impl<'a> OutsideSearch<'a> {
    /// Short pairs leaving every group except `skipped`, perhaps not the shortest.
    pub(super) fn by_representatives(
        &self,
        points: &'a Points,
        transform: SquareTransform,
        group: &[u32],
        n_groups: usize,
        skipped: u32,
        run: &Run<'_>,
    ) -> Result<Vec<OutsidePair>> {
        let searching = members_of(group, skipped, REPRESENTATIVES, run);
        let (mut large, mut small): (Vec<_>, Vec<_>) =
            searching.into_iter().partition(|members| members.len() == REPRESENTATIVES);
        let n_small: usize = small.iter().map(Vec::len).sum();
        let is_much = is_much_work(points, n_small);
        let cells = match large.is_empty() && !is_much && self.cell_pairs.get().is_none() {
            true => None,
            false => self.cell_pairs.get_or_init(|| CellPairs::new(points, group, n_groups)).as_ref(),
        };
        if cells.is_some() && (is_much || large.is_empty()) {
            large.append(&mut small);
        }
        // Groups whose members have found nothing yet.
        let mut unlucky = Vec::new();
        let mut found = Vec::new();
        if is_much && cells.is_none() {
            let ivf = match self.ivf.get() {
                Some(ivf) => ivf,
                None => {
                    let made = Ivf::new(points, transform, 1, run)?;
                    self.ivf.get_or_init(|| made)
                }
            };
            let pairs: Vec<Option<OutsidePair>> = small
                .par_iter()
                .map(|members| {
                    run.check()?;
                    let outside = |row: u32| {
                        ivf.nearest_where(row, N_PROBE, |id| group[id as usize] != group[row as usize])
                    };
                    let pairs = members.iter().map(|&inside| {
                        outside(inside).map(|(distance, outside)| OutsidePair { distance, inside, outside })
                    });
                    Ok(pairs.fold(None, OutsidePair::better))
                })
                .collect::<Result<_>>()?;
            for (members, pair) in small.into_iter().zip(pairs) {
                match pair {
                    Some(pair) => found.push(pair),
                    // All nearby points belong to the same group.
                    None => unlucky.push(members),
                }
            }
        } else {
            unlucky = small;
        }
        found.extend(by_tiles(points, transform, group, &unlucky, run)?);
        if large.is_empty() {
            return Ok(found);
        }
        let of_large = match cells {
            Some(cells) => {
                let mut groups: Vec<u32> = large.iter().map(|members| group[members[0] as usize]).collect();
                groups.sort_unstable();
                cells.nearest(points, transform, group, &groups, run)?
            }
            None => self.of_large_groups(points, transform, group, &large, run)?,
        };
        found.extend(of_large);
        Ok(found)
    }

    /// What sampled representatives of each group find, shortened.
    pub(super) fn of_large_groups(
        &self,
        points: &Points,
        transform: SquareTransform,
        group: &[u32],
        representatives: &[Vec<u32>],
        run: &Run<'_>,
    ) -> Result<Vec<OutsidePair>> {
        let pairs = by_tiles(points, transform, group, representatives, run)?;
        let shortened = pairs.into_par_iter().map(|pair| {
            run.check()?;
            Ok(shorten(pair, points, transform, group))
        });
        shortened.collect()
    }
}

/// Replaces the inner end by the nearest point of the group to the outer end, then the outer end by the nearest point outside to the
/// inner one, until neither changes.
fn shorten(pair: OutsidePair, points: &Points, transform: SquareTransform, group: &[u32]) -> OutsidePair {
    let own = group[pair.inside as usize];
    let nearest = |to: u32, is_inside: bool| {
        let candidates = (0..points.len() as u32).filter(|&i| (group[i as usize] == own) == is_inside);
        let pairs = candidates.map(|i| {
            let distance = transform.distance(points.row(i as usize), points.row(to as usize));
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
