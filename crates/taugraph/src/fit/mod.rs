//! One door: any input and a configuration in, results for every row out.

mod baseline;
mod builder;
mod clustering;
mod embedding;
mod graph;
mod input;
mod labels;
mod placed;
mod robust_graph;
mod warning;

pub use baseline::Baseline;
pub use clustering::{FittedClusters, SpectralClustering};
pub use embedding::{FittedEmbedding, SpectralEmbedding};
pub use graph::{FittedGraph, PreparationReport, RobustPart};
pub use input::{Input, Table};
pub use labels::{FittedLabels, GivenLabels, LabelPropagation, SuggestedRow};
pub use robust_graph::RobustGraph;
pub use warning::Warning;
