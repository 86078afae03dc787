//! Prints the part of docs/RESULTS.md that is not of the paper: labels with every rule and every kind of persistence.
//!
//!     make results

use std::process::ExitCode;

fn main() -> ExitCode {
    match taugraph_lab::labels::print() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
