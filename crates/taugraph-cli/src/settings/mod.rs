//! Everything that decides a result, as one value: made from a preset or a config file and the flags given beside it,
//! written with the results, and read again to repeat them.

mod graph;
mod propagate;

pub use propagate::PropagateSettings;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use taugraph::cluster::{ClusterCount, ClusterParams};
use taugraph::distance::Metric;
use taugraph::graph::Asymmetry;
use taugraph::params::{GraphParams, Preset};
use taugraph::points::{Missing, PreparationParams, Standardize};
use taugraph::spectral::SolverChoice;

use crate::args::{ClusterArgs, InputArgs, RunArgs};
use crate::failure::{Failure, Outcome};

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InputKind {
    /// Tables are points; sparse matrices are graphs if they are square, points otherwise.
    #[default]
    Auto,
    /// Points.
    Points,
    /// Affinities.
    Graph,
    /// Distances, of all pairs or of neighbors.
    Distances,
}

/// Whether the first line names the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeaderChoice {
    #[default]
    Auto,
    Yes,
    No,
}

/// What is read.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputSettings {
    /// In JSON as far as it is text.
    #[serde(serialize_with = "as_text")]
    pub file: PathBuf,
    pub kind: InputKind,
    pub label_column: Option<String>,
    pub id_column: Option<String>,
    pub drop: Vec<String>,
    pub columns: Option<Vec<String>>,
    pub delimiter: Option<char>,
    pub header: HeaderChoice,
    pub array: Option<String>,
    pub asymmetric: Asymmetry,
}

fn as_text<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

fn maybe_as_text<S: serde::Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => as_text(path, serializer),
        None => serializer.serialize_none(),
    }
}

/// How points are prepared.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreparationSettings {
    /// What was not given depends on the input; see [`Settings::settle`].
    pub standardize: Option<Standardize>,
    pub missing: Missing,
    pub pca: Option<usize>,
}

/// Everything that decides a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub input: InputSettings,
    pub preparation: PreparationSettings,
    /// What was not given depends on the input; see [`Settings::settle`].
    pub metric: Option<Metric>,
    /// The preset that the graph's parameters started from.
    pub preset: String,
    pub graph: GraphParams,
    pub cluster: ClusterParams,
    /// Drawn graphs for the stability; 0 for none.
    pub stability: usize,
    pub propagate: PropagateSettings,
    pub seed: u64,
}

/// Results stand beside the names of rows, in columns of other names.
pub fn check_id_column(id_column: Option<&str>) -> Outcome<()> {
    const RESULTS: [&str; 9] =
        ["cluster", "stability", "first_scale", "scale", "label", "margin", "flag", "cluster_margin", "far"];
    let is_taken = |id: &&str| RESULTS.contains(id) || id.starts_with("embedding_") || id.starts_with("p_");
    match id_column.filter(is_taken) {
        None => Ok(()),
        Some(id) => Err(Failure::Usage(format!(
            "--id-column: a column of the output is called '{id}', too; rename yours"
        ))),
    }
}

/// The part of a JSON file that `--config` reads.
#[derive(Deserialize)]
struct Config {
    settings: Settings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            input: InputSettings::default(),
            preparation: PreparationSettings::default(),
            metric: None,
            preset: Preset::default().name().to_string(),
            graph: Preset::default().params(),
            cluster: ClusterParams::default(),
            stability: 0,
            propagate: PropagateSettings::default(),
            seed: 0,
        }
    }
}

impl Settings {
    /// The defaults, or those of `--config`.
    pub fn start(run: &RunArgs) -> Outcome<Self> {
        let mut settings = match &run.config {
            None => Self::default(),
            Some(path) => Self::of_config(path)?,
        };
        settings.seed = run.seed.unwrap_or(settings.seed);
        Ok(settings)
    }

    fn of_config(path: &Path) -> Outcome<Self> {
        let name = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::Input(format!("{name} cannot be read: {error}")))?;
        let config: Config = serde_json::from_str(&text)
            .map_err(|error| Failure::Input(format!("{name} is not a file of --json: {error}")))?;
        Ok(config.settings)
    }

    pub fn apply_input(&mut self, args: &InputArgs) -> Outcome<()> {
        let input = &mut self.input;
        if let Some(file) = &args.file {
            input.file.clone_from(file);
        }
        if input.file.as_os_str().is_empty() {
            return Err(Failure::Usage("no FILE was given; - is standard input".into()));
        }
        check_id_column(args.id_column.as_deref())?;
        let or = |new: &Option<String>, old: &mut Option<String>| {
            if new.is_some() {
                old.clone_from(new);
            }
        };
        or(&args.label_column, &mut input.label_column);
        or(&args.id_column, &mut input.id_column);
        or(&args.array, &mut input.array);
        input.asymmetric = args.asymmetric.unwrap_or(input.asymmetric);
        if let Some(drop) = &args.drop {
            input.drop.clone_from(drop);
        }
        if args.columns.is_some() {
            input.columns.clone_from(&args.columns);
        }
        input.kind = args.input.unwrap_or(input.kind);
        input.delimiter = args.delimiter.or(input.delimiter);
        input.header = args.header.unwrap_or(input.header);
        let preparation = &mut self.preparation;
        preparation.standardize = args.standardize.or(preparation.standardize);
        preparation.missing = args.missing.unwrap_or(preparation.missing);
        preparation.pca = args.pca.or(preparation.pca);
        self.metric = args.metric.or(self.metric);
        Ok(())
    }

    /// Decides what was not given: the angle between unscaled rows for sparse points, where zeros mean "not there"; the
    /// defaults of the library otherwise.
    pub fn settle(&mut self, is_sparse: bool) {
        let (metric, standardize) = match is_sparse {
            true => (Metric::Cosine, Standardize::None),
            false => (Metric::default(), Standardize::default()),
        };
        self.metric.get_or_insert(metric);
        self.preparation.standardize.get_or_insert(standardize);
    }

    /// The metric, settled or the default.
    pub fn metric(&self) -> Metric {
        self.metric.unwrap_or_default()
    }

    /// The preparation, settled or the default.
    pub fn preparation(&self) -> PreparationParams {
        let PreparationSettings { standardize, missing, pca } = self.preparation;
        PreparationParams { standardize: standardize.unwrap_or_default(), missing, pca }
    }

    pub fn apply_cluster(&mut self, args: &ClusterArgs) {
        let cluster = &mut self.cluster;
        if let Some(clusters) = args.clusters {
            cluster.clusters = ClusterCount::Exactly(clusters);
        }
        if let Some(max) = args.max_clusters {
            cluster.clusters = ClusterCount::Automatic { max };
        }
        cluster.laplacian = args.laplacian.unwrap_or(cluster.laplacian);
        cluster.rows = args.rows.unwrap_or(cluster.rows);
        cluster.components = args.components.unwrap_or(cluster.components);
        if let Some(solver) = args.solver {
            cluster.eigen.solver = SolverChoice::Only(solver);
        }
        cluster.eigen.tolerance = args.eigen_tolerance.unwrap_or(cluster.eigen.tolerance);
        cluster.eigen.max_applications = args.max_applications.unwrap_or(cluster.eigen.max_applications);
        cluster.kmeans.restarts = args.restarts.unwrap_or(cluster.kmeans.restarts);
        cluster.kmeans.max_rounds = args.kmeans_rounds.unwrap_or(cluster.kmeans.max_rounds);
        cluster.kmeans.tolerance = args.kmeans_tolerance.unwrap_or(cluster.kmeans.tolerance);
        self.stability = args.stability.unwrap_or(self.stability);
    }
}
