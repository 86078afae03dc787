//! Reads and writes tables, arrays and sparse matrices. No algorithm lives here.
//!
//! Readers take untrusted bytes: they hold no more memory than their [`Budget`] allows, verify the checksums that a file has, never
//! panic, and name the line or row and the column of what is wrong. Writers write to a temporary file in the same folder and rename it at the end.
//!
//! - [`read`]: CSV and TSV (also `.gz` and `.zst`), NPY, NPZ, Parquet → [`Table`]; scipy's `.npz`, MatrixMarket →
//!   [`SparseMatrix`]; svmlight → [`LabeledMatrix`]; the first bytes determine the format;
//! - [`read_on_disk`]: NPY and Parquet, the numbers left on disk;
//! - [`write_table`]: CSV, TSV, Parquet, NPY; [`write_graph`]: `.npz`, MatrixMarket, or a list of edges as a table;
//! - [`Source`]: any file as bytes, decompressed; [`Output`]: any file written completely or not at all.
//!
//! Parquet is the feature `parquet`, which is on by default.

mod budget;
mod csv_lines;
mod csv_table;
mod delimiter;
mod error;
pub mod faults;
mod format;
mod mapped;
mod matrix_market;
mod npy;
mod npz;
mod on_disk;
mod output;
#[cfg(feature = "parquet")]
mod parquet_cells;
#[cfg(feature = "parquet")]
mod parquet_fields;
#[cfg(feature = "parquet")]
mod parquet_headers;
#[cfg(feature = "parquet")]
mod parquet_pages;
#[cfg(feature = "parquet")]
mod parquet_table;
#[cfg(not(feature = "parquet"))]
#[path = "without_parquet.rs"]
mod parquet_table;
mod parts;
mod source;
mod sparse;
mod svmlight;
mod table;
mod values;

pub use budget::{Budget, Held, Metered};
pub use csv_table::{is_missing, read_csv};
pub use error::{Error, Place, Result};
pub use format::{
    Contents, Format, check_graph_output, check_table_output, is_safetensors, read, write_graph,
    write_matrix, write_table,
};
pub use mapped::{MappedValues, ScratchFolder, ScratchTable};
pub use matrix_market::read_matrix_market;
pub use npy::{Array, read_npy};
pub use npz::{read_arrays, read_sparse_npz};
pub use on_disk::{DiskNumbers, DiskTable, DiskValues, Extent, extent, read_on_disk};
pub use output::{Output, open_own, refuse_stdout, replace_file, written};
#[cfg(feature = "parquet")]
pub use parquet_table::read_parquet;
pub use parts::{is_part, remove_stale_parts, remove_unfinished};
pub use source::Source;
pub use sparse::{LabeledMatrix, SparseMatrix};
pub use svmlight::read_svmlight;
pub use table::{Cells, Column, Header, NewCells, NewColumn, NewTable, ReadOptions, Role, Table};
pub use values::{Either, Values};
