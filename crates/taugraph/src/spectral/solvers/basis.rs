//! The basis of band Lanczos: vectors to which the operator has been applied, and vectors waiting for it.
//!
//! A·V_p = V_p·T + Q·B, with V_p the first p columns, Q the columns waiting after them, T = V_pᵀAV_p and B the couplings.

use faer::{Accum, Mat, MatMut, MatRef};

use super::SymmetricOperator;
use crate::dense::{
    VECTOR_CHUNK, columns_of_mut, multiply, norm, orthogonalize, project, subtract_combination,
    symmetric_eigen,
};
use crate::error::{Error, Result};
use crate::random::Stream;

/// Random directions tried before the basis is declared unusable.
const MAX_TRIES: usize = 5;

/// Processed and waiting vectors.
pub(super) struct Basis<'a> {
    /// Orthonormal vectors that everything is orthogonal to.
    deflated: &'a [f64],
    random: RandomVectors,
    n: usize,
    /// Fraction of a vector's Rayleigh quotient below which its residual is negligible.
    negligible: f64,
    /// Maximum number of columns.
    capacity: usize,
    /// Columns to which the operator has been applied: V_p.
    pub processed: usize,
    /// Columns waiting after them: Q.
    pub waiting: usize,
    vectors: Vec<f64>,
    /// Column j holds the inner products of A·v_j with all columns: T and B, `capacity` rows.
    projection: Vec<f64>,
}

/// Random directions.
pub(super) struct RandomVectors {
    stream: Stream,
    salt: u32,
    /// How many have been drawn.
    drawn: u32,
}

impl RandomVectors {
    /// `salt` distinguishes the draws of one search from those of another.
    pub fn new(stream: Stream, salt: u32) -> Self {
        Self { stream, salt, drawn: 0 }
    }

    fn fill(&mut self, vector: &mut [f64]) {
        let mut draws = self.stream.at(self.salt, self.drawn);
        self.drawn += 1;
        vector.iter_mut().for_each(|v| *v = draws.normal());
    }
}

impl<'a> Basis<'a> {
    /// An empty basis with room for `capacity` columns of `n` entries.
    pub fn new(
        n: usize,
        capacity: usize,
        deflated: &'a [f64],
        negligible: f64,
        random: RandomVectors,
    ) -> Self {
        Self {
            deflated,
            random,
            n,
            negligible,
            capacity,
            processed: 0,
            waiting: 0,
            vectors: vec![0.0; n * capacity],
            projection: vec![0.0; capacity * capacity],
        }
    }

    fn columns(&self) -> usize {
        self.processed + self.waiting
    }

    /// Appends a waiting vector: the guess made orthonormal to all columns, or a random direction if there is no guess
    /// or nothing is left of it.
    pub fn append(&mut self, guess: Option<&[f64]>) -> Result<()> {
        let n = self.n;
        let place = self.columns() * n;
        let mut usable = false;
        if let Some(guess) = guess {
            self.vectors[place..place + n].copy_from_slice(guess);
            usable = self.orthonormalize_last();
        }
        for _ in 0..MAX_TRIES {
            if usable {
                break;
            }
            self.random.fill(&mut self.vectors[place..place + n]);
            usable = self.orthonormalize_last();
        }
        if !usable {
            // A random direction is only lost if something is NaN.
            return Err(Error::Numerical { what: "an eigenproblem" });
        }
        self.waiting += 1;
        Ok(())
    }

    /// Makes the vector after the last column orthonormal to all; false if only rounding error was left of it.
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

    /// Dimension of the whole space without the deflated vectors.
    fn room(&self) -> usize {
        self.n - self.deflated.len() / self.n
    }

    /// Applies the operator to the first waiting vector; the new direction in the result is appended to the waiting vectors.
    pub fn step(&mut self, operator: &dyn SymmetricOperator) -> Result<()> {
        let (n, j, columns, room) = (self.n, self.processed, self.columns(), self.room());
        let (known, rest) = self.vectors.split_at_mut(columns * n);
        let next = &mut rest[..n];
        operator.apply(&known[j * n..(j + 1) * n], next);
        let Split { before, coefficients, after } = split(next, known, self.deflated);
        let rows = &mut self.projection[j * self.capacity..(j + 1) * self.capacity];
        rows.fill(0.0);
        rows[..columns].copy_from_slice(&coefficients);
        self.processed += 1;
        self.waiting -= 1;
        // The remainder is negligible for the pairs, or mere rounding error of the sums: this sequence of vectors
        // ends here. Continuing with it, scaled up to length 1, would be pointless.
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

    /// Eigenpairs of T, ascending. Its two triangles differ by rounding; the lower one is read.
    pub fn ritz(&self) -> Result<(Vec<f64>, Mat<f64>)> {
        let (p, capacity) = (self.processed, self.capacity);
        symmetric_eigen(MatRef::from_column_major_slice_with_stride(
            &self.projection[..p * capacity],
            p,
            p,
            capacity,
        ))
    }

    /// Couplings of the Ritz vectors in the columns of `rotation` to the waiting vectors.
    pub fn couplings(&self, rotation: MatRef<'_, f64>) -> Vec<f64> {
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
    pub fn compress(&mut self, rotation: MatRef<'_, f64>, values: &[f64]) {
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

    /// Drops the waiting vectors and their couplings to the processed vectors, which are Ritz vectors of these values.
    pub fn drop_waiting(&mut self, values: &[f64]) {
        self.waiting = 0;
        self.projection.fill(0.0);
        for (rank, &value) in values.iter().enumerate().take(self.processed) {
            self.projection[rank * self.capacity + rank] = value;
        }
    }

    /// The processed vectors, column-major.
    pub fn into_processed(mut self) -> Vec<f64> {
        self.vectors.truncate(self.n * self.processed);
        self.vectors
    }
}

/// A vector split into a combination of known ones and a new part.
struct Split {
    /// Length of the vector.
    before: f64,
    /// Its inner products with the known vectors.
    coefficients: Vec<f64>,
    /// Length of the new part.
    after: f64,
}

/// Reduces `next` to its part orthogonal to the `known` and the `deflated` vectors.
fn split(next: &mut [f64], known: &[f64], deflated: &[f64]) -> Split {
    let before = norm(next);
    orthogonalize(next, deflated);
    let mut coefficients = project(next, known);
    subtract_combination(next, known, &coefficients);
    let mut after = norm(next);
    // Once more if cancellation lost digits (Daniel, Gragg, Kaufman, Stewart).
    if after < 0.717 * before {
        orthogonalize(next, deflated);
        let correction = project(next, known);
        subtract_combination(next, known, &correction);
        coefficients.iter_mut().zip(&correction).for_each(|(c, d)| *c += d);
        after = norm(next);
    }
    Split { before, coefficients, after }
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
