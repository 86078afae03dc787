//! Short pairs between large groups: from the centers of cells to each other, from either end in turn.
//!
//! The nearest point of one cell to the center of another faces it; the nearest point of the other cell to that point, the nearest
//! point of the first to this one, and so on, end in a pair that is short, though perhaps not the shortest. The work grows with the
//! number of points in two cells rather than with all pairs of points, and what was found for two cells serves every later round.

use std::collections::BTreeMap;
use std::sync::Mutex;

use rayon::prelude::*;

use super::OutsidePair;
use crate::distance::{Columns, SquareTransform};
use crate::error::Result;
use crate::points::{Numbers, Points};
use crate::progress::Run;

/// Maximum number of pairs of cells, times columns: every round computes the distances between all centers. All rounds took 2 s for a
/// ninth of this; inverted lists took 50 s for a fifth of it.
const MAX_WORK: u64 = 4_000_000_000;
/// Cells around each cell that are considered in a round.
const NEAREST: usize = 6;
/// Points of a cell nearest to the center of the other from which a search starts.
const STARTS: usize = 3;

/// The groups of the first round, and the short pairs found between them so far. The groups of later rounds consist of them.
pub(super) struct CellPairs {
    /// The points of each cell.
    members: Vec<Vec<u32>>,
    centers: Vec<f64>,
    /// The same, packed.
    columns: Columns,
    found: Mutex<BTreeMap<(u32, u32), OutsidePair>>,
}

impl CellPairs {
    /// `None` if there are too many cells.
    pub fn new(points: &Points, of_points: &[u32], n_cells: usize) -> Option<Self> {
        let d = points.n_columns();
        if (n_cells as u64).pow(2) * d as u64 > MAX_WORK {
            return None;
        }
        let mut members = vec![Vec::new(); n_cells];
        (0..).zip(of_points).for_each(|(i, &own)| members[own as usize].push(i));
        let center_of = |members: &Vec<u32>| {
            let mut center = vec![0.0; d];
            for &i in members {
                center.iter_mut().zip(points.row(i as usize).iter()).for_each(|(sum, value)| *sum += value);
            }
            center.iter_mut().for_each(|value| *value /= members.len() as f64);
            center
        };
        let centers: Vec<f64> = members.par_iter().flat_map_iter(center_of).collect();
        let mut columns = Columns::default();
        columns.fill(d, centers.chunks_exact(d));
        Some(Self { members, centers, columns, found: Mutex::new(BTreeMap::new()) })
    }

    /// Short pairs that leave each of the groups `searching`. Every group consists of cells.
    pub fn nearest(
        &self,
        points: &Points,
        transform: SquareTransform,
        group: &[u32],
        searching: &[u32],
        run: &Run<'_>,
    ) -> Result<Vec<OutsidePair>> {
        let group_of = |cell: u32| group[self.members[cell as usize][0] as usize];
        let is_searching = |group: u32| searching.binary_search(&group).is_ok();
        let n_cells = self.members.len() as u32;
        let groups: Vec<u32> = (0..n_cells).map(group_of).collect();
        let own_cells = (0..n_cells).into_par_iter().filter(|&own| is_searching(groups[own as usize]));
        let pairs = own_cells.flat_map_iter(|own| {
            let outside = self.nearest_cells(own, &groups);
            outside.into_iter().map(move |cell| (own.min(cell), own.max(cell)))
        });
        let mut pairs: Vec<(u32, u32)> = pairs.collect();
        pairs.sort_unstable();
        pairs.dedup();
        let known = self.found.lock().expect("nothing panics while it is locked").clone();
        let searched: Vec<((u32, u32), OutsidePair)> = pairs
            .par_iter()
            .filter(|cells| !known.contains_key(cells))
            .map(|&cells| {
                run.check()?;
                Ok((cells, self.between(points, transform, cells)))
            })
            .collect::<Result<_>>()?;
        let mut found = self.found.lock().expect("nothing panics while it is locked");
        found.extend(searched);
        // Seen from either end: the caller takes the best of every group.
        let of_pairs = pairs.iter().map(|cells| found[cells]);
        let both = of_pairs
            .flat_map(|pair| [pair, OutsidePair { inside: pair.outside, outside: pair.inside, ..pair }]);
        Ok(both.filter(|pair| is_searching(group[pair.inside as usize])).collect())
    }

    /// The cells of other groups with the nearest centers.
    fn nearest_cells(&self, own: u32, groups: &[u32]) -> Vec<u32> {
        let d = self.centers.len() / self.members.len();
        let center = &self.centers[own as usize * d..(own as usize + 1) * d];
        let mut squared = vec![0.0; groups.len()];
        self.columns.squared_from(center.into(), &mut squared);
        let cells = (0..).zip(&squared).zip(groups).filter(|(_, group)| **group != groups[own as usize]);
        let mut outside: Vec<(f64, u32)> = cells.map(|((cell, squared), _)| (*squared, cell)).collect();
        if outside.len() > NEAREST {
            outside.select_nth_unstable_by(NEAREST, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            outside.truncate(NEAREST);
        }
        outside.into_iter().map(|(_, cell)| cell).collect()
    }

    /// A short pair between two cells.
    fn between(&self, points: &Points, transform: SquareTransform, (a, b): (u32, u32)) -> OutsidePair {
        let d = points.n_columns();
        let center = &self.centers[b as usize * d..(b as usize + 1) * d];
        let (own, other) = (&self.members[a as usize], &self.members[b as usize]);
        let to_each = |from: Numbers<'_>, to: &[u32]| {
            let mut distances = Vec::new();
            transform.distances_to_each(from, to, |i| points.row(i), &mut distances);
            distances.into_iter().zip(to.iter().copied()).collect::<Vec<(f64, u32)>>()
        };
        let mut facing = to_each(center.into(), own);
        let starts = STARTS.min(facing.len());
        let by_distance = |x: &(f64, u32), y: &(f64, u32)| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1));
        facing.select_nth_unstable_by(starts - 1, by_distance);
        facing[..starts].sort_unstable_by(by_distance);
        // What was found from a point serves every start that comes by.
        let mut visited: BTreeMap<u32, (f64, u32)> = BTreeMap::new();
        let mut nearest = |from: u32, to: &[u32]| {
            *visited.entry(from).or_insert_with(|| {
                let all = to_each(points.row(from as usize), to);
                all.into_iter().min_by(by_distance).expect("a cell has points")
            })
        };
        let shortest = facing[..starts].iter().map(|&(_, start)| {
            let (distance, outside) = nearest(start, other);
            let mut best = OutsidePair { distance, inside: start, outside };
            loop {
                let (distance, inside) = nearest(best.outside, own);
                let inward = OutsidePair { distance, inside, ..best };
                let (distance, outside) = nearest(inward.inside, other);
                let outward = OutsidePair { distance, outside, ..inward };
                match outward.distance < best.distance {
                    true => best = outward,
                    false => return best,
                }
            }
        });
        shortest.map(Some).fold(None, OutsidePair::better).expect("at least one start")
    }
}
