//! The largest eigenpairs of a symmetric operator: thick-restart Lanczos with full reorthogonalisation.
//!
//! Wu and Simon, "Thick-restart Lanczos method for large symmetric eigenvalue problems" (2000). A single start
//! vector sees only one direction of a multiple eigenvalue, so once all wanted pairs have converged the search
//! goes on from a fresh random vector until that brings nothing better.

use faer::{Accum, MatRef};

use super::laplacian::SymmetricOperator;
use crate::dense::{
    columns_of, columns_of_mut, multiply, norm, orthogonalize, project, subtract_combination, symmetric_eigen,
};
use crate::error::Result;
use crate::progress::Run;
use crate::random::{Stage, Stream};

/// What is asked of the iteration.
pub(super) struct LanczosParams {
    /// Pairs wanted.
    pub wanted: usize,
    /// A pair is converged when its residual is below this share of its eigenvalue.
    pub tolerance: f64,
    /// Most applications of the operator.
    pub max_applications: usize,
    /// Give up as soon as the speed of convergence shows that the limit will be missed.
    pub give_up_early: bool,
    /// Which start vectors to take.
    pub salt: u32,
}

/// The best pairs found, converged or not: the caller checks residuals of its own.
pub(super) struct LanczosResult {
    /// Ritz values, descending: the wanted ones and a few more.
    pub values: Vec<f64>,
    /// Ritz vectors of the wanted ones, column-major.
    pub vectors: Vec<f64>,
    pub applications: usize,
}

/// The basis V, the projection T = VᵀAV, and how many columns of both are in use.
struct Basis {
    n: usize,
    size: usize,
    filled: usize,
    vectors: Vec<f64>,
    projection: Vec<f64>,
}

impl Basis {
    fn column(&self, index: usize) -> &[f64] {
        &self.vectors[index * self.n..(index + 1) * self.n]
    }

    fn set_projection(&mut self, i: usize, j: usize, value: f64) {
        self.projection[i * self.size + j] = value;
        self.projection[j * self.size + i] = value;
    }
}

/// The `wanted` largest eigenpairs in the orthogonal complement of the orthonormal columns of `deflated`.
pub(super) fn largest(
    operator: &dyn SymmetricOperator,
    deflated: &[f64],
    params: &LanczosParams,
    run: &Run<'_>,
) -> Result<LanczosResult> {
    let n = operator.len();
    let room = n - deflated.len() / n;
    let wanted = params.wanted.min(room);
    let size = (2 * wanted + 20).max(40).min(room);
    let mut basis =
        Basis { n, size, filled: 0, vectors: vec![0.0; n * (size + 1)], projection: vec![0.0; size * size] };
    let stream = Stream::new(run.seed, Stage::Eigen);
    let mut starts = 0;
    let mut applications = 0;
    let mut residuals_seen: Vec<f64> = Vec::new();
    let mut accepted: Option<f64> = None;
    fresh_direction(&mut basis, deflated, &stream, params.salt, &mut starts);
    loop {
        let mut beta = 0.0;
        while basis.filled < size {
            run.check()?;
            beta = extend(operator, deflated, &mut basis);
            applications += 1;
            // An invariant subspace is found: go on elsewhere, with no coupling.
            if beta <= 1e-14 && basis.filled < size {
                fresh_direction(&mut basis, deflated, &stream, params.salt, &mut starts);
                beta = 0.0;
            }
        }
        let view = MatRef::from_column_major_slice(&basis.projection, size, size);
        let (ascending, small) = symmetric_eigen(view)?;
        let values: Vec<f64> = ascending.iter().rev().copied().collect();
        let residual = |rank: usize| (beta * small[(size - 1, size - 1 - rank)]).abs();
        let worst = (0..wanted).map(|rank| residual(rank) / values[rank].abs()).fold(0.0, f64::max);
        let converged = worst <= params.tolerance || size == room;
        let spent = applications >= params.max_applications
            || (params.give_up_early
                && !converged
                && is_hopeless(&mut residuals_seen, worst, applications, params));
        let last = values[wanted - 1];
        let confirmed = converged
            && (size == room
                || accepted.is_some_and(|before| last - before <= params.tolerance * before.abs()));
        // Keep the wanted vectors, and some of the following ones while still looking.
        let keep = if converged || spent { wanted } else { (wanted + (size - wanted) / 2).min(size - 1) };
        let rotation = small.as_ref().subcols(size - keep, keep).reverse_cols();
        let mut rotated = vec![0.0; n * keep];
        let used = columns_of(&basis.vectors[..n * size], n);
        multiply(columns_of_mut(&mut rotated, n), Accum::Replace, used, rotation, 1.0);
        if confirmed || spent {
            return Ok(LanczosResult { values, vectors: rotated, applications });
        }
        let next = basis.column(size).to_vec();
        basis.vectors[..n * keep].copy_from_slice(&rotated);
        basis.projection.fill(0.0);
        for (rank, &value) in values.iter().enumerate().take(keep) {
            basis.set_projection(rank, rank, value);
        }
        basis.filled = keep;
        if converged {
            // All residuals are negligible: drop the couplings and look for what one start vector cannot see.
            accepted = Some(last);
            fresh_direction(&mut basis, deflated, &stream, params.salt, &mut starts);
        } else {
            basis.vectors[n * keep..n * (keep + 1)].copy_from_slice(&next);
            for rank in 0..keep {
                basis.set_projection(rank, keep, beta * small[(size - 1, size - 1 - rank)]);
            }
        }
    }
}

/// Applies the operator to the newest basis vector and orthogonalises the result into the next one.
///
/// Returns the norm of what is left; the new vector is normalised unless that is (nearly) 0.
fn extend(operator: &dyn SymmetricOperator, deflated: &[f64], basis: &mut Basis) -> f64 {
    let (n, j) = (basis.n, basis.filled);
    let (known, rest) = basis.vectors.split_at_mut((j + 1) * n);
    let next = &mut rest[..n];
    operator.apply(&known[j * n..], next);
    let before = norm(next);
    orthogonalize(next, deflated);
    let mut coefficients = project(next, known);
    subtract_combination(next, known, &coefficients);
    let mut after = norm(next);
    // Once more if cancellation ate the digits (Daniel, Gragg, Kaufman, Stewart).
    if after < 0.717 * before {
        orthogonalize(next, deflated);
        let correction = project(next, known);
        subtract_combination(next, known, &correction);
        coefficients.iter_mut().zip(&correction).for_each(|(c, d)| *c += d);
        after = norm(next);
    }
    // Below the rounding of the sums nothing is left but noise.
    if after <= 1e-14 * before {
        after = 0.0;
    } else {
        next.iter_mut().for_each(|v| *v /= after);
    }
    // Couplings to earlier vectors are known from before; what the projection adds is their rounding.
    basis.set_projection(j, j, coefficients[j]);
    if j + 1 < basis.size {
        basis.set_projection(j, j + 1, after);
    }
    basis.filled = j + 1;
    after
}

/// Puts a random direction, orthogonal to everything known, in the place of the next basis vector.
fn fresh_direction(basis: &mut Basis, deflated: &[f64], stream: &Stream, salt: u32, starts: &mut u32) {
    let n = basis.n;
    loop {
        let mut draws = stream.at(salt, *starts);
        *starts += 1;
        let (known, rest) = basis.vectors.split_at_mut(basis.filled * n);
        let next = &mut rest[..n];
        next.iter_mut().for_each(|v| *v = draws.normal());
        let before = norm(next);
        for _ in 0..3 {
            orthogonalize(next, deflated);
            orthogonalize(next, known);
        }
        let after = norm(next);
        if after > 1e-8 * before {
            next.iter_mut().for_each(|v| *v /= after);
            break;
        }
    }
    let filled = basis.filled;
    if filled > 0 && filled < basis.size {
        for earlier in 0..filled {
            basis.set_projection(earlier, filled, 0.0);
        }
    }
}

/// Extrapolates the geometric fall of the residual over the last restarts.
fn is_hopeless(seen: &mut Vec<f64>, worst: f64, applications: usize, params: &LanczosParams) -> bool {
    seen.push(worst);
    let Some(&earlier) = seen.len().checked_sub(3).and_then(|index| seen.get(index)) else { return false };
    let rate = (worst / earlier).sqrt();
    if rate >= 1.0 {
        return true;
    }
    let restarts = (params.tolerance / worst).ln() / rate.ln();
    let each = applications as f64 / seen.len() as f64;
    restarts * each > (params.max_applications - applications.min(params.max_applications)) as f64
}
