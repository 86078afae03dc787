//! One file for each command.

mod cluster;
mod compare;
mod demo;
mod evaluate;
mod generate;
mod graph;
mod info;
mod manual;
mod params;
mod plot;
mod predict;
mod propagate;

pub use cluster::cluster;
pub use compare::compare;
pub use demo::demo;
pub use evaluate::evaluate;
pub use generate::generate;
pub use graph::graph;
pub use info::info;
pub use manual::{completions, manual};
pub use params::params;
pub use plot::plot;
pub use predict::predict;
pub use propagate::propagate;
