//! The laboratory of taugraph: the datasets on which methods are evaluated, and the studies whose figures are in docs/. It
//! uses the library only through its public interface, so that nothing about a table leaks into it.

#[cfg(feature = "studies")]
pub mod data;
pub mod datasets;
#[cfg(feature = "studies")]
mod failure;
#[cfg(feature = "studies")]
pub mod labels;
#[cfg(feature = "studies")]
pub mod networks;
#[cfg(feature = "studies")]
pub mod paper;
#[cfg(feature = "studies")]
pub mod sparse_training;
#[cfg(feature = "studies")]
pub mod statistics;
