//! What all estimators share: a configuration, an optional custom quantile estimator, and whether points are kept.

use std::sync::Arc;

use serde_json::Value;

use super::graph::{FittedGraph, fit_graph};
use super::input::Input;
use crate::config::Config;
use crate::error::Result;
use crate::params::OwnEstimator;
use crate::progress::Run;
use crate::quantile::ConditionalQuantiles;

/// What to fit, and how.
#[derive(Clone)]
pub(super) struct Plan {
    pub config: Config,
    pub own: Option<OwnEstimator>,
    pub keeps_points: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Self { config: Config::default(), own: None, keeps_points: true }
    }
}

impl Plan {
    pub fn graph(&self, input: Input<'_>, run: &Run<'_>) -> Result<FittedGraph> {
        let mut graph = fit_graph(input, &self.config, self.own.as_ref(), run)?;
        if !self.keeps_points {
            graph.forget_points();
        }
        Ok(graph)
    }

    pub fn set(mut self, path: &str, value: Value) -> Result<Self> {
        self.config.set(path, value)?;
        Ok(self)
    }

    pub fn with_own(self, estimator: impl ConditionalQuantiles + Send + Sync + 'static) -> Self {
        Self { own: Some(Arc::new(estimator)), ..self }
    }
}

/// The methods that every estimator has.
macro_rules! shared_methods {
    ($Estimator:ident $(, $field:ident)*) => {
        impl $Estimator {
            /// With the default configuration.
            pub fn new() -> Self {
                Self::default()
            }

            /// With a configuration.
            pub fn with_config(config: $crate::config::Config) -> Self {
                Self { plan: $crate::fit::builder::Plan { config, ..Default::default() }, $($field: Default::default())* }
            }

            /// Switches to another preset of the graph, discarding what was set for the graph before.
            pub fn preset(mut self, preset: $crate::params::Preset) -> Self {
                self.plan.config.take_preset(preset);
                self
            }

            /// The seed of every random number.
            pub fn seed(mut self, seed: u64) -> Self {
                self.plan.config.seed = seed;
                self
            }

            /// The distance between rows.
            pub fn metric(mut self, metric: $crate::distance::Metric) -> Self {
                self.plan.config.metric = Some(metric);
                self
            }

            /// Sets any parameter by its path; `taugraph params` lists them.
            pub fn set(self, path: &str, value: impl Into<serde_json::Value>) -> $crate::error::Result<Self> {
                Ok(Self { plan: self.plan.set(path, value.into())?, $($field: self.$field)* })
            }

            /// Uses a custom estimator of the conditional quantiles.
            pub fn estimator(
                self,
                estimator: impl $crate::quantile::ConditionalQuantiles + Send + Sync + 'static,
            ) -> Self {
                Self { plan: self.plan.with_own(estimator), $($field: self.$field)* }
            }

            /// Whether to keep the points, so that new ones can be placed among them; the default is to keep them.
            pub fn keep_points(mut self, keeps_points: bool) -> Self {
                self.plan.keeps_points = keeps_points;
                self
            }

            /// The configuration.
            pub fn config(&self) -> &$crate::config::Config {
                &self.plan.config
            }
        }
    };
}

pub(super) use shared_methods;
