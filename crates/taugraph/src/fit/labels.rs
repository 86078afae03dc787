//! Labels from a few labeled rows of any input.

use std::io::Write;

use super::builder::{Plan, shared_methods};
use super::graph::FittedGraph;
use super::input::{Input, Table};
use super::placed::place;
use super::warning::Warning;
use crate::cluster::ClusterInput;
use crate::error::{Error, Result, require};
use crate::labels::Labels;
use crate::model::{Model, Placement};
use crate::progress::Run;
use crate::propagate::{
    Evaluation, LabeledNodes, Propagation, Reason, RowLabels, Rule, Suggestion, Trials, evaluate, propagate,
    suggest,
};

/// The given labels: a class for some of the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenLabels {
    classes: Vec<String>,
    of_rows: Vec<Option<u32>>,
    weights: Option<Vec<f64>>,
}

impl GivenLabels {
    /// From the name of each row's class, `None` if unknown. Classes are sorted by name.
    pub fn from_names<T: AsRef<str>>(names: &[Option<T>]) -> Self {
        let known: Vec<&str> = names.iter().flatten().map(AsRef::as_ref).collect();
        let (ids, classes) = Labels::from_names(&known);
        let mut ids = ids.iter().copied();
        let of_rows = names.iter().map(|name| name.as_ref().and_then(|_| ids.next())).collect();
        Self { classes: classes.into_iter().map(str::to_string).collect(), of_rows, weights: None }
    }

    /// From the number of each row's class, below `n_classes`.
    pub fn from_ids(of_rows: Vec<Option<u32>>, n_classes: usize) -> Self {
        Self { classes: (0..n_classes).map(|class| class.to_string()).collect(), of_rows, weights: None }
    }

    /// With a weight for each row: how much its label counts. A label of weight 2 pulls like those of two points with the same
    /// neighbors; one of weight 0 is taken away. Weights of rows without a label do not matter.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self> {
        if weights.len() != self.of_rows.len() {
            let (expected, received) = (self.of_rows.len(), weights.len());
            return Err(Error::Length { what: "weights of labels", expected, received });
        }
        if let Some(row) = weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
            let value = format!("{} (row {row})", weights[row]);
            require(false, "weights of labels", value, "must be finite and not negative")?;
        }
        for (label, weight) in self.of_rows.iter_mut().zip(&weights) {
            *label = label.filter(|_| *weight > 0.0);
        }
        Ok(Self { weights: Some(weights), ..self })
    }

    /// The weight of each row, if they have any.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// Names of the classes.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The class of each row that has one.
    pub fn of_rows(&self) -> &[Option<u32>] {
        &self.of_rows
    }
}

/// Label propagation on a robust graph, from as few as one labeled row per class.
///
/// ```
/// use taugraph::{GivenLabels, LabelPropagation};
/// # let table = taugraph::generators::moons(300, 0.05, 1)?;
/// let mut names = vec![None; 300];
/// (names[0], names[299]) = (Some("upper"), Some("lower"));
/// let labels = LabelPropagation::new().fit(&table, &GivenLabels::from_names(&names))?;
/// assert_eq!(labels.labels().len(), 300);
/// # Ok::<(), taugraph::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct LabelPropagation {
    plan: Plan,
}

shared_methods!(LabelPropagation);

impl LabelPropagation {
    /// Sets the rule by which labels spread.
    pub fn rule(mut self, rule: Rule) -> Self {
        self.plan.config.propagate.rule = rule;
        self
    }

    /// Labels the rows of an input.
    pub fn fit<'a>(&self, input: impl Into<Input<'a>>, given: &GivenLabels) -> Result<FittedLabels> {
        self.fit_with(input, given, &Run::new(self.plan.config.seed))
    }

    /// The same in a run with progress, a memory limit or checkpoints. The seed is the run's.
    pub fn fit_with<'a>(
        &self,
        input: impl Into<Input<'a>>,
        given: &GivenLabels,
        run: &Run<'_>,
    ) -> Result<FittedLabels> {
        let mut found = self.fit_graph(self.graph(input, run)?, given, run)?;
        if !self.plan.keeps_points {
            found.graph.forget_points();
        }
        Ok(found)
    }

    /// The graph, with its points as long as a background needs their distances.
    fn graph<'a>(&self, input: impl Into<Input<'a>>, run: &Run<'_>) -> Result<FittedGraph> {
        let mut graph = Plan { keeps_points: true, ..self.plan.clone() }.graph(input.into(), run)?;
        let n_nodes = graph.node_graph().n_nodes();
        if !self.plan.keeps_points && !self.plan.config.propagate.has_background(n_nodes) {
            graph.forget_points();
        }
        Ok(graph)
    }

    /// How well labels would spread from a few rows, given the class of every row; and the graph.
    pub fn evaluate_with<'a>(
        &self,
        input: impl Into<Input<'a>>,
        labels: &Labels,
        trials: Trials,
        run: &Run<'_>,
    ) -> Result<(Evaluation, FittedGraph)> {
        let graph = self.graph(input, run)?;
        let params = &self.plan.config.propagate;
        let spread_on = graph.label_graph(params, run)?;
        let input = ClusterInput { graph: &spread_on, ..graph.cluster_input() };
        let found = evaluate(input, graph.duplicates().node_of_row(), labels, params, trials, run)?;
        drop(spread_on);
        Ok((found, graph))
    }

    /// Labels the rows of a fitted graph.
    pub fn fit_graph(&self, graph: FittedGraph, given: &GivenLabels, run: &Run<'_>) -> Result<FittedLabels> {
        let params = &self.plan.config.propagate;
        let graph = if params.link { graph.linked() } else { graph };
        let (nodes, n_conflicts, propagation, rows);
        {
            let duplicates = graph.duplicates();
            (nodes, n_conflicts) =
                LabeledNodes::of_rows(given.of_rows(), given.weights(), given.classes().len(), duplicates)?;
            let spread_on = graph.label_graph(params, run)?;
            let input = ClusterInput { graph: &spread_on, ..graph.cluster_input() };
            propagation = propagate(input, &nodes, params, run)?;
            rows = propagation.of_rows(given.of_rows(), duplicates, params.clamping);
        }
        let is_labeled = (0..nodes.n_nodes()).map(|node| nodes.get(node).is_some()).collect();
        Ok(FittedLabels { graph, classes: given.classes.clone(), propagation, rows, n_conflicts, is_labeled })
    }
}

/// Labels of rows.
#[derive(Debug, Clone)]
pub struct FittedLabels {
    graph: FittedGraph,
    classes: Vec<String>,
    propagation: Propagation,
    rows: RowLabels,
    n_conflicts: usize,
    /// Whether each node was given a label.
    is_labeled: Vec<bool>,
}

/// A row to label next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuggestedRow {
    /// The row; of several copies the first.
    pub row: u32,
    /// Why it would help.
    pub reason: Reason,
}

impl FittedLabels {
    /// The class of each row; `None` where no label reaches.
    pub fn labels(&self) -> &[Option<u32>] {
        &self.rows.labels
    }

    /// Names of the classes.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Probability of each class, row by row; they sum to 1, or are all 0 where no label reaches.
    pub fn probabilities(&self) -> &[f64] {
        &self.rows.probabilities
    }

    /// Lead of the likeliest class over the second, for each row.
    pub fn margins(&self) -> &[f64] {
        &self.rows.margins
    }

    /// Number of points whose copies were given different labels: the most frequent is used, or none in a tie.
    pub fn n_conflicts(&self) -> usize {
        self.n_conflicts
    }

    /// The propagation on the distinct points.
    pub fn propagation(&self) -> &Propagation {
        &self.propagation
    }

    /// Labeled rows that lie in the group of another class, where classes were matched with groups: worth a second look.
    pub fn rows_outside_group(&self) -> Vec<u32> {
        let rows = self.graph.duplicates().row_of_node();
        let nodes = self.propagation.outside_group.iter().flatten();
        nodes.map(|&node| rows[node as usize]).collect()
    }

    /// Up to `n` rows whose label would help most, the most useful first.
    pub fn suggest(&self, n: usize, run: &Run<'_>) -> Result<Vec<SuggestedRow>> {
        let found = suggest(self.graph.node_graph(), &self.is_labeled, &self.propagation.margins, n, run)?;
        let rows = self.graph.duplicates().row_of_node();
        let of_row =
            |found: &Suggestion| SuggestedRow { row: rows[found.node as usize], reason: found.reason };
        Ok(found.iter().map(of_row).collect())
    }

    /// The graph.
    pub fn graph(&self) -> &FittedGraph {
        &self.graph
    }

    /// Warnings about the result.
    pub fn warnings(&self) -> Vec<Warning> {
        self.graph.warnings()
    }

    /// The class of each new row; `None` where no labeled row is near.
    pub fn predict(&self, table: &Table<'_>) -> Result<Vec<Option<u32>>> {
        let placed = self.place(table, &Run::new(self.graph.config().seed))?;
        Ok(placed.classes.map(|classes| classes.labels).unwrap_or_default())
    }

    /// All results for new rows.
    pub fn place(&self, table: &Table<'_>, run: &Run<'_>) -> Result<Placement> {
        place(&self.model()?, table, run)
    }

    /// The model that places new rows, for use without the fit.
    pub fn model(&self) -> Result<Model> {
        self.add_to(self.graph.model()?)
    }

    /// Builds a model of the graph with these labels.
    pub fn add_to(&self, model: Model) -> Result<Model> {
        model.with_classes(&self.propagation)
    }

    /// Writes the model; [`Model::load`] reads it.
    pub fn save(&self, out: &mut dyn Write) -> Result<()> {
        self.model()?.save(out)
    }
}
