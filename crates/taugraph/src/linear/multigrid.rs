//! The preconditioner: what each level cannot smooth out is corrected on the next.

use rayon::prelude::*;

use super::hierarchy::{Hierarchy, INSIDE, Pattern};
use crate::vectorized::vectorized;

/// Right-hand sides that are worked on at once.
pub(crate) const LANES: usize = 4;
/// The level of the graph itself.
pub(crate) const FINEST: usize = 0;
/// Nodes of a chunk.
pub(super) const CHUNK: usize = 512;
/// Share of a diagonal entry that is rounding.
const ROUNDING: f64 = 1e-13;
/// Damping of the smoother: 2/3 treats the upper half of the spectrum of D⁻¹L evenly.
const DAMPING: f64 = 2.0 / 3.0;
/// Corrections of a level below the first: two keep the number of iterations from growing with the levels (a W-cycle).
const ROUNDS: usize = 2;

/// One level of one system.
struct Level<'a> {
    pattern: &'a Pattern,
    weights: Weights<'a>,
    /// 0 where a node takes no part.
    diagonal: Vec<f64>,
    /// The step of the smoother: damped 1/diagonal, undamped where a node has no neighbors, 0 where it takes no part.
    steps: Vec<f64>,
}

enum Weights<'a> {
    Graph(&'a [f64]),
    Own(Vec<f64>),
}

impl Weights<'_> {
    fn as_slice(&self) -> &[f64] {
        match self {
            Weights::Graph(weights) => weights,
            Weights::Own(weights) => weights,
        }
    }
}

/// The levels of one system, finest first, and the inverse of the coarsest.
pub(crate) struct Multigrid<'a> {
    levels: Vec<Level<'a>>,
    inverse: Vec<f64>,
    held: Option<&'a [bool]>,
}

/// Vectors of one level.
pub(crate) struct Workspace {
    right: Vec<f64>,
    x: Vec<f64>,
    other: Vec<f64>,
}

impl<'a> Multigrid<'a> {
    /// `held` and `extra` are by node of the graph.
    pub fn new(hierarchy: &'a Hierarchy, held: Option<&'a [bool]>, extra: Option<&[f64]>) -> Self {
        let order = hierarchy.order();
        let is_held: Vec<bool> =
            order.iter().map(|&node| held.is_some_and(|held| held[node as usize])).collect();
        let (patterns, weights) = (hierarchy.patterns(), hierarchy.weights());
        let row = |place: usize| patterns[0].offsets[place]..patterns[0].offsets[place + 1];
        // What a node's diagonal has beyond its weights to nodes that are not held. Known as such, and not as a difference,
        // it is exactly 0 where nothing holds.
        let excess_at = |place: usize| {
            let to_held = row(place).filter(|&entry| is_held[patterns[0].ids[entry] as usize]);
            let extra = extra.map_or(0.0, |extra| extra[order[place] as usize]);
            extra + to_held.map(|entry| weights[entry]).sum::<f64>()
        };
        let places = || (0..order.len()).into_par_iter().with_min_len(CHUNK);
        let mut excess: Vec<f64> =
            places().map(|place| if is_held[place] { 0.0 } else { excess_at(place) }).collect();
        let diagonal_at = |place: usize| {
            let to_free = row(place).filter(|&entry| !is_held[patterns[0].ids[entry] as usize]);
            excess[place] + to_free.map(|entry| weights[entry]).sum::<f64>()
        };
        let diagonal = places().map(|place| if is_held[place] { 0.0 } else { diagonal_at(place) }).collect();
        let mut levels = vec![Level::new(&patterns[0], Weights::Graph(weights), diagonal)];
        for (depth, pattern) in patterns.iter().enumerate().skip(1) {
            let fine = &levels[depth - 1];
            let weights = fine.merged_weights(pattern, |place| depth == 1 && is_held[place]);
            let members = |merged: usize| {
                fine.pattern.firsts[merged] as usize..fine.pattern.firsts[merged + 1] as usize
            };
            excess = (0..pattern.len()).map(|merged| excess[members(merged)].iter().sum()).collect();
            let of_row = |node: usize| &weights[pattern.offsets[node]..pattern.offsets[node + 1]];
            let diagonal =
                (0..pattern.len()).map(|node| excess[node] + of_row(node).iter().sum::<f64>()).collect();
            levels.push(Level::new(pattern, Weights::Own(weights), diagonal));
        }
        let inverse = levels[levels.len() - 1].inverse(&excess);
        Self { levels, inverse, held }
    }

    pub fn is_held(&self, node: usize) -> bool {
        self.held.is_some_and(|held| held[node])
    }

    /// The diagonal of the system, in the order of the hierarchy.
    pub fn diagonal(&self) -> &[f64] {
        &self.levels[0].diagonal
    }

    /// How many levels there are.
    pub fn depth(&self) -> usize {
        self.levels.len()
    }

    /// The nodes of a level that each node of the next is made of; nodes behind them merge with nothing.
    pub fn members(&self, depth: usize) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        let firsts = &self.levels[depth].pattern.firsts;
        firsts.windows(2).map(|ends| ends[0] as usize..ends[1] as usize)
    }

    /// For cycles that begin at a level.
    pub fn workspace(&self, depth: usize, width: usize) -> Vec<Workspace> {
        let of_level = |level: &Level<'_>| {
            let zeros = || vec![0.0; level.pattern.len() * width];
            Workspace { right: zeros(), x: zeros(), other: zeros() }
        };
        self.levels[depth + 1..].iter().map(of_level).collect()
    }

    /// out ← A·x, of a level.
    pub fn apply(&self, depth: usize, x: &[f64], out: &mut [f64], width: usize) {
        self.levels[depth]
            .for_chunks(out, width, |level, chunk| apply_rows(level.rows(x, x, width), chunk.0, chunk.1));
    }

    /// Takes out of x what oscillates from node to node: sweeps of the smoother towards A·x = 0, of a level.
    pub fn smooth(&self, depth: usize, x: &mut Vec<f64>, sweeps: usize, width: usize) {
        let (zeros, mut other) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        for _ in 0..sweeps {
            self.levels[depth].for_chunks(&mut other, width, |level, (first, out)| {
                smooth_rows(level.rows(x, &zeros, width), first, out)
            });
            std::mem::swap(x, &mut other);
        }
    }

    /// x ← an approximate solution of A·x = r, of a level; `other` is work space.
    pub fn cycle(
        &self,
        depth: usize,
        r: &[f64],
        x: &mut Vec<f64>,
        other: &mut Vec<f64>,
        work: &mut [Workspace],
        width: usize,
    ) {
        let level = &self.levels[depth];
        if depth + 1 == self.levels.len() {
            return multiply_dense(&self.inverse, r, x, width);
        }
        level.for_chunks(x, width, |level, (first, x)| {
            scale_rows(&level.steps[first..], &r[first * width..], x, width)
        });
        let rounds = if depth == FINEST { 1 } else { ROUNDS };
        let (next, deeper) = work.split_first_mut().expect("a work space for each level");
        for _ in 0..rounds {
            level.restrict(x, r, &mut next.right, width);
            self.cycle(depth + 1, &next.right, &mut next.x, &mut next.other, deeper, width);
            level.prolong(&next.x, x, width);
            level.for_chunks(other, width, |level, (first, out)| {
                smooth_rows(level.rows(x, r, width), first, out)
            });
            std::mem::swap(x, other);
        }
    }
}

/// What a pass over rows reads.
#[derive(Clone, Copy)]
struct Rows<'a> {
    offsets: &'a [usize],
    ids: &'a [u32],
    weights: &'a [f64],
    diagonal: &'a [f64],
    steps: &'a [f64],
    x: &'a [f64],
    r: &'a [f64],
    width: usize,
}

impl<'a> Level<'a> {
    fn new(pattern: &'a Pattern, weights: Weights<'a>, diagonal: Vec<f64>) -> Self {
        let step = |(node, diagonal): (usize, &f64)| {
            let is_alone = pattern.offsets[node] == pattern.offsets[node + 1];
            match *diagonal {
                d if d > 0.0 => {
                    if is_alone {
                        1.0 / d
                    } else {
                        DAMPING / d
                    }
                }
                _ => 0.0,
            }
        };
        let steps = diagonal.iter().enumerate().map(step).collect();
        Self { pattern, weights, diagonal, steps }
    }

    fn rows<'b>(&'b self, x: &'b [f64], r: &'b [f64], width: usize) -> Rows<'b> {
        let Pattern { offsets, ids, .. } = self.pattern;
        Rows {
            offsets,
            ids,
            weights: self.weights.as_slice(),
            diagonal: &self.diagonal,
            steps: &self.steps,
            x,
            r,
            width,
        }
    }

    /// Runs `work` on chunks of whole rows of `out`, with the first row of each.
    fn for_chunks(&self, out: &mut [f64], width: usize, work: impl Fn(&Self, (usize, &mut [f64])) + Sync) {
        let chunks = out.par_chunks_mut(CHUNK * width).enumerate();
        chunks.for_each(|(chunk, out)| work(self, (chunk * CHUNK, out)));
    }

    /// Weights between the merged nodes, without those of nodes that are out.
    fn merged_weights(&self, coarse: &Pattern, is_out: impl Fn(usize) -> bool + Sync) -> Vec<f64> {
        let (pattern, weights) = (self.pattern, self.weights.as_slice());
        let mut merged = vec![0.0; coarse.ids.len()];
        let mut rows = Vec::with_capacity(coarse.len());
        let mut rest = &mut merged[..];
        for node in 0..coarse.len() {
            let row;
            (row, rest) = rest.split_at_mut(coarse.offsets[node + 1] - coarse.offsets[node]);
            rows.push(row);
        }
        rows.par_iter_mut().with_min_len(CHUNK).enumerate().for_each(|(node, row)| {
            for member in pattern.firsts[node] as usize..pattern.firsts[node + 1] as usize {
                if is_out(member) {
                    continue;
                }
                for entry in pattern.offsets[member]..pattern.offsets[member + 1] {
                    if pattern.slots[entry] != INSIDE && !is_out(pattern.ids[entry] as usize) {
                        row[pattern.slots[entry] as usize] += weights[entry];
                    }
                }
            }
        });
        merged
    }

    /// Sums of the residual over the members of each merged node.
    fn restrict(&self, x: &[f64], r: &[f64], out: &mut [f64], width: usize) {
        let rows = self.rows(x, r, width);
        let chunks = out.par_chunks_mut(CHUNK / 4 * width).enumerate();
        chunks.for_each(|(chunk, out)| restrict_rows(rows, &self.pattern.firsts, chunk * (CHUNK / 4), out));
    }

    /// Adds to the members of each merged node what it has, unless they are held.
    fn prolong(&self, coarse: &[f64], x: &mut [f64], width: usize) {
        let firsts = &self.pattern.firsts;
        self.for_chunks(x, width, |_, (first, x)| {
            let mut merged = firsts.partition_point(|&begin| begin as usize <= first) - 1;
            for (place, x) in x.chunks_exact_mut(width).enumerate() {
                while merged + 1 < firsts.len() && firsts[merged + 1] as usize <= first + place {
                    merged += 1;
                }
                if merged + 1 == firsts.len() {
                    break;
                }
                if self.steps[first + place] != 0.0 {
                    x.iter_mut().zip(&coarse[merged * width..]).for_each(|(x, correction)| *x += correction);
                }
            }
        });
    }

    /// The inverse of the whole matrix, by sweeps: it is small, symmetric and positive definite once a node of every chunk
    /// that nothing holds has been taken out.
    fn inverse(&self, excess: &[f64]) -> Vec<f64> {
        let n = self.pattern.len();
        let weights = self.weights.as_slice();
        let row = |node: usize| self.pattern.offsets[node]..self.pattern.offsets[node + 1];
        let linked = |node: usize| {
            row(node).filter(|&entry| weights[entry] > 0.0).map(|entry| self.pattern.ids[entry])
        };
        let mut is_out: Vec<bool> = self.diagonal.iter().map(|&diagonal| diagonal <= 0.0).collect();
        let mut is_seen = is_out.clone();
        for start in 0..n {
            let mut chunk = vec![start];
            if std::mem::replace(&mut is_seen[start], true) {
                continue;
            }
            let mut next = 0;
            while let Some(&node) = chunk.get(next) {
                next += 1;
                for other in linked(node).map(|other| other as usize) {
                    if !std::mem::replace(&mut is_seen[other], true) {
                        chunk.push(other);
                    }
                }
            }
            is_out[start] = chunk.iter().all(|&node| excess[node] == 0.0);
        }
        let mut a = vec![0.0; n * n];
        for node in (0..n).filter(|&node| !is_out[node]) {
            for entry in row(node).filter(|&entry| !is_out[self.pattern.ids[entry] as usize]) {
                a[node * n + self.pattern.ids[entry] as usize] = -weights[entry];
            }
            a[node * n + node] = self.diagonal[node];
        }
        for pivot in 0..n {
            // What links of no weight leave of a diagonal is rounding: such a node is taken out as well.
            if is_out[pivot] || a[pivot * n + pivot] <= ROUNDING * self.diagonal[pivot] {
                is_out[pivot] = true;
                continue;
            }
            let inverse = 1.0 / a[pivot * n + pivot];
            let row: Vec<f64> = a[pivot * n..(pivot + 1) * n].iter().map(|value| value * inverse).collect();
            for other in (0..n).filter(|&other| other != pivot) {
                let factor = a[other * n + pivot];
                if factor != 0.0 {
                    a[other * n..(other + 1) * n]
                        .iter_mut()
                        .zip(&row)
                        .for_each(|(a, row)| *a -= factor * row);
                    a[other * n + pivot] = -factor * inverse;
                }
            }
            a[pivot * n..(pivot + 1) * n].copy_from_slice(&row);
            a[pivot * n + pivot] = inverse;
        }
        for (place, value) in a.iter_mut().enumerate() {
            if is_out[place / n] || is_out[place % n] {
                *value = 0.0;
            }
        }
        a
    }
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
    fn apply_rows<'a>(rows: Rows<'a>, first: usize, out: &'a mut [f64]) -> () {
        in_blocks!(rows.width, apply_lanes(&rows, first, out));
    }
}

vectorized! {
    fn smooth_rows<'a>(rows: Rows<'a>, first: usize, out: &'a mut [f64]) -> () {
        in_blocks!(rows.width, smooth_lanes(&rows, first, out));
    }
}

vectorized! {
    fn restrict_rows<'a>(rows: Rows<'a>, firsts: &'a [u32], first: usize, out: &'a mut [f64]) -> () {
        in_blocks!(rows.width, restrict_lanes(&rows, firsts, first, out));
    }
}

vectorized! {
    fn scale_rows<'a>(steps: &'a [f64], r: &'a [f64], x: &'a mut [f64], width: usize) -> () {
        for ((x, r), step) in x.chunks_exact_mut(width).zip(r.chunks_exact(width)).zip(steps) {
            x.iter_mut().zip(r).for_each(|(x, r)| *x = step * r);
        }
    }
}

/// x ← inverse·r.
fn multiply_dense(inverse: &[f64], r: &[f64], x: &mut [f64], width: usize) {
    let n = r.len() / width;
    // Every node merged away alone.
    if n == 0 {
        return;
    }
    for (x, row) in x.chunks_exact_mut(width).zip(inverse.chunks_exact(n)) {
        x.fill(0.0);
        for (r, a) in r.chunks_exact(width).zip(row) {
            x.iter_mut().zip(r).for_each(|(x, r)| *x += a * r);
        }
    }
}
