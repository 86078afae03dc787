//! Training over the candidates and sampled non-edges of each row of W: time and memory linear in the candidates.
//!
//! Mini-batches meet other non-edges in every epoch, so that in the long run every pair counts as it does in the dense loss. L-BFGS
//! needs a loss that stays the same and keeps one sample.

use rayon::prelude::*;

use super::ProblemSize;
use super::network::Scratch;
use super::optimize::Problem;
use super::pairs::RowPairs;
use super::whole_rows::{RowTraining, Setting};
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
        let of_row = 1 + (2.0 * size.n_edges as f64 * (1.0 + per_edge) / n.max(1) as f64) as u64;
        // A batch of rows may have twice as many pairs as others; no row has more than all.
        let pairs = rows * (2 * of_row).min(n);
        // A pair: its ends, similarity and weight, and a number for each head, in buffers that grew.
        let of_pairs = pairs * (40 + 8 * heads) + 256 * rows;
        // Activations and deltas on the way there and back.
        let of_units = 8 * rows * units * 8;
        of_pairs + of_units + 8 * n * units
    }

    /// The pairs of some rows in the sample with the number `draw`.
    fn pairs(&self, nodes: &[u32], draw: u32) -> Vec<RowPairs> {
        let matrix = self.setting.matrix;
        let stream = Stream::new(self.setting.run.seed, Stage::NonEdges);
        let of_node = |&node: &u32| {
            let candidates = matrix.row(node as usize);
            let n_samples = (self.per_edge * (candidates.len() - 1) as f64).round().max(1.0) as usize;
            RowPairs::sample(0, matrix.len(), &candidates, n_samples, &mut stream.at(node, draw))
        };
        nodes.par_iter().map(of_node).collect()
    }
}

impl RowTraining for SampledRows<'_> {
    fn iterations(&self) -> usize {
        self.iterations
    }

    fn add_reconstructions(
        &mut self,
        parameters: &[f64],
        edges: &Edges,
        n_taus: usize,
        reconstructions: &mut [f64],
    ) -> Result<()> {
        let Setting { matrix, network, run, group, .. } = &self.setting;
        let n = matrix.len();
        let nodes: Vec<u32> = (0..n as u32).collect();
        let mut codes = Vec::new();
        let no_draws = Stream::new(run.seed, Stage::NonEdges);
        for part in nodes.chunks(rows_at_once(n, 1)) {
            run.check()?;
            let inputs = |&node: &u32| {
                RowPairs::sample(0, n, &matrix.row(node as usize), 0, &mut no_draws.at(node, 0))
            };
            let rows: Vec<RowPairs> = part.par_iter().map(inputs).collect();
            codes.extend_from_slice(network.encode(parameters, &rows, &mut self.scratch));
        }
        let (width, n_heads) = (codes.len() / n, network.heads.len());
        let code = |i: usize| &codes[i * width..(i + 1) * width];
        edges.for_each_row(reconstructions, n_taus, |i, numbers, row| {
            let (mut there, mut back) = (vec![0.0; n_heads], vec![0.0; n_heads]);
            for (edge, out) in numbers.zip(row.chunks_exact_mut(n_taus)) {
                let j = edges.target(edge);
                network.decode(parameters, code(i), &[j], &mut there);
                network.decode(parameters, code(j as usize), &[i as u32], &mut back);
                for (head, (there, back)) in there.iter().zip(&back).enumerate() {
                    out[group + head] += 0.5 * there + 0.5 * back;
                }
            }
        });
        Ok(())
    }
}

impl Problem for SampledRows<'_> {
    fn advance(&mut self) {
        self.iterations += 1;
        self.setting.run.progress.advance(1);
    }

    fn full(&mut self, parameters: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let n = self.setting.matrix.len();
        let nodes: Vec<u32> = (0..n as u32).collect();
        gradient.fill(0.0);
        let mut loss = 0.0;
        for part in nodes.chunks(rows_at_once(n, 1)) {
            self.setting.run.check()?;
            let rows = self.pairs(part, 0);
            let Setting { network, objective, .. } = &self.setting;
            let rate = 1.0 / n as f64;
            loss += network.add_gradient_of_pairs(
                parameters,
                &rows,
                objective,
                rate,
                gradient,
                &mut self.scratch,
            );
        }
        let Setting { network, objective, .. } = &self.setting;
        Ok(loss + network.add_weight_decay(parameters, objective.weight_decay, gradient))
    }

    fn epoch(
        &mut self,
        epoch: usize,
        batch: usize,
        parameters: &mut [f64],
        step: &mut dyn FnMut(&mut [f64], &[f64]),
    ) -> Result<f64> {
        let n = self.setting.matrix.len();
        let group = self.setting.group as u32;
        let stream = Stream::new(self.setting.run.seed, Stage::Batches);
        let order = stream.at(group, epoch as u32).permutation(n);
        // Another sample for every epoch of every τ.
        let draw = (group << 24).wrapping_add(epoch as u32);
        self.gradient.resize(parameters.len(), 0.0);
        let mut loss = 0.0;
        for part in order.chunks(rows_at_once(n, batch)) {
            self.setting.run.check()?;
            let rows = self.pairs(part, draw);
            let Setting { network, objective, .. } = &self.setting;
            self.gradient.fill(0.0);
            let rate = 1.0 / part.len() as f64;
            let (gradient, scratch) = (&mut self.gradient, &mut self.scratch);
            let of_pairs =
                network.add_gradient_of_pairs(parameters, &rows, objective, rate, gradient, scratch);
            let of_weights = network.add_weight_decay(parameters, objective.weight_decay, gradient);
            loss += (of_pairs + of_weights) * part.len() as f64 / n as f64;
            step(parameters, &self.gradient);
        }
        Ok(loss)
    }
}
