//! The smallest eigenpairs of a positive semidefinite operator by block Davidson.
//!
//! Davidson (1975) with blocks: the preconditioned residuals of the best pairs so far expand the space in which the
//! next pairs are sought. When the space is full it restarts from the best vectors and those of the previous step (Stathopoulos
//! and Saad 1998), which retains the information of conjugate directions.
//!
//! The space begins with the caller's vectors, more of them than there are pairs to find, and with random ones, so that no copy of
//! a multiple eigenvalue is missed.

use faer::Mat;

use super::Context;
use super::blocks::Block;
use super::pace::Pace;
use super::projection::FRESH;
use super::quality::Quality;
use super::search_space::{SearchSpace, residuals_at_once};
use crate::error::Result;
use crate::linear::LANES;

/// Longer vectors are expensive: fewer of them are kept, and fewer are processed at once; the preconditioner is in single precision
/// where the graph allows it. docs/decisions/0032.
pub(in super::super) const LONG: usize = 5_000;

/// A positive semidefinite operator on blocks of vectors, with an approximate inverse.
pub(super) trait PreconditionedOperator: Sync {
    fn len(&self) -> usize;

    /// A·x; overwrites x.
    fn image(&self, x: Block) -> Block;

    /// Approximate solutions of A·z = r for the given vectors of `r`, up to null vectors; perhaps among vectors that are 0.
    fn solve(&self, r: Block, named: &[usize]) -> Block;
}

/// Parameters of the iteration.
#[derive(Clone)]
pub(crate) struct DavidsonParams {
    /// Pairs wanted.
    pub wanted: usize,
    /// Largest residual.
    pub tolerance: f64,
    /// Residuals up to this fraction of the distance to the next pair also suffice; 0 uses the tolerance alone.
    pub angle: f64,
    /// Upper bound on the eigenvalues.
    pub norm_bound: f64,
    /// Maximum number of vectors to precondition.
    pub max_applications: usize,
    /// Whether the guesses are known to span about the wanted pairs rather than others that are as close: then the tolerance alone
    /// decides.
    pub told_apart: bool,
    pub widths: Widths,
}

/// How many vectors take part.
#[derive(Clone, Copy)]
pub(crate) struct Widths {
    pub block: usize,
    /// In the space before it restarts from the best vectors and as many of the previous step as fit.
    pub space: usize,
    /// In one call of the preconditioner.
    pub at_once: usize,
    /// In total: the dimension without the null vectors.
    pub room: usize,
}

impl Widths {
    /// For a search that begins with `n_start` vectors.
    pub fn new(n: usize, wanted: usize, room: usize, n_start: usize) -> Self {
        // One more pair shows where the wanted ones end, and two more help it converge soon.
        let block = (wanted + 3).next_multiple_of(LANES).min(room);
        let (blocks, at_once) = if n > LONG { (2, 2 * LANES) } else { (4, 4 * LANES) };
        Self { block, space: (blocks * block).max(n_start).min(room), at_once, room }
    }

    /// Vectors at the start besides those that are given: rough and random ones.
    pub fn n_start(n_given: usize) -> usize {
        n_given + 3 * LANES
    }
}

/// Peak memory in bytes, besides the operator.
pub(in super::super) fn bytes(n: usize, wanted: usize) -> u64 {
    // Guesses for as many vectors as are wanted, and one more, and groups.
    let Widths { block, space, at_once, .. } = Widths::new(n, wanted, n, Widths::n_start(2 * (wanted + 1)));
    // Residuals, some of them being computed; or residuals, corrections and the work space of multigrid.
    let beside = (block + 3 * block.min(residuals_at_once(n))).max(2 * block + 4 * at_once.min(block) + 2);
    8 * n as u64 * (space.next_multiple_of(LANES) + beside + wanted) as u64
}

/// Starting vectors besides random ones.
pub(super) struct Start {
    /// Any guesses.
    pub guesses: Vec<Block>,
    /// Vectors close to the wanted ones, or to the next.
    pub rough: Option<Block>,
}

/// The best pairs found, converged or not.
pub(super) struct DavidsonResult {
    /// The wanted vectors come first.
    pub vectors: Block,
    pub applications: usize,
    /// Whether all have converged and lie below every other pair.
    pub confirmed: bool,
    /// Lower bound on the distance to the next eigenvalue above them, once that is confirmed.
    pub gap: Option<f64>,
}

/// The smallest eigenpairs in the orthogonal complement of the null vectors.
pub(super) fn smallest<O: PreconditionedOperator>(
    operator: &O,
    null: Block,
    start: Start,
    params: &DavidsonParams,
    context: Context<'_>,
) -> Result<DavidsonResult> {
    let mut search = Search::new(operator, null, start, params, context)?;
    loop {
        (context.check)()?;
        let mut look = search.look()?;
        if search.verdict(&look.quality) == Some(true) && look.measured.len() < look.count {
            search.lengths.clear();
            look = search.look()?;
        }
        match search.verdict(&look.quality) {
            Some(confirmed) => return Ok(search.finish(look, confirmed)),
            None => search.widen(look)?,
        }
    }
}

/// The best pairs of the space at one step.
struct Look {
    /// The vectors in terms of the basis, and how many of them are considered.
    rotation: Mat<f64>,
    count: usize,
    /// The pairs whose residuals were computed, and these; of the others they were small before.
    measured: Vec<usize>,
    residuals: Block,
    quality: Quality,
}

/// A search in progress.
struct Search<'a, O> {
    operator: &'a O,
    params: &'a DavidsonParams,
    space: SearchSpace<'a, O>,
    pace: Pace,
    /// The lengths of the residuals when they were last computed; empty if all are to be computed.
    lengths: Vec<f64>,
}

impl<'a, O: PreconditionedOperator> Search<'a, O> {
    fn new(
        operator: &'a O,
        null: Block,
        start: Start,
        params: &'a DavidsonParams,
        context: Context<'_>,
    ) -> Result<Self> {
        let mut space = SearchSpace::new(operator, null, params.widths.space, context.stream);
        for guesses in start.guesses {
            space.widen(guesses)?;
        }
        let n_random = if start.rough.is_some() { LANES } else { params.widths.block };
        if let Some(rough) = start.rough {
            space.widen(rough)?;
        }
        let applications = space.widen_at_random(n_random)?;
        Ok(Self { operator, params, space, pace: Pace::new(applications), lengths: Vec::new() })
    }

    fn look(&mut self) -> Result<Look> {
        let DavidsonParams { wanted, tolerance, angle, norm_bound, .. } = *self.params;
        let (values, rotation) = self.space.ritz()?;
        let count = self.params.widths.block.min(self.space.filled());
        let judge = |lengths: &[f64]| {
            Quality::new(&values[..count], lengths.to_vec(), wanted, tolerance, angle, norm_bound)
        };
        // A pair that has converged stays where it is: on long vectors it is not measured again before the end.
        let is_known = self.lengths.len() == count && self.operator.len() > LONG;
        let measured: Vec<usize> = match is_known {
            true => {
                let before = judge(&self.lengths);
                (0..count).filter(|&rank| rank >= wanted || before.is_pending(rank)).collect()
            }
            false => (0..count).collect(),
        };
        let chosen = Mat::from_fn(rotation.nrows(), measured.len(), |i, j| rotation[(i, measured[j])]);
        let of_chosen: Vec<f64> = measured.iter().map(|&rank| values[rank]).collect();
        let residuals = self.space.residuals(chosen.as_ref(), &of_chosen);
        self.lengths.resize(count, 0.0);
        measured.iter().zip(residuals.lengths()).for_each(|(&rank, length)| self.lengths[rank] = length);
        let quality = judge(&self.lengths);
        self.pace.note(&quality);
        Ok(Look { rotation, count, measured, residuals, quality })
    }

    /// Whether the pairs are confirmed, if the search is over.
    fn verdict(&self, quality: &Quality) -> Option<bool> {
        self.pace.verdict(quality, self.space.filled(), self.params)
    }

    fn finish(self, look: Look, confirmed: bool) -> DavidsonResult {
        let next = look.quality.distance.filter(|_| confirmed);
        let gap = next.map(|distance| distance - look.quality.lengths[self.params.wanted]);
        drop(look.residuals);
        let vectors = self.space.combined(look.rotation.as_ref().subcols(0, look.count));
        DavidsonResult { vectors, applications: self.pace.applications, confirmed, gap }
    }

    /// Expands the space by the preconditioned residuals of pending pairs.
    fn widen(&mut self, look: Look) -> Result<()> {
        let Look { rotation, count, measured, residuals, quality } = look;
        // By their places among the measured ones.
        let named: Vec<usize> =
            quality.to_improve().iter().filter_map(|rank| measured.binary_search(rank).ok()).collect();
        let correction = (!named.is_empty()).then(|| self.operator.solve(residuals, &named));
        let leading = rotation.as_ref().subcols(0, count);
        self.space.make_room(named.len().max(LANES), leading, self.pace.step);
        self.pace.applications += named.len();
        let is_wider = correction.map_or(Ok(false), |correction| self.space.widen(correction))?;
        if !is_wider {
            // Everything has converged or yields nothing new, and it is not enough: continue with random vectors.
            self.space.widen(self.space.preconditioned_random(LANES, FRESH + self.pace.step))?;
            self.pace.applications += LANES;
        }
        self.pace.step += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::random::{Stage, Stream};

    /// A diagonal operator whose inverse is known up to a factor between 1 and 2.
    struct Diagonal(Vec<f64>);

    impl PreconditionedOperator for Diagonal {
        fn len(&self) -> usize {
            self.0.len()
        }

        fn image(&self, mut x: Block) -> Block {
            x.scale(&self.0, |value| value);
            x
        }

        fn solve(&self, r: Block, named: &[usize]) -> Block {
            let mut z = Block::zeros(self.len(), named.len());
            z.update(&r, |to, from| to.iter_mut().zip(named).for_each(|(to, &name)| *to = from[name]));
            z.scale(&self.0, |value| if value > 0.0 { (1.0 + value.fract()) / value } else { 0.0 });
            z
        }
    }

    const N: usize = 600;

    fn search(check: &(dyn Fn() -> Result<()> + Sync)) -> Result<DavidsonResult> {
        let mut values: Vec<f64> = (0..N).map(|i| 1.0 + i as f64 / 100.0).collect();
        // A null vector, and one triple eigenvalue.
        values[..4].copy_from_slice(&[0.0, 0.5, 0.5, 0.5]);
        let mut null = Block::zeros(N, 1);
        null.values[0] = 1.0;
        let (wanted, norm_bound) = (3, 7.0);
        let widths = Widths::new(N, wanted, N - 1, 0);
        let params = DavidsonParams {
            wanted,
            tolerance: 1e-9,
            angle: 0.0,
            norm_bound,
            max_applications: 5000,
            told_apart: false,
            widths,
        };
        let start = Start { guesses: Vec::new(), rough: None };
        let context = Context { stream: Stream::new(1, Stage::Eigen), check };
        smallest(&Diagonal(values), null, start, &params, context)
    }

    #[test]
    fn copies_are_found_and_null_vectors_are_not() {
        let found = search(&|| Ok(())).unwrap();
        assert!(found.confirmed && found.gap.is_some_and(|gap| gap > 0.4 && gap < 0.55), "{:?}", found.gap);
        let order: Vec<u32> = (0..N as u32).collect();
        for vector in found.vectors.by_node(3, &order).chunks_exact(N) {
            let inside: f64 = vector[1..4].iter().map(|v| v * v).sum();
            assert!((inside - 1.0).abs() < 1e-12, "{inside}");
        }
    }

    #[test]
    fn an_interrupt_ends_the_search() {
        assert!(matches!(search(&|| Err(Error::Canceled)), Err(Error::Canceled)));
    }
}
