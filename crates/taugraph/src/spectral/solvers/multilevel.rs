//! The smallest eigenpairs of a graph Laplacian by block Davidson with multigrid as the preconditioner.
//!
//! If an exact inverse does not fit in memory, multigrid takes its place: the number of steps hardly grows as the graph grows or
//! its gaps shrink. The search begins with guesses and with solutions on merged nodes.

use super::Context;
use super::blocks::Block;
use super::davidson::{self, DavidsonParams, Start, Widths};
use super::nested::rough_vectors;
use super::preconditioned::{Inverse, Preconditioned};
use crate::error::Result;
use crate::linear::{Hierarchy, LANES, Multigrid, Real};

/// The Laplacian of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Masses {
    /// Each node counts by its degree: D^−½·(D − W)·D^−½.
    Degrees,
    /// Each node counts as one: D − W.
    Ones,
}

/// Shift of the Laplacian whose inverse is computed in single precision, relative to the degrees: as large as eigenvalues of interest
/// in graphs that are not long, and far above rounding.
pub(in super::super) const SHIFT: f64 = 3e-4;

/// The precision of the preconditioner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Precision {
    Double,
    /// For graphs that are not long: smaller eigenvalues than [`SHIFT`] converge slowly.
    Single,
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
    /// Whether they are known to span about the wanted pairs rather than others that are as close.
    pub told_apart: bool,
    /// Groups of nodes on which the vectors are about constant, if they are known.
    pub groups: Option<&'a [u32]>,
    /// The precision of the preconditioner.
    pub precision: Precision,
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
    let n = order.len();
    let n_groups = params.groups.and_then(|groups| groups.iter().max()).map_or(0, |last| *last as usize + 1);
    let n_given = params.guesses.len() / n + n_groups;
    let n_start = Widths::n_start(n_given);
    let widths = Widths::new(n, wanted, n - null.len() / n, n_start);
    let multigrid = Multigrid::new(hierarchy, None, None);
    let shifted = (params.precision == Precision::Single).then(|| {
        let mut extra = vec![0.0; order.len()];
        order.iter().zip(multigrid.diagonal()).for_each(|(&node, mass)| extra[node as usize] = SHIFT * mass);
        Multigrid::new(hierarchy, None, Some(&extra))
    });
    let (inverse, at_once) = match &shifted {
        None => (Inverse::Double, widths.at_once),
        Some(shifted) => (Inverse::Single(shifted), 2 * f32::LANES),
    };
    let operator = Preconditioned::new(hierarchy, &multigrid, masses, at_once, inverse);
    let unit = operator.unit();
    let null = Block::in_order(null, order);
    let rough = rough_vectors(&operator, &null, widths.block, context)?;
    let near_groups = params.groups.map(|groups| operator.near_groups(groups, order));
    // Of the others only those above the given ones are missing.
    let rough = rough.map(|rough| if n_given >= wanted { rough.last(2 * LANES) } else { rough });
    let guesses = (!params.guesses.is_empty()).then(|| Block::in_order(params.guesses, order));
    let start = Start { guesses: guesses.into_iter().chain(near_groups).collect(), rough };
    let davidson = DavidsonParams {
        wanted,
        tolerance: params.tolerance / unit,
        angle: params.angle,
        norm_bound: params.norm_bound / unit,
        max_applications: params.max_applications,
        told_apart: params.told_apart,
        widths,
    };
    let found = davidson::smallest(&operator, null, start, &davidson, context)?;
    Ok(MultilevelResult {
        vectors: found.vectors.by_node(wanted, order),
        applications: found.applications,
        confirmed: found.confirmed,
        gap: found.gap.map(|gap| unit * gap),
    })
}
