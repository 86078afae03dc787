//! The points that can be an end of a shortest pair between groups. The triangle inequality excludes the others: a point
//! at distance t from the center of a cell is at least t − r from the points in it, with r the radius of the cell. Of groups that
//! lie apart only the sides that face each other are left.

use rayon::prelude::*;

use super::OutsidePair;
use crate::distance::{Columns, SquareTransform};
use crate::points::Points;

/// Cells have at least so many points on average: otherwise the distances to all centers take as long as the search.
const POINTS_PER_CELL: usize = 32;
/// Maximum number of cells: what is known of every pair of them must stay small.
const MAX_CELLS: usize = 64;
/// Points per chunk.
const CHUNK: usize = 512;
/// A frontier that keeps more pairs of a group and a point, for each point of a chunk, excludes too little to be worth its memory.
const MAX_KEPT: usize = 4;
/// Covers the rounding of distances, relative to them, and their underflow.
const SLACK: (f64, f64) = (1e-9, 1e-150);

/// Where a shortest pair that leaves a group can lie.
pub(super) struct Frontier {
    /// A short pair, perhaps not the shortest.
    pub known: OutsidePair,
    /// Points of the group.
    pub inside: Vec<u32>,
    /// Points of other groups.
    pub outside: Vec<u32>,
}

/// The groups of the first round. Those of later rounds consist of them.
pub(super) struct Cells {
    of_points: Vec<u32>,
    centers: Columns,
    extent: Extent,
}

/// What one or all chunks of points tell of the cells.
struct Extent {
    /// Distance of the farthest point from the center of each cell.
    radii: Vec<f64>,
    /// For each pair of cells (a, b) how near a point of a comes to the center of b, and which does.
    facing: Vec<(f64, u32)>,
}

impl Extent {
    fn new(n_cells: usize) -> Self {
        Self { radii: vec![0.0; n_cells], facing: vec![(f64::INFINITY, u32::MAX); n_cells * n_cells] }
    }

    fn joined(mut self, other: Self) -> Self {
        self.radii.iter_mut().zip(other.radii).for_each(|(own, other)| *own = own.max(other));
        for (own, other) in self.facing.iter_mut().zip(other.facing) {
            if other < *own {
                *own = other;
            }
        }
        self
    }
}

impl Cells {
    /// `None` if there are too many cells, or one is empty.
    pub fn new(points: &Points, of_points: &[u32], n_cells: usize) -> Option<Self> {
        if n_cells > MAX_CELLS || n_cells * POINTS_PER_CELL > points.len() {
            return None;
        }
        let centers = centers(points, of_points, n_cells)?;
        let mut cells = Self { of_points: of_points.to_vec(), centers, extent: Extent::new(n_cells) };
        let extents: Vec<Extent> = cells.in_chunks(
            points,
            || Extent::new(n_cells),
            |extent, i, own, distances| {
                extent.radii[own] = extent.radii[own].max(distances[own]);
                let facing = &mut extent.facing[own * n_cells..(own + 1) * n_cells];
                for (nearest, &distance) in
                    facing.iter_mut().zip(distances).filter(|(old, new)| **new < old.0)
                {
                    *nearest = (distance, i);
                }
            },
        );
        cells.extent = extents.into_iter().fold(cells.extent, Extent::joined);
        Some(cells)
    }

    fn len(&self) -> usize {
        self.extent.radii.len()
    }

    /// Passes each point, its cell and its distances to all centers to `work`, in chunks of points.
    fn in_chunks<T: Send>(
        &self,
        points: &Points,
        start: impl Fn() -> T + Sync,
        work: impl Fn(&mut T, u32, usize, &[f64]) + Sync,
    ) -> Vec<T> {
        let chunks = self.of_points.par_chunks(CHUNK).enumerate().map(|(chunk, cells)| {
            let mut found = start();
            let mut distances = vec![0.0; self.len()];
            for (i, &own) in (chunk * CHUNK..).zip(cells) {
                self.centers.squared_from(points.row(i), &mut distances);
                distances.iter_mut().for_each(|value| *value = value.sqrt());
                work(&mut found, i as u32, own as usize, &distances);
            }
            found
        });
        chunks.collect()
    }

    /// The frontier of every group except `skipped`; `None` if the groups do not consist of cells, or are so close to each other that
    /// it excludes little.
    pub fn frontiers(
        &self,
        points: &Points,
        transform: SquareTransform,
        group: &[u32],
        n_groups: usize,
        skipped: u32,
    ) -> Option<Vec<Frontier>> {
        let mut group_of = vec![0; self.len()];
        self.of_points.iter().zip(group).for_each(|(&cell, &group)| group_of[cell as usize] = group);
        if self.of_points.iter().zip(group).any(|(&cell, &group)| group_of[cell as usize] != group) {
            return None;
        }
        let known = self.known_pairs(points, transform, &group_of, n_groups)?;
        let reach: Vec<f64> = known.iter().map(|pair| transform.square_bound(pair.distance).sqrt()).collect();
        let is_near = |cell: usize, distance: f64, group: u32| {
            let reach = reach[group as usize] + self.extent.radii[cell];
            distance <= reach * (1.0 + SLACK.0) + SLACK.1
        };
        let is_full = |kept: &Vec<(u32, u32)>| kept.len() > MAX_KEPT * CHUNK;
        // Pairs of a group and a point, inside or outside it.
        let kept: Vec<Vec<(u32, u32)>> = self.in_chunks(points, Vec::new, |kept, i, own, distances| {
            if is_full(kept) {
                return;
            }
            let begin = kept.len();
            let own = group_of[own];
            for (cell, &distance) in distances.iter().enumerate().filter(|(cell, _)| group_of[*cell] != own) {
                for group in [own, group_of[cell]] {
                    if is_near(cell, distance, group) && !kept[begin..].contains(&(group, i)) {
                        kept.push((group, i));
                    }
                }
            }
        });
        if kept.iter().any(is_full) {
            return None;
        }
        let empty = |known: &OutsidePair| Frontier { known: *known, inside: Vec::new(), outside: Vec::new() };
        let mut frontiers: Vec<Frontier> = known.iter().map(empty).collect();
        for (of, i) in kept.into_iter().flatten().filter(|(of, _)| *of != skipped) {
            let frontier = &mut frontiers[of as usize];
            if group[i as usize] == of { &mut frontier.inside } else { &mut frontier.outside }.push(i);
        }
        frontiers.remove(skipped as usize);
        let n_pairs: usize = frontiers.iter().map(|one| one.inside.len() * one.outside.len()).sum();
        (n_pairs < points.len() * points.len() / 4).then_some(frontiers)
    }

    /// A short pair that leaves each group: the shortest between two cells' points that face each other.
    fn known_pairs(
        &self,
        points: &Points,
        transform: SquareTransform,
        group_of: &[u32],
        n_groups: usize,
    ) -> Option<Vec<OutsidePair>> {
        let mut known = vec![None; n_groups];
        for (a, b) in (0..self.len()).flat_map(|a| (0..self.len()).map(move |b| (a, b))) {
            let [inside, outside] = [(a, b), (b, a)].map(|(a, b)| self.extent.facing[a * self.len() + b].1);
            // Distances that are not finite are not the nearest of anything.
            if group_of[a] != group_of[b] && inside != u32::MAX && outside != u32::MAX {
                let distance = transform.distance(points.row(inside as usize), points.row(outside as usize));
                let place = &mut known[group_of[a] as usize];
                *place = OutsidePair::better(*place, Some(OutsidePair { distance, inside, outside }));
            }
        }
        known.into_iter().collect()
    }
}

/// The mean of every cell; `None` if one is empty.
fn centers(points: &Points, of_points: &[u32], n_cells: usize) -> Option<Columns> {
    let d = points.n_columns();
    let (mut sums, mut sizes) = (vec![0.0; n_cells * d], vec![0.0; n_cells]);
    for (i, &own) in of_points.iter().enumerate() {
        sizes[own as usize] += 1.0;
        let sum = &mut sums[own as usize * d..(own as usize + 1) * d];
        sum.iter_mut().zip(points.row(i).iter()).for_each(|(sum, value)| *sum += value);
    }
    for (sum, size) in sums.chunks_exact_mut(d).zip(&sizes) {
        sum.iter_mut().for_each(|value| *value /= size);
    }
    let mut columns = Columns::default();
    columns.fill(d, sums.chunks_exact(d));
    sizes.iter().all(|size| *size > 0.0).then_some(columns)
}
