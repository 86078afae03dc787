//! The smallest eigenpairs of a Laplacian by block Davidson, preconditioned by multigrid.
//!
//! Davidson (1975) with blocks: residuals of the best pairs so far, sent through an approximate inverse, widen the space in which the
//! next pairs are sought. When the space is full it restarts from the best vectors and those of the step before (Stathopoulos
//! and Saad 1998), which keeps what conjugate directions would know. Where an exact inverse does not fit, multigrid takes its
//! place: the steps hardly become more as the graph grows or its gaps shrink.
//!
//! The space begins with guesses of nearly separate parts and with random vectors, more than there are pairs to find: of an eigenvalue that is
//! there several times no copy is missed.

use faer::{Accum, Mat, MatMut, MatRef};
use rayon::prelude::*;

use super::blocks::{Block, PIECE, products};
use super::laplacian::Laplacian;
use super::preconditioned::Preconditioned;
use crate::dense::{multiply, orthonormalize, symmetric_eigen};
use crate::error::Result;
use crate::linear::{Hierarchy, LANES};
use crate::progress::Run;
use crate::random::{Stage, Stream};

/// Residuals relative to the norm bound below this are rounding.
const ROUNDING: f64 = 1e-14;
/// The pair after the wanted ones is taken to lie above them when its residual is this share of its distance.
const SURE: f64 = 0.1;
/// The space of the wanted pairs is known at least to this angle, however close together their eigenvalues lie.
const LARGEST_ANGLE: f64 = 1e-3;
const MOST_STEPS: u32 = 500;
/// Of a vector that lies in the space, less than this share is left without it.
const KNOWN: f64 = 1e-10;
/// Rounding that grows by no more than this leaves vectors orthogonal enough: to 1e-13.
const HARMLESS: f64 = 1e3;
/// Steps without progress after which pairs within the tolerance are left as they are: what follows them is too close to be told apart.
const PATIENCE: u32 = 30;
/// How often the start is filled up with fresh random vectors.
const STARTS: u32 = 6;
/// Very long vectors are dear: fewer of them are kept, and fewer are worked on at once.
const LONG: usize = 200_000;
/// Draws of restarts, of the start and of steps that find nothing new, apart from those of the other solvers.
const SALT: u32 = 1 << 16;
const START: u32 = SALT + 1;
const FRESH: u32 = SALT + 16;

/// What is asked of the iteration.
pub(super) struct DavidsonParams<'a> {
    /// Pairs wanted.
    pub wanted: usize,
    /// Largest residual.
    pub tolerance: f64,
    /// See [`EigenParams::angle`](super::EigenParams::angle).
    pub angle: f64,
    /// Most vectors that are preconditioned.
    pub max_applications: usize,
    /// Vectors to begin with beside random ones, column-major, by node of the graph.
    pub guesses: &'a [f64],
}

/// The best pairs found, converged or not.
pub(super) struct DavidsonResult {
    /// Column-major, by node of the graph.
    pub vectors: Vec<f64>,
    pub applications: usize,
    /// Whether all have converged and lie below every other pair.
    pub confirmed: bool,
    /// How far at least the next eigenvalue lies above them, once that is confirmed.
    pub gap: Option<f64>,
}

/// How many vectors take part.
struct Widths {
    block: usize,
    /// Of the space before it restarts, which leaves two blocks.
    space: usize,
    /// Of one call of the preconditioner.
    at_once: usize,
}

impl Widths {
    fn new(n: usize, wanted: usize, room: usize) -> Self {
        // One more pair shows where the wanted ones end, and two more that it converges soon.
        let block = (wanted + 3).next_multiple_of(LANES).min(room);
        let (blocks, at_once) = if n > LONG { (3, 2 * LANES) } else { (4, 4 * LANES) };
        Self { block, space: (blocks * block).min(room), at_once }
    }
}

/// Bytes at the peak, beside the graph and its hierarchy.
pub(super) fn bytes(n: usize, wanted: usize) -> u64 {
    let Widths { block, space, at_once } = Widths::new(n, wanted, n);
    // Residuals with the vectors that they belong to; or residuals, corrections and what a call of multigrid takes.
    let beside = (3 * block).max(2 * block + 4 * at_once.min(block) + 2);
    8 * n as u64 * (space.next_multiple_of(LANES) + beside + wanted) as u64
}

/// Orthonormal vectors, and the Laplacian within the space that they span.
struct SearchSpace<'a> {
    laplacian: &'a Preconditioned<'a>,
    /// The node of the graph that lies at each place.
    order: &'a [u32],
    stream: Stream,
    /// Null vectors: everything is orthogonal to them.
    null: Block,
    /// The first `filled` vectors are there, and there may be `room`.
    basis: Block,
    filled: usize,
    room: usize,
    /// vᵀ·L·v of the basis; only the first `filled` rows and columns count.
    projection: Mat<f64>,
    /// The best vectors of the step before, in terms of the first of the basis.
    before: Option<Mat<f64>>,
}

impl<'a> SearchSpace<'a> {
    /// Without any vectors as yet.
    fn new(
        laplacian: &'a Preconditioned<'a>,
        order: &'a [u32],
        null: &[f64],
        room: usize,
        stream: Stream,
    ) -> Self {
        Self {
            laplacian,
            order,
            stream,
            null: Block::in_order(null, order),
            basis: Block::zeros(order.len(), room),
            filled: 0,
            room,
            projection: Mat::zeros(room, room),
            before: None,
        }
    }

    /// Begins with the guesses and a block of random vectors beside them; how often the preconditioner was applied.
    fn begin(&mut self, guesses: &[f64], block: usize) -> Result<usize> {
        if !guesses.is_empty() {
            self.widen(Block::in_order(guesses, self.order))?;
        }
        let full = (self.filled + block).min(self.room);
        let mut applications = 0;
        // The inverse makes vectors alike where few eigenvalues are far below the others: what is missing is drawn anew, free of these.
        for start in 0..STARTS {
            let missing = full - self.filled;
            if missing == 0 {
                break;
            }
            self.widen(self.preconditioned_random(missing, START + start))?;
            applications += missing;
        }
        Ok(applications)
    }

    /// Vectors that nothing is known of, sent through the inverse.
    fn preconditioned_random(&self, count: usize, salt: u32) -> Block {
        let mut block = Block::zeros(self.order.len(), count);
        let width = block.width;
        block.values.par_chunks_mut(width).with_min_len(PIECE).zip(self.order).for_each(|(to, &node)| {
            let mut draws = self.stream.at(salt, node);
            to[..count].iter_mut().for_each(|value| *value = draws.normal());
        });
        self.remove_known(&mut block);
        self.laplacian.solve(&block, &(0..count).collect::<Vec<_>>())
    }

    fn basis(&self) -> MatRef<'_, f64> {
        self.basis.view().subrows(0, self.filled)
    }

    /// Removes from the block what is known already.
    fn remove_known(&self, block: &mut Block) {
        for known in [self.null.view(), self.basis()] {
            if known.nrows() > 0 {
                let shares = products(known, block.view());
                multiply(block.view_mut(), Accum::Add, shares.transpose(), known, -1.0);
            }
        }
    }

    /// Adds to the space what is new in the block; false if nothing is.
    fn widen(&mut self, mut block: Block) -> Result<bool> {
        let mut count = 0;
        // Once more for what rounding left, if it was blown up.
        for _ in 0..2 {
            let before = block.lengths();
            self.remove_known(&mut block);
            let after = block.lengths();
            // Nothing but rounding is left of what was known: blown up to length 1 it would be neither new nor orthogonal.
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
        let image = self.laplacian.image(block);
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
    fn ritz(&self) -> Result<(Vec<f64>, Mat<f64>)> {
        symmetric_eigen(self.projection.as_ref().submatrix(0, 0, self.filled, self.filled))
    }

    /// The vectors that the columns of `rotation` make of the basis.
    fn combined(&self, rotation: MatRef<'_, f64>) -> Block {
        let mut block = Block::zeros(self.laplacian.len(), rotation.ncols());
        let out = block.view_mut().subrows_mut(0, rotation.ncols());
        multiply(out, Accum::Replace, rotation.transpose(), self.basis(), 1.0);
        block
    }

    /// L·v − value·v of vectors in the space, and the vectors.
    fn residuals(&self, rotation: MatRef<'_, f64>, values: &[f64]) -> (Block, Block) {
        let vectors = self.combined(rotation);
        let mut residuals = self.laplacian.image(vectors.clone());
        residuals.update(&vectors, |residual, vector| {
            residual.iter_mut().zip(vector).zip(values).for_each(|((r, v), value)| *r -= value * v);
        });
        (residuals, vectors)
    }

    /// Sees to it that there is room for `count` vectors, if need be by a restart from the `leading` vectors and those of the step before.
    fn make_room(&mut self, count: usize, leading: MatRef<'_, f64>, step: u32) {
        if self.filled + count <= self.room {
            self.before = Some(leading.to_owned());
            return;
        }
        let most = self.room.saturating_sub(count);
        let kept = now_and_before(leading, self.before.as_ref(), most, &self.stream, step);
        self.restart(kept.as_ref());
        // The vectors of this step are the first of the new basis.
        let is_same = |row, column| f64::from(u8::from(row == column));
        self.before = Some(Mat::from_fn(kept.ncols(), leading.ncols(), is_same));
    }

    /// Keeps only what the columns of `rotation` make of the basis.
    fn restart(&mut self, rotation: MatRef<'_, f64>) {
        let (filled, kept, width) = (self.filled, rotation.ncols(), self.basis.width);
        self.basis.values.par_chunks_mut(PIECE * width).for_each(|piece| {
            let n = piece.len() / width;
            let mut rotated = Mat::<f64>::zeros(kept, n);
            let view = MatRef::from_column_major_slice(&*piece, width, n).subrows(0, filled);
            multiply(rotated.as_mut(), Accum::Replace, rotation.transpose(), view, 1.0);
            MatMut::from_column_major_slice_mut(piece, width, n).subrows_mut(0, kept).copy_from(rotated);
        });
        let (mut half, mut whole) = (Mat::zeros(filled, kept), Mat::zeros(kept, kept));
        let inner = self.projection.as_ref().submatrix(0, 0, filled, filled);
        multiply(half.as_mut(), Accum::Replace, inner, rotation, 1.0);
        multiply(whole.as_mut(), Accum::Replace, rotation.transpose(), half.as_ref(), 1.0);
        self.projection.as_mut().submatrix_mut(0, 0, kept, kept).copy_from(whole);
        self.filled = kept;
    }
}

/// The columns of `now`, and as many of `before` (which knows only the first vectors of the basis) as there is room for, orthonormal.
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

/// How good the best pairs of a space are.
struct Quality {
    wanted: usize,
    /// |L·u − λ·u| of each pair.
    lengths: Vec<f64>,
    /// From the last wanted eigenvalue to the next, if there is a next.
    distance: Option<f64>,
    /// Residual from which on a wanted pair has converged.
    goal: f64,
    rounding: f64,
}

impl Quality {
    /// Everything in the unit of the residuals.
    fn new(values: &[f64], lengths: Vec<f64>, wanted: usize, tolerance: f64, angle: f64, bound: f64) -> Self {
        let distance = (values.len() > wanted).then(|| values[wanted] - values[wanted - 1]);
        let gap = distance.unwrap_or(0.0);
        let rounding = ROUNDING * bound;
        let goal = tolerance.min(LARGEST_ANGLE * gap).max(0.1 * angle * gap).max(rounding);
        Self { wanted, lengths: lengths[..values.len()].to_vec(), distance, goal, rounding }
    }

    fn is_pending(&self, rank: usize) -> bool {
        let goal = match rank {
            rank if rank < self.wanted => self.goal,
            rank if rank == self.wanted => self.goal.max(SURE * self.distance.unwrap_or(0.0)),
            _ => f64::INFINITY,
        };
        self.lengths[rank] > goal
    }

    /// Whether the wanted pairs have converged, and the next is known to lie above them.
    fn is_done(&self) -> bool {
        self.distance.is_some() && !(0..=self.wanted).any(|rank| self.is_pending(rank))
    }

    /// Whether the wanted pairs would pass.
    fn is_within(&self, tolerance: f64) -> bool {
        self.distance.is_some() && self.lengths[..self.wanted].iter().all(|&length| length <= tolerance)
    }

    fn worst(&self) -> f64 {
        self.lengths.iter().take(self.wanted + 1).copied().fold(0.0, f64::max)
    }

    /// Pairs that have not converged, and as many of the next as the lanes have room for.
    fn to_improve(&self) -> Vec<usize> {
        let ranks = 0..self.lengths.len();
        let mut named: Vec<usize> = ranks.clone().filter(|&rank| self.is_pending(rank)).collect();
        let is_other = |&rank: &usize| !self.is_pending(rank) && self.lengths[rank] > self.rounding;
        let spare = named.len().next_multiple_of(LANES) - named.len();
        named.extend(ranks.rev().filter(is_other).take(spare));
        named
    }
}

/// The smallest eigenpairs in the orthogonal complement of the null vectors (column-major, by node of the graph).
pub(super) fn smallest(
    laplacian: &Laplacian<'_>,
    null: &[f64],
    params: &DavidsonParams<'_>,
    run: &Run<'_>,
) -> Result<DavidsonResult> {
    let hierarchy = Hierarchy::new(laplacian.graph());
    let (order, wanted) = (hierarchy.order(), params.wanted);
    let most = order.len() - null.len() / order.len();
    let widths = Widths::new(order.len(), wanted, most);
    let operator = Preconditioned::new(&hierarchy, laplacian.kind(), widths.at_once);
    let (bound, tolerance) = (laplacian.norm_bound() / operator.unit(), params.tolerance / operator.unit());
    let stream = Stream::new(run.seed, Stage::Eigen);
    let mut space = SearchSpace::new(&operator, order, null, widths.space, stream);
    let mut applications = space.begin(params.guesses, widths.block)?;
    let (mut best, mut best_step) = (f64::INFINITY, 0);
    for step in 0.. {
        run.check()?;
        let (values, rotation) = space.ritz()?;
        let count = widths.block.min(space.filled);
        let leading = rotation.as_ref().subcols(0, count);
        let (residuals, vectors) = space.residuals(leading, &values);
        let quality =
            Quality::new(&values[..count], residuals.lengths(), wanted, tolerance, params.angle, bound);
        if quality.worst() < 0.5 * best {
            (best, best_step) = (quality.worst(), step);
        }
        let confirmed = space.filled == most || quality.is_done();
        let is_stuck = quality.is_within(tolerance) && step >= best_step + PATIENCE;
        if confirmed || is_stuck || applications >= params.max_applications || step == MOST_STEPS {
            let next = quality.distance.filter(|_| confirmed);
            let gap = next.map(|distance| operator.unit() * (distance - quality.lengths[wanted]));
            return Ok(DavidsonResult {
                vectors: vectors.by_node(wanted, order),
                applications,
                confirmed,
                gap,
            });
        }
        drop(vectors);
        let named = quality.to_improve();
        let correction = (!named.is_empty()).then(|| operator.solve(&residuals, &named));
        drop(residuals);
        space.make_room(named.len().max(LANES), leading, step);
        applications += named.len();
        let is_wider = correction.map_or(Ok(false), |correction| space.widen(correction))?;
        if !is_wider {
            // All that is there has converged or leads to nothing new, and it is not enough: on from where nobody has looked.
            space.widen(space.preconditioned_random(LANES, FRESH + step))?;
            applications += LANES;
        }
    }
    unreachable!("the last step returns")
}
