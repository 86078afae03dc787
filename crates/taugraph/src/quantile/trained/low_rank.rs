//! Symmetric matrices of low rank, Y = U·S·Uᵀ.

use faer::Accum;

use crate::dense::{columns_of, columns_of_mut, multiply};

/// Y = U·S·Uᵀ with U of n rows (column-major) and a small symmetric S.
#[derive(Debug, Clone)]
pub(super) struct LowRank {
    pub u: Vec<f64>,
    pub s: Vec<f64>,
    pub n: usize,
}

impl LowRank {
    pub fn rank(&self) -> usize {
        self.u.len() / self.n
    }

    /// U·S, column-major.
    pub fn left(&self) -> Vec<f64> {
        let mut left = vec![0.0; self.u.len()];
        let (u, s) = (columns_of(&self.u, self.n), columns_of(&self.s, self.rank()));
        multiply(columns_of_mut(&mut left, self.n), Accum::Replace, u, s, 1.0);
        left
    }

    /// (1 + beta)·a − beta·b.
    pub fn extrapolate(a: &LowRank, b: &LowRank, beta: f64) -> LowRank {
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

    /// ‖Y‖² in the Frobenius norm: the trace of (S·UᵀU)².
    pub fn squared_norm(&self) -> f64 {
        let k = self.rank();
        let (mut gram, mut product) = (vec![0.0; k * k], vec![0.0; k * k]);
        let u = columns_of(&self.u, self.n);
        multiply(columns_of_mut(&mut gram, k), Accum::Replace, u.transpose(), u, 1.0);
        let (s, gram) = (columns_of(&self.s, k), columns_of(&gram, k));
        multiply(columns_of_mut(&mut product, k), Accum::Replace, s, gram, 1.0);
        (0..k * k).map(|at| product[at] * product[at % k * k + at / k]).sum()
    }
}

/// ‖A − B‖ / ‖B‖ in the Frobenius norm, for orthonormal factors from the small ones alone.
pub(super) fn relative_change(a: &LowRank, b: &LowRank) -> f64 {
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
