//! Stage 11, cluster: groups of nodes, their number, and how stable they are.
//!
//! Two methods, spectral clustering and agglomeration, and a choice between them; the number of clusters from the boundaries of the
//! merge tree or from the eigengap.

mod agglomerate;
mod choice;
mod clustering;
mod components;
mod constraints;
mod count;
mod eigengap;
mod explain;
mod kmeans;
mod membership;
mod memory;
mod outliers;
mod spectral;
mod stability;

pub(crate) use agglomerate::{
    Agglomeration, Boundary, Group, GroupRow, LocalDensity, SMOOTHINGS, bytes as agglomeration_bytes,
    group_rows, linkage_partitions, merge_rows, micro_communities, move_nodes, smoothed, unsmoothed_density,
};
pub use agglomerate::{Level, Merge, MergeTree};
pub(crate) use choice::cut_sums;
pub use choice::{CutQuality, MethodChoice};
pub(crate) use clustering::best_of;
pub use clustering::{ClusterInput, Clustering, MAX_SPECTRAL, Unconverged, cluster};
pub use constraints::Constraints;
pub use count::{Alternative, CountByBoundaries, Evidence, Layer};
pub use eigengap::Eigengap;
pub use explain::{Condition, DistinctColumn, Explanation, ShallowRule, explain, typical_nodes};
pub(crate) use kmeans::assign_rows;
pub use kmeans::{KMeans, KMeansParams, kmeans};
pub use membership::memberships;
pub use memory::{memory_estimate, refuse_if_too_large, whole_run_estimate};
pub use outliers::{Outliers, outlier_scores};
pub(crate) use outliers::{mean_probabilities, score};
pub use spectral::spectral_clustering;
pub use stability::{Stability, stability};

use crate::error::{Error, Result, require};
use crate::parameter::{ParameterTree, choices, parameters};
use crate::spectral::{EigenParams, LaplacianKind, RowNormalization};

/// The largest number of clusters that the eigengap considers if no maximum is set: each costs an eigenpair.
const MAX_BY_EIGENGAP: usize = 15;

/// How many clusters, for spectral clustering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClusterCount {
    /// This many, exactly.
    Exactly(usize),
    /// The number with the largest relative eigengap, from 2 to `max`.
    Automatic {
        /// Maximum number of clusters considered.
        max: usize,
    },
}

choices! {
    /// How nodes are clustered.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ClusterMethod = "auto" {
        /// By both methods; the better cut of the graph is taken. Above 50 clusters by agglomeration alone.
        "auto" => Auto,
        /// k-means on the eigenvectors of the graph's Laplacian.
        "spectral" => Spectral,
        /// Micro-communities, merged by average linkage.
        "agglomerate" => Agglomerate,
    }
}

choices! {
    /// How the number of clusters is found if it is not given.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum CountRule = "boundaries" {
        /// As many groups as have boundaries that resist merging: from one to thousands.
        "boundaries" => Boundaries,
        /// The largest relative gap between eigenvalues: from 2 to max_clusters, or 15.
        "eigengap" => Eigengap,
    }
}

choices! {
    /// What to do with a graph that has several connected components.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ComponentPolicy = "link" {
        /// Join them by weak links first (robust graphs are already linked by distance).
        "link" => Link,
        /// Cluster each component on its own: no cluster spans two components.
        "separately" => Separately,
        /// Use the eigenvectors of all components together.
        "joint" => Joint,
        /// Return an error.
        "refuse" => Refuse,
    }
}

parameters! {
    /// Parameters of clustering.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct ClusterParams {
        /// Number of clusters; none finds it.
        n_clusters: Option<usize> = None, "at least 1" => |count| *count != Some(0);
        /// How nodes are clustered.
        method: ClusterMethod = ClusterMethod::Auto;
        /// How the number of clusters is found if it is not given.
        count: CountRule = CountRule::Boundaries;
        /// Minimum number of clusters if the number is found; none for no minimum.
        min_clusters: Option<usize> = None, "at least 1" => |least| *least != Some(0);
        /// Maximum number of clusters if the number is found; none for no maximum.
        max_clusters: Option<usize> = None, "at least 2" => |most| most.is_none_or(|most| most >= 2);
        /// The Laplacian.
        laplacian: LaplacianKind = LaplacianKind::default();
        /// How the rows of eigenvector entries are normalized.
        row_normalization: RowNormalization = RowNormalization::UnitLength;
        /// The eigensolvers.
        eigen: EigenParams = EigenParams::for_space();
        /// k-means on the embedded points.
        kmeans: KMeansParams = KMeansParams::default();
        /// What to do with a graph that has several connected components.
        components: ComponentPolicy = ComponentPolicy::Link;
        /// Which rows get no cluster because they lie apart.
        outliers: Outliers = Outliers::None;
        /// Number of random graphs on which the stability of each label is measured; 0 skips the measurement.
        stability: usize = 0, "at most 1048576" => |draws| *draws <= 1 << 20;
    }
}

impl ClusterParams {
    /// The defaults with a fixed number of clusters.
    pub fn exactly(n_clusters: usize) -> Self {
        Self { n_clusters: Some(n_clusters), ..Self::default() }
    }

    /// How many clusters to find.
    fn count(&self) -> ClusterCount {
        match self.n_clusters {
            Some(clusters) => ClusterCount::Exactly(clusters),
            None => ClusterCount::Automatic { max: self.max_clusters.unwrap_or(MAX_BY_EIGENGAP) },
        }
    }

    fn check(&self, n: usize) -> Result<()> {
        self.check_ranges("cluster")?;
        if let (Some(least), Some(most)) = (self.min_clusters, self.max_clusters) {
            require(least <= most, "cluster.min_clusters", least, "must be at most cluster.max_clusters")?;
        }
        match self.n_clusters {
            Some(clusters) if clusters > n => Err(Error::TooManyClusters { clusters, distinct: n }),
            _ => Ok(()),
        }
    }
}
