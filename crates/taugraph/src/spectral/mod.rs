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
pub use solve::{EigenInfo, EigenParams, EigenSolver, Eigenpairs, SolverChoice, smallest_eigenpairs};
