//! Training over the candidates and sampled non-edges of each row of W: time and memory linear in the candidates.
//!
//! Mini-batches meet other non-edges in every epoch, so that in the long run every pair counts as it does in the dense loss. L-BFGS
//! needs a loss that stays the same and keeps one sample of the non-edges, with each of a row's targets in turn.
//!
//! The pairs of a row are the candidates of its target, too: they have similarities that the target shall teach.

use rayon::prelude::*;

use super::ProblemSize;
use super::network::Scratch;
use super::optimize::{Problem, Step};
use super::pairs::{Candidate, RowPairs};
use super::whole_rows::{RowTraining, Setting, mean_of_visited};
use crate::edges::Edges;
use crate::error::Result;
use crate::random::{Stage, Stream};

/// Most mini-batches of an epoch: every step moves all parameters, so that their number has to stay bounded if the time of an
/// epoch is to grow with the pairs alone.
const MAX_STEPS: usize = 32;

/// Rows of a mini-batch or of a part of the whole: as asked for, or more where there are many rows.
pub(super) fn rows_at_once(n_rows: usize, asked: usize) -> usize {
    asked.max(n_rows.div_ceil(MAX_STEPS))
}

/// Some pairs of each row as samples.
pub(super) struct SampledRows<'a> {
    setting: Setting<'a>,
    per_edge: f64,
    gradient: Vec<f64>,
    scratch: Scratch,
    iterations: usize,
}

impl<'a> SampledRows<'a> {
    /// `per_edge` non-edges for each candidate.
    pub fn new(setting: Setting<'a>, per_edge: f64) -> Self {
        Self { setting, per_edge, gradient: Vec::new(), scratch: Scratch::default(), iterations: 0 }
    }

    /// Bytes of a batch on its way, and of what the reconstruction keeps, for nets with so many units and heads.
    pub fn bytes(size: ProblemSize, per_edge: f64, batch: usize, units: u64, heads: u64) -> u64 {
        let n = size.n_nodes;
        let rows = rows_at_once(n as usize, batch) as u64;
        // The row's own candidates, those of its target, and non-edges.
        let of_row = 2 + (2.0 * size.n_edges as f64 * (2.0 + per_edge) / n.max(1) as f64) as u64;
        // A batch of rows may have twice as many pairs as others; no row has more than all.
        let pairs = rows * (2 * of_row).min(n);
        // A pair: its ends, similarity, target and weight, and a number for each head, in buffers that grew.
        let of_pairs = pairs * (56 + 8 * heads) + 256 * rows;
        // Activations and deltas on the way there and back.
        let of_units = 8 * rows * units * 8;
        of_pairs + of_units + 8 * n * units
    }

    /// The pairs of some rows in the sample with the number `draw`.
    fn pairs(&self, nodes: &[u32], draw: u32, target_of: impl Fn(u32) -> u32 + Sync) -> Vec<RowPairs> {
        let matrix = self.setting.matrix;
        let stream = Stream::new(self.setting.run.seed, Stage::NonEdges);
        let of_node = |&node: &u32| {
            let row = matrix.row(node as usize);
            let n_samples = (self.per_edge * (row.len() - 1) as f64).round().max(1.0) as usize;
            let draws = &mut stream.at(node, draw);
            match target_of(node) {
                target if target == node => {
                    RowPairs::sample(0, matrix.len(), &own_targets(&row), n_samples, draws)
                }
                target => {
                    let pairs = with_targets(&row, &matrix.row(target as usize));
                    RowPairs::sample(0, matrix.len(), &pairs, n_samples, draws)
                }
            }
        };
        nodes.par_iter().map(of_node).collect()
    }
}

fn own_targets(row: &[(u32, f64)]) -> Vec<Candidate> {
    row.iter().copied().map(Candidate::from).collect()
}

/// Everything that is a candidate in a row or in its target, ascending; what one of them does not have is 0 there.
fn with_targets(row: &[(u32, f64)], target: &[(u32, f64)]) -> Vec<Candidate> {
    let (mut own, mut other) = (0, 0);
    let mut union = Vec::with_capacity(row.len() + target.len());
    let next =
        |own: usize, other: usize| row.get(own).into_iter().chain(target.get(other)).map(|pair| pair.0).min();
    while let Some(node) = next(own, other) {
        let take = |list: &[(u32, f64)], place: &mut usize| match list.get(*place) {
            Some(&(found, value)) if found == node => {
                *place += 1;
                value
            }
            _ => 0.0,
        };
        union.push(Candidate { node, similarity: take(row, &mut own), target: take(target, &mut other) });
    }
    union
}

impl RowTraining for SampledRows<'_> {
    fn iterations(&self) -> usize {
        self.iterations
    }

    fn reconstructions(&mut self, parameters: &[f64], edges: &Edges) -> Result<Vec<f64>> {
        let Setting { matrix, network, run, .. } = &self.setting;
        let n = matrix.len();
        let nodes: Vec<u32> = (0..n as u32).collect();
        let mut codes = Vec::new();
        let no_draws = Stream::new(run.seed, Stage::NonEdges);
        for part in nodes.chunks(rows_at_once(n, 1)) {
            run.check()?;
            let inputs = |&node: &u32| {
                let row = own_targets(&matrix.row(node as usize));
                RowPairs::sample(0, n, &row, 0, &mut no_draws.at(node, 0))
            };
            let rows: Vec<RowPairs> = part.par_iter().map(inputs).collect();
            codes.extend_from_slice(network.encode(parameters, &rows, &mut self.scratch));
        }
        let (width, n_heads) = (codes.len() / n, network.heads.len());
        let code = |i: usize| &codes[i * width..(i + 1) * width];
        let mut values = vec![0.0; edges.len() * n_heads];
        edges.for_each_row(&mut values, n_heads, |i, numbers, row| {
            let (mut there, mut back) = (vec![0.0; n_heads], vec![0.0; n_heads]);
            for (edge, out) in numbers.zip(row.chunks_exact_mut(n_heads)) {
                let j = edges.target(edge);
                network.decode(parameters, code(i), &[j], &mut there);
                network.decode(parameters, code(j as usize), &[i as u32], &mut back);
                let of_heads = out.iter_mut().zip(there.iter().zip(&back));
                of_heads.for_each(|(out, (there, back))| *out = 0.5 * there + 0.5 * back);
            }
        });
        Ok(values)
    }
}

impl Problem for SampledRows<'_> {
    fn advance(&mut self) {
        self.iterations += 1;
        self.setting.run.progress.advance(1);
    }

    fn full(&mut self, parameters: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let (n, targets) = (self.setting.matrix.len(), self.setting.targets);
        let nodes: Vec<u32> = (0..n as u32).collect();
        gradient.fill(0.0);
        let mut loss = 0.0;
        for place in 0..targets.pool_size() {
            for part in nodes.chunks(rows_at_once(n, 1)) {
                self.setting.run.check()?;
                let rows = self.pairs(part, 0, |node| targets.member(node, place));
                let Setting { network, objective, .. } = &self.setting;
                let rate = 1.0 / (n * targets.pool_size()) as f64;
                let scratch = &mut self.scratch;
                loss += network.add_gradient_of_pairs(parameters, &rows, objective, rate, gradient, scratch);
            }
        }
        let Setting { network, objective, .. } = &self.setting;
        Ok(loss + network.add_weight_decay(parameters, objective.weight_decay, gradient))
    }

    fn epoch(
        &mut self,
        epoch: usize,
        batch: usize,
        parameters: &mut [f64],
        step: &mut Step<'_>,
    ) -> Result<f64> {
        let (n, targets) = (self.setting.matrix.len(), self.setting.targets);
        let epoch = self.setting.first_epoch + epoch as u32;
        // Another sample for every epoch of every sequence.
        let draw = (self.setting.sequence << 24).wrapping_add(epoch);
        self.gradient.resize(parameters.len(), 0.0);
        let (mut loss, mut n_visited) = (0.0, 0);
        for part in self.setting.order(epoch).chunks(rows_at_once(n, batch)) {
            self.setting.run.check()?;
            let rows = self.pairs(part, draw, |node| targets.draw(node, epoch));
            let Setting { network, objective, .. } = &self.setting;
            self.gradient.fill(0.0);
            let rate = 1.0 / part.len() as f64;
            let (gradient, scratch) = (&mut self.gradient, &mut self.scratch);
            let of_pairs =
                network.add_gradient_of_pairs(parameters, &rows, objective, rate, gradient, scratch);
            let of_weights = network.add_weight_decay(parameters, objective.weight_decay, gradient);
            loss += (of_pairs + of_weights) * part.len() as f64 / n as f64;
            n_visited += part.len();
            if step(parameters, &self.gradient).is_break() {
                break;
            }
        }
        Ok(mean_of_visited(loss, n_visited, n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_a_row_and_its_target_are_joined() {
        let union = with_targets(&[(1, 0.5), (4, 1.0)], &[(0, 0.2), (4, 0.7), (9, 0.1)]);
        let found: Vec<_> = union.iter().map(|pair| (pair.node, pair.similarity, pair.target)).collect();
        assert_eq!(found, [(0, 0.0, 0.2), (1, 0.5, 0.0), (4, 1.0, 0.7), (9, 0.0, 0.1)]);
    }
}
