//! Spectral embedding of any input.

use std::io::Write;

use super::builder::{Plan, shared_methods};
use super::graph::FittedGraph;
use super::input::{Input, Table};
use super::placed::place;
use super::warning::Warning;
use crate::config::EmbeddingParams;
use crate::error::{Result, require};
use crate::model::{Model, Placement};
use crate::progress::Run;
use crate::spectral::{EigenParams, Embedding, embed};

/// Embeds rows by the smallest eigenvectors of a robust graph, without the constant one.
#[derive(Clone, Default)]
pub struct SpectralEmbedding {
    plan: Plan,
}

shared_methods!(SpectralEmbedding);

impl SpectralEmbedding {
    /// Requests this many coordinates.
    pub fn n_components(mut self, n_components: usize) -> Self {
        self.plan.config.embedding.n_components = n_components;
        self
    }

    /// Embeds the rows of an input.
    pub fn fit<'a>(&self, input: impl Into<Input<'a>>) -> Result<FittedEmbedding> {
        self.fit_with(input, &Run::new(self.plan.config.seed))
    }

    /// The same in a run with progress, a memory limit or checkpoints. The seed is the run's.
    pub fn fit_with<'a>(&self, input: impl Into<Input<'a>>, run: &Run<'_>) -> Result<FittedEmbedding> {
        self.fit_graph(self.plan.graph(input.into(), run)?, run)
    }

    /// Embeds a fitted graph.
    pub fn fit_graph(&self, graph: FittedGraph, run: &Run<'_>) -> Result<FittedEmbedding> {
        let params = self.plan.config.embedding;
        let (count, n) = (params.n_components, graph.node_graph().n_nodes());
        require(count < n, "embedding.n_components", count, "must be below the number of distinct points")?;
        // The first eigenvector of a connected graph carries no information.
        let (kind, rows) = (params.laplacian, params.row_normalization);
        let embedding = embed(graph.node_graph(), kind, count + 1, rows, &EigenParams::default(), run)?;
        Ok(FittedEmbedding { graph, embedding, params })
    }
}

/// Coordinates of rows.
#[derive(Debug, Clone)]
pub struct FittedEmbedding {
    graph: FittedGraph,
    embedding: Embedding,
    params: EmbeddingParams,
}

impl FittedEmbedding {
    /// Coordinates, row by row.
    pub fn coordinates(&self) -> Vec<f64> {
        let duplicates = self.graph.duplicates();
        let rows = duplicates.node_of_row().iter().flat_map(|&node| &self.embedding.row(node as usize)[1..]);
        rows.copied().collect()
    }

    /// Number of coordinates.
    pub fn n_components(&self) -> usize {
        self.embedding.n_columns - 1
    }

    /// The eigenvalue of each coordinate.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.embedding.eigenvalues[1..]
    }

    /// The graph.
    pub fn graph(&self) -> &FittedGraph {
        &self.graph
    }

    /// Warnings about the result.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = self.graph.warnings();
        if !self.embedding.info.confirmed {
            warnings.push(Warning::UnconfirmedEigenpairs);
        }
        warnings
    }

    /// Coordinates of new rows, by the Nyström extension.
    pub fn predict(&self, table: &Table<'_>) -> Result<Vec<f64>> {
        let placed = self.place(table, &Run::new(self.graph.config().seed))?;
        let all = placed.clusters.and_then(|clusters| clusters.embedding).unwrap_or_default();
        Ok(all.chunks_exact(self.embedding.n_columns).flat_map(|row| &row[1..]).copied().collect())
    }

    /// All results for new rows.
    pub fn place(&self, table: &Table<'_>, run: &Run<'_>) -> Result<Placement> {
        place(&self.model()?, table, run)
    }

    /// The model that places new rows, for use without the fit.
    pub fn model(&self) -> Result<Model> {
        self.add_to(self.graph.model()?)
    }

    /// Builds a model of the graph with this embedding.
    pub fn add_to(&self, model: Model) -> Result<Model> {
        let params = &self.params;
        match self.graph.robust() {
            Some(part) => {
                model.with_embedding(&part.nodes, &self.embedding, params.laplacian, params.row_normalization)
            }
            None => Ok(model),
        }
    }

    /// Writes the model; [`Model::load`] reads it.
    pub fn save(&self, out: &mut dyn Write) -> Result<()> {
        self.model()?.save(out)
    }
}
