//! The laboratory's program: the paper's datasets, tables and figures, and our own studies.
//!
//!     cargo run --release --package taugraph-lab -- paper all

mod args;
mod datasets;
mod paper;

use std::process::ExitCode;

use clap::Parser;
use taugraph_lab::{labels, networks, sparse_training};
use taugraph_terminal::failure::Outcome;

use args::{Cli, Command, NetworksPart};

fn main() -> ExitCode {
    taugraph_terminal::run("taugraph-lab", || run(&Cli::parse().command))
}

fn run(command: &Command) -> Outcome<()> {
    match command {
        Command::Paper(args) => paper::paper(args),
        Command::Datasets(args) => datasets::datasets(args),
        Command::Labels => Ok(labels::write(&mut std::io::stdout())?),
        Command::SparseTraining => Ok(sparse_training::write(&mut std::io::stdout())?),
        Command::Networks { part } => {
            let out = &mut std::io::stdout();
            let is_asked = |one: NetworksPart| *part == one || *part == NetworksPart::All;
            if *part == NetworksPart::All {
                networks::write_heading(out)?;
            }
            if is_asked(NetworksPart::Choice) {
                networks::write_choice(out)?;
            }
            if is_asked(NetworksPart::Decay) {
                networks::write_decay(out)?;
            }
            if is_asked(NetworksPart::Variants) {
                networks::write_variants(out)?;
            }
            Ok(())
        }
    }
}
