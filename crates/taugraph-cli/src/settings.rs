//! Everything that decides a result, as one value: what is read, and the configuration of the library. It is made from a config file
//! and the flags given beside it, written with the results, and read again to repeat them.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use taugraph::Config;
use taugraph::graph::Asymmetry;
use taugraph::memory;
use taugraph_io::{Budget, Metered};

use crate::args::{InputArgs, RunArgs};
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

/// Labels that do not come from the table; classes by their names.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelSettings {
    #[serde(serialize_with = "maybe_as_text")]
    pub file: Option<PathBuf>,
    pub priors: Option<Vec<(String, f64)>>,
    pub sizes: Option<Vec<(String, f64)>>,
}

/// Files of pairs of rows that must, or must not, share a cluster.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairSettings {
    #[serde(serialize_with = "maybe_as_text")]
    pub must_link: Option<PathBuf>,
    #[serde(serialize_with = "maybe_as_text")]
    pub cannot_link: Option<PathBuf>,
}

impl PairSettings {
    /// The files that are given.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        [&self.must_link, &self.cannot_link].into_iter().flatten().map(PathBuf::as_path)
    }
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

/// Everything that decides a result.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub input: InputSettings,
    pub labels: LabelSettings,
    /// Files of 0.1.0 do not have it.
    #[serde(default)]
    pub pairs: PairSettings,
    pub params: Config,
}

/// The part of a JSON file that `--config` reads.
#[derive(Deserialize)]
struct Written {
    settings: Settings,
}

impl Settings {
    /// The defaults, or those of `--config`, for an input.
    pub fn start(run: &RunArgs, input: &InputArgs) -> Outcome<Self> {
        let mut settings = match &run.config {
            None => Self::default(),
            Some(path) => Self::of_config(path, run.memory.or_else(memory::available))?,
        };
        settings.params.seed = run.seed.unwrap_or(settings.params.seed);
        settings.apply_input(input)?;
        Ok(settings)
    }

    fn of_config(path: &Path, memory_limit: Option<u64>) -> Outcome<Self> {
        let name = path.display();
        let file =
            File::open(path).map_err(|error| Failure::Input(format!("{name} cannot be read: {error}")))?;
        let budget = Budget::of(memory_limit);
        let mut text = Metered::new(BufReader::new(file), 1, &budget);
        let written = serde_json::from_reader(&mut text).map_err(|error| {
            let refused = text.refused(&name.to_string()).map(Failure::from);
            refused.unwrap_or_else(|| Failure::Input(format!("{name} is not a file of --json: {error}")))
        });
        written.map(|written: Written| written.settings)
    }

    pub fn apply_input(&mut self, args: &InputArgs) -> Outcome<()> {
        let input = &mut self.input;
        if let Some(file) = &args.file {
            input.file.clone_from(file);
        }
        if input.file.as_os_str().is_empty() {
            return Err(Failure::Usage("no FILE was given; - is standard input".into()));
        }
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
        // Whether they come from a flag or from a file.
        check_id_column(input.id_column.as_deref())?;
        check_delimiter(input.delimiter)
    }
}

/// What a table can be delimited by: one byte that is no part of a cell.
pub fn is_delimiter(character: char) -> bool {
    character.is_ascii()
        && !character.is_ascii_alphanumeric()
        && !matches!(character, '"' | '\n' | '\r' | '\0')
}

/// What a delimiter is, for messages.
pub const DELIMITER: &str = "a delimiter is one character that is neither letter, digit nor quote, or 'tab'";

fn check_delimiter(delimiter: Option<char>) -> Outcome<()> {
    match delimiter.filter(|&character| !is_delimiter(character)) {
        None => Ok(()),
        Some(character) => Err(Failure::Usage(format!("--delimiter {character:?}: {DELIMITER}"))),
    }
}

/// Results stand beside the names of rows, in columns of other names.
pub fn check_id_column(id_column: Option<&str>) -> Outcome<()> {
    const RESULTS: [&str; 11] = [
        "cluster",
        "stability",
        "first_scale",
        "scale",
        "label",
        "margin",
        "flag",
        "cluster_margin",
        "outlier",
        "membership",
        "outlier_score",
    ];
    const COUNTED: [&str; 4] = ["embedding_", "p_", "membership_", "layer_"];
    let is_taken = |id: &&str| RESULTS.contains(id) || COUNTED.iter().any(|start| id.starts_with(start));
    match id_column.filter(is_taken) {
        None => Ok(()),
        Some(id) => Err(Failure::Usage(format!(
            "--id-column: a column of the output is called '{id}', too; rename yours"
        ))),
    }
}
