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
//! Below that door the modules are the stages of the pipeline, in order. They speak of nodes, the distinct points, and not of rows:
//!
//! 1. [`points`]: a table of numbers, missing cells filled, columns scaled, duplicates collapsed;
//! 2. [`distance`]: metrics and precomputed distances;
//! 3. [`neighbors`]: nearest neighbors; [`edges`]: the candidate edges they give;
//! 4. [`scale`]: first local scales;
//! 5. [`affinity`]: locally scaled similarities;
//! 6. [`quantile`]: conditional quantiles of the similarities;
//! 7. [`stochastic`]: persistence and probability of each edge, robust scales from realizations;
//! 8. [`robust`]: all of that as Algorithm 1, on one page, with its parameters in [`params`];
//! 9. [`graph`] and [`links`]: the sparse graph, its connected components and how they are joined;
//! 10. [`spectral`]: eigenpairs and embedding;
//! 11. [`cluster`]: clusters, their number and their stability;
//! 12. [`propagate`]: labels from a few labeled points;
//! 13. [`model`]: new points placed into all of that.
//!
//! Beside them stand [`labels`], [`metrics`], [`generators`] and [`arrays`] (named arrays in files), below them [`random`], [`progress`],
//! [`memory`] and [`error`].
//!
//! # Current limitations
//!
//! Manhattan distances and distance matrices are searched pair by pair, sparse points by the pairs of entries in a column: time n² at
//! worst. New points are placed one by one among the known ones ([`model::Model::place`]): they found no clusters of their
//! own.

pub mod affinity;
pub mod arrays;
pub mod baselines;
pub mod checkpoint;
pub mod cluster;
pub mod config;
mod dense;
pub mod distance;
pub mod edges;
pub mod error;
pub mod fit;
pub mod generators;
pub mod graph;
pub mod labels;
mod linear;
pub mod links;
pub mod memory;
pub mod metrics;
pub mod model;
pub mod neighbors;
mod parameter;
pub mod params;
pub mod points;
pub mod progress;
pub mod propagate;
pub mod quantile;
pub mod random;
pub mod robust;
pub mod scale;
pub mod spectral;
pub mod stochastic;
pub mod tsne;
mod vectorized;

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
