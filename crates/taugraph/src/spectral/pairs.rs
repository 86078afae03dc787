//! Parameters and results of the eigensolvers.

use serde_json::Value;

use crate::parameter::{Leaf, choices, parameters};

/// The method to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SolverChoice {
    /// The policy of [`smallest_eigenpairs`](super::smallest_eigenpairs).
    #[default]
    Automatic,
    /// Only this method; an error if it fails.
    Only(EigenSolver),
}

impl Leaf for SolverChoice {
    const KIND: &'static str = "automatic | dense | lanczos | shift-invert | multigrid | chebyshev";

    fn write(&self) -> Value {
        match self {
            SolverChoice::Automatic => "automatic".into(),
            SolverChoice::Only(solver) => solver.name().into(),
        }
    }

    fn read(value: &Value) -> Option<Self> {
        match value.as_str()? {
            "automatic" | "auto" => Some(SolverChoice::Automatic),
            name => EigenSolver::named(name).map(SolverChoice::Only),
        }
    }
}

choices! {
    /// The eigensolvers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum EigenSolver = "lanczos" {
        /// All eigenpairs of the dense matrix.
        "dense" => Dense,
        /// Thick-restart Lanczos.
        "lanczos" => Lanczos,
        /// Lanczos on the inverse.
        "shift-invert" => ShiftInvert,
        /// Block Davidson, preconditioned by multigrid.
        "multigrid" => Multigrid,
        /// Chebyshev-filtered subspace iteration in single precision: for spaces known to within an angle, of normalized Laplacians.
        "chebyshev" => Chebyshev,
    }
}

parameters! {
    /// Parameters of the eigensolvers.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct EigenParams {
        /// Largest residual of a converged pair, relative to the upper bound on the eigenvalues.
        tolerance: f64 = 1e-8, "at least 1e-14 and below 1" => |tolerance| (1e-14..1.0).contains(tolerance);
        /// Pairs also count as converged once the space they span is known to within this angle: residuals of at most the angle times
        /// the confirmed distance to the next eigenvalue (Davis and Kahan 1970). 0 uses the tolerance alone; for clustering,
        /// where only the space matters, 0.001 suffices.
        angle: f64 = 0.0, "between 0 and 0.1" => |angle| (0.0..=0.1).contains(angle);
        /// The eigensolver; automatic chooses it by the size and shape of the graph.
        solver: SolverChoice = SolverChoice::Automatic;
        /// Maximum number of applications of the Laplacian, over all methods.
        max_applications: usize = 100_000, "at least 1" => |most| *most >= 1;
    }
}

impl EigenParams {
    /// For uses in which only the space matters, not each vector in it: an angle of 1e-3 suffices.
    pub fn for_space() -> Self {
        Self { angle: 1e-3, ..Self::default() }
    }
}

/// How the pairs were found.
#[derive(Debug, Clone, PartialEq)]
pub struct EigenInfo {
    /// The method that converged; `None` if only null vectors were requested.
    pub solver: Option<EigenSolver>,
    /// Applications of the Laplacian (solves, for the inverse), including failed methods.
    pub applications: usize,
    /// Connected components of the graph: the multiplicity of eigenvalue 0.
    pub n_components: usize,
    /// Whether the method confirmed that it missed no smaller pair. Even if not, every pair is an eigenpair within the
    /// tolerance.
    pub confirmed: bool,
}

impl EigenInfo {
    /// Everything as whole numbers.
    pub(super) fn to_numbers(&self) -> [u64; 4] {
        let solver = match self.solver {
            None => 0,
            Some(EigenSolver::Dense) => 1,
            Some(EigenSolver::Lanczos) => 2,
            Some(EigenSolver::ShiftInvert) => 3,
            Some(EigenSolver::Multigrid) => 5,
            Some(EigenSolver::Chebyshev) => 6,
        };
        [solver, self.applications as u64, self.n_components as u64, u64::from(self.confirmed)]
    }

    pub(super) fn from_numbers(numbers: &[u64]) -> Option<Self> {
        let &[solver, applications, n_components, confirmed] = numbers else { return None };
        let solver = match solver {
            0 => None,
            1 => Some(EigenSolver::Dense),
            2 => Some(EigenSolver::Lanczos),
            3 => Some(EigenSolver::ShiftInvert),
            // 4 was a solver that has been removed.
            5 => Some(EigenSolver::Multigrid),
            6 => Some(EigenSolver::Chebyshev),
            _ => return None,
        };
        let (applications, n_components) = (applications as usize, n_components as usize);
        Some(Self { solver, applications, n_components, confirmed: confirmed == 1 })
    }
}

/// The smallest eigenpairs of a Laplacian, ascending. For the random-walk kind they are those of the symmetric one.
#[derive(Debug, Clone, PartialEq)]
pub struct Eigenpairs {
    /// Eigenvalues.
    pub values: Vec<f64>,
    /// Eigenvectors one after the other, each of length 1.
    pub vectors: Vec<f64>,
    /// |L·u − λ·u| of each pair.
    pub residuals: Vec<f64>,
    /// How they were found.
    pub info: EigenInfo,
}
