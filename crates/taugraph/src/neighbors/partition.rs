//! Points divided into cells of a few hundred, each around a centre: seeded k-means on a sample, in single precision.

use rayon::prelude::*;

use super::best::ShortList;
use super::panels::{GROUP, Panels, Sink, interleave};
use super::single::SinglePoints;
use super::tiles::{Lists, QUERIES, group};
use crate::error::Result;
use crate::progress::Run;
use crate::random::{Stage, Stream};

/// Sample points for each centre, and rounds of k-means: enough, by measurement, that more did not save probes.
const SAMPLE: usize = 40;
const ROUNDS: usize = 6;
/// A cell of more than this many times the intended size is divided again.
const OVERSIZED: usize = 4;
/// Divisions of divisions: what is still too large then is cut in the order of the points.
const DEPTH: u32 = 4;

/// Centres of cells, in the frame of the points in single precision.
pub(super) struct Centers {
    n_columns: usize,
    rows: Vec<f32>,
    /// The cell of each centre.
    cells: Vec<u32>,
    panels: Panels,
}

impl Centers {
    fn new(rows: Vec<f32>, n_columns: usize) -> Self {
        let cells = (0..(rows.len() / n_columns) as u32).collect();
        let panels = Panels::of_rows(&rows, n_columns);
        Self { n_columns, rows, cells, panels }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    fn row(&self, i: usize) -> &[f32] {
        &self.rows[i * self.n_columns..(i + 1) * self.n_columns]
    }

    /// The `m` centres nearest to that of a cell; `None` if there are hardly more in all.
    pub fn around(&self, cell: usize, m: usize) -> Option<Centers> {
        if 2 * m > self.len() {
            return None;
        }
        let mut query = Vec::new();
        interleave(std::iter::once(self.row(cell).iter().copied()), self.n_columns, &mut query);
        let mut list = [ShortList::new(m)];
        let sink = &mut Lists { lists: &mut list, places: &[0], excluded: [u32::MAX; GROUP] };
        self.panels.offer(0..self.panels.len(), &query, sink);
        let mut cells: Vec<u32> = list[0].finish().iter().map(|pair| pair.1).collect();
        cells.sort_unstable();
        let rows: Vec<f32> = cells.iter().flat_map(|&cell| self.row(cell as usize)).copied().collect();
        let panels = Panels::of_rows(&rows, self.n_columns);
        Some(Centers { n_columns: self.n_columns, rows, cells, panels })
    }

    /// The cells of the `p` nearest centres of each of the points `ids`, nearest first; at most as many as there are.
    pub fn nearest(&self, points: &SinglePoints<'_>, ids: &[u32], p: usize) -> Vec<u32> {
        let p = p.min(self.len());
        let mut found = Vec::with_capacity(ids.len() * p);
        for ids in ids.chunks(GROUP) {
            let mut lists: Vec<ShortList> = ids.iter().map(|_| ShortList::new(p)).collect();
            let places: Vec<u32> = (0..ids.len() as u32).collect();
            let sink = &mut Lists { lists: &mut lists, places: &places, excluded: [u32::MAX; GROUP] };
            self.panels.offer(0..self.panels.len(), &group(points, ids), sink);
            for list in &mut lists {
                let mut listed = list.finish().to_vec();
                listed.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                found.extend(listed.iter().map(|pair| self.cells[pair.1 as usize]));
                // Scores that are not numbers are listed nowhere.
                found.resize(found.len().next_multiple_of(p), self.cells[0]);
            }
        }
        found
    }

    /// The nearest centre of each of the points `ids`.
    pub fn assign(&self, points: &SinglePoints<'_>, ids: &[u32], run: &Run<'_>) -> Result<Vec<u32>> {
        let mut nearest = vec![0; ids.len()];
        nearest.par_chunks_mut(QUERIES).zip(ids.par_chunks(QUERIES)).try_for_each(|(nearest, ids)| {
            run.check()?;
            let mut queries = Vec::new();
            for (nearest, ids) in nearest.chunks_mut(GROUP).zip(ids.chunks(GROUP)) {
                interleave(ids.iter().map(|&i| points.row(i as usize)), points.n_columns(), &mut queries);
                let mut best = [(f32::MAX, 0); GROUP];
                self.panels.offer(0..self.panels.len(), &queries, &mut First(&mut best));
                nearest.iter_mut().zip(&best).for_each(|(nearest, best)| *nearest = best.1);
            }
            Ok(())
        })?;
        Ok(nearest)
    }
}

/// The lowest score of each query of a group, and whose it is; the first of equal ones.
struct First<'a>(&'a mut [(f32, u32); GROUP]);

impl Sink for First<'_> {
    #[inline(always)]
    fn bound(&self, query: usize) -> f32 {
        self.0[query].0
    }

    #[inline(always)]
    fn take(&mut self, query: usize, id: u32, score: f32) {
        if score < self.0[query].0 {
            self.0[query] = (score, id);
        }
    }
}

/// All points, cell by cell.
pub(super) struct Partition {
    /// Where each cell begins in `order`, the end of the last one included.
    pub bounds: Vec<usize>,
    /// The points in the order of their cells.
    pub order: Vec<u32>,
    /// The mean of each cell.
    pub centers: Centers,
}

impl Partition {
    /// Cells of about `size` points; none is empty and none has more than a few times as many. The points are arranged by
    /// them.
    pub fn new(points: &mut SinglePoints<'_>, size: usize, run: &Run<'_>) -> Result<Self> {
        let mut order: Vec<u32> = (0..points.len() as u32).collect();
        let stream = Stream::new(run.seed, Stage::Cells);
        let bounds = divide(points, &mut order, size, stream, 0, run)?;
        points.arrange(&order, run)?;
        let (points, d) = (&*points, points.n_columns());
        let centers: Vec<f32> = bounds
            .par_windows(2)
            .flat_map_iter(|cell| mean(points, order[cell[0]..cell[1]].iter().copied(), d))
            .collect();
        Ok(Self { bounds, order, centers: Centers::new(centers, d) })
    }

    /// The points of each cell.
    pub fn cells(&self) -> impl Iterator<Item = &[u32]> {
        self.bounds.windows(2).map(|cell| &self.order[cell[0]..cell[1]])
    }
}

/// Sorts the points `ids` into cells of about `size`; the bounds of the cells within `ids`.
fn divide(
    points: &SinglePoints<'_>,
    ids: &mut [u32],
    size: usize,
    stream: Stream,
    depth: u32,
    run: &Run<'_>,
) -> Result<Vec<usize>> {
    let n_centers = ids.len().div_ceil(size);
    // Points that cannot be told apart cannot be divided by distance: any cut is as good as another.
    let same = ids.iter().all(|&i| points.row(i as usize).eq(points.row(ids[0] as usize)));
    if n_centers == 1 || same || depth == DEPTH {
        return Ok((0..=n_centers).map(|cell| cell * ids.len() / n_centers).collect());
    }
    let centers = sampled_centers(points, ids, n_centers, stream, depth, run)?;
    let cell_of = centers.assign(points, ids, run)?;
    let mut pairs: Vec<(u32, u32)> = cell_of.into_iter().zip(ids.iter().copied()).collect();
    pairs.par_sort_unstable();
    ids.iter_mut().zip(&pairs).for_each(|(id, pair)| *id = pair.1);
    let sizes: Vec<usize> = pairs.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len).collect();
    drop(pairs);
    let mut bounds = vec![0];
    let mut begin = 0;
    for cell_size in sizes {
        let end = begin + cell_size;
        if cell_size > OVERSIZED * size {
            let inner = divide(points, &mut ids[begin..end], size, stream, depth + 1, run)?;
            bounds.extend(inner[1..].iter().map(|bound| begin + bound));
        } else {
            bounds.push(end);
        }
        begin = end;
    }
    Ok(bounds)
}

/// k-means on a sample of the points `ids`; it starts from points of the sample.
fn sampled_centers(
    points: &SinglePoints<'_>,
    ids: &[u32],
    n_centers: usize,
    stream: Stream,
    depth: u32,
    run: &Run<'_>,
) -> Result<Centers> {
    let d = points.n_columns();
    let order = stream.at(ids[0], depth).permutation(ids.len());
    let mut sample: Vec<u32> =
        order.iter().take(SAMPLE * n_centers).map(|&place| ids[place as usize]).collect();
    let mut values: Vec<f32> = sample[..n_centers].iter().flat_map(|&i| points.row(i as usize)).collect();
    // As they lie in a table that may be on disk.
    sample.sort_unstable();
    for _ in 0..ROUNDS {
        let centers = Centers::new(values.clone(), d);
        let cell_of = centers.assign(points, &sample, run)?;
        let mut members: Vec<(u32, u32)> = cell_of.into_iter().zip(sample.iter().copied()).collect();
        members.par_sort_unstable();
        for cell in members.chunk_by(|a, b| a.0 == b.0) {
            let place = cell[0].0 as usize * d;
            let mean = mean(points, cell.iter().map(|member| member.1), d);
            values[place..place + d].copy_from_slice(&mean);
        }
    }
    Ok(Centers::new(values, d))
}

fn mean(points: &SinglePoints<'_>, ids: impl ExactSizeIterator<Item = u32>, d: usize) -> Vec<f32> {
    let n = ids.len() as f64;
    let mut sums = vec![0.0f64; d];
    for i in ids {
        sums.iter_mut().zip(points.row(i as usize)).for_each(|(sum, v)| *sum += f64::from(v));
    }
    sums.iter().map(|sum| (sum / n) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Points;

    fn cells_of(values: Vec<f64>, d: usize, size: usize) -> Partition {
        let points = Points::new(values, d).unwrap();
        Partition::new(&mut SinglePoints::new(&points), size, &Run::new(3)).unwrap()
    }

    fn check(partition: &Partition, n: usize, largest: usize) {
        let mut seen = partition.order.clone();
        seen.sort_unstable();
        assert!(seen.iter().enumerate().all(|(i, &v)| i as u32 == v) && seen.len() == n);
        assert_eq!((partition.bounds[0], *partition.bounds.last().unwrap()), (0, n));
        assert_eq!(partition.centers.len(), partition.bounds.len() - 1);
        let sizes = partition.bounds.windows(2).map(|cell| cell[1] - cell[0]);
        assert!(sizes.clone().all(|size| size > 0 && size <= largest), "{:?}", sizes.collect::<Vec<_>>());
    }

    #[test]
    fn every_point_is_in_one_cell() {
        let mut draws = Stream::new(1, Stage::Generator).at(0, 0);
        let values = (0..3000 * 8).map(|_| draws.normal()).collect();
        check(&cells_of(values, 8, 50), 3000, 200);
    }

    /// Nine of ten points are the same one: no centre can divide them.
    #[test]
    fn heavy_duplicates_are_cut() {
        let mut draws = Stream::new(2, Stage::Generator).at(0, 0);
        let values = (0..4000 * 7).map(|place| if place < 3600 * 7 { 1.0 } else { draws.normal() }).collect();
        check(&cells_of(values, 7, 50), 4000, 200);
        check(&cells_of(vec![2.5; 1000 * 7], 7, 64), 1000, 64);
    }

    #[test]
    fn fewer_points_than_a_cell_holds() {
        check(&cells_of(vec![1.0, 2.0, 3.0], 1, 50), 3, 3);
    }
}
