//! What belongs to a run and not to the method.

use std::path::PathBuf;

use clap::Args;
use taugraph_terminal::size_in_bytes;

#[derive(Debug, Args)]
#[command(next_help_heading = "Run")]
pub struct RunArgs {
    /// Every random number follows from it [default: 0]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Threads [default: all cores]; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Repeat the run described in a JSON file written by --json; flags given beside it win
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Write parameters, diagnostics and results as JSON; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Memory that may be used, as 500M or 4G [default: what is available]
    #[arg(long, value_name = "SIZE", value_parser = size_in_bytes, hide_short_help = true)]
    pub memory: Option<u64>,
    /// Print errors only
    #[arg(long, short)]
    pub quiet: bool,
}

/// For commands that can go on after an interruption.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run")]
pub struct ResumeArgs {
    /// Keep finished stages in this folder: the same command goes on from there after it was interrupted or killed
    #[arg(long, value_name = "FOLDER", hide_short_help = true)]
    pub checkpoints: Option<PathBuf>,
}

pub(super) fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=1024) => Ok(threads),
        _ => Err("a number between 1 and 1024 is needed".into()),
    }
}
