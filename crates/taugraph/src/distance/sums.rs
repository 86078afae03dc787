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

/// Rows of which one block holds so many, column by column.
const BLOCK: usize = 8;

/// A few rows, stored column by column: squared distances from any other row to all of them at once, bit for bit
/// [`squared_euclidean`], without a sum across the lanes of a vector for each.
#[derive(Debug, Clone, Default)]
pub(crate) struct Columns {
    /// Block by block, padded with zeros.
    values: Vec<[f64; BLOCK]>,
    n_columns: usize,
}

impl Columns {
    /// Replaces the rows.
    pub fn fill<'a>(&mut self, n_columns: usize, rows: impl ExactSizeIterator<Item = &'a [f64]>) {
        self.n_columns = n_columns;
        self.values.clear();
        self.values.resize(rows.len().div_ceil(BLOCK) * n_columns, [0.0; BLOCK]);
        for (place, row) in rows.enumerate() {
            let block = &mut self.values[place / BLOCK * n_columns..][..n_columns];
            block.iter_mut().zip(row).for_each(|(column, value)| column[place % BLOCK] = *value);
        }
    }

    /// Number of rows whose squared Euclidean distance from `from`, times their factor and then times `own`, is below the limit.
    pub fn n_scaled_below(&self, from: &[f64], factors: &[f64], own: f64, limit: f64) -> usize {
        n_scaled_below(from, &self.values, factors, own, limit)
    }

    /// Squared Euclidean distances from `from` to each row.
    pub fn squared_from(&self, from: &[f64], out: &mut [f64]) {
        squared_to_columns(from, &self.values, out);
    }
}

/// Squared Euclidean distances from `from` to the rows of a block.
#[inline(always)]
fn squared_to_block(from: &[f64], block: &[[f64; BLOCK]]) -> [f64; BLOCK] {
    let add = |sums: &mut [f64; BLOCK], x: f64, column: &[f64; BLOCK]| {
        for row in 0..BLOCK {
            sums[row] += (x - column[row]) * (x - column[row]);
        }
    };
    let ((x, x_rest), (columns, columns_rest)) = (from.as_chunks::<4>(), block.as_chunks::<4>());
    let mut sums = [[0.0; BLOCK]; 4];
    for (x, columns) in x.iter().zip(columns) {
        for lane in 0..4 {
            add(&mut sums[lane], x[lane], &columns[lane]);
        }
    }
    let mut total = [0.0; BLOCK];
    for row in 0..BLOCK {
        total[row] = (sums[0][row] + sums[1][row]) + (sums[2][row] + sums[3][row]);
    }
    x_rest.iter().zip(columns_rest).for_each(|(x, column)| add(&mut total, *x, column));
    total
}

vectorized! {
    fn squared_to_columns<'a>(from: &'a [f64], blocks: &'a [[f64; BLOCK]], out: &'a mut [f64]) -> () {
        for (block, out) in blocks.chunks_exact(from.len()).zip(out.chunks_mut(BLOCK)) {
            let total = squared_to_block(from, block);
            out.copy_from_slice(&total[..out.len()]);
        }
    }
}

vectorized! {
    fn n_scaled_below<'a>(from: &'a [f64], blocks: &'a [[f64; BLOCK]], factors: &'a [f64], own: f64, limit: f64) -> usize {
        let mut counts = [0u64; BLOCK];
        for (block, factors) in blocks.chunks_exact(from.len()).zip(factors.chunks(BLOCK)) {
            let total = squared_to_block(from, block);
            // Rows that are absent from the last block count nowhere.
            let mut of_block = [f64::INFINITY; BLOCK];
            match <&[f64; BLOCK]>::try_from(factors) {
                Ok(factors) => (0..BLOCK).for_each(|row| of_block[row] = total[row] * factors[row] * own),
                Err(_) => {
                    let rows = of_block.iter_mut().zip(factors).zip(&total);
                    rows.for_each(|((out, factor), total)| *out = total * factor * own);
                }
            }
            (0..BLOCK).for_each(|row| counts[row] += u64::from(of_block[row] < limit));
        }
        counts.iter().sum::<u64>() as usize
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
            let mut columns = Columns::default();
            for n_rows in [40, 13] {
                columns.fill(n_columns, ids[..n_rows].iter().map(|&id| row(id as usize)));
                let mut found = vec![0.0; n_rows];
                columns.squared_from(row(3), &mut found);
                assert_eq!(found, expected[..n_rows]);
            }
            let (a, b) = (row(0), row(1));
            let in_lanes = lane_sum(n_columns, |t| (a[t] - b[t]) * (a[t] - b[t]));
            assert_eq!(squared_euclidean(a, b), in_lanes);
        }
    }
}
