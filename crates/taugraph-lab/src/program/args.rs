//! Flags as they are typed.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use taugraph_terminal::failure::EXIT_CODES;
use taugraph_terminal::size_in_bytes;

/// The laboratory of taugraph: reproduces the paper's tables and figures, and runs our own studies.
#[derive(Debug, Parser)]
#[command(name = "taugraph-lab", version, after_help = EXIT_CODES, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure the paper's tables and draw its figures
    Paper(PaperArgs),
    /// The paper's datasets: list, describe and fetch them
    Datasets(DatasetsArgs),
    /// Print the study of labels: every rule on every graph, and what each kind of persistence adds
    Labels,
    /// Print the study of trained estimators: sampled pairs compared with all pairs
    SparseTraining,
    /// Print the study of the paper's networks: how their threshold was chosen, how their edges decay, their variants
    Networks {
        /// What to measure
        #[arg(value_enum, default_value = "all")]
        part: NetworksPart,
    },
}

/// The paper's tables and figures, with our numbers next to the paper's.
///
/// Every measurement is saved in the folder as soon as it is made, so that an interrupted run resumes. The tables have fixed
/// seeds. The datasets come from the folder TAUGRAPH_DATA or from 'taugraph-lab datasets fetch --all'.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct PaperArgs {
    /// What to measure
    #[arg(value_enum)]
    pub what: PaperPart,
    /// Folder for tables (.md, .csv, .json), figures (.svg, .png) and the journal of measurements
    #[arg(long, short, default_value = "taugraph-paper")]
    pub output: PathBuf,
    /// Only two datasets and two seeds, as a quick check
    #[arg(long)]
    pub slice: bool,
    /// Measure everything again
    #[arg(long)]
    pub fresh: bool,
    /// Write the tables and figures as one HTML report
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Threads [default: all cores]; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    pub threads: Option<usize>,
    /// Memory that may be used, as 500M or 4G [default: what is available]
    #[arg(long, value_name = "SIZE", value_parser = size_in_bytes)]
    pub memory: Option<u64>,
    /// Print errors only
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PaperPart {
    /// Spectral clustering of eight datasets
    Table1,
    /// Labels from one labeled point per class on seven datasets
    Table2,
    /// Two spirals with noise
    Noise,
    /// Two spirals with first scales from the 5th to the 15th neighbor
    Neighbors,
    /// The figures; those of noise and neighbors need their measurements
    Figures,
    /// Everything
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NetworksPart {
    /// The threshold and the shrinkage, on seeds of their own
    Choice,
    /// Edges and components at each quantile on the sets of Table 1
    Decay,
    /// Joint, deeper and linear networks and the factorization beside the default
    Variants,
    /// All of it
    All,
}

/// The paper's datasets: list, describe and fetch them.
///
/// Files are looked for in the folder TAUGRAPH_DATA, then among the downloads (TAUGRAPH_CACHE, or the cache folder of the
/// system), and are used only if their SHA-256 is the expected one.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct DatasetsArgs {
    #[command(subcommand)]
    pub command: DatasetsCommand,
}

#[derive(Debug, Subcommand)]
pub enum DatasetsCommand {
    /// Print all datasets, and whether they are available locally
    List {
        /// Write the result as JSON; - is standard output
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
    /// Describe a dataset: columns, classes, license, donors, files
    Show {
        /// The set
        name: String,
        /// Write the result as JSON; - is standard output
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
    /// Download missing datasets; interrupted downloads resume
    Fetch(FetchArgs),
    /// Print the folder with the verified files of a dataset
    Path {
        /// The set
        name: String,
    },
}

#[derive(Debug, Args)]
pub struct FetchArgs {
    /// The datasets
    #[arg(value_name = "NAME", required_unless_present = "all")]
    pub names: Vec<String>,
    /// All datasets
    #[arg(long, conflicts_with = "names")]
    pub all: bool,
    /// A mirror of the archive, or a folder, to take the files from [default: the archive]
    #[arg(long, value_name = "URL|FOLDER")]
    pub from: Option<String>,
    /// Print errors only
    #[arg(long, short)]
    pub quiet: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn flags_are_consistent() {
        super::Cli::command().debug_assert();
    }
}
