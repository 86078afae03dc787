//! Shortest pairs between groups by scanning every pair in single precision, and those that may be short in double precision.

use std::ops::Range;

use rayon::prelude::*;

use super::OutsidePair;
use super::frontier::Frontier;
use crate::distance::SquareTransform;
use crate::error::Result;
use crate::neighbors::f32_points::F32Points;
use crate::neighbors::panels::{GROUP, LANES, Panels, Sink};
use crate::neighbors::tiles::{self, QUERIES, TILE};
use crate::points::Points;
use crate::progress::Run;

/// The shortest pairs from the points of each list, all of one group, to points of other groups.
pub(super) fn by_tiles(
    points: &Points,
    transform: SquareTransform,
    group: &[u32],
    lists: &[Vec<u32>],
    run: &Run<'_>,
) -> Result<Vec<OutsidePair>> {
    if lists.is_empty() {
        return Ok(Vec::new());
    }
    // Group by group: the panels of a group's own points, which are near but do not count, are skipped.
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
    let shortest = Shortest::new(points, transform, &f32_points, group, None);
    let found: Vec<Option<OutsidePair>> = blocks
        .into_par_iter()
        .map(|(rows, own)| {
            run.check()?;
            Ok(shortest.clone().of_block(rows, &panels, [0..own.start, own.end..panels.len()]))
        })
        .collect::<Result<_>>()?;
    Ok(found.into_iter().flatten().collect())
}

/// The same from the frontiers of the groups.
pub(super) fn by_frontiers(
    points: &Points,
    transform: SquareTransform,
    group: &[u32],
    frontiers: &[Frontier],
    run: &Run<'_>,
) -> Result<Vec<OutsidePair>> {
    let f32_points = F32Points::new(points);
    let pack =
        |frontier: &Frontier| Ok(Panels::new(&f32_points, std::iter::once(&frontier.outside[..]), run)?.0);
    let panels: Vec<Panels> = frontiers.iter().map(pack).collect::<Result<_>>()?;
    let blocks = frontiers.par_iter().zip(&panels).flat_map_iter(|(frontier, panels)| {
        frontier.inside.chunks(QUERIES).map(move |rows| (frontier, rows, panels))
    });
    let found: Vec<Option<OutsidePair>> = blocks
        .map(|(frontier, rows, panels)| {
            run.check()?;
            let shortest = Shortest::new(points, transform, &f32_points, group, Some(frontier.known));
            Ok(shortest.of_block(rows, panels, std::iter::once(0..panels.len())))
        })
        .collect::<Result<_>>()?;
    Ok(found.into_iter().flatten().collect())
}

/// The shortest pair found so far that leaves the group of some queries.
#[derive(Clone)]
pub(super) struct Shortest<'a> {
    points: &'a Points,
    transform: SquareTransform,
    f32_points: &'a F32Points<'a>,
    group: &'a [u32],
    /// The queries that are searching.
    rows: &'a [u32],
    best: Option<OutsidePair>,
    /// A score above its bound proves that a pair is longer.
    bounds: [f32; GROUP],
}

impl<'a> Shortest<'a> {
    pub fn new(
        points: &'a Points,
        transform: SquareTransform,
        f32_points: &'a F32Points<'a>,
        group: &'a [u32],
        known: Option<OutsidePair>,
    ) -> Self {
        Self { points, transform, f32_points, group, rows: &[], best: known, bounds: [0.0; GROUP] }
    }

    /// The shortest pair from a block of queries to the points of some panels, if there is one.
    fn of_block(
        mut self,
        rows: &'a [u32],
        panels: &Panels,
        ranges: impl IntoIterator<Item = Range<usize>>,
    ) -> Option<OutsidePair> {
        let groups = self.groups(rows);
        ranges.into_iter().for_each(|range| self.look_at(rows, &groups, panels, range));
        self.best
    }

    /// The shortest pair from a block of queries to each range of panels, if there is one.
    pub fn of_block_by_range(
        mut self,
        rows: &'a [u32],
        panels: &Panels,
        ranges: impl Iterator<Item = Range<usize>>,
    ) -> Vec<OutsidePair> {
        let groups = self.groups(rows);
        let of_ranges = ranges.filter_map(|range| {
            self.best = None;
            self.look_at(rows, &groups, panels, range);
            self.best
        });
        of_ranges.collect()
    }

    fn groups(&self, rows: &[u32]) -> Vec<Vec<f32>> {
        rows.chunks(GROUP).map(|rows| tiles::group(self.f32_points, rows)).collect()
    }

    fn look_at(&mut self, rows: &'a [u32], groups: &[Vec<f32>], panels: &Panels, range: Range<usize>) {
        for first in range.clone().step_by(TILE) {
            let tile = first..(first + TILE).min(range.end);
            for (queries, rows) in groups.iter().zip(rows.chunks(GROUP)) {
                self.turn_to(rows);
                panels.offer(tile.clone(), queries, self);
            }
        }
    }

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
                    let squared = self.transform.square_bound(pair.distance);
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
            let distance =
                self.transform.distance(self.points.row(row as usize), self.points.row(id as usize));
            self.best =
                OutsidePair::better(self.best, Some(OutsidePair { distance, inside: row, outside: id }));
            self.narrow();
        }
    }
}
