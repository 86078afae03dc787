//! All choices of the pipeline as plain values, checked once; the presets.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::affinity::AffinityKind;
use crate::edges::Symmetrize;
use crate::error::Result;
use crate::neighbors::SearchParams;
use crate::parameter::{ParameterTree, choices, parameters};
use crate::quantile::{AutoEncoder, ConditionalQuantiles, Estimator, Neighborhood, PoolStatistic, Taus};
use crate::scale::{FirstScale, ScaleShrinkage};
use crate::stochastic::{Probability, RobustScale};

choices! {
    /// The candidate edges.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum CandidatePairs = "neighbors" {
        /// Every pair: memory grows with N².
        "all" => All,
        /// The k nearest neighbors of each point, made symmetric.
        "neighbors" => Neighbors {
            /// Neighbors of each point.
            k: usize = 15, "at least 1" => |k| *k >= 1;
            /// Whether one of the two points must choose the other, or both.
            symmetrize: Symmetrize = Symmetrize::Union;
        },
    }
}

choices! {
    /// The weights of the final graph.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum FinalAffinity = "weighted" {
        /// exp(−d²/(σ_iσ_j)) on every candidate, with the robust scales.
        "plain" => Plain,
        /// The affinity of the edges that persist at some quantile, 0 for the others.
        "masked" => Masked,
        /// The affinity times p^power, at least `floor`.
        "weighted" => Weighted {
            /// Exponent of the probability.
            power: f64 = 3.0, "finite and at least 0" => |power| *power >= 0.0 && power.is_finite();
            /// The smallest weight of a candidate.
            floor: f64 = 1e-6, "between 0 and 1" => |floor| (0.0..=1.0).contains(floor);
        },
    }
}

impl FinalAffinity {
    /// The weight of an edge, from its locally scaled affinity, its persistence and its probability.
    pub(crate) fn weight(self, affinity: f64, persistence: f64, probability: f64) -> f64 {
        match self {
            FinalAffinity::Plain => affinity,
            FinalAffinity::Masked => {
                if persistence > 0.0 {
                    affinity
                } else {
                    0.0
                }
            }
            FinalAffinity::Weighted { power, floor } => (affinity * probability.powf(power)).max(floor),
        }
    }
}

choices! {
    /// Whether connected components are linked.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum LinkComponents = "weakly" {
        /// By weak links along their shortest connections.
        "weakly" => Weakly,
        /// Components stay apart.
        "no" => No,
    }
}

parameters! {
    /// Parameters of the robust graph (Algorithm 1). See [`Preset`] for sensible sets of them.
    #[derive(Debug, Clone, PartialEq)]
    pub struct GraphParams {
        /// How the neighbors are searched.
        search: SearchParams = SearchParams::default();
        /// The candidate edges.
        candidates: CandidatePairs = CandidatePairs::default();
        /// How the first local scales are measured.
        first_scale: FirstScale = FirstScale::default();
        /// Scales are at least this share of their median, first and robust ones.
        scale_floor: f64 = 0.25, "finite and at least 0" => |floor| *floor >= 0.0 && floor.is_finite();
        /// The exponent of the affinity.
        affinity: AffinityKind = AffinityKind::SquaredDistance;
        /// How the conditional quantiles are estimated.
        estimator: Estimator = Estimator::default();
        /// The quantiles τ.
        taus: Taus = Taus::default();
        /// Similarity θ above which an edge is present.
        threshold: f64 = 0.3, "at least 0 and below 1" => |threshold| (0.0..1.0).contains(threshold);
        /// How persistence becomes probability.
        probability: Probability = Probability::default();
        /// How the robust scales are computed.
        robust_scale: RobustScale = RobustScale::Expectation;
        /// Whether the robust scales are shrunk toward their median.
        scale_shrinkage: ScaleShrinkage = ScaleShrinkage::None;
        /// The weights of the final graph.
        final_affinity: FinalAffinity = FinalAffinity::default();
        /// Whether connected components are linked.
        link_components: LinkComponents = LinkComponents::Weakly;
    }
}

/// Parameters that have been found within their ranges, and the user's own estimator if there is one.
#[derive(Clone)]
pub struct CheckedGraphParams {
    params: GraphParams,
    own: Option<OwnEstimator>,
}

/// An estimator that the user brings.
pub type OwnEstimator = Arc<dyn ConditionalQuantiles + Send + Sync>;

impl fmt::Debug for CheckedGraphParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckedGraphParams")
            .field("params", &self.params)
            .field("own", &self.own.is_some())
            .finish()
    }
}

impl Deref for CheckedGraphParams {
    type Target = GraphParams;

    fn deref(&self) -> &GraphParams {
        &self.params
    }
}

impl CheckedGraphParams {
    /// The same with an estimator of the user's own in place of the named ones.
    pub fn with_estimator(self, own: OwnEstimator) -> Self {
        // What is saved with a model names no estimator that could be made again.
        let params = GraphParams { estimator: Estimator::Constant, ..self.params };
        Self { params, own: Some(own) }
    }

    /// The estimator.
    pub fn estimator(&self) -> &dyn ConditionalQuantiles {
        match &self.own {
            Some(own) => own.as_ref(),
            None => self.params.estimator.as_dyn(),
        }
    }

    /// Neighbors of each point that the stages need.
    pub fn n_neighbors(&self) -> usize {
        self.params.n_neighbors().max(self.estimator().n_neighbors())
    }
}

impl GraphParams {
    /// Checks every range once; later stages rely on it.
    pub fn check(self) -> Result<CheckedGraphParams> {
        self.check_ranges("graph")?;
        Ok(CheckedGraphParams { params: self, own: None })
    }

    /// Neighbors of each point that the stages need.
    pub fn n_neighbors(&self) -> usize {
        let of_candidates = match self.candidates {
            CandidatePairs::All => 0,
            CandidatePairs::Neighbors { k, .. } => k,
        };
        of_candidates.max(self.first_scale.n_neighbors()).max(self.estimator.as_dyn().n_neighbors()).max(1)
    }
}

choices! {
    /// Named sets of parameters.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Preset = "robust" {
        /// The default: neighborhood quantiles (share above the threshold) on a sparse graph.
        "robust" => Robust,
        /// `robust` with the mean of the pool instead of the share above a threshold.
        "robust-mean" => RobustMean,
        /// The paper's method: all pairs, auto-encoders at nine τ that predict the rows of neighbors, p by decay, 25 realizations.
        "paper" => Paper,
        /// The paper read literally: `paper` with auto-encoders that reconstruct their own input.
        "paper-literal" => PaperLiteral,
        /// Plain local scaling (Zelnik-Manor and Perona): all pairs, first scales.
        "local-scaling" => LocalScaling,
        /// Control for `robust`: the same sparse graph with p = 1 everywhere.
        "constant-control" => ConstantControl,
        /// Control for `paper`: affinities above the best threshold, averaged distances, the same shrinkage, no quantile.
        "threshold-control" => ThresholdControl,
    }
}

impl Preset {
    /// Every preset.
    pub const ALL: [Preset; 7] = [
        Preset::Robust,
        Preset::RobustMean,
        Preset::Paper,
        Preset::PaperLiteral,
        Preset::LocalScaling,
        Preset::ConstantControl,
        Preset::ThresholdControl,
    ];

    /// Its parameters.
    pub fn params(self) -> GraphParams {
        let robust = GraphParams::default();
        let literal = GraphParams {
            candidates: CandidatePairs::All,
            scale_floor: 0.5,
            estimator: Estimator::AutoEncoder(AutoEncoder::literal()),
            threshold: 0.2,
            probability: Probability::Decay { floor: 0.4 },
            robust_scale: RobustScale::MedianOfRealizations { draws: 25 },
            final_affinity: FinalAffinity::Plain,
            link_components: LinkComponents::No,
            ..GraphParams::default()
        };
        let shrunk = ScaleShrinkage::TowardMedian { exponent: 0.75 };
        match self {
            Preset::Robust => robust,
            Preset::RobustMean => {
                let mean = Neighborhood { statistic: PoolStatistic::Mean, ..Neighborhood::default() };
                GraphParams { estimator: Estimator::Neighborhood(mean), ..robust }
            }
            Preset::Paper => GraphParams {
                estimator: Estimator::AutoEncoder(AutoEncoder::default()),
                threshold: 0.6,
                scale_shrinkage: shrunk,
                ..literal
            },
            Preset::PaperLiteral => literal,
            Preset::LocalScaling => GraphParams {
                estimator: Estimator::Constant,
                probability: Probability::Persistence { floor: 0.0 },
                robust_scale: RobustScale::First,
                ..literal
            },
            Preset::ConstantControl => GraphParams { estimator: Estimator::Constant, ..robust },
            Preset::ThresholdControl => {
                GraphParams { estimator: Estimator::Identity, scale_shrinkage: shrunk, ..literal }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn presets_are_valid_and_named() {
        for preset in Preset::ALL {
            assert!(preset.params().check().is_ok(), "{preset:?}");
            assert_eq!(Preset::named(preset.name()), Some(preset));
        }
        assert_eq!(Preset::named("nonsense"), None);
        assert_eq!(Preset::Robust.params().n_neighbors(), 15);
        assert_eq!(Preset::Paper.params().n_neighbors(), 12);
        assert_eq!(Preset::PaperLiteral.params().n_neighbors(), 7);
    }

    #[test]
    fn ranges_are_checked() {
        let robust = || Preset::Robust.params();
        let none = CandidatePairs::Neighbors { k: 0, symmetrize: Symmetrize::Union };
        for bad in [
            GraphParams { candidates: none, ..robust() },
            GraphParams { threshold: 1.0, ..robust() },
            GraphParams { threshold: f64::NAN, ..robust() },
            GraphParams { scale_floor: -1.0, ..robust() },
            GraphParams { first_scale: FirstScale::KthNeighbor { k: 0 }, ..robust() },
            GraphParams { probability: Probability::Decay { floor: 2.0 }, ..robust() },
            GraphParams { robust_scale: RobustScale::MedianOfRealizations { draws: 0 }, ..robust() },
            GraphParams { final_affinity: FinalAffinity::Weighted { power: -1.0, floor: 0.0 }, ..robust() },
            GraphParams {
                estimator: Estimator::Neighborhood(Neighborhood { pool: 0, ..Default::default() }),
                ..robust()
            },
            GraphParams {
                estimator: Estimator::AutoEncoder(AutoEncoder { hidden: vec![], ..Default::default() }),
                ..robust()
            },
        ] {
            assert!(matches!(bad.clone().check(), Err(Error::Parameter { .. })), "{bad:?}");
        }
    }
}
