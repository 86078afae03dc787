//! Measures how good vectors are as eigenvectors, whatever a solver reports.

use super::SymmetricOperator;
use crate::dense::{dot, norm};

/// Vectors taken as eigenvectors of a positive semidefinite operator.
#[derive(Default)]
pub(in super::super) struct Measured {
    /// Rayleigh quotients.
    pub values: Vec<f64>,
    /// |A·u − λ·u|.
    pub residuals: Vec<f64>,
}

impl Measured {
    /// Measures vectors stored one after the other.
    pub fn of(operator: &impl SymmetricOperator, vectors: &[f64]) -> Self {
        let (n, unit) = (operator.len(), operator.norm_bound());
        let mut image = vec![0.0; n];
        let (values, residuals) = vectors
            .chunks_exact(n)
            .map(|vector| {
                operator.apply(vector, &mut image);
                // In units of the bound, so that squares neither underflow nor overflow.
                image.iter_mut().for_each(|image| *image /= unit);
                // Rounding may leave the value of a null vector slightly below 0.
                let value = (dot(vector, &image) / dot(vector, vector)).max(0.0);
                image.iter_mut().zip(vector).for_each(|(image, v)| *image -= value * v);
                (unit * value, unit * (norm(&image) / norm(vector)))
            })
            .unzip();
        Self { values, residuals }
    }

    pub fn worst(&self) -> f64 {
        self.residuals.iter().copied().fold(0.0, f64::max)
    }
}
