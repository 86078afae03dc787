//! The largest eigenpairs of a symmetric operator: thick-restart Lanczos with full reorthogonalisation.
//!
//! Wu and Simon, "Thick-restart Lanczos method for large symmetric eigenvalue problems" (2000). A single start
//! vector sees only one direction of a multiple eigenvalue, so once all wanted pairs have converged the search
//! goes on from a fresh random vector until that brings nothing better.

use faer::{Accum, Mat, MatRef};

use super::laplacian::SymmetricOperator;
use crate::dense::{
    columns_of, columns_of_mut, multiply, norm, orthogonalize, project, subtract_combination, symmetric_eigen,
};
use crate::error::Result;
use crate::progress::Run;
use crate::random::{Stage, Stream};

/// Steps between two looks at the convergence.
const STEPS: usize = 8;

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
    /// Steps from a fresh start vector that must bring nothing better before the result is accepted. The farther
    /// apart the operator's largest eigenvalues, the fewer are enough.
    pub verification: usize,
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
    fn set_projection(&mut self, i: usize, j: usize, value: f64) {
        self.projection[i * self.size + j] = value;
        self.projection[j * self.size + i] = value;
    }

    /// Eigenpairs of the projection, ascending.
    fn ritz(&self) -> Result<(Vec<f64>, Mat<f64>)> {
        let (m, size) = (self.filled, self.size);
        symmetric_eigen(MatRef::from_column_major_slice_with_stride(&self.projection[..m * size], m, m, size))
    }

    /// Replaces the basis by the combinations in the columns of `rotation`, which are Ritz vectors, and puts
    /// their values on the diagonal of the projection. The vector after the last one moves along.
    fn compress(&mut self, rotation: MatRef<'_, f64>, values: &[f64]) {
        let (n, keep) = (self.n, rotation.ncols());
        let mut rotated = vec![0.0; n * keep];
        let used = columns_of(&self.vectors[..n * self.filled], n);
        multiply(columns_of_mut(&mut rotated, n), Accum::Replace, used, rotation, 1.0);
        self.vectors.copy_within(n * self.filled..n * (self.filled + 1), n * keep);
        self.vectors[..n * keep].copy_from_slice(&rotated);
        self.projection.fill(0.0);
        for (rank, &value) in values.iter().enumerate().take(keep) {
            self.set_projection(rank, rank, value);
        }
        self.filled = keep;
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
    // The smallest wanted value when all had converged, while a fresh start vector tries to do better.
    let mut accepted: Option<f64> = None;
    fresh_direction(&mut basis, deflated, &stream, params.salt, &mut starts);
    loop {
        let steps = if accepted.is_some() { params.verification } else { STEPS };
        let goal = (basis.filled + steps).max(wanted + 2).min(size);
        let mut beta = 0.0;
        while basis.filled < goal {
            run.check()?;
            beta = extend(operator, deflated, &mut basis);
            applications += 1;
            // An invariant subspace is found: go on elsewhere, with no coupling.
            if beta <= 1e-14 && basis.filled < size {
                fresh_direction(&mut basis, deflated, &stream, params.salt, &mut starts);
                beta = 0.0;
            }
        }
        let filled = basis.filled;
        let (ascending, small) = basis.ritz()?;
        let values: Vec<f64> = ascending.into_iter().rev().collect();
        let coupling = |rank: usize| beta * small[(filled - 1, filled - 1 - rank)];
        let worst = (0..wanted).map(|rank| (coupling(rank) / values[rank]).abs()).fold(0.0, f64::max);
        let complete = filled == room;
        let converged = worst <= params.tolerance || complete;
        let full = filled == size;
        let hopeless = params.give_up_early
            && full
            && !converged
            && is_hopeless(&mut residuals_seen, worst, applications, params);
        let last = values[wanted - 1];
        let confirmed = accepted.is_some_and(|before| last - before <= params.tolerance * before.abs());
        if (converged && (confirmed || complete)) || hopeless || applications >= params.max_applications {
            basis.compress(small.as_ref().subcols(filled - wanted, wanted).reverse_cols(), &values);
            basis.vectors.truncate(n * wanted);
            return Ok(LanczosResult { values, vectors: basis.vectors, applications });
        }
        if converged {
            // All residuals are negligible: drop the couplings and look for what one start vector cannot see.
            basis.compress(small.as_ref().subcols(filled - wanted, wanted).reverse_cols(), &values);
            accepted = Some(last);
            fresh_direction(&mut basis, deflated, &stream, params.salt, &mut starts);
        } else if full {
            // Keep the wanted vectors and some of the following ones.
            let keep = (wanted + (size - wanted) / 2).min(size - 1);
            let couplings: Vec<f64> = (0..keep).map(coupling).collect();
            basis.compress(small.as_ref().subcols(filled - keep, keep).reverse_cols(), &values);
            for (rank, &value) in couplings.iter().enumerate() {
                basis.set_projection(rank, keep, value);
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
