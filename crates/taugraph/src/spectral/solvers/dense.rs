//! All eigenpairs of a small matrix.

use faer::{Accum, Mat};

use super::SymmetricMatrix;
use crate::dense::{columns_of, multiply, symmetric_eigen};
use crate::error::Result;

/// Peak memory in bytes for a matrix of `n` rows.
pub(in super::super) fn bytes(n: usize) -> u64 {
    8 * 4 * (n as u64) * (n as u64)
}

/// Eigenvectors of the `wanted` smallest eigenvalues, one after the other, in the orthogonal complement of the null vectors.
pub(in super::super) fn smallest(
    matrix: &impl SymmetricMatrix,
    null: &[f64],
    wanted: usize,
) -> Result<Vec<f64>> {
    let n = matrix.len();
    let mut entries = Mat::<f64>::zeros(n, n);
    for i in 0..n {
        entries[(i, i)] = matrix.diagonal(i);
        for (j, value) in matrix.off_diagonal(i) {
            entries[(i, j as usize)] = value;
        }
    }
    // Shift the null vectors to the end of the spectrum.
    let null = columns_of(null, n);
    multiply(entries.as_mut(), Accum::Add, null, null.transpose(), 2.0 * matrix.norm_bound());
    let (_, vectors) = symmetric_eigen(entries.as_ref())?;
    let columns = (0..wanted).map(|rank| vectors.col(rank));
    Ok(columns.flat_map(|column| column.iter().copied().collect::<Vec<_>>()).collect())
}
