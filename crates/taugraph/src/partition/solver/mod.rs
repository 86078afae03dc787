//! Eigenpairs of the normalized Laplacian of a graph that is spread over partitions, in steps between which values are exchanged.
//!
//! Block Davidson as on one machine: the same rules of convergence, restart and confirmation, by the same code. It is preconditioned by a cycle of
//! multigrid on the inner edges of every partition, a correction on the [`aggregates`](LocalSystem) of all partitions, joined by the sums of
//! their weights, and a second cycle: a multiplicative Schwarz method of two levels without overlap.
//!
//! A [`PartitionSolver`] has the vectors of the own nodes of a partition, the [`CoarseSolver`] the aggregates, and [`EigenSearch`] the small
//! matrices of the search. What goes between them is added in the order of the partitions: the same bits whoever computes what where.

mod coarse;
mod dense;
mod halo;
mod measure;
mod rows;
mod schwarz;
mod search;
mod state;
mod system;
#[cfg(test)]
mod tests;

pub use coarse::CoarseSolver;
pub use dense::Dense;
pub use halo::Halo;
pub use rows::{EmbeddedRows, Farthest, embedding_centers};
pub use search::{Directions, EigenOutcome, EigenSearch, Look};
pub use state::PartitionSolver;
pub use system::LocalEdges;
