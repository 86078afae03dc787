//! Sums over the coordinates of two rows, in an order fixed by the number of columns.

use crate::vectorized::vectorized;

/// Squared Euclidean distance.
#[inline(always)]
pub(crate) fn squared_euclidean(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    // The additions of `lane_sum`, in a form that the compiler vectorizes.
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

/// Squared Euclidean distances from `from` to the given rows: bit for bit [`squared_euclidean`], three times as fast.
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

/// Sum of `n` terms by four interleaved partial sums.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Stage, Stream};

    #[test]
    fn every_way_to_a_square_has_the_same_bits() {
        let mut draws = Stream::new(8, Stage::Generator).at(0, 0);
        for n_columns in [1, 2, 3, 4, 7, 16, 50] {
            let values: Vec<f64> = (0..40 * n_columns).map(|_| draws.normal()).collect();
            let row = |i: usize| &values[i * n_columns..(i + 1) * n_columns];
            let ids: Vec<u32> = (0..40).rev().collect();
            let mut found = vec![0.0; ids.len()];
            squared_to_each(row(3), &ids, row, &mut found);
            let expected: Vec<f64> =
                ids.iter().map(|&id| squared_euclidean(row(id as usize), row(3))).collect();
            assert_eq!(found, expected);
            let (a, b) = (row(0), row(1));
            let in_lanes = lane_sum(n_columns, |t| (a[t] - b[t]) * (a[t] - b[t]));
            assert_eq!(squared_euclidean(a, b), in_lanes);
        }
    }
}
