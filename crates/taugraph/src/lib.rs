//! Robust neighborhood graphs from conditional quantiles of similarities, and what they are good for.
//!
//! The library implements, and goes beyond, "Robust Local Scaling using Conditional Quantiles of Graph
//! Similarities" (Thiagarajan, Sattigeri, Natesan Ramamurthy, Kailkhura). Values and a seed go in, values come out:
//! it reads no data file, prints nothing, and gives the same bits on any number of threads.
//!
//! The modules are the stages of the pipeline, in order:
//!
//! 1. [`points`]: a table of numbers, missing cells filled, columns scaled, duplicates collapsed;
//! 2. [`distance`]: metrics and precomputed distances;
//! 3. [`neighbors`]: exact nearest neighbors; [`edges`]: the candidate edges they give;
//! 4. [`scale`]: first local scales;
//! 5. [`affinity`]: locally scaled similarities;
//! 6. [`quantile`]: conditional quantiles of the similarities;
//! 7. [`stochastic`]: persistence and probability of each edge, robust scales from realizations;
//! 8. [`robust`]: all of that as Algorithm 1, on one page, with its parameters in [`params`];
//! 9. [`graph`] and [`links`]: the sparse graph, its components and how they are joined;
//! 10. [`spectral`]: eigenpairs and embedding;
//! 11. [`cluster`]: clusters, their number and their stability;
//! 12. [`propagate`]: labels from a few examples;
//! 13. [`model`]: new points placed into all of that.
//!
//! Beside them stand [`labels`], [`metrics`], [`generators`] and [`arrays`] (what is kept of a result), below them [`random`], [`progress`], [`memory`] and [`error`].
//!
//! ```
//! use taugraph::cluster::{ClusterParams, spectral_clustering};
//! use taugraph::distance::Metric;
//! use taugraph::generators::{SpiralDensity, two_spirals};
//! use taugraph::metrics::nmi;
//! use taugraph::neighbors::Space;
//! use taugraph::params::Preset;
//! use taugraph::points::{PreparationParams, prepare};
//! use taugraph::progress::Run;
//! use taugraph::robust::robust_graph;
//!
//! # fn main() -> taugraph::error::Result<()> {
//! let run = Run::new(1);
//! let data = two_spirals(300, SpiralDensity::UniformAngle, 1)?;
//! let prepared = prepare(data.points.values(), 2, &PreparationParams::default(), &run)?;
//! let space = Space::from_points(prepared.points, Metric::Euclidean)?;
//! let robust = robust_graph(&space, &Preset::Robust.params().check()?, &run)?;
//! let clustering = spectral_clustering(&robust.graph, &ClusterParams::exactly(2), &run)?;
//! let labels = robust.duplicates.restore(&clustering.labels);
//! assert_eq!(nmi(&data.labels, &labels)?, 1.0);
//! # Ok(())
//! # }
//! ```
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
    Baseline, FittedClusters, FittedEmbedding, FittedGraph, FittedLabels, GivenLabels, Input, LabelPropagation,
    RobustGraph, SpectralClustering, SpectralEmbedding, Table, Warning,
};

/// The README's examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
