//! Two products of bytes for each of sixteen sums of 16 bits in one instruction (AVX2), which a second one adds to sums of 32 bits.

use std::arch::x86_64::{
    __m256i, _CMP_LT_OQ, _mm256_abs_epi8, _mm256_add_epi32, _mm256_add_ps, _mm256_cmp_ps, _mm256_cvtepi32_ps,
    _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_max_ps, _mm256_movemask_ps, _mm256_mul_ps,
    _mm256_permute2x128_si256, _mm256_set1_epi16, _mm256_set1_epi32, _mm256_set1_ps, _mm256_setzero_si256,
    _mm256_sign_epi8, _mm256_sub_ps, _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi32,
    _mm256_unpacklo_epi64,
};

use super::{LANES, Line, Members, Pairs, QUERIES};

/// 32-bit values of a vector.
const WIDTH: usize = 8;
const SIDES: usize = LANES / WIDTH;
/// Queries compared in one pass: as many sums as fit into registers.
const PASS: usize = 4;

/// As [`super::pairs`], operation by operation.
///
/// The instruction multiplies unsigned by signed bytes, so the signs of the members go to the queries. Codes are at most 127 in absolute value: two
/// products fit into 16 bits.
#[target_feature(enable = "avx2")]
pub fn compare(
    (groups, members): (&[Line], &Members),
    (queries, scales): (&[Line], &Members),
    first: usize,
) -> Pairs {
    let mut pairs = Pairs { squares: [[0.0; LANES]; QUERIES], near: [0; QUERIES] };
    let halves = |values: &[f32; LANES]| bytemuck::cast(*values);
    let [steps, norms, reach] = [&members.steps, &members.squared_norms, &members.reach].map(halves);
    for pass in (0..QUERIES).step_by(PASS) {
        let products = products(groups, queries, first + pass);
        for (query, products) in (pass..).zip(products) {
            let at = first + query;
            let mut squares = [_mm256_set1_ps(0.0); SIDES];
            for side in 0..SIDES {
                let (steps, norms, reach): ([_; SIDES], [_; SIDES], [_; SIDES]) = (steps, norms, reach);
                let steps = _mm256_mul_ps(_mm256_set1_ps(scales.steps[at]), steps[side]);
                let product = _mm256_mul_ps(steps, _mm256_cvtepi32_ps(products[side]));
                let norms = _mm256_add_ps(_mm256_set1_ps(scales.squared_norms[at]), norms[side]);
                squares[side] = _mm256_sub_ps(norms, _mm256_add_ps(product, product));
                let reach = _mm256_max_ps(_mm256_set1_ps(scales.reach[at]), reach[side]);
                let near = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(squares[side], reach));
                pairs.near[query] |= (near as u32) << (WIDTH * side);
            }
            pairs.squares[query] = bytemuck::cast(squares);
        }
    }
    pairs
}

/// Scalar products of some queries with all members.
#[target_feature(enable = "avx2")]
#[inline]
fn products(groups: &[Line], queries: &[Line], first: usize) -> [[__m256i; SIDES]; PASS] {
    let ones = _mm256_set1_epi16(1);
    let mut sums = [[_mm256_setzero_si256(); SIDES]; PASS];
    for (members, queries) in groups.iter().zip(queries) {
        let members: [__m256i; SIDES] = bytemuck::cast(members.0);
        let unsigned = members.map(|side| _mm256_abs_epi8(side));
        let queries: &[u32; PASS] = queries.0[first..].first_chunk().expect("whole passes");
        for (sums, &query) in sums.iter_mut().zip(queries) {
            let query = _mm256_set1_epi32(query as i32);
            for (sum, (member, unsigned)) in sums.iter_mut().zip(members.into_iter().zip(unsigned)) {
                let products = _mm256_maddubs_epi16(unsigned, _mm256_sign_epi8(query, member));
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(products, ones));
            }
        }
    }
    sums
}

/// Group by group, what the rows have there: squares of eight groups are transposed in registers, by pairs of rows that are one, two and four apart.
#[target_feature(enable = "avx2")]
pub fn transpose(rows: &[&[Line]; LANES], out: &mut [Line]) {
    for (line, out) in out.chunks_exact_mut(LANES).enumerate() {
        for (quarter, out) in out.chunks_exact_mut(WIDTH).enumerate() {
            for side in 0..SIDES {
                let row = |lane: usize| {
                    let halves: [__m256i; SIDES] = bytemuck::cast(rows[side * WIDTH + lane][line].0);
                    halves[quarter]
                };
                let (mut a, mut b) =
                    (std::array::from_fn::<_, WIDTH, _>(row), [_mm256_setzero_si256(); WIDTH]);
                for i in (0..WIDTH).step_by(2) {
                    b[i] = _mm256_unpacklo_epi32(a[i], a[i + 1]);
                    b[i + 1] = _mm256_unpackhi_epi32(a[i], a[i + 1]);
                }
                for i in (0..WIDTH).step_by(4) {
                    a[i] = _mm256_unpacklo_epi64(b[i], b[i + 2]);
                    a[i + 1] = _mm256_unpackhi_epi64(b[i], b[i + 2]);
                    a[i + 2] = _mm256_unpacklo_epi64(b[i + 1], b[i + 3]);
                    a[i + 3] = _mm256_unpackhi_epi64(b[i + 1], b[i + 3]);
                }
                for i in 0..WIDTH / 2 {
                    b[i] = _mm256_permute2x128_si256::<0x20>(a[i], a[i + 4]);
                    b[i + 4] = _mm256_permute2x128_si256::<0x31>(a[i], a[i + 4]);
                }
                for (out, column) in out.iter_mut().zip(b) {
                    let column: [u32; WIDTH] = bytemuck::cast(column);
                    out.0[side * WIDTH..][..WIDTH].copy_from_slice(&column);
                }
            }
        }
    }
}
