//! Several estimators at once: an edge persists as far as all of them agree, by the product of its persistences.

use super::{ConditionalQuantiles, Estimator, ProblemSize, Quantiles, Taus};
use crate::affinity::Similarities;
use crate::error::{Result, require};
use crate::progress::Run;

/// The estimators.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Product(pub Vec<Estimator>);

impl ConditionalQuantiles for Product {
    fn check(&self) -> Result<()> {
        require(!self.0.is_empty(), "estimators", 0, "must be at least one")?;
        self.0.iter().try_for_each(|part| part.as_dyn().check())
    }

    fn n_neighbors(&self) -> usize {
        self.0.iter().map(|part| part.as_dyn().n_neighbors()).max().unwrap_or(0)
    }

    fn bytes(&self, size: ProblemSize) -> u64 {
        let parts = self.0.iter().map(|part| part.as_dyn().bytes(size));
        parts.max().unwrap_or(0) + 8 * size.n_edges
    }

    fn estimate(
        &self,
        similarities: &Similarities<'_>,
        taus: &Taus,
        threshold: f64,
        run: &Run<'_>,
    ) -> Result<Quantiles> {
        let mut persistence = vec![1.0; similarities.edges().len()];
        let mut training = Vec::new();
        for part in &self.0 {
            let of_part = part.as_dyn().estimate(similarities, taus, threshold, run)?;
            let known = of_part.persistence(persistence.len(), threshold);
            persistence.iter_mut().zip(known.iter()).for_each(|(product, own)| *product *= own);
            training.extend(of_part.training);
        }
        Ok(Quantiles { training, ..Quantiles::from_persistence(taus, persistence) })
    }
}
