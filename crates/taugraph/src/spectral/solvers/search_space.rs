//! The search space of a block Davidson iteration.

use faer::{Accum, Mat, MatRef};
use rayon::prelude::*;

use super::blocks::{Block, CHUNK, HARMLESS, new_ones, products};
use super::davidson::{LONG, PreconditionedOperator};
use super::projection::{Projection, START};
use crate::dense::multiply;
use crate::error::Result;
use crate::linear::LANES;
use crate::random::Stream;

/// Maximum number of attempts to fill up the start with fresh random vectors.
pub(crate) const MAX_STARTS: u32 = 6;

/// Vectors on `n` nodes whose residuals are computed at once: fewer of long ones, which take more memory than everything else.
pub(super) fn residuals_at_once(n: usize) -> usize {
    if n > LONG { 2 * LANES } else { 4 * LANES }
}

/// Orthonormal vectors, and the operator within the space that they span.
pub(super) struct SearchSpace<'a, O> {
    operator: &'a O,
    stream: Stream,
    /// Null vectors: everything is orthogonal to them.
    null: Block,
    /// As many vectors are valid as the projection has.
    basis: Block,
    projection: Projection,
}

impl<'a, O: PreconditionedOperator> SearchSpace<'a, O> {
    /// An empty space.
    pub fn new(operator: &'a O, null: Block, room: usize, stream: Stream) -> Self {
        Self {
            operator,
            stream,
            null,
            basis: Block::zeros(operator.len(), room),
            projection: Projection::new(room, stream),
        }
    }

    /// Number of vectors in the basis.
    pub fn filled(&self) -> usize {
        self.projection.filled
    }

    /// Adds this many random vectors, passed through the inverse; returns how often that was applied.
    pub fn widen_at_random(&mut self, count: usize) -> Result<usize> {
        let full = (self.filled() + count).min(self.projection.room);
        let mut applications = 0;
        // If few eigenvalues are far below the others, the inverse makes vectors similar: the missing ones are drawn again, orthogonal to these.
        for start in 0..MAX_STARTS {
            let missing = full - self.filled();
            if missing == 0 {
                break;
            }
            self.widen(self.preconditioned_random(missing, START + start))?;
            applications += missing;
        }
        Ok(applications)
    }

    /// Random vectors, passed through the inverse.
    pub fn preconditioned_random(&self, count: usize, salt: u32) -> Block {
        let mut block = Block::zeros(self.operator.len(), count);
        let width = block.width;
        let nodes = block.values.par_chunks_mut(width).with_min_len(CHUNK).enumerate();
        nodes.for_each(|(place, to)| {
            let mut draws = self.stream.at(salt, place as u32);
            to[..count].iter_mut().for_each(|value| *value = draws.normal());
        });
        self.remove_known(&mut block);
        self.operator.solve(block, &(0..count).collect::<Vec<_>>())
    }

    fn basis(&self) -> MatRef<'_, f64> {
        self.basis.view().subrows(0, self.filled())
    }

    /// Projects the known vectors out of the block.
    fn remove_known(&self, block: &mut Block) {
        for known in [self.null.view(), self.basis()] {
            if known.nrows() > 0 {
                let shares = products(known, block.view());
                multiply(block.view_mut(), Accum::Add, shares.transpose(), known, -1.0);
            }
        }
    }

    /// Adds the new directions of the block to the space; false if there are none.
    pub fn widen(&mut self, mut block: Block) -> Result<bool> {
        let mut count = 0;
        // Once more for rounding errors, if they were amplified.
        for _ in 0..2 {
            let before = block.lengths();
            self.remove_known(&mut block);
            let after = block.lengths();
            let (kept, growth) = new_ones(&before, &after);
            block.multiply_each(&kept.iter().map(|&kept| f64::from(u8::from(kept))).collect::<Vec<_>>());
            let within;
            (block, count, within) = block.orthonormal()?;
            if growth * within <= HARMLESS {
                break;
            }
        }
        let (before, added) = (self.filled(), self.projection.fitting(count));
        self.basis.update(&block, |to, from| to[before..before + added].copy_from_slice(&from[..added]));
        let image = self.operator.image(block);
        let basis = self.basis.view().subrows(0, before + added);
        self.projection.widen(products(basis, image.view().subrows(0, added)).as_ref());
        Ok(added > 0)
    }

    /// Ritz values, ascending, and their vectors in terms of the basis.
    pub fn ritz(&self) -> Result<(Vec<f64>, Mat<f64>)> {
        self.projection.ritz()
    }

    /// The combinations of the basis given by the columns of `rotation`.
    pub fn combined(&self, rotation: MatRef<'_, f64>) -> Block {
        self.basis.combined(rotation)
    }

    /// The residuals A·v − value·v of vectors in the space.
    pub fn residuals(&self, rotation: MatRef<'_, f64>, values: &[f64]) -> Block {
        let (count, at_once) = (rotation.ncols(), residuals_at_once(self.operator.len()));
        if count <= at_once {
            return self.residuals_of(rotation, values);
        }
        // A few at a time: their vectors and images need not all be there at once.
        let mut all = Block::zeros(self.operator.len(), count);
        for first in (0..count).step_by(at_once) {
            let width = at_once.min(count - first);
            let some = self.residuals_of(rotation.subcols(first, width), &values[first..]);
            all.update(&some, |to, from| to[first..first + width].copy_from_slice(&from[..width]));
        }
        all
    }

    fn residuals_of(&self, rotation: MatRef<'_, f64>, values: &[f64]) -> Block {
        let vectors = self.combined(rotation);
        let mut residuals = self.operator.image(vectors.clone());
        residuals.update(&vectors, |residual, vector| {
            residual.iter_mut().zip(vector).zip(values).for_each(|((r, v), value)| *r -= value * v);
        });
        residuals
    }

    /// Ensures room for `count` vectors, if necessary by a restart from the `leading` vectors and those of the previous step.
    pub fn make_room(&mut self, count: usize, leading: MatRef<'_, f64>, step: u32) {
        if let Some(rotation) = self.projection.make_room(count, leading, step) {
            self.basis.rotate(rotation.as_ref());
        }
    }
}
