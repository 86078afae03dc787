//! Sets that can be fetched.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::failure::EXIT_CODES;

/// The sets of the paper: list, describe and fetch them.
///
/// Files are looked for in the folder TAUGRAPH_DATA, then among the downloads (TAUGRAPH_CACHE, or the cache folder of the
/// system), and are used only if their SHA-256 is the known one.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct DatasetsArgs {
    #[command(subcommand)]
    pub command: DatasetsCommand,
}

#[derive(Debug, Subcommand)]
pub enum DatasetsCommand {
    /// Print all sets, and whether they are here
    List {
        /// Write the result as JSON; - is standard output
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
    /// Describe a set: columns, classes, license, donors, files
    Show {
        /// The set
        name: String,
        /// Write the result as JSON; - is standard output
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
    /// Download sets that are not here; a download that broke off is continued
    Fetch(FetchArgs),
    /// Print the folder with the checked files of a set
    Path {
        /// The set
        name: String,
    },
}

#[derive(Debug, Args)]
pub struct FetchArgs {
    /// The sets
    #[arg(value_name = "NAME", required_unless_present = "all")]
    pub names: Vec<String>,
    /// All sets
    #[arg(long, conflicts_with = "names")]
    pub all: bool,
    /// A mirror of the archive, or a folder, to take the files from [default: the archive]
    #[arg(long, value_name = "URL|FOLDER")]
    pub from: Option<String>,
    /// Print errors only
    #[arg(long, short)]
    pub quiet: bool,
}
