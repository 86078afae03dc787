//! New rows for a model.

use std::path::PathBuf;

use clap::Args;
use taugraph_terminal::size_in_bytes;

use super::choice::one_of;
use super::input::delimiter;
use super::run::threads;
use crate::failure::EXIT_CODES;
use crate::settings::{HeaderChoice, InputSettings};

/// Place new rows into a model that cluster or propagate saved.
///
/// Columns are matched by name where the table and that of the model have names, by position otherwise. Columns of the output:
/// cluster and cluster_margin, or label (empty where no label reaches) and margin; outlier (1 where a row is farther from everything
/// than any row of the model); p_NAME, the probability of each class; membership, the strength in the own cluster; outlier_score;
/// layer_K, the cluster among the K of each layer.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct PredictCommand {
    /// The model
    pub model: PathBuf,
    /// The new rows; - is standard input
    pub file: PathBuf,
    /// Column of true labels, used for scoring
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub label_column: Option<String>,
    /// Column that names the rows: carried to the output
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub id_column: Option<String>,
    /// Columns to leave out where they are matched by position
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', help_heading = "Input")]
    pub drop: Vec<String>,
    /// Delimiter of a text table: one character, or 'tab' [default: found]
    #[arg(long, value_name = "CHAR", value_parser = delimiter, help_heading = "Input")]
    pub delimiter: Option<char>,
    /// Whether the first line names the columns
    #[arg(long, value_parser = one_of::<HeaderChoice>(&["auto", "yes", "no"]), help_heading = "Input")]
    pub header: Option<HeaderChoice>,
    /// Array of an NPZ file
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub array: Option<String>,
    /// Clusters or labels: .csv, .tsv, .parquet or, for clusters, .npy [default: standard output]
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Spectral embedding of each row
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub embedding: Option<PathBuf>,
    /// Affinities of the new rows to those of the model: .npz, .mtx, .csv or .parquet
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub graph: Option<PathBuf>,
    /// Write diagnostics and results as JSON; - is standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,
    /// Threads [default: all cores]; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = threads, help_heading = "Run")]
    pub threads: Option<usize>,
    /// Memory that may be used, as 500M or 4G [default: what is available]
    #[arg(long, value_name = "SIZE", value_parser = size_in_bytes, help_heading = "Run")]
    pub memory: Option<u64>,
    /// Print errors only
    #[arg(long, short, help_heading = "Run")]
    pub quiet: bool,
}

impl PredictCommand {
    pub fn input(&self) -> InputSettings {
        InputSettings {
            file: self.file.clone(),
            label_column: self.label_column.clone(),
            id_column: self.id_column.clone(),
            drop: self.drop.clone(),
            delimiter: self.delimiter,
            header: self.header.unwrap_or_default(),
            array: self.array.clone(),
            ..InputSettings::default()
        }
    }
}
