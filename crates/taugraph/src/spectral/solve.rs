//! The smallest eigenpairs of a Laplacian: makes a plan and carries it out.
//!
//! Components first: the null space is known exactly and deflated, never found by an eigenvalue threshold. For the other pairs
//! the attempts of the [`Plan`] are made in turn. Whatever a method reports, the residual |L·u − λ·u| of every pair is measured again.
//! Pairs above the tolerance are never returned as converged; if some are left after the last attempt, that is an error.

use super::attempts::{Attempts, Candidate, Near};
use super::laplacian::Laplacian;
use super::pairs::{EigenInfo, EigenParams, EigenSolver, Eigenpairs};
use super::plan::{Plan, Problem};
use super::shape::shape;
use super::solvers::Context;
use super::solvers::measure::Measured;
use super::solvers::multilevel::Masses;
use crate::error::{Error, Result, require};
use crate::parameter::ParameterTree;
use crate::progress::Run;
use crate::random::{Stage, Stream};

/// The `n_pairs` smallest eigenpairs, all with residuals within the tolerance, or an error.
///
/// If the graph has more components than requested pairs, the null vectors of the first components are returned.
pub fn smallest_eigenpairs(
    laplacian: &Laplacian<'_>,
    n_pairs: usize,
    params: &EigenParams,
    run: &Run<'_>,
) -> Result<Eigenpairs> {
    smallest_eigenpairs_near(laplacian, n_pairs, None, params, run)
}

/// The same, given what is known of the vectors: on very many nodes the search starts from that.
pub(super) fn smallest_eigenpairs_near(
    laplacian: &Laplacian<'_>,
    n_pairs: usize,
    near: Option<Near<'_>>,
    params: &EigenParams,
    run: &Run<'_>,
) -> Result<Eigenpairs> {
    // Enter the thread pool once, not for each of the many short parallel loops.
    rayon::scope(|_| find_smallest(laplacian, n_pairs, near, params, run))
}

fn find_smallest(
    laplacian: &Laplacian<'_>,
    n_pairs: usize,
    near: Option<Near<'_>>,
    params: &EigenParams,
    run: &Run<'_>,
) -> Result<Eigenpairs> {
    params.check_ranges("eigen")?;
    let n = laplacian.degrees().len();
    require(
        n_pairs >= 1 && n_pairs <= n,
        "eigenpairs",
        n_pairs,
        "must be at least 1 and at most the number of nodes",
    )?;
    run.stage("eigenpairs", None)?;
    let components = laplacian.graph().components();
    let n_null = components.len().min(n_pairs);
    let null = laplacian.part_vectors(components, 0..n_null);
    let check = || run.check();
    let context = Context { stream: Stream::new(run.seed, Stage::Eigen), check: &check };
    let wanted = n_pairs - n_null;
    let mut attempts = Attempts::new(laplacian, null, wanted, near, params, run.memory_limit, context);
    let found = match wanted {
        0 => Found::default(),
        _ => carry_out(&plan(laplacian, n_null, wanted, params, run.memory_limit), &mut attempts)?,
    };
    let Measured { mut values, mut residuals } = Measured::of(laplacian, &attempts.null);
    values.extend(found.measured.values);
    residuals.extend(found.measured.residuals);
    let info = EigenInfo {
        solver: found.solver,
        applications: attempts.applications,
        n_components: components.len(),
        confirmed: found.confirmed,
    };
    let mut vectors = attempts.null;
    vectors.extend(found.vectors);
    Ok(Eigenpairs { values, vectors, residuals, info })
}

fn plan(
    laplacian: &Laplacian<'_>,
    n_null: usize,
    wanted: usize,
    params: &EigenParams,
    memory_limit: Option<u64>,
) -> Plan {
    let graph = laplacian.graph();
    let problem = Problem {
        n_nodes: graph.n_nodes(),
        n_edges: graph.n_edges(),
        n_null,
        wanted,
        choice: params.solver,
        is_for_space: params.angle > 0.0,
        is_normalized: laplacian.masses() == Masses::Degrees,
        max_applications: params.max_applications,
        memory_limit,
    };
    Plan::new(&problem, || shape(graph, |work, length| problem.is_compact(work, length)))
}

/// Makes the attempts in order until one finds all pairs and confirms that none was missed.
fn carry_out(plan: &Plan, attempts: &mut Attempts<'_>) -> Result<Found> {
    let mut outcome = Outcome::default();
    for attempt in &plan.attempts {
        if attempt.is_fallback && outcome.unconfirmed.is_some() {
            break;
        }
        let Some(candidate) = attempts.make(attempt.method)? else { continue };
        if let Some(found) = outcome.judge(candidate, attempt.method.solver(), attempts) {
            return Ok(found);
        }
    }
    outcome.conclude(attempts)
}

/// Pairs within the tolerance.
struct Found {
    solver: Option<EigenSolver>,
    confirmed: bool,
    vectors: Vec<f64>,
    measured: Measured,
}

/// No pairs, if none are wanted.
impl Default for Found {
    fn default() -> Self {
        Self { solver: None, confirmed: true, vectors: Vec::new(), measured: Measured::default() }
    }
}

/// The outcome of the attempts so far.
#[derive(Default)]
struct Outcome {
    /// All residuals are small enough, but a pair may have been missed: the next attempt decides.
    unconfirmed: Option<Found>,
    /// The largest number of pairs that have converged, and the worst residual of that attempt.
    best: Option<(usize, f64)>,
}

impl Outcome {
    /// Measures a candidate, and returns it if it is final.
    fn judge(&mut self, candidate: Candidate, solver: EigenSolver, attempts: &Attempts<'_>) -> Option<Found> {
        let Candidate { vectors, confirmed, gap } = candidate;
        let measured = Measured::of(attempts.laplacian, &vectors);
        let worst = measured.worst();
        let tolerance = attempts.tolerance_with_gap(gap);
        let converged = measured.residuals.iter().filter(|&&residual| residual <= tolerance).count();
        if self.best.is_none_or(|(count, _)| converged > count) {
            self.best = Some((converged, worst));
        }
        if converged < attempts.wanted {
            return None;
        }
        let found = Found { solver: Some(solver), confirmed, vectors, measured };
        if confirmed {
            return Some(found);
        }
        self.unconfirmed = Some(found);
        None
    }

    /// The result after the last attempt.
    fn conclude(self, attempts: &Attempts<'_>) -> Result<Found> {
        if let Some(found) = self.unconfirmed {
            return Ok(found);
        }
        let (converged, residual) = self.best.unwrap_or((0, f64::INFINITY));
        let (wanted, tolerance) = (attempts.wanted, attempts.tolerance());
        Err(Error::EigenNotConverged { converged, wanted, residual, tolerance })
    }
}
