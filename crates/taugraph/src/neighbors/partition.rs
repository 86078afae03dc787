//! Points divided into cells of a few hundred, each around a center: seeded k-means on a sample, in f32_points precision.

use rayon::prelude::*;

use super::best::ShortList;
use super::f32_points::F32Points;
use super::panels::{GROUP, Panels, Sink, interleave};
use super::tiles::{Lists, QUERIES, group};
use crate::error::Result;
use crate::progress::Run;
use crate::random::{Stage, Stream};

/// Sample points for each center, and rounds of k-means: enough, by measurement, that more did not save probes.
const SAMPLE: usize = 40;
const ROUNDS: usize = 6;
/// A cell of more than this many times the intended size is divided again.
const OVERSIZED: usize = 4;
/// More cells than this are made by dividing twice, and mended then: every point looks again at this many centers around its own, so often.
const AT_ONCE: usize = 512;
const REACH: usize = 48;
const MENDINGS: usize = 2;
/// Divisions of divisions: what is still too large then is cut in the order of the points.
const DEPTH: u32 = 4;

/// Centers of cells, in the frame of the points in f32_points precision.
pub(super) struct Centers {
    n_columns: usize,
    rows: Vec<f32>,
    /// The cell of each center.
    cells: Vec<u32>,
    panels: Panels,
}

impl Centers {
    fn new(rows: Vec<f32>, n_columns: usize) -> Self {
        let cells = (0..(rows.len() / n_columns) as u32).collect();
        let panels = Panels::of_rows(&rows, n_columns);
        Self { n_columns, rows, cells, panels }
    }

    /// The means of cells.
    fn of_cells(points: &F32Points<'_>, order: &[u32], bounds: &[usize]) -> Self {
        let d = points.n_columns();
        let cells = bounds.par_windows(2);
        let means = cells.flat_map_iter(|cell| mean(points, order[cell[0]..cell[1]].iter().copied(), d));
        Self::new(means.collect(), d)
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// The cell of each center.
    pub fn cells(&self) -> impl Iterator<Item = usize> {
        self.cells.iter().map(|&cell| cell as usize)
    }

    fn row(&self, i: usize) -> &[f32] {
        &self.rows[i * self.n_columns..(i + 1) * self.n_columns]
    }

    /// The center of a cell, and the others nearest to it, nearest first: `m` in all, or as many as there are.
    pub fn around(&self, cell: usize, m: usize) -> Centers {
        let mut query = Vec::new();
        interleave(std::iter::once(self.row(cell).iter().copied()), self.n_columns, &mut query);
        let mut list = [ShortList::new(m.min(self.len()))];
        let sink = &mut Lists { lists: &mut list, places: &[0], excluded: [cell as u32; GROUP] };
        self.panels.offer(0..self.panels.len(), &query, sink);
        let others = sorted(&mut list[0]).into_iter().take(m - 1);
        let cells: Vec<u32> = std::iter::once(cell as u32).chain(others).collect();
        let rows: Vec<f32> = cells.iter().flat_map(|&cell| self.row(cell as usize)).copied().collect();
        let panels = Panels::of_rows(&rows, self.n_columns);
        Centers { n_columns: self.n_columns, rows, cells, panels }
    }

    /// Which of these centers are the `p` nearest of each of the points `ids`, in any order, or all; calls `found` with the place of the
    /// point and that of the center.
    pub fn visit_nearest(
        &self,
        points: &F32Points<'_>,
        ids: &[u32],
        p: usize,
        mut found: impl FnMut(usize, usize),
    ) {
        let places: Vec<u32> = (0..GROUP as u32).collect();
        for (first, ids) in ids.chunks(GROUP).enumerate() {
            let mut lists: Vec<ShortList> = ids.iter().map(|_| ShortList::new(p.min(self.len()))).collect();
            let places = &places[..ids.len()];
            let sink = &mut Lists { lists: &mut lists, places, excluded: [u32::MAX; GROUP] };
            self.panels.offer(0..self.panels.len(), &group(points, ids), sink);
            for (point, list) in lists.iter_mut().enumerate() {
                list.finish().iter().for_each(|pair| found(first * GROUP + point, pair.1 as usize));
            }
        }
    }

    /// The cells of the `p` nearest centers of a point, nearest first; at most as many as there are.
    pub fn nearest(&self, points: &F32Points<'_>, id: u32, p: usize) -> Vec<u32> {
        let mut list = [ShortList::new(p.min(self.len()))];
        let sink = &mut Lists { lists: &mut list, places: &[0], excluded: [u32::MAX; GROUP] };
        self.panels.offer(0..self.panels.len(), &group(points, &[id]), sink);
        sorted(&mut list[0]).into_iter().map(|center| self.cells[center as usize]).collect()
    }

    /// The cell of the nearest center of each of the points `ids`.
    pub fn assign(&self, points: &F32Points<'_>, ids: &[u32], run: &Run<'_>) -> Result<Vec<u32>> {
        let mut nearest = vec![0; ids.len()];
        nearest.par_chunks_mut(QUERIES).zip(ids.par_chunks(QUERIES)).try_for_each(|(nearest, ids)| {
            run.check()?;
            let mut queries = Vec::new();
            for (nearest, ids) in nearest.chunks_mut(GROUP).zip(ids.chunks(GROUP)) {
                interleave(ids.iter().map(|&i| points.row(i as usize)), points.n_columns(), &mut queries);
                let mut best = [(f32::MAX, 0); GROUP];
                self.panels.offer(0..self.panels.len(), &queries, &mut First(&mut best));
                nearest
                    .iter_mut()
                    .zip(&best)
                    .for_each(|(nearest, best)| *nearest = self.cells[best.1 as usize]);
            }
            Ok(())
        })?;
        Ok(nearest)
    }
}

/// The ids of a list, lowest score first.
fn sorted(list: &mut ShortList) -> Vec<u32> {
    let mut listed = list.finish().to_vec();
    listed.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    listed.iter().map(|pair| pair.1).collect()
}

/// The lowest score of each query of a group, and whose it is; the first of equal ones.
struct First<'a>(&'a mut [(f32, u32); GROUP]);

impl Sink for First<'_> {
    #[inline(always)]
    fn bound(&self, query: usize) -> f32 {
        self.0[query].0
    }

    #[inline(always)]
    fn take(&mut self, query: usize, ids: &[u32], scores: &[f32]) {
        for (&id, &score) in ids.iter().zip(scores) {
            if score < self.0[query].0 {
                self.0[query] = (score, id);
            }
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
    /// Cells of about `size` points; none is empty and none has more than a few times as many. The points are reordered by
    /// them.
    pub fn new(points: &mut F32Points<'_>, size: usize, run: &Run<'_>) -> Result<Self> {
        let mut order: Vec<u32> = (0..points.len() as u32).collect();
        let stream = Stream::new(run.seed, Stage::Cells);
        let mut bounds = divide(points, &mut order, size, stream, 0, run)?;
        if points.len().div_ceil(size) > AT_ONCE {
            for _ in 0..MENDINGS {
                let sizes = mend(points, &mut order, &bounds, run)?;
                bounds = divide_oversized(points, &mut order, &sizes, size, stream, 0, run)?;
            }
        }
        points.arrange(&order, run)?;
        let centers = Centers::of_cells(points, &order, &bounds);
        Ok(Self { bounds, order, centers })
    }

    /// The points of each cell.
    pub fn cells(&self) -> impl Iterator<Item = &[u32]> {
        self.bounds.windows(2).map(|cell| &self.order[cell[0]..cell[1]])
    }
}

/// Sorts the points `ids` into cells of about `size`; the bounds of the cells within `ids`.
fn divide(
    points: &F32Points<'_>,
    ids: &mut [u32],
    size: usize,
    stream: Stream,
    depth: u32,
    run: &Run<'_>,
) -> Result<Vec<usize>> {
    let n_cells = ids.len().div_ceil(size);
    let n_centers = if n_cells > AT_ONCE { n_cells.isqrt() } else { n_cells };
    // Points that cannot be told apart cannot be divided by distance: any cut is as good as another.
    let same = ids.iter().all(|&i| points.row(i as usize).eq(points.row(ids[0] as usize)));
    if n_centers == 1 || same || depth == DEPTH {
        return Ok((0..=n_cells).map(|cell| cell * ids.len() / n_cells).collect());
    }
    let centers = sampled_centers(points, ids, n_centers, stream, depth, run)?;
    let cell_of = centers.assign(points, ids, run)?;
    let sizes = sort_into_cells(ids, cell_of);
    divide_oversized(points, ids, &sizes, size, stream, depth, run)
}

/// The bounds of cells of these sizes, the oversized ones divided.
fn divide_oversized(
    points: &F32Points<'_>,
    ids: &mut [u32],
    sizes: &[(u32, usize)],
    size: usize,
    stream: Stream,
    depth: u32,
    run: &Run<'_>,
) -> Result<Vec<usize>> {
    let mut bounds = vec![0];
    let mut begin = 0;
    for &(_, cell_size) in sizes {
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

/// Sorts points by their cells, then by their own numbers; gives each cell that is not empty, and its size.
pub(super) fn sort_into_cells(ids: &mut [u32], cell_of: Vec<u32>) -> Vec<(u32, usize)> {
    let mut pairs: Vec<(u32, u32)> = cell_of.into_iter().zip(ids.iter().copied()).collect();
    pairs.par_sort_unstable();
    ids.iter_mut().zip(&pairs).for_each(|(id, pair)| *id = pair.1);
    pairs.chunk_by(|a, b| a.0 == b.0).map(|cell| (cell[0].0, cell.len())).collect()
}

/// Moves every point to the nearest of the centers around its own; the sizes of the cells then.
fn mend(
    points: &F32Points<'_>,
    ids: &mut [u32],
    bounds: &[usize],
    run: &Run<'_>,
) -> Result<Vec<(u32, usize)>> {
    let centers = Centers::of_cells(points, ids, bounds);
    let cells = bounds
        .par_windows(2)
        .enumerate()
        .map(|(cell, ends)| centers.around(cell, REACH).assign(points, &ids[ends[0]..ends[1]], run));
    let cell_of: Vec<Vec<u32>> = cells.collect::<Result<_>>()?;
    Ok(sort_into_cells(ids, cell_of.concat()))
}

/// k-means on a sample of the points `ids`; it starts from points of the sample.
fn sampled_centers(
    points: &F32Points<'_>,
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
        let cells: Vec<&[(u32, u32)]> = members.chunk_by(|a, b| a.0 == b.0).collect();
        let mean_of = |cell: &&[(u32, u32)]| mean(points, cell.iter().map(|member| member.1), d);
        let means: Vec<Vec<f32>> = cells.par_iter().map(mean_of).collect();
        for (cell, mean) in cells.iter().zip(means) {
            let place = cell[0].0 as usize * d;
            values[place..place + d].copy_from_slice(&mean);
        }
    }
    Ok(Centers::new(values, d))
}

fn mean(points: &F32Points<'_>, ids: impl ExactSizeIterator<Item = u32>, d: usize) -> Vec<f32> {
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
        Partition::new(&mut F32Points::new(&points), size, &Run::new(3)).unwrap()
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

    /// Nine of ten points are the same one: no center can divide them.
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
