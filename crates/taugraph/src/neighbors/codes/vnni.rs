//! Four products of bytes for each of sixteen sums in one instruction (AVX-512 VNNI).

use std::arch::x86_64::{
    __m512i, _CMP_LT_OQ, _mm512_add_ps, _mm512_cmp_ps_mask, _mm512_cvtepi32_ps, _mm512_dpbusd_epi32,
    _mm512_max_ps, _mm512_mul_ps, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_si512,
    _mm512_shuffle_i32x4, _mm512_sub_epi32, _mm512_sub_ps, _mm512_unpackhi_epi32, _mm512_unpackhi_epi64,
    _mm512_unpacklo_epi32, _mm512_unpacklo_epi64, _mm512_xor_si512,
};

use super::{LANES, Line, Members, Pairs, QUERIES};

/// As [`super::pairs`], operation by operation, after sums of products of unsigned and signed bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
pub fn compare(
    (groups, members): (&[Line], &Members),
    (queries, scales): (&[Line], &Members),
    first: usize,
) -> Pairs {
    let mut sums = [_mm512_setzero_si512(); QUERIES];
    // Added to every byte, it makes them unsigned.
    let sign = _mm512_set1_epi8(i8::MIN);
    for (members, queries) in groups.iter().zip(queries) {
        let members: __m512i = _mm512_xor_si512(bytemuck::cast(members.0), sign);
        let queries: &[u32; QUERIES] = queries.0[first..].first_chunk().expect("eight queries");
        for (sum, &query) in sums.iter_mut().zip(queries) {
            *sum = _mm512_dpbusd_epi32(*sum, members, _mm512_set1_epi32(query as i32));
        }
    }
    let mut pairs = Pairs { squares: [[0.0; LANES]; QUERIES], near: [0; QUERIES] };
    let (steps, reach) = (bytemuck::cast(members.steps), bytemuck::cast(members.reach));
    let squared_norms = bytemuck::cast(members.squared_norms);
    for (query, &sum) in sums.iter().enumerate() {
        let at = first + query;
        let product = _mm512_sub_epi32(sum, _mm512_set1_epi32(128 * scales.sums[at]));
        let steps = _mm512_mul_ps(_mm512_set1_ps(scales.steps[at]), steps);
        let product = _mm512_mul_ps(steps, _mm512_cvtepi32_ps(product));
        let norms = _mm512_add_ps(_mm512_set1_ps(scales.squared_norms[at]), squared_norms);
        let square = _mm512_sub_ps(norms, _mm512_add_ps(product, product));
        let reach = _mm512_max_ps(_mm512_set1_ps(scales.reach[at]), reach);
        pairs.near[query] = u32::from(_mm512_cmp_ps_mask(square, reach, _CMP_LT_OQ));
        pairs.squares[query] = bytemuck::cast(square);
    }
    pairs
}

/// Group by group, what the rows have there: squares of sixteen groups are transposed in registers, by pairs of rows that are one, two, four
/// and eight apart.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
pub fn transpose(rows: &[&[Line]; LANES], out: &mut [Line]) {
    for (square, out) in out.chunks_exact_mut(LANES).enumerate() {
        let zero = _mm512_setzero_si512();
        let (mut a, mut b) = ([zero; LANES], [zero; LANES]);
        for (a, row) in a.iter_mut().zip(rows) {
            *a = bytemuck::cast(row[square].0);
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
        out.iter_mut().zip(a).for_each(|(out, groups)| out.0 = bytemuck::cast(groups));
    }
}
