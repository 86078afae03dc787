//! Points rounded to bytes, and the kernel that compares eight of them with sixteen others at once.
//!
//! A row is divided by its largest absolute value and rounded to −127 … 127. Scalar products of such rows are integers, computed without rounding:
//! every machine gets the same, by whichever instructions. Only distances between rows have the errors of the rounding to bytes; they tell
//! which pairs are worth a look.

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::f32_points::F32Points;
use super::panels::LANES;

/// Queries compared with a panel together.
pub(super) const QUERIES: usize = 8;
/// Bytes of a group: columns whose products one instruction adds up.
const GROUP: usize = 4;
/// Sums of the products of so many bytes are exact in single precision.
const EXACT_COLUMNS: usize = 1024;
/// What makes the four bytes of a group unsigned: 128 is added to each.
const UNSIGNED: u32 = 0x8080_8080;

/// Points rounded to bytes.
pub(super) struct Codes {
    /// Four signed bytes each, row by row.
    groups: Vec<u32>,
    /// Groups of a row.
    width: usize,
    squared_norms: Vec<f32>,
    /// What 1 in a code stands for.
    steps: Vec<f32>,
    /// Sum of the codes of a row.
    sums: Vec<i32>,
}

impl Codes {
    /// The points in this order.
    pub fn new(points: &F32Points<'_>, order: &[u32]) -> Self {
        let width = points.n_columns().div_ceil(GROUP);
        let mut groups = vec![0; order.len() * width];
        let (mut steps, mut sums) = (vec![0.0; order.len()], vec![0; order.len()]);
        let rows = groups.par_chunks_exact_mut(width).zip(&mut steps).zip(&mut sums).zip(order);
        rows.with_min_len(64).for_each_init(Vec::new, |row, (((groups, step), sum), &id)| {
            row.clear();
            points.append_row(id as usize, row);
            let largest = row.iter().fold(0.0, |largest: f32, value| largest.max(value.abs()));
            if largest == 0.0 {
                return;
            }
            *step = largest / 127.0;
            for (group, values) in groups.iter_mut().zip(row.chunks(GROUP)) {
                let mut bytes = [0u8; GROUP];
                for (byte, value) in bytes.iter_mut().zip(values) {
                    let code = (value * (127.0 / largest)).round() as i8;
                    *sum += i32::from(code);
                    *byte = code as u8;
                }
                *group = u32::from_le_bytes(bytes);
            }
        });
        let squared_norms = order.iter().map(|&id| points.squared_norm(id as usize)).collect();
        Self { groups, width, squared_norms, steps, sums }
    }

    /// Bytes that the codes of `n` points take.
    pub fn bytes(n: u64, n_columns: u64) -> u64 {
        n * (n_columns.next_multiple_of(GROUP as u64) + 12)
    }

    fn row(&self, place: u32) -> &[u32] {
        &self.groups[place as usize * self.width..][..self.width]
    }
}

/// Exists only after the processor was found to have the instructions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Present(());

/// The instructions that compare codes; all give the same sums.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Instructions {
    /// Four products of bytes for each of sixteen sums in one instruction.
    #[cfg(target_arch = "x86_64")]
    Vnni(Present),
    /// In single precision, which is exact for so small numbers.
    Any,
}

impl Instructions {
    /// The fastest that this machine has.
    pub fn fastest() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vnni")
        {
            return Self::Vnni(Present(()));
        }
        Self::Any
    }
}

/// Some rows packed for comparison with others; can be filled again.
pub(super) struct CodePanels {
    instructions: Instructions,
    width: usize,
    /// For each panel and group, the four bytes of sixteen members.
    groups: Vec<[u32; LANES]>,
    /// The same for each column, if there is no instruction for bytes.
    columns: Vec<[f32; LANES]>,
    members: Vec<Members>,
}

/// What is known of the members of a panel.
struct Members {
    /// Infinite for absent ones, whose squared distance is therefore above every bound.
    squared_norms: [f32; LANES],
    steps: [f32; LANES],
    /// Only instructions for unsigned bytes need them.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    sums: [i32; LANES],
    reach: [f32; LANES],
}

/// Rows that are compared with panels; can be filled again.
pub(super) struct CodeQueries {
    instructions: Instructions,
    len: usize,
    /// For each eight queries and group, its bytes.
    groups: Vec<[u32; QUERIES]>,
    /// The same for each column, if there is no instruction for bytes.
    columns: Vec<[f32; QUERIES]>,
    scales: Vec<Scales>,
}

/// What is known of eight queries. The reach of absent ones is below every squared distance.
struct Scales {
    squared_norms: [f32; QUERIES],
    steps: [f32; QUERIES],
    reach: [f32; QUERIES],
}

/// Pairs of up to eight queries with sixteen members.
pub(super) struct Pairs {
    /// Squared distances.
    pub squares: [[f32; LANES]; QUERIES],
    /// A bit for each member that is within the reach of the query, or has the query within its own.
    pub near: [u32; QUERIES],
}

impl CodePanels {
    pub fn new(instructions: Instructions) -> Self {
        Self { instructions, width: 0, groups: Vec::new(), columns: Vec::new(), members: Vec::new() }
    }

    /// Replaces the rows by those of these places. Squared distances below its reach are of interest to a member.
    pub fn pack(&mut self, codes: &Codes, places: &[u32], reach: impl Fn(u32) -> f32) {
        self.width = codes.width;
        self.members.clear();
        self.columns.clear();
        self.groups.resize(places.len().div_ceil(LANES) * codes.width, [0; LANES]);
        for (places, groups) in places.chunks(LANES).zip(self.groups.chunks_exact_mut(codes.width)) {
            let mut members = Members {
                squared_norms: [f32::INFINITY; LANES],
                steps: [0.0; LANES],
                sums: [0; LANES],
                reach: [f32::NEG_INFINITY; LANES],
            };
            for (lane, &place) in places.iter().enumerate() {
                let at = place as usize;
                members.squared_norms[lane] = codes.squared_norms[at];
                members.steps[lane] = codes.steps[at];
                members.sums[lane] = codes.sums[at];
                members.reach[lane] = reach(place);
            }
            self.members.push(members);
            // Absent members repeat the last one, so that all sixteen are always there.
            let rows = std::array::from_fn(|lane| codes.row(places[lane.min(places.len() - 1)]));
            match self.instructions {
                // SAFETY: `Present` exists only after the processor was found to have these instructions.
                #[cfg(target_arch = "x86_64")]
                #[allow(unsafe_code)]
                Instructions::Vnni(_) => unsafe { vnni::transpose(&rows, groups) },
                Instructions::Any => transpose(&rows, groups),
            }
        }
        if self.instructions == Instructions::Any {
            self.columns.extend(self.groups.iter().flat_map(|&groups| columns_of(groups)));
        }
    }

    /// Number of panels.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Compares the queries of one of their groups of eight with a panel. What it says of absent queries means nothing.
    #[inline]
    pub fn compare(&self, panel: usize, queries: &CodeQueries, eight: usize) -> Pairs {
        let (width, members, scales) = (self.width, &self.members[panel], &queries.scales[eight]);
        match self.instructions {
            #[cfg(target_arch = "x86_64")]
            Instructions::Vnni(_) => {
                let groups = &self.groups[panel * width..][..width];
                let rows = &queries.groups[eight * width..][..width];
                // SAFETY: `Present` exists only after the processor was found to have these instructions.
                #[allow(unsafe_code)]
                unsafe {
                    vnni::compare(groups, rows, members, scales)
                }
            }
            Instructions::Any => {
                let columns = &self.columns[panel * width * GROUP..][..width * GROUP];
                let rows = &queries.columns[eight * width * GROUP..][..width * GROUP];
                pulp::Arch::new().dispatch(Compare { columns, rows, members, scales })
            }
        }
    }
}

impl CodeQueries {
    pub fn new(instructions: Instructions) -> Self {
        Self { instructions, len: 0, groups: Vec::new(), columns: Vec::new(), scales: Vec::new() }
    }

    /// Replaces the rows by those of these places. Squared distances below its reach are of interest to a query.
    pub fn pack(
        &mut self,
        codes: &Codes,
        places: impl ExactSizeIterator<Item = u32>,
        reach: impl Fn(u32) -> f32,
    ) {
        let (width, n_eights) = (codes.width, places.len().div_ceil(QUERIES));
        self.len = places.len();
        self.columns.clear();
        self.scales.clear();
        self.groups.resize(n_eights * width, [0; QUERIES]);
        for (row, place) in places.enumerate() {
            let (eight, query, at) = (row / QUERIES, row % QUERIES, place as usize);
            if query == 0 {
                let reach = [f32::NEG_INFINITY; QUERIES];
                self.scales.push(Scales { squared_norms: [0.0; QUERIES], steps: [0.0; QUERIES], reach });
            }
            let scales = &mut self.scales[eight];
            scales.squared_norms[query] = codes.squared_norms[at];
            scales.steps[query] = codes.steps[at];
            scales.reach[query] = reach(place);
            let groups = &mut self.groups[eight * width..][..width];
            groups.iter_mut().zip(codes.row(place)).for_each(|(to, from)| to[query] = from ^ UNSIGNED);
        }
        if self.instructions == Instructions::Any {
            self.columns.extend(
                self.groups.iter().flat_map(|groups| columns_of(groups.map(|group| group ^ UNSIGNED))),
            );
        }
    }

    /// Number of queries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The reach of a query.
    pub fn reach(&mut self, query: usize) -> &mut f32 {
        &mut self.scales[query / QUERIES].reach[query % QUERIES]
    }
}

/// The four columns of a group, of several rows.
fn columns_of<const N: usize>(groups: [u32; N]) -> [[f32; N]; GROUP] {
    let values = groups.map(|group| group.to_le_bytes().map(|byte| f32::from(byte as i8)));
    std::array::from_fn(|column| values.map(|value| value[column]))
}

/// Squared distances from the scalar products of codes.
#[inline(always)]
fn pairs(products: &[[i32; LANES]; QUERIES], members: &Members, scales: &Scales) -> Pairs {
    let mut pairs = Pairs { squares: [[0.0; LANES]; QUERIES], near: [0; QUERIES] };
    for (query, products) in products.iter().enumerate() {
        for (lane, &product) in products.iter().enumerate() {
            let product = scales.steps[query] * members.steps[lane] * product as f32;
            let square = scales.squared_norms[query] + members.squared_norms[lane] - (product + product);
            pairs.squares[query][lane] = square;
            pairs.near[query] |= u32::from(square < scales.reach[query].max(members.reach[lane])) << lane;
        }
    }
    pairs
}

/// Group by group, what the rows have there.
fn transpose(rows: &[&[u32]; LANES], out: &mut [[u32; LANES]]) {
    for (lane, row) in rows.iter().enumerate() {
        out.iter_mut().zip(*row).for_each(|(out, &group)| out[lane] = group);
    }
}

#[cfg(target_arch = "x86_64")]
mod vnni {
    use std::arch::x86_64::{
        __m512i, _CMP_LT_OQ, _mm512_add_ps, _mm512_cmp_ps_mask, _mm512_cvtepi32_ps, _mm512_dpbusd_epi32,
        _mm512_max_ps, _mm512_mul_ps, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_si512,
        _mm512_shuffle_i32x4, _mm512_slli_epi32, _mm512_sub_epi32, _mm512_sub_ps, _mm512_unpackhi_epi32,
        _mm512_unpackhi_epi64, _mm512_unpacklo_epi32, _mm512_unpacklo_epi64,
    };

    use super::{LANES, Members, Pairs, QUERIES, Scales};

    /// As [`super::pairs`], operation by operation, after sums of products of unsigned and signed bytes.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
    pub fn compare(
        groups: &[[u32; LANES]],
        queries: &[[u32; QUERIES]],
        members: &Members,
        scales: &Scales,
    ) -> Pairs {
        let mut sums = [_mm512_setzero_si512(); QUERIES];
        for (members, queries) in groups.iter().zip(queries) {
            let members: __m512i = bytemuck::cast(*members);
            for (sum, &query) in sums.iter_mut().zip(queries) {
                *sum = _mm512_dpbusd_epi32(*sum, _mm512_set1_epi32(query as i32), members);
            }
        }
        let mut pairs = Pairs { squares: [[0.0; LANES]; QUERIES], near: [0; QUERIES] };
        let (steps, reach) = (bytemuck::cast(members.steps), bytemuck::cast(members.reach));
        let squared_norms = bytemuck::cast(members.squared_norms);
        // The queries were made unsigned by adding 128.
        let excess = _mm512_slli_epi32(bytemuck::cast(members.sums), 7);
        for (query, &sum) in sums.iter().enumerate() {
            let product = _mm512_cvtepi32_ps(_mm512_sub_epi32(sum, excess));
            let product = _mm512_mul_ps(_mm512_mul_ps(_mm512_set1_ps(scales.steps[query]), steps), product);
            let norms = _mm512_add_ps(_mm512_set1_ps(scales.squared_norms[query]), squared_norms);
            let square = _mm512_sub_ps(norms, _mm512_add_ps(product, product));
            let reach = _mm512_max_ps(_mm512_set1_ps(scales.reach[query]), reach);
            pairs.near[query] = u32::from(_mm512_cmp_ps_mask(square, reach, _CMP_LT_OQ));
            pairs.squares[query] = bytemuck::cast(square);
        }
        pairs
    }

    /// Group by group, what the rows have there: squares of sixteen groups are transposed in registers, by pairs of rows that are one, two, four
    /// and eight apart.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
    pub fn transpose(rows: &[&[u32]; LANES], out: &mut [[u32; LANES]]) {
        let n_whole = out.len() / LANES * LANES;
        let (whole, rest) = out.split_at_mut(n_whole);
        super::transpose(&rows.map(|row| &row[n_whole..]), rest);
        for (square, out) in whole.chunks_exact_mut(LANES).enumerate() {
            let zero = _mm512_setzero_si512();
            let (mut a, mut b) = ([zero; LANES], [zero; LANES]);
            for (a, row) in a.iter_mut().zip(rows) {
                let groups: [u32; LANES] = row[square * LANES..][..LANES].try_into().expect("sixteen groups");
                *a = bytemuck::cast(groups);
            }
            for i in (0..LANES).step_by(2) {
                b[i] = _mm512_unpacklo_epi32(a[i], a[i + 1]);
                b[i + 1] = _mm512_unpackhi_epi32(a[i], a[i + 1]);
            }
            for i in (0..LANES).step_by(4) {
                a[i] = _mm512_unpacklo_epi64(b[i], b[i + 2]);
                a[i + 1] = _mm512_unpackhi_epi64(b[i], b[i + 2]);
                a[i + 2] = _mm512_unpacklo_epi64(b[i + 1], b[i + 3]);
                a[i + 3] = _mm512_unpackhi_epi64(b[i + 1], b[i + 3]);
            }
            for i in [0, 1, 2, 3, 8, 9, 10, 11] {
                b[i] = _mm512_shuffle_i32x4(a[i], a[i + 4], 0x88);
                b[i + 4] = _mm512_shuffle_i32x4(a[i], a[i + 4], 0xdd);
            }
            for i in 0..LANES / 2 {
                a[i] = _mm512_shuffle_i32x4(b[i], b[i + 8], 0x88);
                a[i + 8] = _mm512_shuffle_i32x4(b[i], b[i + 8], 0xdd);
            }
            out.iter_mut().zip(a).for_each(|(out, groups)| *out = bytemuck::cast(groups));
        }
    }
}

/// The same in single precision.
struct Compare<'a> {
    columns: &'a [[f32; LANES]],
    rows: &'a [[f32; QUERIES]],
    members: &'a Members,
    scales: &'a Scales,
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
                        for (sum, &value) in sums.iter_mut().zip(&row[half * (QUERIES / 2)..]) {
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
        pairs(&products, self.members, self.scales)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Points;
    use crate::random::{Stage, Stream};

    /// Rows of which one is 0 and one is far larger than the others.
    fn points(n: usize, d: usize) -> Points {
        let mut draws = Stream::new(1, Stage::Generator).at(0, 0);
        let values = (0..n * d).map(|place| match place / d {
            3 => 0.0,
            5 => 1e4 * draws.normal(),
            _ => draws.normal(),
        });
        Points::new(values.collect(), d).unwrap()
    }

    /// All pairs of forty points by some instructions: squared distances, and whether they are within reach.
    fn all_pairs(codes: &Codes, instructions: Instructions) -> (Vec<Vec<f32>>, Vec<Vec<bool>>) {
        let (mut panels, mut queries) = (CodePanels::new(instructions), CodeQueries::new(instructions));
        let places: Vec<u32> = (0..40).collect();
        panels.pack(codes, &places, |place| 0.01 * place as f32);
        queries.pack(codes, places.iter().copied(), |place| 0.3 - 0.005 * place as f32);
        let (mut squares, mut near) = (vec![vec![]; 40], vec![vec![]; 40]);
        for first in (0..40).step_by(QUERIES) {
            for panel in 0..panels.len() {
                let found = panels.compare(panel, &queries, first / QUERIES);
                for query in 0..QUERIES {
                    squares[first + query].extend(found.squares[query]);
                    near[first + query].extend((0..LANES).map(|lane| found.near[query] >> lane & 1 == 1));
                }
            }
        }
        (squares, near)
    }

    #[test]
    fn distances_are_those_of_the_codes_by_every_instruction() {
        for d in [7, 64, 130, 2100] {
            let points = points(40, d);
            let order: Vec<u32> = (0..40).rev().collect();
            let codes = Codes::new(&F32Points::new(&points), &order);
            let code = |place: usize, column: usize| {
                i32::from(codes.row(place as u32)[column / GROUP].to_le_bytes()[column % GROUP] as i8)
            };
            let (squares, near) = all_pairs(&codes, Instructions::Any);
            assert_eq!(
                (&squares, &near),
                (
                    &all_pairs(&codes, Instructions::fastest()).0,
                    &all_pairs(&codes, Instructions::fastest()).1
                )
            );
            for a in 0..40 {
                assert!(squares[a][40..].iter().all(|&square| square == f32::INFINITY));
                assert!(near[a][40..].iter().all(|near| !near));
                for b in 0..40 {
                    let product: i32 = (0..d).map(|c| code(a, c) * code(b, c)).sum();
                    let product = codes.steps[a] * codes.steps[b] * product as f32;
                    let square = codes.squared_norms[a] + codes.squared_norms[b] - (product + product);
                    assert_eq!(squares[a][b], square, "{d} columns, {a} and {b}");
                    assert_eq!(near[a][b], square < (0.3 - 0.005 * a as f32).max(0.01 * b as f32));
                }
            }
        }
    }

    #[test]
    fn distances_are_near_the_true_ones() {
        let points = points(40, 96);
        let f32_points = F32Points::new(&points);
        let order: Vec<u32> = (0..40).collect();
        let codes = Codes::new(&f32_points, &order);
        let (squares, _) = all_pairs(&codes, Instructions::fastest());
        for (a, squares) in squares.iter().enumerate() {
            for (b, &square) in squares[..40].iter().enumerate() {
                let columns = f32_points.row(a).zip(f32_points.row(b));
                let truth: f64 = columns.map(|(a, b)| f64::from(a - b).powi(2)).sum();
                let norms = f64::from(codes.squared_norms[a] + codes.squared_norms[b]);
                let error = (f64::from(square) - truth).abs();
                assert!(error < 0.02 * norms, "{a} and {b}: {square} instead of {truth}");
            }
        }
    }
}
