//! wip
#![allow(dead_code)]
mod dense;
pub mod affinity;
pub mod distance;
pub mod edges;
pub mod error;
pub mod graph;
pub mod memory;
pub mod neighbors;
pub mod points;
pub mod progress;
pub mod links;
pub mod params;
pub mod robust;
pub mod random;
pub mod quantile;
pub mod scale;
pub mod spectral;
pub mod stochastic;
pub mod generators;
pub mod metrics;
