//! Stage 2, distance: metrics between points, and distances that the user brings.

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::parameter::choices;
use crate::points::check_count;
use crate::vectorized::vectorized;

choices! {
    /// Distance between two rows.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Metric = "euclidean" {
        /// √Σ(a − b)².
        "euclidean" => Euclidean,
        /// Σ|a − b|.
        "manhattan" => Manhattan,
        /// 1 − cos(a, b); in [0, 2]. A row of zeros is an error.
        "cosine" => Cosine,
    }
}

impl Metric {
    /// Distance of two rows. For [`Metric::Cosine`] both must have length 1.
    ///
    /// This function defines every distance of the product: searches may filter by faster formulas, but what
    /// they return is compared and reported in these bits.
    #[inline]
    pub(crate) fn distance(self, a: &[f64], b: &[f64]) -> f64 {
        match self {
            Metric::Euclidean => squared_euclidean(a, b).sqrt(),
            Metric::Manhattan => lane_sum(a.len(), |t| (a[t] - b[t]).abs()),
            // For unit vectors 1 − cos = |a − b|²/2, which does not cancel for close ones.
            Metric::Cosine => squared_euclidean(a, b) / 2.0,
        }
    }

    /// Distances of `from` to the named rows.
    pub(crate) fn distances_to_each<'a>(
        self,
        from: &[f64],
        ids: &[u32],
        row: impl Fn(usize) -> &'a [f64],
        out: &mut Vec<f64>,
    ) {
        out.clear();
        out.resize(ids.len(), 0.0);
        match self {
            Metric::Manhattan => {
                out.iter_mut().zip(ids).for_each(|(out, &id)| *out = self.distance(from, row(id as usize)));
            }
            Metric::Euclidean => {
                squared_to_each(from, ids, row, out);
                out.iter_mut().for_each(|value| *value = value.sqrt());
            }
            Metric::Cosine => {
                squared_to_each(from, ids, row, out);
                out.iter_mut().for_each(|value| *value /= 2.0);
            }
        }
    }
}

/// Squared Euclidean distance.
#[inline(always)]
pub(crate) fn squared_euclidean(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    // The additions of `lane_sum`, in a form that becomes vector instructions.
    let mut sums = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..4 {
            sums[lane] += (a[lane] - b[lane]) * (a[lane] - b[lane]);
        }
    }
    let mut total = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    a_rest.iter().zip(b_rest).for_each(|(a, b)| total += (a - b) * (a - b));
    total
}

/// Squared Euclidean distances of `from` to the named rows: the bits of [`squared_euclidean`], three times as fast.
#[inline]
pub(crate) fn squared_to_each<'a>(
    from: &[f64],
    ids: &[u32],
    row: impl Fn(usize) -> &'a [f64],
    out: &mut [f64],
) {
    const AT_ONCE: usize = 16;
    for (ids, out) in ids.chunks(AT_ONCE).zip(out.chunks_mut(AT_ONCE)) {
        let mut rows: [&[f64]; AT_ONCE] = [&[]; AT_ONCE];
        rows.iter_mut().zip(ids).for_each(|(to, &id)| *to = row(id as usize));
        squared_to_rows(from, &rows[..ids.len()], out);
    }
}

vectorized! {
    fn squared_to_rows<'a>(from: &'a [f64], rows: &'a [&'a [f64]], out: &'a mut [f64]) -> () {
        for (out, row) in out.iter_mut().zip(rows) {
            *out = squared_euclidean(from, row);
        }
    }
}

/// Sum of `n` terms in four interleaved sums.
///
/// The order of the additions is fixed by `n`, and floating-point addition is monotone, so a sum of smaller
/// terms is never larger: the bounds of the tree search rely on that.
#[inline(always)]
pub(crate) fn lane_sum(n: usize, term: impl Fn(usize) -> f64) -> f64 {
    let mut sums = [0.0; 4];
    let whole = n - n % 4;
    let mut t = 0;
    while t < whole {
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum += term(t + lane);
        }
        t += 4;
    }
    let mut total = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    while t < n {
        total += term(t);
        t += 1;
    }
    total
}

/// A symmetric matrix of distances that the user computed.
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
        // The first fault in row order, whichever thread meets one first.
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
    use crate::random::{Stage, Stream};

    #[test]
    fn metrics_by_hand() {
        let (a, b) = ([1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 0.0, 3.0, 1.0, 4.0]);
        assert_eq!(Metric::Euclidean.distance(&a, &b), 14f64.sqrt());
        assert_eq!(Metric::Manhattan.distance(&a, &b), 6.0);
        assert!((Metric::Cosine.distance(&[1.0, 0.0], &[0.6, 0.8]) - 0.4).abs() < 1e-15);
    }

    #[test]
    fn every_way_to_a_distance_has_the_same_bits() {
        let mut draws = Stream::new(8, Stage::Generator).at(0, 0);
        for n_columns in [1, 2, 3, 4, 7, 16, 50] {
            let values: Vec<f64> = (0..40 * n_columns).map(|_| draws.normal()).collect();
            let row = |i: usize| &values[i * n_columns..(i + 1) * n_columns];
            let ids: Vec<u32> = (0..40).rev().collect();
            for metric in [Metric::Euclidean, Metric::Manhattan, Metric::Cosine] {
                let mut found = Vec::new();
                metric.distances_to_each(row(3), &ids, row, &mut found);
                let expected: Vec<f64> =
                    ids.iter().map(|&id| metric.distance(row(id as usize), row(3))).collect();
                assert_eq!(found, expected);
            }
            let (a, b) = (row(0), row(1));
            let in_lanes = lane_sum(n_columns, |t| (a[t] - b[t]) * (a[t] - b[t]));
            assert_eq!(squared_euclidean(a, b), in_lanes);
        }
    }

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
