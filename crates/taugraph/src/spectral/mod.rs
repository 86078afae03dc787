//! Stage 10, spectral: eigenpairs of graph Laplacians, and the embedding that they give.

mod chebyshev;
mod embedding;
mod lanczos;
mod laplacian;
mod narrow;
mod parts;
mod shift_invert;
mod solve;

pub(crate) use embedding::unit_row;
pub use embedding::{Embedding, EmbeddingRows, embed};
pub use laplacian::{Laplacian, LaplacianKind};
/// Bytes that finding `n_pairs` eigenpairs of a graph of `n` nodes holds at its peak, beside the graph; a factorisation asks
/// for more only if there is more.
pub(crate) fn bytes(n: usize, n_pairs: usize) -> u64 {
    lanczos::bytes(n, n_pairs) + 40 * n as u64
}

pub use solve::{EigenInfo, EigenParams, EigenSolver, Eigenpairs, SolverChoice, smallest_eigenpairs};
