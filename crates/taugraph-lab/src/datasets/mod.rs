//! The paper's datasets as their donors published them: what they are ([`registry`]), where their files are ([`Store`]), how they are
//! fetched ([`fetch()`]) and how they become numbers and labels ([`load`]).
//!
//! Every file has a known length and SHA-256. Bytes are verified each time they are read, and exactly these bytes are
//! parsed, so no partial or altered file is ever used.

mod checksum;
#[cfg(feature = "studies")]
mod download;
mod error;
#[cfg(feature = "studies")]
mod fetch;
pub mod readers;
pub mod registry;
mod store;
pub mod text;

pub use checksum::sha256;
#[cfg(feature = "studies")]
pub use download::Patience;
pub use error::Error;
#[cfg(feature = "studies")]
pub use fetch::{Fetched, Origin, fetch, fetch_with};
pub use registry::{DATASETS, DatasetInfo, FileInfo, find};
pub use store::{Presence, Store};

/// The module's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A set in memory: numbers row by row, and the class of each row.
#[derive(Debug, Clone, PartialEq)]
pub struct LabeledTable {
    /// Names of the columns.
    pub feature_names: Vec<String>,
    /// Row by row; missing cells are NaN.
    pub values: Vec<f64>,
    /// The class of each row, as the file writes it.
    pub labels: Vec<String>,
}

impl LabeledTable {
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.labels.len()
    }

    /// Number of columns, not counting the class.
    pub fn n_features(&self) -> usize {
        self.feature_names.len()
    }

    /// Number of different classes.
    pub fn n_classes(&self) -> usize {
        self.labels.iter().collect::<std::collections::BTreeSet<_>>().len()
    }
}

/// Reads a set from the files that `store` knows, after checking them.
pub fn load(info: &DatasetInfo, store: &Store) -> Result<LabeledTable> {
    let (_, files) = store.read(info)?;
    (info.reader)(&files)
}
