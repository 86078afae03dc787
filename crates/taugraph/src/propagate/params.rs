//! Parameters of label propagation.

use super::Solver;
use crate::error::{Result, require};
use crate::parameter::{ParameterTree, choices, parameters};

/// Below this many nodes [`Background::Auto`] has an effect.
const FEW_NODES: usize = 1_000;
/// From this many nodes on [`Ladder::Auto`] and [`Groups::Auto`] have an effect.
const MANY_NODES: usize = 6_000;

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
    /// Whether all pairs of points are joined by weak, locally scaled edges (harmonic functions only).
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Background = "auto" {
        /// Below a thousand nodes.
        "auto" => Auto,
        /// Always: takes N² memory.
        "yes" => Yes,
        /// Never.
        "no" => No,
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
            Self::Auto => n_nodes >= MANY_NODES,
            Self::Yes => true,
            Self::No => false,
        }
    }
}

choices! {
    /// Whether each class gets a group of its own where the graph has as many groups as there are classes (harmonic functions only).
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Groups = "auto" {
        /// From a few thousand nodes on.
        "auto" => Auto,
        /// Always.
        "yes" => Yes,
        /// Never.
        "no" => No,
    }
}

choices! {
    /// Whether probabilities are calibrated on the labeled points, each left out in turn (harmonic functions only).
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Calibration = "auto" {
        /// If there are enough labeled points.
        "auto" => Auto,
        /// Never.
        "no" => No,
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
        /// Whether all pairs of points are joined by weak, locally scaled edges.
        background: Background = Background::Auto;
        /// Whether edges that agglomeration cuts weigh less.
        ladder: Ladder = Ladder::Auto;
        /// Whether each class gets a group of its own where the graph has as many groups as there are classes.
        groups: Groups = Groups::Auto;
        /// Whether probabilities are calibrated on the labeled points, each left out in turn.
        calibration: Calibration = Calibration::Auto;
        /// Precision of the linear systems.
        solver: Solver = Solver::default();
        /// Whether to join the components of a given graph by weak links, so that labels reach every node.
        link: bool = false;
    }
}

impl PropagateParams {
    /// Harmonic functions without given priors, with hard clamping, no sizes, no ladder and no groups.
    pub(super) fn is_plain_harmonic(&self, n_nodes: usize) -> bool {
        let Self { rule, clamping, priors, sizes, .. } = self;
        *rule == Rule::Harmonic
            && *clamping == Clamping::Hard
            && *priors == Priors::Estimated
            && sizes.is_none()
            && !self.ladder.applies_to(n_nodes)
            && !self.matches_groups(n_nodes)
    }

    /// Whether a graph of so many nodes gets a background of all pairs. It was measured for harmonic functions.
    pub(crate) fn has_background(&self, n_nodes: usize) -> bool {
        let applies = match self.background {
            Background::Auto => n_nodes < FEW_NODES,
            Background::Yes => true,
            Background::No => false,
        };
        applies && self.rule == Rule::Harmonic
    }

    /// Whether classes are matched with the groups of a graph of so many nodes.
    pub(super) fn matches_groups(&self, n_nodes: usize) -> bool {
        let applies = match self.groups {
            Groups::Auto => n_nodes >= MANY_NODES,
            Groups::Yes => true,
            Groups::No => false,
        };
        applies && self.rule == Rule::Harmonic && self.clamping == Clamping::Hard
    }

    pub(super) fn check(&self) -> Result<()> {
        self.check_ranges("propagate")?;
        let soft = matches!(self.clamping, Clamping::Soft { .. });
        let rule = "needs harmonic functions: the other rules have no soft clamping";
        require(!soft || self.rule == Rule::Harmonic, "propagate.clamping", "soft", rule)
    }
}
