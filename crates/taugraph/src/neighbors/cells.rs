//! Cells that many machines share: centers found on a sample, and a search that compares a point only with those in given cells.
//!
//! Which cells a point belongs to and probes depends on the point and on the centers alone, and the search within them is exact: however the
//! cells are spread, the same neighbors are found.

use std::collections::HashMap;

use rayon::prelude::*;

use super::best::{Best, ShortList};
use super::f32_points::{F32Points, Frame};
use super::panels::{GROUP, Panels};
use super::partition::{Centroids, Partition};
use super::scan::write_row;
use super::search::Rows;
use super::tiles::{QUERIES, ShortLists, group, kept};
use crate::distance::{Geometry, Metric, SquareTransform};
use crate::error::{Error, Result};
use crate::points::Points;
use crate::progress::Run;

/// Centers of cells, and the frame in which points are compared with them.
pub struct Cells {
    frame: Frame,
    centroids: Centroids,
}

impl Cells {
    /// About so many cells, by k-means on a sample of the points.
    pub fn train(sample: &Points, n_cells: usize, run: &Run<'_>) -> Result<Self> {
        let mut points = F32Points::new(sample);
        let partition = Partition::new(&mut points, sample.len().div_ceil(n_cells.max(1)), run)?;
        Ok(Self { frame: points.frame().clone(), centroids: partition.centroids })
    }

    /// Cells with the given centers, row by row.
    pub fn new(frame: Frame, centers: Vec<f32>) -> Result<Self> {
        let n_columns = frame.mean.len();
        if n_columns == 0 || centers.is_empty() || !centers.len().is_multiple_of(n_columns) {
            return Err(Error::Length { what: "cell centers", expected: n_columns, received: centers.len() });
        }
        Ok(Self { frame, centroids: Centroids::new(centers, n_columns) })
    }

    /// The frame in which points are compared.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// The centers, row by row.
    pub fn centers(&self) -> &[f32] {
        self.centroids.rows()
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.centroids.len()
    }

    /// Never: there is at least one cell.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The cell of each point: that with the nearest center.
    pub fn of_points(&self, points: &Points, run: &Run<'_>) -> Result<Vec<u32>> {
        let all: Vec<u32> = (0..points.len() as u32).collect();
        self.centroids.assign(&F32Points::in_frame(points, self.frame.clone()), &all, run)
    }

    /// The `n_probe` cells of each point whose centers are nearest, nearest first; all cells if there are fewer.
    pub fn nearest(&self, points: &Points, n_probe: usize, run: &Run<'_>) -> Result<Vec<u32>> {
        let in_frame = F32Points::in_frame(points, self.frame.clone());
        let width = n_probe.min(self.len());
        let mut found = vec![0; points.len() * width];
        found.par_chunks_mut(width).with_min_len(GROUP).enumerate().try_for_each(|(row, cells)| {
            run.check()?;
            cells.copy_from_slice(&self.centroids.nearest(&in_frame, row as u32, n_probe));
            Ok(())
        })?;
        Ok(found)
    }
}

/// The cells that each query probes, as compressed rows.
#[derive(Debug, Clone, Copy)]
pub struct Probes<'a> {
    /// Where the cells of each query begin, and where those of the last one end.
    pub offsets: &'a [u64],
    /// The cells.
    pub cells: &'a [u32],
}

impl<'a> Probes<'a> {
    fn of(&self, query: usize) -> &'a [u32] {
        &self.cells[self.offsets[query] as usize..self.offsets[query + 1] as usize]
    }
}

/// Points in cells, searched by queries that probe some of them.
pub struct CellSearch<'a> {
    points: F32Points<'a>,
    /// Global ids of the points, ascending.
    ids: &'a [u32],
    transform: SquareTransform,
    /// The points, cell after cell, in ascending order within each.
    order: Vec<u32>,
    /// Where each cell begins in `order`, and the first of its panels; and the ends.
    bounds: Vec<(usize, usize)>,
    /// The place of a cell in `bounds`.
    places: HashMap<u32, usize>,
    panels: Panels,
}

impl<'a> CellSearch<'a> {
    /// Points with their global ids, in ascending order, and cells.
    pub fn new(
        points: &'a Points,
        ids: &'a [u32],
        cell_of_point: &[u32],
        metric: Metric,
        frame: &Frame,
        run: &Run<'_>,
    ) -> Result<Self> {
        let Geometry::SquaredEuclidean(transform) = metric.geometry() else {
            return Err(Error::Parameter {
                name: "metric".into(),
                value: metric.name().into(),
                rule: "must be one whose distances follow from Euclidean ones, since points are divided into cells".into(),
            });
        };
        for received in [ids.len(), cell_of_point.len()] {
            if received != points.len() {
                return Err(Error::Length { what: "points of cells", expected: points.len(), received });
            }
        }
        let mut order: Vec<u32> = (0..points.len() as u32).collect();
        order.sort_by_key(|&point| cell_of_point[point as usize]);
        let same_cell = |a: &u32, b: &u32| cell_of_point[*a as usize] == cell_of_point[*b as usize];
        let in_frame = F32Points::in_frame(points, frame.clone());
        let (panels, first_panels) = Panels::new(&in_frame, order.chunk_by(same_cell), run)?;
        let (mut bounds, mut places, mut begin) = (Vec::new(), HashMap::new(), 0);
        for (members, &panel) in order.chunk_by(same_cell).zip(&first_panels) {
            places.insert(cell_of_point[members[0] as usize], bounds.len());
            bounds.push((begin, panel));
            begin += members.len();
        }
        bounds.push((begin, panels.len()));
        Ok(Self { points: in_frame, ids, transform, order, bounds, places, panels })
    }

    /// Ids and distances of the `k` nearest points of each query in the cells that it probes, nearest first, ties by id. A point is not its own
    /// neighbor. If there are fewer, the rest is `u32::MAX` and infinite.
    pub fn nearest(
        &self,
        queries: &Points,
        query_ids: &[u32],
        probes: Probes<'_>,
        k: usize,
        run: &Run<'_>,
    ) -> Result<Rows> {
        if probes.offsets.len() != queries.len() + 1 || query_ids.len() != queries.len() {
            return Err(Error::Length { what: "probes", expected: queries.len(), received: query_ids.len() });
        }
        let in_frame = F32Points::in_frame(queries, self.points.frame().clone());
        // Queries that probe the same cells are searched together.
        let mut order: Vec<u32> = (0..queries.len() as u32).collect();
        order.sort_by_key(|&query| probes.of(query as usize).first().copied());
        let found: Vec<Rows> = order
            .par_chunks(QUERIES)
            .map(|rows| {
                run.check()?;
                run.progress.advance(rows.len() as u64);
                Ok(self.nearest_of_block(&in_frame, rows, query_ids, probes, k))
            })
            .collect::<Result<_>>()?;
        let (mut ids, mut distances) =
            (vec![u32::MAX; queries.len() * k], vec![f64::INFINITY; queries.len() * k]);
        for (rows, (block_ids, block_distances)) in order.chunks(QUERIES).zip(&found) {
            for (place, &row) in rows.iter().enumerate() {
                let (to, from) = (row as usize * k..(row as usize + 1) * k, place * k..(place + 1) * k);
                ids[to.clone()].copy_from_slice(&block_ids[from.clone()]);
                distances[to].copy_from_slice(&block_distances[from]);
            }
        }
        Ok((ids, distances))
    }

    fn nearest_of_block(
        &self,
        queries: &F32Points<'_>,
        rows: &[u32],
        query_ids: &[u32],
        probes: Probes<'_>,
        k: usize,
    ) -> Rows {
        let own: Vec<u32> = rows.iter().map(|&row| self.place_of(query_ids[row as usize])).collect();
        let mut shorts: Vec<ShortList> = rows.iter().map(|_| ShortList::new(kept(k))).collect();
        for (cell, visitors) in self.visitors(rows, probes) {
            let panels = self.bounds[cell].1..self.bounds[cell + 1].1;
            for places in visitors.chunks(GROUP) {
                let mut excluded = [u32::MAX; GROUP];
                excluded
                    .iter_mut()
                    .zip(places)
                    .for_each(|(excluded, &place)| *excluded = own[place as usize]);
                let ids: Vec<u32> = places.iter().map(|&place| rows[place as usize]).collect();
                let sink = &mut ShortLists::new(&mut shorts, places, excluded);
                self.panels.offer(panels.clone(), &group(queries, &ids), sink);
            }
        }
        let (mut ids, mut distances) = (vec![u32::MAX; rows.len() * k], vec![f64::INFINITY; rows.len() * k]);
        let mut best = Best::new(k);
        for (place, (&row, short)) in rows.iter().zip(&mut shorts).enumerate() {
            let cells = probes.of(row as usize);
            self.decide(queries, row, own[place], cells, short, &mut best);
            let found = best.pairs();
            let (ids, distances) =
                (&mut ids[place * k..][..found.len()], &mut distances[place * k..][..found.len()]);
            write_row(found, ids, distances);
            ids.iter_mut().for_each(|id| *id = self.ids[*id as usize]);
        }
        (ids, distances)
    }

    /// The place of a point, or `u32::MAX` if it is not here.
    fn place_of(&self, id: u32) -> u32 {
        self.ids.binary_search(&id).map_or(u32::MAX, |place| place as u32)
    }

    /// The cells that are here and probed by these rows, with the places of the rows.
    fn visitors(&self, rows: &[u32], probes: Probes<'_>) -> Vec<(usize, Vec<u32>)> {
        let mut pairs: Vec<(usize, u32)> = Vec::new();
        for (place, &row) in rows.iter().enumerate() {
            let here = probes.of(row as usize).iter().filter_map(|cell| self.places.get(cell));
            pairs.extend(here.map(|&cell| (cell, place as u32)));
        }
        pairs.sort_unstable();
        pairs.dedup();
        let of_cells = pairs.chunk_by(|a, b| a.0 == b.0);
        of_cells.map(|pairs| (pairs[0].0, pairs.iter().map(|pair| pair.1).collect())).collect()
    }

    /// Leaves the nearest points of a query in `best`, by their places: from its short list if that certainly holds them all, otherwise from all
    /// points of the cells.
    fn decide(
        &self,
        queries: &F32Points<'_>,
        query: u32,
        own: u32,
        cells: &[u32],
        short: &mut ShortList,
        best: &mut Best<f64>,
    ) {
        let row = queries.exact_row(query as usize);
        let distance = |&place: &u32| self.transform.distance(row, self.points.exact_row(place as usize));
        let listed: Vec<u32> = short.candidates().iter().map(|&(_, place)| place).collect();
        best.fill(listed.iter().map(distance).zip(listed.iter().copied()));
        let mut here: Vec<usize> = cells.iter().filter_map(|cell| self.places.get(cell).copied()).collect();
        here.sort_unstable();
        here.dedup();
        let members = || {
            let of_cells =
                here.iter().flat_map(|&cell| &self.order[self.bounds[cell].0..self.bounds[cell + 1].0]);
            of_cells.copied().filter(|&place| place != own)
        };
        if listed.len() == members().count() {
            return;
        }
        let farthest = best.bound().map_or(f64::INFINITY, |bound| self.transform.square_bound(bound));
        // Every point that is not listed scores at least the bound of the list.
        if f64::from(short.bound()) <= queries.limit(query as usize, farthest) {
            best.fill(members().map(|place| (distance(&place), place)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbors::{Space, nearest_neighbors};
    use crate::random::{Stage, Stream};

    /// Points on a grid, so that there are ties and copies of scores.
    fn points(n: usize, d: usize, grid: usize) -> Points {
        let mut draws = Stream::new(9, Stage::Generator).at(0, 0);
        let mut values: Vec<f64> = (0..n * d).map(|_| draws.below(grid) as f64).collect();
        // One coordinate tells all points apart.
        (0..n).for_each(|row| values[row * d] += row as f64 / (4 * n) as f64);
        Points::new(values, d).unwrap()
    }

    /// The neighbors of all points when the points are spread over so many machines, by cell.
    fn spread(points: &Points, n_machines: u32, n_probe: usize, k: usize, metric: Metric) -> Rows {
        let run = Run::new(2);
        let cells = Cells::train(points, 12, &run).unwrap();
        let cell_of_point = cells.of_points(points, &run).unwrap();
        let probed = cells.nearest(points, n_probe, &run).unwrap();
        let width = n_probe.min(cells.len()) as u64;
        let offsets: Vec<u64> = (0..=points.len() as u64).map(|row| row * width).collect();
        let probes = Probes { offsets: &offsets, cells: &probed };
        let ids: Vec<u32> = (0..points.len() as u32).collect();
        let mut merged: Vec<Best<f64>> = ids.iter().map(|_| Best::new(k)).collect();
        for machine in 0..n_machines {
            let own: Vec<u32> = ids
                .iter()
                .copied()
                .filter(|&id| cell_of_point[id as usize] % n_machines == machine)
                .collect();
            if own.is_empty() {
                continue;
            }
            let (here, own_cells) =
                (points.select(&own), own.iter().map(|&id| cell_of_point[id as usize]).collect::<Vec<_>>());
            let search = CellSearch::new(&here, &own, &own_cells, metric, cells.frame(), &run).unwrap();
            let (found, distances) = search.nearest(points, &ids, probes, k, &run).unwrap();
            for ((best, ids), distances) in
                merged.iter_mut().zip(found.chunks_exact(k)).zip(distances.chunks_exact(k))
            {
                let pairs = distances.iter().zip(ids).filter(|(_, id)| **id != u32::MAX);
                pairs.for_each(|(&distance, &id)| best.offer(distance, id));
            }
        }
        let pairs: Vec<(f64, u32)> = merged.iter().flat_map(|best| best.pairs().iter().copied()).collect();
        (pairs.iter().map(|pair| pair.1).collect(), pairs.iter().map(|pair| pair.0).collect())
    }

    #[test]
    fn all_cells_give_the_exact_neighbors() {
        for metric in [Metric::Euclidean, Metric::Cosine] {
            let raw = points(300, 8, 3);
            let space = Space::from_points(raw, metric).unwrap();
            let Space::Points(prepared) = &space else { unreachable!() };
            let exact = nearest_neighbors(&space, 6, &Run::new(0)).unwrap();
            for n_machines in [1, 3, 7] {
                let (ids, distances) = spread(prepared.points(), n_machines, usize::MAX, 6, metric);
                assert_eq!((ids, distances), (exact.ids.clone(), exact.distances.clone()), "{n_machines}");
            }
        }
    }

    #[test]
    fn few_cells_give_the_same_however_they_are_spread() {
        let points = points(400, 10, 5);
        let one = spread(&points, 1, 4, 5, Metric::Euclidean);
        assert_ne!(one, spread(&points, 1, 12, 5, Metric::Euclidean));
        for n_machines in [2, 5] {
            assert_eq!(spread(&points, n_machines, 4, 5, Metric::Euclidean), one);
        }
    }

    #[test]
    fn what_is_missing_is_marked() {
        let (points, run) = (points(5, 7, 4), Run::new(0));
        let cells = Cells::train(&points, 1, &run).unwrap();
        let ids = [3, 4, 7, 8, 9];
        let search = CellSearch::new(&points, &ids, &[0; 5], Metric::Euclidean, cells.frame(), &run).unwrap();
        let offsets = [0, 1, 2, 3, 4, 4];
        let probes = Probes { offsets: &offsets, cells: &[0, 0, 0, 1] };
        let (found, distances) = search.nearest(&points, &ids, probes, 6, &run).unwrap();
        for row in 0..3 {
            let known = &found[row * 6..row * 6 + 4];
            assert!(known.iter().all(|id| ids.contains(id) && *id != ids[row]));
            assert_eq!(&found[row * 6 + 4..row * 6 + 6], [u32::MAX; 2]);
        }
        assert!(
            found[18..].iter().all(|&id| id == u32::MAX) && distances[18..].iter().all(|d| d.is_infinite())
        );
        assert!(CellSearch::new(&points, &ids, &[0; 5], Metric::Manhattan, cells.frame(), &run).is_err());
    }
}
