//! The smallest eigenpairs of a Laplacian by block Davidson, preconditioned by multigrid.
//!
//! Davidson (1975) with blocks: residuals of the best pairs so far, sent through an approximate inverse, widen the space in which the
//! next pairs are sought. When the space is full it restarts from the best vectors and those of the step before (Stathopoulos
//! and Saad 1998), which keeps what conjugate directions would know. Where an exact inverse does not fit, multigrid takes its
//! place: the steps hardly become more as the graph grows or its gaps shrink.
//!
//! The space begins with guesses of nearly separate parts, with more vectors of merged nodes than there are pairs to find, and with random
//! ones: of an eigenvalue that is there several times no copy is missed.

use super::blocks::Block;
use super::laplacian::Laplacian;
use super::nested::rough_vectors;
use super::preconditioned::Preconditioned;
use super::search_space::{FRESH, SearchSpace};
use crate::error::Result;
use crate::linear::{Hierarchy, LANES, Multigrid};
use crate::progress::Run;
use crate::random::{Stage, Stream};

/// Residuals relative to the norm bound below this are rounding.
const ROUNDING: f64 = 1e-14;
/// The pair after the wanted ones is taken to lie above them when its residual is this share of its distance.
const SURE: f64 = 0.1;
/// Residuals go down to this share of what the angle allows: the distance to the next pair is known to a tenth ([`SURE`]) only.
const OF_ANGLE: f64 = 0.5;
/// The space of the wanted pairs is known at least to this angle, however close together their eigenvalues lie.
const LARGEST_ANGLE: f64 = 1e-3;
const MAX_STEPS: u32 = 500;
/// Steps without progress after which pairs within the tolerance are left as they are: what follows them is too close to be told apart.
const PATIENCE: u32 = 30;
/// Very long vectors are dear: fewer of them are kept, and fewer are worked on at once.
const LONG: usize = 200_000;

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
        let goal = tolerance.min(LARGEST_ANGLE * gap).max(OF_ANGLE * angle * gap).max(rounding);
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
    let multigrid = Multigrid::new(&hierarchy, None, None);
    let operator = Preconditioned::new(&hierarchy, &multigrid, laplacian.kind(), widths.at_once);
    let (bound, tolerance) = (laplacian.norm_bound() / operator.unit(), params.tolerance / operator.unit());
    let null = Block::in_order(null, order);
    let rough = rough_vectors(&operator, &null, widths.block, run)?;
    let mut space = SearchSpace::new(&operator, null, widths.space, Stream::new(run.seed, Stage::Eigen));
    if !params.guesses.is_empty() {
        space.widen(Block::in_order(params.guesses, order))?;
    }
    let n_random = if rough.is_some() { LANES } else { widths.block };
    if let Some(rough) = rough {
        space.widen(rough)?;
    }
    let mut applications = space.widen_at_random(n_random)?;
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
        if confirmed || is_stuck || applications >= params.max_applications || step == MAX_STEPS {
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
