//! Every test of the laboratory in one program: it is linked once.

mod common;
mod datasets;
mod fetch;
mod paper;
mod server;
mod studies;
mod tidy;
