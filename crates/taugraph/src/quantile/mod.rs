//! Stage 6, conditional quantiles: the similarity of each candidate edge at each quantile τ.
//!
//! One interface for every estimator: similarities of the candidate edges in, [`Quantiles`] out. In the paper's
//! convention a *higher* τ gives a *lower* reconstruction Ŵ_τ, so edges vanish as τ grows; an edge that
//! persists up to a high τ also agrees with the neighborhoods of its ends. [`loss`] has the details.

mod checkpoint;
mod community;
mod control;
mod crossing;
mod neighborhood;
mod overlap;
mod product;
mod trained;

pub use community::Community;
pub use crossing::{crossing_rate, rearrange};
pub(crate) use neighborhood::Around;
pub use neighborhood::{KeepReconstructions, Neighborhood, PoolStatistic};
pub use overlap::Overlap;
pub use product::Product;
pub use trained::{
    Activation, AutoEncoder, Biases, DecoderWeights, Factorization, Initialization, NonCrossing, Optimizer,
    Schedule, StartOfTau, TrainingPairs, loss,
};

use control::{Constant, Identity};

use std::borrow::Cow;

use rayon::prelude::*;
use serde_json::Value;

use crate::affinity::Similarities;
use crate::error::{Error, Result};
use crate::parameter::{About, Leaf, Parameter, ParameterTree, choices, join, refused, unknown};
use crate::progress::Run;

/// An increasing list of quantiles between 0 and 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Taus(Vec<f64>);

impl Leaf for Taus {
    const KIND: &'static str = "list of increasing numbers between 0 and 1, at least one";

    fn write(&self) -> Value {
        self.0.write()
    }

    fn read(value: &Value) -> Option<Self> {
        Taus::new(Vec::read(value)?).ok()
    }
}

impl Taus {
    /// Checks the list.
    pub fn new(taus: Vec<f64>) -> Result<Self> {
        let increasing = taus.windows(2).all(|pair| pair[0] < pair[1]);
        if taus.is_empty() || !increasing || !taus.iter().all(|&tau| tau > 0.0 && tau < 1.0) {
            return Err(Error::Parameter {
                name: "taus".into(),
                value: format!("{taus:?}"),
                rule: "must be increasing numbers between 0 and 1, at least one".into(),
            });
        }
        Ok(Self(taus))
    }

    /// The quantiles, ascending.
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// Number of quantiles.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Never: an empty list is refused.
    pub fn is_empty(&self) -> bool {
        false
    }
}

impl Default for Taus {
    /// 0.1, 0.2, … 0.9.
    fn default() -> Self {
        Self((1..10).map(|tenth| f64::from(tenth) / 10.0).collect())
    }
}

choices! {
    /// How the conditional quantiles are estimated.
    #[derive(Debug, Clone, PartialEq)]
    pub enum Estimator = "neighborhood" {
        /// Empirical quantiles over the neighborhoods of the edge's ends; the default.
        "neighborhood" => Neighborhood(settings: Neighborhood),
        /// The paper's auto-encoder networks.
        "auto-encoder" => AutoEncoder(settings: AutoEncoder),
        /// Symmetric low-rank factorization.
        "factorization" => Factorization(settings: Factorization),
        /// Shared neighbors of the edge's ends.
        "overlap" => Overlap(settings: Overlap),
        /// Common communities of the edge's ends.
        "community" => Community(settings: Community),
        /// Several estimators: the product of their persistences.
        "product" => Product(settings: Product),
        /// Control: Ŵ_τ = W at every τ.
        "identity" => Identity,
        /// Control: every candidate persists at every τ.
        "constant" => Constant,
    }
}

/// Comma-separated names, or JSON; a part is addressed by its name: `parts.community.floor`.
impl ParameterTree for Vec<Estimator> {
    fn to_json(&self) -> Value {
        self.iter().map(ParameterTree::to_json).collect::<Vec<_>>().into()
    }

    fn set(&mut self, path: &str, rest: &[&str], value: &Value) -> Result<()> {
        if let Some((name, rest)) = rest.split_first() {
            let kinds: Vec<&str> = self.iter().map(Estimator::name).collect();
            return match kinds.iter().position(|kind| *kind == name.replace('_', "-")) {
                Some(part) => self[part].set(&join(path, name), rest, value),
                None => Err(unknown(path, name, &kinds)),
            };
        }
        let parts: Vec<Value> = match value {
            Value::Array(parts) => parts.clone(),
            Value::String(names) => names.split(',').map(|name| name.trim().into()).collect(),
            other => return Err(refused(path, other, "must be a list of estimators".into())),
        };
        let before = std::mem::take(self);
        for part in &parts {
            // A part that is listed again keeps its parameters.
            let name = part.as_str().unwrap_or_default().replace('_', "-");
            let mut estimator = before.iter().find(|known| known.name() == name).cloned().unwrap_or_default();
            estimator.set(path, &[], part)?;
            self.push(estimator);
        }
        Ok(())
    }

    fn check_ranges(&self, path: &str) -> Result<()> {
        self.iter().try_for_each(|part| part.check_ranges(&join(path, part.name())))
    }

    fn list(&self, path: &str, about: About<'_>, list: &mut Vec<Parameter>) {
        list.push(Parameter {
            path: path.to_string(),
            default: self.to_json(),
            kind: "list of estimators".into(),
            range: about.range,
            meaning: about.meaning.trim().into(),
            only_with: about.only_with.map(str::to_string),
        });
    }
}

impl Estimator {
    /// Checks that its parameters are within their ranges.
    pub fn check(&self) -> Result<()> {
        self.check_ranges("graph.estimator")
    }

    /// The interface behind the choice.
    pub fn as_dyn(&self) -> &dyn ConditionalQuantiles {
        match self {
            Estimator::Neighborhood(estimator) => estimator,
            Estimator::AutoEncoder(estimator) => estimator,
            Estimator::Factorization(estimator) => estimator,
            Estimator::Overlap(estimator) => estimator,
            Estimator::Community(estimator) => estimator,
            Estimator::Product(estimator) => estimator,
            Estimator::Identity => &Identity,
            Estimator::Constant => &Constant,
        }
    }
}

/// Size of the problem, for the memory estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProblemSize {
    /// Distinct points.
    pub n_nodes: u64,
    /// Candidate edges.
    pub n_edges: u64,
    /// Quantiles.
    pub n_taus: u64,
}

/// Estimates the conditional quantiles of the candidate edges' similarities.
pub trait ConditionalQuantiles {
    /// Neighbors that must be known for each point.
    fn n_neighbors(&self) -> usize {
        0
    }

    /// Peak memory in bytes, including the result.
    fn bytes(&self, size: ProblemSize) -> u64;

    /// The quantiles. `threshold` is the similarity above which an edge counts as present.
    fn estimate(
        &self,
        similarities: &Similarities<'_>,
        taus: &Taus,
        threshold: f64,
        run: &Run<'_>,
    ) -> Result<Quantiles>;
}

/// Conditional quantiles on the candidate edges: the reconstructions, the persistences, or both.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantiles {
    /// The quantiles τ.
    pub taus: Taus,
    /// Ŵ_τ, all τ of the first edge, then all of the second, …; `None` if only the persistence is known.
    pub reconstructions: Option<Vec<f64>>,
    /// The highest τ at which each edge persists, if the estimator knows it more precisely than on the list of τ.
    pub persistence: Option<Vec<f64>>,
    /// Training history for each τ (one entry for a joint network); empty without training.
    pub training: Vec<Training>,
    /// Share of the edges whose reconstructions crossed before they were rearranged.
    pub crossing_rate: Option<f64>,
}

impl Quantiles {
    /// From the persistence of each edge alone, without training.
    pub(crate) fn from_persistence(taus: &Taus, persistence: Vec<f64>) -> Self {
        Self {
            taus: taus.clone(),
            reconstructions: None,
            persistence: Some(persistence),
            training: Vec::new(),
            crossing_rate: None,
        }
    }

    /// τ̂ of each of `n_edges` edges: the estimator's own persistence, or the highest τ at which Ŵ_τ exceeds the threshold, 0 if it
    /// does not at the lowest.
    pub(crate) fn persistence(&self, n_edges: usize, threshold: f64) -> Cow<'_, [f64]> {
        let taus = self.taus.values();
        match (&self.persistence, &self.reconstructions) {
            (Some(known), _) => Cow::Borrowed(known),
            (None, Some(values)) => values
                .par_chunks_exact(taus.len())
                .map(|of_edge| match of_edge.iter().rposition(|&value| value > threshold) {
                    // An edge absent at the lowest τ is absent, even if crossing quantiles bring it back.
                    Some(t) if of_edge[0] > threshold => taus[t],
                    _ => 0.0,
                })
                .collect::<Vec<f64>>()
                .into(),
            (None, None) => vec![0.0; n_edges].into(),
        }
    }
}

/// Training history of one model.
#[derive(Debug, Clone, PartialEq)]
pub struct Training {
    /// The quantile; `None` for a joint model of all quantiles.
    pub tau: Option<f64>,
    /// Loss after each iteration (mean over the rows, penalties included).
    pub losses: Vec<f64>,
    /// Why it stopped.
    pub stop: StopReason,
}

/// Why an iteration stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// The loss fell by less than the tolerance.
    Converged,
    /// All iterations were used before the loss stopped falling.
    IterationLimit,
    /// All steps of a schedule with a fixed number of steps were done.
    Completed,
    /// No step along the search direction lowered the loss any further.
    NoDescent,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taus_are_checked() {
        assert_eq!(Taus::default().values(), [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]);
        for bad in [vec![], vec![0.5, 0.5], vec![0.5, 0.2], vec![0.0], vec![1.0], vec![f64::NAN]] {
            assert!(Taus::new(bad).is_err());
        }
    }
}
