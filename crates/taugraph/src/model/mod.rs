//! Stage 13, model: everything needed to place new points into an existing graph, its clusters and its labels.
//!
//! A new point gets its neighbors among the nodes, its local scales, and the probabilities and weights of its edges by the same
//! rules as the nodes; [`Model::place`] documents the exceptions. Its embedding, cluster and label follow from the
//! weights. The known points do not change: new points are placed one by one, and a thousand
//! new points do not form a new cluster.

mod clusters;
mod edges;
mod names;
mod place;
mod stored;

pub use place::{PlacedClasses, PlacedClusters, Placement};
pub use stored::VERSION;

use clusters::{Classes, Clusters};
use edges::PersistenceRule;
use names::Names;

use crate::cluster::{ClusterParams, Clustering, mean_probabilities};
use crate::distance::Metric;
use crate::error::{Error, Result, require};
use crate::neighbors::{MetricPoints, NeighborGraph, Space};
use crate::params::{CandidatePairs, CheckedGraphParams, GraphParams};
use crate::points::{Numbers, Points, Preparation, PreparationRule, check_count};
use crate::propagate::Propagation;
use crate::robust::NodeGraph;
use crate::scale::{FirstScale, LocalScales};
use crate::spectral::{Embedding, LaplacianKind, RowNormalization};

/// A graph, with its clusters and labels if it has any, that new points can be placed into.
///
/// Built from results: [`Model::new`] and then [`Model::with_preparation`], [`Model::with_clusters`] and
/// [`Model::with_classes`] as needed. [`Model::save`] writes it and [`Model::load`] reads it, in every front end.
#[derive(Debug, Clone)]
pub struct Model {
    /// The distinct points.
    known: MetricPoints,
    /// The row of each node, the first of its copies, and how many rows there were.
    row_of_node: Vec<u32>,
    n_rows: usize,
    neighbors: NeighborGraph,
    first_scales: LocalScales,
    scales: LocalScales,
    params: CheckedGraphParams,
    persistence: PersistenceRule,
    preparation: Option<PreparationRule>,
    clusters: Option<Clusters>,
    classes: Option<Classes>,
    names: Names,
    /// Mean probability of the edges of each node.
    probabilities: Vec<f64>,
    /// The largest distance from a node to its nearest node, in units of that node's first scale.
    max_novelty: f64,
}

impl Model {
    /// The model of a robust graph, which was built from the points `space` with the parameters `params`.
    pub fn new(space: &Space, robust: &NodeGraph, params: &CheckedGraphParams) -> Result<Self> {
        let Space::Points(points) = space else {
            return Err(Error::NeedsPoints { stage: "placing new points" });
        };
        let (n_rows, duplicates) = (space.len(), &robust.duplicates);
        if duplicates.n_rows() != n_rows {
            let received = duplicates.n_rows();
            return Err(Error::Length { what: "rows of the graph", expected: n_rows, received });
        }
        // Points that somebody else owns need not be copied.
        let distinct = match duplicates.n_copies() {
            0 => points.points().clone(),
            _ => points.points().select(duplicates.row_of_node()),
        };
        Self {
            known: MetricPoints::restored(distinct, points.metric())?,
            row_of_node: duplicates.row_of_node().to_vec(),
            n_rows,
            neighbors: robust.neighbors.clone(),
            first_scales: robust.first_scales.clone(),
            scales: robust.scales.clone(),
            params: without_given_scales(params)?,
            persistence: PersistenceRule::learned(&robust.stochastic, params),
            preparation: None,
            clusters: None,
            classes: None,
            names: Names::default(),
            probabilities: mean_probabilities(robust),
            max_novelty: 0.0,
        }
        .checked()
    }

    /// Adds how raw points were prepared.
    pub fn with_preparation(self, preparation: &Preparation) -> Result<Self> {
        self.with_rule(preparation.rule())
    }

    /// The same from the rule alone.
    pub fn with_rule(self, rule: PreparationRule) -> Result<Self> {
        Self { preparation: Some(rule), ..self }.checked()
    }

    /// Adds clusters of the graph and the embedding in which they were found. `params` are those of the clustering.
    ///
    /// # Panics
    /// If the graph and the clustering have different numbers of nodes.
    pub fn with_clusters(
        self,
        robust: &NodeGraph,
        clustering: &Clustering,
        params: &ClusterParams,
    ) -> Result<Self> {
        let clusters = Clusters::learned(&robust.graph, clustering, params);
        Self { clusters: Some(clusters), ..self }.checked()
    }

    /// Adds an embedding of the graph from [`crate::spectral::embed`] instead of clusters: new points get coordinates.
    ///
    /// # Panics
    /// If the graph and the embedding have different numbers of nodes.
    pub fn with_embedding(
        self,
        robust: &NodeGraph,
        embedding: &Embedding,
        kind: LaplacianKind,
        rows: RowNormalization,
    ) -> Result<Self> {
        let clusters = Clusters::embedded(&robust.graph, embedding, kind, rows);
        Self { clusters: Some(clusters), ..self }.checked()
    }

    /// Adds labels that were propagated on the graph.
    pub fn with_classes(self, propagation: &Propagation) -> Result<Self> {
        let classes = Classes::learned(propagation)?;
        Self { classes: Some(classes), ..self }.checked()
    }

    /// Checks everything that placing relies on, whether computed or read.
    fn checked(mut self) -> Result<Self> {
        let n = self.known.points().len();
        let lengths = [
            ("neighbors", self.neighbors.len()),
            ("rows of nodes", self.row_of_node.len()),
            ("first scales", self.first_scales.values().len()),
            ("scales", self.scales.values().len()),
            ("mean probabilities", self.probabilities.len()),
        ];
        if let Some(&(what, received)) = lengths.iter().find(|(_, length)| *length != n) {
            return Err(Error::Length { what, expected: n, received });
        }
        let outside = self.probabilities.iter().find(|value| !(0.0..=1.0).contains(*value));
        require(outside.is_none(), "mean probability", outside.unwrap_or(&0.0), "must be between 0 and 1")?;
        check_count(self.n_rows)?;
        let ascending = self.row_of_node.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascending || self.row_of_node.last().is_some_and(|&row| row as usize >= self.n_rows) {
            let rule = "rows of nodes must ascend and be below the number of rows";
            return Err(Error::BadStructure { row: 0, rule });
        }
        let needed = self.params.n_neighbors();
        if self.neighbors.k() != needed {
            let received = self.neighbors.k();
            return Err(Error::Length { what: "neighbors of each node", expected: needed, received });
        }
        self.persistence.check(n, &self.params)?;
        if let Some(rule) = &self.preparation {
            let (expected, received) = (self.known.points().n_columns(), rule.n_prepared());
            if expected != received {
                return Err(Error::Length { what: "columns of the prepared points", expected, received });
            }
        }
        if let Some(clusters) = &self.clusters {
            clusters.check(n)?;
        }
        if let Some(classes) = &self.classes {
            classes.check(n)?;
        }
        self.names.check(self.n_raw_columns(), self.n_classes().unwrap_or(0))?;
        let novelty =
            |node: usize| self.novelty(self.neighbors.ids(node)[0], self.neighbors.distances(node)[0]);
        self.max_novelty = (0..n).map(novelty).fold(0.0, f64::max);
        Ok(self)
    }

    /// A distance to the nearest node, in units of that node's first scale.
    fn novelty(&self, nearest: u32, distance: f64) -> f64 {
        distance / self.first_scales.get(nearest as usize)
    }

    /// Number of distinct points.
    pub fn n_nodes(&self) -> usize {
        self.known.points().len()
    }

    /// Number of rows that the model was built from, copies included.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The row of each node: the first of its copies.
    pub fn row_of_node(&self) -> &[u32] {
        &self.row_of_node
    }

    /// Columns of the prepared points.
    pub fn n_columns(&self) -> usize {
        self.known.points().n_columns()
    }

    /// Columns of the raw points; the same as those of the prepared ones without a preparation.
    pub fn n_raw_columns(&self) -> usize {
        self.preparation.as_ref().map_or(self.n_columns(), PreparationRule::n_columns)
    }

    /// The metric.
    pub fn metric(&self) -> Metric {
        self.known.metric()
    }

    /// How the graph was built. Scales that were given by row are not repeated here.
    pub fn params(&self) -> &GraphParams {
        &self.params
    }

    /// How raw points are prepared; `None` if points must come prepared.
    pub fn preparation(&self) -> Option<&PreparationRule> {
        self.preparation.as_ref()
    }

    /// Number of clusters, if there are any.
    pub fn n_clusters(&self) -> Option<usize> {
        self.clusters.as_ref().map(Clusters::len)
    }

    /// Number of clusters of each layer, from coarse to fine.
    pub fn layer_sizes(&self) -> Vec<usize> {
        let layers = self.clusters.iter().flat_map(|clusters| &clusters.layers);
        layers.map(|layer| layer.iter().max().map_or(0, |&last| last as usize + 1)).collect()
    }

    /// Number of layers of the clusters.
    pub fn n_layers(&self) -> usize {
        self.clusters.as_ref().map_or(0, |clusters| clusters.layers.len())
    }

    /// Coordinates of the embedding, if there is one.
    pub fn n_embedded(&self) -> Option<usize> {
        self.clusters.as_ref().and_then(Clusters::n_embedded)
    }

    /// Number of classes, if labels were propagated.
    pub fn n_classes(&self) -> Option<usize> {
        self.classes.as_ref().map(Classes::len)
    }

    /// The largest novelty score of a node; a point above it is an `outlier`. See [`Placement::novelty`].
    pub fn max_novelty(&self) -> f64 {
        self.max_novelty
    }

    /// Prepares raw points as those of the model were; also returns the number of missing cells that were filled.
    ///
    /// Without a preparation they are used as they are.
    pub fn prepare<'a>(&self, values: impl Into<Numbers<'a>>, n_columns: usize) -> Result<(Points, usize)> {
        match &self.preparation {
            Some(rule) => rule.apply(values, n_columns),
            None => {
                let points = match values.into() {
                    Numbers::F64(values) => Points::new(values.to_vec(), n_columns)?,
                    Numbers::F32(values) => Points::from_f32(values.to_vec(), n_columns)?,
                };
                Ok((points.in_precision(self.known.points().precision()), 0))
            }
        }
    }

    /// Neighbors that a new point needs: all nodes if all pairs are candidates.
    fn n_candidates(&self) -> usize {
        match self.params.candidates {
            CandidatePairs::All => self.n_nodes(),
            CandidatePairs::Neighbors { .. } => self.params.n_neighbors(),
        }
    }
}

/// Scales given by row are now stored with the nodes; the parameters need not repeat them.
fn without_given_scales(params: &CheckedGraphParams) -> Result<CheckedGraphParams> {
    let params = GraphParams::clone(params);
    match params.first_scale {
        FirstScale::Given { .. } => {
            GraphParams { first_scale: FirstScale::Given { values: Vec::new() }, ..params }
        }
        _ => params,
    }
    .check()
}
