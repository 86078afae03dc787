//! Stage 12, propagate: labels for all nodes from a few examples, with how sure each is; no label where none reaches.

mod conjugate;
mod decide;
mod evaluate;
mod examples;
mod induct;
mod rules;
mod system;
#[cfg(test)]
mod tests;
mod walk;

pub use conjugate::SolveInfo;
pub use evaluate::{Evaluation, Trials, evaluate};
pub use examples::Examples;
pub use induct::{Induced, InductParams, induct};
pub use walk::WalkTable;

use crate::error::{Error, Result, require};
use crate::graph::{Components, SparseGraph};
use crate::memory::{MemoryEstimate, refuse_if_over};
use crate::progress::Run;
use decide::{Scale, best, probabilities, to_sizes};
use rules::Problem;

/// How labels spread.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum Rule {
    /// Harmonic functions with class-mass normalisation.
    #[default]
    Harmonic,
    /// Poisson learning.
    Poisson,
    /// Local and global consistency with class-mass normalisation.
    Consistency {
        /// How much a node listens to its neighbours, below 1.
        alpha: f64,
    },
    /// The label with the largest K_jl/√K_ll.
    KernelCosine,
    /// The label nearest in the distances of the kernel.
    NearestInKernel,
    /// Algorithm 2 of the paper; see [`WalkTable`].
    GreedyWalk {
        /// Most steps.
        max_walk: usize,
        /// Leading eigenpairs; `None` takes all, which needs N² memory.
        pairs: Option<usize>,
    },
}

/// Whether examples are certain.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum Hold {
    /// They keep their labels.
    #[default]
    Hard,
    /// They may be outvoted by their neighbours (harmonic functions only).
    Soft {
        /// Strength of an example, in units of its node's degree.
        strength: f64,
    },
}

/// How likely the classes are before anything is known.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum Priors {
    /// All alike.
    #[default]
    Uniform,
    /// In these proportions.
    Given(Vec<f64>),
}

/// Precision of the linear systems.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Solver {
    /// Residual relative to the right-hand side.
    pub tolerance: f64,
    /// Most iterations.
    pub max_iterations: usize,
}

impl Default for Solver {
    fn default() -> Self {
        Self { tolerance: 1e-6, max_iterations: 10_000 }
    }
}

/// Parameters of [`propagate`].
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct PropagateParams {
    /// How labels spread.
    pub rule: Rule,
    /// Whether examples are certain.
    pub hold: Hold,
    /// How likely the classes are before anything is known.
    pub priors: Priors,
    /// Shares of the classes among the nodes to be labelled, if they are known and to be respected.
    pub sizes: Option<Vec<f64>>,
    /// Precision of the linear systems.
    pub solver: Solver,
}

impl PropagateParams {
    fn check(&self) -> Result<()> {
        let tolerance = self.solver.tolerance;
        require(
            (1e-15..1.0).contains(&tolerance),
            "tolerance",
            tolerance,
            "must be at least 1e-15 and below 1",
        )?;
        let most = self.solver.max_iterations;
        require(most >= 1, "max_iterations", most, "must be at least 1")?;
        if let Rule::Consistency { alpha } = self.rule {
            require((0.0..1.0).contains(&alpha), "alpha", alpha, "must be at least 0 and below 1")?;
        }
        if let Hold::Soft { strength } = self.hold {
            let fine = strength > 0.0 && strength.is_finite();
            require(fine, "strength", strength, "must be finite and above 0")?;
            let rule = "needs harmonic functions: the other rules keep examples as they are, or never did";
            require(self.rule == Rule::Harmonic, "soft examples", format!("{:?}", self.rule), rule)?;
        }
        Ok(())
    }
}

/// Labels of all nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Propagation {
    /// The label of each node; `None` where no example reaches.
    pub labels: Vec<Option<u32>>,
    /// Probability of each class, node by node; they sum to 1, or are all 0 where no example reaches.
    pub probabilities: Vec<f64>,
    /// Lead of the likeliest class over the second.
    pub margins: Vec<f64>,
    /// How the linear systems were solved.
    pub info: SolveInfo,
    /// Components of the graph.
    pub n_components: usize,
}

impl Propagation {
    /// How many nodes got no label.
    pub fn n_abstained(&self) -> usize {
        self.labels.iter().filter(|label| label.is_none()).count()
    }
}

/// What propagation holds: six vectors of the iteration, scores and probabilities, for each right-hand side.
fn memory_estimate(n: usize, width: usize) -> MemoryEstimate {
    MemoryEstimate { stages: vec![("propagate", 8 * n as u64 * (8 * width as u64 + 4))] }
}

/// Labels every node that an example reaches.
pub fn propagate(
    graph: &SparseGraph,
    examples: &Examples,
    params: &PropagateParams,
    run: &Run<'_>,
) -> Result<Propagation> {
    let table = WalkTable::of_rule(graph, params.rule, run)?;
    propagate_with(graph, table.as_ref(), examples, params, run)
}

/// The same with a table of walks that was made before; only the greedy walk uses it.
///
/// # Panics
/// If the rule is the greedy walk and there is no table.
pub fn propagate_with(
    graph: &SparseGraph,
    table: Option<&WalkTable>,
    examples: &Examples,
    params: &PropagateParams,
    run: &Run<'_>,
) -> Result<Propagation> {
    params.check()?;
    let (n, width) = (graph.n_nodes(), examples.n_classes());
    if examples.n_nodes() != n {
        return Err(Error::Length { what: "labels", expected: n, received: examples.n_nodes() });
    }
    let width_of_systems = width.max(examples.nodes().len());
    let estimate = |n: usize| memory_estimate(n, width_of_systems);
    refuse_if_over(n, run.memory_limit, estimate, "label fewer points, or use another rule")?;
    run.stage("propagate", None)?;
    let components = Components::of_graph(graph);
    let by_component = examples.reached(&components);
    let reached: Vec<bool> =
        components.of_nodes().iter().map(|&component| by_component[component as usize]).collect();
    let solver = &params.solver;
    let problem = Problem { graph, components: &components, examples, reached: &by_component, solver, run };
    let (scores, scale) = match params.rule {
        Rule::Harmonic => (problem.harmonic(params.hold)?, Scale::Mass),
        Rule::Consistency { alpha } => (problem.consistency(alpha)?, Scale::Mass),
        Rule::Poisson => (problem.poisson()?, Scale::Difference),
        Rule::KernelCosine => (problem.by_kernel(|k, own| k / own.sqrt())?, Scale::Difference),
        Rule::NearestInKernel => (problem.by_kernel(|k, own| 2.0 * k - own)?, Scale::Difference),
        Rule::GreedyWalk { .. } => {
            (table.expect("a table of walks for the greedy walk").scores(examples), Scale::Difference)
        }
    };
    if scores.info.residual > params.solver.tolerance {
        let SolveInfo { iterations, residual } = scores.info;
        return Err(Error::SolveNotConverged { iterations, residual, tolerance: params.solver.tolerance });
    }
    let mut probabilities = probabilities(&scores.values, scale, examples, &reached, &params.priors)?;
    let is_held = |node: usize| params.hold == Hold::Hard && examples.get(node).is_some();
    if let Some(shares) = &params.sizes {
        let free: Vec<bool> = (0..n).map(|node| reached[node] && !is_held(node)).collect();
        to_sizes(&mut probabilities, width, &free, shares)?;
    }
    for (node, class) in examples.iter() {
        if is_held(node as usize) {
            let row = &mut probabilities[node as usize * width..(node as usize + 1) * width];
            row.fill(0.0);
            row[class as usize] = 1.0;
        }
    }
    let decided: Vec<(u32, f64)> = probabilities.chunks_exact(width).map(best).collect();
    Ok(Propagation {
        labels: decided.iter().zip(&reached).map(|(best, reached)| reached.then_some(best.0)).collect(),
        margins: decided.iter().map(|best| best.1.max(0.0)).collect(),
        probabilities,
        info: scores.info,
        n_components: components.len(),
    })
}
