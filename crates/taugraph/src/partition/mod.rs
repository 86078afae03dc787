//! The stages of the pipeline for a table that is spread over machines: each function computes what one machine contributes.
//!
//! Nodes have global ids. A machine has some of them, its *own* nodes, and copies of what its edges lead to, the *halo*; both are given in
//! ascending order of their ids, so that sums have the order, and therefore the bits, that they have on one machine. Nothing here reads files,
//! waits or knows how many machines there are.

mod agglomerate;
mod edges;
mod graph;
mod links;
mod order;
mod outside;
mod pools;
mod solver;
#[cfg(test)]
mod tests;
mod weights;

use crate::distance::Metric;
use crate::error::Result;
use crate::neighbors::{MetricPoints, Space};
use crate::points::{ColumnModel, Moments, Points, Standardize};

pub use crate::neighbors::{CellSearch, Cells, Frame, Probes};
pub use agglomerate::{GroupShare, MergeTrees, SMOOTHINGS, TreeKind, best_cut, unsmoothed_density};
pub use edges::{IncidentEdges, ReverseNeighbor};
pub use graph::{PartGraph, components_of_pairs};
pub use links::link_weight;
pub use order::{bit_histogram, value_of_key};
pub use outside::{OutsideCandidate, nearest_outside};
pub use pools::{half_pools, joined_halves};
pub use solver::{
    CoarseSolver, Dense, Directions, EigenOutcome, EigenSearch, EmbeddedRows, Farthest, Halo, LocalEdges,
    Look, PartitionSolver, embedding_centers,
};
pub use weights::{edge_weights, finished_scales, probabilities, robust_values};

/// Points that were prepared for the metric already, as they are stored: scaled to length 1 once more they would have other bits.
pub fn prepared_space(points: Points, metric: Metric) -> Result<Space> {
    MetricPoints::restored(points, metric).map(Space::Points)
}

/// Points as the metric needs them, to be stored.
pub fn unit_rows(points: Points, metric: Metric) -> Result<Points> {
    match Space::from_points(points, metric)? {
        Space::Points(prepared) => Ok(prepared.points().clone()),
        Space::Sparse(_) | Space::Distances(_) | Space::Neighbors(_) => unreachable!("points stay points"),
    }
}

/// How a column with these moments is filled and scaled. `quantile` gives those of the cells that are not missing.
pub fn column_model(
    column: usize,
    moments: Moments,
    n_missing: usize,
    standardize: Standardize,
    quantile: impl FnMut(f64) -> f64,
) -> ColumnModel {
    ColumnModel::of_moments(column, moments, n_missing, standardize, quantile)
}
