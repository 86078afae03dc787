//! The networks of all τ: where each starts, which mini-batches it sees, and which of them are trained side by side.

use rayon::prelude::*;

use super::Training;
use super::autoencoder::{AutoEncoder, StartOfTau};
use super::matrix::{AffinityMatrix, transposed};
use super::network::{Network, Objective};
use super::optimize::minimize;
use super::sampled_rows::{SampledRows, rows_at_once};
use super::schedule::Schedule;
use super::targets::Targets;
use super::whole_rows::{RowTraining, Setting, WholeRows};
use crate::edges::Edges;
use crate::error::Result;
use crate::progress::Run;

/// What the nets of all τ have in common.
pub(super) struct Nets<'a> {
    pub params: &'a AutoEncoder,
    pub matrix: &'a AffinityMatrix,
    pub network: &'a Network,
    pub targets: Targets<'a>,
    /// Sampled non-edges for each candidate; `None` over whole rows.
    pub per_edge: Option<f64>,
    pub edges: &'a Edges,
    pub run: &'a Run<'a>,
}

/// Reconstructions of the edges by a net, and how it was trained.
pub(super) type Trained = (Vec<f64>, Training);

impl Nets<'_> {
    /// Mini-batches of an epoch.
    fn n_batches(&self) -> usize {
        let n = self.matrix.len();
        match (self.params.batch(), self.per_edge) {
            // One step of L-BFGS needs all rows.
            (None, _) => 1,
            (Some(batch), None) => n.div_ceil(batch),
            (Some(batch), Some(_)) => n.div_ceil(rows_at_once(n, batch)),
        }
    }

    /// The maximum number of epochs of a training.
    pub fn max_epochs(&self, schedule: Schedule) -> usize {
        schedule.max_epochs(self.n_batches())
    }

    /// The schedule of each network.
    pub fn schedule(&self) -> Schedule {
        self.params.schedule.for_batches(self.n_batches())
    }

    /// The schedule of the net that all others start from, if there is one.
    pub fn common_schedule(&self) -> Option<Schedule> {
        match self.params.start_of_tau {
            StartOfTau::Common { steps } => {
                Some(self.params.schedule.with_steps(steps).for_batches(self.n_batches()))
            }
            StartOfTau::Warm | StartOfTau::Fresh => None,
        }
    }

    /// The nets of all groups of τ.
    pub fn train(&self, groups: &[&[f64]]) -> Result<Vec<Trained>> {
        // From outside the pool each of the many short parallel loops of a step would wake a thread and sleep until it is done.
        rayon::scope(|_| self.train_in_pool(groups))
    }

    fn train_in_pool(&self, groups: &[&[f64]]) -> Result<Vec<Trained>> {
        let mut start = self.initial_parameters()?;
        match self.params.start_of_tau {
            StartOfTau::Warm => {
                let fit = |(group, taus)| self.fit(taus, (group as u32, 0), &mut start);
                groups.iter().copied().enumerate().map(fit).collect()
            }
            StartOfTau::Fresh => {
                self.side_by_side(groups, |group, taus| self.fit(taus, (group as u32, 0), &mut start.clone()))
            }
            StartOfTau::Common { .. } => {
                let tau = [self.matrix.mean()];
                // A joint network has a head for each τ: its start is its own.
                let taus = if groups[0].len() > 1 { groups[0] } else { &tau };
                let mut problem = self.problem(taus, (0, 0));
                if let Some(schedule) = self.common_schedule() {
                    self.minimize(&mut *problem, taus, schedule, &mut start)?;
                }
                let next = (0, problem.iterations() as u32);
                self.side_by_side(groups, |_, taus| self.fit(taus, next, &mut start.clone()))
            }
        }
    }

    /// Nets that do not depend on each other: over whole rows one for each thread, over samples, whose passes have enough to do for
    /// all threads, one after the other.
    fn side_by_side(
        &self,
        groups: &[&[f64]],
        fit: impl Fn(usize, &[f64]) -> Result<Trained> + Sync,
    ) -> Result<Vec<Trained>> {
        match self.per_edge {
            None => groups.par_iter().enumerate().map(|(group, taus)| fit(group, taus)).collect(),
            Some(_) => groups.iter().enumerate().map(|(group, taus)| fit(group, taus)).collect(),
        }
    }

    /// Trains a net from where the parameters are.
    fn fit(&self, taus: &[f64], place: (u32, u32), parameters: &mut [f64]) -> Result<Trained> {
        let mut problem = self.problem(taus, place);
        let training = self.minimize(&mut *problem, taus, self.schedule(), parameters)?;
        Ok((problem.reconstructions(parameters, self.edges)?, training))
    }

    fn minimize(
        &self,
        problem: &mut dyn RowTraining,
        taus: &[f64],
        schedule: Schedule,
        parameters: &mut [f64],
    ) -> Result<Training> {
        let tau = (taus.len() == 1).then(|| taus[0]);
        let training = minimize(problem, parameters, self.params.optimizer, schedule, tau)?;
        self.run.progress.advance((self.max_epochs(schedule).saturating_sub(problem.iterations())) as u64);
        Ok(training)
    }

    /// A training on a sequence of mini-batches, from one of its epochs on.
    fn problem<'b>(
        &'b self,
        taus: &'b [f64],
        (sequence, first_epoch): (u32, u32),
    ) -> Box<dyn RowTraining + 'b> {
        let AutoEncoder { loss, weight_decay, code_sparsity, .. } = *self.params;
        let objective = Objective { loss, taus, weight_decay, code_sparsity };
        let setting = Setting {
            matrix: self.matrix,
            network: self.network,
            objective,
            targets: self.targets,
            run: self.run,
            sequence,
            first_epoch,
        };
        match self.per_edge {
            None => Box::new(WholeRows::new(setting)),
            Some(per_edge) => Box::new(SampledRows::new(setting, per_edge)),
        }
    }

    fn initial_parameters(&self) -> Result<Vec<f64>> {
        let mut initial = self.params.initial_parameters(self.network, self.matrix, self.run)?;
        if self.per_edge.is_some() {
            // The sparse passes have the first layer node by node.
            let place = self.network.layers[0].weights.clone();
            let by_node = transposed(&initial[place.clone()], self.matrix.len());
            initial[place].copy_from_slice(&by_node);
        }
        Ok(initial)
    }
}
