//! The paper's tables and figures.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::RunArgs;

/// The paper's tables and figures, with our figures beside its own.
///
/// Every measurement is kept in the folder as soon as it is made: a run that was killed goes on where it stopped. The sets come from
/// the folder TAUGRAPH_DATA or from 'taugraph datasets fetch --all'.
#[derive(Debug, Args)]
pub struct PaperCommand {
    /// What to measure
    #[arg(value_enum)]
    pub what: PaperPart,
    /// Folder for tables (.md, .csv, .json), figures (.svg, .png) and the journal of measurements
    #[arg(long, short, default_value = "taugraph-paper")]
    pub output: PathBuf,
    /// Only two sets and two seeds, to see that it works
    #[arg(long)]
    pub slice: bool,
    /// Measure everything anew
    #[arg(long)]
    pub fresh: bool,
    /// The tables and the figures on one HTML page
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PaperPart {
    /// Spectral clustering of eight sets
    Table1,
    /// Labels from one example of each class on seven sets
    Table2,
    /// Two spirals with noise
    Noise,
    /// Two spirals with first scales from the 5th to the 15th neighbor
    Neighbors,
    /// The figures; those of noise and neighbors need their measurements
    Figures,
    /// All of it
    All,
}
