//! Baselines: graphs and clusterings from the literature to compare with.
//!
//! Local scaling and the controls without quantiles are presets of the pipeline itself ([`crate::params::Preset`]); this module has those
//! that do not fit into it.

mod consensus;
mod path_based;
mod plain;

pub use consensus::{Consensus, ConsensusParams, consensus_clustering, consensus_matrix, consensus_of};
pub use path_based::{PathBasedParams, PathWeights, path_based_graph, path_costs};
pub use plain::{Gamma, NeighborWeights, neighbor_graph, rbf_graph};

use crate::graph::SparseGraph;
use crate::points::Duplicates;

/// A graph over the distinct points.
#[derive(Debug, Clone)]
pub struct BaselineGraph {
    /// The graph.
    pub graph: SparseGraph,
    /// Which rows share a node.
    pub duplicates: Duplicates,
}
