//! Fast linear model: symmetric rank-P factorisation Ŵ_τ = Q B Qᵀ by majorise–minimise.
//!
//! Since κ·ρ′_τ(r) = clip(r, −τκ, (1−τ)κ), the quantile Huber loss at Y is majorised by ‖M − X‖²/(2κ) with
//! M = Y + clip(W − Y, −τκ, (1−τ)κ), whose best rank-P approximation X follows from one step of subspace
//! iteration: Q ← orth(M Q), B = QᵀMQ. A Nesterov step extrapolates between iterates and is restarted when the
//! loss rises; each τ starts from the solution of the one before.
//!
//! When every pair is a candidate the loss runs over all of W, blocks of rows at a time. On sparse candidates it
//! runs over the candidates, the diagonal and as many sampled non-edges (similarity 0) as there are candidates;
//! memory is then linear in the edges.

use faer::{Accum, MatRef};
use rayon::prelude::*;

use super::loss::Loss;
use super::matrix::AffinityMatrix;
use super::{
    ConditionalQuantiles, ProblemSize, Quantiles, StopReason, Taus, Training, crossing_rate, rearrange,
};
use crate::affinity::Similarities;
use crate::dense::{columns_of, columns_of_mut, multiply, orthonormalize};
use crate::edges::Edges;
use crate::error::{Result, require};
use crate::progress::Run;
use crate::random::{Draws, Stage, Stream};

/// Rows of W that are dense at once.
const BLOCK: usize = 128;

/// Parameters of the factorisation.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Factorization {
    /// P; at most one less than the points.
    pub rank: usize,
    /// Half-width κ of the smoothing; 0.005 to 0.2 makes no difference.
    pub kappa: f64,
    /// Stop once the factorisation changes by less than this share.
    pub tolerance: f64,
    /// Most iterations for each τ.
    pub max_iterations: usize,
}

impl Default for Factorization {
    fn default() -> Self {
        Self { rank: 20, kappa: 0.05, tolerance: 1e-3, max_iterations: 60 }
    }
}

/// Y = U·S·Uᵀ with U of n rows (column-major) and a small symmetric S.
#[derive(Debug, Clone)]
struct LowRank {
    u: Vec<f64>,
    s: Vec<f64>,
    n: usize,
}

impl LowRank {
    fn rank(&self) -> usize {
        self.u.len() / self.n
    }

    /// U·S, column-major.
    fn left(&self) -> Vec<f64> {
        let mut left = vec![0.0; self.u.len()];
        let (u, s) = (columns_of(&self.u, self.n), columns_of(&self.s, self.rank()));
        multiply(columns_of_mut(&mut left, self.n), Accum::Replace, u, s, 1.0);
        left
    }

    /// (1 + beta)·a − beta·b.
    fn extrapolate(a: &LowRank, b: &LowRank, beta: f64) -> LowRank {
        let (p, q) = (a.rank(), b.rank());
        let mut s = vec![0.0; (p + q) * (p + q)];
        for column in 0..p {
            for row in 0..p {
                s[column * (p + q) + row] = (1.0 + beta) * a.s[column * p + row];
            }
        }
        for column in 0..q {
            for row in 0..q {
                s[(p + column) * (p + q) + p + row] = -beta * b.s[column * q + row];
            }
        }
        LowRank { u: [a.u.as_slice(), &b.u].concat(), s, n: a.n }
    }
}

/// The entries of W that the loss runs over.
enum Observed<'a> {
    /// All of them.
    Dense(&'a AffinityMatrix),
    /// Some, with their similarities, and the diagonal.
    Sparse { edges: Edges, weights: Vec<f64> },
}

impl Observed<'_> {
    /// M·X for M = Y + clip(W − Y), row-major, and the loss at Y.
    fn majorizer_times(&self, y: &LowRank, x: &[f64], tau: f64, kappa: f64) -> (Vec<f64>, f64) {
        let n = y.n;
        let p = x.len() / n;
        let left = y.left();
        let loss = Loss::Huber { kappa };
        let clip = |r: f64| r.clamp(-tau * kappa, (1.0 - tau) * kappa);
        let mut product = vec![0.0; n * p];
        let losses: Vec<f64> = match self {
            Observed::Dense(matrix) => product
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
                    let part = columns_of(&left, n).subrows(begin, rows);
                    multiply(
                        columns_of_mut(&mut m, n),
                        Accum::Replace,
                        columns_of(&y.u, n),
                        part.transpose(),
                        1.0,
                    );
                    let mut sum = 0.0;
                    for (m, w) in m.iter_mut().zip(&w) {
                        let r = w - *m;
                        sum += loss.value(tau, r);
                        *m += clip(r);
                    }
                    let view = columns_of_mut(out, p);
                    multiply(view, Accum::Replace, columns_of(x, n).transpose(), columns_of(&m, n), 1.0);
                    sum
                })
                .collect(),
            Observed::Sparse { edges, weights } => {
                // Y·X = (U S)(Uᵀ X) at once, then the sparse correction row by row.
                let k = y.rank();
                let mut inner = vec![0.0; k * p];
                let (u, x_columns) = (columns_of(&y.u, n), columns_of(x, n));
                multiply(columns_of_mut(&mut inner, k), Accum::Replace, u.transpose(), x_columns, 1.0);
                multiply(
                    columns_of_mut(&mut product, p),
                    Accum::Replace,
                    columns_of(&inner, k).transpose(),
                    columns_of(&left, n).transpose(),
                    1.0,
                );
                let (left_rows, u_rows, x_rows) =
                    (transposed(&left, n), transposed(&y.u, n), transposed(x, n));
                let value = |i: usize, j: usize| -> f64 {
                    left_rows[i * k..(i + 1) * k]
                        .iter()
                        .zip(&u_rows[j * k..(j + 1) * k])
                        .map(|(a, b)| a * b)
                        .sum()
                };
                product
                    .par_chunks_exact_mut(p)
                    .enumerate()
                    .map(|(i, out)| {
                        let mut sum = 0.0;
                        let mut add = |j: usize, weight: f64| {
                            let r = weight - value(i, j);
                            sum += loss.value(tau, r);
                            let step = clip(r);
                            out.iter_mut().zip(&x_rows[j * p..(j + 1) * p]).for_each(|(o, v)| *o += step * v);
                        };
                        add(i, 1.0);
                        edges.incident(i).for_each(|(j, edge)| add(j as usize, weights[edge]));
                        sum
                    })
                    .collect()
            }
        };
        (product, losses.iter().sum::<f64>() / n as f64)
    }
}

/// Column-major n × p → row-major.
fn transposed(values: &[f64], n: usize) -> Vec<f64> {
    let p = values.len() / n;
    (0..n).flat_map(|i| (0..p).map(move |t| values[t * n + i])).collect()
}

impl ConditionalQuantiles for Factorization {
    fn check(&self) -> Result<()> {
        require(self.rank >= 1, "rank", self.rank, "must be at least 1")?;
        require(
            self.kappa > 0.0 && self.kappa.is_finite(),
            "kappa",
            self.kappa,
            "must be finite and above 0",
        )?;
        require(self.tolerance >= 0.0, "tolerance", self.tolerance, "must be at least 0")?;
        require(self.max_iterations >= 1, "max_iterations", self.max_iterations, "must be at least 1")
    }

    fn bytes(&self, size: ProblemSize) -> u64 {
        let (n, rank) = (size.n_nodes, self.rank as u64);
        let blocks = 2 * 8 * BLOCK as u64 * n * rayon::current_num_threads() as u64;
        let sampled = Edges::bytes(n, 2 * size.n_edges) + 16 * 2 * size.n_edges;
        8 * size.n_edges * size.n_taus
            + AffinityMatrix::bytes(n, size.n_edges)
            + 8 * n * rank * 16
            + blocks.max(sampled)
    }

    fn estimate(
        &self,
        similarities: &Similarities<'_>,
        taus: &Taus,
        _: f64,
        run: &Run<'_>,
    ) -> Result<Quantiles> {
        let edges = similarities.edges();
        let n = edges.n_nodes();
        run.stage("quantile factorisation", Some((taus.len() * self.max_iterations) as u64))?;
        let rank = self.rank.min(n.saturating_sub(1)).max(1);
        let matrix = AffinityMatrix::new(similarities)?;
        let (u, values) = matrix.leading_eigenvectors(rank, run)?;
        let mut s = vec![0.0; rank * rank];
        values.iter().enumerate().for_each(|(t, value)| s[t * rank + t] = *value);
        let mut current = LowRank { u, s, n };
        let complete = edges.len() == n * (n - 1) / 2;
        let observed =
            if complete { Observed::Dense(&matrix) } else { with_sampled_non_edges(similarities, run)? };
        let mut draws = Stream::new(run.seed, Stage::Weights).at(2, 0);
        let mut reconstructions = vec![0.0; edges.len() * taus.len()];
        let mut training = Vec::new();
        for (t, &tau) in taus.values().iter().enumerate() {
            let (fitted, losses, stop) = self.fit(&observed, current, tau, &mut draws, run)?;
            current = fitted;
            run.progress.advance((self.max_iterations - losses.len().min(self.max_iterations)) as u64);
            training.push(Training { tau: Some(tau), losses, stop });
            let (left, right) = (transposed(&current.left(), n), transposed(&current.u, n));
            edges.for_each_row(&mut reconstructions, taus.len(), |i, numbers, row| {
                for (edge, out) in numbers.zip(row.chunks_exact_mut(taus.len())) {
                    let j = edges.target(edge) as usize;
                    let pair = left[i * rank..(i + 1) * rank].iter().zip(&right[j * rank..(j + 1) * rank]);
                    out[t] = pair.map(|(a, b)| a * b).sum();
                }
            });
        }
        let crossing = crossing_rate(&reconstructions, taus.len());
        rearrange(&mut reconstructions, taus.len());
        Ok(Quantiles {
            taus: taus.clone(),
            reconstructions: Some(reconstructions),
            persistence: None,
            training,
            crossing_rate: Some(crossing),
        })
    }
}

impl Factorization {
    fn fit(
        &self,
        observed: &Observed<'_>,
        start: LowRank,
        tau: f64,
        draws: &mut Draws,
        run: &Run<'_>,
    ) -> Result<(LowRank, Vec<f64>, StopReason)> {
        let n = start.n;
        let rank = start.rank();
        let mut previous = start.clone();
        let mut current = start;
        let mut momentum = 1.0f64;
        let mut losses: Vec<f64> = Vec::new();
        for _ in 0..self.max_iterations {
            run.check()?;
            let next_momentum = (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt()) / 2.0;
            let beta = (momentum - 1.0) / next_momentum;
            let y =
                if beta > 0.0 { LowRank::extrapolate(&current, &previous, beta) } else { current.clone() };
            let (product, loss) = observed.majorizer_times(&y, &current.u, tau, self.kappa);
            if losses.last().is_some_and(|&last| loss > last) && beta > 0.0 {
                // The extrapolation overshot: forget the momentum and step from the current iterate.
                momentum = 1.0;
                losses.push(loss);
                run.progress.advance(1);
                continue;
            }
            momentum = next_momentum;
            losses.push(loss);
            let mut u = transposed_back(&product, n);
            orthonormalize(&mut u, n, draws);
            let (product, _) = observed.majorizer_times(&y, &u, tau, self.kappa);
            let mut s = vec![0.0; rank * rank];
            let product = MatRef::from_row_major_slice(&product, n, rank);
            multiply(
                columns_of_mut(&mut s, rank),
                Accum::Replace,
                columns_of(&u, n).transpose(),
                product,
                1.0,
            );
            symmetrize(&mut s, rank);
            previous = std::mem::replace(&mut current, LowRank { u, s, n });
            run.progress.advance(1);
            if relative_change(&previous, &current) < self.tolerance {
                return Ok((current, losses, StopReason::Converged));
            }
        }
        Ok((current, losses, StopReason::IterationLimit))
    }
}

/// Row-major n × p → column-major.
fn transposed_back(values: &[f64], n: usize) -> Vec<f64> {
    transposed(values, values.len() / n)
}

fn symmetrize(s: &mut [f64], rank: usize) {
    for i in 0..rank {
        for j in 0..i {
            let mean = 0.5 * (s[i * rank + j] + s[j * rank + i]);
            (s[i * rank + j], s[j * rank + i]) = (mean, mean);
        }
    }
}

/// ‖A − B‖ / ‖B‖ in the Frobenius norm, from the small factors alone.
fn relative_change(a: &LowRank, b: &LowRank) -> f64 {
    let rank = a.rank();
    let mut overlap = vec![0.0; rank * rank];
    multiply(
        columns_of_mut(&mut overlap, rank),
        Accum::Replace,
        columns_of(&a.u, a.n).transpose(),
        columns_of(&b.u, b.n),
        1.0,
    );
    let (o, sa, sb) = (columns_of(&overlap, rank), columns_of(&a.s, rank), columns_of(&b.s, rank));
    // ⟨A, B⟩ = tr(Sa·O·Sb·Oᵀ) = Σ (Sa·O)∘(O·Sb) for orthonormal factors.
    let (mut left, mut right) = (vec![0.0; rank * rank], vec![0.0; rank * rank]);
    multiply(columns_of_mut(&mut left, rank), Accum::Replace, sa, o, 1.0);
    multiply(columns_of_mut(&mut right, rank), Accum::Replace, o, sb, 1.0);
    let inner: f64 = left.iter().zip(&right).map(|(a, b)| a * b).sum();
    let squares = |s: &[f64]| s.iter().map(|v| v * v).sum::<f64>();
    let difference = (squares(&a.s) + squares(&b.s) - 2.0 * inner).max(0.0);
    (difference / squares(&b.s).max(f64::MIN_POSITIVE)).sqrt()
}

/// The candidates and as many random other pairs, taken as similarity 0.
fn with_sampled_non_edges<'a>(similarities: &Similarities<'_>, run: &Run<'_>) -> Result<Observed<'a>> {
    let candidates = similarities.edges();
    let n = candidates.n_nodes();
    let known: Vec<(u32, u32)> = candidates.iter().collect();
    let stream = Stream::new(run.seed, Stage::NonEdges);
    let sampled: Vec<(u32, u32)> = (0..n)
        .into_par_iter()
        .flat_map_iter(|i| {
            let mut draws = stream.at(i as u32, 0);
            let count = candidates.upper(i).len();
            (0..count).map(move |_| (i as u32, draws.below(n) as u32)).collect::<Vec<_>>()
        })
        .filter(|(i, j)| i != j)
        .collect();
    let edges = Edges::from_pairs(n, known.into_iter().chain(sampled))?;
    // Candidates appear in both lists in the same order.
    let mut weights = vec![0.0; edges.len()];
    let mut candidate = candidates.iter().zip(similarities.values()).peekable();
    for (pair, weight) in edges.iter().zip(&mut weights) {
        if let Some((_, &value)) = candidate.next_if(|(known, _)| *known == pair) {
            *weight = value;
        }
    }
    Ok(Observed::Sparse { edges, weights })
}
