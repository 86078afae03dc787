//! Stage 12, propagate: labels for all nodes from a few labeled points, each with its probability; nodes out of reach get no label.

mod all_pairs;
mod background;
mod calibrate;
mod decide;
mod evaluate;
mod groups;
mod kernel;
mod labeled_nodes;
mod ladder;
mod masses;
mod params;
mod reliability;
mod rows;
mod rules;
mod suggest;
#[cfg(test)]
mod tests;
mod walk;

pub use crate::linear::{SolveInfo, Solver};
pub use background::with_background;
pub(crate) use decide::best;
pub use evaluate::{Evaluation, Trials, evaluate};
pub use labeled_nodes::LabeledNodes;
pub use params::{Background, Calibration, Clamping, Groups, Ladder, Priors, PropagateParams, Rule};
pub use reliability::{Reliability, ReliabilityBin};
pub use rows::RowLabels;
pub use suggest::{Reason, Suggestion, suggest};
pub use walk::{WalkInfo, WalkTable};

use std::borrow::Cow;

use crate::cluster::ClusterInput;
use crate::error::{Error, Result, require};
use crate::graph::{Components, SparseGraph};
use crate::linear::{Hierarchy, LazyHierarchy};
use crate::memory::{MemoryEstimate, refuse_if_over};
use crate::progress::Run;
use calibrate::{at_temperature, left_out, temperature};
use decide::{Comparison, Scale, to_sizes};
use groups::ClassGroups;
use ladder::on_ladder;
use rules::{LinearRule, Problem, Scores};

/// Edges lighter than this fraction of the heaviest are ignored: in a graph of all pairs they would carry a label to every
/// point, by weights that are mere rounding error.
const WEAK: f64 = 1e-10;

/// Labels of all nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Propagation {
    /// The label of each node; `None` where no labeled point reaches.
    pub labels: Vec<Option<u32>>,
    /// Probability of each class, node by node; they sum to 1, or are all 0 where no labeled point reaches.
    pub probabilities: Vec<f64>,
    /// Lead of the likeliest class over the second.
    pub margins: Vec<f64>,
    /// How the linear systems were solved.
    pub info: SolveInfo,
    /// The temperature of the probabilities, fitted on labeled points left out; `None` if there were too few, or the rule has no
    /// calibration.
    pub temperature: Option<f64>,
    /// Labeled nodes that lie in the group of another class and did not spread their label; `None` if classes were not matched
    /// with groups.
    pub outside_group: Option<Vec<u32>>,
    /// How much of the kernel the greedy walk used; `None` for the other rules.
    pub walk: Option<WalkInfo>,
    /// Components of the graph.
    pub n_components: usize,
    /// Edges that were ignored because they weigh less than 1e-10 of the heaviest.
    pub n_weak_edges: usize,
}

impl Propagation {
    /// Number of nodes without a label.
    pub fn n_abstained(&self) -> usize {
        self.labels.iter().filter(|label| label.is_none()).count()
    }
}

/// Labels every node that a labeled point reaches.
pub fn propagate<'a>(
    input: impl Into<ClusterInput<'a>>,
    labeled: &LabeledNodes,
    params: &'a PropagateParams,
    run: &Run<'_>,
) -> Result<Propagation> {
    Propagator::new(input, labeled.n_classes(), params, run)?.propagate(labeled, run)
}

/// The graph that labels spread on, and the number of edges ignored.
fn without_weak_edges(graph: &SparseGraph) -> (Cow<'_, SparseGraph>, usize) {
    match graph.without_weak_edges(WEAK) {
        Some((kept, n_weak)) => (Cow::Owned(kept), n_weak),
        None => (Cow::Borrowed(graph), 0),
    }
}

/// Scores of all nodes, and how to read them.
struct Scored {
    scores: Scores,
    comparison: Comparison,
    temperature: Option<f64>,
    outside_group: Option<Vec<u32>>,
}

/// What a rule needs from a graph, computed once for any set of labeled points.
#[derive(Debug, Clone)]
pub struct Propagator<'a> {
    graph: Cow<'a, SparseGraph>,
    n_weak: usize,
    params: &'a PropagateParams,
    components: Components,
    degrees: Vec<f64>,
    means: Means,
    /// The groups of the graph, if there are as many as classes.
    groups: Option<ClassGroups>,
}

/// The means by which a rule spreads labels.
#[derive(Debug, Clone)]
enum Means {
    /// Linear systems, solved on a multigrid hierarchy of the graph or by a factor.
    Systems { hierarchy: LazyHierarchy, rule: LinearRule },
    /// Walks that do not depend on the labels.
    Walks(WalkTable),
}

impl Means {
    fn new(graph: &SparseGraph, params: &PropagateParams, run: &Run<'_>) -> Result<Self> {
        let rule = match params.rule {
            Rule::Harmonic => LinearRule::Harmonic(params.clamping),
            Rule::Poisson => LinearRule::Poisson,
            Rule::Consistency { alpha } => LinearRule::Consistency { alpha },
            Rule::KernelCosine => LinearRule::KernelCosine,
            Rule::NearestInKernel => LinearRule::NearestInKernel,
            Rule::GreedyWalk { max_walk, pairs } => {
                return Ok(Self::Walks(match pairs {
                    Some(pairs) => WalkTable::truncated(graph, pairs, max_walk, run)?,
                    None => WalkTable::exact(graph, max_walk, run)?,
                }));
            }
        };
        let [bytes, _] = Hierarchy::bytes(graph.n_nodes() as u64, graph.n_edges() as u64);
        refuse_share("hierarchy", bytes, graph.n_nodes(), run, "label fewer points")?;
        run.stage("hierarchy", None)?;
        Ok(Self::Systems { hierarchy: LazyHierarchy::new(graph), rule })
    }
}

/// Refuses a stage that needs `bytes` for `n_nodes` nodes, and says how many nodes would fit.
fn refuse_share(
    stage: &'static str,
    bytes: u64,
    n_nodes: usize,
    run: &Run<'_>,
    advice: &'static str,
) -> Result<()> {
    let share = |n: usize| (bytes as f64 * n as f64 / n_nodes as f64) as u64;
    let estimate = |n: usize| MemoryEstimate::of(vec![(stage, share(n))]);
    refuse_if_over(n_nodes, run.memory_limit, estimate, advice)
}

impl<'a> Propagator<'a> {
    /// Prepares the graph as the rule requires, for labels of so many classes.
    pub fn new(
        input: impl Into<ClusterInput<'a>>,
        n_classes: usize,
        params: &'a PropagateParams,
        run: &Run<'_>,
    ) -> Result<Self> {
        params.check()?;
        let input = input.into();
        let graph = input.graph;
        let groups = match params.matches_groups(graph.n_nodes()) {
            true => ClassGroups::find(input, n_classes, run)?,
            false => None,
        };
        let (graph, n_weak) = without_weak_edges(graph);
        // Groups of the classes tell more than a ladder of partitions.
        let graph = match groups.is_none() && params.ladder.applies_to(graph.n_nodes()) {
            true => Cow::Owned(on_ladder(&graph, n_classes, run)?),
            false => graph,
        };
        let means = Means::new(&graph, params, run)?;
        let (components, degrees) = (graph.components().clone(), graph.degrees());
        Ok(Self { graph, n_weak, params, components, degrees, means, groups })
    }

    /// How much of the kernel the greedy walk uses; `None` for the other rules.
    pub fn walk_info(&self) -> Option<WalkInfo> {
        match &self.means {
            Means::Walks(table) => Some(table.info()),
            Means::Systems { .. } => None,
        }
    }

    /// Labels every node that a labeled point reaches.
    pub fn propagate(&self, labeled: &LabeledNodes, run: &Run<'_>) -> Result<Propagation> {
        run.stage("propagate", None)?;
        self.labels(labeled, 1, run)
    }

    /// The same as part of another stage, one of `at_a_time` concurrent calls.
    pub(crate) fn labels(
        &self,
        labeled: &LabeledNodes,
        at_a_time: usize,
        run: &Run<'_>,
    ) -> Result<Propagation> {
        let n = self.graph.n_nodes();
        if labeled.n_nodes() != n {
            return Err(Error::Length { what: "labels", expected: n, received: labeled.n_nodes() });
        }
        let has_weights =
            matches!(self.params.rule, Rule::Harmonic | Rule::Poisson | Rule::Consistency { .. });
        let rule =
            "needs harmonic functions, Poisson learning or consistency if labels have different weights";
        require(has_weights || !labeled.are_weighted(), "propagate.rule", self.params.rule.name(), rule)?;
        let by_component = labeled.reached(&self.components);
        let reached: Vec<bool> =
            self.components.of_nodes().iter().map(|&component| by_component[component as usize]).collect();
        let found = self.scores(labeled, &reached, at_a_time, run)?;
        run.check()?;
        let SolveInfo { iterations, residual } = found.scores.info;
        let tolerance = self.params.solver.tolerance;
        if residual > tolerance {
            return Err(Error::SolveNotConverged { iterations, residual, tolerance });
        }
        let probabilities = self.probabilities(&found, labeled, &reached)?;
        let decided: Vec<(u32, f64)> = probabilities.chunks_exact(labeled.n_classes()).map(best).collect();
        Ok(Propagation {
            labels: decided.iter().zip(&reached).map(|(best, reached)| reached.then_some(best.0)).collect(),
            margins: decided.iter().map(|best| best.1.max(0.0)).collect(),
            probabilities,
            info: found.scores.info,
            temperature: found.temperature,
            outside_group: found.outside_group,
            walk: self.walk_info(),
            n_components: self.components.len(),
            n_weak_edges: self.n_weak,
        })
    }

    /// Scores of every class at every node.
    fn scores(
        &self,
        labeled: &LabeledNodes,
        reached: &[bool],
        at_a_time: usize,
        run: &Run<'_>,
    ) -> Result<Scored> {
        let (hierarchy, rule) = match &self.means {
            Means::Walks(table) => {
                let scores = table.scores(labeled);
                let comparison = Comparison::new(
                    &scores.values,
                    Scale::Difference,
                    labeled,
                    reached,
                    &self.params.priors,
                )?;
                return Ok(Scored { scores, comparison, temperature: None, outside_group: None });
            }
            Means::Systems { hierarchy, rule } => (hierarchy, *rule),
        };
        let mut left_out = match self.params.calibration == Calibration::Auto && rule.is_calibrated() {
            true => left_out(labeled, run.seed),
            false => Vec::new(),
        };
        let width = rule.n_right_hand_sides(labeled).max(left_out.len());
        self.refuse_without_memory(width, at_a_time, run)?;
        let problem = Problem { of: self, hierarchy, labeled, reached, groups: None, run };
        let groups = match &self.groups {
            Some(groups) => groups.matched(&problem)?,
            None => None,
        };
        if let Some(groups) = &groups {
            // What does not spread its label cannot be left out.
            let spreads = |class: Option<u32>| class.is_some_and(|class| !groups.has_moved(class as usize));
            left_out.retain(|&node| spreads(labeled.get(node as usize)));
        }
        let problem = Problem { groups: groups.as_ref(), ..problem };
        let (scores, scale) = problem.scores(rule, &left_out)?;
        let comparison = Comparison::new(&scores.values, scale, labeled, reached, &self.params.priors)?;
        let temperature = match left_out.is_empty() {
            true => None,
            false => {
                let rows = problem.harmonic_left_out(&scores, &left_out);
                let rows = left_out.iter().zip(rows).filter_map(|(&node, row)| {
                    Some((comparison.probabilities(&row?), labeled.get(node as usize)?))
                });
                temperature(&rows.collect::<Vec<_>>())
            }
        };
        let outside_group = groups.map(|groups| {
            let moved = labeled.iter().filter(|(_, class)| groups.has_moved(*class as usize));
            moved.map(|(node, _)| node).collect()
        });
        Ok(Scored { scores, comparison, temperature, outside_group })
    }

    /// Probabilities of the classes, matched to their sizes if given; under hard clamping labeled points keep their labels.
    fn probabilities(&self, found: &Scored, labeled: &LabeledNodes, reached: &[bool]) -> Result<Vec<f64>> {
        let PropagateParams { clamping, sizes, .. } = self.params;
        let width = labeled.n_classes();
        let rows = found.scores.values.chunks_exact(width).zip(reached);
        let mut probabilities: Vec<f64> = rows
            .flat_map(|(row, reached)| match reached {
                true => found.comparison.probabilities(row),
                false => vec![0.0; width],
            })
            .collect();
        let is_clamped = |node: usize| *clamping == Clamping::Hard && labeled.get(node).is_some();
        if let Some(shares) = sizes {
            let free: Vec<bool> = (0..reached.len()).map(|node| reached[node] && !is_clamped(node)).collect();
            to_sizes(&mut probabilities, width, &free, shares)?;
        }
        if let Some(temperature) = found.temperature {
            probabilities.chunks_exact_mut(width).for_each(|row| at_temperature(row, temperature));
        }
        for (node, class) in labeled.iter() {
            if is_clamped(node as usize) {
                let row = &mut probabilities[node as usize * width..(node as usize + 1) * width];
                row.fill(0.0);
                row[class as usize] = 1.0;
            }
        }
        Ok(probabilities)
    }

    /// Counts the hierarchy; for each right-hand side, eight vectors of the iteration and its levels, scores and probabilities;
    /// and the weights of the levels.
    fn refuse_without_memory(&self, width: usize, at_a_time: usize, run: &Run<'_>) -> Result<()> {
        let width = width as u64;
        let n_nodes = self.graph.n_nodes();
        let n_edges = self.graph.n_edges() as u64;
        let per_system = 8 * n_nodes as u64 * (12 * width.next_multiple_of(4) + 8) + 8 * n_edges;
        let [making, _] = Hierarchy::bytes(n_nodes as u64, n_edges);
        let bytes = making + at_a_time as u64 * per_system;
        refuse_share("propagate", bytes, n_nodes, run, "label fewer points, or use another rule")
    }
}
