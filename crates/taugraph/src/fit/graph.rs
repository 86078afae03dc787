//! From any input to a graph: preparation, neighborhoods that suit the number of points, Algorithm 1, and what placing new points needs.

use std::borrow::Cow;

use super::input::{Input, Table};
use super::warning::Warning;
use crate::cluster::ClusterInput;
use crate::config::{Config, Shrunk};
use crate::distance::Metric;
use crate::error::{Error, Result};
use crate::graph::SparseGraph;
use crate::memory::{MemoryEstimate, refuse_if_over};
use crate::model::Model;
use crate::neighbors::Space;
use crate::params::{CandidatePairs, CheckedGraphParams, OwnEstimator};
use crate::points::{
    ColumnModel, Duplicates, Points, Preparation, PreparationRule, Standardize, prepare_raw, prepare_sparse,
};
use crate::progress::Run;
use crate::propagate::{PropagateParams, with_background};
use crate::quantile::{Estimator, StopReason};
use crate::robust::{NodeGraph, RowSize, robust_graph_for};

/// A fitted graph. Results by row cover every row, duplicates included.
#[derive(Debug, Clone)]
pub struct FittedGraph {
    config: Config,
    source: GraphSource,
    row_size: Option<RowSize>,
    /// All-zero rows, because of which the Euclidean distance was used instead of the cosine.
    zero_rows: usize,
}

/// Where a graph comes from.
#[derive(Debug, Clone)]
enum GraphSource {
    Robust(Box<RobustPart>),
    Given(Box<GivenGraph>),
}

/// A graph outside the presets: a given one, or a baseline over the distinct points.
#[derive(Debug, Clone)]
pub(super) struct GivenGraph {
    pub graph: SparseGraph,
    pub duplicates: Duplicates,
    pub preparation: Option<PreparationReport>,
    pub shrunk: Vec<Shrunk>,
}

/// All intermediate results, by node, of a graph built from points, distances or neighbors.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RobustPart {
    /// The graph of the distinct points.
    pub nodes: NodeGraph,
    /// The parameters as they were used.
    pub params: CheckedGraphParams,
    /// What was done to a table; `None` for sparse points and given distances.
    pub preparation: Option<PreparationReport>,
    /// Parameters that were made smaller because there are few points.
    shrunk: Vec<Shrunk>,
    /// The points, if they are kept for placing new ones among them.
    space: Option<Space>,
    metric: Option<Metric>,
    rule: Option<PreparationRule>,
}

/// What the preparation did, by column name.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PreparationReport {
    /// Columns that were used, and how; their indices are those of the table.
    pub used: Vec<ColumnModel>,
    /// Names of all columns of the table.
    pub names: Vec<String>,
    /// Columns dropped because all their cells are equal.
    pub constant: Vec<String>,
    /// Columns dropped because all their cells are missing.
    pub empty: Vec<String>,
    /// Missing cells that were filled.
    pub n_imputed: usize,
    /// Share of the variance that the principal components keep.
    pub pca_share: Option<f64>,
}

impl PreparationReport {
    fn new(found: &Preparation, names: Vec<String>) -> Self {
        let named = |columns: &[usize]| columns.iter().map(|&column| names[column].clone()).collect();
        Self {
            constant: named(&found.constant_columns),
            empty: named(&found.empty_columns),
            n_imputed: found.n_imputed(),
            used: found.columns.clone(),
            pca_share: found.pca.as_ref().map(|pca| pca.explained()),
            names,
        }
    }
}

/// Builds the graph of an input.
pub(super) fn fit_graph(
    input: Input<'_>,
    config: &Config,
    own: Option<&OwnEstimator>,
    run: &Run<'_>,
) -> Result<FittedGraph> {
    config.check()?;
    let row_size = input.row_size(config);
    let PreparedSpace { space, preparation, rule, zero_rows } = match prepared(input, config, run)? {
        Prepared::Graph(graph) => {
            let duplicates = Duplicates::none(graph.n_nodes());
            let given = GivenGraph { graph, duplicates, preparation: None, shrunk: Vec::new() };
            return Ok(FittedGraph::given(given, config, row_size, 0));
        }
        Prepared::Space(prepared) => *prepared,
    };
    // A neighbor graph knows nothing about a point but its neighbors.
    let known_neighbors = match &space {
        Space::Neighbors(graph) => Some(graph.k() + 1),
        _ => None,
    };
    let params_for = |n_points: usize| {
        let (params, shrunk) = config.graph_for(known_neighbors.unwrap_or(n_points))?;
        let params = match own {
            Some(own) => params.with_estimator(own.clone()),
            None => params,
        };
        Ok((params, shrunk))
    };
    let (nodes, params, shrunk) = robust_graph_for(&space, &params_for, run)?;
    let metric = match &space {
        Space::Points(points) => Some(points.metric()),
        Space::Sparse(points) => Some(points.metric()),
        Space::Distances(_) | Space::Neighbors(_) => None,
    };
    let part = RobustPart { nodes, params, preparation, shrunk, space: Some(space), metric, rule };
    let source = GraphSource::Robust(Box::new(part));
    Ok(FittedGraph { config: config.clone(), source, row_size, zero_rows })
}

/// An input after its preparation: a given graph, or a space.
pub(super) enum Prepared {
    Graph(SparseGraph),
    Space(Box<PreparedSpace>),
}

/// A space, and what was done to a table to get it.
pub(super) struct PreparedSpace {
    pub space: Space,
    pub preparation: Option<PreparationReport>,
    pub rule: Option<PreparationRule>,
    pub zero_rows: usize,
}

pub(super) fn prepared(input: Input<'_>, config: &Config, run: &Run<'_>) -> Result<Prepared> {
    let (mut preparation, mut rule, mut zero_rows) = (None, None, 0);
    let space = match input {
        Input::Graph(graph) => return Ok(Prepared::Graph(graph)),
        Input::Distances(matrix) => Space::Distances(matrix),
        Input::Neighbors(graph) => Space::Neighbors(graph),
        Input::Sparse(points) => {
            let points = prepare_sparse(points, &config.preparation_for(true))?;
            let mut metric = config.metric_for(true);
            if config.metric.is_none() {
                zero_rows = (0..points.len()).filter(|&row| points.n_entries_of(row) == 0).count();
                metric = if zero_rows > 0 { Metric::Euclidean } else { metric };
            }
            Space::from_sparse(points, metric)?
        }
        Input::Points(table) => {
            let (names, n_columns) = (names_of(&table), table.n_columns());
            // Raw values are consumed: scaled where they are, or freed as soon as they are no longer needed.
            let found = prepare_raw(table.into_values(), n_columns, &config.preparation_for(false), run)?;
            (preparation, rule) = (Some(PreparationReport::new(&found, names)), Some(found.rule()));
            Space::from_points_with(found.points, config.metric_for(false), run.scratch)?
        }
    };
    Ok(Prepared::Space(Box::new(PreparedSpace { space, preparation, rule, zero_rows })))
}

fn names_of(table: &Table<'_>) -> Vec<String> {
    match table.names() {
        Some(names) => names.to_vec(),
        None => (0..table.n_columns()).map(|column| format!("x{column}")).collect(),
    }
}

impl FittedGraph {
    pub(super) fn given(
        given: GivenGraph,
        config: &Config,
        row_size: Option<RowSize>,
        zero_rows: usize,
    ) -> Self {
        FittedGraph {
            config: config.clone(),
            source: GraphSource::Given(Box::new(given)),
            row_size,
            zero_rows,
        }
    }

    /// The configuration of the fit.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Number of rows, copies included.
    pub fn n_rows(&self) -> usize {
        match &self.source {
            GraphSource::Robust(part) => part.nodes.duplicates.n_rows(),
            GraphSource::Given(given) => given.duplicates.n_rows(),
        }
    }

    /// The graph over all rows. A copy is attached to the first row equal to it by an edge of weight 1.
    pub fn graph(&self) -> Cow<'_, SparseGraph> {
        match &self.source {
            GraphSource::Robust(part) => Cow::Owned(part.nodes.graph_of_rows()),
            GraphSource::Given(given) => given.graph_of_rows(),
        }
    }

    /// Robust local scale of each row; `None` if the graph was given.
    pub fn local_scales(&self) -> Option<Vec<f64>> {
        self.robust().map(|part| self.per_row(part.nodes.scales.values()))
    }

    /// First local scale of each row; `None` if the graph was given.
    pub fn first_scales(&self) -> Option<Vec<f64>> {
        self.robust().map(|part| self.per_row(part.nodes.first_scales.values()))
    }

    /// Each quantile and the number of edges that persist at it; empty if the graph was given.
    pub fn decay(&self) -> &[(f64, usize)] {
        self.robust().map_or(&[], |part| part.nodes.stochastic.decay())
    }

    /// Warnings about the result.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let (preparation, shrunk) = match &self.source {
            GraphSource::Robust(part) => (&part.preparation, &part.shrunk),
            GraphSource::Given(given) => (&given.preparation, &given.shrunk),
        };
        if self.zero_rows > 0 {
            warnings.push(Warning::ZeroRows { n_rows: self.zero_rows });
        }
        if let Some(done) = preparation {
            if !done.constant.is_empty() {
                warnings.push(Warning::ConstantColumns(done.constant.clone()));
            }
            if !done.empty.is_empty() {
                warnings.push(Warning::EmptyColumns(done.empty.clone()));
            }
            if done.n_imputed > 0 {
                let filled = done.used.iter().filter(|column| column.n_missing > 0);
                let columns = filled.map(|column| done.names[column.column].clone()).collect();
                warnings.push(Warning::FilledCells { n_cells: done.n_imputed, columns });
            }
        }
        if !shrunk.is_empty() {
            warnings.push(Warning::FewPoints { n_known: shrunk[0].used + 1, shrunk: shrunk.clone() });
        }
        let Some(part) = self.robust() else { return warnings };
        let nodes = &part.nodes;
        if nodes.stochastic.has_flat_decay() {
            let target_neighbors = match &part.params.estimator {
                Estimator::AutoEncoder(settings) => Some(settings.target_neighbors),
                Estimator::Factorization(settings) => Some(settings.target_neighbors),
                _ => None,
            };
            warnings.push(Warning::FlatDecay { target_neighbors });
        }
        let unfinished = nodes.training.iter().filter(|training| training.stop == StopReason::IterationLimit);
        let (n_unfinished, n_models) = (unfinished.count(), nodes.training.len());
        if n_unfinished > 0 {
            warnings.push(Warning::UnfinishedTraining { n_unfinished, n_models });
        }
        let n_components = nodes.components.len();
        if !nodes.links.is_empty() {
            warnings.push(Warning::Linked { n_components });
        } else if n_components > 1 {
            warnings.push(Warning::Disconnected { n_components });
        }
        warnings
    }

    /// Builds a model that places new points: their weights to the known points, and all results that follow from them.
    pub fn model(&self) -> Result<Model> {
        let needs_points = || Error::NeedsPoints { stage: "placing new points" };
        let part = self.robust().ok_or_else(needs_points)?;
        let space = part.space.as_ref().ok_or_else(needs_points)?;
        let model = Model::new(space, &part.nodes, &part.params)?;
        match &part.rule {
            Some(rule) => model.with_rule(rule.clone()),
            None => Ok(model),
        }
    }

    /// The same for sparse points, which must be passed again as a raw table: models contain tables.
    pub fn model_of_table(&self, table: &Table<'_>) -> Result<Model> {
        let part = self.robust().filter(|part| matches!(part.space, Some(Space::Sparse(_))));
        let (Some(part), Some(metric)) = (part, part.and_then(RobustPart::metric)) else {
            return Err(Error::NeedsPoints { stage: "a model of sparse points" });
        };
        let preparation = scaled_as_sparse(table, self.config.preparation_for(true).standardize)?;
        let rule = preparation.rule();
        Model::new(&Space::from_points(preparation.points, metric)?, &part.nodes, &part.params)?
            .with_rule(rule)
    }

    /// Frees the memory of the points; new ones can no longer be placed.
    pub fn forget_points(&mut self) {
        if let GraphSource::Robust(part) = &mut self.source {
            part.space = None;
        }
    }

    /// The graph over the distinct points.
    pub fn node_graph(&self) -> &SparseGraph {
        match &self.source {
            GraphSource::Robust(part) => &part.nodes.graph,
            GraphSource::Given(given) => &given.graph,
        }
    }

    /// The graph as clustering and propagation take it, with the distances to the neighbors if they are known.
    pub fn cluster_input(&self) -> ClusterInput<'_> {
        let neighbors = self.robust().map(|part| &part.nodes.neighbors);
        ClusterInput { graph: self.node_graph(), neighbors, constraints: None }
    }

    /// The graph that labels spread on: over few points with a background of all pairs. It needs the points, unless they were freed.
    pub fn label_graph(&self, params: &PropagateParams, run: &Run<'_>) -> Result<Cow<'_, SparseGraph>> {
        let graph = self.node_graph();
        let n = graph.n_nodes();
        let part = self.robust().filter(|_| params.has_background(n));
        let Some((part, space)) = part.and_then(|part| Some((part, part.space()?))) else {
            return Ok(Cow::Borrowed(graph));
        };
        if !space.knows_all_pairs() || part.params.candidates == CandidatePairs::All {
            return Ok(Cow::Borrowed(graph));
        }
        let pairs = |n: usize| MemoryEstimate::of(vec![("background", 40 * (n as u64).pow(2))]);
        refuse_if_over(n, run.memory_limit, pairs, "set propagate.background=no")?;
        let rows = part.nodes.duplicates.row_of_node();
        Ok(Cow::Owned(with_background(graph, &part.nodes.neighbors, space, rows, run)?))
    }

    /// Copies results of the nodes to every row.
    pub fn per_row<T: Clone>(&self, per_node: &[T]) -> Vec<T> {
        self.duplicates().restore(per_node)
    }

    /// Which rows are the same node.
    pub fn duplicates(&self) -> &Duplicates {
        match &self.source {
            GraphSource::Robust(part) => &part.nodes.duplicates,
            GraphSource::Given(given) => &given.duplicates,
        }
    }

    /// All intermediate results; `None` if the graph was given.
    pub fn robust(&self) -> Option<&RobustPart> {
        match &self.source {
            GraphSource::Robust(part) => Some(part),
            GraphSource::Given(_) => None,
        }
    }

    /// The size of a row of points after preparation.
    pub fn row_size(&self) -> Option<RowSize> {
        self.row_size
    }

    /// A given graph with its components joined by weak links.
    pub(super) fn linked(self) -> Self {
        match self.source {
            GraphSource::Given(given) => {
                let graph = crate::links::link_by_degree(&given.graph).0;
                Self { source: GraphSource::Given(Box::new(GivenGraph { graph, ..*given })), ..self }
            }
            GraphSource::Robust(_) => self,
        }
    }
}

impl GivenGraph {
    /// The graph over all rows: a copy is attached to the first row equal to it, as in the graphs of the presets.
    fn graph_of_rows(&self) -> Cow<'_, SparseGraph> {
        let Self { graph, duplicates, .. } = self;
        if duplicates.n_copies() == 0 {
            return Cow::Borrowed(graph);
        }
        let first_row = |&node: &u32| duplicates.row_of_node()[node as usize];
        let rows = duplicates.node_of_row().iter().map(first_row).zip(0..);
        let copies: Vec<(u32, u32, f64)> =
            rows.filter(|(first, row)| first != row).map(|(first, row)| (first, row, 1.0)).collect();
        Cow::Owned(graph.renamed(duplicates.row_of_node(), duplicates.n_rows()).with_edges(&copies))
    }
}

/// A table prepared as sparse points are: every column stays, divided by its largest magnitude if requested.
fn scaled_as_sparse(table: &Table<'_>, standardize: Standardize) -> Result<Preparation> {
    let (values, n_columns) = (table.values(), table.n_columns());
    let mut scales = vec![1.0f64; n_columns];
    if standardize == Standardize::MaxAbs {
        let mut largest = vec![0.0f64; n_columns];
        for row in values.rows(n_columns) {
            largest.iter_mut().zip(row.iter()).for_each(|(largest, cell)| *largest = largest.max(cell.abs()));
        }
        scales
            .iter_mut()
            .zip(largest)
            .filter(|pair| pair.1 > 0.0)
            .for_each(|(scale, largest)| *scale = largest);
    }
    let model =
        |(column, &scale): (usize, &f64)| ColumnModel { column, fill: 0.0, center: 0.0, scale, n_missing: 0 };
    let columns = scales.iter().enumerate().map(model).collect();
    let scaled = values.iter().zip(scales.iter().cycle()).map(|(cell, scale)| cell / scale).collect();
    let points = Points::new(scaled, n_columns)?;
    Ok(Preparation { points, columns, constant_columns: Vec::new(), empty_columns: Vec::new(), pca: None })
}

impl RobustPart {
    /// The points, unless they were freed.
    pub fn space(&self) -> Option<&Space> {
        self.space.as_ref()
    }

    /// How raw points become those of the graph.
    pub fn rule(&self) -> Option<&PreparationRule> {
        self.rule.as_ref()
    }

    /// The metric; `None` for given distances and neighbors.
    pub fn metric(&self) -> Option<Metric> {
        self.metric
    }
}
