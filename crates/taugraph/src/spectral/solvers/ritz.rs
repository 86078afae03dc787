//! Ritz pairs of the Lanczos basis: approximate eigenpairs and their residuals.

use faer::{Mat, MatRef};

use super::basis::Basis;
use crate::dense::norm;
use crate::error::Result;

/// The best of the other pairs is taken to lie below the wanted ones once its residual is below this fraction of its distance
/// from them: while it still rises towards them, its residual is comparable to that distance.
const SURE: f64 = 0.1;

/// Eigenpairs of the operator within the basis, the largest first.
pub(super) struct RitzPairs {
    pub values: Vec<f64>,
    /// |A·u − λ·u| of each pair.
    pub residuals: Vec<f64>,
    /// The vectors in terms of the basis, the smallest first.
    ascending: Mat<f64>,
}

impl RitzPairs {
    pub fn of(basis: &Basis<'_>) -> Result<Self> {
        let (values, ascending) = basis.ritz()?;
        let values: Vec<f64> = values.into_iter().rev().collect();
        let residuals = match basis.waiting {
            0 => vec![0.0; values.len()],
            waiting => {
                let couplings = basis.couplings(leading(&ascending, values.len()));
                couplings.chunks_exact(waiting).map(norm).collect()
            }
        };
        Ok(Self { values, residuals, ascending })
    }

    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// The first vectors in terms of the basis, the largest first.
    pub fn leading(&self, count: usize) -> MatRef<'_, f64> {
        leading(&self.ascending, count)
    }

    /// The worst residual of the first pairs, relative to their values.
    pub fn worst(&self, wanted: usize) -> f64 {
        (0..wanted).map(|rank| self.residuals[rank] / self.values[rank].abs()).fold(0.0, f64::max)
    }

    /// How far below the wanted pairs the next one lies, relative to them; 0 if there is none.
    pub fn distance(&self, wanted: usize) -> f64 {
        if self.len() > wanted { 1.0 - self.values[wanted] / self.values[wanted - 1] } else { 0.0 }
    }

    /// Whether the next pair is known well enough to lie below the wanted ones, or to equal the last of them.
    pub fn next_is_below(&self, wanted: usize, tolerance: f64) -> bool {
        let last = self.values[wanted - 1];
        self.len() > wanted
            && self.residuals[wanted] <= (SURE * (last - self.values[wanted])).max(tolerance * last.abs())
    }
}

fn leading(ascending: &Mat<f64>, count: usize) -> MatRef<'_, f64> {
    ascending.as_ref().subcols(ascending.ncols() - count, count).reverse_cols()
}
