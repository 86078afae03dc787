//! What is asked of an eigensolver, and what it gives back.

use crate::error::{Result, require};

/// Which method to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum SolverChoice {
    /// The policy of [`smallest_eigenpairs`](super::smallest_eigenpairs).
    #[default]
    Automatic,
    /// Only this one, or an error.
    Only(EigenSolver),
}

/// The methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum EigenSolver {
    /// All pairs of the dense matrix.
    Dense,
    /// Thick-restart Lanczos.
    Lanczos,
    /// Lanczos on the inverse.
    ShiftInvert,
    /// Block Davidson, preconditioned by multigrid.
    Multigrid,
}

/// Parameters of the eigensolvers.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct EigenParams {
    /// Largest residual of a converged pair, as a share of the bound on the eigenvalues.
    pub tolerance: f64,
    /// Pairs are converged as well once the space they span is known to within this angle: residuals of at most the angle times
    /// the confirmed distance to the next eigenvalue (Davis and Kahan 1970). 0, the default, leaves it at the tolerance; for
    /// grouping points, where only the space counts, see [`EigenParams::for_space`].
    #[cfg_attr(feature = "serde", serde(default))]
    pub angle: f64,
    /// Which method.
    pub solver: SolverChoice,
    /// Most applications of the Laplacian, over all methods.
    pub max_applications: usize,
}

impl Default for EigenParams {
    fn default() -> Self {
        Self { tolerance: 1e-8, angle: 0.0, solver: SolverChoice::Automatic, max_applications: 100_000 }
    }
}

impl EigenParams {
    /// Where the space counts and not each vector in it: an angle of 1e-3 will do.
    pub fn for_space() -> Self {
        Self { angle: 1e-3, ..Self::default() }
    }

    /// Whether the parameters are within their ranges.
    pub fn check(&self) -> Result<()> {
        let rule = "must be at least 1e-14 and below 1";
        require((1e-14..1.0).contains(&self.tolerance), "tolerance", self.tolerance, rule)?;
        require((0.0..=0.1).contains(&self.angle), "angle", self.angle, "must be between 0 and 0.1")?;
        require(self.max_applications >= 1, "max_applications", self.max_applications, "must be at least 1")
    }
}

/// How the pairs were found.
#[derive(Debug, Clone, PartialEq)]
pub struct EigenInfo {
    /// The method that converged; `None` if the null space was all that was asked for.
    pub solver: Option<EigenSolver>,
    /// Applications of the Laplacian (solves, for the inverse), failed methods included.
    pub applications: usize,
    /// Connected components of the graph: the multiplicity of eigenvalue 0.
    pub n_components: usize,
    /// Whether the method made sure that it missed no smaller pair. Without, every pair is still an eigenpair within the
    /// tolerance.
    pub confirmed: bool,
}

impl EigenInfo {
    /// As whole numbers.
    pub(super) fn to_numbers(&self) -> [u64; 4] {
        let solver = match self.solver {
            None => 0,
            Some(EigenSolver::Dense) => 1,
            Some(EigenSolver::Lanczos) => 2,
            Some(EigenSolver::ShiftInvert) => 3,
            Some(EigenSolver::Multigrid) => 5,
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
            // 4 was a solver that is no more.
            5 => Some(EigenSolver::Multigrid),
            _ => return None,
        };
        let (applications, n_components) = (applications as usize, n_components as usize);
        Some(Self { solver, applications, n_components, confirmed: confirmed == 1 })
    }
}

/// The smallest eigenpairs of a Laplacian, ascending. The random-walk kind gives those of the symmetric one.
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
