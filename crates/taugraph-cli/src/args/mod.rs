//! Flags as they are typed. They are turned into [`crate::settings::Settings`] and checked there.

mod choice;
mod input;
mod labels;
mod pairs;
mod params;
mod predict;
mod report;
mod run;

pub use input::{FeaturesPlace, InputArgs};
pub use labels::LabelArgs;
pub use pairs::PairArgs;
pub use params::{ClusterArgs, ParamArgs, RuleArgs};
pub use predict::PredictCommand;
pub use report::ReportArgs;
pub use run::{ResumeArgs, RunArgs};

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use taugraph::params::Preset;
use taugraph_terminal::size_in_bytes;

use crate::failure::EXIT_CODES;

/// Robust neighborhood graphs from a table of points: clusters without guessing gamma.
#[derive(Debug, Parser)]
#[command(name = "taugraph", version, after_help = EXIT_CODES, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show what taugraph does on two noisy spirals, with figures
    Demo(DemoArgs),
    /// Cluster the rows of a table, or the nodes of a graph
    Cluster(Box<ClusterCommand>),
    /// Make the robust graph of a table
    Graph(Box<GraphCommand>),
    /// Label all rows from a few that are labeled
    Propagate(Box<PropagateCommand>),
    /// Place new rows into a model that cluster or propagate saved
    Predict(Box<PredictCommand>),
    /// Try how well labels spread from one labeled row of each class
    Evaluate(Box<EvaluateCommand>),
    /// Make points with known groups
    Generate(GenerateArgs),
    /// Compare two labelings
    Compare(CompareArgs),
    /// Say what would be read from a file, or what a model is
    Info(Box<InfoArgs>),
    /// Draw every figure of a clustering; flags as of cluster, --figures names the folder
    Plot(Box<ClusterCommand>),
    /// List every parameter: path, default, range, meaning
    Params(ParamsArgs),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the manual pages
    Man {
        /// Folder to write to
        #[arg(default_value = ".")]
        folder: PathBuf,
    },
}

/// List every parameter: path, default, range, meaning. --set path=value sets any of them, and so does params={…} in Python.
#[derive(Debug, Args)]
pub struct ParamsArgs {
    /// Only paths that begin with this, as graph.estimator
    pub path: Option<String>,
    /// The values of this preset
    #[arg(long, value_name = "NAME", value_parser = Preset::NAMES.to_vec())]
    pub preset: Option<String>,
    /// Write the list as JSON; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Folder for the report and the figures
    #[arg(long, default_value = "taugraph-demo")]
    pub output: PathBuf,
    #[command(flatten)]
    pub run: RunArgs,
}

/// Cluster the rows of a table, or the nodes of a graph.
///
/// Reads CSV, TSV (also .gz and .zst), Parquet, NPY, NPZ; graphs and sparse points from scipy's .npz and MatrixMarket, sparse
/// points from svmlight. Labels go to standard output as CSV, or to --output.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true, after_help = "-h lists the main flags, --help all of them; 'taugraph params' lists every parameter.", after_long_help = EXIT_CODES)]
pub struct ClusterCommand {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub params: ParamArgs,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    #[command(flatten)]
    pub pairs: PairArgs,
    /// Labels: .csv, .tsv, .parquet or .npy; column 'cluster' [default: standard output]
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Add to the labels how strongly each row belongs to each cluster, and its outlier score
    #[arg(long, help_heading = "Output")]
    pub memberships: bool,
    /// Nested answers from coarse to fine: columns layer_K of K clusters each
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub layers: Option<PathBuf>,
    /// Say what each cluster is: its typical rows, the columns that set it apart, a short rule
    #[arg(long, help_heading = "Output")]
    pub explain: bool,
    /// Spectral embedding of each row
    #[arg(long, value_name = "FILE", help_heading = "Output", hide_short_help = true)]
    pub embedding: Option<PathBuf>,
    /// Model for taugraph predict, as .safetensors
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub save_model: Option<PathBuf>,
    #[command(flatten)]
    pub also: GraphOutputs,
    #[command(flatten)]
    pub shows: ReportArgs,
    #[command(flatten)]
    pub resume: ResumeArgs,
    #[command(flatten)]
    pub run: RunArgs,
}

/// Make the robust graph of a table.
///
/// The graph goes to --output: .npz for scipy.sparse.load_npz, .mtx for MatrixMarket, .csv or .parquet for a list of edges
/// with weight, probability and distance; without --output the list of edges goes to standard output.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true, after_help = "-h lists the main flags, --help all of them; 'taugraph params' lists every parameter.", after_long_help = EXIT_CODES)]
pub struct GraphCommand {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub params: ParamArgs,
    /// The graph: .npz, .mtx, .csv, .tsv or .parquet [default: edges to standard output]
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Local scales of each row, first and robust
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub scales: Option<PathBuf>,
    #[command(flatten)]
    pub shows: ReportArgs,
    #[command(flatten)]
    pub resume: ResumeArgs,
    #[command(flatten)]
    pub run: RunArgs,
}

/// Label all rows from a few that are labeled.
///
/// Columns of the output: label (empty where no label reaches), margin (lead of the likeliest class), flag (given,
/// corrected, unreached or empty) and p_NAME, the probability of each class.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true, after_help = "-h lists the main flags, --help all of them; 'taugraph params' lists every parameter.", after_long_help = EXIT_CODES)]
pub struct PropagateCommand {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub params: ParamArgs,
    #[command(flatten)]
    pub labels: LabelArgs,
    #[command(flatten)]
    pub rule: RuleArgs,
    /// Labels: .csv, .tsv or .parquet [default: standard output]
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Suggest this many rows to label next, in the summary and in --json
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Output")]
    pub suggest: usize,
    /// Model for taugraph predict, as .safetensors
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub save_model: Option<PathBuf>,
    #[command(flatten)]
    pub shows: ReportArgs,
    #[command(flatten)]
    pub resume: ResumeArgs,
    #[command(flatten)]
    pub run: RunArgs,
}

/// Try how well labels spread from one labeled row of each class: accuracy and balanced accuracy over random draws, or, for two
/// classes, over all pairs of labeled rows.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true, after_help = "-h lists the main flags, --help all of them; 'taugraph params' lists every parameter.", after_long_help = EXIT_CODES)]
pub struct EvaluateCommand {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub params: ParamArgs,
    #[command(flatten)]
    pub labels: LabelArgs,
    #[command(flatten)]
    pub rule: RuleArgs,
    /// Random draws of labeled rows
    #[arg(long, value_name = "T", default_value_t = 100, help_heading = "Trials")]
    pub trials: usize,
    /// Labeled rows of each class in a draw; smaller classes keep one row without a label
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "exact", help_heading = "Trials")]
    pub per_class: usize,
    /// Two classes: every pair of labeled rows, the exact expectation
    #[arg(long = "exact", conflicts_with = "trials", help_heading = "Trials")]
    pub exact: bool,
    #[command(flatten)]
    pub resume: ResumeArgs,
    #[command(flatten)]
    pub run: RunArgs,
}

/// What else a clustering may write.
#[derive(Debug, Args)]
pub struct GraphOutputs {
    /// The graph: .npz, .mtx, .csv or .parquet
    #[arg(long = "graph", value_name = "FILE", help_heading = "Output", hide_short_help = true)]
    pub graph_file: Option<PathBuf>,
    /// Local scales of each row, first and robust
    #[arg(long, value_name = "FILE", help_heading = "Output", hide_short_help = true)]
    pub scales: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shape {
    /// Two spirals; --density says how the points lie on them
    Spirals,
    /// Five arms of a pinwheel
    Pinwheel,
    /// Two half circles
    Moons,
    /// Two circles around one center
    Circles,
    /// Gaussian blobs of uneven density
    Blobs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Density {
    /// Uniform in the angle: the arms thin out outwards
    UniformAngle,
    /// Denser outwards, wider arms
    EvenLength,
}

/// Make points with known groups: columns x1, x2, … and label.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub struct GenerateArgs {
    /// The shape
    pub shape: Shape,
    /// Number of points
    #[arg(long, short = 'n', default_value_t = 1000)]
    pub points: usize,
    /// Deviation of Gaussian noise added to --share of the points
    #[arg(long, default_value_t = 0.0)]
    pub noise: f64,
    /// Share of the points that get the noise
    #[arg(long, default_value_t = 1.0)]
    pub share: f64,
    /// How the points lie on the spirals
    #[arg(long, value_enum, default_value = "uniform-angle")]
    pub density: Density,
    /// Blobs: how many
    #[arg(long, default_value_t = 5)]
    pub blobs: u32,
    /// Blobs: columns
    #[arg(long, default_value_t = 2)]
    pub columns: usize,
    /// Circles: radius of the inner one
    #[arg(long, default_value_t = 0.5)]
    pub inner: f64,
    /// Every random number follows from it
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// The points: .csv, .tsv, .parquet or .npy [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Compare two labelings of the same rows: NMI, ARI, AMI, accuracy and balanced accuracy under the best matching.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct CompareArgs {
    /// First labeling (the truth, if there is one): a table
    pub first: PathBuf,
    /// Second labeling; may be the same file
    pub second: PathBuf,
    /// Column of the first file [default: its only one, or 'label', 'class' or 'cluster']
    #[arg(long, value_name = "NAME")]
    pub first_column: Option<String>,
    /// Column of the second file [default: its only one, or 'cluster', 'label' or 'class']
    #[arg(long, value_name = "NAME")]
    pub second_column: Option<String>,
    /// Write the result as JSON; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Memory that may be used, as 500M or 4G [default: what is available]
    #[arg(long, value_name = "SIZE", value_parser = size_in_bytes, hide_short_help = true)]
    pub memory: Option<u64>,
}

/// Say what would be read from a file: rows, columns, types, missing cells, duplicates, memory; or what a model is.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct InfoArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub params: ParamArgs,
    /// Write the result as JSON; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Memory that may be used, as 500M or 4G [default: what is available]
    #[arg(long, value_name = "SIZE", value_parser = size_in_bytes, hide_short_help = true)]
    pub memory: Option<u64>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn flags_are_consistent() {
        super::Cli::command().debug_assert();
    }
}
