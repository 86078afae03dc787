//! The number of clusters: where the relative gap between consecutive eigenvalues is largest.
//!
//! The gap after k eigenvalues is 1 − λ_k/λ_{k+1}: near 1 if the k clusters are connected far more weakly than the parts that
//! the next split would give, near 0 in the middle of a continuum. Relative gaps do not depend on how fast the eigenvalues
//! grow: along thin shapes (spirals) λ_k grows like k², and the largest absolute gap is the last.

/// Eigenvalues below this fraction of their upper bound come from links between components or rounding, not structure.
const NEGLIGIBLE: f64 = 5e-8;

/// The smallest eigenvalues and their gaps.
#[derive(Debug, Clone, PartialEq)]
pub struct Eigengap {
    eigenvalues: Vec<f64>,
    gaps: Vec<f64>,
}

impl Eigengap {
    /// From the smallest eigenvalues, ascending, and the bound that none of them exceeds.
    pub(super) fn new(eigenvalues: Vec<f64>, bound: f64) -> Self {
        let least = NEGLIGIBLE * bound;
        let gaps = eigenvalues
            .windows(2)
            .map(|pair| {
                let (low, high) = (pair[0].max(least), pair[1].max(least));
                1.0 - low / high
            })
            .collect();
        Self { eigenvalues, gaps }
    }

    /// Without eigenvalues.
    pub(super) fn none() -> Self {
        Self { eigenvalues: Vec::new(), gaps: Vec::new() }
    }

    /// The eigenvalues, ascending.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// The relative gap after the first, the second, … eigenvalue.
    pub fn gaps(&self) -> &[f64] {
        &self.gaps
    }

    /// The number of clusters, at least 2, after which the gap is largest; the smallest in case of ties. 1 if there is
    /// only one node.
    pub fn suggestion(&self) -> usize {
        let mut best = 1;
        for k in 2..=self.gaps.len() {
            if best == 1 || self.gaps[k - 1] > self.gaps[best - 1] {
                best = k;
            }
        }
        if best == 1 { self.eigenvalues.len().min(2) } else { best }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_relative_gap_wins() {
        let of = |values: &[f64]| Eigengap::new(values.to_vec(), 2.0).suggestion();
        assert_eq!(of(&[0.0, 0.01, 0.02, 0.4, 0.5]), 3);
        // Two spirals: quadratic growth after a weak link.
        assert_eq!(of(&[0.0, 1e-8, 1e-4, 4e-4, 9e-4, 16e-4]), 2);
        // Weak links of different strength all count as 0.
        assert_eq!(of(&[0.0, 1e-12, 1e-8, 0.1, 0.2]), 3);
        assert_eq!(of(&[0.0]), 1);
        assert_eq!(of(&[0.0, 0.5]), 2);
    }
}
