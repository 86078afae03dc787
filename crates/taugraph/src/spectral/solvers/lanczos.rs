//! The largest eigenpairs of a symmetric operator: thick-restart band Lanczos with full reorthogonalization.
//!
//! Wu and Simon, "Thick-restart Lanczos method for large symmetric eigenvalue problems" (2000), with a queue of
//! vectors instead of one; see [`Basis`].
//!
//! Any starting vectors will do. Good guesses (for nearly separate parts of a graph) converge at once, whereas a single
//! random vector would see only one direction of their nearly equal eigenvalues. Even so, once all wanted pairs have
//! converged the search continues from a fresh random vector, until the best pair that it finds is known to be no better.

use super::basis::{Basis, RandomVectors};
use super::ritz::RitzPairs;
use super::{Context, SymmetricOperator};
use crate::error::Result;

/// Steps after which a first estimate of the speed of convergence is meaningful.
const EARLY: usize = 24;
/// Very long vectors are expensive: fewer of them are kept.
const LONG: usize = 200_000;

/// Parameters of the iteration.
pub(in super::super) struct LanczosParams<'a> {
    /// Pairs wanted.
    pub wanted: usize,
    /// A pair has converged when its residual is below this fraction of its eigenvalue.
    pub tolerance: f64,
    /// If the next pair lies far below the wanted ones, residuals up to this fraction of the distance suffice: it
    /// bounds the angle between the computed and the true space (Davis and Kahan 1970). 0 uses the tolerance alone.
    pub angle: f64,
    /// Steps between two convergence checks.
    pub steps: usize,
    /// Maximum number of applications of the operator.
    pub max_applications: usize,
    /// Starting vectors, column-major, as good as available; a random one is always added.
    pub guesses: &'a [f64],
    /// Which random vectors to use.
    pub salt: u32,
}

/// Decides whether the iteration is worth continuing.
pub(in super::super) trait Patience {
    /// Called once early on, with the worst residual.
    fn is_doubtful(&self, worst: f64) -> bool;

    /// Called at every restart, with the worst residual and the number of applications so far.
    fn gives_up(&mut self, worst: f64, applications: usize) -> bool;
}

/// Continues until the applications run out.
pub(in super::super) struct Unlimited;

impl Patience for Unlimited {
    fn is_doubtful(&self, _: f64) -> bool {
        false
    }

    fn gives_up(&mut self, _: f64, _: usize) -> bool {
        false
    }
}

/// The best pairs found, converged or not: the caller measures the residuals itself.
pub(in super::super) struct LanczosResult {
    /// Ritz vectors of the wanted ones, column-major.
    pub vectors: Vec<f64>,
    pub applications: usize,
    /// Whether the search confirmed that no larger pair was missed.
    pub confirmed: bool,
    /// Lower bound on the distance from the wanted pairs down to the next, once that is confirmed.
    pub gap: Option<f64>,
}

/// Peak memory in bytes of the search for `wanted` pairs, including guesses and the pairs themselves.
pub(in super::super) fn bytes(n: usize, wanted: usize) -> u64 {
    let (_, columns) = basis_columns(n, wanted, wanted + 2, n);
    // Guesses, and the work space for measuring the pairs.
    8 * n as u64 * (columns + wanted + 2 + 4) as u64
}

/// Maximum number of processed vectors, and room for waiting ones.
fn basis_columns(n: usize, wanted: usize, n_starts: usize, room: usize) -> (usize, usize) {
    let depth = if n > LONG { 2 } else { 5 };
    let size = (2 * wanted + 20).max(40).max(wanted + depth * n_starts).min(room);
    (size, (size + n_starts).min(room) + 1)
}

/// The `wanted` largest eigenpairs in the orthogonal complement of the orthonormal columns of `deflated`.
pub(in super::super) fn largest(
    operator: &dyn SymmetricOperator,
    deflated: &[f64],
    params: &LanczosParams<'_>,
    patience: &mut dyn Patience,
    context: Context<'_>,
) -> Result<LanczosResult> {
    let mut search = Search::new(operator, deflated, params, context)?;
    loop {
        search.advance()?;
        let ritz = RitzPairs::of(&search.basis)?;
        match search.decide(&ritz, patience) {
            Decision::Stop { confirmed } => return Ok(search.finish(&ritz, confirmed)),
            Decision::Confirm => search.look_elsewhere(&ritz)?,
            Decision::Restart => search.restart(&ritz),
            Decision::GoOn => {}
        }
    }
}

/// What to do after checking the pairs.
enum Decision {
    /// The pairs are good enough, or never will be.
    Stop {
        confirmed: bool,
    },
    /// All pairs have converged: see whether one was missed.
    Confirm,
    /// The basis is full.
    Restart,
    GoOn,
}

/// A search in progress.
struct Search<'a> {
    operator: &'a dyn SymmetricOperator,
    params: &'a LanczosParams<'a>,
    context: Context<'a>,
    basis: Basis<'a>,
    wanted: usize,
    /// Maximum number of processed vectors.
    size: usize,
    applications: usize,
    /// The sum of the wanted values when all had converged, while a fresh starting vector tries to do better.
    accepted: Option<f64>,
}

impl<'a> Search<'a> {
    fn new(
        operator: &'a dyn SymmetricOperator,
        deflated: &'a [f64],
        params: &'a LanczosParams<'a>,
        context: Context<'a>,
    ) -> Result<Self> {
        let n = operator.len();
        let room = n - deflated.len() / n;
        let wanted = params.wanted.min(room);
        let n_starts = (params.guesses.len() / n + 1).min(room);
        let (size, capacity) = basis_columns(n, wanted, n_starts, room);
        let random = RandomVectors::new(context.stream, params.salt);
        let mut basis = Basis::new(n, capacity, deflated, 0.1 * params.tolerance, random);
        for guess in params.guesses.chunks_exact(n).take(n_starts - 1) {
            basis.append(Some(guess))?;
        }
        basis.append(None)?;
        Ok(Self { operator, params, context, basis, wanted, size, applications: 0, accepted: None })
    }

    /// Applies the operator until the next check of the pairs.
    fn advance(&mut self) -> Result<()> {
        let goal = (self.basis.processed + self.params.steps).max(self.wanted + 2).min(self.size);
        while self.basis.processed < goal && self.basis.waiting > 0 {
            (self.context.check)()?;
            self.basis.step(self.operator)?;
            self.applications += 1;
        }
        Ok(())
    }

    fn decide(&mut self, ritz: &RitzPairs, patience: &mut dyn Patience) -> Decision {
        let (wanted, tolerance) = (self.wanted, self.params.tolerance);
        let worst = ritz.worst(wanted);
        // The distance to the next pair shrinks while that pair still converges: require a tenth of the angle.
        let has_converged = worst <= tolerance.max(0.1 * self.params.angle * ritz.distance(wanted));
        self.doubt_accepted(ritz);
        let is_confirmed = self.accepted.is_some() && ritz.next_is_below(wanted, tolerance);
        let is_complete = self.basis.waiting == 0;
        let confirmed = has_converged && (is_confirmed || is_complete);
        if confirmed
            || self.is_given_up(ritz, worst, patience)
            || self.applications >= self.params.max_applications
        {
            Decision::Stop { confirmed }
        } else if has_converged && self.accepted.is_none() {
            Decision::Confirm
        } else if ritz.len() == self.size {
            Decision::Restart
        } else {
            Decision::GoOn
        }
    }

    /// If the values rise, a pair had been missed: the search continues with it.
    fn doubt_accepted(&mut self, ritz: &RitzPairs) {
        let sum = self.sum_of_wanted(ritz);
        if self.accepted.is_some_and(|before| sum - before > self.params.tolerance * before.abs()) {
            self.accepted = None;
        }
    }

    fn sum_of_wanted(&self, ritz: &RitzPairs) -> f64 {
        ritz.values[..self.wanted].iter().sum()
    }

    fn is_given_up(&self, ritz: &RitzPairs, worst: f64, patience: &mut dyn Patience) -> bool {
        let wanted = self.wanted;
        // What the search is waiting for: the wanted pairs, or the next one.
        let pending = match self.accepted {
            Some(_) if ritz.len() > wanted => ritz.residuals[wanted] / ritz.values[wanted].abs(),
            _ => worst,
        };
        // This does not apply to pairs that have converged and are only being confirmed.
        let is_early =
            self.accepted.is_none() && (EARLY..EARLY + self.params.steps).contains(&self.applications);
        let is_full = ritz.len() == self.size;
        (is_early && patience.is_doubtful(pending))
            || (is_full && patience.gives_up(pending, self.applications))
    }

    /// All residuals are negligible: drops the waiting vectors and searches for what the starting vectors could not see.
    fn look_elsewhere(&mut self, ritz: &RitzPairs) -> Result<()> {
        self.basis.compress(ritz.leading(self.wanted), &ritz.values);
        self.basis.drop_waiting(&ritz.values);
        self.accepted = Some(self.sum_of_wanted(ritz));
        self.basis.append(None)
    }

    /// Keeps the wanted vectors and some of the following ones.
    fn restart(&mut self, ritz: &RitzPairs) {
        let kept = (self.wanted + (self.size - self.wanted) / 2).min(self.size - 1);
        self.basis.compress(ritz.leading(kept), &ritz.values);
    }

    fn finish(mut self, ritz: &RitzPairs, confirmed: bool) -> LanczosResult {
        let wanted = self.wanted;
        self.basis.compress(ritz.leading(wanted), &ritz.values);
        let gap = (confirmed && ritz.len() > wanted)
            .then(|| ritz.values[wanted - 1] - ritz.values[wanted] - ritz.residuals[wanted]);
        LanczosResult {
            vectors: self.basis.into_processed(),
            applications: self.applications,
            confirmed,
            gap,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::random::{Stage, Stream};

    /// A diagonal operator.
    struct Diagonal(Vec<f64>);

    impl SymmetricOperator for Diagonal {
        fn len(&self) -> usize {
            self.0.len()
        }

        fn norm_bound(&self) -> f64 {
            self.0.iter().fold(0.0, |most, value| most.max(value.abs()))
        }

        fn apply(&self, x: &[f64], y: &mut [f64]) {
            y.iter_mut().zip(x).zip(&self.0).for_each(|((y, x), value)| *y = value * x);
        }
    }

    const PARAMS: LanczosParams<'_> = LanczosParams {
        wanted: 4,
        tolerance: 1e-10,
        angle: 0.0,
        steps: 8,
        max_applications: 2000,
        guesses: &[],
        salt: 0,
    };

    fn context(check: &(dyn Fn() -> Result<()> + Sync)) -> Context<'_> {
        Context { stream: Stream::new(1, Stage::Eigen), check }
    }

    /// One eigenvalue is triple, and the largest is deflated.
    #[test]
    fn copies_are_found_and_what_is_deflated_is_not() {
        let mut values: Vec<f64> = (0..300).map(|i| f64::from(i) / 300.0).collect();
        values[..5].copy_from_slice(&[5.0, 2.0, 2.0, 2.0, 1.5]);
        let operator = Diagonal(values);
        let mut deflated = vec![0.0; 300];
        deflated[0] = 1.0;
        let found = largest(&operator, &deflated, &PARAMS, &mut Unlimited, context(&|| Ok(()))).unwrap();
        assert!(found.confirmed && found.gap.is_some_and(|gap| gap > 0.45 && gap < 0.51), "{:?}", found.gap);
        for (rank, vector) in found.vectors.chunks_exact(300).enumerate() {
            let inside: f64 =
                if rank < 3 { vector[1..4].iter().map(|v| v * v).sum() } else { vector[4] * vector[4] };
            assert!((inside - 1.0).abs() < 1e-12, "{rank}: {inside}");
        }
    }

    #[test]
    fn an_interrupt_ends_the_search() {
        let operator = Diagonal((0..100).map(f64::from).collect());
        let found = largest(&operator, &[], &PARAMS, &mut Unlimited, context(&|| Err(Error::Canceled)));
        assert!(matches!(found, Err(Error::Canceled)));
    }
}
