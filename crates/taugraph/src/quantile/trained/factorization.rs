//! Fast linear model: symmetric rank-P factorization Ŵ_τ = Q B Qᵀ by majorize–minimize.
//!
//! Since κ·ρ′_τ(r) = clip(r, −τκ, (1−τ)κ), the quantile Huber loss at Y is majorized by ‖M − X‖²/(2κ) with
//! M = Y + clip(W − Y, −τκ, (1−τ)κ), whose best rank-P approximation X follows from one step of subspace
//! iteration: Q ← orth(M Q), B = QᵀMQ. A Nesterov step extrapolates between iterates and is restarted when the
//! loss rises; each τ starts from the solution of the one before. What an entry is to predict are the similarities of points like
//! its two ends ([`targets`](super::targets)); [`majorizer`](super::majorizer) has M then.
//!
//! Over all pairs the time of an iteration is N²·P. Over the candidates and sampled non-edges it is linear in the edges, and
//! non-edges outside the sample have the squared loss; [`majorizer`](super::majorizer) has both.

use faer::{Accum, MatRef};

use super::low_rank::{LowRank, relative_change};
use super::majorizer::{BLOCK, Huber, Observed, SampledPairs};
use super::matrix::{AffinityMatrix, transposed};
use super::pairs::TrainingPairs;
use super::targets::Targets;
use super::{
    ConditionalQuantiles, ProblemSize, Quantiles, StopReason, Taus, Training, crossing_rate, rearrange,
};
use crate::affinity::Similarities;
use crate::dense::{columns_of, columns_of_mut, multiply, orthonormalize};
use crate::error::Result;
use crate::parameter::parameters;
use crate::progress::Run;
use crate::random::{Draws, Stage, Stream};

parameters! {
    /// Parameters of the factorization.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Factorization {
        /// Rank P; with few points, at most one less than their number.
        rank: usize = 20, "at least 1" => |rank| *rank >= 1;
        /// Half-width κ of the smoothing; values from 0.005 to 0.2 give the same results.
        kappa: f64 = 0.05, "finite and above 0" => |kappa| *kappa > 0.0 && kappa.is_finite();
        /// Stop once the factorization changes by less than this share.
        tolerance: f64 = 1e-3, "at least 0" => |tolerance| *tolerance >= 0.0;
        /// Maximum number of iterations for each τ.
        max_iterations: usize = 60, "at least 1" => |most| *most >= 1;
        /// Neighbors of a point whose rows, beside its own, are the targets of its row; 0 for its own row alone.
        target_neighbors: usize = 12;
        /// The pairs of points to train on.
        pairs: TrainingPairs = TrainingPairs::Automatic;
    }
}

impl Factorization {
    /// The paper read literally: every row is its own target.
    pub fn literal() -> Self {
        Self { target_neighbors: 0, ..Self::default() }
    }
}

impl ConditionalQuantiles for Factorization {
    fn n_neighbors(&self) -> usize {
        self.target_neighbors
    }

    fn bytes(&self, size: ProblemSize) -> u64 {
        let (n, rank) = (size.n_nodes, self.rank as u64);
        // W, M, the rows of the targets and the steps to them.
        let blocks = 4 * 8 * BLOCK as u64 * n * rayon::current_num_threads() as u64;
        let training = self.pairs.bytes(n, size.n_edges, blocks, |per_edge| {
            SampledPairs::bytes(n, size.n_edges, per_edge, self.target_neighbors as u64)
        });
        8 * size.n_edges * size.n_taus + AffinityMatrix::bytes(n, size.n_edges) + 8 * n * rank * 16 + training
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
        run.stage("quantile factorization", Some((taus.len() * self.max_iterations) as u64))?;
        let rank = self.rank.min(n.saturating_sub(1)).max(1);
        let matrix = AffinityMatrix::new(similarities)?;
        let targets = Targets::new(similarities.neighbors(), self.target_neighbors, run.seed)?;
        let (u, values) = matrix.leading_eigenvectors(rank, run)?;
        let mut s = vec![0.0; rank * rank];
        values.iter().enumerate().for_each(|(t, value)| s[t * rank + t] = *value);
        let mut current = LowRank { u, s, n };
        let observed = match self.pairs.per_edge(n as u64, edges.len() as u64) {
            None => Observed::Whole(&matrix, targets),
            Some(per_edge) => {
                Observed::Sampled(SampledPairs::new(similarities, &matrix, &targets, per_edge, run)?)
            }
        };
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
            let majorizer = observed.majorizer(&y, Huber { tau, kappa: self.kappa });
            let (product, loss) = majorizer.times(&current.u, n);
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
            let (product, _) = majorizer.times(&u, n);
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
