//! One configuration for every front end: presets, named choices, ranges checked once; a dotted path sets any parameter.
//!
//! ```
//! use taugraph::Config;
//!
//! let mut config = Config::default();
//! config.set("graph.estimator.pool", 20)?;
//! config.set("graph.estimator", "community")?;
//! assert!(config.set("graph.estimator.pool", 20).is_err(), "communities have no pool");
//! # Ok::<(), taugraph::Error>(())
//! ```

mod few_points;

pub use crate::parameter::Parameter;
pub use few_points::Shrunk;

use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut};

use serde_json::Value;

use crate::cluster::ClusterParams;
use crate::distance::Metric;
use crate::error::{Error, Result};
use crate::parameter::{About, Leaf, ParameterTree, parameters, refused};
use crate::params::{GraphParams, Preset};
use crate::points::{Missing, Precision, PreparationParams, Standardize};
use crate::propagate::PropagateParams;
use crate::spectral::{LaplacianKind, RowNormalization};

parameters! {
    /// How a table is prepared. Options left on auto depend on the input.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct PreparationConfig {
        /// Scaling of the columns: auto is zscore for tables and none for sparse points, which accept only none and max-abs.
        standardize: Option<Standardize> = None;
        /// Treatment of missing cells.
        missing: Missing = Missing::Median;
        /// Number of principal components to keep; none keeps all columns.
        pca: Option<usize> = None, "at least 1" => |pca| *pca != Some(0);
        /// How precisely points are stored: auto is the precision of the table (single for float32, float16 and int8, otherwise double); sparse points accept only double.
        precision: Option<Precision> = None;
    }
}

parameters! {
    /// Parameters of a spectral embedding.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct EmbeddingParams {
        /// Number of coordinates, not counting the constant one.
        n_components: usize = 2, "at least 1" => |count| *count >= 1;
        /// The Laplacian.
        laplacian: LaplacianKind = LaplacianKind::RandomWalk;
        /// How the rows of eigenvector entries are normalized.
        row_normalization: RowNormalization = RowNormalization::Plain;
    }
}

parameters! {
    /// Every parameter.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Parameters {
        /// Named set of graph parameters; setting it replaces all of them.
        preset: Preset = Preset::Robust;
        /// Distance between rows: auto is euclidean, but cosine for sparse points unless a row is all zero; sparse points accept only these two.
        metric: Option<Metric> = None;
        /// How a table is prepared.
        preparation: PreparationConfig = PreparationConfig::default();
        /// The robust graph.
        graph: GraphParams = GraphParams::default();
        /// Clustering.
        cluster: ClusterParams = ClusterParams::default();
        /// Label propagation.
        propagate: PropagateParams = PropagateParams::default();
        /// Spectral embedding.
        embedding: EmbeddingParams = EmbeddingParams::default();
        /// Seed of every random number.
        seed: u64 = 0;
    }
}

/// A choice that may be left open, to depend on the input.
macro_rules! open_choice {
    ($Choice:ty, $kind:literal) => {
        impl Leaf for Option<$Choice> {
            const KIND: &'static str = $kind;

            fn write(&self) -> Value {
                self.as_ref().map_or("auto".into(), |choice| choice.name().into())
            }

            fn read(value: &Value) -> Option<Self> {
                match value {
                    Value::Null => Some(None),
                    Value::String(name) if name == "auto" => Some(None),
                    Value::String(name) => <$Choice>::named(name).map(Some),
                    _ => None,
                }
            }
        }
    };
}

open_choice!(Metric, "auto | euclidean | manhattan | cosine");
open_choice!(Precision, "auto | single | double");
open_choice!(Standardize, "auto | zscore | minmax | robust | max-abs | none");

/// Every parameter, and which of them were set explicitly.
///
/// Reads as its [`Parameters`]: `config.graph.threshold`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Config {
    parameters: Parameters,
    /// Paths that were set; these are never adapted to the data.
    given: BTreeSet<String>,
}

impl Deref for Config {
    type Target = Parameters;

    fn deref(&self) -> &Parameters {
        &self.parameters
    }
}

impl DerefMut for Config {
    fn deref_mut(&mut self) -> &mut Parameters {
        &mut self.parameters
    }
}

impl serde::Serialize for Config {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> serde::Deserialize<'de> for Config {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Self::from_json(&Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl From<Preset> for Config {
    fn from(preset: Preset) -> Self {
        let parameters = Parameters { preset, graph: preset.params(), ..Parameters::default() };
        Self { parameters, given: BTreeSet::new() }
    }
}

impl Config {
    /// Sets the parameter, or group of parameters, that a dotted path names. A refused value changes nothing.
    pub fn set(&mut self, path: &str, value: impl Into<Value>) -> Result<()> {
        let value = value.into();
        let mut changed = self.clone();
        changed.put(path, &value)?;
        changed.parameters.check_ranges("")?;
        *self = changed;
        Ok(())
    }

    /// Sets parameters from an object of paths, or of nested groups.
    pub fn set_all(&mut self, values: &Value) -> Result<()> {
        self.set("", values.clone())
    }

    /// Sets a parameter from `path=value`, as typed on a command line.
    pub fn assign(&mut self, assignment: &str) -> Result<()> {
        let Some((path, text)) = assignment.split_once('=') else {
            return Err(Error::Parameter {
                name: assignment.into(),
                value: String::new(),
                rule: "a path and a value are needed, as in graph.threshold=0.4".into(),
            });
        };
        let text = text.trim();
        // Anything that is not JSON is a name or a comma-separated list.
        let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.into()));
        self.set(path.trim(), value)
    }

    /// Switches to another preset, discarding what was set for the graph before.
    pub fn take_preset(&mut self, preset: Preset) {
        self.parameters.preset = preset;
        self.parameters.graph = preset.params();
        self.given.retain(|path| !path.starts_with("graph."));
    }

    fn put(&mut self, path: &str, value: &Value) -> Result<()> {
        let names: Vec<&str> = path.split('.').filter(|name| !name.is_empty()).collect();
        match (names.as_slice(), value) {
            ([], Value::Object(map)) => {
                // A preset replaces the graph's parameters, so it is applied before them.
                if let Some(preset) = map.get("preset") {
                    self.put("preset", preset)?;
                }
                map.iter()
                    .filter(|(name, _)| *name != "preset")
                    .try_for_each(|(name, value)| self.put(name, value))
            }
            ([], other) => Err(refused("params", other, "must be parameters by their paths".into())),
            (["preset"], value) => {
                self.parameters.set("", &["preset"], value)?;
                self.take_preset(self.parameters.preset);
                Ok(())
            }
            (names, value) => {
                self.parameters.set("", names, value)?;
                self.remember(&names.join(".").replace('-', "_"), value);
                Ok(())
            }
        }
    }

    fn remember(&mut self, path: &str, value: &Value) {
        match value {
            Value::Object(map) => {
                map.iter().for_each(|(name, value)| self.remember(&format!("{path}.{name}"), value));
            }
            _ => {
                self.given.insert(path.to_string());
            }
        }
    }

    /// The value at a path, if there is one.
    pub fn get(&self, path: &str) -> Option<Value> {
        let mut value = self.parameters.to_json();
        for name in path.split('.') {
            value = value.get_mut(name.replace('-', "_"))?.take();
        }
        Some(value)
    }

    /// Every parameter with its current value as the default; parameters of other choices with their own defaults.
    pub fn list(&self) -> Vec<Parameter> {
        let mut list = Vec::new();
        self.parameters.list("", About::default(), &mut list);
        list
    }

    /// Everything as JSON: nested groups, named as in the paths.
    pub fn to_json(&self) -> Value {
        self.parameters.to_json()
    }

    /// From [`Config::to_json`], or any part of it. Values equal to the preset's count as not set.
    pub fn from_json(json: &Value) -> Result<Self> {
        let mut config = Self::default();
        config.set_all(json)?;
        let usual = Self::from(config.preset).to_json();
        let differs = |path: &String| {
            let of =
                |json: &Value| path.split('.').try_fold(json.clone(), |value, name| value.get(name).cloned());
            of(&usual) != of(&config.to_json())
        };
        config.given = config.given.iter().filter(|path| differs(path)).cloned().collect();
        Ok(config)
    }

    /// Checks every range.
    pub fn check(&self) -> Result<()> {
        self.parameters.check_ranges("")
    }

    /// The metric; if left open, the one that suits the input.
    pub fn metric_for(&self, is_sparse: bool) -> Metric {
        self.metric.unwrap_or(if is_sparse { Metric::Cosine } else { Metric::default() })
    }

    /// The preparation, likewise; zeros of sparse points mean "absent".
    pub fn preparation_for(&self, is_sparse: bool) -> PreparationParams {
        let PreparationConfig { standardize, missing, pca, precision } = self.preparation;
        let usual = if is_sparse { Standardize::None } else { Standardize::default() };
        PreparationParams { standardize: standardize.unwrap_or(usual), missing, pca, precision }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_lead_to_every_parameter() {
        let mut config = Config::default();
        for parameter in config.list().iter().filter(|parameter| parameter.only_with.is_none()) {
            let found = config.get(&parameter.path).unwrap_or_else(|| panic!("{}", parameter.path));
            let found = found.get("kind").cloned().unwrap_or(found);
            assert_eq!(found, parameter.default, "{}", parameter.path);
            assert!(!parameter.meaning.is_empty(), "{}", parameter.path);
            config.set(&parameter.path, parameter.default.clone()).unwrap();
        }
        assert_eq!(*config, *Config::default());
    }

    #[test]
    fn parameters_of_other_choices_are_set_with_their_choice() {
        let all = Config::default().list();
        for parameter in &all {
            let Some(condition) = &parameter.only_with else { continue };
            let (choice, name) = condition.split_once(" = ").unwrap();
            let mut config = Config::default();
            // A choice within a choice needs both.
            let outer =
                all.iter().find(|other| other.path == choice).and_then(|other| other.only_with.as_ref());
            if let Some((path, name)) = outer.and_then(|outer| outer.split_once(" = ")) {
                config.set(path, name).unwrap();
            }
            config.set(choice, name).unwrap();
            let value = match parameter.path.as_str() {
                "graph.estimator.parts" => json!(["overlap", "community"]),
                _ => parameter.default.clone(),
            };
            config.set(&parameter.path, value).unwrap_or_else(|error| panic!("{}: {error}", parameter.path));
        }
    }

    #[test]
    fn json_comes_back() {
        for preset in Preset::ALL {
            let mut config = Config::from(preset);
            config.set("cluster.n_clusters", 7).unwrap();
            config.set("metric", "cosine").unwrap();
            assert_eq!(Config::from_json(&config.to_json()).unwrap(), config);
        }
        let by_paths =
            json!({"graph.threshold": 0.5, "preset": "paper", "graph": {"estimator": {"hidden": [8]}}});
        let config = Config::from_json(&by_paths).unwrap();
        assert_eq!((config.preset, config.graph.threshold), (Preset::Paper, 0.5));
        assert_eq!(config.get("graph.estimator.hidden"), Some(json!([8])));
    }

    #[test]
    fn what_is_typed_is_read() {
        let mut config = Config::default();
        for line in [
            "graph.taus=0.25,0.5",
            "graph.candidates.k = 8",
            "graph.estimator=product",
            "graph.estimator.parts=neighborhood,community",
            "graph.estimator.parts.community.seeds=5",
            "cluster.n_clusters=auto",
            "propagate.link=yes",
        ] {
            config.assign(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
        assert_eq!(config.graph.taus.values(), [0.25, 0.5]);
        assert!(config.propagate.link);
    }

    #[test]
    fn mistakes_are_named() {
        let mut config = Config::default();
        let before = config.clone();
        let mut error = |line: &str| config.assign(line).unwrap_err().to_string();
        assert_eq!(error("graph.estimator.pool=0"), "graph.estimator.pool = 0: must be at least 1");
        assert_eq!(error("graph.threshold=high"), "graph.threshold = high: must be a number");
        assert_eq!(
            error("graph.estimator.floor=0.1"),
            "graph.estimator.floor has no effect: it belongs to graph.estimator = community, but graph.estimator is neighborhood"
        );
        assert!(error("graph.estimator=magic").contains("must be neighborhood, auto-encoder"));
        assert!(
            error("graph.pool=3").contains("graph.pool is not a parameter; graph has search, candidates")
        );
        assert!(error("graph.threshold.x=3").contains("graph.threshold.x is not a parameter"));
        assert!(error("threshold").contains("a path and a value are needed"));
        assert!(error("graph=3").contains("is a group"));
        assert_eq!(config, before, "a refused value changes nothing");
    }
}
