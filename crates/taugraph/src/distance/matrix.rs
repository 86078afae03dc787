//! Precomputed distances.

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::points::check_count;

/// A symmetric matrix of precomputed distances.
#[derive(Debug, Clone, PartialEq)]
pub struct DistanceMatrix {
    values: Vec<f64>,
    n: usize,
}

impl DistanceMatrix {
    /// Checks a row-major `n × n` matrix: finite, at least 0, symmetric, zero diagonal.
    pub fn new(values: Vec<f64>, n: usize) -> Result<Self> {
        if n == 0 {
            return Err(Error::Empty { what: "rows" });
        }
        check_count(n)?;
        if n.checked_mul(n) != Some(values.len()) {
            return Err(Error::Shape { values: values.len(), rows: n, columns: n });
        }
        // Report the first bad entry in row order, whichever thread finds one first.
        let fault = (0..n).into_par_iter().find_map_first(|i| (0..=i).find_map(|j| fault(&values, n, i, j)));
        if let Some(fault) = fault {
            return Err(fault);
        }
        Ok(Self { values, n })
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Never: a matrix without rows is refused.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Distance from `i` to `j`.
    #[inline]
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.values[i * self.n + j]
    }

    /// The matrix of the points named by `rows`.
    pub fn select(&self, rows: &[u32]) -> DistanceMatrix {
        let values =
            rows.iter().flat_map(|&i| rows.iter().map(move |&j| self.get(i as usize, j as usize))).collect();
        DistanceMatrix { values, n: rows.len() }
    }
}

/// What is wrong with the entries (i, j) and (j, i), if anything.
fn fault(values: &[f64], n: usize, i: usize, j: usize) -> Option<Error> {
    let (forward, backward) = (values[i * n + j], values[j * n + i]);
    for (i, j, value) in [(i, j, forward), (j, i, backward)] {
        if !(value.is_finite() && value >= 0.0) || (i == j && value != 0.0) {
            return Some(Error::BadDistance { i, j, value });
        }
    }
    (forward != backward).then_some(Error::NotSymmetric { i, j, forward, backward })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_are_checked() {
        assert!(DistanceMatrix::new(vec![0.0, 1.0, 1.0, 0.0], 2).is_ok());
        assert!(matches!(DistanceMatrix::new(vec![0.0, 1.0, 2.0, 0.0], 2), Err(Error::NotSymmetric { .. })));
        assert!(matches!(DistanceMatrix::new(vec![0.0, -1.0, -1.0, 0.0], 2), Err(Error::BadDistance { .. })));
        assert!(matches!(DistanceMatrix::new(vec![3.0], 1), Err(Error::BadDistance { i: 0, j: 0, .. })));
        assert!(matches!(DistanceMatrix::new(vec![0.0; 3], 2), Err(Error::Shape { .. })));
        let nan = DistanceMatrix::new(vec![0.0, f64::NAN, f64::NAN, 0.0], 2);
        assert!(matches!(nan, Err(Error::BadDistance { .. })));
    }
}
