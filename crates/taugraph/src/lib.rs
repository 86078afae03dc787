//! wip
#![allow(dead_code)]
pub mod affinity;
pub mod cluster;
mod dense;
pub mod distance;
pub mod edges;
pub mod error;
pub mod generators;
pub mod graph;
pub mod links;
pub mod memory;
pub mod metrics;
pub mod neighbors;
pub mod params;
pub mod points;
pub mod progress;
pub mod quantile;
pub mod random;
pub mod robust;
pub mod scale;
pub mod spectral;
pub mod stochastic;
