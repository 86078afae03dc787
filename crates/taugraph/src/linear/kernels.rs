//! The inner loops of multigrid: passes over the rows of one level, several right-hand sides at once.
//!
//! Vectors are in double or single precision. In single precision twice as many right-hand sides share what a pass costs most, the
//! fetching of the neighbors' values from memory.

use std::ops::{AddAssign, Mul, Sub};

use crate::vectorized::vectorized;

/// Right-hand sides processed at once in double precision.
pub(crate) const LANES: usize = 4;
/// The same in single precision.
pub(crate) const F32_LANES: usize = 8;

/// A floating-point number of either precision. All weights are in double precision, and converted as they are used.
pub(crate) trait Real:
    Copy + Default + Send + Sync + AddAssign + Mul<Output = Self> + Sub<Output = Self> + 'static
{
    /// Right-hand sides processed at once.
    const LANES: usize;

    fn of(value: f64) -> Self;
}

impl Real for f64 {
    const LANES: usize = LANES;

    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }
}

impl Real for f32 {
    const LANES: usize = F32_LANES;

    #[inline(always)]
    fn of(value: f64) -> Self {
        value as f32
    }
}

/// What a pass over rows reads.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, T> {
    pub offsets: &'a [usize],
    pub ids: &'a [u32],
    pub weights: &'a [f64],
    pub diagonal: &'a [f64],
    pub steps: &'a [f64],
    pub x: &'a [T],
    pub r: &'a [T],
    pub width: usize,
}

/// `BLOCKS` blocks of `N` lanes of r·sign − A·x at a node, from the `lane`-th right-hand side.
#[inline(always)]
fn residual<T: Real, const N: usize, const BLOCKS: usize>(
    rows: &Rows<'_, T>,
    node: usize,
    lane: usize,
    sign: f64,
) -> [[T; N]; BLOCKS] {
    let blocks = |values: &'_ [T], node: usize| -> [[T; N]; BLOCKS] {
        let at = node * rows.width + lane;
        let (blocks, _) = values[at..at + BLOCKS * N].as_chunks::<N>();
        std::array::from_fn(|block| blocks[block])
    };
    let (sign, diagonal) = (T::of(sign), T::of(rows.diagonal[node]));
    let (x, r) = (blocks(rows.x, node), blocks(rows.r, node));
    let mut sums: [[T; N]; BLOCKS] =
        std::array::from_fn(|b| std::array::from_fn(|l| sign * r[b][l] - diagonal * x[b][l]));
    let entries = rows.offsets[node]..rows.offsets[node + 1];
    for (&other, &weight) in rows.ids[entries.clone()].iter().zip(&rows.weights[entries]) {
        let (x, weight) = (blocks(rows.x, other as usize), T::of(weight));
        for b in 0..BLOCKS {
            for l in 0..N {
                sums[b][l] += weight * x[b][l];
            }
        }
    }
    sums
}

/// Calls `$work::<T, N, BLOCKS>(lane)` until all right-hand sides are done, several blocks at a time.
macro_rules! in_blocks {
    ($kind:ident, $width:expr, $work:ident($($arg:expr),*)) => {
        let mut lane = 0;
        while lane < $width {
            let blocks = ($width - lane) / $kind::LANES;
            match ($kind::LANES, blocks) {
                (F32_LANES, 1) => $work::<$kind, F32_LANES, 1>($($arg,)* lane),
                (F32_LANES, _) => $work::<$kind, F32_LANES, 2>($($arg,)* lane),
                (_, 1) => $work::<$kind, LANES, 1>($($arg,)* lane),
                (_, 2) => $work::<$kind, LANES, 2>($($arg,)* lane),
                (_, 3) => $work::<$kind, LANES, 3>($($arg,)* lane),
                _ => $work::<$kind, LANES, 4>($($arg,)* lane),
            }
            lane += 4 * LANES;
        }
    };
}

#[inline(always)]
fn apply_lanes<T: Real, const N: usize, const BLOCKS: usize>(
    rows: &Rows<'_, T>,
    first: usize,
    out: &mut [T],
    lane: usize,
) {
    for (place, out) in out.chunks_exact_mut(rows.width).enumerate() {
        let out = &mut out[lane..lane + BLOCKS * N];
        if rows.steps[first + place] == 0.0 {
            out.fill(T::default());
            continue;
        }
        let found = residual::<T, N, BLOCKS>(rows, first + place, lane, 0.0);
        out.iter_mut().zip(found.as_flattened()).for_each(|(out, found)| *out = T::of(-1.0) * *found);
    }
}

#[inline(always)]
fn smooth_lanes<T: Real, const N: usize, const BLOCKS: usize>(
    rows: &Rows<'_, T>,
    first: usize,
    out: &mut [T],
    lane: usize,
) {
    for (place, out) in out.chunks_exact_mut(rows.width).enumerate() {
        let out = &mut out[lane..lane + BLOCKS * N];
        let (node, step) = (first + place, rows.steps[first + place]);
        if step == 0.0 {
            out.fill(T::default());
            continue;
        }
        let (found, step) = (residual::<T, N, BLOCKS>(rows, node, lane, 1.0), T::of(step));
        let x = &rows.x[node * rows.width + lane..];
        for ((out, &found), &x) in out.iter_mut().zip(found.as_flattened()).zip(x) {
            *out = x;
            *out += step * found;
        }
    }
}

#[inline(always)]
fn restrict_lanes<T: Real, const N: usize, const BLOCKS: usize>(
    rows: &Rows<'_, T>,
    firsts: &[u32],
    first: usize,
    out: &mut [T],
    lane: usize,
) {
    for (place, out) in out.chunks_exact_mut(rows.width).enumerate() {
        let mut sums = [[T::default(); N]; BLOCKS];
        for node in firsts[first + place] as usize..firsts[first + place + 1] as usize {
            if rows.steps[node] != 0.0 {
                let found = residual::<T, N, BLOCKS>(rows, node, lane, 1.0);
                let flat = sums.as_flattened_mut().iter_mut().zip(found.as_flattened());
                flat.for_each(|(sum, found)| *sum += *found);
            }
        }
        out[lane..lane + BLOCKS * N].copy_from_slice(sums.as_flattened());
    }
}

vectorized! {
    /// out ← A·x.
    pub(super) fn apply_rows<'a, T: Real>(rows: Rows<'a, T>, first: usize, out: &'a mut [T]) -> () {
        in_blocks!(T, rows.width, apply_lanes(&rows, first, out));
    }
}

vectorized! {
    /// out ← x after one step of the smoother towards A·x = r.
    pub(super) fn smooth_rows<'a, T: Real>(rows: Rows<'a, T>, first: usize, out: &'a mut [T]) -> () {
        in_blocks!(T, rows.width, smooth_lanes(&rows, first, out));
    }
}

vectorized! {
    /// out ← sums of r − A·x over the members of each merged node, these from `first` on.
    pub(super) fn restrict_rows<'a, T: Real>(rows: Rows<'a, T>, firsts: &'a [u32], first: usize, out: &'a mut [T]) -> () {
        in_blocks!(T, rows.width, restrict_lanes(&rows, firsts, first, out));
    }
}

vectorized! {
    /// x ← steps·r.
    pub(super) fn scale_rows<'a, T: Real>(steps: &'a [f64], r: &'a [T], x: &'a mut [T], width: usize) -> () {
        for ((x, r), step) in x.chunks_exact_mut(width).zip(r.chunks_exact(width)).zip(steps) {
            x.iter_mut().zip(r).for_each(|(x, r)| *x = T::of(*step) * *r);
        }
    }
}
