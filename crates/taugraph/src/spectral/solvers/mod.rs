//! Eigensolvers. They know operators, vectors and a stream of random numbers, but nothing about runs, stages, or the order in
//! which they are tried.

mod basis;
mod blocks;
pub(super) mod chebyshev;
pub(crate) mod davidson;
pub(super) mod dense;
pub(super) mod lanczos;
pub(super) mod measure;
pub(super) mod multilevel;
mod nested;
mod pace;
mod preconditioned;
mod projection;
mod quality;
mod ritz;
mod search_space;
pub(super) mod shift_invert;
pub(super) mod single;

// What `partition` uses to run the same iteration on vectors that are spread over machines.
pub(crate) use blocks::{Block, CHUNK, Directions, HARMLESS, new_ones, products};
pub(crate) use davidson::{DavidsonParams, Widths};
pub(crate) use nested::coarse_vectors;
pub(crate) use pace::Pace;
pub(crate) use projection::{FRESH, Projection, START};
pub(crate) use quality::Quality;
pub(crate) use search_space::MAX_STARTS;

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
pub(crate) struct Context<'a> {
    /// Source of random vectors.
    pub stream: Stream,
    /// Called before every step.
    pub check: InterruptCheck<'a>,
}
