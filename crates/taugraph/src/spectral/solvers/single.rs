//! A normalized Laplacian and blocks of vectors in single precision, with the nodes in an order of locality.

use rayon::prelude::*;

use crate::graph::SparseGraph;
use crate::linear::F32_LANES;
use crate::vectorized::vectorized;

/// Rows per thread at a time.
const ROWS: usize = 512;

/// Vectors interleaved by node, padded with zeros to whole lanes.
pub(super) struct SingleBlock {
    pub width: usize,
    values: Vec<f32>,
}

impl SingleBlock {
    /// Nodes per chunk.
    pub const CHUNK: usize = 2048;

    /// The number of vectors that as many are padded to.
    pub fn padded(n_vectors: usize) -> usize {
        n_vectors.next_multiple_of(F32_LANES)
    }

    /// A block of zero vectors; `width` consists of whole lanes.
    pub fn zeros(n: usize, width: usize) -> Self {
        Self { width, values: vec![0.0; n * width] }
    }

    pub fn fill(&mut self, value: f32) {
        self.values.par_chunks_mut(Self::CHUNK * self.width).for_each(|chunk| chunk.fill(value));
    }

    pub fn chunks(&self) -> impl IndexedParallelIterator<Item = &[f32]> {
        self.values.par_chunks(Self::CHUNK * self.width)
    }

    pub fn chunks_mut(&mut self) -> impl IndexedParallelIterator<Item = &mut [f32]> {
        self.values.par_chunks_mut(Self::CHUNK * self.width)
    }

    /// Calls `work` with every place and the vectors there.
    pub fn for_nodes(&mut self, work: impl Fn(usize, &mut [f32]) + Sync) {
        let width = self.width;
        self.values
            .par_chunks_mut(width)
            .with_min_len(ROWS)
            .enumerate()
            .for_each(|(place, to)| work(place, to));
    }

    /// The first vectors in double precision, column-major, by node of the graph.
    pub fn by_node(&self, n_vectors: usize, order: &[u32]) -> Vec<f64> {
        let n = order.len();
        let mut vectors = vec![0.0; n * n_vectors];
        vectors.par_chunks_mut(n * F32_LANES).enumerate().for_each(|(first, vectors)| {
            for (from, &node) in self.values.chunks_exact(self.width).zip(order) {
                let places = vectors[node as usize..].iter_mut().step_by(n);
                places.zip(&from[first * F32_LANES..]).for_each(|(to, from)| *to = f64::from(*from));
            }
        });
        vectors
    }
}

/// One step of a recurrence: next ← factor·(A − center)·now − before·next.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub center: f64,
    pub factor: f64,
    pub before: f64,
}

/// I − D^−½·W·D^−½ of a graph, nodes in an order of locality.
pub(in super::super) struct NormalizedLaplacian {
    /// The node of the graph at each place.
    order: Vec<u32>,
    offsets: Vec<usize>,
    ids: Vec<u32>,
    /// Weights divided by the square roots of both degrees.
    weights: Vec<f32>,
    /// Square roots of the degrees, relative to the largest.
    lengths: Vec<f32>,
}

impl NormalizedLaplacian {
    /// Nodes are in the order of their regions, if these are known.
    pub fn new(graph: &SparseGraph, degrees: &[f64], regions: Option<&[u32]>) -> Self {
        let n = graph.n_nodes();
        let order = regions.map_or_else(|| (0..n as u32).collect(), sorted_by);
        let mut place_of = vec![0u32; n];
        order.iter().enumerate().for_each(|(place, &node)| place_of[node as usize] = place as u32);
        let mut offsets = Vec::with_capacity(n + 1);
        offsets.push(0);
        let row =
            |node: u32| graph.offsets()[node as usize] as usize..graph.offsets()[node as usize + 1] as usize;
        for &node in &order {
            offsets.push(offsets[offsets.len() - 1] + row(node).len());
        }
        let scales: Vec<f64> =
            degrees.iter().map(|&degree| if degree > 0.0 { 1.0 / degree.sqrt() } else { 0.0 }).collect();
        let (mut ids, mut weights) = (vec![0u32; offsets[n]], vec![0.0f32; offsets[n]]);
        let (mut ids_left, mut weights_left) = (&mut ids[..], &mut weights[..]);
        let mut chunks = Vec::new();
        for first in (0..n).step_by(ROWS) {
            let last = (first + ROWS).min(n);
            let length = offsets[last] - offsets[first];
            let (ids_here, weights_here);
            (ids_here, ids_left) = ids_left.split_at_mut(length);
            (weights_here, weights_left) = weights_left.split_at_mut(length);
            chunks.push((&order[first..last], ids_here, weights_here));
        }
        chunks.into_par_iter().for_each(|(nodes, ids, weights)| {
            let entries = nodes.iter().flat_map(|&node| row(node).map(move |entry| (node, entry)));
            for ((id, weight), (node, entry)) in ids.iter_mut().zip(weights).zip(entries) {
                let other = graph.ids()[entry] as usize;
                *id = place_of[other];
                *weight = (graph.weights()[entry] * scales[node as usize] * scales[other]) as f32;
            }
        });
        let largest = degrees.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let lengths = order.iter().map(|&node| (degrees[node as usize] / largest).sqrt() as f32).collect();
        Self { order, offsets, ids, weights, lengths }
    }

    /// Bytes of an operator, while it is made.
    pub fn bytes(n: u64, n_edges: u64) -> u64 {
        2 * n_edges * 8 + n * 32
    }

    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// The node of the graph at each place.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// About the entries of the null vector.
    pub fn lengths(&self) -> &[f32] {
        &self.lengths
    }

    /// One step of a recurrence; `now` and `next` are of the same shape.
    pub(super) fn step(&self, now: &SingleBlock, next: &mut SingleBlock, step: Step) {
        let width = now.width;
        let rows = Rows {
            offsets: &self.offsets,
            ids: &self.ids,
            weights: &self.weights,
            now: &now.values,
            width,
            diagonal: (step.factor * (1.0 - step.center)) as f32,
            factor: step.factor as f32,
            before: step.before as f32,
        };
        next.values
            .par_chunks_mut(ROWS * width)
            .enumerate()
            .for_each(|(chunk, next)| step_rows(rows, chunk * ROWS, next));
    }
}

/// Nodes by region; those of one region stay in their order.
fn sorted_by(regions: &[u32]) -> Vec<u32> {
    let n_regions = regions.iter().max().map_or(0, |last| *last as usize + 1);
    let mut firsts = vec![0u32; n_regions + 1];
    regions.iter().for_each(|&region| firsts[region as usize + 1] += 1);
    for region in 0..n_regions {
        firsts[region + 1] += firsts[region];
    }
    let mut order = vec![0u32; regions.len()];
    for (node, &region) in regions.iter().enumerate() {
        let place = &mut firsts[region as usize];
        order[*place as usize] = node as u32;
        *place += 1;
    }
    order
}

/// What a step reads.
#[derive(Clone, Copy)]
struct Rows<'a> {
    offsets: &'a [usize],
    ids: &'a [u32],
    weights: &'a [f32],
    now: &'a [f32],
    width: usize,
    diagonal: f32,
    factor: f32,
    before: f32,
}

#[inline(always)]
fn step_lanes<const BLOCKS: usize>(rows: &Rows<'_>, first: usize, next: &mut [f32], lane: usize) {
    let blocks = |node: usize| -> [[f32; F32_LANES]; BLOCKS] {
        let at = node * rows.width + lane;
        let (blocks, _) = rows.now[at..at + BLOCKS * F32_LANES].as_chunks::<F32_LANES>();
        std::array::from_fn(|block| blocks[block])
    };
    for (place, next) in next.chunks_exact_mut(rows.width).enumerate() {
        let node = first + place;
        let entries = rows.offsets[node]..rows.offsets[node + 1];
        let mut sums = [[0.0f32; F32_LANES]; BLOCKS];
        for (&other, &weight) in rows.ids[entries.clone()].iter().zip(&rows.weights[entries]) {
            let x = blocks(other as usize);
            for b in 0..BLOCKS {
                for l in 0..F32_LANES {
                    sums[b][l] += weight * x[b][l];
                }
            }
        }
        let x = blocks(node);
        let (next, _) = next[lane..lane + BLOCKS * F32_LANES].as_chunks_mut::<F32_LANES>();
        for b in 0..BLOCKS {
            for l in 0..F32_LANES {
                next[b][l] = rows.diagonal * x[b][l] - rows.factor * sums[b][l] - rows.before * next[b][l];
            }
        }
    }
}

vectorized! {
    /// One step of a recurrence for the rows from `first` on.
    fn step_rows<'a>(rows: Rows<'a>, first: usize, next: &'a mut [f32]) -> () {
        let mut lane = 0;
        while lane < rows.width {
            let blocks = ((rows.width - lane) / F32_LANES).min(4);
            match blocks {
                1 => step_lanes::<1>(&rows, first, next, lane),
                2 => step_lanes::<2>(&rows, first, next, lane),
                3 => step_lanes::<3>(&rows, first, next, lane),
                _ => step_lanes::<4>(&rows, first, next, lane),
            }
            lane += blocks * F32_LANES;
        }
    }
}
