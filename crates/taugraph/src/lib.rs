//! Robust neighborhood graphs from conditional quantiles of similarities, and what they are good for.
//!
//! The library implements, and goes beyond, "Robust Local Scaling using Conditional Quantiles of Graph
//! Similarities" (Thiagarajan, Sattigeri, Natesan Ramamurthy, Kailkhura). Values and a seed go in, values come out:
//! it reads no data file, prints nothing, and gives the same bits on any number of threads.
//!
//! Two lines are enough:
//!
//! ```
//! # fn main() -> taugraph::Result<()> {
//! # let table = taugraph::generators::moons(300, 0.05, 1)?;
//! let clusters = taugraph::SpectralClustering::new().n_clusters(2).seed(42).fit(&table)?;
//! let labels: &[u32] = clusters.labels(); // one for each row
//! # assert_eq!(taugraph::metrics::nmi(&table.labels, labels)?, 1.0);
//! # Ok(())
//! # }
//! ```
//!
//! [`SpectralClustering`], [`LabelPropagation`], [`SpectralEmbedding`] and [`RobustGraph`] take a [`Table`], sparse points, distances,
//! neighbors or a graph ([`Input`]) and give results for every row, with [`Warning`]s, `predict` and `save`. A [`Config`] holds every
//! parameter; a dotted path sets any of them.
//!
//! # The stages, for experts
//!
//! [`expert`] has the single stages of the pipeline, for those who build their own, and the trait of an estimator: `.estimator(…)` of
//! every fit takes a custom one. Stages work on nodes, the distinct points, not on rows.
//!
//! The public interface is small on purpose. The feature `unstable` makes every module public, as the project's own programs need
//! it; those names may change at any time.
//!
//! # Current limitations
//!
//! Manhattan distances and distance matrices are searched pair by pair, sparse points by the pairs of entries in a column: time n² at
//! worst. New points are placed one by one among the known ones ([`model::Model::place`]): they cannot form new clusters.

// Some functions are used by the project's programs only, which enable the feature.
#![cfg_attr(not(feature = "unstable"), allow(dead_code, unused_imports))]
#![deny(unnameable_types)]

pub mod config;
pub mod error;
pub mod expert;
pub mod generators;
pub mod labels;
pub mod metrics;
pub mod model;
pub mod progress;

mod communities;
mod dense;
mod linear;
mod parameter;
mod vectorized;

/// Every other module. They are one list here so that one feature can make them public; their files are beside this one.
#[path = "."]
mod modules {
    pub mod affinity;
    pub mod arrays;
    pub mod baselines;
    pub mod checkpoint;
    pub mod cluster;
    pub mod distance;
    pub mod edges;
    pub mod fit;
    pub mod graph;
    pub mod links;
    pub mod memory;
    pub mod neighbors;
    pub mod params;
    pub mod partition;
    pub mod points;
    pub mod propagate;
    pub mod quantile;
    pub mod random;
    pub mod robust;
    pub mod scale;
    pub mod spectral;
    pub mod stochastic;
    pub mod tsne;
}

#[cfg(not(feature = "unstable"))]
pub(crate) use modules::*;
#[cfg(feature = "unstable")]
pub use modules::*;

pub use cluster::{ClusterMethod, Constraints, Explanation, Outliers};
pub use config::Config;
pub use error::{Error, Result};
pub use fit::{
    Baseline, FittedClusters, FittedEmbedding, FittedGraph, FittedLabels, GivenLabels, Input,
    LabelPropagation, RobustGraph, SpectralClustering, SpectralEmbedding, Table, Warning,
};

/// The README's examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
