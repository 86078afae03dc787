//! The loss at Y, and the matrix M whose best approximation of low rank is the factorization's next iterate.
//!
//! M = Y + clip(W − Y, −τκ, (1−τ)κ), since the quantile Huber loss of a residual r is majorized by a parabola of curvature 1/κ
//! whose minimum lies at clip(r). Over all pairs M is made a few rows at a time.
//!
//! With targets ([`targets`](super::targets)) the loss of y_ij is the mean over the pool of the pair, w_kj for the points k like i
//! and w_ik for the points k like j, so that clip(W − Y) is the mean of the clips: no draw, and Y stays symmetric.
//!
//! Over a sample, the candidates, the diagonal and the sampled non-edges have this loss, too. The other non-edges have y²/(2κ) in
//! its place, which is the same for −(1−τ)κ ≤ y ≤ τκ (where nearly all of them are) and more beyond: the sampled loss bounds the dense
//! one from above, and the larger the sample, the closer. Their sum is ‖Y‖²/(2κ) less what the sampled pairs have in it, so no pair
//! is left out and none is visited; and as the parabola is its own majorizer, M is 0 there, a sparse matrix. With targets of
//! neighbors it is no bound: a pair outside the sample may have targets that are not 0, and is taken as if all were.

use faer::Accum;
use rayon::prelude::*;

use super::loss::Loss;
use super::low_rank::LowRank;
use super::matrix::{AffinityMatrix, transposed};
use super::pairs::{Candidate, RowPairs};
use super::targets::Targets;
use crate::affinity::Similarities;
use crate::dense::{columns_of, columns_of_mut, multiply};
use crate::edges::Edges;
use crate::error::Result;
use crate::progress::Run;
use crate::random::{Stage, Stream};

/// Rows of W that are dense at once.
pub(super) const BLOCK: usize = 128;

/// The quantile Huber loss.
#[derive(Clone, Copy)]
pub(super) struct Huber {
    pub tau: f64,
    pub kappa: f64,
}

impl Huber {
    /// Loss of a residual.
    fn loss(self, r: f64) -> f64 {
        Loss::Huber { kappa: self.kappa }.value(self.tau, r)
    }

    /// Step to the minimum of the parabola above it.
    fn step(self, r: f64) -> f64 {
        r.clamp(-self.tau * self.kappa, (1.0 - self.tau) * self.kappa)
    }

    /// Step and loss at `y`, the mean over some targets.
    fn mean(self, targets: &[f64], y: f64) -> (f64, f64) {
        let (mut step, mut loss) = (0.0, 0.0);
        for w in targets {
            step += self.step(w - y);
            loss += self.loss(w - y);
        }
        let n = targets.len() as f64;
        (step / n, loss / n)
    }
}

/// The entries of W that the quantile loss runs over.
pub(super) enum Observed<'a> {
    /// All of them, and what each is to predict.
    Whole(&'a AffinityMatrix, Targets<'a>),
    /// The candidates, the diagonal and some of the others.
    Sampled(SampledPairs),
}

impl Observed<'_> {
    /// M at Y.
    pub fn majorizer<'a>(&'a self, y: &'a LowRank, huber: Huber) -> Majorizer<'a> {
        match self {
            Observed::Whole(matrix, targets) => {
                Majorizer::Dense { matrix, targets: *targets, y, left: y.left(), huber }
            }
            Observed::Sampled(pairs) => pairs.majorizer(y, huber),
        }
    }
}

/// Candidates and sampled non-edges with their targets.
pub(super) struct SampledPairs {
    edges: Edges,
    /// `pool_size` targets of each pair.
    of_edges: Vec<f64>,
    /// The same of each point with itself.
    of_diagonal: Vec<f64>,
    pool_size: usize,
}

impl SampledPairs {
    /// The candidates, and non-edges for each of them, as many in all rows as their share.
    pub fn new(
        similarities: &Similarities<'_>,
        matrix: &AffinityMatrix,
        targets: &Targets<'_>,
        per_edge: f64,
        run: &Run<'_>,
    ) -> Result<Self> {
        let candidates = similarities.edges();
        let n = candidates.n_nodes();
        let n_others = n * (n - 1) / 2 - candidates.len();
        let share = per_edge * candidates.len() as f64 / (n_others as f64).max(1.0);
        let stream = Stream::new(run.seed, Stage::NonEdges);
        let above = |i: usize| {
            let known = candidates
                .upper(i)
                .map(|edge| Candidate::from((candidates.target(edge), similarities.values()[edge])));
            let known: Vec<Candidate> = known.collect();
            let n_nodes = n - 1 - i;
            let n_samples = (share * (n_nodes - known.len()) as f64).ceil() as usize;
            RowPairs::sample(i + 1, n_nodes, &known, n_samples, &mut stream.at(i as u32, 0)).nodes
        };
        let rows: Vec<Vec<u32>> = (0..n).into_par_iter().map(above).collect();
        let pairs = rows.iter().enumerate().flat_map(|(i, row)| row.iter().map(move |&j| (i as u32, j)));
        let edges = Edges::from_pairs(n, pairs)?;
        drop(rows);
        let pool_size = targets.n_of_pair();
        let mut of_edges = vec![0.0; edges.len() * pool_size];
        edges.for_each_row(&mut of_edges, pool_size, |i, numbers, row| {
            for (edge, out) in numbers.zip(row.chunks_exact_mut(pool_size)) {
                targets.write_pair(matrix, i as u32, edges.target(edge), out);
            }
        });
        let mut of_diagonal = vec![0.0; n * pool_size];
        let of_nodes = of_diagonal.par_chunks_exact_mut(pool_size).enumerate();
        of_nodes.for_each(|(i, out)| targets.write_pair(matrix, i as u32, i as u32, out));
        Ok(Self { edges, of_edges, of_diagonal, pool_size })
    }

    /// Bytes while they are made and used.
    pub fn bytes(n_nodes: u64, n_edges: u64, per_edge: f64, target_neighbors: u64) -> u64 {
        let all = n_nodes.saturating_mul(n_nodes.saturating_sub(1)) / 2;
        // Each row rounds up.
        let sampled = (per_edge * n_edges as f64) as u64 + n_nodes;
        let n_pairs = n_edges + sampled.min(all.saturating_sub(n_edges));
        // Rows, then the list that is sorted beside them; later M and the losses.
        Edges::bytes(n_nodes, n_pairs)
            + 36 * n_pairs
            + 160 * n_nodes
            + 16 * (target_neighbors + 1) * (n_pairs + n_nodes)
    }

    fn majorizer<'a>(&'a self, y: &LowRank, huber: Huber) -> Majorizer<'a> {
        let (n, k) = (y.n, y.rank());
        let (left, right) = (transposed(&y.left(), n), transposed(&y.u, n));
        // The entry of M, and the loss beyond that of the parabola.
        let entry = |i: usize, j: usize, targets: &[f64]| {
            let (a, b) = (&left[i * k..(i + 1) * k], &right[j * k..(j + 1) * k]);
            let value: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            let (step, loss) = huber.mean(targets, value);
            (value + step, loss - value * value / (2.0 * huber.kappa))
        };
        let of = |targets: &'a [f64], place: usize| &targets[place * self.pool_size..][..self.pool_size];
        let off_diagonal =
            self.edges.map(|edge, i, j| entry(i as usize, j as usize, of(&self.of_edges, edge)));
        let diagonal: Vec<(f64, f64)> =
            (0..n).into_par_iter().map(|i| entry(i, i, of(&self.of_diagonal, i))).collect();
        let sum = |entries: &[(f64, f64)]| entries.iter().map(|entry| entry.1).sum::<f64>();
        let of_all = y.squared_norm() / (2.0 * huber.kappa);
        let loss = (of_all + 2.0 * sum(&off_diagonal) + sum(&diagonal)) / n as f64;
        Majorizer::Sparse { edges: &self.edges, off_diagonal, diagonal, loss }
    }
}

/// M at some Y.
pub(super) enum Majorizer<'a> {
    /// Made anew for every product, rows at a time.
    Dense {
        matrix: &'a AffinityMatrix,
        targets: Targets<'a>,
        y: &'a LowRank,
        /// U·S.
        left: Vec<f64>,
        huber: Huber,
    },
    /// Entries, each with its loss, on some pairs and the diagonal; the loss of all pairs.
    Sparse { edges: &'a Edges, off_diagonal: Vec<(f64, f64)>, diagonal: Vec<(f64, f64)>, loss: f64 },
}

impl Majorizer<'_> {
    /// M·X for a column-major X of `n` rows, row-major, and the loss at Y.
    pub fn times(&self, x: &[f64], n: usize) -> (Vec<f64>, f64) {
        match self {
            Majorizer::Dense { matrix, targets, y, left, huber } => {
                dense_times(matrix, targets, y, left, *huber, x)
            }
            Majorizer::Sparse { edges, off_diagonal, diagonal, loss } => {
                let p = x.len() / n;
                let by_row = transposed(x, n);
                let mut product = vec![0.0; n * p];
                product.par_chunks_exact_mut(p).enumerate().for_each(|(i, out)| {
                    let mut add = |j: usize, entry: f64| {
                        let row = &by_row[j * p..(j + 1) * p];
                        out.iter_mut().zip(row).for_each(|(sum, value)| *sum += entry * value);
                    };
                    add(i, diagonal[i].0);
                    edges.incident(i).for_each(|(j, edge)| add(j as usize, off_diagonal[edge].0));
                });
                (product, *loss)
            }
        }
    }
}

fn dense_times(
    matrix: &AffinityMatrix,
    targets: &Targets<'_>,
    y: &LowRank,
    left: &[f64],
    huber: Huber,
    x: &[f64],
) -> (Vec<f64>, f64) {
    let n = y.n;
    let p = x.len() / n;
    let mut product = vec![0.0; n * p];
    let losses: Vec<f64> = product
        .par_chunks_mut(BLOCK * p)
        .enumerate()
        .map(|(block, out)| {
            let begin = block * BLOCK;
            let rows = out.len() / p;
            // W is symmetric: its rows are its columns.
            let nodes: Vec<u32> = (begin as u32..(begin + rows) as u32).collect();
            let mut w = Vec::new();
            matrix.write_columns(&nodes, &mut w);
            let mut m = vec![0.0; n * rows];
            let part = columns_of(left, n).subrows(begin, rows);
            let u = columns_of(&y.u, n);
            multiply(columns_of_mut(&mut m, n), Accum::Replace, u, part.transpose(), 1.0);
            let sum = match targets.are_own_rows() {
                true => step_to_own(huber, &w, &mut m),
                false => step_to_pools(huber, matrix, targets, &nodes, &w, &mut m),
            };
            let view = columns_of_mut(out, p);
            multiply(view, Accum::Replace, columns_of(x, n).transpose(), columns_of(&m, n), 1.0);
            sum
        })
        .collect();
    (product, losses.iter().sum::<f64>() / n as f64)
}

/// Y → M where every entry is its own target; gives the summed loss.
fn step_to_own(huber: Huber, w: &[f64], m: &mut [f64]) -> f64 {
    let mut sum = 0.0;
    for (m, w) in m.iter_mut().zip(w) {
        let r = w - *m;
        sum += huber.loss(r);
        *m += huber.step(r);
    }
    sum
}

/// Y → M for the rows of some nodes, `w` in W, where the targets of an entry are those of both its ends; gives the summed loss.
fn step_to_pools(
    huber: Huber,
    matrix: &AffinityMatrix,
    targets: &Targets<'_>,
    nodes: &[u32],
    w: &[f64],
    m: &mut [f64],
) -> f64 {
    let n = matrix.len();
    let scale = 1.0 / targets.n_of_pair() as f64;
    let (mut steps, mut sum) = (vec![0.0; m.len()], 0.0);
    let mut like = Vec::new();
    for place in 0..targets.pool_size() {
        // w_kj for the k in this place among the points like i: whole rows of W.
        let members: Vec<u32> = nodes.iter().map(|&node| targets.member(node, place)).collect();
        matrix.write_columns(&members, &mut like);
        // w_ik for the k in this place among the points like j.
        let others: Vec<u32> = (0..n as u32).map(|j| targets.member(j, place)).collect();
        let rows = m.chunks_exact(n).zip(w.chunks_exact(n)).zip(like.chunks_exact(n));
        for (((m, w), like), steps) in rows.zip(steps.chunks_exact_mut(n)) {
            for j in 0..n {
                let (there, back) = (like[j] - m[j], w[others[j] as usize] - m[j]);
                steps[j] += huber.step(there) + huber.step(back);
                sum += huber.loss(there) + huber.loss(back);
            }
        }
    }
    m.iter_mut().zip(&steps).for_each(|(m, step)| *m += scale * step);
    scale * sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::affinity::AffinityKind;
    use crate::distance::Metric;
    use crate::generators::{SpiralDensity, two_spirals};
    use crate::neighbors::{Space, nearest_neighbors};
    use crate::scale::LocalScales;
    use proptest::prelude::*;

    const N: usize = 40;
    const RANK: usize = 3;

    /// Loss and M·X at a random Y over all pairs, and over samples of several sizes.
    fn at_random(seed: u64, huber: Huber, sizes: &[f64], target_neighbors: usize) -> Vec<(Vec<f64>, f64)> {
        let run = Run::new(seed);
        let points = two_spirals(N, SpiralDensity::UniformAngle, seed).unwrap().points;
        let space = Space::from_points(points, Metric::Euclidean).unwrap();
        let neighbors = nearest_neighbors(&space, 6, &run).unwrap();
        let edges = Edges::from_neighbors(&neighbors, 6, Default::default());
        let distances = edges.map(|_, i, j| space.distance(i as usize, j as usize));
        let scales = LocalScales::new(vec![1.5; N]).unwrap();
        let kind = AffinityKind::SquaredDistance;
        let similarities = Similarities::new(&space, &neighbors, &scales, kind, &edges, &distances);
        let matrix = AffinityMatrix::new(&similarities).unwrap();
        let targets = Targets::new(&neighbors, target_neighbors, seed).unwrap();
        let mut draws = Stream::new(seed, Stage::Weights).at(9, 9);
        let mut normal = |count: usize| -> Vec<f64> { (0..count).map(|_| 0.3 * draws.normal()).collect() };
        let mut y = LowRank { u: normal(N * RANK), s: vec![0.0; RANK * RANK], n: N };
        (0..RANK).for_each(|t| y.s[t * RANK + t] = 1.0 - 0.5 * t as f64);
        let x = normal(N * RANK);
        let sampled = |&per_edge: &f64| {
            let pairs = SampledPairs::new(&similarities, &matrix, &targets, per_edge, &run).unwrap();
            Observed::Sampled(pairs).majorizer(&y, huber).times(&x, N)
        };
        let whole = Observed::Whole(&matrix, targets).majorizer(&y, huber).times(&x, N);
        std::iter::once(whole).chain(sizes.iter().map(sampled)).collect()
    }

    proptest! {
        #[test]
        fn samples_bound_the_dense_loss_and_reach_it(
            seed in 0u64..1000,
            tau in 0.05f64..0.95,
            kappa in 0.02f64..1.0,
            target_neighbors in 0usize..6,
        ) {
            let found = at_random(seed, Huber { tau, kappa }, &[0.5, 1e6], target_neighbors);
            let [(dense, dense_loss), (_, some_loss), (all, all_loss)] = &found[..] else { unreachable!() };
            let rounding = 1e-12 * some_loss.abs().max(1.0 / kappa);
            // With targets of its neighbors a pair outside the sample may have some that are not 0.
            let is_bound = target_neighbors > 0 || *some_loss >= dense_loss - rounding;
            prop_assert!(is_bound, "{some_loss} is below {dense_loss}");
            prop_assert!((all_loss - dense_loss).abs() < rounding, "{all_loss} is not {dense_loss}");
            prop_assert!(dense.iter().zip(all).all(|(a, b)| (a - b).abs() < 1e-12));
        }
    }
}
