//! Attempts at an eigenproblem: calls the methods of a plan with what each needs.

use std::cell::OnceCell;

use super::laplacian::{Flipped, Laplacian};
use super::pairs::EigenParams;
use super::parts::{Guesses, guesses};
use super::patience::Forecast;
use super::plan::Method;
use super::solvers::chebyshev::{self, ChebyshevParams};
use super::solvers::davidson;
use super::solvers::lanczos::{self, LanczosParams, LanczosResult, Patience, Unlimited};
use super::solvers::measure::Measured;
use super::solvers::multilevel::{self, Masses, MultilevelParams, Precision};
use super::solvers::shift_invert::{ShiftInvert, Shifted};
use super::solvers::single::NormalizedLaplacian;
use super::solvers::{Context, dense};
use crate::error::{Error, Result};
use crate::linear::Hierarchy;
use crate::progress::unstoppable;

/// Shift of the inverse, as a fraction of the norm: below the smallest gaps of interest (1e-6), above rounding.
const SHIFT: f64 = 1e-10;
/// Tolerance passed to the solvers, as a fraction of the user's, which the measured residuals must meet.
const OF_TOLERANCE: f64 = 0.25;
/// Lanczos steps between two convergence checks.
const STEPS: usize = 8;
/// The same for the inverse, which converges in few but expensive steps.
const INVERSE_STEPS: usize = 4;
/// Each operator has its own random vectors.
const SALT: u32 = 0;
const INVERSE_SALT: u32 = 1;

/// What a method returns: vectors, and whether it confirmed that none was missed.
pub(super) struct Candidate {
    pub vectors: Vec<f64>,
    pub confirmed: bool,
    /// Confirmed distance to the next eigenvalue.
    pub gap: Option<f64>,
}

impl From<LanczosResult> for Candidate {
    fn from(found: LanczosResult) -> Self {
        Self { vectors: found.vectors, confirmed: found.confirmed, gap: found.gap }
    }
}

/// What is known about the vectors before the search.
#[derive(Clone, Copy)]
pub(crate) struct Near<'a> {
    /// Groups of nodes on which they are about constant.
    pub groups: &'a [u32],
    /// A region of every node: nodes that are near each other have the same or nearby numbers.
    pub regions: &'a [u32],
}

/// An eigenproblem, and what each attempt passes on to the next.
pub(super) struct Attempts<'a> {
    pub laplacian: &'a Laplacian<'a>,
    /// Known null vectors, orthonormal.
    pub null: Vec<f64>,
    /// Pairs wanted besides them.
    pub wanted: usize,
    /// What is known about where the vectors vary.
    near: Option<Near<'a>>,
    pub params: &'a EigenParams,
    pub memory_limit: Option<u64>,
    pub context: Context<'a>,
    /// Applications of the Laplacian so far.
    pub applications: usize,
    /// Starting vectors that are better than random ones.
    guesses: OnceCell<Guesses>,
}

impl<'a> Attempts<'a> {
    pub fn new(
        laplacian: &'a Laplacian<'a>,
        null: Vec<f64>,
        wanted: usize,
        near: Option<Near<'a>>,
        params: &'a EigenParams,
        memory_limit: Option<u64>,
        context: Context<'a>,
    ) -> Self {
        let guesses = OnceCell::new();
        Self { laplacian, null, wanted, near, params, memory_limit, context, applications: 0, guesses }
    }

    /// The pairs that a method finds; `None` if it does not apply.
    pub fn make(&mut self, method: Method) -> Result<Option<Candidate>> {
        match method {
            Method::Dense => self.dense().map(Some),
            Method::Lanczos { max_applications, gives_way: true } => {
                self.first_lanczos(max_applications).map(Some)
            }
            Method::Lanczos { max_applications, gives_way: false } => {
                self.last_lanczos(max_applications).map(Some)
            }
            Method::ShiftInvert { max_applications, max_bytes } => {
                self.shift_invert(max_applications, max_bytes)
            }
            // Single precision is of no use for eigenvalues far below the shift of its inverse.
            Method::Chebyshev | Method::Multigrid { precision: Precision::Single, .. }
                if self
                    .guesses()?
                    .last
                    .is_some_and(|last| last < multilevel::SHIFT * self.laplacian.norm_bound()) =>
            {
                Ok(None)
            }
            Method::Chebyshev => self.chebyshev(),
            Method::Multigrid { may_break_down, precision } => match self.multigrid(precision) {
                Err(Error::Numerical { .. }) if may_break_down => Ok(None),
                found => found.map(Some),
            },
        }
    }

    /// Largest residual of a converged pair.
    pub fn tolerance(&self) -> f64 {
        self.params.tolerance * self.laplacian.norm_bound()
    }

    /// The same, given the confirmed distance of the pairs from the next one.
    pub fn tolerance_with_gap(&self, gap: Option<f64>) -> f64 {
        self.tolerance().max(self.params.angle * gap.unwrap_or(0.0))
    }

    fn remaining_applications(&self) -> usize {
        self.params.max_applications.saturating_sub(self.applications)
    }

    fn guesses(&self) -> Result<&Guesses> {
        match self.guesses.get() {
            Some(guesses) => Ok(guesses),
            None => {
                let found = guesses(self.laplacian, self.wanted, self.context)?;
                Ok(self.guesses.get_or_init(|| found))
            }
        }
    }

    fn dense(&mut self) -> Result<Candidate> {
        let bytes = dense::bytes(self.laplacian.degrees().len());
        if let Some(available) = self.memory_limit.filter(|&limit| bytes > limit) {
            let advice = "use a sparse eigensolver".to_string();
            return Err(Error::Memory { stage: "eigenpairs", needed: bytes, available, advice });
        }
        let vectors = dense::smallest(self.laplacian, &self.null, self.wanted)?;
        Ok(Candidate { vectors, confirmed: true, gap: None })
    }

    /// Lanczos that stops early in favor of another method.
    fn first_lanczos(&mut self, max_applications: usize) -> Result<Candidate> {
        let mut forecast = Forecast::new(self.params.tolerance, max_applications);
        let found = self.lanczos(self.params.angle, max_applications, &mut forecast)?;
        Ok(found.into())
    }

    fn last_lanczos(&mut self, max_applications: usize) -> Result<Candidate> {
        let angle = self.params.angle;
        let mut found = self.lanczos(angle, max_applications, &mut Unlimited)?;
        if angle > 0.0 && found.confirmed {
            let worst = Measured::of(self.laplacian, &found.vectors).worst();
            if worst > self.tolerance_with_gap(found.gap) {
                // The next pair turned out closer than it seemed: continue from here, to the tolerance.
                let vectors = std::mem::take(&mut found.vectors);
                self.guesses = OnceCell::from(Guesses { vectors, ..Guesses::default() });
                found = self.lanczos(0.0, max_applications, &mut Unlimited)?;
            }
        }
        Ok(found.into())
    }

    fn lanczos(
        &mut self,
        angle: f64,
        max_applications: usize,
        patience: &mut dyn Patience,
    ) -> Result<LanczosResult> {
        let params = LanczosParams {
            wanted: self.wanted,
            tolerance: OF_TOLERANCE * self.params.tolerance,
            angle,
            steps: STEPS,
            max_applications,
            guesses: &self.guesses()?.vectors,
            salt: SALT,
        };
        let found = lanczos::largest(&Flipped(self.laplacian), &self.null, &params, patience, self.context)?;
        self.applications += found.applications;
        Ok(found)
    }

    fn shift_invert(&mut self, max_applications: usize, max_bytes: Option<u64>) -> Result<Option<Candidate>> {
        let Some(inverse) = self.inverse(max_bytes)? else { return Ok(None) };
        let params = LanczosParams {
            wanted: self.wanted,
            tolerance: OF_TOLERANCE * self.params.tolerance,
            angle: 0.0,
            steps: INVERSE_STEPS,
            max_applications: self.remaining_applications().min(max_applications),
            // It converges from any start, sooner than it could absorb a block of guesses.
            guesses: &[],
            salt: INVERSE_SALT,
        };
        let found = lanczos::largest(&inverse, &self.null, &params, &mut Unlimited, self.context)?;
        self.applications += found.applications;
        // The distance that it reports is between inverse eigenvalues.
        Ok(Some(Candidate { gap: None, ..found.into() }))
    }

    /// The factorized inverse; `None` if it is too large or fails.
    fn inverse(&self, max_bytes: Option<u64>) -> Result<Option<ShiftInvert>> {
        let shifted = Shifted::new(self.laplacian, SHIFT * self.laplacian.norm_bound());
        let fits = |shifted: &Shifted| max_bytes.is_none_or(|most| shifted.bytes() <= most);
        let Some(shifted) = shifted.filter(fits) else { return Ok(None) };
        unstoppable(self.context.check, move || shifted.factorize())
    }

    /// `None` if it gives way.
    fn chebyshev(&mut self) -> Result<Option<Candidate>> {
        if self.laplacian.masses() != Masses::Degrees {
            return Ok(None);
        }
        let regions = self.near.map(|near| near.regions);
        let operator = NormalizedLaplacian::new(self.laplacian.graph(), self.laplacian.degrees(), regions);
        let params = ChebyshevParams {
            wanted: self.wanted,
            angle: self.params.angle,
            groups: self.near.map(|near| near.groups),
            max_applications: self.remaining_applications(),
        };
        let (found, applications) = chebyshev::smallest(&operator, &self.null, &params, self.context)?;
        self.applications += applications;
        let candidate = |found: chebyshev::ChebyshevResult| Candidate {
            vectors: found.vectors,
            confirmed: true,
            gap: Some(found.gap),
        };
        Ok(found.map(candidate))
    }

    fn multigrid(&mut self, precision: Precision) -> Result<Candidate> {
        let graph = self.laplacian.graph();
        let hierarchy = if graph.n_nodes() > davidson::LONG {
            Hierarchy::of_laplacian(graph)
        } else {
            Hierarchy::new(graph)
        };
        let guesses = self.guesses()?;
        // Guesses from many parts are better than groups.
        let groups = self
            .near
            .map(|near| near.groups)
            .filter(|groups| groups.len() > davidson::LONG && guesses.last.is_none());
        let params = MultilevelParams {
            wanted: self.wanted,
            tolerance: OF_TOLERANCE * self.tolerance(),
            angle: self.params.angle,
            norm_bound: self.laplacian.norm_bound(),
            max_applications: self.remaining_applications(),
            guesses: &guesses.vectors,
            told_apart: guesses.told_apart,
            groups,
            precision,
        };
        let masses = self.laplacian.masses();
        let found = multilevel::smallest(&hierarchy, masses, &self.null, &params, self.context)?;
        self.applications += found.applications;
        Ok(Candidate { vectors: found.vectors, confirmed: found.confirmed, gap: found.gap })
    }
}
