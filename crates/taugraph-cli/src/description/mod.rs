//! What `info` says of a file, for people and for machines.

mod columns;
mod copies;
mod memory;
mod model;
mod sparse;
mod table;

use serde_json::Value;

pub use copies::for_copies;
pub use model::{model_json, of_model};
pub use sparse::of_sparse;
pub use table::of_table;

/// The same twice.
pub struct Description {
    pub text: String,
    pub json: Value,
}

/// How many different texts there are.
fn n_different(texts: &[String]) -> usize {
    let mut distinct: Vec<&String> = texts.iter().collect();
    distinct.sort_unstable();
    distinct.dedup();
    distinct.len()
}
