//! Spectral clustering of any input.

use std::io::Write;

use super::builder::{Plan, shared_methods};
use super::graph::FittedGraph;
use super::input::{Input, Table};
use super::placed::place;
use super::warning::Warning;
use crate::cluster::{
    ClusterParams, Clustering, Eigengap, Stability, refuse_if_too_large, spectral_clustering, stability,
};
use crate::error::{Error, Result};
use crate::model::{Model, Placement};
use crate::progress::Run;

/// Clusters by the eigenvectors of a robust graph.
///
/// ```
/// # use taugraph::generators::moons;
/// # let table = moons(300, 0.05, 1)?;
/// let clusters = taugraph::SpectralClustering::new().n_clusters(2).seed(42).fit(&table)?;
/// assert_eq!(clusters.labels().len(), 300);
/// # Ok::<(), taugraph::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct SpectralClustering {
    plan: Plan,
}

shared_methods!(SpectralClustering);

impl SpectralClustering {
    /// Requests exactly this many clusters; otherwise the number is chosen by the eigengap.
    pub fn n_clusters(mut self, n_clusters: usize) -> Self {
        self.plan.config.cluster.n_clusters = Some(n_clusters);
        self
    }

    /// Measures the stability of each label over this many random graphs.
    pub fn stability(mut self, draws: usize) -> Self {
        self.plan.config.cluster.stability = draws;
        self
    }

    /// Clusters the rows of an input.
    pub fn fit<'a>(&self, input: impl Into<Input<'a>>) -> Result<FittedClusters> {
        self.fit_with(input, &Run::new(self.plan.config.seed))
    }

    /// The same in a run with progress, a memory limit or checkpoints. The seed is the run's.
    pub fn fit_with<'a>(&self, input: impl Into<Input<'a>>, run: &Run<'_>) -> Result<FittedClusters> {
        let (input, config) = (input.into(), &self.plan.config);
        config.check()?;
        if let Some(row) = input.row_size(config) {
            refuse_if_too_large(input.n_rows(), row, &config.graph, &config.cluster, run)?;
        }
        self.fit_graph(self.plan.graph(input, run)?, run)
    }

    /// Clusters a fitted graph.
    pub fn fit_graph(&self, graph: FittedGraph, run: &Run<'_>) -> Result<FittedClusters> {
        let params = self.plan.config.cluster;
        if params.stability > 0 && graph.robust().is_none() {
            return Err(Error::NeedsPoints {
                stage: "stability, which draws from the probabilities of edges,",
            });
        }
        let clustering = spectral_clustering(graph.node_graph(), &params, run)?;
        let stable = match graph.robust() {
            Some(part) if params.stability > 0 => {
                Some(stability(&part.nodes, &part.params, &clustering, &params, run)?)
            }
            _ => None,
        };
        let labels = graph.per_row(&clustering.labels);
        Ok(FittedClusters { graph, clustering, labels, stable, params })
    }
}

/// Clusters of rows.
#[derive(Debug, Clone)]
pub struct FittedClusters {
    graph: FittedGraph,
    clustering: Clustering,
    labels: Vec<u32>,
    stable: Option<Stability>,
    params: ClusterParams,
}

impl FittedClusters {
    /// The cluster of each row: 0, 1, … in the order of their first rows.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// Number of clusters.
    pub fn n_clusters(&self) -> usize {
        self.clustering.n_clusters()
    }

    /// Eigenvalues and the gaps between them, which determine the number of clusters.
    pub fn eigengap(&self) -> &Eigengap {
        &self.clustering.eigengap
    }

    /// Coordinates of each row, row by row; `None` if components were clustered separately.
    pub fn embedding(&self) -> Option<Vec<f64>> {
        let embedding = self.clustering.embedding.as_ref()?;
        let duplicates = self.graph.duplicates();
        let rows = duplicates.node_of_row().iter().flat_map(|&node| embedding.row(node as usize));
        Some(rows.copied().collect())
    }

    /// Share of the random graphs in which each row keeps its cluster, if requested.
    pub fn stability(&self) -> Option<Vec<f64>> {
        self.stable.as_ref().map(|stable| self.graph.per_row(&stable.of_nodes))
    }

    /// The stability of the distinct points.
    pub fn stability_of_nodes(&self) -> Option<&Stability> {
        self.stable.as_ref()
    }

    /// The graph.
    pub fn graph(&self) -> &FittedGraph {
        &self.graph
    }

    /// The clustering of the distinct points.
    pub fn clustering(&self) -> &Clustering {
        &self.clustering
    }

    /// Warnings about the result.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = self.graph.warnings();
        if !self.clustering.links.is_empty() {
            warnings.push(Warning::LinkedForClusters { n_components: self.clustering.n_components });
        }
        if self.clustering.embedding.as_ref().is_some_and(|embedding| !embedding.info.confirmed) {
            warnings.push(Warning::UnconfirmedEigenpairs);
        }
        warnings
    }

    /// The cluster of each new row.
    pub fn predict(&self, table: &Table<'_>) -> Result<Vec<u32>> {
        let placed = self.place(table, &Run::new(self.graph.config().seed))?;
        Ok(placed.clusters.map(|clusters| clusters.labels).unwrap_or_default())
    }

    /// All results for new rows.
    pub fn place(&self, table: &Table<'_>, run: &Run<'_>) -> Result<Placement> {
        place(&self.model()?, table, run)
    }

    /// The model that places new rows, for use without the fit.
    pub fn model(&self) -> Result<Model> {
        self.add_to(self.graph.model()?)
    }

    /// Builds a model of the graph with these clusters.
    pub fn add_to(&self, model: Model) -> Result<Model> {
        match self.graph.robust() {
            Some(part) => model.with_clusters(&part.nodes, &self.clustering, &self.params),
            None => Ok(model),
        }
    }

    /// Writes the model; [`Model::load`] reads it.
    pub fn save(&self, out: &mut dyn Write) -> Result<()> {
        self.model()?.save(out)
    }
}
