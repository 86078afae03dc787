//! Stage 10, spectral: eigenpairs of graph Laplacians, and the spectral embedding.

mod attempts;
mod embedding;
mod laplacian;
mod pairs;
mod parts;
mod patience;
mod plan;
mod shape;
mod solve;
mod solvers;

pub(crate) use attempts::Near;
pub use embedding::{Embedding, RowNormalization, embed};
pub(crate) use embedding::{embed_near, unit_row};
pub use laplacian::{Laplacian, LaplacianKind};
pub use pairs::{EigenInfo, EigenParams, EigenSolver, Eigenpairs, SolverChoice};
pub use solve::smallest_eigenpairs;
pub(crate) use solvers::{
    Block, CHUNK, Context, DavidsonParams, Directions, FRESH, HARMLESS, MAX_STARTS, Pace, Projection,
    Quality, START, Widths, coarse_vectors, new_ones, products,
};

/// Up to so many nodes the search for eigenvectors makes no use of another clustering.
pub(crate) const MAX_WITHOUT_NEAR: usize = solvers::davidson::LONG;

/// Peak memory of finding `n_pairs` eigenpairs of a graph of `n` nodes, in bytes, besides the graph.
pub(crate) fn bytes(n: usize, n_pairs: usize) -> u64 {
    solvers::lanczos::bytes(n, n_pairs) + 40 * n as u64
}

/// The same if Lanczos is followed by another method, which happens only if that much memory is available.
pub(crate) fn max_bytes(n: usize, n_edges: u64, n_pairs: usize) -> u64 {
    bytes(n, n_pairs).max(plan::granted(n, n_edges, n_pairs) + (40 + 8 * n_pairs as u64) * n as u64)
}
