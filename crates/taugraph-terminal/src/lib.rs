//! What the programs of taugraph have in common on a terminal: progress and Ctrl-C ([`progress`]), time and memory of
//! stages ([`cost`]), exit codes ([`failure`]), and how a
//! program ends ([`run`]). No algorithm and no command lives here.

pub mod cost;
pub mod failure;
mod flags;
mod output;
pub mod progress;
mod run;
mod stdout;
mod visible;

pub use flags::{size_in_bytes, use_threads};
pub use output::{say, write_json};
pub use run::run;
pub use taugraph::error::grouped;
pub use visible::{visible, visible_in_line};
