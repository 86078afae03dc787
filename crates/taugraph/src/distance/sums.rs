//! Sums over the coordinates of two rows, in an order fixed by the number of columns.

use crate::points::{Numbers, Value, with_values};
use crate::vectorized::vectorized;

/// Squared Euclidean distance between rows of points.
#[inline]
pub(crate) fn squared_between(a: Numbers<'_>, b: Numbers<'_>) -> f64 {
    with_values!(a, a => with_values!(b, b => squared_euclidean(a, b)))
}

/// The same for rows of known precisions. Every difference and product is one of the widened values.
#[inline(always)]
pub(crate) fn squared_euclidean<A: Value, B: Value>(a: &[A], b: &[B]) -> f64 {
    let difference = |a: A, b: B| -> f64 { a.into() - b.into() };
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    // The additions of `lane_sum`, in a form that the compiler vectorizes.
    let mut sums = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..4 {
            sums[lane] += difference(a[lane], b[lane]) * difference(a[lane], b[lane]);
        }
    }
    let mut total = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    a_rest.iter().zip(b_rest).for_each(|(&a, &b)| total += difference(a, b) * difference(a, b));
    total
}

/// Squared Euclidean distances from `from` to the given rows, which are those of one table: bit for bit [`squared_euclidean`], three
/// times as fast.
pub(crate) fn squared_to_each<'a>(
    from: Numbers<'_>,
    ids: &[u32],
    row: impl Fn(usize) -> Numbers<'a>,
    out: &mut [f64],
) {
    let Some(&first) = ids.first() else { return };
    with_values!(from, from => match row(first as usize) {
        Numbers::F64(_) => to_each::<_, f64>(from, ids, row, out),
        Numbers::F32(_) => to_each::<_, f32>(from, ids, row, out),
    });
}

fn to_each<'a, A: Value, B: Value>(
    from: &[A],
    ids: &[u32],
    row: impl Fn(usize) -> Numbers<'a>,
    out: &mut [f64],
) {
    const AT_ONCE: usize = 16;
    for (ids, out) in ids.chunks(AT_ONCE).zip(out.chunks_mut(AT_ONCE)) {
        let mut rows: [&[B]; AT_ONCE] = [&[]; AT_ONCE];
        rows.iter_mut().zip(ids).for_each(|(to, &id)| *to = B::expect(row(id as usize)));
        squared_to_rows(from, &rows[..ids.len()], out);
    }
}

vectorized! {
    fn squared_to_rows<'a, A: Value, B: Value>(from: &'a [A], rows: &'a [&'a [B]], out: &'a mut [f64]) -> () {
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
    pub fn fill<'a, R: Into<Numbers<'a>>>(
        &mut self,
        n_columns: usize,
        rows: impl ExactSizeIterator<Item = R>,
    ) {
        self.n_columns = n_columns;
        self.values.clear();
        self.values.resize(rows.len().div_ceil(BLOCK) * n_columns, [0.0; BLOCK]);
        for (place, row) in rows.enumerate() {
            let block = &mut self.values[place / BLOCK * n_columns..][..n_columns];
            with_values!(row.into(), row => {
                block.iter_mut().zip(row).for_each(|(column, &value)| column[place % BLOCK] = value.widened());
            });
        }
    }

    /// Number of rows whose squared Euclidean distance from `from`, times their factor and then times `own`, is below the limit.
    pub fn n_scaled_below(&self, from: Numbers<'_>, factors: &[f64], own: f64, limit: f64) -> usize {
        with_values!(from, from => n_scaled_below(from, &self.values, factors, own, limit))
    }

    /// Squared Euclidean distances from `from` to each row.
    pub fn squared_from(&self, from: Numbers<'_>, out: &mut [f64]) {
        with_values!(from, from => squared_to_columns(from, &self.values, out));
    }
}

/// Squared Euclidean distances from `from` to the rows of a block.
#[inline(always)]
fn squared_to_block<A: Value>(from: &[A], block: &[[f64; BLOCK]]) -> [f64; BLOCK] {
    let add = |sums: &mut [f64; BLOCK], x: f64, column: &[f64; BLOCK]| {
        for row in 0..BLOCK {
            sums[row] += (x - column[row]) * (x - column[row]);
        }
    };
    let ((x, x_rest), (columns, columns_rest)) = (from.as_chunks::<4>(), block.as_chunks::<4>());
    let mut sums = [[0.0; BLOCK]; 4];
    for (x, columns) in x.iter().zip(columns) {
        for lane in 0..4 {
            add(&mut sums[lane], x[lane].into(), &columns[lane]);
        }
    }
    let mut total = [0.0; BLOCK];
    for row in 0..BLOCK {
        total[row] = (sums[0][row] + sums[1][row]) + (sums[2][row] + sums[3][row]);
    }
    x_rest.iter().zip(columns_rest).for_each(|(&x, column)| add(&mut total, x.into(), column));
    total
}

vectorized! {
    fn squared_to_columns<'a, A: Value>(from: &'a [A], blocks: &'a [[f64; BLOCK]], out: &'a mut [f64]) -> () {
        for (block, out) in blocks.chunks_exact(from.len()).zip(out.chunks_mut(BLOCK)) {
            let total = squared_to_block(from, block);
            out.copy_from_slice(&total[..out.len()]);
        }
    }
}

vectorized! {
    fn n_scaled_below<'a, A: Value>(from: &'a [A], blocks: &'a [[f64; BLOCK]], factors: &'a [f64], own: f64, limit: f64) -> usize {
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

    /// Whatever way a square is computed, and in whatever precisions the same values are stored.
    #[test]
    fn every_way_to_a_square_has_the_same_bits() {
        let mut draws = Stream::new(8, Stage::Generator).at(0, 0);
        for n_columns in [1, 2, 3, 4, 7, 16, 50] {
            let single: Vec<f32> = (0..40 * n_columns).map(|_| draws.normal() as f32).collect();
            let double: Vec<f64> = single.iter().map(|&value| value.into()).collect();
            let tables = [Numbers::from(&double), Numbers::from(&single)];
            let ids: Vec<u32> = (0..40).rev().collect();
            let plain = |i: usize| &double[i * n_columns..(i + 1) * n_columns];
            let expected: Vec<f64> = ids
                .iter()
                .map(|&id| {
                    let (a, b) = (plain(id as usize), plain(3));
                    lane_sum(n_columns, |t| (a[t] - b[t]) * (a[t] - b[t]))
                })
                .collect();
            for (known, from) in tables.iter().flat_map(|known| tables.iter().map(move |from| (known, from)))
            {
                let row = |i: usize| known.slice(i * n_columns, n_columns);
                let from = from.slice(3 * n_columns, n_columns);
                let one_by_one: Vec<f64> =
                    ids.iter().map(|&id| squared_between(row(id as usize), from)).collect();
                assert_eq!(one_by_one, expected);
                let mut found = vec![0.0; ids.len()];
                squared_to_each(from, &ids, row, &mut found);
                assert_eq!(found, expected);
                let mut columns = Columns::default();
                for n_rows in [40, 13] {
                    columns.fill(n_columns, ids[..n_rows].iter().map(|&id| row(id as usize)));
                    let mut found = vec![0.0; n_rows];
                    columns.squared_from(from, &mut found);
                    assert_eq!(found, expected[..n_rows]);
                }
            }
        }
    }
}
