//! What is read, and how it is prepared.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use taugraph::graph::Asymmetry;

use super::choice::one_of;
use crate::settings::{DELIMITER, HeaderChoice, InputKind, is_delimiter};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum FeaturesPlace {
    /// In memory
    Memory,
    /// On disk; for points in NPY and Parquet files
    Disk,
    /// On disk if memory is too small for them and the file is NPY or Parquet
    #[default]
    Auto,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct InputArgs {
    /// The table, sparse points or graph; - is standard input
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Column of true labels: kept out of the features, used for scoring
    #[arg(long, value_name = "NAME")]
    pub label_column: Option<String>,
    /// Column that names the rows: kept out of the features, carried to the output
    #[arg(long, value_name = "NAME")]
    pub id_column: Option<String>,
    /// Columns to leave out
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub drop: Option<Vec<String>>,
    /// Use only these columns as features
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', hide_short_help = true)]
    pub columns: Option<Vec<String>>,
    /// What the file holds; 'auto' takes tables as points, square sparse matrices as graphs and others as points
    #[arg(long, value_parser = one_of::<InputKind>(&["auto", "points", "graph", "distances"]), hide_short_help = true)]
    pub input: Option<InputKind>,
    /// Delimiter of a text table: one character, or 'tab' [default: found]
    #[arg(long, value_name = "CHAR", value_parser = delimiter, hide_short_help = true)]
    pub delimiter: Option<char>,
    /// Whether the first line names the columns
    #[arg(long, value_parser = one_of::<HeaderChoice>(&["auto", "yes", "no"]), hide_short_help = true)]
    pub header: Option<HeaderChoice>,
    /// Array of an NPZ file
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub array: Option<String>,
    /// A graph whose entries (i, j) and (j, i) differ: refuse it, or give both their mean or the larger one
    #[arg(long, value_parser = one_of::<Asymmetry>(&["refuse", "mean", "larger"]), hide_short_help = true)]
    pub asymmetric: Option<Asymmetry>,
    /// Where the features are kept [default: auto]; the result does not depend on it
    #[arg(long, value_name = "PLACE", value_enum, hide_short_help = true)]
    pub features: Option<FeaturesPlace>,
    /// Folder for features on disk [default: the system's temporary folder]; one in memory gains nothing
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub scratch: Option<PathBuf>,
}

pub(super) fn delimiter(text: &str) -> Result<char, String> {
    match text {
        "tab" | "\\t" => Ok('\t'),
        _ => match text.chars().collect::<Vec<_>>()[..] {
            [character] if is_delimiter(character) => Ok(character),
            _ => Err(DELIMITER.into()),
        },
    }
}
