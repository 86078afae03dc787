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
/// STUB
#[allow(missing_docs)]
mod stub {
    use taugraph::*;
    pub struct Sample;
    impl Sample {
        pub fn new(_: usize, _: Option<(&[f64], &[String])>, _: u64) -> Self {
            Self
        }
    }
    pub enum Found<'a> {
        Graph(&'a FittedGraph),
        Clusters(&'a FittedClusters),
        Labels(&'a FittedLabels, &'a GivenLabels),
    }
    pub struct Subject<'a> {
        pub name: &'a str,
        pub found: Found<'a>,
        pub sample: Sample,
        pub ids: Option<&'a [String]>,
        pub known_labels: Option<&'a [String]>,
        pub command: String,
        pub summary: String,
        pub warnings: Vec<String>,
        pub stages: Vec<(String, f64, Option<u64>)>,
        pub settings: serde_json::Value,
        pub peak_memory: Option<u64>,
    }
    impl crate::Report {
        pub fn new(_: &Subject<'_>, _: &taugraph::progress::Run<'_>) -> taugraph::Result<Self> {
            Ok(Self::default())
        }
    }
}
#[allow(missing_docs)]
pub use stub::*;
