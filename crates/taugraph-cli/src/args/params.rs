//! Parameters: flags for those that people use, `--set` for all of them. Each flag is a path of the library's configuration.

use clap::Args;
use serde_json::Value;
use taugraph::cluster::ClusterMethod;
use taugraph::distance::Metric;
use taugraph::params::Preset;
use taugraph::points::{Missing, Standardize};
use taugraph::propagate::Rule;
use taugraph::{Config, Outliers};
use taugraph_io::Budget;

use crate::dataset::read_numbers;
use crate::failure::{Failure, Outcome};

/// Parameters of the graph, and any parameter.
#[derive(Debug, Args)]
#[command(next_help_heading = "Parameters")]
pub struct ParamArgs {
    /// Named set of parameters of the graph [default: robust]
    #[arg(long, value_name = "NAME", value_parser = Preset::NAMES.to_vec())]
    pub preset: Option<String>,
    /// Neighbors of each point that may become edges [default: 15]
    #[arg(long, short = 'k', value_name = "K")]
    pub neighbors: Option<usize>,
    /// Distance between rows [default: euclidean; cosine for sparse points, which take these two]
    #[arg(long, value_name = "NAME", value_parser = Metric::NAMES.to_vec())]
    pub metric: Option<String>,
    /// How columns are brought to a common scale [default: zscore; none for sparse points, which take only none and max-abs]
    #[arg(long, value_name = "NAME", value_parser = Standardize::NAMES.to_vec())]
    pub standardize: Option<String>,
    /// Keep only this many principal components
    #[arg(long, value_name = "D")]
    pub pca: Option<usize>,
    /// Missing cells: fill with the median of the column, or refuse them
    #[arg(long, value_name = "NAME", value_parser = Missing::NAMES.to_vec())]
    pub missing: Option<String>,
    /// Any parameter by its path, as graph.estimator.pool=20; @FILE reads numbers from a file; 'taugraph params' lists them
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
}

impl ParamArgs {
    /// Flags first, then `--set` in its order.
    pub fn apply(&self, config: &mut Config) -> Outcome<()> {
        set(config, "preset", self.preset.as_deref())?;
        if let Some(k) = self.neighbors {
            config.set("graph.candidates", "neighbors")?;
            config.set("graph.candidates.k", k)?;
        }
        set(config, "metric", self.metric.as_deref())?;
        set(config, "preparation.standardize", self.standardize.as_deref())?;
        set(config, "preparation.pca", self.pca)?;
        set(config, "preparation.missing", self.missing.as_deref())?;
        self.set.iter().try_for_each(|assignment| assign(config, assignment))
    }
}

/// Parameters of the clustering.
#[derive(Debug, Args)]
#[command(next_help_heading = "Parameters")]
pub struct ClusterArgs {
    /// Number of clusters [default: found]
    #[arg(long, short = 'c', value_name = "K")]
    pub clusters: Option<usize>,
    /// Minimum number of clusters if it is found
    #[arg(long, value_name = "K", hide_short_help = true)]
    pub min_clusters: Option<usize>,
    /// Maximum number of clusters if it is found
    #[arg(long, value_name = "K", hide_short_help = true)]
    pub max_clusters: Option<usize>,
    /// Spectral clustering, agglomeration, or the better cut of both [default: auto]
    #[arg(long, value_name = "NAME", value_parser = ClusterMethod::NAMES.to_vec())]
    pub method: Option<String>,
    /// Rows that lie apart get no cluster, but -1: none, those that stand out (auto), or this share of the rows [default: none]
    #[arg(long, value_name = "none|auto|SHARE", value_parser = outliers)]
    pub outliers: Option<Outliers>,
    /// Measure the stability of each label over this many drawn graphs; 0 does not
    #[arg(long, value_name = "DRAWS", num_args = 0..=1, require_equals = true, default_missing_value = "10")]
    pub stability: Option<usize>,
}

impl ClusterArgs {
    pub fn apply(&self, config: &mut Config) -> Outcome<()> {
        set(config, "cluster.n_clusters", self.clusters)?;
        set(config, "cluster.min_clusters", self.min_clusters)?;
        set(config, "cluster.max_clusters", self.max_clusters)?;
        set(config, "cluster.method", self.method.as_deref())?;
        set(config, "cluster.outliers", self.outliers.map(|outliers| outliers.name()))?;
        if let Some(Outliers::Share { share }) = self.outliers {
            config.set("cluster.outliers.share", share)?;
        }
        set(config, "cluster.stability", self.stability)
    }
}

fn outliers(text: &str) -> Result<Outliers, String> {
    match (text, text.parse()) {
        ("none", _) => Ok(Outliers::None),
        ("auto", _) => Ok(Outliers::Auto),
        (_, Ok(share)) if (0.0..=1.0).contains(&share) => Ok(Outliers::Share { share }),
        _ => Err("none, auto or a share of the rows between 0 and 1 is needed".into()),
    }
}

/// Parameters of the propagation.
#[derive(Debug, Args)]
#[command(next_help_heading = "Parameters")]
pub struct RuleArgs {
    /// How labels spread [default: harmonic]
    #[arg(long, value_name = "NAME", value_parser = Rule::NAMES.to_vec())]
    pub rule: Option<String>,
}

impl RuleArgs {
    pub fn apply(&self, config: &mut Config) -> Outcome<()> {
        set(config, "propagate.rule", self.rule.as_deref())
    }
}

fn set(config: &mut Config, path: &str, value: Option<impl Into<Value>>) -> Outcome<()> {
    match value {
        Some(value) => Ok(config.set(path, value)?),
        None => Ok(()),
    }
}

/// What the list of a parameter may take: it has a few numbers.
const LIST_BYTES: u64 = 1 << 26;

fn assign(config: &mut Config, assignment: &str) -> Outcome<()> {
    match assignment.split_once("=@") {
        Some((path, file)) => {
            Ok(config.set(path.trim(), read_numbers(file.as_ref(), &Budget::of(Some(LIST_BYTES)))?)?)
        }
        None => config.assign(assignment).map_err(|error| Failure::Usage(format!("--set: {error}"))),
    }
}
