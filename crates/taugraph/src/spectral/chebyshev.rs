//! A polynomial filter that lifts the smallest eigenvalues of a Laplacian away from all others.
//!
//! The Chebyshev polynomial T_m grows fast outside [−1, 1] and stays within ±1 inside. With the unwanted
//! eigenvalues [cut, bound] mapped onto [−1, 1], T_m of the operator has the wanted ones on top, far apart: where a
//! factorisation does not fit, Lanczos on the filtered operator converges all the same.

use super::laplacian::{Laplacian, SymmetricOperator};

/// Longest polynomial, so that one application stays short.
const MOST_DEGREE: usize = 600;

/// T_m((cut + bound − 2L)/(bound − cut)), scaled to 1 at eigenvalue 0.
pub(super) struct ChebyshevFilter<'a> {
    laplacian: &'a Laplacian<'a>,
    cut: f64,
    degree: usize,
    scale: f64,
}

impl<'a> ChebyshevFilter<'a> {
    /// A filter that lifts an eigenvalue `edge` below `cut` by a factor of about e⁸/2 over all above `cut`.
    pub fn new(laplacian: &'a Laplacian<'a>, edge: f64, cut: f64) -> Self {
        let bound = laplacian.norm_bound();
        let cut = cut.clamp(1e-12 * bound, 0.9 * bound);
        let outside = |value: f64| ((cut + bound - 2.0 * value) / (bound - cut)).max(1.0).acosh();
        let rate = outside(edge.clamp(0.0, cut)).max(1e-6);
        // T_m at eigenvalue 0 is cosh(m·outside(0)), which must not overflow.
        let most = MOST_DEGREE.min((300.0 / outside(0.0).max(0.5)) as usize);
        let degree = ((8.0 / rate).ceil() as usize).clamp(4, most);
        let scale = 1.0 / (degree as f64 * outside(0.0)).cosh();
        Self { laplacian, cut, degree, scale }
    }

    /// Applications of the Laplacian for each application of the filter.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// y ← (cut + bound − 2L)/(bound − cut)·x.
    fn map(&self, x: &[f64], y: &mut [f64]) {
        let bound = self.laplacian.norm_bound();
        self.laplacian.apply(x, y);
        let (a, b) = ((self.cut + bound) / (bound - self.cut), 2.0 / (bound - self.cut));
        y.iter_mut().zip(x).for_each(|(y, x)| *y = a * x - b * *y);
    }
}

impl SymmetricOperator for ChebyshevFilter<'_> {
    fn len(&self) -> usize {
        self.laplacian.degrees().len()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        let mut before: Vec<f64> = x.iter().map(|v| v * self.scale).collect();
        self.map(&before.clone(), y);
        let mut next = vec![0.0; x.len()];
        for _ in 1..self.degree {
            self.map(y, &mut next);
            next.iter_mut().zip(&before).for_each(|(next, before)| *next = 2.0 * *next - before);
            before.copy_from_slice(y);
            y.copy_from_slice(&next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::Edges;
    use crate::graph::SparseGraph;
    use crate::spectral::LaplacianKind;

    #[test]
    fn the_filter_is_the_polynomial_of_the_eigenvalues() {
        // A path: eigenvectors of the unnormalised Laplacian are cosines.
        let n = 60;
        let edges = Edges::from_pairs(n, (1..n as u32).map(|i| (i - 1, i))).unwrap();
        let graph = SparseGraph::from_edges(&edges, &vec![1.0; n - 1]).unwrap();
        let laplacian = Laplacian::new(&graph, LaplacianKind::Unnormalized);
        let value = |k: usize| 2.0 - 2.0 * (std::f64::consts::PI * k as f64 / n as f64).cos();
        let filter = ChebyshevFilter::new(&laplacian, value(3), value(8));
        let mut factors = Vec::new();
        for k in 0..n {
            let x: Vec<f64> = (0..n)
                .map(|i| (std::f64::consts::PI * k as f64 * (i as f64 + 0.5) / n as f64).cos())
                .collect();
            let mut y = vec![0.0; n];
            filter.apply(&x, &mut y);
            let factor = y[0] / x[0];
            assert!(y.iter().zip(&x).all(|(y, x)| (y - factor * x).abs() < 1e-9));
            factors.push(factor);
        }
        assert!((factors[0] - 1.0).abs() < 1e-9);
        assert!(factors.windows(2).take(8).all(|pair| pair[0] > pair[1]));
        let unwanted = factors[9..].iter().fold(0.0f64, |m, f| m.max(f.abs()));
        assert!(factors[3] > 500.0 * unwanted, "{} against {unwanted}", factors[3]);
    }
}
