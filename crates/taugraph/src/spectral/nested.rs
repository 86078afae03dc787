//! Vectors to begin with: the eigenproblem solved roughly for merged nodes first, level by level.
//!
//! A level has about a quarter of the nodes of the one before, so that a few steps on all of the coarser ones take less time than one
//! on the graph itself.

use super::blocks::Block;
use super::preconditioned::Preconditioned;
use super::search_space::SearchSpace;
use crate::error::Result;
use crate::progress::Run;
use crate::random::{Stage, Stream};

/// Steps of the iteration on each level.
const STEPS: usize = 2;
/// A level is worth while from so many nodes for each vector.
const NODES: usize = 16;

/// About the smallest `count` eigenvectors, those of nodes that merge; none if the graph is small. `null` are the null vectors.
pub(super) fn rough_vectors(
    laplacian: &Preconditioned<'_>,
    null: &Block,
    count: usize,
    run: &Run<'_>,
) -> Result<Option<Block>> {
    let Some(coarser) = laplacian.coarser().filter(|coarser| coarser.len() >= NODES * (count + null.width))
    else {
        return Ok(None);
    };
    let mut null = laplacian.restricted(null, &coarser);
    null.normalize();
    let start = rough_vectors(&coarser, &null, count, run)?;
    let stream = Stream::new(run.seed, Stage::Eigen);
    let mut space = SearchSpace::new(&coarser, null, (STEPS + 1) * count, stream);
    match start {
        Some(start) => {
            space.widen(start)?;
        }
        None => {
            space.widen_at_random(count)?;
        }
    }
    for _ in 0..STEPS {
        run.check()?;
        let (values, rotation) = space.ritz()?;
        let count = count.min(space.filled);
        let (residuals, _) = space.residuals(rotation.as_ref().subcols(0, count), &values);
        if !space.widen(coarser.solve(&residuals, &(0..count).collect::<Vec<_>>()))? {
            break;
        }
    }
    let (_, rotation) = space.ritz()?;
    let found = space.combined(rotation.as_ref().subcols(0, count.min(space.filled)));
    Ok(Some(laplacian.prolonged(&found, &coarser)))
}
