//! How labels are spread.

use super::Solver;
use crate::error::{Result, require};

/// How labels spread.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum Rule {
    /// Harmonic functions with class-mass normalization.
    #[default]
    Harmonic,
    /// Poisson learning.
    Poisson,
    /// Local and global consistency with class-mass normalization.
    Consistency {
        /// How much a node listens to its neighbors, below 1.
        alpha: f64,
    },
    /// The label with the largest K_jl/√K_ll.
    KernelCosine,
    /// The label nearest in the distances of the kernel.
    NearestInKernel,
    /// Algorithm 2 of the paper; see [`WalkTable`](super::WalkTable).
    GreedyWalk {
        /// Most steps.
        max_walk: usize,
        /// Leading eigenpairs; `None` takes all, which needs N² memory.
        pairs: Option<usize>,
    },
}

/// Whether examples are certain.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum Clamping {
    /// They keep their labels.
    #[default]
    Hard,
    /// They may be outvoted by their neighbors (harmonic functions only).
    Soft {
        /// Strength of an example, in units of its node's degree.
        strength: f64,
    },
}

/// How likely the classes are before anything is known.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum Priors {
    /// All alike.
    #[default]
    Uniform,
    /// In these proportions.
    Given(Vec<f64>),
}

/// Parameters of [`propagate`](super::propagate()).
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct PropagateParams {
    /// How labels spread.
    pub rule: Rule,
    /// Whether examples are certain.
    pub clamping: Clamping,
    /// How likely the classes are before anything is known.
    pub priors: Priors,
    /// Shares of the classes among the nodes to be labeled, if they are known and to be respected.
    pub sizes: Option<Vec<f64>>,
    /// Precision of the linear systems.
    pub solver: Solver,
}

impl PropagateParams {
    /// Harmonic functions with uniform priors, certain examples and no sizes.
    pub(super) fn is_plain_harmonic(&self) -> bool {
        let Self { rule, clamping, priors, sizes, solver: _ } = self;
        *rule == Rule::Harmonic
            && *clamping == Clamping::Hard
            && *priors == Priors::Uniform
            && sizes.is_none()
    }

    pub(super) fn check(&self) -> Result<()> {
        let tolerance = self.solver.tolerance;
        require(
            (1e-13..1.0).contains(&tolerance),
            "tolerance",
            tolerance,
            "must be at least 1e-13 and below 1",
        )?;
        let most = self.solver.max_iterations;
        require(most >= 1, "max_iterations", most, "must be at least 1")?;
        if let Rule::Consistency { alpha } = self.rule {
            require(alpha > 0.0 && alpha < 1.0, "alpha", alpha, "must be above 0 and below 1")?;
        }
        if let Clamping::Soft { strength } = self.clamping {
            let fine = strength > 0.0 && strength.is_finite();
            require(fine, "strength", strength, "must be finite and above 0")?;
            let rule = "needs harmonic functions: the other rules keep examples as they are, or never did";
            require(self.rule == Rule::Harmonic, "soft examples", format!("{:?}", self.rule), rule)?;
        }
        Ok(())
    }
}
