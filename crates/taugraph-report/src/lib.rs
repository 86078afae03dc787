//! The report of a fit: one self-contained HTML page, and the same as figures.
//!
//! A [`Subject`] says what was fitted, [`Report::new`] computes what to show, [`write_page`] and [`write_figures`] write it.
//! The page is a frame (a map of the points and the edges between them) with panels below it. Each panel is a folder in
//! `panels`: what it computes, its data, its figures and the script that draws it on the page.
//!
//! ```
//! use taugraph::{SpectralClustering, progress::Run};
//! use taugraph_report::{Found, Report, Sample, Subject, html};
//!
//! let data = taugraph::generators::moons(100, 0.05, 1)?;
//! let clusters = SpectralClustering::new().n_clusters(2).fit(&data)?;
//! let names = ["x".to_string(), "y".to_string()];
//! let subject = Subject {
//!     name: "moons",
//!     found: Found::Clusters(&clusters),
//!     sample: Sample::new(100, Some((data.points.values(), &names)), 0),
//!     ids: None,
//!     known_labels: None,
//!     command: String::new(),
//!     summary: String::new(),
//!     warnings: clusters.warnings().iter().map(ToString::to_string).collect(),
//!     stages: Vec::new(),
//!     settings: clusters.graph().config().to_json(),
//!     peak_memory: None,
//! };
//! let page = html(&Report::new(&subject, &Run::new(0))?);
//! assert!(page.contains("moons: 2 clusters"));
//! # Ok::<(), taugraph::Error>(())
//! ```

mod base64;
mod document;
mod figures;
mod frame;
mod header;
mod page;
mod panels;
mod report;
mod sample;
mod scores;
mod subject;
#[cfg(test)]
mod tests;
mod words;

pub use document::{Document, Part, write_document};
pub use figures::write_figures;
pub use page::{html, write_page};
pub use report::Report;
pub use sample::Sample;
pub use subject::{Found, Subject};
