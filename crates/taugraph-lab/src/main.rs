//! Prints our own studies: without an argument the part of docs/RESULTS.md that is not of the paper (labels with every rule and
//! every kind of persistence), with `sparse-training` docs/sparse-training.md.
//!
//!     make results

use std::process::ExitCode;

use taugraph_lab::{labels, sparse_training};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        [] => labels::print(),
        ["sparse-training"] => sparse_training::print(),
        _ => {
            eprintln!("usage: taugraph-lab [sparse-training]");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
