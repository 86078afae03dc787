//! Without instructions for bytes: in single precision, which is exact for so small numbers.

use pulp::{Simd, WithSimd};

use super::{GROUP, LANES, Line, Members, Pairs, QUERIES, pairs};

/// Sums of the products of so many bytes are exact in single precision.
const EXACT_COLUMNS: usize = 1024;

/// The four columns of a group of sixteen rows.
pub fn columns_of(groups: &Line) -> [[f32; LANES]; GROUP] {
    let values = groups.0.map(|group| group.to_le_bytes().map(|byte| f32::from(byte as i8)));
    std::array::from_fn(|column| values.map(|value| value[column]))
}

/// Group by group, what the rows have there.
pub fn transpose(rows: &[&[Line]; LANES], out: &mut [Line]) {
    for (lane, row) in rows.iter().enumerate() {
        let groups = row.iter().flat_map(|line| line.0);
        out.iter_mut().zip(groups).for_each(|(out, group)| out.0[lane] = group);
    }
}

/// Compares eight rows, from `first` on, with sixteen members.
pub fn compare(
    (columns, members): (&[[f32; LANES]], &Members),
    (rows, scales): (&[[f32; LANES]], &Members),
    first: usize,
) -> Pairs {
    pulp::Arch::new().dispatch(Compare { columns, rows, members, scales, first })
}

struct Compare<'a> {
    columns: &'a [[f32; LANES]],
    rows: &'a [[f32; LANES]],
    members: &'a Members,
    scales: &'a Members,
    /// The first of the eight queries.
    first: usize,
}
impl WithSimd for Compare<'_> {
    type Output = Pairs;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Pairs {
        let mut products = [[0; LANES]; QUERIES];
        let parts = self.columns.chunks(EXACT_COLUMNS).zip(self.rows.chunks(EXACT_COLUMNS));
        for (columns, rows) in parts {
            for half in 0..2 {
                for lanes in (0..LANES).step_by(S::F32_LANES) {
                    // Half of the queries at a time: as many sums as fit into registers.
                    let mut sums = [simd.splat_f32s(0.0); QUERIES / 2];
                    for (column, row) in columns.iter().zip(rows) {
                        let column = S::as_simd_f32s(&column[lanes..lanes + S::F32_LANES]).0[0];
                        for (sum, &value) in sums.iter_mut().zip(&row[self.first + half * (QUERIES / 2)..]) {
                            *sum = simd.mul_add_f32s(simd.splat_f32s(value), column, *sum);
                        }
                    }
                    for (products, sum) in products[half * (QUERIES / 2)..].iter_mut().zip(sums) {
                        let mut values = [0.0f32; LANES];
                        S::as_mut_simd_f32s(&mut values[..S::F32_LANES]).0[0] = sum;
                        let products = products[lanes..lanes + S::F32_LANES].iter_mut().zip(values);
                        products.for_each(|(product, value)| *product += value as i32);
                    }
                }
            }
        }
        pairs(&products, self.members, self.scales, self.first)
    }
}
