//! Prints docs/RESULTS.md: what was measured on synthetic and real points, fixed seeds, the controls beside every claim.
//!
//!     make results
//!
//! `taugraph-lab clustering` and `taugraph-lab labels` print one part of it. Uses the library only through its public
//! interface. The real points are in the folder that the environment variable TAUGRAPH_DATA names; without it their
//! tables say that they were skipped.

use std::process::ExitCode;

use taugraph_lab::{clustering, labels};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["clustering"] => clustering::print(),
        ["labels"] => labels::print(),
        [] => {
            println!("# Results\n\nMade by `make results`; nothing here is typed by hand.\n");
            clustering::print().and_then(|()| labels::print())
        }
        _ => {
            eprintln!("usage: taugraph-lab [clustering | labels]");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
