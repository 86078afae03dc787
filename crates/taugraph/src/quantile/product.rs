//! Several estimators at once: the persistence of an edge is the product of its persistences under each.

use super::{Community, ConditionalQuantiles, Estimator, Neighborhood, ProblemSize, Quantiles, Taus};
use crate::affinity::Similarities;
use crate::error::Result;
use crate::parameter::parameters;
use crate::progress::Run;

parameters! {
    /// Parameters of the product estimator.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Product {
        /// The estimators whose persistences are multiplied.
        parts: Vec<Estimator> = usual_parts(), "at least one estimator" => |parts| !parts.is_empty();
    }
}

/// A combination that does well on very many points.
fn usual_parts() -> Vec<Estimator> {
    vec![Estimator::Neighborhood(Neighborhood::default()), Estimator::Community(Community::default())]
}

impl Product {
    /// The product of these.
    pub fn of(parts: Vec<Estimator>) -> Self {
        Self { parts }
    }
}

impl ConditionalQuantiles for Product {
    fn n_neighbors(&self) -> usize {
        self.parts.iter().map(|part| part.as_dyn().n_neighbors()).max().unwrap_or(0)
    }

    fn bytes(&self, size: ProblemSize) -> u64 {
        let parts = self.parts.iter().map(|part| part.as_dyn().bytes(size));
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
        for part in &self.parts {
            let of_part = part.as_dyn().estimate(similarities, taus, threshold, run)?;
            let known = of_part.persistence(persistence.len(), threshold);
            persistence.iter_mut().zip(known.iter()).for_each(|(product, own)| *product *= own);
            training.extend(of_part.training);
        }
        Ok(Quantiles { training, ..Quantiles::from_persistence(taus, persistence) })
    }
}
