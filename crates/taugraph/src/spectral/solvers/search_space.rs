//! The search space of a block Davidson iteration.

use faer::{Accum, Mat, MatMut, MatRef};
use rayon::prelude::*;

use super::blocks::{Block, CHUNK, products};
use super::davidson::{LONG, PreconditionedOperator};
use crate::dense::{multiply, orthonormalize, symmetric_eigen};
use crate::error::Result;
use crate::linear::LANES;
use crate::random::Stream;

/// A vector of which less than this fraction is orthogonal to the space lies in it.
const KNOWN: f64 = 1e-10;
/// If rounding errors grow by no more than this, vectors stay orthogonal enough: to 1e-13.
const HARMLESS: f64 = 1e3;
/// Maximum number of attempts to fill up the start with fresh random vectors.
const MAX_STARTS: u32 = 6;
/// Draws of restarts and of the start, distinct from those of the other solvers.
const SALT: u32 = 1 << 16;
const START: u32 = SALT + 1;
/// Draws of steps that find nothing new.
pub(super) const FRESH: u32 = SALT + 16;

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
    /// The first `filled` vectors are valid, out of at most `room`.
    basis: Block,
    pub filled: usize,
    room: usize,
    /// vᵀ·A·v of the basis; only the first `filled` rows and columns are valid.
    projection: Mat<f64>,
    /// The best vectors of the previous step, in terms of the first basis vectors.
    before: Option<Mat<f64>>,
}

impl<'a, O: PreconditionedOperator> SearchSpace<'a, O> {
    /// An empty space.
    pub fn new(operator: &'a O, null: Block, room: usize, stream: Stream) -> Self {
        Self {
            operator,
            stream,
            null,
            basis: Block::zeros(operator.len(), room),
            filled: 0,
            room,
            projection: Mat::zeros(room, room),
            before: None,
        }
    }

    /// Adds this many random vectors, passed through the inverse; returns how often that was applied.
    pub fn widen_at_random(&mut self, count: usize) -> Result<usize> {
        let full = (self.filled + count).min(self.room);
        let mut applications = 0;
        // If few eigenvalues are far below the others, the inverse makes vectors similar: the missing ones are drawn again, orthogonal to these.
        for start in 0..MAX_STARTS {
            let missing = full - self.filled;
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
        self.basis.view().subrows(0, self.filled)
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
            // What is left of known vectors is rounding error: scaled up to length 1 it would be neither new nor orthogonal.
            let is_new = |(before, after): (&f64, &f64)| *after > KNOWN * before;
            let kept: Vec<bool> = before.iter().zip(&after).map(is_new).collect();
            block.multiply_each(&kept.iter().map(|&kept| f64::from(u8::from(kept))).collect::<Vec<_>>());
            let growths = before.iter().zip(&after).zip(&kept).filter(|(_, kept)| **kept);
            let growth = growths.map(|((before, after), _)| before / after).fold(1.0, f64::max);
            let within;
            (block, count, within) = block.orthonormal()?;
            if growth * within <= HARMLESS {
                break;
            }
        }
        let (before, added) = (self.filled, count.min(self.room - self.filled));
        self.basis.update(&block, |to, from| to[before..before + added].copy_from_slice(&from[..added]));
        self.filled += added;
        let image = self.operator.image(block);
        let new = products(self.basis(), image.view().subrows(0, added));
        for column in 0..added {
            for row in 0..self.filled {
                self.projection[(row, before + column)] = new[(row, column)];
                self.projection[(before + column, row)] = new[(row, column)];
            }
        }
        Ok(added > 0)
    }

    /// Ritz values, ascending, and their vectors in terms of the basis.
    pub fn ritz(&self) -> Result<(Vec<f64>, Mat<f64>)> {
        symmetric_eigen(self.projection.as_ref().submatrix(0, 0, self.filled, self.filled))
    }

    /// The combinations of the basis given by the columns of `rotation`.
    pub fn combined(&self, rotation: MatRef<'_, f64>) -> Block {
        let mut block = Block::zeros(self.operator.len(), rotation.ncols());
        let out = block.view_mut().subrows_mut(0, rotation.ncols());
        multiply(out, Accum::Replace, rotation.transpose(), self.basis(), 1.0);
        block
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
        if self.filled + count <= self.room {
            self.before = Some(leading.to_owned());
            return;
        }
        let most = self.room.saturating_sub(count);
        let kept = now_and_before(leading, self.before.as_ref(), most, &self.stream, step);
        self.restart(kept.as_ref());
        // The vectors of this step come first in the new basis.
        let is_same = |row, column| f64::from(u8::from(row == column));
        self.before = Some(Mat::from_fn(kept.ncols(), leading.ncols(), is_same));
    }

    /// Replaces the basis by the combinations given by the columns of `rotation`.
    fn restart(&mut self, rotation: MatRef<'_, f64>) {
        let (filled, kept, width) = (self.filled, rotation.ncols(), self.basis.width);
        self.basis.values.par_chunks_mut(CHUNK * width).for_each(|chunk| {
            let n = chunk.len() / width;
            let mut rotated = Mat::<f64>::zeros(kept, n);
            let view = MatRef::from_column_major_slice(&*chunk, width, n).subrows(0, filled);
            multiply(rotated.as_mut(), Accum::Replace, rotation.transpose(), view, 1.0);
            MatMut::from_column_major_slice_mut(chunk, width, n).subrows_mut(0, kept).copy_from(rotated);
        });
        let (mut half, mut whole) = (Mat::zeros(filled, kept), Mat::zeros(kept, kept));
        let inner = self.projection.as_ref().submatrix(0, 0, filled, filled);
        multiply(half.as_mut(), Accum::Replace, inner, rotation, 1.0);
        multiply(whole.as_mut(), Accum::Replace, rotation.transpose(), half.as_ref(), 1.0);
        self.projection.as_mut().submatrix_mut(0, 0, kept, kept).copy_from(whole);
        self.filled = kept;
    }
}

/// The columns of `now`, and as many of `before` (given in the first basis vectors only) as fit, made orthonormal.
fn now_and_before(
    now: MatRef<'_, f64>,
    before: Option<&Mat<f64>>,
    most: usize,
    stream: &Stream,
    step: u32,
) -> Mat<f64> {
    let (filled, count) = (now.nrows(), now.ncols());
    let old = before.map_or(0, |before| before.ncols().min(most.saturating_sub(count)));
    let mut columns = vec![0.0; filled * (count + old)];
    for (at, column) in columns.chunks_exact_mut(filled).enumerate() {
        match before {
            Some(before) if at >= count => {
                column.iter_mut().zip(before.col(at - count).iter()).for_each(|(to, from)| *to = *from);
            }
            _ => column.iter_mut().zip(now.col(at).iter()).for_each(|(to, from)| *to = *from),
        }
    }
    orthonormalize(&mut columns, filled, &mut stream.at(SALT, step));
    MatRef::from_column_major_slice(&columns, filled, count + old).to_owned()
}
