//! All choices of the pipeline as plain values, checked once; the presets.

use std::ops::Deref;
use std::str::FromStr;

use crate::affinity::AffinityKind;
use crate::edges::Symmetrize;
use crate::error::{Error, Result, require};
use crate::neighbors::SearchParams;
use crate::quantile::{AutoEncoder, Constant, Estimator, Identity, Neighborhood, PoolStatistic, Taus};
use crate::scale::FirstScale;
use crate::stochastic::{Probability, RobustScale};

/// Which pairs may become edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum CandidatePairs {
    /// Every pair: memory grows with N².
    All,
    /// The k nearest neighbors of each point, made symmetric.
    Neighbors {
        /// Neighbors of each point.
        k: usize,
        /// Union or mutual.
        symmetrize: Symmetrize,
    },
}

/// What the final graph weighs.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum FinalAffinity {
    /// exp(−d²/(σ_iσ_j)) on every candidate, with the robust scales.
    Plain,
    /// The same on the edges that persist at some quantile.
    Masked,
    /// The same times p^power, at least `floor`.
    Weighted {
        /// Exponent of the probability.
        power: f64,
        /// Least weight of a candidate.
        floor: f64,
    },
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

/// What becomes of a graph in several components.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum LinkComponents {
    /// Weak links between them; see [`crate::links`].
    Weakly,
    /// They stay.
    No,
}

/// Parameters of the robust graph (Algorithm 1). See [`Preset`] for sensible sets of them.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct GraphParams {
    /// How the neighbors are searched.
    #[cfg_attr(feature = "serde", serde(default))]
    pub search: SearchParams,
    /// Which pairs may become edges.
    pub candidates: CandidatePairs,
    /// How the first scales are measured.
    pub first_scale: FirstScale,
    /// Scales are at least this share of their median, first and robust ones.
    pub scale_floor: f64,
    /// The exponent of the affinity.
    pub affinity: AffinityKind,
    /// How the conditional quantiles are estimated.
    pub estimator: Estimator,
    /// The quantiles.
    pub taus: Taus,
    /// Similarity above which an edge is present.
    pub threshold: f64,
    /// How persistence becomes probability.
    pub probability: Probability,
    /// How the robust scales follow.
    pub robust_scale: RobustScale,
    /// What the final graph weighs.
    pub final_affinity: FinalAffinity,
    /// What becomes of components.
    pub link_components: LinkComponents,
}

/// Parameters that have been found within their ranges.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedGraphParams(GraphParams);

impl Deref for CheckedGraphParams {
    type Target = GraphParams;

    fn deref(&self) -> &GraphParams {
        &self.0
    }
}

impl GraphParams {
    /// Checks every range once; later stages rely on it.
    pub fn check(self) -> Result<CheckedGraphParams> {
        self.search.check()?;
        if let CandidatePairs::Neighbors { k, .. } = self.candidates {
            require(k >= 1, "neighbors", k, "must be at least 1")?;
        }
        match self.first_scale {
            FirstScale::KthNeighbor(k) | FirstScale::MeanOfNeighbors(k) => {
                require(k >= 1, "scale neighbors", k, "must be at least 1")?;
            }
            FirstScale::Given(_) => {}
        }
        let floor = self.scale_floor;
        require(floor >= 0.0 && floor.is_finite(), "scale_floor", floor, "must be finite and at least 0")?;
        self.estimator.as_dyn().check()?;
        let threshold = self.threshold;
        require((0.0..1.0).contains(&threshold), "threshold", threshold, "must be at least 0 and below 1")?;
        self.probability.check()?;
        if let RobustScale::MedianOfRealizations(draws) = self.robust_scale {
            require((1..=1 << 20).contains(&draws), "realizations", draws, "must be between 1 and 1048576")?;
        }
        if let FinalAffinity::Weighted { power, floor } = self.final_affinity {
            require(power >= 0.0 && power.is_finite(), "power", power, "must be finite and at least 0")?;
            require((0.0..=1.0).contains(&floor), "weight floor", floor, "must be between 0 and 1")?;
        }
        Ok(CheckedGraphParams(self))
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

/// Named sets of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preset {
    /// The default: neighborhood quantiles (share above the threshold) on a sparse graph.
    #[default]
    Robust,
    /// The same with the mean of the pool, without a threshold.
    RobustMean,
    /// The paper, step by step: all pairs, auto-encoders at nine τ, p by decay, 25 realizations.
    Paper,
    /// Plain local scaling (Zelnik-Manor and Perona): all pairs, first scales.
    LocalScaling,
    /// Control for `Robust`: the same sparse graph with p = 1 everywhere.
    ConstantControl,
    /// Control for `Paper`: affinities above the threshold, averaged distances, no quantile.
    ThresholdControl,
}

impl Preset {
    /// Every preset.
    pub const ALL: [Preset; 6] = [
        Preset::Robust,
        Preset::RobustMean,
        Preset::Paper,
        Preset::LocalScaling,
        Preset::ConstantControl,
        Preset::ThresholdControl,
    ];

    /// Its name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Robust => "robust",
            Preset::RobustMean => "robust-mean",
            Preset::Paper => "paper",
            Preset::LocalScaling => "local-scaling",
            Preset::ConstantControl => "constant-control",
            Preset::ThresholdControl => "threshold-control",
        }
    }

    /// Its parameters.
    pub fn params(self) -> GraphParams {
        let robust = GraphParams {
            search: SearchParams::default(),
            candidates: CandidatePairs::Neighbors { k: 15, symmetrize: Symmetrize::Union },
            first_scale: FirstScale::KthNeighbor(7),
            scale_floor: 0.25,
            affinity: AffinityKind::SquaredDistance,
            estimator: Estimator::Neighborhood(Neighborhood::default()),
            taus: Taus::default(),
            threshold: 0.3,
            probability: Probability::Persistence { floor: 0.01 },
            robust_scale: RobustScale::Expectation,
            final_affinity: FinalAffinity::Weighted { power: 3.0, floor: 1e-6 },
            link_components: LinkComponents::Weakly,
        };
        let paper = GraphParams {
            search: SearchParams::default(),
            candidates: CandidatePairs::All,
            first_scale: FirstScale::KthNeighbor(7),
            scale_floor: 0.5,
            affinity: AffinityKind::SquaredDistance,
            estimator: Estimator::AutoEncoder(AutoEncoder::default()),
            taus: Taus::default(),
            threshold: 0.2,
            probability: Probability::Decay { floor: 0.4 },
            robust_scale: RobustScale::MedianOfRealizations(25),
            final_affinity: FinalAffinity::Plain,
            link_components: LinkComponents::No,
        };
        match self {
            Preset::Robust => robust,
            Preset::RobustMean => {
                let mean = Neighborhood { statistic: PoolStatistic::Mean, ..Neighborhood::default() };
                GraphParams { estimator: Estimator::Neighborhood(mean), ..robust }
            }
            Preset::Paper => paper,
            Preset::LocalScaling => GraphParams {
                estimator: Estimator::Constant(Constant),
                probability: Probability::Persistence { floor: 0.0 },
                robust_scale: RobustScale::First,
                ..paper
            },
            Preset::ConstantControl => GraphParams { estimator: Estimator::Constant(Constant), ..robust },
            Preset::ThresholdControl => GraphParams { estimator: Estimator::Identity(Identity), ..paper },
        }
    }
}

impl FromStr for Preset {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Preset::ALL.into_iter().find(|preset| preset.name() == name).ok_or_else(|| Error::Parameter {
            name: "preset",
            value: name.to_string(),
            rule: "must be robust, robust-mean, paper, local-scaling, constant-control or threshold-control",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_valid_and_named() {
        for preset in Preset::ALL {
            assert!(preset.params().check().is_ok(), "{preset:?}");
            assert_eq!(preset.name().parse::<Preset>().unwrap(), preset);
        }
        assert!("nonsense".parse::<Preset>().is_err());
        assert_eq!(Preset::Robust.params().n_neighbors(), 15);
        assert_eq!(Preset::Paper.params().n_neighbors(), 7);
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
            GraphParams { first_scale: FirstScale::KthNeighbor(0), ..robust() },
            GraphParams { probability: Probability::Decay { floor: 2.0 }, ..robust() },
            GraphParams { robust_scale: RobustScale::MedianOfRealizations(0), ..robust() },
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
