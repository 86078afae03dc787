//! Every test of the laboratory in one program: it is linked once.

mod common;
mod datasets;
mod fetch;
mod fuzz_corpus;
mod paper;
mod server;
mod studies;
mod tidy;

// The bodies of the fuzz targets, which are in a workspace of their own.
#[path = "../../../fuzz/src/targets/mod.rs"]
mod targets;
