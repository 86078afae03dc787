//! The laboratory of taugraph: the sets that methods are tried on, and the studies whose figures are in docs/. It
//! uses the library only through its public interface, so that no table's knowledge leaks into it.

pub mod data;
pub mod datasets;
pub mod labels;
pub mod paper;
pub mod sparse_training;
pub mod statistics;
