//! The inner loops of multigrid: passes over the rows of one level, several right-hand sides at once.

use crate::vectorized::vectorized;

/// Right-hand sides processed at once.
pub(crate) const LANES: usize = 4;

/// What a pass over rows reads.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub offsets: &'a [usize],
    pub ids: &'a [u32],
    pub weights: &'a [f64],
    pub diagonal: &'a [f64],
    pub steps: &'a [f64],
    pub x: &'a [f64],
    pub r: &'a [f64],
    pub width: usize,
}

/// `BLOCKS` blocks of lanes of r·sign − A·x at a node, from the `lane`-th right-hand side.
#[inline(always)]
fn residual<const BLOCKS: usize>(
    rows: &Rows<'_>,
    node: usize,
    lane: usize,
    sign: f64,
) -> [[f64; LANES]; BLOCKS] {
    let blocks = |values: &'_ [f64], node: usize| -> [[f64; LANES]; BLOCKS] {
        let at = node * rows.width + lane;
        let (blocks, _) = values[at..at + BLOCKS * LANES].as_chunks::<LANES>();
        std::array::from_fn(|block| blocks[block])
    };
    let (x, r, diagonal) = (blocks(rows.x, node), blocks(rows.r, node), rows.diagonal[node]);
    let mut sums: [[f64; LANES]; BLOCKS] =
        std::array::from_fn(|b| std::array::from_fn(|l| sign * r[b][l] - diagonal * x[b][l]));
    let entries = rows.offsets[node]..rows.offsets[node + 1];
    for (&other, &weight) in rows.ids[entries.clone()].iter().zip(&rows.weights[entries]) {
        let x = blocks(rows.x, other as usize);
        for b in 0..BLOCKS {
            for l in 0..LANES {
                sums[b][l] += weight * x[b][l];
            }
        }
    }
    sums
}

/// Calls `$work::<BLOCKS>(lane)` until all right-hand sides are done, four blocks at a time.
macro_rules! in_blocks {
    ($width:expr, $work:ident($($arg:expr),*)) => {
        let mut lane = 0;
        while lane < $width {
            match ($width - lane) / LANES {
                1 => $work::<1>($($arg,)* lane),
                2 => $work::<2>($($arg,)* lane),
                3 => $work::<3>($($arg,)* lane),
                _ => $work::<4>($($arg,)* lane),
            }
            lane += 4 * LANES;
        }
    };
}

#[inline(always)]
fn apply_lanes<const BLOCKS: usize>(rows: &Rows<'_>, first: usize, out: &mut [f64], lane: usize) {
    for (place, out) in out.chunks_exact_mut(rows.width).enumerate() {
        let out = &mut out[lane..lane + BLOCKS * LANES];
        if rows.steps[first + place] == 0.0 {
            out.fill(0.0);
            continue;
        }
        let found = residual::<BLOCKS>(rows, first + place, lane, 0.0);
        out.iter_mut().zip(found.as_flattened()).for_each(|(out, found)| *out = -found);
    }
}

#[inline(always)]
fn smooth_lanes<const BLOCKS: usize>(rows: &Rows<'_>, first: usize, out: &mut [f64], lane: usize) {
    for (place, out) in out.chunks_exact_mut(rows.width).enumerate() {
        let out = &mut out[lane..lane + BLOCKS * LANES];
        let (node, step) = (first + place, rows.steps[first + place]);
        if step == 0.0 {
            out.fill(0.0);
            continue;
        }
        let found = residual::<BLOCKS>(rows, node, lane, 1.0);
        let x = &rows.x[node * rows.width + lane..];
        out.iter_mut().zip(found.as_flattened()).zip(x).for_each(|((out, found), x)| *out = x + step * found);
    }
}

#[inline(always)]
fn restrict_lanes<const BLOCKS: usize>(
    rows: &Rows<'_>,
    firsts: &[u32],
    first: usize,
    out: &mut [f64],
    lane: usize,
) {
    for (place, out) in out.chunks_exact_mut(rows.width).enumerate() {
        let mut sums = [[0.0; LANES]; BLOCKS];
        for node in firsts[first + place] as usize..firsts[first + place + 1] as usize {
            if rows.steps[node] != 0.0 {
                let found = residual::<BLOCKS>(rows, node, lane, 1.0);
                let flat = sums.as_flattened_mut().iter_mut().zip(found.as_flattened());
                flat.for_each(|(sum, found)| *sum += found);
            }
        }
        out[lane..lane + BLOCKS * LANES].copy_from_slice(sums.as_flattened());
    }
}

vectorized! {
    /// out ← A·x.
    pub(super) fn apply_rows<'a>(rows: Rows<'a>, first: usize, out: &'a mut [f64]) -> () {
        in_blocks!(rows.width, apply_lanes(&rows, first, out));
    }
}

vectorized! {
    /// out ← x after one step of the smoother towards A·x = r.
    pub(super) fn smooth_rows<'a>(rows: Rows<'a>, first: usize, out: &'a mut [f64]) -> () {
        in_blocks!(rows.width, smooth_lanes(&rows, first, out));
    }
}

vectorized! {
    /// out ← sums of r − A·x over the members of each merged node, these from `first` on.
    pub(super) fn restrict_rows<'a>(rows: Rows<'a>, firsts: &'a [u32], first: usize, out: &'a mut [f64]) -> () {
        in_blocks!(rows.width, restrict_lanes(&rows, firsts, first, out));
    }
}

vectorized! {
    /// x ← steps·r.
    pub(super) fn scale_rows<'a>(steps: &'a [f64], r: &'a [f64], x: &'a mut [f64], width: usize) -> () {
        for ((x, r), step) in x.chunks_exact_mut(width).zip(r.chunks_exact(width)).zip(steps) {
            x.iter_mut().zip(r).for_each(|(x, r)| *x = step * r);
        }
    }
}
