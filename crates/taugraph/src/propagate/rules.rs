//! The rules that only need a few linear systems on the graph: scores of every class at every node.

use super::calibrate::n_left_out;
use super::decide::Scale;
use super::groups::MatchedGroups;
use super::labeled_nodes::LabeledNodes;
use super::{Clamping, Propagator, SolveInfo};
use crate::error::Result;
use crate::linear::{Ground, LazyHierarchy, Right, solve};
use crate::progress::Run;

/// Strength of the springs that tie the nodes of a group to its class, in units of their degrees.
const GROUP_STRENGTH: f64 = 0.01;

/// What is left of its degree where nothing but its own label reaches a node is rounding error.
const UNREACHED: f64 = 1e-9;

/// The system that harmonic functions solve.
struct HarmonicSystem {
    clamped: Vec<bool>,
    extra: Vec<f64>,
    right: Vec<f64>,
}

impl HarmonicSystem {
    fn ground(&self) -> Ground<'_> {
        Ground::Some { clamped: &self.clamped, extra: &self.extra }
    }
}

/// A rule whose scores solve linear systems; each is a method of [`Problem`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum LinearRule {
    Harmonic(Clamping),
    Poisson,
    Consistency { alpha: f64 },
    KernelCosine,
    NearestInKernel,
}

impl LinearRule {
    /// Whether its probabilities can be calibrated.
    pub fn is_calibrated(self) -> bool {
        self == Self::Harmonic(Clamping::Hard)
    }

    /// One for each class, or one for each labeled point.
    pub fn n_right_hand_sides(self, labeled: &LabeledNodes) -> usize {
        match self {
            Self::KernelCosine | Self::NearestInKernel => labeled.nodes().len(),
            Self::Harmonic(_) | Self::Poisson | Self::Consistency { .. } => labeled.n_classes(),
        }
    }
}

/// Scores node by node; higher is likelier.
pub(super) struct Scores {
    pub values: Vec<f64>,
    /// For each node left out, what its own label contributes to its value, as [`Problem::harmonic_left_out`] needs it.
    pub returning: Vec<f64>,
    pub info: SolveInfo,
}

/// What every rule works on.
pub(super) struct Problem<'a> {
    pub of: &'a Propagator<'a>,
    pub hierarchy: &'a LazyHierarchy,
    pub labeled: &'a LabeledNodes,
    /// Whether a label reaches a node.
    pub reached: &'a [bool],
    /// Groups of the graph that belong to classes.
    pub groups: Option<&'a MatchedGroups<'a>>,
    pub run: &'a Run<'a>,
}

impl Problem<'_> {
    fn n(&self) -> usize {
        self.of.graph.n_nodes()
    }

    /// The scores of a rule, and how they are to be compared; for harmonic functions also what is needed to leave some nodes out.
    pub fn scores(&self, rule: LinearRule, left_out: &[u32]) -> Result<(Scores, Scale)> {
        Ok(match rule {
            LinearRule::Harmonic(clamping) => (self.harmonic(clamping, left_out)?, Scale::Mass),
            LinearRule::Poisson => (self.poisson()?, Scale::Difference),
            LinearRule::Consistency { alpha } => (self.consistency(alpha)?, Scale::Mass),
            LinearRule::KernelCosine => (self.by_kernel(|k, own| k / own.sqrt())?, Scale::Difference),
            LinearRule::NearestInKernel => (self.by_kernel(|k, own| 2.0 * k - own)?, Scale::Difference),
        })
    }

    fn solve(&self, ground: Ground<'_>, right: &Right<'_>) -> Result<Scores> {
        let (of, check) = (self.of, || self.run.check());
        let found = solve(&of.graph, self.hierarchy, &ground, right, &of.params.solver, &check)?;
        Ok(Scores { values: found.values, returning: found.measured, info: found.info })
    }

    /// Harmonic functions (Zhu, Ghahramani, Lafferty 2003): every unlabeled node has the weighted mean of its
    /// neighbors. Under soft clamping, labeled nodes are tied to their labels by springs of `strength` times their degree.
    pub fn harmonic(&self, clamping: Clamping, left_out: &[u32]) -> Result<Scores> {
        let width = self.labeled.n_classes();
        let system = self.harmonic_system(clamping);
        let measured = self.edges_of(left_out);
        // Calibration changes probabilities by their temperature alone: without it, the same way is taken.
        let counted = match clamping {
            Clamping::Hard => width + n_left_out(self.labeled),
            Clamping::Soft { .. } => width,
        };
        let right =
            Right { solved: &system.right, width, measured: &measured, n_measured: left_out.len(), counted };
        let mut scores = self.solve(system.ground(), &right)?;
        if clamping == Clamping::Hard {
            let labels = self.labeled.iter();
            labels.for_each(|(node, class)| scores.values[node as usize * width + class as usize] = 1.0);
        }
        Ok(scores)
    }

    /// The weights to the neighbors of some nodes, a column for each.
    fn edges_of(&self, nodes: &[u32]) -> Vec<f64> {
        let mut columns = vec![0.0; self.n() * nodes.len()];
        for (column, &node) in nodes.iter().enumerate() {
            for (neighbor, weight) in self.of.graph.row(node as usize) {
                columns[neighbor as usize * nodes.len() + column] = weight;
            }
        }
        columns
    }

    fn harmonic_system(&self, clamping: Clamping) -> HarmonicSystem {
        let (n, width) = (self.n(), self.labeled.n_classes());
        let mut clamped: Vec<bool> = self.reached.iter().map(|reached| !reached).collect();
        let mut extra = vec![0.0; n];
        let mut right = vec![0.0; n * width];
        for ((node, class), label_weight) in self.labeled.iter().zip(self.labeled.weights()) {
            let (node, class) = (node as usize, class as usize);
            if self.groups.is_some_and(|groups| groups.has_moved(class)) {
                continue;
            }
            match clamping {
                Clamping::Hard => {
                    clamped[node] = true;
                    // A label of weight 2 pulls like two points with the same neighbors.
                    for (neighbor, weight) in self.of.graph.row(node) {
                        right[neighbor as usize * width + class] += label_weight * weight;
                        extra[neighbor as usize] += (label_weight - 1.0) * weight;
                    }
                }
                Clamping::Soft { strength } => {
                    // A node without neighbors has only its labeled point.
                    let degree = if self.of.degrees[node] > 0.0 { self.of.degrees[node] } else { 1.0 };
                    extra[node] = strength * label_weight * degree;
                    right[node * width + class] = extra[node];
                }
            }
        }
        for (node, class) in self.groups.iter().flat_map(|groups| groups.nodes()) {
            let spring = GROUP_STRENGTH * self.of.degrees[node];
            extra[node] += spring;
            right[node * width + class] += spring;
        }
        HarmonicSystem { clamped, extra, right }
    }

    /// What each of the nodes left out would score if its own label were not known, `None` if nothing else reaches it. The system stays the same.
    ///
    /// With f the harmonic functions of the classes, w the weights of l to its free neighbors and A the system's matrix, l contributes
    /// wᵀ·A⁻¹·w to the weighted sum of its neighbors by its own label. Without that l is held at 0, and free it takes the value at which it is
    /// the weighted mean of its neighbors. (If its label has a weight, its edges keep it.)
    pub fn harmonic_left_out(&self, scores: &Scores, left_out: &[u32]) -> Vec<Option<Vec<f64>>> {
        let width = self.labeled.n_classes();
        let system = self.harmonic_system(Clamping::Hard);
        let without = |(&node, &returning): (&u32, &f64)| {
            let label = self.labeled.nodes().binary_search(&node).expect("it is labeled");
            let own = self.labeled.weights()[label] * returning;
            let class = self.labeled.get(node as usize).expect("it is labeled") as usize;
            let node = node as usize;
            let degree = self.of.degrees[node];
            let mut sums = system.right[node * width..(node + 1) * width].to_vec();
            for (neighbor, weight) in self.of.graph.row(node) {
                let neighbor = neighbor as usize;
                // Clamped neighbors are in the right-hand side.
                if !system.clamped[neighbor] {
                    let of_neighbor = &scores.values[neighbor * width..(neighbor + 1) * width];
                    sums.iter_mut().zip(of_neighbor).for_each(|(sum, score)| *sum += weight * score);
                }
            }
            sums[class] -= own;
            let total = degree + system.extra[node] - own;
            (total > UNREACHED * degree).then(|| sums.iter().map(|sum| (sum / total).max(0.0)).collect())
        };
        left_out.iter().zip(&scores.returning).map(without).collect()
    }

    /// Poisson learning (Calder, Cook, Thorpe, Slepčev 2020): L·u = Σ ω_l·(y_l − ȳ)·δ_l in every component, with ω the weights of the
    /// labels, ȳ their weighted mean and Σ d·u = 0.
    pub fn poisson(&self) -> Result<Scores> {
        let (n, width) = (self.n(), self.labeled.n_classes());
        let components = &self.of.components;
        let of_nodes = components.of_nodes();
        let mut means = vec![0.0; components.len() * width];
        let mut totals = vec![0.0f64; components.len()];
        for ((node, class), weight) in self.labeled.iter().zip(self.labeled.weights()) {
            let component = of_nodes[node as usize] as usize;
            totals[component] += weight;
            means[component * width + class as usize] += weight;
        }
        for (row, total) in means.chunks_exact_mut(width).zip(&totals).filter(|(_, total)| **total > 0.0) {
            row.iter_mut().for_each(|mean| *mean /= total);
        }
        let mut right = vec![0.0; n * width];
        for ((node, class), weight) in self.labeled.iter().zip(self.labeled.weights()) {
            let component = of_nodes[node as usize] as usize;
            let row = &mut right[node as usize * width..(node as usize + 1) * width];
            row.iter_mut().zip(&means[component * width..]).for_each(|(right, mean)| *right = -weight * mean);
            row[class as usize] += weight;
        }
        let mut scores = self.solve(Ground::None(components), &Right::new(&right, width))?;
        self.shift(&mut scores.values, width);
        // Nothing reaches across components: a class without a labeled point has no score there.
        for (row, &component) in scores.values.chunks_exact_mut(width).zip(of_nodes) {
            let of_component = &means[component as usize * width..(component as usize + 1) * width];
            let absent = row.iter_mut().zip(of_component).filter(|(_, mean)| **mean == 0.0);
            absent.for_each(|(score, _)| *score = f64::NEG_INFINITY);
        }
        Ok(scores)
    }

    /// Local and global consistency (Zhou et al. 2003) in its closed form, (I − α·D^−½WD^−½)·F = Y. With F = D^½·G that is
    /// (L + (1/α − 1)·D)·G = D^½·Y/α.
    pub fn consistency(&self, alpha: f64) -> Result<Scores> {
        let (n, width) = (self.n(), self.labeled.n_classes());
        let degrees = &self.of.degrees;
        let mut right = vec![0.0; n * width];
        for ((node, class), weight) in self.labeled.iter().zip(self.labeled.weights()) {
            right[node as usize * width + class as usize] = weight * degrees[node as usize].sqrt() / alpha;
        }
        let clamped: Vec<bool> = self.reached.iter().map(|reached| !reached).collect();
        let extra: Vec<f64> = degrees.iter().map(|degree| (1.0 / alpha - 1.0) * degree).collect();
        let ground = Ground::Some { clamped: &clamped, extra: &extra };
        let mut scores = self.solve(ground, &Right::new(&right, width))?;
        for (row, degree) in scores.values.chunks_exact_mut(width).zip(degrees) {
            row.iter_mut().for_each(|value| *value *= degree.sqrt());
        }
        // A node without neighbors has only its labeled point.
        for (node, class) in self.labeled.iter().filter(|(node, _)| degrees[*node as usize] == 0.0) {
            scores.values[node as usize * width + class as usize] = 1.0;
        }
        Ok(scores)
    }

    /// Columns of K = L_sym† at the labeled nodes, node by node, in the order of [`LabeledNodes::nodes`].
    ///
    /// L_sym·k = e_l − P·e_l with P the projector on √d of each component; with k = D^½·g that is L·g = D^½·(e_l − P·e_l), and
    /// we take the solution with Σ √d·k = 0.
    pub fn kernel_columns(&self) -> Result<Scores> {
        let (n, width) = (self.n(), self.labeled.nodes().len());
        let (degrees, components) = (&self.of.degrees, &self.of.components);
        let of_nodes = components.of_nodes();
        let mut volumes = vec![0.0; components.len()];
        of_nodes.iter().zip(degrees).for_each(|(&component, degree)| volumes[component as usize] += degree);
        let mut right = vec![0.0; n * width];
        for (column, &label) in self.labeled.nodes().iter().enumerate() {
            let component = of_nodes[label as usize];
            let root = degrees[label as usize].sqrt();
            if root > 0.0 {
                for node in (0..n).filter(|&node| of_nodes[node] == component) {
                    right[node * width + column] = -degrees[node] * root / volumes[component as usize];
                }
                right[label as usize * width + column] += root;
            }
        }
        let mut scores = self.solve(Ground::None(components), &Right::new(&right, width))?;
        self.shift(&mut scores.values, width);
        for (row, degree) in scores.values.chunks_exact_mut(width).zip(degrees) {
            row.iter_mut().for_each(|value| *value *= degree.sqrt());
        }
        Ok(scores)
    }

    /// For each class, the best of its labeled nodes by `closeness(K_jl, K_ll)`. Across components no closeness
    /// is defined: the pseudo-inverse would make it 0.
    pub fn by_kernel(&self, closeness: impl Fn(f64, f64) -> f64) -> Result<Scores> {
        let columns = self.kernel_columns()?;
        let (n, m, width) = (self.n(), self.labeled.nodes().len(), self.labeled.n_classes());
        let of_nodes = self.of.components.of_nodes();
        let mut values = vec![f64::NEG_INFINITY; n * width];
        for node in 0..n {
            for (column, (label, class)) in self.labeled.iter().enumerate() {
                if of_nodes[label as usize] == of_nodes[node] {
                    let own = columns.values[label as usize * m + column];
                    let best = &mut values[node * width + class as usize];
                    *best = best.max(closeness(columns.values[node * m + column], own));
                }
            }
        }
        Ok(Scores { values, returning: Vec::new(), info: columns.info })
    }

    /// Adds a constant in each component so that Σ d·x = 0 there.
    fn shift(&self, x: &mut [f64], width: usize) {
        let (degrees, components) = (&self.of.degrees, &self.of.components);
        let mut sums = vec![0.0; components.len() * width];
        let mut totals = vec![0.0; components.len()];
        for (node, row) in x.chunks_exact(width).enumerate() {
            let component = components.of_nodes()[node] as usize;
            totals[component] += degrees[node];
            let of_component = &mut sums[component * width..(component + 1) * width];
            of_component.iter_mut().zip(row).for_each(|(sum, x)| *sum += degrees[node] * x);
        }
        for (node, row) in x.chunks_exact_mut(width).enumerate() {
            let component = components.of_nodes()[node] as usize;
            if totals[component] > 0.0 {
                let of_component = &sums[component * width..(component + 1) * width];
                row.iter_mut().zip(of_component).for_each(|(x, sum)| *x -= sum / totals[component]);
            }
        }
    }
}
