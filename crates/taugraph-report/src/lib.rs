//! A run as people look at it: one HTML page that needs nothing else, and the same as figures.
//!
//! [`Report`] is plain data; whoever made a graph fills it in. [`write_page`] and [`write_figures`] show it.

mod base64;
mod document;
mod figures;
mod model;
mod page;

pub use document::{Document, Part, write_document};
pub use figures::write_figures;
pub use model::{
    Category, Compared, DecayStep, Edge, Eigenvalues, Group, GroupColumn, Layout, NumberColumn, NumberRole,
    Report, ShownEdges, ShownPoints,
};
pub use page::{html, write_page};
