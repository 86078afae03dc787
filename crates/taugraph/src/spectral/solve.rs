//! The solver policy: which method finds the smallest eigenpairs of a Laplacian, and whether it did.
//!
//! 1. Components first: the null space is known exactly and deflated, never found by an eigenvalue threshold.
//! 2. Small problems: all pairs of the dense matrix.
//! 3. Narrow graphs, whose gaps are small and whose factors are too: Lanczos on the shift-inverted operator.
//! 4. Graphs so long that Lanczos would have to step from end to end many times: block Davidson, preconditioned by multigrid.
//! 5. All others: thick-restart Lanczos, given up early where its convergence shows that the gap is too small; then Davidson.
//! 6. Where these fail: Lanczos once more, with patience; up to 3000 nodes the dense matrix.
//!
//! Whatever the method says, every pair is measured again: residual |L·u − λ·u|. Pairs above the tolerance are
//! never returned as converged; after the last method they are an error.

use std::cell::{OnceCell, RefCell};

use faer::{Accum, Mat};

use super::davidson::{self, DavidsonParams};
use super::lanczos::{LanczosParams, LanczosResult, largest};
use super::laplacian::{Flipped, Laplacian, SymmetricOperator};
use super::pairs::{EigenInfo, EigenParams, EigenSolver, Eigenpairs, SolverChoice};
use super::parts::guesses;
use super::shape::{Shape, shape};
use super::shift_invert::Plan;
use crate::dense::{columns_of, dot, multiply, norm, symmetric_eigen};
use crate::error::{Error, Result, require};
use crate::graph::Components;
use crate::linear::Hierarchy;
use crate::parameter::ParameterTree;
use crate::progress::Run;

/// Up to this many nodes the dense eigenproblem is solved at once; the border is a choice, not a measurement.
const DENSE_NODES: usize = 300;
/// Shift of the inverse, as a share of the norm: below the smallest gaps of interest (1e-6), above rounding.
const SHIFT: f64 = 1e-10;
/// Up to this many nodes a dense eigenproblem is the last resort.
const LAST_RESORT_NODES: usize = 3000;

/// A graph is narrow if factorizing it along its length takes at most this many multiplications for each edge: about the
/// time of a hundred applications of the Laplacian, more than which plain Lanczos takes on such graphs.
const NARROW_WORK: f64 = 5000.0;
/// A graph is long from this many steps from end to end: every application takes Lanczos one step further, and it has to go there
/// and back more than once, while multigrid takes about the time of two hundred applications.
const LONG: usize = 100;
/// Applications within which Lanczos must promise to converge.
const MAX_LANCZOS: usize = 250;
/// The same where nothing else is left.
const MAX_LAST_LANCZOS: usize = 5000;
/// Worst residual after the first steps of Lanczos from which on it looks doubtful.
const DOUBTFUL: f64 = 2e-2;

/// The `n_pairs` smallest eigenpairs, all with residuals within the tolerance, or an error.
///
/// If the graph has more components than pairs are asked for, the null vectors of the first components are given.
pub fn smallest_eigenpairs(
    laplacian: &Laplacian<'_>,
    n_pairs: usize,
    params: &EigenParams,
    run: &Run<'_>,
) -> Result<Eigenpairs> {
    // Inside the thread pool once, and not anew for each of the many short parallel loops.
    rayon::scope(|_| find_smallest(laplacian, n_pairs, params, run))
}

fn find_smallest(
    laplacian: &Laplacian<'_>,
    n_pairs: usize,
    params: &EigenParams,
    run: &Run<'_>,
) -> Result<Eigenpairs> {
    params.check_ranges("eigen")?;
    let n = laplacian.degrees().len();
    require(n_pairs >= 1 && n_pairs <= n, "eigenpairs", n_pairs, "must be at least 1 and at most the nodes")?;
    run.stage("eigenpairs", None)?;
    let components = Components::of_graph(laplacian.graph());
    let n_null = components.len().min(n_pairs);
    let null = laplacian.part_vectors(&components, 0..n_null);
    let mut search = Search {
        laplacian,
        null,
        wanted: n_pairs - n_null,
        params,
        run,
        applications: 0,
        guesses: OnceCell::new(),
    };
    let found = match search.wanted {
        0 => Found { solver: None, confirmed: true, vectors: Vec::new(), measured: Measured::default() },
        _ => search.run_methods()?,
    };
    let Measured { mut values, mut residuals } = measure(laplacian, &search.null);
    values.extend(found.measured.values);
    residuals.extend(found.measured.residuals);
    let mut vectors = search.null;
    vectors.extend(found.vectors);
    let info = EigenInfo {
        solver: found.solver,
        applications: search.applications,
        n_components: components.len(),
        confirmed: found.confirmed,
    };
    Ok(Eigenpairs { values, vectors, residuals, info })
}

struct Found {
    solver: Option<EigenSolver>,
    confirmed: bool,
    vectors: Vec<f64>,
    measured: Measured,
}

struct Search<'a> {
    laplacian: &'a Laplacian<'a>,
    /// Known null vectors, orthonormal.
    null: Vec<f64>,
    /// Pairs wanted beside them.
    wanted: usize,
    /// Start vectors that are better than random ones.
    guesses: OnceCell<Vec<f64>>,
    params: &'a EigenParams,
    run: &'a Run<'a>,
    applications: usize,
}

impl Search<'_> {
    fn run_methods(&mut self) -> Result<Found> {
        let n = self.laplacian.degrees().len();
        let small = n <= DENSE_NODES || 3 * (self.wanted + self.null.len() / n) >= n;
        let mut gives_way = false;
        let methods: &[EigenSolver] = match self.params.solver {
            SolverChoice::Only(EigenSolver::Dense) => &[EigenSolver::Dense],
            SolverChoice::Only(EigenSolver::Lanczos) => &[EigenSolver::Lanczos],
            SolverChoice::Only(EigenSolver::ShiftInvert) => &[EigenSolver::ShiftInvert],
            SolverChoice::Only(EigenSolver::Multigrid) => &[EigenSolver::Multigrid],
            SolverChoice::Automatic if small => &[EigenSolver::Dense],
            SolverChoice::Automatic if !self.fits(self.granted()) => &[EigenSolver::Lanczos],
            SolverChoice::Automatic => {
                let Shape { band_work, length } = shape(self.laplacian.graph());
                if band_work <= NARROW_WORK * self.laplacian.graph().n_edges() as f64 {
                    &[EigenSolver::ShiftInvert, EigenSolver::Multigrid, EigenSolver::Lanczos]
                } else if length >= LONG {
                    &[EigenSolver::Multigrid, EigenSolver::Lanczos]
                } else {
                    gives_way = true;
                    &[EigenSolver::Lanczos, EigenSolver::Multigrid, EigenSolver::Lanczos]
                }
            }
        };
        let mut best: Option<(usize, f64)> = None;
        let mut unconfirmed = None;
        // On spectra that crowd at 0 all of them may stall: up to this size the whole spectrum is then worth its price.
        let is_automatic = self.params.solver == SolverChoice::Automatic;
        let last_resort = (is_automatic && !small && n <= LAST_RESORT_NODES).then_some(EigenSolver::Dense);
        for (attempt, &method) in methods.iter().chain(&last_resort).enumerate() {
            // What comes last is for want of any pairs.
            let is_last = method == EigenSolver::Dense
                || (is_automatic && attempt > 0 && method == EigenSolver::Lanczos);
            if is_last && unconfirmed.is_some() {
                break;
            }
            let found = match method {
                EigenSolver::Dense => Some(self.dense()?),
                EigenSolver::Lanczos => Some(self.lanczos(gives_way && attempt == 0)?),
                EigenSolver::ShiftInvert => self.shift_invert()?,
                EigenSolver::Multigrid => match self.multigrid() {
                    // Weights too far apart for its sums: the others may do.
                    Err(Error::Numerical { .. }) if is_automatic => None,
                    found => Some(found?),
                },
            };
            let Some(candidate) = found else { continue };
            let measured = measure(self.laplacian, &candidate.vectors);
            let worst = measured.worst();
            let tolerance = self.tolerance().max(self.params.angle * candidate.gap.unwrap_or(0.0));
            let converged = measured.residuals.iter().filter(|&&residual| residual <= tolerance).count();
            if converged == self.wanted {
                let found = Found {
                    solver: Some(method),
                    confirmed: candidate.confirmed,
                    vectors: candidate.vectors,
                    measured,
                };
                if found.confirmed {
                    return Ok(found);
                }
                // All residuals are fine, but a pair may have been missed: the next method decides.
                unconfirmed = Some(found);
            }
            if best.is_none_or(|(count, _)| converged > count) {
                best = Some((converged, worst));
            }
        }
        if let Some(found) = unconfirmed {
            return Ok(found);
        }
        let (converged, residual) = best.unwrap_or((0, f64::INFINITY));
        Err(Error::EigenNotConverged {
            converged,
            wanted: self.wanted,
            residual,
            tolerance: self.tolerance(),
        })
    }

    fn tolerance(&self) -> f64 {
        self.params.tolerance * self.laplacian.norm_bound()
    }

    /// Runs Lanczos; the residual of the operator is asked to be well below that of the pair.
    fn largest_of(
        &self,
        operator: &dyn SymmetricOperator,
        what: Spectrum,
        angle: f64,
        max_applications: usize,
        is_doubtful: &dyn Fn(f64) -> bool,
        give_up: &dyn Fn(f64, usize) -> bool,
    ) -> Result<LanczosResult> {
        let params = LanczosParams {
            wanted: self.wanted,
            tolerance: 0.25 * self.params.tolerance,
            angle,
            // The inverse converges in few steps, each of which is dear.
            steps: if what == Spectrum::Inverse { 4 } else { 8 },
            max_applications,
            is_doubtful,
            give_up,
            // It does so from anything, sooner than it could take in a block of guesses.
            guesses: match what {
                Spectrum::Inverse => &[],
                _ => self.guesses.get_or_init(|| guesses(self.laplacian, self.wanted + 1)),
            },
            salt: what as u32,
        };
        largest(operator, &self.null, &params, self.run)
    }

    fn dense(&mut self) -> Result<Candidate> {
        let n = self.laplacian.degrees().len();
        let bytes = 8 * 4 * (n as u64) * (n as u64);
        if let Some(available) = self.run.memory_limit.filter(|&limit| bytes > limit) {
            let advice = "use a sparse eigensolver".to_string();
            return Err(Error::Memory { stage: "eigenpairs", needed: bytes, available, advice });
        }
        let mut matrix = Mat::<f64>::zeros(n, n);
        for i in 0..n {
            matrix[(i, i)] = self.laplacian.diagonal(i);
            for (j, value) in self.laplacian.off_diagonal(i) {
                matrix[(i, j as usize)] = value;
            }
        }
        // Lift the null vectors out of the way.
        let null = columns_of(&self.null, n);
        multiply(matrix.as_mut(), Accum::Add, null, null.transpose(), 2.0 * self.laplacian.norm_bound());
        let (_, vectors) = symmetric_eigen(matrix.as_ref())?;
        let columns = (0..self.wanted).map(|rank| vectors.col(rank));
        let vectors = columns.flat_map(|column| column.iter().copied().collect::<Vec<_>>()).collect();
        Ok(Candidate { vectors, confirmed: true, gap: None })
    }

    fn lanczos(&mut self, gives_way: bool) -> Result<Candidate> {
        let (laplacian, angle) = (self.laplacian, self.params.angle);
        let mut found = self.plain_lanczos(angle, gives_way)?;
        self.applications += found.applications;
        if angle > 0.0 && found.confirmed && !gives_way {
            let worst = measure(laplacian, &found.vectors).worst();
            if worst > self.tolerance().max(angle * found.gap.unwrap_or(0.0)) {
                // The next pair came closer than it had looked: on from here, to the tolerance.
                self.guesses = OnceCell::from(std::mem::take(&mut found.vectors));
                found = self.plain_lanczos(0.0, gives_way)?;
                self.applications += found.applications;
            }
        }
        Ok(found.into())
    }

    /// `gives_way` if another method follows.
    fn plain_lanczos(&self, angle: f64, gives_way: bool) -> Result<LanczosResult> {
        let most = self.params.max_applications;
        let is_automatic = self.params.solver == SolverChoice::Automatic;
        let limit = match (gives_way, is_automatic) {
            (true, _) => most.min(MAX_LANCZOS),
            (false, true) => most.min(MAX_LAST_LANCZOS),
            (false, false) => most,
        };
        let is_doubtful = |worst: f64| gives_way && worst > DOUBTFUL;
        let seen = RefCell::new(Vec::new());
        let give_up = |worst: f64, applications: usize| {
            let mut seen = seen.borrow_mut();
            seen.push(worst);
            gives_way && is_hopeless(&seen, self.params.tolerance, applications, limit)
        };
        self.largest_of(&Flipped(self.laplacian), Spectrum::Plain, angle, limit, &is_doubtful, &give_up)
    }

    /// What other methods than Lanczos may allocate.
    fn granted(&self) -> u64 {
        let graph = self.laplacian.graph();
        // The null vectors are there twice.
        granted(graph.n_nodes(), graph.n_edges() as u64, self.wanted) + 8 * self.null.len() as u64
    }

    /// Whether so much may be allocated beside the graph.
    fn fits(&self, bytes: u64) -> bool {
        self.run.memory_limit.is_none_or(|limit| bytes <= limit / 2)
    }

    fn shift(&self) -> f64 {
        SHIFT * self.laplacian.norm_bound()
    }

    fn shift_invert(&mut self) -> Result<Option<Candidate>> {
        let Some(plan) = Plan::new(self.laplacian, self.shift()) else { return Ok(None) };
        let is_automatic = self.params.solver == SolverChoice::Automatic;
        if !self.fits(plan.bytes()) || (is_automatic && plan.bytes() > self.granted()) {
            return Ok(None);
        }
        let Some(inverse) = plan.factorize() else { return Ok(None) };
        let limit = self.params.max_applications.saturating_sub(self.applications).min(3000);
        let found = self.largest_of(&inverse, Spectrum::Inverse, 0.0, limit, &|_| false, &|_, _| false)?;
        self.applications += found.applications;
        // The distance that it knows is one of inverses.
        Ok(Some(Candidate { gap: None, ..found.into() }))
    }

    fn multigrid(&mut self) -> Result<Candidate> {
        let params = DavidsonParams {
            wanted: self.wanted,
            tolerance: 0.25 * self.tolerance(),
            angle: self.params.angle,
            max_applications: self.params.max_applications.saturating_sub(self.applications),
            guesses: self.guesses.get_or_init(|| guesses(self.laplacian, self.wanted + 1)),
        };
        let found = davidson::smallest(self.laplacian, &self.null, &params, self.run)?;
        self.applications += found.applications;
        Ok(Candidate { vectors: found.vectors, confirmed: found.confirmed, gap: found.gap })
    }
}

/// Bytes that may be allocated for `wanted` pairs beside the graph: what multigrid takes, and a factor may take as well.
pub(super) fn granted(n: usize, n_edges: u64, wanted: usize) -> u64 {
    let [making, kept] = Hierarchy::bytes(n as u64, n_edges);
    making.max(kept + davidson::bytes(n, wanted))
}

/// What a method offers: vectors, and whether it made sure that none was missed.
struct Candidate {
    vectors: Vec<f64>,
    confirmed: bool,
    /// Confirmed distance to the eigenvalue after them.
    gap: Option<f64>,
}

impl From<LanczosResult> for Candidate {
    fn from(found: LanczosResult) -> Self {
        Self { vectors: found.vectors, confirmed: found.confirmed, gap: found.gap }
    }
}

/// How an operator spreads the wanted eigenvalues out; each takes start vectors of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spectrum {
    Plain,
    Inverse,
}

/// Extrapolates the geometric fall of the residual over the restarts seen.
fn is_hopeless(seen: &[f64], tolerance: f64, applications: usize, limit: usize) -> bool {
    // Two restarts show a rough rate, three a better one.
    let (worst, rate, patience) = match *seen {
        [.., before, _, worst] => (worst, (worst / before).sqrt(), 1.0),
        [before, worst] => (worst, worst / before, 3.0),
        _ => return false,
    };
    if rate >= 1.0 {
        return seen.len() > 2;
    }
    let restarts = (0.25 * tolerance / worst).ln() / rate.ln();
    let each = applications as f64 / seen.len() as f64;
    restarts * each > patience * limit.saturating_sub(applications) as f64
}

/// What vectors really are, whatever a method says of them.
#[derive(Default)]
struct Measured {
    /// Rayleigh quotients.
    values: Vec<f64>,
    /// |L·u − λ·u|.
    residuals: Vec<f64>,
}

impl Measured {
    fn worst(&self) -> f64 {
        self.residuals.iter().copied().fold(0.0, f64::max)
    }
}

fn measure(laplacian: &Laplacian<'_>, vectors: &[f64]) -> Measured {
    let (n, unit) = (laplacian.degrees().len(), laplacian.norm_bound());
    let mut image = vec![0.0; n];
    let (values, residuals) = vectors
        .chunks_exact(n)
        .map(|vector| {
            laplacian.apply(vector, &mut image);
            // In units of the bound, whose squares neither vanish nor overflow.
            image.iter_mut().for_each(|image| *image /= unit);
            // Rounding may leave a null vector a hair below 0.
            let value = (dot(vector, &image) / dot(vector, vector)).max(0.0);
            image.iter_mut().zip(vector).for_each(|(image, v)| *image -= value * v);
            (unit * value, unit * (norm(&image) / norm(vector)))
        })
        .unzip();
    Measured { values, residuals }
}
