//! The command line of taugraph: flags typed, validated and built into settings; the library does the work; printers
//! for people and for machines. No algorithm lives here.

mod args;
mod commands;
mod dataset;
mod failure;
mod features;
mod html_report;
mod model_file;
mod new_rows;
mod pipeline;
mod progress;
mod report;
mod settings;
mod work_folder;

use std::panic::{catch_unwind, set_hook};
use std::process::ExitCode;
use std::sync::Mutex;

use clap::Parser;

use args::{Cli, Command};
use failure::{Failure, Outcome};
use report::say;

/// What the last panic said. It is told to the user only if it gets as far as here: readers catch those of broken files.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

fn main() -> ExitCode {
    set_hook(Box::new(|info| {
        if let Ok(mut last) = PANIC.lock() {
            *last = Some(info.to_string());
        }
    }));
    let cli = Cli::parse();
    progress::listen_for_interrupts();
    match catch_unwind(|| run(&cli.command)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(failure)) => {
            if !matches!(failure, Failure::BrokenPipe) {
                say(&format!("error: {failure}\n"));
            }
            ExitCode::from(failure.exit_code())
        }
        Err(_) => {
            let message = PANIC.lock().ok().and_then(|mut last| last.take()).unwrap_or_default();
            say(&format!(
                "error: taugraph has a bug, please report it with the command you ran:\n{message}\n"
            ));
            ExitCode::from(101)
        }
    }
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
        Command::Datasets(args) => commands::datasets(args),
        Command::Paper(args) => commands::paper(args),
        Command::Plot(args) => commands::plot(args),
        Command::Completions { shell } => commands::completions(*shell),
        Command::Man { folder } => commands::manual(folder),
    }
}
