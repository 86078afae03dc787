//! Stage 12, propagate: labels for all nodes from a few examples, with how sure each is; no label where none reaches.

mod all_pairs;
mod decide;
mod evaluate;
mod examples;
mod rows;
mod rules;
#[cfg(test)]
mod tests;
mod walk;

pub use crate::linear::{SolveInfo, Solver};
pub(crate) use decide::best;
pub use evaluate::{Evaluation, Trials, evaluate};
pub use examples::LabeledNodes;
pub use rows::RowLabels;
pub use walk::{WalkInfo, WalkTable};

use std::borrow::Cow;

use crate::error::{Error, Result, require};
use crate::graph::{Components, SparseGraph};
use crate::linear::Hierarchy;
use crate::memory::{MemoryEstimate, refuse_if_over};
use crate::parameter::{ParameterTree, choices, parameters};
use crate::progress::Run;
use decide::{Scale, probabilities, to_sizes};
use rules::{Problem, Scores};

/// Edges lighter than this share of the heaviest are taken as absent: through them a label would reach every point of a
/// graph of all pairs, by weights that are mere rounding.
const WEAK: f64 = 1e-10;

choices! {
    /// How labels spread.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Rule = "harmonic" {
        /// Harmonic functions with class-mass normalization.
        "harmonic" => Harmonic,
        /// Poisson learning.
        "poisson" => Poisson,
        /// Local and global consistency with class-mass normalization.
        "consistency" => Consistency {
            /// How much a node listens to its neighbors.
            alpha: f64 = 0.99, "above 0 and below 1" => |alpha| *alpha > 0.0 && *alpha < 1.0;
        },
        /// The label with the largest K_jl/√K_ll.
        "kernel-cosine" => KernelCosine,
        /// The label nearest in the distances of the kernel.
        "nearest-in-kernel" => NearestInKernel,
        /// Algorithm 2 of the paper; see [`WalkTable`].
        "greedy-walk" => GreedyWalk {
            /// The most steps.
            max_walk: usize = 5;
            /// Leading eigenpairs; none takes all, which needs N² memory.
            pairs: Option<usize> = None;
        },
    }
}

choices! {
    /// Whether given labels are certain.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Clamping = "hard" {
        /// Labeled points keep their labels.
        "hard" => Hard,
        /// They may be outvoted by their neighbors (harmonic functions only).
        "soft" => Soft {
            /// Strength of a given label, in units of its node's degree.
            strength: f64 = 1.0, "finite and above 0" => |strength| *strength > 0.0 && strength.is_finite();
        },
    }
}

choices! {
    /// How likely the classes are before anything is known.
    #[derive(Debug, Clone, PartialEq)]
    pub enum Priors = "uniform" {
        /// All alike.
        "uniform" => Uniform,
        /// In these proportions.
        "given" => Given {
            /// One share for each class, in the order of the classes.
            shares: Vec<f64> = Vec::new();
        },
    }
}

parameters! {
    /// Parameters of [`propagate`].
    #[derive(Debug, Clone, PartialEq)]
    pub struct PropagateParams {
        /// How labels spread.
        rule: Rule = Rule::Harmonic;
        /// Whether given labels are certain.
        clamping: Clamping = Clamping::Hard;
        /// How likely the classes are before anything is known.
        priors: Priors = Priors::Uniform;
        /// Shares of the classes among the nodes to be labeled, if they are known and to be respected.
        sizes: Option<Vec<f64>> = None;
        /// Precision of the linear systems.
        solver: Solver = Solver::default();
        /// Whether the components of a given graph are joined by weak links, so that labels reach all of it.
        link: bool = false;
    }
}

impl PropagateParams {
    /// Harmonic functions with uniform priors, certain examples and no sizes.
    fn is_plain_harmonic(&self) -> bool {
        let Self { rule, clamping, priors, sizes, .. } = self;
        *rule == Rule::Harmonic
            && *clamping == Clamping::Hard
            && *priors == Priors::Uniform
            && sizes.is_none()
    }

    fn check(&self) -> Result<()> {
        self.check_ranges("propagate")?;
        let soft = matches!(self.clamping, Clamping::Soft { .. });
        let rule = "needs harmonic functions: the other rules keep given labels as they are, or never did";
        require(!soft || self.rule == Rule::Harmonic, "propagate.clamping", "soft", rule)
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
    /// How much of the kernel the greedy walk saw; `None` for the other rules.
    pub walk: Option<WalkInfo>,
    /// Components of the graph.
    pub n_components: usize,
    /// Edges that were left out because they weigh less than 1e-10 of the heaviest.
    pub n_weak_edges: usize,
}

impl Propagation {
    /// How many nodes got no label.
    pub fn n_abstained(&self) -> usize {
        self.labels.iter().filter(|label| label.is_none()).count()
    }
}

/// Labels every node that an example reaches.
pub fn propagate(
    graph: &SparseGraph,
    examples: &LabeledNodes,
    params: &PropagateParams,
    run: &Run<'_>,
) -> Result<Propagation> {
    Propagator::new(graph, params, run)?.propagate(examples, run)
}

/// The graph that labels spread on, and how many edges it lost.
fn without_weak_edges(graph: &SparseGraph) -> (Cow<'_, SparseGraph>, usize) {
    match graph.without_weak_edges(WEAK) {
        Some((kept, n_weak)) => (Cow::Owned(kept), n_weak),
        None => (Cow::Borrowed(graph), 0),
    }
}

/// What a rule needs of a graph, made once for any examples.
#[derive(Debug, Clone)]
pub struct Propagator<'a> {
    graph: Cow<'a, SparseGraph>,
    n_weak: usize,
    params: &'a PropagateParams,
    components: Components,
    degrees: Vec<f64>,
    means: Means,
}

/// By what a rule spreads labels.
#[derive(Debug, Clone)]
enum Means {
    Systems(Hierarchy),
    Walks(WalkTable),
}

impl<'a> Propagator<'a> {
    /// Looks at the graph as the rule asks for it.
    pub fn new(graph: &'a SparseGraph, params: &'a PropagateParams, run: &Run<'_>) -> Result<Self> {
        params.check()?;
        let (graph, n_weak) = without_weak_edges(graph);
        let means = match params.rule {
            Rule::GreedyWalk { max_walk, pairs: None } => {
                Means::Walks(WalkTable::exact(&graph, max_walk, run)?)
            }
            Rule::GreedyWalk { max_walk, pairs: Some(pairs) } => {
                Means::Walks(WalkTable::truncated(&graph, pairs, max_walk, run)?)
            }
            _ => {
                let [bytes, _] = Hierarchy::bytes(graph.n_nodes() as u64, graph.n_edges() as u64);
                let share = |n: usize| (bytes as f64 * n as f64 / graph.n_nodes() as f64) as u64;
                let estimate = |n: usize| MemoryEstimate::of(vec![("hierarchy", share(n))]);
                refuse_if_over(graph.n_nodes(), run.memory_limit, estimate, "label fewer points")?;
                run.stage("hierarchy", None)?;
                Means::Systems(Hierarchy::new(&graph))
            }
        };
        let (components, degrees) = (Components::of_graph(&graph), graph.degrees());
        Ok(Self { graph, n_weak, params, components, degrees, means })
    }

    /// How much of the kernel the greedy walk sees; `None` for the other rules.
    pub fn walk_info(&self) -> Option<WalkInfo> {
        match &self.means {
            Means::Walks(table) => Some(table.info()),
            Means::Systems(_) => None,
        }
    }

    /// Labels every node that an example reaches.
    pub fn propagate(&self, examples: &LabeledNodes, run: &Run<'_>) -> Result<Propagation> {
        run.stage("propagate", None)?;
        self.labels(examples, 1, run)
    }

    /// The same as part of another stage, one of so many at a time.
    pub(crate) fn labels(
        &self,
        examples: &LabeledNodes,
        at_a_time: usize,
        run: &Run<'_>,
    ) -> Result<Propagation> {
        let params = self.params;
        let (n, width) = (self.graph.n_nodes(), examples.n_classes());
        if examples.n_nodes() != n {
            return Err(Error::Length { what: "labels", expected: n, received: examples.n_nodes() });
        }
        let by_component = examples.reached(&self.components);
        let reached: Vec<bool> =
            self.components.of_nodes().iter().map(|&component| by_component[component as usize]).collect();
        let (scores, scale) = match &self.means {
            Means::Walks(table) => (table.scores(examples), Scale::Difference),
            Means::Systems(hierarchy) => {
                self.refuse_without_memory(examples, at_a_time, run)?;
                self.solve_rule(&Problem { of: self, hierarchy, examples, reached: &reached, run })?
            }
        };
        if scores.info.residual > params.solver.tolerance {
            let SolveInfo { iterations, residual } = scores.info;
            return Err(Error::SolveNotConverged {
                iterations,
                residual,
                tolerance: params.solver.tolerance,
            });
        }
        let mut probabilities = probabilities(&scores.values, scale, examples, &reached, &params.priors)?;
        let is_held = |node: usize| params.clamping == Clamping::Hard && examples.get(node).is_some();
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
            walk: self.walk_info(),
            n_components: self.components.len(),
            n_weak_edges: self.n_weak,
        })
    }

    fn solve_rule(&self, problem: &Problem<'_>) -> Result<(Scores, Scale)> {
        Ok(match self.params.rule {
            Rule::Consistency { alpha } => (problem.consistency(alpha)?, Scale::Mass),
            Rule::Poisson => (problem.poisson()?, Scale::Difference),
            Rule::KernelCosine => (problem.by_kernel(|k, own| k / own.sqrt())?, Scale::Difference),
            Rule::NearestInKernel => (problem.by_kernel(|k, own| 2.0 * k - own)?, Scale::Difference),
            Rule::Harmonic => (problem.harmonic(self.params.clamping)?, Scale::Mass),
            Rule::GreedyWalk { .. } => unreachable!("walks need no systems"),
        })
    }

    /// The hierarchy; for each right-hand side eight vectors of the iteration and its levels, scores and probabilities; and the
    /// weights of the levels.
    fn refuse_without_memory(&self, examples: &LabeledNodes, at_a_time: usize, run: &Run<'_>) -> Result<()> {
        let by_kernel = matches!(self.params.rule, Rule::KernelCosine | Rule::NearestInKernel);
        let width = if by_kernel { examples.nodes().len() } else { examples.n_classes() } as u64;
        let n_nodes = self.graph.n_nodes();
        let n_edges = self.graph.n_edges() as u64;
        let per_system = 8 * n_nodes as u64 * (12 * width.next_multiple_of(4) + 8) + 8 * n_edges;
        let [making, _] = Hierarchy::bytes(n_nodes as u64, n_edges);
        let bytes = making + at_a_time as u64 * per_system;
        let share = |n: usize| (bytes as f64 * n as f64 / n_nodes as f64) as u64;
        let estimate = |n: usize| MemoryEstimate::of(vec![("propagate", share(n))]);
        refuse_if_over(n_nodes, run.memory_limit, estimate, "label fewer points, or use another rule")
    }
}
