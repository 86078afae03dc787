//! Where labels come from, and every parameter of their propagation.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RuleName {
    /// Harmonic functions with class-mass normalization
    Harmonic,
    /// Poisson learning
    Poisson,
    /// Local and global consistency
    Consistency,
    /// Cosine in the kernel of the Laplacian
    KernelCosine,
    /// Nearest label in the kernel of the Laplacian
    NearestInKernel,
    /// The greedy walk of the paper (Algorithm 2)
    GreedyWalk,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Labels")]
pub struct PropagateArgs {
    /// Column of known labels; an empty cell is a row to be labeled
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["labels_file", "label_column"])]
    pub labels: Option<String>,
    /// File of known labels: a column 'label' beside 'row' (counted from 1) or the --id-column
    #[arg(long, value_name = "FILE")]
    pub labels_file: Option<PathBuf>,
    /// How labels spread [default: harmonic]
    #[arg(long, value_enum, hide_possible_values = true)]
    pub rule: Option<RuleName>,
    /// Prior of each class, as NAME=SHARE [default: all alike]
    #[arg(long, value_name = "NAME=SHARE,…", value_delimiter = ',', value_parser = share)]
    pub priors: Option<Vec<(String, f64)>>,
    /// Shares of the classes among the rows to be labeled, respected as nearly as possible
    #[arg(long, value_name = "NAME=SHARE,…", value_delimiter = ',', value_parser = share, hide_short_help = true)]
    pub sizes: Option<Vec<(String, f64)>>,
    /// Let examples be outvoted: their strength, in units of their degree (harmonic only)
    #[arg(long, value_name = "STRENGTH", hide_short_help = true)]
    pub soft: Option<f64>,
    /// Consistency: how much a node listens to its neighbors, below 1 [default: 0.99]
    #[arg(long, hide_short_help = true)]
    pub alpha: Option<f64>,
    /// Greedy walk: most steps [default: 5]
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub max_walk: Option<usize>,
    /// Greedy walk: use only so many eigenpairs [default: all]
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub kernel_pairs: Option<usize>,
    /// Residual of the linear systems
    #[arg(long, value_name = "SHARE", hide_short_help = true)]
    pub solver_tolerance: Option<f64>,
    /// Most iterations of the linear systems
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub solver_iterations: Option<usize>,
    /// Join the components of a given graph by weak links, so that labels reach all of it
    #[arg(long, hide_short_help = true)]
    pub link: bool,
}

fn share(text: &str) -> Result<(String, f64), String> {
    let parsed =
        text.rsplit_once('=').and_then(|(name, share)| Some((name.to_string(), share.parse().ok()?)));
    parsed.ok_or_else(|| "a class and its share are needed, as in yes=0.3".into())
}
