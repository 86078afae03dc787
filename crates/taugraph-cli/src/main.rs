//! The command line of taugraph: flags typed, validated and built into settings; the library does the work; printers
//! for people and for machines. No algorithm lives here.

mod args;
mod commands;
mod context;
mod dataset;
mod demo;
mod description;
mod features;
mod given_labels;
mod label_column;
mod model_file;
mod new_rows;
mod outputs;
mod page;
mod placed_rows;
mod report;
mod results;
mod row_ids;
mod row_pairs;
mod settings;
mod stage_file;
mod work_folder;

use std::process::ExitCode;

use clap::Parser;
use taugraph_io::faults::{self, Operation};
use taugraph_terminal::{cost, failure, progress};

use args::{Cli, Command};
use failure::Outcome;

fn main() -> ExitCode {
    // What tests let fail is in one place.
    taugraph::memory::ask_before_allocating(|| faults::check(Operation::Allocate).is_ok());
    taugraph_terminal::run("taugraph", || run(&Cli::parse().command))
}

fn run(command: &Command) -> Outcome<()> {
    match command {
        Command::Demo(args) => commands::demo(args),
        Command::Cluster(args) => commands::cluster(args),
        Command::Graph(args) => commands::graph(args),
        Command::Propagate(args) => commands::propagate(args),
        Command::Predict(args) => commands::predict(args),
        Command::Evaluate(args) => commands::evaluate(args),
        Command::Generate(args) => commands::generate(args),
        Command::Compare(args) => commands::compare(args),
        Command::Info(args) => commands::info(args),
        Command::Plot(args) => commands::plot(args),
        Command::Params(args) => commands::params(args),
        Command::Completions { shell } => commands::completions(*shell),
        Command::Man { folder } => commands::manual(folder),
    }
}
