//! The largest eigenpairs of a symmetric operator: thick-restart band Lanczos with full reorthogonalization.
//!
//! Wu and Simon, "Thick-restart Lanczos method for large symmetric eigenvalue problems" (2000), with a queue of
//! vectors instead of one. The operator has been applied to the first p columns of the basis; the columns after
//! them wait their turn:
//!
//! A·V_p = V_p·T + Q·B, with Q the waiting columns, T = V_pᵀAV_p and B the couplings.
//!
//! Any start vectors will do. Good guesses (of nearly separate parts of a graph) converge at once, where a single
//! random vector would see only one direction of their nearly equal eigenvalues. Even so, once all wanted pairs have
//! converged the search goes on from a fresh random vector, until the best pair that it finds is known to be no better.

use faer::{Accum, Mat, MatMut, MatRef};

use super::laplacian::SymmetricOperator;
use crate::dense::{
    VECTOR_CHUNK, columns_of_mut, multiply, norm, orthogonalize, project, subtract_combination,
    symmetric_eigen,
};
use crate::error::{Error, Result};
use crate::progress::Run;
use crate::random::{Stage, Stream};

/// The best of the other pairs is taken to lie below the wanted ones when its residual is this share of its distance from
/// them: while it still rises towards them, its residual is of the size of that distance.
const SURE: f64 = 0.1;

/// Steps after which a first look at the speed of convergence is worth something.
const EARLY: usize = 24;

/// Random directions tried before the basis is declared unusable.
const TRIES: usize = 5;

/// What is asked of the iteration.
pub(super) struct LanczosParams<'a> {
    /// Pairs wanted.
    pub wanted: usize,
    /// A pair is converged when its residual is below this share of its eigenvalue.
    pub tolerance: f64,
    /// Where the pair after the wanted ones lies far below them, residuals up to this share of the distance are good enough: it
    /// bounds the angle between what was found and the true space (Davis and Kahan 1970). 0 leaves it at the tolerance.
    pub angle: f64,
    /// Steps between two looks at the convergence.
    pub steps: usize,
    /// Most applications of the operator.
    pub max_applications: usize,
    /// Asked once early on, with the worst residual, whether another method would do better.
    pub is_doubtful: &'a dyn Fn(f64) -> bool,
    /// Asked at every restart, with the worst residual and the applications so far, whether to give up.
    pub give_up: &'a dyn Fn(f64, usize) -> bool,
    /// Start vectors, column-major, as good as known; a random one is always added.
    pub guesses: &'a [f64],
    /// Which random vectors to take.
    pub salt: u32,
}

/// The best pairs found, converged or not: the caller checks residuals of its own.
pub(super) struct LanczosResult {
    /// Ritz vectors of the wanted ones, column-major.
    pub vectors: Vec<f64>,
    pub applications: usize,
    /// Whether the search made sure that no larger pair was missed.
    pub confirmed: bool,
    /// How far at least the pair after the wanted ones lies below them, once that is confirmed.
    pub gap: Option<f64>,
}

/// Processed and waiting vectors.
struct Basis<'a> {
    deflated: &'a [f64],
    stream: Stream,
    salt: u32,
    starts: u32,
    n: usize,
    /// Share of a vector's Rayleigh quotient below which its residual does not count.
    negligible: f64,
    /// Columns for which there is room.
    capacity: usize,
    /// Columns that the operator has been applied to: V_p.
    processed: usize,
    /// Columns waiting after them: Q.
    waiting: usize,
    vectors: Vec<f64>,
    /// Column j holds the inner products of A·v_j with all columns: T and B, `capacity` rows.
    projection: Vec<f64>,
}

impl Basis<'_> {
    fn columns(&self) -> usize {
        self.processed + self.waiting
    }

    /// Appends a waiting vector: the guess made orthonormal to all columns, or a random direction if there is no guess
    /// or nothing is left of it.
    fn append(&mut self, guess: Option<&[f64]>) -> Result<()> {
        let n = self.n;
        let place = self.columns() * n;
        let mut usable = false;
        if let Some(guess) = guess {
            self.vectors[place..place + n].copy_from_slice(guess);
            usable = self.orthonormalize_last();
        }
        for _ in 0..TRIES {
            if usable {
                break;
            }
            let mut draws = self.stream.at(self.salt, self.starts);
            self.starts += 1;
            self.vectors[place..place + n].iter_mut().for_each(|v| *v = draws.normal());
            usable = self.orthonormalize_last();
        }
        if !usable {
            // A random direction is only lost where something is not a number.
            return Err(Error::Numerical { what: "an eigenproblem" });
        }
        self.waiting += 1;
        Ok(())
    }

    /// Makes the vector after the last column orthonormal to all; false if nothing but rounding was left of it.
    fn orthonormalize_last(&mut self) -> bool {
        let place = self.columns() * self.n;
        let (known, rest) = self.vectors.split_at_mut(place);
        let next = &mut rest[..self.n];
        let before = norm(next);
        for _ in 0..2 {
            orthogonalize(next, self.deflated);
            orthogonalize(next, known);
        }
        let after = norm(next);
        let usable = after > 1e-10 * before && after > f64::MIN_POSITIVE;
        if usable {
            next.iter_mut().for_each(|v| *v /= after);
        }
        usable
    }

    /// Dimension of the whole space, what is deflated left out.
    fn room(&self) -> usize {
        self.n - self.deflated.len() / self.n
    }

    /// Applies the operator to the first waiting vector; what is new in the result waits at the end.
    fn step(&mut self, operator: &dyn SymmetricOperator) -> Result<()> {
        let (n, j, columns, room) = (self.n, self.processed, self.columns(), self.room());
        let (known, rest) = self.vectors.split_at_mut(columns * n);
        let next = &mut rest[..n];
        operator.apply(&known[j * n..(j + 1) * n], next);
        let before = norm(next);
        orthogonalize(next, self.deflated);
        let mut coefficients = project(next, known);
        subtract_combination(next, known, &coefficients);
        let mut after = norm(next);
        // Once more if cancellation ate the digits (Daniel, Gragg, Kaufman, Stewart).
        if after < 0.717 * before {
            orthogonalize(next, self.deflated);
            let correction = project(next, known);
            subtract_combination(next, known, &correction);
            coefficients.iter_mut().zip(&correction).for_each(|(c, d)| *c += d);
            after = norm(next);
        }
        let rows = &mut self.projection[j * self.capacity..(j + 1) * self.capacity];
        rows.fill(0.0);
        rows[..columns].copy_from_slice(&coefficients);
        self.processed += 1;
        self.waiting -= 1;
        // What is left is negligible for the pairs, or nothing but the rounding of the sums: this line of vectors
        // ends here. Going on with it, blown up to length 1, would be work for nothing.
        if columns == room || after <= self.negligible * coefficients[j].abs() || after <= 1e-14 * before {
            if self.waiting == 0 && columns < room {
                self.append(None)?;
            }
        } else {
            next.iter_mut().for_each(|v| *v /= after);
            self.projection[j * self.capacity + columns] = after;
            self.waiting += 1;
        }
        Ok(())
    }

    /// Eigenpairs of T, ascending. Of its two halves, which differ by rounding, the lower one is read.
    fn ritz(&self) -> Result<(Vec<f64>, Mat<f64>)> {
        let (p, capacity) = (self.processed, self.capacity);
        symmetric_eigen(MatRef::from_column_major_slice_with_stride(
            &self.projection[..p * capacity],
            p,
            p,
            capacity,
        ))
    }

    /// Couplings of the Ritz vectors in the columns of `rotation` to the waiting vectors.
    fn couplings(&self, rotation: MatRef<'_, f64>) -> Vec<f64> {
        let (p, q) = (self.processed, self.waiting);
        if q == 0 {
            return Vec::new();
        }
        let columns = &self.projection[..p * self.capacity];
        let view =
            MatRef::from_column_major_slice_with_stride(columns, p + q, p, self.capacity).subrows(p, q);
        let mut couplings = vec![0.0; q * rotation.ncols()];
        multiply(columns_of_mut(&mut couplings, q), Accum::Replace, view, rotation, 1.0);
        couplings
    }

    /// Replaces the processed vectors by the Ritz vectors in the columns of `rotation`.
    fn compress(&mut self, rotation: MatRef<'_, f64>, values: &[f64]) {
        let (n, keep, waiting) = (self.n, rotation.ncols(), self.waiting);
        let couplings = self.couplings(rotation);
        rotate(columns_of_mut(&mut self.vectors[..n * self.processed], n), rotation);
        let moved = n * self.processed..n * self.columns();
        self.vectors.copy_within(moved, n * keep);
        self.projection.fill(0.0);
        for (rank, &value) in values.iter().enumerate().take(keep) {
            let column = &mut self.projection[rank * self.capacity..(rank + 1) * self.capacity];
            column[rank] = value;
            column[keep..keep + waiting].copy_from_slice(&couplings[rank * waiting..(rank + 1) * waiting]);
        }
        self.processed = keep;
    }
}

/// Very long vectors are dear: fewer of them are kept.
const LONG: usize = 200_000;

/// Most processed vectors, and room for those that wait.
fn basis_columns(n: usize, wanted: usize, n_starts: usize, room: usize) -> (usize, usize) {
    let depth = if n > LONG { 2 } else { 5 };
    let size = (2 * wanted + 20).max(40).max(wanted + depth * n_starts).min(room);
    (size, (size + n_starts).min(room) + 1)
}

/// Bytes that the search for `wanted` pairs holds at its peak, guesses and the pairs themselves included.
pub(super) fn bytes(n: usize, wanted: usize) -> u64 {
    let (_, columns) = basis_columns(n, wanted, wanted + 2, n);
    // Guesses, and what measuring the pairs takes.
    8 * n as u64 * (columns + wanted + 2 + 4) as u64
}

/// view·rotation in the first columns of the view, a few rows at a time so that no second copy of the basis is needed.
fn rotate(view: MatMut<'_, f64>, rotation: MatRef<'_, f64>) {
    let (rows, keep) = (view.nrows(), rotation.ncols());
    if rows > VECTOR_CHUNK {
        let (top, bottom) = view.split_at_row_mut((rows / 2).next_multiple_of(32));
        rayon::join(|| rotate(top, rotation), || rotate(bottom, rotation));
        return;
    }
    let mut rotated = Mat::<f64>::zeros(rows, keep);
    multiply(rotated.as_mut(), Accum::Replace, view.as_ref(), rotation, 1.0);
    view.subcols_mut(0, keep).copy_from(rotated);
}

/// The `wanted` largest eigenpairs in the orthogonal complement of the orthonormal columns of `deflated`.
pub(super) fn largest(
    operator: &dyn SymmetricOperator,
    deflated: &[f64],
    params: &LanczosParams<'_>,
    run: &Run<'_>,
) -> Result<LanczosResult> {
    let n = operator.len();
    let room = n - deflated.len() / n;
    let wanted = params.wanted.min(room);
    let n_starts = (params.guesses.len() / n + 1).min(room);
    let (size, capacity) = basis_columns(n, wanted, n_starts, room);
    let mut basis = Basis {
        deflated,
        stream: Stream::new(run.seed, Stage::Eigen),
        salt: params.salt,
        starts: 0,
        n,
        negligible: 0.1 * params.tolerance,
        capacity,
        processed: 0,
        waiting: 0,
        vectors: vec![0.0; n * capacity],
        projection: vec![0.0; capacity * capacity],
    };
    for guess in params.guesses.chunks_exact(n).take(n_starts - 1) {
        basis.append(Some(guess))?;
    }
    basis.append(None)?;
    let mut applications = 0;
    // The sum of the wanted values when all had converged, while a fresh start vector tries to do better.
    let mut accepted: Option<f64> = None;
    loop {
        let goal = (basis.processed + params.steps).max(wanted + 2).min(size);
        while basis.processed < goal && basis.waiting > 0 {
            run.check()?;
            basis.step(operator)?;
            applications += 1;
        }
        let filled = basis.processed;
        let (ascending, small) = basis.ritz()?;
        let values: Vec<f64> = ascending.into_iter().rev().collect();
        let leading = |count: usize| small.as_ref().subcols(filled - count, count).reverse_cols();
        let residuals: Vec<f64> = match basis.waiting {
            0 => vec![0.0; filled],
            waiting => basis.couplings(leading(filled)).chunks_exact(waiting).map(norm).collect(),
        };
        let worst = (0..wanted).map(|rank| residuals[rank] / values[rank].abs()).fold(0.0, f64::max);
        let complete = basis.waiting == 0;
        // The distance to the next pair shrinks while that is still being found: it must do for a tenth of the angle.
        let distance = if filled > wanted { 1.0 - values[wanted] / values[wanted - 1] } else { 0.0 };
        let converged = worst <= params.tolerance.max(0.1 * params.angle * distance);
        let full = filled == size;
        let last = values[wanted - 1];
        // Values that rise mean that a pair had been missed: the search begins again with it. Nothing has been missed
        // once the best of the other pairs is known well enough to lie below the wanted ones, or to equal the last.
        let sum: f64 = values[..wanted].iter().sum();
        if accepted.is_some_and(|before| sum - before > params.tolerance * before.abs()) {
            accepted = None;
        }
        let confirmed = accepted.is_some()
            && filled > wanted
            && residuals[wanted] <= (SURE * (last - values[wanted])).max(params.tolerance * last.abs());
        let done = converged && (confirmed || complete);
        // What the search is waiting for: the wanted pairs, or the one after them.
        let pending = match accepted {
            Some(_) if filled > wanted => residuals[wanted] / values[wanted].abs(),
            _ => worst,
        };
        // Pairs that have converged and are only being confirmed are beyond that doubt.
        let early = accepted.is_none() && (EARLY..EARLY + params.steps).contains(&applications);
        let hopeless = !done
            && ((early && (params.is_doubtful)(pending))
                || (full && (params.give_up)(pending, applications)));
        if done || hopeless || applications >= params.max_applications {
            basis.compress(leading(wanted), &values);
            basis.vectors.truncate(n * wanted);
            let gap = (done && filled > wanted).then(|| last - values[wanted] - residuals[wanted]);
            let vectors = basis.vectors;
            return Ok(LanczosResult { vectors, applications, confirmed: done, gap });
        }
        if converged && accepted.is_none() {
            // All residuals are negligible: drop what waits, and look for what the start vectors could not see.
            basis.compress(leading(wanted), &values);
            basis.waiting = 0;
            basis.projection.fill(0.0);
            for (rank, &value) in values.iter().enumerate().take(wanted) {
                basis.projection[rank * capacity + rank] = value;
            }
            basis.append(None)?;
            accepted = Some(sum);
        } else if full {
            // Keep the wanted vectors and some of the following ones.
            basis.compress(leading((wanted + (size - wanted) / 2).min(size - 1)), &values);
        }
    }
}
