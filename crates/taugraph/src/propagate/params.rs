//! Parameters of label propagation.

use super::Solver;
use crate::error::{Result, require};
use crate::parameter::{ParameterTree, choices, parameters};

/// From this many nodes on [`Ladder::Auto`] has an effect.
const LADDER_FROM: usize = 5_000;

choices! {
    /// How labels spread.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Rule = "harmonic" {
        /// Harmonic functions with class-mass normalization.
        "harmonic" => Harmonic,
        /// Poisson learning.
        "poisson" => Poisson,
        /// Local and global consistency with class-mass normalization.
        "consistency" => Consistency {
            /// Weight of the neighbors' labels against a node's own.
            alpha: f64 = 0.99, "above 0 and below 1" => |alpha| *alpha > 0.0 && *alpha < 1.0;
        },
        /// The label l with the largest K_jl/√K_ll, K the pseudo-inverse of the Laplacian.
        "kernel-cosine" => KernelCosine,
        /// The label nearest in kernel distance.
        "nearest-in-kernel" => NearestInKernel,
        /// Algorithm 2 of the paper: a greedy walk in kernel distance.
        "greedy-walk" => GreedyWalk {
            /// Maximum number of steps.
            max_walk: usize = 5;
            /// Number of leading eigenpairs; none uses all, which takes N² memory.
            pairs: Option<usize> = None;
        },
    }
}

choices! {
    /// Whether labeled points must keep their labels.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Clamping = "hard" {
        /// They keep them.
        "hard" => Hard,
        /// Their neighbors may outvote them (harmonic functions only).
        "soft" => Soft {
            /// Strength of a given label, in units of its node's degree.
            strength: f64 = 1.0, "finite and above 0" => |strength| *strength > 0.0 && strength.is_finite();
        },
    }
}

choices! {
    /// How likely the classes are before anything is known.
    #[derive(Debug, Clone, PartialEq)]
    pub enum Priors = "estimated" {
        /// As frequent as among the labeled nodes.
        "estimated" => Estimated,
        /// All equally likely.
        "uniform" => Uniform,
        /// In these proportions.
        "given" => Given {
            /// One share for each class, in the order of the classes.
            shares: Vec<f64> = Vec::new();
        },
    }
}

choices! {
    /// Whether edges that agglomeration cuts weigh less (ladder persistence).
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Ladder = "auto" {
        /// From a few thousand nodes on.
        "auto" => Auto,
        /// Always.
        "yes" => Yes,
        /// Never.
        "no" => No,
    }
}

impl Ladder {
    /// Whether it is used for so many nodes.
    pub(super) fn applies_to(self, n_nodes: usize) -> bool {
        match self {
            Self::Auto => n_nodes >= LADDER_FROM,
            Self::Yes => true,
            Self::No => false,
        }
    }
}

parameters! {
    /// Parameters of [`propagate`](super::propagate()).
    #[derive(Debug, Clone, PartialEq)]
    pub struct PropagateParams {
        /// How labels spread.
        rule: Rule = Rule::Harmonic;
        /// Whether labeled points must keep their labels.
        clamping: Clamping = Clamping::Hard;
        /// How likely the classes are before anything is known.
        priors: Priors = Priors::Estimated;
        /// Known shares of the classes among the nodes to be labeled, which the result must match; none leaves them free.
        sizes: Option<Vec<f64>> = None;
        /// Whether edges that agglomeration cuts weigh less.
        ladder: Ladder = Ladder::Auto;
        /// Precision of the linear systems.
        solver: Solver = Solver::default();
        /// Whether to join the components of a given graph by weak links, so that labels reach every node.
        link: bool = false;
    }
}

impl PropagateParams {
    /// Harmonic functions without given priors, with hard clamping, no sizes and no ladder.
    pub(super) fn is_plain_harmonic(&self, n_nodes: usize) -> bool {
        let Self { rule, clamping, priors, sizes, .. } = self;
        *rule == Rule::Harmonic
            && *clamping == Clamping::Hard
            && *priors == Priors::Estimated
            && sizes.is_none()
            && !self.ladder.applies_to(n_nodes)
    }

    pub(super) fn check(&self) -> Result<()> {
        self.check_ranges("propagate")?;
        let soft = matches!(self.clamping, Clamping::Soft { .. });
        let rule = "needs harmonic functions: the other rules have no soft clamping";
        require(!soft || self.rule == Rule::Harmonic, "propagate.clamping", "soft", rule)
    }
}
