//! Stage 3, neighbors: the k nearest of each point, and the nearest point outside a group.
//!
//! Points in up to [`TREE_COLUMNS`] columns are searched by a k-d tree, wider ones by tiles, sparse ones by their columns, other
//! inputs by plain scans: these are exact, ties go to the lower index, and all return [`Space::distance`] to the bit. Very many
//! points are searched by inverted lists (IVF), or from these by descent; the recall is measured every time ([`SearchInfo`]).

mod best;
mod both_ways;
mod cells;
mod checkpoint;
mod codes;
mod descent;
mod f32_points;
mod graph;
mod ivf;
mod lanes;
mod locality;
mod method;
mod outside;
mod panels;
mod partition;
mod query;
mod reordered;
mod scan;
mod search;
mod space;
mod sparse;
mod tiles;
mod tree;

pub(crate) use both_ways::bytes as bytes_of_short_lists;
pub use cells::{CellSearch, Cells, Probes};
pub(crate) use descent::bytes as bytes_of_descent;
pub use f32_points::Frame;
pub use graph::NeighborGraph;
pub use method::{SearchInfo, SearchMethod, SearchParams, UsedSearch};
pub(crate) use outside::{OutsideSearch, shortest_to_other_groups};
pub use query::{NeighborQuery, neighbors_of_new};
pub use search::{TREE_COLUMNS, nearest_neighbors, search_neighbors};
pub(crate) use space::Gathered;
pub use space::{MetricPoints, Space};
pub use sparse::SparseMetricPoints;

#[cfg(test)]
mod tests;
