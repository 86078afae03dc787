//! Spectral clustering of any input.

use std::io::Write;

use super::builder::{Plan, shared_methods};
use super::graph::{FittedGraph, RobustPart};
use super::input::{Input, Table};
use super::placed::place;
use super::warning::Warning;
use crate::cluster::{
    ClusterInput, ClusterMethod, ClusterParams, Clustering, Constraints, Eigengap, Explanation, Outliers,
    Stability, Unconverged, cluster, explain, memberships, outlier_scores, refuse_if_too_large,
    spectral_clustering, stability, typical_nodes,
};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::metrics::ari;
use crate::model::{Model, Placement};
use crate::params::Preset;
use crate::points::Duplicates;
use crate::progress::{Run, Silent};
use crate::robust::robust_graph_for;

/// Distinct points up to which all pairs are compared.
const MAX_ALL_PAIRS: usize = 2000;

/// Clusters of a robust graph: by its eigenvectors, or by merging micro-communities.
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
    constraints: Constraints,
}

shared_methods!(SpectralClustering, constraints);

impl SpectralClustering {
    /// Requests exactly this many clusters; otherwise the number is found.
    pub fn n_clusters(mut self, n_clusters: usize) -> Self {
        self.plan.config.cluster.n_clusters = Some(n_clusters);
        self
    }

    /// Spectral clustering, agglomeration, or the better of both.
    pub fn method(mut self, method: ClusterMethod) -> Self {
        self.plan.config.cluster.method = method;
        self
    }

    /// Which rows get no cluster because they lie apart; the default places every row.
    pub fn outliers(mut self, outliers: Outliers) -> Self {
        self.plan.config.cluster.outliers = outliers;
        self
    }

    /// Pairs of rows that must, or must not, share a cluster.
    pub fn constraints(mut self, constraints: Constraints) -> Self {
        self.constraints = constraints;
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
        // Before the graph is built, which may take long.
        self.constraints.linked_groups(input.n_rows())?;
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
        let constraints = self.constraints_of_nodes(graph.duplicates())?;
        let input = ClusterInput { constraints: constraints.as_ref(), ..graph.cluster_input() };
        let rows = graph.duplicates().row_of_node();
        let clustering = cluster(input, &params, run).map_err(|error| match error {
            Error::BadConstraint { i, j, rule } => {
                Error::BadConstraint { i: rows[i as usize], j: rows[j as usize], rule }
            }
            other => other,
        })?;
        let stable = match graph.robust() {
            Some(part) if params.stability > 0 => {
                Some(stability(&part.nodes, &clustering, &params, constraints.as_ref(), run)?)
            }
            _ => None,
        };
        let outlier_scores = graph.robust().map(|part| graph.per_row(&outlier_scores(&part.nodes)));
        if params.outliers != Outliers::None && outlier_scores.is_none() {
            return Err(Error::NeedsPoints { stage: "the outlier score, which compares local scales," });
        }
        let labels = graph.per_row(&clustering.labels);
        Ok(FittedClusters { graph, clustering, labels, stable, outlier_scores, params })
    }

    /// The pairs as pairs of nodes; contradictions are named by their rows.
    fn constraints_of_nodes(&self, duplicates: &Duplicates) -> Result<Option<Constraints>> {
        if self.constraints.is_empty() {
            return Ok(None);
        }
        // Equal rows share a node, and so a cluster.
        let first_rows = duplicates.row_of_node();
        let nodes = duplicates.node_of_row();
        let copies =
            nodes.iter().map(|&node| first_rows[node as usize]).zip(0..).filter(|(first, row)| first != row);
        let with_copies = Constraints {
            must_link: self.constraints.must_link.iter().copied().chain(copies).collect(),
            cannot_link: self.constraints.cannot_link.clone(),
        };
        with_copies.linked_groups(duplicates.n_rows())?;
        let of_nodes = |pairs: &[(u32, u32)]| {
            pairs
                .iter()
                .map(|&(i, j)| (nodes[i as usize], nodes[j as usize]))
                .filter(|(i, j)| i != j)
                .collect()
        };
        Ok(Some(Constraints {
            must_link: of_nodes(&self.constraints.must_link),
            cannot_link: of_nodes(&self.constraints.cannot_link),
        }))
    }
}

/// Clusters of rows.
#[derive(Debug, Clone)]
pub struct FittedClusters {
    graph: FittedGraph,
    clustering: Clustering,
    labels: Vec<u32>,
    stable: Option<Stability>,
    outlier_scores: Option<Vec<f64>>,
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

    /// The cluster of each row; `None` for outliers, if they were asked for.
    pub fn labels_without_outliers(&self) -> Vec<Option<u32>> {
        let is_outlier = self.is_outlier();
        self.labels
            .iter()
            .zip(is_outlier)
            .map(|(&label, is_outlier)| (!is_outlier).then_some(label))
            .collect()
    }

    /// Whether each row is an outlier by the rule that was asked for.
    pub fn is_outlier(&self) -> Vec<bool> {
        match &self.outlier_scores {
            Some(scores) if self.params.outliers != Outliers::None => {
                let threshold = self.params.outliers.threshold(scores);
                scores.iter().map(|score| *score > threshold).collect()
            }
            _ => vec![false; self.labels.len()],
        }
    }

    /// The outlier score of each row: about 1 among its like, higher the farther apart; `None` if the graph was given.
    pub fn outlier_scores(&self) -> Option<&[f64]> {
        self.outlier_scores.as_deref()
    }

    /// The strength of each row's membership in each cluster, row by row; those of a row sum to 1.
    pub fn memberships(&self) -> Vec<f64> {
        let k = self.n_clusters();
        let of_nodes = memberships(self.graph.node_graph(), &self.clustering.labels);
        let nodes = self.graph.duplicates().node_of_row();
        nodes
            .iter()
            .flat_map(|&node| of_nodes[node as usize * k..(node as usize + 1) * k].iter().copied())
            .collect()
    }

    /// Nested answers from coarse to fine, by row, each with the resistance of its weakest boundary.
    pub fn layers(&self) -> Vec<(Vec<u32>, f64)> {
        self.clustering
            .layers
            .iter()
            .map(|layer| (self.graph.per_row(&layer.labels), layer.resistance))
            .collect()
    }

    /// The two clusters with the weakest boundary between them, if the number was found and is above 1.
    pub fn weakest_boundary(&self) -> Option<(u32, u32)> {
        let (_, tree) = (self.clustering.count.as_ref()?, self.clustering.tree.as_ref()?);
        let [a, b] = tree.next_merge(self.n_clusters())?;
        let majority = |group: u32| {
            let mut votes = vec![0usize; self.n_clusters()];
            let inside = tree.members(group);
            let labels = tree.micro_communities.iter().zip(self.clustering.labels.iter());
            labels
                .filter(|(micro, _)| inside[**micro as usize])
                .for_each(|(_, &label)| votes[label as usize] += 1);
            (0..votes.len())
                .max_by_key(|&cluster| (votes[cluster], std::cmp::Reverse(cluster)))
                .map(|c| c as u32)
        };
        let (a, b) = (majority(a)?, majority(b)?);
        (a != b).then_some((a.min(b), a.max(b)))
    }

    /// How many groups there are and how sure that is, in a sentence; `None` if the number was given.
    pub fn evidence(&self) -> Option<String> {
        let count = self.clustering.count.as_ref()?;
        let also = count
            .alternatives
            .iter()
            .map(|other| other.n_clusters.to_string())
            .collect::<Vec<_>>()
            .join(" or ");
        let also = if also.is_empty() { String::new() } else { format!("; {also} would also be an answer") };
        let n_clusters = self.n_clusters();
        Some(match (n_clusters, count.evidence) {
            (n, _) if n != count.n_clusters => {
                let found = count.n_clusters;
                format!(
                    "{n} groups because of min_clusters or max_clusters; the boundaries suggest {found}{also}"
                )
            }
            (n, _) if count.resistance == f64::INFINITY => {
                format!("{n} groups: nothing connects them, or pairs of rows keep them apart{also}")
            }
            (1, _) => format!("one group: nothing here is distinguishable from a single group{also}"),
            (n, evidence) => {
                let weakest = match self.weakest_boundary() {
                    Some((a, b)) => format!("; the weakest boundary is between {a} and {b}"),
                    None => String::new(),
                };
                format!("{} evidence for {n} groups{weakest}{also}", evidence.name())
            }
        })
    }

    /// The adjusted Rand index between these clusters and those of plain local scaling with the same number of clusters: near 1 if the
    /// robust graph and local scaling tell the same story, low if the result depends on the choice between them. The time is that of
    /// all pairs; `None` for one cluster, without the points, or above 2,000 distinct ones.
    pub fn agreement_with_local_scaling(&self, run: &Run<'_>) -> Result<Option<f64>> {
        let n_nodes = self.graph.node_graph().n_nodes();
        let Some(space) = self
            .graph
            .robust()
            .and_then(RobustPart::space)
            .filter(|_| n_nodes <= MAX_ALL_PAIRS && self.n_clusters() > 1)
        else {
            return Ok(None);
        };
        let config = Config::from(Preset::LocalScaling);
        let quiet = run.with_progress(&Silent).without_checkpoints();
        let params_for = |n_points: usize| Ok((config.graph_for(n_points)?.0, ()));
        let (plain, _, ()) = robust_graph_for(space, &params_for, &quiet)?;
        let exactly = ClusterParams { n_clusters: Some(self.n_clusters()), ..ClusterParams::default() };
        let found = spectral_clustering(&plain.graph, &exactly, &quiet)?;
        Ok(Some(ari(&self.labels, &plain.duplicates.restore(&found.labels))?))
    }

    /// For each cluster its size, its most typical rows, the columns of the table that set it apart, and a shallow rule. The table is
    /// the one that was clustered.
    pub fn explain(&self, table: &Table<'_>) -> Result<Vec<Explanation>> {
        let (expected, received) = (self.labels.len(), table.n_rows());
        if expected != received {
            return Err(Error::Length { what: "rows of the table", expected, received });
        }
        let rows = self.graph.duplicates().row_of_node();
        let typical = typical_nodes(self.graph.node_graph(), &self.clustering.labels);
        let typical = typical
            .into_iter()
            .map(|nodes| nodes.into_iter().map(|node| rows[node] as usize).collect())
            .collect();
        Ok(explain(table.values(), table.n_columns(), &self.labels, self.n_clusters(), typical))
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
        if let Some(Unconverged { converged, wanted }) = self.clustering.unconverged {
            warnings.push(Warning::UnconvergedEigenpairs { converged, wanted });
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
