//! One level of one system: its matrix, and the operations of a cycle on it.

use std::sync::Arc;

use rayon::prelude::*;

use super::coarsest::{Inverse, SmallMatrix};
use super::hierarchy::{Hierarchy, INSIDE, Pattern};
use super::kernels::{Real, Rows, apply_rows, restrict_rows, scale_rows, smooth_rows};

/// Nodes per chunk.
pub(super) const CHUNK: usize = 512;
/// Levels with at most this many nodes stay on one thread: to wake another takes as long as a pass over a thousand nodes.
const IN_SEQUENCE: usize = 4 * CHUNK;
/// Damping of the smoother: 2/3 treats the upper half of the spectrum of D⁻¹L evenly.
const DAMPING: f64 = 2.0 / 3.0;

/// One level of one system.
pub(super) struct Level {
    pub pattern: Arc<Pattern>,
    weights: Arc<Vec<f64>>,
    /// 0 if a node takes no part.
    pub diagonal: Vec<f64>,
    /// The step of the smoother: damped 1/diagonal, undamped if a node has no neighbors, 0 if it takes no part.
    steps: Vec<f64>,
}

impl Level {
    /// The level of the graph itself; and, for each node, its diagonal's excess over the weights to nodes that are not clamped.
    /// Computed directly rather than as a difference, the excess is exactly 0 where nothing is clamped.
    pub fn finest(
        hierarchy: &Hierarchy,
        is_clamped: &[bool],
        extra_at: impl Fn(usize) -> f64 + Sync,
    ) -> (Self, Vec<f64>) {
        let (pattern, weights) = (&hierarchy.patterns()[0], hierarchy.weights());
        let row = |place: usize| pattern.offsets[place]..pattern.offsets[place + 1];
        let excess_at = |place: usize| {
            let to_clamped = row(place).filter(|&entry| is_clamped[pattern.ids[entry] as usize]);
            extra_at(place) + to_clamped.map(|entry| weights[entry]).sum::<f64>()
        };
        let places = || (0..pattern.len()).into_par_iter().with_min_len(CHUNK);
        let excess: Vec<f64> =
            places().map(|place| if is_clamped[place] { 0.0 } else { excess_at(place) }).collect();
        let diagonal_at = |place: usize| {
            let to_free = row(place).filter(|&entry| !is_clamped[pattern.ids[entry] as usize]);
            excess[place] + to_free.map(|entry| weights[entry]).sum::<f64>()
        };
        let diagonal =
            places().map(|place| if is_clamped[place] { 0.0 } else { diagonal_at(place) }).collect();
        (Self::new(pattern.clone(), weights.clone(), diagonal), excess)
    }

    /// A level of merged nodes.
    pub fn coarse(pattern: Arc<Pattern>, weights: Arc<Vec<f64>>, excess: &[f64]) -> Self {
        let of_row = |node: usize| &weights[pattern.offsets[node]..pattern.offsets[node + 1]];
        let nodes = (0..pattern.len()).into_par_iter().with_min_len(CHUNK);
        let diagonal = nodes.map(|node| excess[node] + of_row(node).iter().sum::<f64>()).collect();
        Self::new(pattern, weights, diagonal)
    }

    fn new(pattern: Arc<Pattern>, weights: Arc<Vec<f64>>, diagonal: Vec<f64>) -> Self {
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

    fn rows<'b, T: Real>(&'b self, x: &'b [T], r: &'b [T], width: usize) -> Rows<'b, T> {
        let Pattern { offsets, ids, .. } = &*self.pattern;
        Rows {
            offsets,
            ids,
            weights: &self.weights,
            diagonal: &self.diagonal,
            steps: &self.steps,
            x,
            r,
            width,
        }
    }

    /// Runs `work` on chunks of whole rows of `out`, with the first row of each.
    fn for_chunks<T: Real>(
        &self,
        out: &mut [T],
        width: usize,
        work: impl Fn(&Self, (usize, &mut [T])) + Sync,
    ) {
        if self.pattern.len() <= IN_SEQUENCE {
            return work(self, (0, out));
        }
        let chunks = out.par_chunks_mut(CHUNK * width).enumerate();
        chunks.for_each(|(chunk, out)| work(self, (chunk * CHUNK, out)));
    }

    /// out ← A·x.
    pub fn apply<T: Real>(&self, x: &[T], out: &mut [T], width: usize) {
        self.for_chunks(out, width, |level, (first, out)| apply_rows(level.rows(x, x, width), first, out));
    }

    /// out ← x after one step of the smoother towards A·x = r.
    pub fn smooth<T: Real>(&self, x: &[T], r: &[T], out: &mut [T], width: usize) {
        self.for_chunks(out, width, |level, (first, out)| smooth_rows(level.rows(x, r, width), first, out));
    }

    /// x ← 0 after one step of the smoother towards A·x = r.
    pub fn smooth_from_zero<T: Real>(&self, r: &[T], x: &mut [T], width: usize) {
        self.for_chunks(x, width, |level, (first, x)| {
            scale_rows(&level.steps[first..], &r[first * width..], x, width)
        });
    }

    /// The excess of the merged nodes' diagonals over their weights.
    pub fn merged_excess(&self, coarse: &Pattern, excess: &[f64]) -> Vec<f64> {
        let firsts = &self.pattern.firsts;
        let members = |merged: usize| firsts[merged] as usize..firsts[merged + 1] as usize;
        (0..coarse.len()).map(|merged| excess[members(merged)].iter().sum()).collect()
    }

    /// Weights between the merged nodes, without those of removed nodes.
    pub fn merged_weights(&self, coarse: &Pattern, is_out: impl Fn(usize) -> bool + Sync) -> Vec<f64> {
        let (pattern, weights) = (&*self.pattern, &self.weights[..]);
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
    pub fn restrict<T: Real>(&self, x: &[T], r: &[T], out: &mut [T], width: usize) {
        let rows = self.rows(x, r, width);
        if self.pattern.len() <= IN_SEQUENCE {
            return restrict_rows(rows, &self.pattern.firsts, 0, out);
        }
        let chunks = out.par_chunks_mut(CHUNK / 4 * width).enumerate();
        chunks.for_each(|(chunk, out)| restrict_rows(rows, &self.pattern.firsts, chunk * (CHUNK / 4), out));
    }

    /// Adds the value of each merged node to its members, unless they are clamped.
    pub fn prolong<T: Real>(&self, coarse: &[T], x: &mut [T], width: usize) {
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
                    x.iter_mut().zip(&coarse[merged * width..]).for_each(|(x, correction)| *x += *correction);
                }
            }
        });
    }

    /// The inverse of the whole matrix of a level.
    pub fn inverse(&self, excess: &[f64]) -> Inverse {
        let Pattern { offsets, ids, .. } = &*self.pattern;
        let weights = &self.weights[..];
        Inverse::of(SmallMatrix { offsets, ids, weights, diagonal: &self.diagonal, excess })
    }
}
