//! Training over whole rows of W: time N²·P for each epoch, by dense matrix products.

use super::matrix::AffinityMatrix;
use super::network::{Network, Objective, Scratch};
use super::optimize::Problem;
use crate::edges::Edges;
use crate::error::Result;
use crate::progress::Run;
use crate::random::{Stage, Stream};

/// Rows passed through the net at once where the whole of W is needed.
pub(super) const FULL_BATCH: usize = 128;

/// A training whose samples are rows of W.
pub(super) trait RowTraining: Problem {
    /// Iterations done.
    fn iterations(&self) -> usize;

    /// Adds half of Ŵ_ij and half of Ŵ_ji to each edge, for the τ of this training.
    fn add_reconstructions(
        &mut self,
        parameters: &[f64],
        edges: &Edges,
        n_taus: usize,
        reconstructions: &mut [f64],
    ) -> Result<()>;
}

/// What such a training is given.
pub(super) struct Setting<'a> {
    pub matrix: &'a AffinityMatrix,
    pub network: &'a Network,
    pub objective: Objective<'a>,
    pub run: &'a Run<'a>,
    /// Which τ is the first, so that each training has its own order of batches.
    pub group: usize,
}

/// Whole rows as samples.
pub(super) struct WholeRows<'a> {
    setting: Setting<'a>,
    input: Vec<f64>,
    gradient: Vec<f64>,
    scratch: Scratch,
    iterations: usize,
}

impl<'a> WholeRows<'a> {
    pub fn new(setting: Setting<'a>) -> Self {
        Self { setting, input: Vec::new(), gradient: Vec::new(), scratch: Scratch::default(), iterations: 0 }
    }

    fn batch(&mut self, nodes: &[u32], parameters: &[f64]) -> f64 {
        let Setting { matrix, network, objective, .. } = &self.setting;
        matrix.write_columns(nodes, &mut self.input);
        self.gradient.resize(parameters.len(), 0.0);
        network.loss_and_gradient(parameters, &self.input, objective, &mut self.gradient, &mut self.scratch)
    }
}

impl RowTraining for WholeRows<'_> {
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
        for part in nodes.chunks(FULL_BATCH) {
            run.check()?;
            matrix.write_columns(part, &mut self.input);
            let outputs = network.forward(parameters, &self.input, &mut self.scratch);
            for (head, output) in outputs.iter().enumerate() {
                for (&node, column) in part.iter().zip(output.chunks_exact(n)) {
                    for (other, edge) in edges.incident(node as usize) {
                        reconstructions[edge * n_taus + group + head] += 0.5 * column[other as usize];
                    }
                }
            }
        }
        Ok(())
    }
}

impl Problem for WholeRows<'_> {
    fn advance(&mut self) {
        self.iterations += 1;
        self.setting.run.progress.advance(1);
    }

    fn full(&mut self, parameters: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let n = self.setting.matrix.len();
        let nodes: Vec<u32> = (0..n as u32).collect();
        gradient.fill(0.0);
        let mut loss = 0.0;
        for part in nodes.chunks(FULL_BATCH) {
            self.setting.run.check()?;
            let share = part.len() as f64 / n as f64;
            loss += share * self.batch(part, parameters);
            gradient.iter_mut().zip(&self.gradient).for_each(|(sum, g)| *sum += share * g);
        }
        Ok(loss)
    }

    fn epoch(
        &mut self,
        epoch: usize,
        batch: usize,
        parameters: &mut [f64],
        step: &mut dyn FnMut(&mut [f64], &[f64]),
    ) -> Result<f64> {
        let n = self.setting.matrix.len();
        let stream = Stream::new(self.setting.run.seed, Stage::Batches);
        let order = stream.at(self.setting.group as u32, epoch as u32).permutation(n);
        let mut loss = 0.0;
        for part in order.chunks(batch) {
            self.setting.run.check()?;
            loss += self.batch(part, parameters) * part.len() as f64 / n as f64;
            step(parameters, &self.gradient);
        }
        Ok(loss)
    }
}
