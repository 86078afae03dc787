//! Controls: the same pipeline without the quantile step. Every claim about that step is compared with one of these.

use super::{ConditionalQuantiles, ProblemSize, Quantiles, Taus};
use crate::affinity::Similarities;
use crate::error::Result;
use crate::progress::Run;

/// Ŵ_τ = W: an edge persists at every τ or at none. All that remains is a threshold on the affinities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Identity;

impl ConditionalQuantiles for Identity {
    fn bytes(&self, size: ProblemSize) -> u64 {
        8 * size.n_edges * size.n_taus
    }

    fn estimate(
        &self,
        similarities: &Similarities<'_>,
        taus: &Taus,
        _: f64,
        run: &Run<'_>,
    ) -> Result<Quantiles> {
        run.check()?;
        let copies = similarities.values().iter().flat_map(|&value| std::iter::repeat_n(value, taus.len()));
        Ok(Quantiles {
            taus: taus.clone(),
            reconstructions: Some(copies.collect()),
            persistence: None,
            training: Vec::new(),
            crossing_rate: None,
        })
    }
}

/// Every candidate edge is certain: p = 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Constant;

impl ConditionalQuantiles for Constant {
    fn bytes(&self, size: ProblemSize) -> u64 {
        8 * size.n_edges
    }

    fn estimate(
        &self,
        similarities: &Similarities<'_>,
        taus: &Taus,
        _: f64,
        run: &Run<'_>,
    ) -> Result<Quantiles> {
        run.check()?;
        Ok(Quantiles::from_persistence(taus, vec![1.0; similarities.edges().len()]))
    }
}
