//! The solver policy, as data: which methods are tried for an eigenproblem, in which order, and how far each may go.
//!
//! 1. Small problems: all pairs of the dense matrix. Where only the space matters, up to 300 nodes it follows after another method.
//! 2. Narrow graphs, which have small gaps but also small factors: Lanczos on the shift-inverted operator.
//! 3. Graphs so long that Lanczos would have to step from end to end many times: block Davidson, preconditioned by multigrid.
//! 4. All others: thick-restart Lanczos, stopped early if its convergence shows that the gap is too small; then Davidson. With very
//!    many nodes a filter of Chebyshev polynomials, if only the space matters, then Davidson, preconditioned in single precision.
//! 5. If these fail: Lanczos once more, with many more steps; up to 3000 nodes the dense matrix.

use super::pairs::{EigenSolver, SolverChoice};
use super::shape::Shape;
use super::solvers::multilevel::Precision;
use super::solvers::{chebyshev, davidson};
use crate::linear::Hierarchy;

/// Up to this many nodes the dense eigenproblem is solved right away if only the space of the pairs matters. Lanczos takes as long at 60
/// nodes, two thirds at 200, a third at 300.
const DENSE_NODES: usize = 80;
/// Up to this many nodes it is solved right away if the vectors matter, otherwise as soon as another method does not confirm its pairs.
const FEW_NODES: usize = 300;
/// Up to this many nodes a dense eigenproblem is the last resort.
const LAST_RESORT_NODES: usize = 3000;
/// A graph is narrow if factorizing it along its length takes at most this many multiplications per edge: about the
/// time of a hundred applications of the Laplacian; plain Lanczos takes more on such graphs.
const NARROW_WORK: f64 = 5000.0;
/// A graph is long if it takes this many steps from end to end: every application takes Lanczos one step further, and it has to
/// go back and forth more than once, while multigrid takes about the time of two hundred applications.
const LONG: usize = 100;
/// Applications within which Lanczos must be expected to converge; otherwise it stops early.
const MAX_FIRST_LANCZOS: usize = 250;
/// Applications of Lanczos as a last resort.
const MAX_LAST_LANCZOS: usize = 5000;
/// Solves with the factor: the inverse converges in few steps or not at all.
const MAX_SOLVES: usize = 3000;

/// What is known about an eigenproblem before any method is tried.
#[derive(Debug, Clone, Copy)]
pub(super) struct Problem {
    pub n_nodes: usize,
    pub n_edges: usize,
    /// Known null vectors.
    pub n_null: usize,
    /// Pairs wanted besides them.
    pub wanted: usize,
    /// The user's parameters.
    pub choice: SolverChoice,
    /// Whether only the space of the pairs matters.
    pub is_for_space: bool,
    /// Whether the Laplacian is normalized.
    pub is_normalized: bool,
    /// Maximum number of applications of the Laplacian, over all attempts.
    pub max_applications: usize,
    /// Bytes that may be allocated, if a limit is known.
    pub memory_limit: Option<u64>,
}

/// One method, and how far it may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Dense,
    Lanczos {
        max_applications: usize,
        /// Whether it stops early if it is not expected to converge in time.
        gives_way: bool,
    },
    ShiftInvert {
        max_applications: usize,
        /// It is not tried if the factor would be larger than this.
        max_bytes: Option<u64>,
    },
    Chebyshev,
    Multigrid {
        /// Whether other methods follow if the weights vary too much for its sums.
        may_break_down: bool,
        precision: Precision,
    },
}

impl Method {
    pub fn solver(self) -> EigenSolver {
        match self {
            Method::Dense => EigenSolver::Dense,
            Method::Lanczos { .. } => EigenSolver::Lanczos,
            Method::ShiftInvert { .. } => EigenSolver::ShiftInvert,
            Method::Chebyshev => EigenSolver::Chebyshev,
            Method::Multigrid { .. } => EigenSolver::Multigrid,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Attempt {
    pub method: Method,
    /// Whether it is only a fallback: skipped once there are pairs within the tolerance, confirmed or not.
    pub is_fallback: bool,
}

/// Attempts in order; each is made if those before it failed or could not confirm their result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    pub attempts: Vec<Attempt>,
}

/// Classes of graphs, for the choice of a solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GraphClass {
    Narrow,
    Long,
    Compact,
}

impl Plan {
    /// `shape` is only called if it matters: finding the shape takes a few passes over the edges.
    pub fn new(problem: &Problem, shape: impl FnOnce() -> Shape) -> Self {
        let (methods, fallbacks) = match problem.choice {
            SolverChoice::Only(solver) => (vec![problem.only(solver)], Vec::new()),
            SolverChoice::Automatic if problem.is_small() => (vec![Method::Dense], Vec::new()),
            SolverChoice::Automatic if !problem.fits(problem.granted()) => {
                let mut methods = problem.filter();
                methods.push(problem.last_lanczos());
                (methods, problem.last_resort())
            }
            SolverChoice::Automatic => problem.by_class(problem.class(shape())),
        };
        let attempt = |is_fallback| move |method| Attempt { method, is_fallback };
        let fallbacks = fallbacks.into_iter().map(attempt(true));
        Self { attempts: methods.into_iter().map(attempt(false)).chain(fallbacks).collect() }
    }
}

impl Problem {
    fn is_small(&self) -> bool {
        let few = if self.is_for_space { DENSE_NODES } else { FEW_NODES };
        self.n_nodes <= few || 3 * (self.wanted + self.n_null) >= self.n_nodes
    }

    /// Whether a component of at least this band work and at most this length makes the graph compact, whatever its shape.
    pub fn is_compact(&self, least_band_work: f64, max_length: usize) -> bool {
        least_band_work > NARROW_WORK * self.n_edges as f64 && max_length < LONG
    }

    fn class(&self, shape: Shape) -> GraphClass {
        if shape.band_work <= NARROW_WORK * self.n_edges as f64 {
            GraphClass::Narrow
        } else if shape.length >= LONG {
            GraphClass::Long
        } else {
            GraphClass::Compact
        }
    }

    /// What the user insists on.
    fn only(&self, solver: EigenSolver) -> Method {
        match solver {
            EigenSolver::Dense => Method::Dense,
            EigenSolver::Lanczos => {
                Method::Lanczos { max_applications: self.max_applications, gives_way: false }
            }
            EigenSolver::ShiftInvert => Method::ShiftInvert {
                max_applications: MAX_SOLVES,
                max_bytes: self.memory_limit.map(|limit| limit / 2),
            },
            EigenSolver::Chebyshev => Method::Chebyshev,
            EigenSolver::Multigrid => {
                Method::Multigrid { may_break_down: false, precision: Precision::Double }
            }
        }
    }

    /// Methods, and fallbacks after them.
    fn by_class(&self, class: GraphClass) -> (Vec<Method>, Vec<Method>) {
        let multigrid = |precision| Method::Multigrid { may_break_down: true, precision };
        let methods = match class {
            GraphClass::Narrow if self.n_nodes <= FEW_NODES => {
                return (vec![self.shift_invert(), Method::Dense], Vec::new());
            }
            _ if self.n_nodes <= FEW_NODES => return (vec![self.first_lanczos(), Method::Dense], Vec::new()),
            GraphClass::Narrow => vec![self.shift_invert(), multigrid(Precision::Double)],
            GraphClass::Long => vec![multigrid(Precision::Double)],
            GraphClass::Compact if self.n_nodes > davidson::LONG => {
                let mut methods = self.filter();
                methods.extend([multigrid(Precision::Single), multigrid(Precision::Double)]);
                methods
            }
            GraphClass::Compact => vec![self.first_lanczos(), multigrid(Precision::Double)],
        };
        let mut fallbacks = vec![self.last_lanczos()];
        fallbacks.extend(self.last_resort());
        (methods, fallbacks)
    }

    /// The filter in single precision, where it applies and fits: it takes less memory than all others.
    fn filter(&self) -> Vec<Method> {
        let bytes = chebyshev::bytes(self.n_nodes, self.n_edges as u64, self.wanted);
        let is_worthwhile =
            self.is_for_space && self.is_normalized && self.n_nodes > davidson::LONG && self.fits(bytes);
        if is_worthwhile { vec![Method::Chebyshev] } else { Vec::new() }
    }

    fn first_lanczos(&self) -> Method {
        Method::Lanczos { max_applications: self.max_applications.min(MAX_FIRST_LANCZOS), gives_way: true }
    }

    fn last_lanczos(&self) -> Method {
        Method::Lanczos { max_applications: self.max_applications.min(MAX_LAST_LANCZOS), gives_way: false }
    }

    /// On spectra that cluster at 0 all other methods may stall: up to some size the whole spectrum is then worth its cost.
    fn last_resort(&self) -> Vec<Method> {
        if self.n_nodes <= LAST_RESORT_NODES { vec![Method::Dense] } else { Vec::new() }
    }

    fn shift_invert(&self) -> Method {
        let granted = self.granted();
        let max_bytes = self.memory_limit.map_or(granted, |limit| granted.min(limit / 2));
        Method::ShiftInvert { max_applications: MAX_SOLVES, max_bytes: Some(max_bytes) }
    }

    /// Whether this much may be allocated besides the graph.
    fn fits(&self, bytes: u64) -> bool {
        self.memory_limit.is_none_or(|limit| bytes <= limit / 2)
    }

    /// What methods other than Lanczos may allocate.
    fn granted(&self) -> u64 {
        // The null vectors are stored twice.
        let null = 8 * (self.n_null * self.n_nodes) as u64;
        granted(self.n_nodes, self.n_edges as u64, self.wanted) + null
    }
}

/// Bytes that may be allocated for `wanted` pairs besides the graph: what multigrid needs, and a factor may also use.
pub(super) fn granted(n: usize, n_edges: u64, wanted: usize) -> u64 {
    let bytes = if n > davidson::LONG { Hierarchy::bytes_of_laplacian } else { Hierarchy::bytes };
    let [making, kept] = bytes(n as u64, n_edges);
    making.max(kept + davidson::bytes(n, wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROBLEM: Problem = Problem {
        n_nodes: 5_000,
        n_edges: 60_000,
        n_null: 1,
        wanted: 5,
        choice: SolverChoice::Automatic,
        is_for_space: false,
        is_normalized: true,
        max_applications: 100_000,
        memory_limit: None,
    };
    const NARROW: Shape = Shape { band_work: 1e8, length: 2000 };
    const LONG_AND_WIDE: Shape = Shape { band_work: 1e9, length: 100 };
    const COMPACT: Shape = Shape { band_work: 1e9, length: 99 };

    const FIRST_LANCZOS: Method = Method::Lanczos { max_applications: 250, gives_way: true };
    const LAST_LANCZOS: Method = Method::Lanczos { max_applications: 5000, gives_way: false };
    const MULTIGRID: Method = Method::Multigrid { may_break_down: true, precision: Precision::Double };

    fn plan(problem: Problem, shape: Shape) -> Vec<(Method, bool)> {
        let attempts = Plan::new(&problem, || shape).attempts;
        attempts.into_iter().map(|attempt| (attempt.method, attempt.is_fallback)).collect()
    }

    /// For cases in which the shape must not be computed, since that takes time.
    fn plan_without_shape(problem: Problem) -> Vec<(Method, bool)> {
        let attempts = Plan::new(&problem, || panic!("the shape is not needed")).attempts;
        attempts.into_iter().map(|attempt| (attempt.method, attempt.is_fallback)).collect()
    }

    #[test]
    fn small_problems_are_dense() {
        let dense = [(Method::Dense, false)];
        assert_eq!(plan_without_shape(Problem { n_nodes: 300, ..PROBLEM }), dense);
        assert_eq!(plan_without_shape(Problem { n_nodes: 80, is_for_space: true, ..PROBLEM }), dense);
        // A third of all eigenpairs.
        assert_eq!(plan_without_shape(Problem { n_nodes: 900, wanted: 299, ..PROBLEM }), dense);
        assert_ne!(plan(Problem { n_nodes: 900, wanted: 298, ..PROBLEM }, COMPACT), dense);
    }

    #[test]
    fn the_dense_matrix_follows_at_once_where_nodes_are_few() {
        let few = Problem { n_nodes: 300, is_for_space: true, ..PROBLEM };
        assert_eq!(plan(few, COMPACT), [(FIRST_LANCZOS, false), (Method::Dense, false)]);
        assert!(matches!(
            plan(few, NARROW)[..],
            [(Method::ShiftInvert { .. }, false), (Method::Dense, false)]
        ));
    }

    #[test]
    fn the_shape_decides() {
        let granted = granted(5_000, 60_000, 5) + 40_000;
        let inverse = Method::ShiftInvert { max_applications: 3000, max_bytes: Some(granted) };
        assert_eq!(plan(PROBLEM, NARROW), [(inverse, false), (MULTIGRID, false), (LAST_LANCZOS, true)]);
        assert_eq!(plan(PROBLEM, LONG_AND_WIDE), [(MULTIGRID, false), (LAST_LANCZOS, true)]);
        assert_eq!(
            plan(PROBLEM, COMPACT),
            [(FIRST_LANCZOS, false), (MULTIGRID, false), (LAST_LANCZOS, true)]
        );
    }

    #[test]
    fn the_dense_matrix_is_the_last_resort_of_few_nodes() {
        let few = Problem { n_nodes: 3000, ..PROBLEM };
        assert_eq!(
            plan(few, LONG_AND_WIDE),
            [(MULTIGRID, false), (LAST_LANCZOS, true), (Method::Dense, true)]
        );
        assert_eq!(plan(Problem { n_nodes: 3001, ..PROBLEM }, LONG_AND_WIDE).len(), 2);
    }

    #[test]
    fn with_little_memory_there_is_only_lanczos() {
        let granted = granted(5_000, 60_000, 5) + 40_000;
        let tight = Problem { memory_limit: Some(2 * granted - 1), ..PROBLEM };
        assert_eq!(plan_without_shape(tight), [(LAST_LANCZOS, false)]);
        let few = Problem { n_nodes: 2000, memory_limit: Some(0), ..PROBLEM };
        assert_eq!(plan_without_shape(few), [(LAST_LANCZOS, false), (Method::Dense, true)]);
        let enough = Problem { memory_limit: Some(2 * granted), ..PROBLEM };
        assert_eq!(plan(enough, COMPACT).len(), 3);
    }

    #[test]
    fn applications_of_lanczos_stay_within_those_of_the_user() {
        let hasty = Problem { max_applications: 70, ..PROBLEM };
        let lanczos = |gives_way| Method::Lanczos { max_applications: 70, gives_way };
        assert_eq!(
            plan(hasty, COMPACT),
            [(lanczos(true), false), (MULTIGRID, false), (lanczos(false), true)]
        );
    }

    #[test]
    fn the_choice_of_the_user_is_all_there_is() {
        let only = |solver| {
            let choice = SolverChoice::Only(solver);
            plan_without_shape(Problem { choice, n_nodes: 200, memory_limit: Some(1000), ..PROBLEM })
        };
        let lanczos = Method::Lanczos { max_applications: 100_000, gives_way: false };
        let inverse = Method::ShiftInvert { max_applications: 3000, max_bytes: Some(500) };
        assert_eq!(only(EigenSolver::Dense), [(Method::Dense, false)]);
        assert_eq!(only(EigenSolver::Lanczos), [(lanczos, false)]);
        assert_eq!(only(EigenSolver::ShiftInvert), [(inverse, false)]);
        assert_eq!(
            only(EigenSolver::Multigrid),
            [(Method::Multigrid { may_break_down: false, precision: Precision::Double }, false)]
        );
    }
}
