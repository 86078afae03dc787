//! The smallest eigenpairs of a graph Laplacian by block Davidson with multigrid as the preconditioner.
//!
//! If an exact inverse does not fit in memory, multigrid takes its place: the number of steps hardly grows as the graph grows or
//! its gaps shrink. The search begins with guesses and with solutions on merged nodes.

use super::Context;
use super::blocks::Block;
use super::davidson::{self, DavidsonParams, Start, Widths};
use super::nested::rough_vectors;
use super::preconditioned::Preconditioned;
use crate::error::Result;
use crate::linear::{Hierarchy, Multigrid};

/// The Laplacian of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Masses {
    /// Each node counts by its degree: D^−½·(D − W)·D^−½.
    Degrees,
    /// Each node counts as one: D − W.
    Ones,
}

/// Parameters of the iteration. Vectors are column-major, by node of the graph.
pub(in super::super) struct MultilevelParams<'a> {
    /// Pairs wanted.
    pub wanted: usize,
    /// Largest residual.
    pub tolerance: f64,
    /// Residuals up to this fraction of the distance to the next pair also suffice; 0 uses the tolerance alone.
    pub angle: f64,
    /// Upper bound on the eigenvalues.
    pub norm_bound: f64,
    /// Maximum number of vectors to precondition.
    pub max_applications: usize,
    /// Starting vectors besides random ones.
    pub guesses: &'a [f64],
}

/// The best pairs found, converged or not.
pub(in super::super) struct MultilevelResult {
    /// Column-major, by node of the graph.
    pub vectors: Vec<f64>,
    pub applications: usize,
    /// Whether all have converged and lie below every other pair.
    pub confirmed: bool,
    /// Lower bound on the distance to the next eigenvalue above them, once that is confirmed.
    pub gap: Option<f64>,
}

/// The smallest eigenpairs in the orthogonal complement of the null vectors.
pub(in super::super) fn smallest(
    hierarchy: &Hierarchy,
    masses: Masses,
    null: &[f64],
    params: &MultilevelParams<'_>,
    context: Context<'_>,
) -> Result<MultilevelResult> {
    let (order, wanted) = (hierarchy.order(), params.wanted);
    let widths = Widths::new(order.len(), wanted, order.len() - null.len() / order.len());
    let multigrid = Multigrid::new(hierarchy, None, None);
    let operator = Preconditioned::new(hierarchy, &multigrid, masses, widths.at_once);
    let unit = operator.unit();
    let null = Block::in_order(null, order);
    let rough = rough_vectors(&operator, &null, widths.block, context)?;
    let guesses = (!params.guesses.is_empty()).then(|| Block::in_order(params.guesses, order));
    let davidson = DavidsonParams {
        wanted,
        tolerance: params.tolerance / unit,
        angle: params.angle,
        norm_bound: params.norm_bound / unit,
        max_applications: params.max_applications,
        widths,
    };
    let found = davidson::smallest(&operator, null, Start { guesses, rough }, &davidson, context)?;
    Ok(MultilevelResult {
        vectors: found.vectors.by_node(wanted, order),
        applications: found.applications,
        confirmed: found.confirmed,
        gap: found.gap.map(|gap| unit * gap),
    })
}
