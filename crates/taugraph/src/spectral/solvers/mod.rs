//! Eigensolvers. They know operators, vectors and a stream of random numbers, but nothing about runs, stages, or the order in
//! which they are tried.

mod basis;
mod blocks;
pub(super) mod chebyshev;
pub(super) mod davidson;
pub(super) mod dense;
pub(super) mod lanczos;
pub(super) mod measure;
pub(super) mod multilevel;
mod nested;
mod preconditioned;
mod quality;
mod ritz;
mod search_space;
pub(super) mod shift_invert;
pub(super) mod single;

use crate::linear::InterruptCheck;
use crate::random::Stream;

/// A symmetric operator on vectors of one length.
pub(crate) trait SymmetricOperator: Sync {
    fn len(&self) -> usize;

    /// Upper bound on the absolute values of the eigenvalues.
    fn norm_bound(&self) -> f64;

    /// y ← A·x.
    fn apply(&self, x: &[f64], y: &mut [f64]);
}

/// An operator whose entries are known.
pub(crate) trait SymmetricMatrix: SymmetricOperator {
    /// Diagonal entry i.
    fn diagonal(&self, i: usize) -> f64;

    /// Column and value of the other entries of row i.
    fn off_diagonal(&self, i: usize) -> impl Iterator<Item = (u32, f64)>;
}

/// What a solver gets besides the problem.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    /// Source of random vectors.
    pub stream: Stream,
    /// Called before every step.
    pub check: InterruptCheck<'a>,
}
