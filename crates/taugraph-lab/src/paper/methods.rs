//! The methods of the tables: from points to graphs and clusters.

use taugraph::baselines::{
    ConsensusParams, NeighborWeights, PathBasedParams, consensus_of, neighbor_graph, path_based_graph,
};
use taugraph::cluster::{ClusterParams, KMeansParams, kmeans, spectral_clustering};
use taugraph::distance::Metric;
use taugraph::edges::Symmetrize;
use taugraph::graph::SparseGraph;
use taugraph::labels::Labels;
use taugraph::links::link_by_degree;
use taugraph::neighbors::Space;
use taugraph::params::{CandidatePairs, GraphParams, Preset};
use taugraph::points::{Duplicates, Points};
use taugraph::progress::Run;
use taugraph::propagate::PropagateParams;
use taugraph::robust::robust_graph;
use taugraph::scale::FirstScale;
use taugraph::{Config, RobustGraph};

use crate::data::Error;

/// A way from points to a graph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GraphMethod {
    /// A preset, with first scales from the k-th neighbor.
    Preset(Preset, usize),
    /// Robust path-based similarity.
    PathBased,
    /// 10 nearest neighbors, all weights 1.
    Neighbors,
    /// 10 nearest neighbors, locally scaled, components joined by weak links.
    LinkedNeighbors,
}

impl GraphMethod {
    /// The graph that labels spread on: as [`graph`](Self::graph), and for presets what label propagation adds to theirs.
    pub fn label_graph(
        self,
        points: &Points,
        params: &PropagateParams,
        run: &Run<'_>,
    ) -> Result<(SparseGraph, Duplicates), Error> {
        let GraphMethod::Preset(preset, k) = self else { return self.graph(points, run) };
        // The points are already prepared.
        let mut config = Config::default();
        config.set("preparation.standardize", "none")?;
        config.graph = preset.params().with(|params| params.first_scale = FirstScale::KthNeighbor { k });
        let fitted = RobustGraph::with_config(config).fit_with(points, run)?;
        Ok((fitted.label_graph(params, run)?.into_owned(), fitted.duplicates().clone()))
    }

    /// The graph over the distinct points.
    pub fn graph(self, points: &Points, run: &Run<'_>) -> Result<(SparseGraph, Duplicates), Error> {
        let space = Space::from_points(points.clone(), Metric::Euclidean)?;
        let robust = |params: GraphParams| {
            let made = robust_graph(&space, &params.check()?, run)?;
            Ok((made.graph, made.duplicates))
        };
        match self {
            GraphMethod::Preset(preset, k) => {
                robust(preset.params().with(|params| params.first_scale = FirstScale::KthNeighbor { k }))
            }
            GraphMethod::PathBased => {
                let made = path_based_graph(&space, &PathBasedParams::default(), run)?;
                Ok((made.graph, made.duplicates))
            }
            GraphMethod::Neighbors => {
                let made = neighbor_graph(&space, 10, Symmetrize::Union, NeighborWeights::One, run)?;
                Ok((link_by_degree(&made.graph).0, made.duplicates))
            }
            GraphMethod::LinkedNeighbors => {
                let ten = CandidatePairs::Neighbors { k: 10, symmetrize: Symmetrize::Union };
                robust(Preset::ConstantControl.params().with(|params| params.candidates = ten))
            }
        }
    }
}

/// A way from points to clusters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ClusterMethod {
    /// Spectral clustering of a graph.
    Spectral(GraphMethod),
    /// Consensus of spectral clusterings by local scaling with k = 5 … 15, as the paper describes it.
    Consensus,
    /// k-means of the points.
    KMeans,
}

impl ClusterMethod {
    /// Exactly `n_clusters` clusters.
    pub fn cluster(self, points: &Points, n_clusters: usize, run: &Run<'_>) -> Result<Labels, Error> {
        let spectral = |method: GraphMethod| -> Result<Labels, Error> {
            let (graph, duplicates) = method.graph(points, run)?;
            let found = spectral_clustering(&graph, &ClusterParams::exactly(n_clusters), run)?;
            Ok(Labels::in_order_of_appearance(duplicates.restore(&found.labels)))
        };
        match self {
            ClusterMethod::Spectral(method) => spectral(method),
            ClusterMethod::KMeans => {
                let found = kmeans(
                    &points.values().to_f64(),
                    points.n_columns(),
                    n_clusters,
                    &KMeansParams::default(),
                    run,
                )?;
                Ok(found.labels)
            }
            ClusterMethod::Consensus => {
                let with = |k: usize| spectral(GraphMethod::Preset(Preset::LocalScaling, k));
                let votes = (5..=15).map(with).collect::<Result<Vec<Labels>, Error>>()?;
                let params = ConsensusParams {
                    clusters: (n_clusters..=n_clusters + 10).collect(),
                    n_clusters: Some(n_clusters),
                    ..ConsensusParams::default()
                };
                Ok(consensus_of(&votes, &params, run)?.labels)
            }
        }
    }
}
