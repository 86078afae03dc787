//! What the kernel of panels needs of vector instructions: those of pulp, and AVX-512, which pulp has only for all who use it.
//!
//! Every lane computes for itself, so the width of the vectors changes no bit of a score.

use pulp::Simd;

/// Operations on a few values at once.
pub(super) trait Lanes: Copy {
    /// The values.
    type Vector: Copy;
    /// How many they are.
    const LEN: usize;

    fn load(self, slice: &[f32]) -> Self::Vector;
    fn store(self, values: Self::Vector, slice: &mut [f32]);
    fn splat(self, value: f32) -> Self::Vector;
    /// a·b + c, rounded once.
    fn mul_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn min(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn max(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// The lowest value.
    fn lowest(self, values: Self::Vector) -> f32;
}

/// The instructions that pulp chose.
#[derive(Clone, Copy)]
pub(super) struct Pulp<S>(pub S);

impl<S: Simd> Lanes for Pulp<S> {
    type Vector = S::f32s;
    const LEN: usize = S::F32_LANES;

    #[inline(always)]
    fn load(self, slice: &[f32]) -> S::f32s {
        S::as_simd_f32s(slice).0[0]
    }

    #[inline(always)]
    fn store(self, values: S::f32s, slice: &mut [f32]) {
        S::as_mut_simd_f32s(slice).0[0] = values;
    }

    #[inline(always)]
    fn splat(self, value: f32) -> S::f32s {
        self.0.splat_f32s(value)
    }

    #[inline(always)]
    fn mul_add(self, a: S::f32s, b: S::f32s, c: S::f32s) -> S::f32s {
        self.0.mul_add_f32s(a, b, c)
    }

    #[inline(always)]
    fn sub(self, a: S::f32s, b: S::f32s) -> S::f32s {
        self.0.sub_f32s(a, b)
    }

    #[inline(always)]
    fn min(self, a: S::f32s, b: S::f32s) -> S::f32s {
        self.0.min_f32s(a, b)
    }

    #[inline(always)]
    fn max(self, a: S::f32s, b: S::f32s) -> S::f32s {
        self.0.max_f32s(a, b)
    }

    #[inline(always)]
    fn lowest(self, values: S::f32s) -> f32 {
        self.0.reduce_min_f32s(values)
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use avx512::Avx512;

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod avx512 {
    use std::arch::x86_64::{
        __m512, _mm512_fmadd_ps, _mm512_max_ps, _mm512_min_ps, _mm512_reduce_min_ps, _mm512_set1_ps,
        _mm512_sub_ps,
    };

    use super::Lanes;

    /// Sixteen values at once. It exists only on processors that have AVX-512, which makes every operation below sound.
    #[derive(Clone, Copy)]
    pub struct Avx512(());

    impl Avx512 {
        /// If this processor has it.
        pub fn new() -> Option<Self> {
            is_x86_feature_detected!("avx512f").then_some(Self(()))
        }

        /// Calls a function that is compiled for AVX-512, with everything that is inlined into it.
        pub fn call<T>(self, work: impl FnOnce(Self) -> T) -> T {
            #[target_feature(enable = "avx512f")]
            fn compiled<T>(token: Avx512, work: impl FnOnce(Avx512) -> T) -> T {
                work(token)
            }
            // SAFETY: the token exists only if the processor has these instructions.
            unsafe { compiled(self, work) }
        }
    }

    impl Lanes for Avx512 {
        type Vector = __m512;
        const LEN: usize = 16;

        #[inline(always)]
        fn load(self, slice: &[f32]) -> __m512 {
            let values: [f32; 16] = slice[..16].try_into().expect("sixteen values");
            bytemuck::cast(values)
        }

        #[inline(always)]
        fn store(self, values: __m512, slice: &mut [f32]) {
            slice[..16].copy_from_slice(&bytemuck::cast::<_, [f32; 16]>(values));
        }

        #[inline(always)]
        fn splat(self, value: f32) -> __m512 {
            unsafe { _mm512_set1_ps(value) }
        }

        #[inline(always)]
        fn mul_add(self, a: __m512, b: __m512, c: __m512) -> __m512 {
            unsafe { _mm512_fmadd_ps(a, b, c) }
        }

        #[inline(always)]
        fn sub(self, a: __m512, b: __m512) -> __m512 {
            unsafe { _mm512_sub_ps(a, b) }
        }

        #[inline(always)]
        fn min(self, a: __m512, b: __m512) -> __m512 {
            unsafe { _mm512_min_ps(a, b) }
        }

        #[inline(always)]
        fn max(self, a: __m512, b: __m512) -> __m512 {
            unsafe { _mm512_max_ps(a, b) }
        }

        #[inline(always)]
        fn lowest(self, values: __m512) -> f32 {
            unsafe { _mm512_reduce_min_ps(values) }
        }
    }
}
