//! Dense linear algebra with the same bits on any number of threads.
//!
//! Work is cut into chunks by shape alone, every chunk is computed sequentially, and partial sums are added in
//! a fixed order. faer does the arithmetic inside a chunk.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt;
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::random::Draws;
use crate::vectorized::vectorized;

/// Size of chunks of vectors; large enough that scheduling is negligible.
pub(crate) const VECTOR_CHUNK: usize = 4096;

/// Products below this many multiplications are not worth splitting.
const PARALLEL_PRODUCT: usize = 1 << 18;

/// `out ← alpha·a·b`, or `out ← out + alpha·a·b`.
///
/// # Panics
/// If `out` is not column-major: on processors with AVX2 but not AVX-512, faer 0.24.4 (private-gemm-x86 0.1.18 to
/// 0.1.22) writes outside row-major destinations (docs/decisions/0003 has the shapes).
pub(crate) fn multiply(
    out: MatMut<'_, f64>,
    accum: Accum,
    a: MatRef<'_, f64>,
    b: MatRef<'_, f64>,
    alpha: f64,
) {
    assert_eq!(out.row_stride(), 1, "destinations are column-major");
    let (rows, columns) = (out.nrows(), out.ncols());
    let halves = |length: usize| (length / 2).next_multiple_of(32);
    if rows.max(columns) <= 64 || rows * columns * a.ncols() <= PARALLEL_PRODUCT {
        matmul::matmul(out, accum, a, b, alpha, Par::Seq);
    } else if rows >= columns {
        let (top, bottom) = out.split_at_row_mut(halves(rows));
        let (a_top, a_bottom) = a.split_at_row(halves(rows));
        rayon::join(|| multiply(top, accum, a_top, b, alpha), || multiply(bottom, accum, a_bottom, b, alpha));
    } else {
        let (left, right) = out.split_at_col_mut(halves(columns));
        let (b_left, b_right) = b.split_at_col(halves(columns));
        rayon::join(|| multiply(left, accum, a, b_left, alpha), || multiply(right, accum, a, b_right, alpha));
    }
}

/// Inner product.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    debug_assert_eq!(a.len(), b.len());
    if a.len() <= VECTOR_CHUNK {
        return dot_sequential(a, b);
    }
    let partial: Vec<f64> = a
        .par_chunks(VECTOR_CHUNK)
        .zip(b.par_chunks(VECTOR_CHUNK))
        .map(|(a, b)| dot_sequential(a, b))
        .collect();
    partial.iter().sum()
}

vectorized! {
    /// Inner product in interleaved sums.
    fn dot_sequential<'a>(a: &'a [f64], b: &'a [f64]) -> f64 {
        let mut sums = [0.0; 16];
        let (a_chunks, b_chunks) = (a.chunks_exact(16), b.chunks_exact(16));
        let rest: f64 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(x, y)| x * y).sum();
        for (x, y) in a_chunks.zip(b_chunks) {
            for lane in 0..16 {
                sums[lane] += x[lane] * y[lane];
            }
        }
        sums.iter().sum::<f64>() + rest
    }
}

vectorized! {
    /// `y ← y + alpha·x`.
    fn add_scaled_sequential<'a>(y: &'a mut [f64], alpha: f64, x: &'a [f64]) -> () {
        for (y, x) in y.iter_mut().zip(x) {
            *y += alpha * x;
        }
    }
}

/// Euclidean norm.
pub(crate) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// `y ← y + alpha·x`.
pub(crate) fn add_scaled(y: &mut [f64], alpha: f64, x: &[f64]) {
    y.par_chunks_mut(VECTOR_CHUNK)
        .zip(x.par_chunks(VECTOR_CHUNK))
        .for_each(|(y, x)| add_scaled_sequential(y, alpha, x));
}

/// Column-major view of `n` rows.
pub(crate) fn columns_of(values: &[f64], n: usize) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice(values, n, values.len() / n)
}

/// Column-major mutable view of `n` rows.
pub(crate) fn columns_of_mut(values: &mut [f64], n: usize) -> MatMut<'_, f64> {
    let n_columns = values.len() / n;
    MatMut::from_column_major_slice_mut(values, n, n_columns)
}

/// Makes the column-major `n × p` matrix orthonormal, column by column, keeping the span of each prefix.
///
/// Gram–Schmidt, twice. A column that depends on the earlier ones is replaced by random directions, so the
/// result always has full rank (for `p ≤ n`).
pub(crate) fn orthonormalize(values: &mut [f64], n: usize, draws: &mut Draws) {
    let p = values.len() / n;
    debug_assert!(p <= n);
    for column in 0..p {
        let (done, rest) = values.split_at_mut(column * n);
        let current = &mut rest[..n];
        let mut before = norm(current);
        loop {
            for _ in 0..2 {
                orthogonalize(current, done);
            }
            let after = norm(current);
            if after > 1e-10 * before && after > f64::MIN_POSITIVE {
                current.iter_mut().for_each(|v| *v /= after);
                break;
            }
            current.iter_mut().for_each(|v| *v = draws.normal());
            before = norm(current);
        }
    }
}

/// Subtracts from `vector` its projection on the orthonormal columns of `basis`.
pub(crate) fn orthogonalize(vector: &mut [f64], basis: &[f64]) {
    if basis.is_empty() {
        return;
    }
    let coefficients = project(vector, basis);
    subtract_combination(vector, basis, &coefficients);
}

/// `vector ← vector − basis·coefficients`.
pub(crate) fn subtract_combination(vector: &mut [f64], basis: &[f64], coefficients: &[f64]) {
    let n = vector.len();
    vector.par_chunks_mut(VECTOR_CHUNK).enumerate().for_each(|(chunk, part)| {
        let begin = chunk * VECTOR_CHUNK;
        for (column, coefficient) in basis.chunks_exact(n).zip(coefficients) {
            add_scaled_sequential(part, -coefficient, &column[begin..]);
        }
    });
}

/// The inner products of `vector` with the columns of `basis`.
pub(crate) fn project(vector: &[f64], basis: &[f64]) -> Vec<f64> {
    let n = vector.len();
    let partial: Vec<Vec<f64>> = vector
        .par_chunks(VECTOR_CHUNK)
        .enumerate()
        .map(|(chunk, part)| {
            let begin = chunk * VECTOR_CHUNK;
            basis
                .chunks_exact(n)
                .map(|column| dot_sequential(part, &column[begin..begin + part.len()]))
                .collect()
        })
        .collect();
    let mut sums = vec![0.0; basis.len() / n];
    for part in &partial {
        sums.iter_mut().zip(part).for_each(|(sum, value)| *sum += value);
    }
    sums
}

/// All eigenpairs of a dense symmetric matrix, ascending; only the lower triangle is read.
pub(crate) fn symmetric_eigen(matrix: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>)> {
    let n = matrix.nrows();
    let mut values = Diag::<f64>::zeros(n);
    let mut vectors = Mat::<f64>::zeros(n, n);
    let scratch = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, Default::default());
    let mut buffer =
        MemBuffer::try_new(scratch).map_err(|_| Error::Numerical { what: "a dense eigenproblem" })?;
    self_adjoint_evd(
        matrix,
        values.as_mut(),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut buffer),
        Default::default(),
    )
    .map_err(|_| Error::Numerical { what: "a dense eigenproblem" })?;
    Ok((values.column_vector().iter().copied().collect(), vectors))
}

/// The Cholesky factor of a symmetric positive definite matrix.
pub(crate) struct Cholesky(Mat<f64>);

impl Cholesky {
    /// Only the lower triangle is read. An error if the matrix is not positive definite to working precision.
    pub fn of(mut matrix: Mat<f64>) -> Result<Self> {
        let scratch =
            llt::factor::cholesky_in_place_scratch::<f64>(matrix.nrows(), Par::Seq, Default::default());
        let factored = llt::factor::cholesky_in_place(
            matrix.as_mut(),
            Default::default(),
            Par::Seq,
            MemStack::new(&mut buffer(scratch)?),
            Default::default(),
        );
        factored.map_err(|_| Error::Numerical { what: "a Cholesky factorization" })?;
        Ok(Self(matrix))
    }

    /// Replaces the columns of `right` by the solutions.
    ///
    /// # Panics
    /// If `right` is not column-major; see [`multiply`].
    pub fn solve_in_place(&self, right: MatMut<'_, f64>) {
        assert_eq!(right.row_stride(), 1, "destinations are column-major");
        let (n, width) = (right.nrows(), right.ncols());
        let scratch = llt::solve::solve_in_place_scratch::<f64>(n, width, Par::Seq);
        let mut buffer = MemBuffer::new(scratch);
        llt::solve::solve_in_place(self.0.as_ref(), right, Par::Seq, MemStack::new(&mut buffer));
    }

    /// Replaces the columns of `right` by the solutions of C·y = b, with C the factor: bᵀ·A⁻¹·b is the squared length of y.
    ///
    /// # Panics
    /// If `right` is not column-major; see [`multiply`].
    pub fn solve_half_in_place(&self, right: MatMut<'_, f64>) {
        assert_eq!(right.row_stride(), 1, "destinations are column-major");
        solve_lower_triangular_in_place(self.0.as_ref(), right, Par::Seq);
    }

    /// The inverse of the matrix.
    pub fn inverse(&self) -> Result<Mat<f64>> {
        let n = self.0.nrows();
        let mut inverse = Mat::<f64>::zeros(n, n);
        let mut inverting = buffer(llt::inverse::inverse_scratch::<f64>(n, Par::Seq))?;
        llt::inverse::inverse(inverse.as_mut(), self.0.as_ref(), Par::Seq, MemStack::new(&mut inverting));
        for column in 0..n {
            for row in 0..column {
                inverse[(row, column)] = inverse[(column, row)];
            }
        }
        Ok(inverse)
    }
}

fn buffer(scratch: StackReq) -> Result<MemBuffer> {
    MemBuffer::try_new(scratch).map_err(|_| Error::Numerical { what: "work space of a dense matrix" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Stage, Stream};

    fn random(n: usize, salt: u32) -> Vec<f64> {
        let mut draws = Stream::new(5, Stage::Weights).at(salt, 0);
        (0..n).map(|_| draws.normal()).collect()
    }

    #[test]
    fn products_equal_the_naive_ones_on_any_shape() {
        for (m, k, n) in [(1, 1, 1), (3, 200, 5), (200, 7, 300), (301, 64, 129)] {
            let (a, b) = (random(m * k, 1), random(k * n, 2));
            let mut out = random(m * n, 3);
            let start = out.clone();
            multiply(columns_of_mut(&mut out, m), Accum::Add, columns_of(&a, m), columns_of(&b, k), 0.5);
            for i in 0..m {
                for j in 0..n {
                    let product: f64 = (0..k).map(|t| a[t * m + i] * b[j * k + t]).sum();
                    let expected = start[j * m + i] + 0.5 * product;
                    assert!((out[j * m + i] - expected).abs() < 1e-10, "{m}×{k}×{n}");
                }
            }
        }
    }

    #[test]
    fn orthonormalize_repairs_dependent_columns() {
        let n = 50;
        let mut values = random(n * 4, 4);
        let copy = values[..n].to_vec();
        values[2 * n..3 * n].copy_from_slice(&copy);
        orthonormalize(&mut values, n, &mut Stream::new(1, Stage::Weights).at(0, 0));
        for a in 0..4 {
            for b in 0..4 {
                let product = dot(&values[a * n..(a + 1) * n], &values[b * n..(b + 1) * n]);
                assert!((product - f64::from(u8::from(a == b))).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn long_vectors_are_cut_without_changing_the_sum() {
        let (a, b) = (random(3 * VECTOR_CHUNK + 17, 1), random(3 * VECTOR_CHUNK + 17, 2));
        let naive: f64 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
        assert!((dot(&a, &b) - naive).abs() < 1e-9);
        assert_eq!(project(&a, &b), [dot(&a, &b)]);
    }

    #[test]
    fn inverses_satisfy_their_definition() {
        let n = 40;
        let a = random(n * n, 8);
        let a = Mat::from_fn(n, n, |i, j| a[i * n + j]);
        let matrix = &a * a.transpose() + Mat::<f64>::identity(n, n);
        let factor = Cholesky::of(matrix.clone()).unwrap();
        let inverse = factor.inverse().unwrap();
        assert!((&matrix * &inverse - Mat::<f64>::identity(n, n)).norm_max() < 1e-10);
        let right = Mat::from_fn(n, 3, |i, j| (i + 7 * j) as f64);
        let mut solved = right.clone();
        factor.solve_in_place(solved.as_mut());
        assert!((&matrix * &solved - &right).norm_max() < 1e-9);
        let mut half = right.clone();
        factor.solve_half_in_place(half.as_mut());
        assert!((half.transpose() * &half - right.transpose() * &solved).norm_max() < 1e-9);
        let indefinite = Mat::from_fn(3, 3, |i, j| if i == j { -1.0 } else { 0.0 });
        assert!(Cholesky::of(indefinite).is_err());
    }

    #[test]
    fn eigenpairs_satisfy_their_definition() {
        let n = 30;
        let a = random(n * n, 7);
        let symmetric = Mat::from_fn(n, n, |i, j| a[i * n + j] + a[j * n + i]);
        let (values, vectors) = symmetric_eigen(symmetric.as_ref()).unwrap();
        let residual = &symmetric * &vectors - Mat::from_fn(n, n, |i, j| vectors[(i, j)] * values[j]);
        assert!(residual.norm_max() < 1e-12 * n as f64);
        assert!(values.windows(2).all(|pair| pair[0] <= pair[1]));
    }
}
