//! The robust graph of any input.

use super::builder::{Plan, shared_methods};
use super::graph::FittedGraph;
use super::input::Input;
use crate::error::Result;
use crate::progress::Run;

/// A sparse graph that is robust to noise and uneven density (Algorithm 1).
#[derive(Clone, Default)]
pub struct RobustGraph {
    plan: Plan,
}

shared_methods!(RobustGraph);

impl RobustGraph {
    /// Builds the graph of an input.
    pub fn fit<'a>(&self, input: impl Into<Input<'a>>) -> Result<FittedGraph> {
        self.fit_with(input, &Run::new(self.plan.config.seed))
    }

    /// The same in a run with progress, a memory limit or checkpoints. The seed is the run's.
    pub fn fit_with<'a>(&self, input: impl Into<Input<'a>>, run: &Run<'_>) -> Result<FittedGraph> {
        self.plan.graph(input.into(), run)
    }
}
