//! Training over whole rows of W: time N²·P for each epoch, by dense matrix products.

use super::matrix::AffinityMatrix;
use super::network::{Network, Objective, Scratch};
use super::optimize::{Problem, Step};
use super::targets::Targets;
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

    /// The mean of Ŵ_ij and Ŵ_ji for each edge: all heads of the first edge, then all of the second, …
    fn reconstructions(&mut self, parameters: &[f64], edges: &Edges) -> Result<Vec<f64>>;
}

/// What such a training is given.
pub(super) struct Setting<'a> {
    pub matrix: &'a AffinityMatrix,
    pub network: &'a Network,
    pub objective: Objective<'a>,
    pub targets: Targets<'a>,
    pub run: &'a Run<'a>,
    /// Which sequence of mini-batches it sees: trainings of the same one see the same rows and targets.
    pub sequence: u32,
    /// Where in that sequence it begins.
    pub first_epoch: u32,
}

impl Setting<'_> {
    /// The rows of an epoch in their order.
    pub fn order(&self, epoch: u32) -> Vec<u32> {
        Stream::new(self.run.seed, Stage::Batches).at(self.sequence, epoch).permutation(self.matrix.len())
    }
}

/// The mean over the rows that were visited, from the sum of mini-batches weighted by their share of all rows.
pub(super) fn mean_of_visited(sum: f64, n_visited: usize, n: usize) -> f64 {
    if n_visited == n { sum } else { sum * n as f64 / n_visited as f64 }
}

/// Whole rows as samples.
pub(super) struct WholeRows<'a> {
    setting: Setting<'a>,
    input: Vec<f64>,
    target: Vec<f64>,
    gradient: Vec<f64>,
    scratch: Scratch,
    iterations: usize,
}

impl<'a> WholeRows<'a> {
    pub fn new(setting: Setting<'a>) -> Self {
        Self {
            setting,
            input: Vec::new(),
            target: Vec::new(),
            gradient: Vec::new(),
            scratch: Scratch::default(),
            iterations: 0,
        }
    }

    fn batch(&mut self, nodes: &[u32], target_of: impl Fn(u32) -> u32, parameters: &[f64]) -> f64 {
        let Setting { matrix, network, objective, targets, .. } = &self.setting;
        matrix.write_columns(nodes, &mut self.input);
        self.gradient.resize(parameters.len(), 0.0);
        let target = match targets.are_own_rows() {
            true => &self.input,
            false => {
                let of_nodes: Vec<u32> = nodes.iter().map(|&node| target_of(node)).collect();
                matrix.write_columns(&of_nodes, &mut self.target);
                &self.target
            }
        };
        let (gradient, scratch) = (&mut self.gradient, &mut self.scratch);
        network.loss_and_gradient(parameters, &self.input, target, objective, gradient, scratch)
    }
}

impl RowTraining for WholeRows<'_> {
    fn iterations(&self) -> usize {
        self.iterations
    }

    fn reconstructions(&mut self, parameters: &[f64], edges: &Edges) -> Result<Vec<f64>> {
        let Setting { matrix, network, run, .. } = &self.setting;
        let (n, n_heads) = (matrix.len(), network.heads.len());
        let mut values = vec![0.0; edges.len() * n_heads];
        let nodes: Vec<u32> = (0..n as u32).collect();
        for part in nodes.chunks(FULL_BATCH) {
            run.check()?;
            matrix.write_columns(part, &mut self.input);
            let outputs = network.forward(parameters, &self.input, &mut self.scratch);
            for (head, output) in outputs.iter().enumerate() {
                for (&node, column) in part.iter().zip(output.chunks_exact(n)) {
                    for (other, edge) in edges.incident(node as usize) {
                        values[edge * n_heads + head] += 0.5 * column[other as usize];
                    }
                }
            }
        }
        Ok(values)
    }
}

impl Problem for WholeRows<'_> {
    fn advance(&mut self) {
        self.iterations += 1;
        self.setting.run.progress.advance(1);
    }

    /// Every row with each of its targets in turn: the expectation over the draws.
    fn full(&mut self, parameters: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let (n, targets) = (self.setting.matrix.len(), self.setting.targets);
        let nodes: Vec<u32> = (0..n as u32).collect();
        gradient.fill(0.0);
        let mut loss = 0.0;
        for place in 0..targets.pool_size() {
            for part in nodes.chunks(FULL_BATCH) {
                self.setting.run.check()?;
                let share = part.len() as f64 / (n * targets.pool_size()) as f64;
                loss += share * self.batch(part, |node| targets.member(node, place), parameters);
                gradient.iter_mut().zip(&self.gradient).for_each(|(sum, g)| *sum += share * g);
            }
        }
        Ok(loss)
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
        let (mut loss, mut n_visited) = (0.0, 0);
        for part in self.setting.order(epoch).chunks(batch) {
            self.setting.run.check()?;
            let of_part = self.batch(part, |node| targets.draw(node, epoch), parameters);
            loss += of_part * part.len() as f64 / n as f64;
            n_visited += part.len();
            if step(parameters, &self.gradient).is_break() {
                break;
            }
        }
        Ok(mean_of_visited(loss, n_visited, n))
    }
}
