//! Results in files: one kind of table each, with what it needs of the input where not every input gives it.

mod clusters;
mod columns;
mod embedding;
mod graph;
mod labels;
mod layers;
mod points;
mod scales;

pub use clusters::{check_outliers, labels_or_outlier, write_clusters};
pub use columns::{embedding_columns, group_column, probability_columns};
pub use embedding::{check_embedding, write_embedding};
pub use graph::{write_graph, write_graph_outputs};
pub use labels::{flags, write_labels};
pub use layers::{check_layers, layer_columns, write_layers};
pub use points::write_points;
pub use scales::{check_scales, write_scales};
