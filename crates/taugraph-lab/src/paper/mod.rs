//! The paper's tables, with our figures next to the paper's: what is measured for each, cell by cell.
//!
//! An [`Experiment`] is a table of cells; a cell is one method on one set, measured once for each seed. [`run`] measures what a
//! [`Journal`] does not have yet, so that an interrupted run resumes; [`markdown`], [`csv`] and [`json`] write the results.

mod experiment;
mod figures;
mod journal;
mod methods;
mod report;
pub(crate) mod sets;
mod tables;

pub use experiment::{Experiment, Found, Listener, Measured, run};
pub use figures::{draw, draw_neighbors, draw_noise};
pub use journal::{Begin, Journal};
pub use report::{csv, json, markdown};
pub(crate) use sets::Set;
pub use tables::{Size, Table, experiment};
