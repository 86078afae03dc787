//! A model as one file: named arrays and a header. Files are untrusted input.

use std::io::{Read, Write};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Model;
use super::clusters::{Classes, Clusters, Spectral};
use super::edges::PersistenceRule;
use super::names::Names;
use crate::arrays::{Arrays, bad, shortened};
use crate::distance::Metric;
use crate::error::{Error, Result};
use crate::neighbors::{MetricPoints, NeighborGraph};
use crate::params::GraphParams;
use crate::points::{Numbers, Points, PreparationRule};
use crate::quantile::Estimator;
use crate::scale::LocalScales;
use crate::spectral::{LaplacianKind, RowNormalization};

/// Version of the file format. It rises with every change, even an addition: unknown headers and arrays
/// are refused, because they might matter.
pub const VERSION: u32 = 4;

/// The oldest version that is read: version 4 added points in single precision.
const OLDEST: u32 = 3;

/// What the header of every model begins with.
const KIND: &str = "taugraph model";

/// Everything in a model but its arrays.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    /// [`KIND`].
    kind: String,
    /// [`VERSION`] of the library that wrote it.
    version: u32,
    metric: Metric,
    graph: GraphParams,
    /// Number of rows that it was built from.
    n_rows: u64,
    /// Columns of the raw table, if points are prepared.
    n_raw_columns: Option<u64>,
    n_clusters: Option<u64>,
    /// Layers of the clusters.
    n_layers: u64,
    /// Whether memberships are stored.
    has_memberships: bool,
    /// How the nodes were embedded, if they were.
    spectral: Option<SpectralHeader>,
    n_classes: Option<u64>,
    /// Names of the raw columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    columns: Option<Vec<String>>,
    /// Names of the classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    classes: Option<Vec<String>>,
    /// Whatever the front end wants to store.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<Value>,
}

/// How nodes were embedded.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SpectralHeader {
    laplacian: LaplacianKind,
    rows: RowNormalization,
}

impl Header {
    fn parse(text: &str) -> Result<Self> {
        /// Enough to tell whether the rest can be parsed. Version 1 did not record its version here.
        #[derive(Deserialize)]
        struct Beginning {
            kind: String,
            version: Option<u32>,
        }

        let bad_header = |problem: String| Error::BadHeader { problem: shortened(&problem) };
        let found = serde_json::from_str(text).ok().filter(|found: &Beginning| found.kind == KIND);
        let Some(Beginning { version, .. }) = found else {
            return Err(bad_header("this is not a model".into()));
        };
        match version.unwrap_or(1) {
            OLDEST..=VERSION => serde_json::from_str(text).map_err(|error| bad_header(error.to_string())),
            found => Err(Error::ModelVersion { found, known: VERSION }),
        }
    }
}

impl Model {
    /// Writes the model as safetensors, including names and origin. The same model gives the same bytes.
    pub fn save(&self, out: &mut dyn Write) -> Result<()> {
        let (header, arrays) = self.to_arrays();
        arrays.write(&header, out)
    }

    /// The same bytes in memory.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let (header, arrays) = self.to_arrays();
        arrays.to_bytes(&header)
    }

    /// Reads a model from an untrusted source: anything inconsistent, not finite or referring to what does not exist is
    /// an error. `size` is the number of bytes to read, if known; see [`Arrays::read`].
    pub fn load(input: &mut dyn Read, size: Option<u64>) -> Result<Self> {
        let (text, arrays) = Arrays::read(input, size)?;
        Self::from_arrays(Header::parse(&text)?, arrays)
    }

    /// The same from bytes in memory.
    pub fn from_bytes(mut bytes: &[u8]) -> Result<Self> {
        let size = bytes.len() as u64;
        Self::load(&mut bytes, Some(size))
    }

    /// Header and arrays, which are borrowed where possible.
    fn to_arrays(&self) -> (String, Arrays<'_>) {
        let mut arrays = Arrays::new();
        let points = self.known.points();
        let k = self.neighbors.k();
        let ids: Vec<u32> = (0..self.n_nodes()).flat_map(|node| self.neighbors.ids(node)).copied().collect();
        match points.values() {
            Numbers::F64(values) => arrays.put("points", Some(points.n_columns()), values),
            Numbers::F32(values) => arrays.put("points", Some(points.n_columns()), values),
        }
        arrays.put("rows", None, &self.row_of_node[..]);
        arrays.put("neighbors", Some(k), ids);
        arrays.put("first_scales", None, self.first_scales.values());
        arrays.put("scales", None, self.scales.values());
        arrays.put("probabilities", None, &self.probabilities[..]);
        arrays.put("least_scales", None, vec![self.first_scales.least(), self.scales.least()]);
        match &self.persistence {
            PersistenceRule::Pooled(_, counts) => {
                arrays.put("decay", None, counts.iter().map(|&count| count as u64).collect::<Vec<u64>>());
            }
            PersistenceRule::LikeKnownEnd { persistence, probability } => {
                arrays.put("mean_persistence", None, &persistence[..]);
                arrays.put("mean_probability", None, &probability[..]);
            }
        }
        if let Some(rule) = &self.preparation {
            rule.put_into(&mut arrays);
        }
        let spectral = self.clusters.as_ref().and_then(|clusters| clusters.spectral.as_ref());
        if let Some(clusters) = &self.clusters {
            arrays.put("clusters", None, &clusters.labels[..]);
            if !clusters.memberships.is_empty() {
                arrays.put("memberships", Some(clusters.n_clusters), &clusters.memberships[..]);
            }
            for (number, layer) in clusters.layers.iter().enumerate() {
                arrays.put(&layer_name(number), None, &layer[..]);
            }
        }
        if let Some(spectral) = spectral {
            let d = spectral.eigenvalues.len();
            arrays.put("spectral.eigenvalues", None, &spectral.eigenvalues[..]);
            arrays.put("spectral.coordinates", Some(d), &spectral.coordinates[..]);
            arrays.put("spectral.row_lengths", None, &spectral.row_lengths[..]);
            arrays.put("spectral.degrees", None, &spectral.degrees[..]);
            arrays.put("spectral.centers", Some(d), &spectral.centers[..]);
        }
        if let Some(classes) = &self.classes {
            arrays.put("classes", Some(classes.n_classes), &classes.probabilities[..]);
        }
        let header = Header {
            kind: KIND.to_string(),
            version: VERSION,
            metric: self.metric(),
            graph: self.params().clone(),
            n_rows: self.n_rows as u64,
            n_raw_columns: self.preparation.as_ref().map(|rule| rule.n_columns() as u64),
            n_clusters: self.n_clusters().map(|count| count as u64),
            n_layers: self.n_layers() as u64,
            has_memberships: self.clusters.as_ref().is_some_and(|clusters| !clusters.memberships.is_empty()),
            spectral: spectral.map(|own| SpectralHeader { laplacian: own.kind, rows: own.rows }),
            n_classes: self.n_classes().map(|count| count as u64),
            columns: self.names.columns.clone(),
            classes: self.names.classes.clone(),
            origin: self.names.origin.clone(),
        };
        (serde_json::to_string(&header).expect("names and numbers are JSON"), arrays)
    }

    /// Never allocates more than the arrays fill.
    fn from_arrays(header: Header, mut arrays: Arrays<'_>) -> Result<Self> {
        let params = header.graph.clone().check()?;
        let [n, d] = *arrays.shape("points")? else { return Err(bad("points", "a table is needed".into())) };
        let points = match arrays.is_single("points") {
            true => Points::from_f32(arrays.take("points", &[n, d])?, d)?,
            false => Points::new(arrays.take_finite("points", &[n, d])?, d)?,
        };
        let precision = points.precision();
        let known = MetricPoints::restored(points, header.metric)?;
        let k = params.n_neighbors();
        let ids = arrays.take_ids("neighbors", &[n, k], n)?;
        let distance = |place: usize| {
            let (a, b) = (place / k, ids[place] as usize);
            header.metric.distance(known.points().row(a), known.points().row(b))
        };
        let distances = (0..ids.len()).map(distance).collect();
        let neighbors = NeighborGraph::new(n, k, ids, distances)?;
        let first_scales = arrays.take::<f64>("first_scales", &[n])?;
        let scales = arrays.take::<f64>("scales", &[n])?;
        let least = arrays.take_finite("least_scales", &[2])?;
        let persistence = match params.estimator {
            Estimator::Neighborhood(neighborhood) => {
                let counts = arrays.take::<u64>("decay", &[params.taus.len()])?;
                let counts = counts.into_iter().map(|count| usize::try_from(count).unwrap_or(usize::MAX));
                PersistenceRule::Pooled(neighborhood, counts.collect())
            }
            _ => PersistenceRule::LikeKnownEnd {
                persistence: arrays.take_finite("mean_persistence", &[n])?,
                probability: arrays.take_finite("mean_probability", &[n])?,
            },
        };
        let preparation = match header.n_raw_columns {
            Some(columns) => {
                let n_columns = whole("raw columns", columns)?;
                Some(PreparationRule::take_from(&mut arrays, n_columns, precision)?)
            }
            None => None,
        };
        let clusters = match header.n_clusters {
            Some(count) => Some(take_clusters(&mut arrays, n, whole("clusters", count)?, &header)?),
            None => None,
        };
        let classes = match header.n_classes {
            Some(count) => {
                let n_classes = whole("classes", count)?;
                let probabilities = arrays.take_finite("classes", &[n, n_classes])?;
                Some(Classes { n_classes, probabilities })
            }
            None => None,
        };
        let model = Self {
            row_of_node: arrays.take::<u32>("rows", &[n])?,
            probabilities: arrays.take_finite("probabilities", &[n])?,
            n_rows: whole("rows", header.n_rows)?,
            known,
            neighbors,
            first_scales: LocalScales::restored(first_scales, least[0])?,
            scales: LocalScales::restored(scales, least[1])?,
            params,
            persistence,
            preparation,
            clusters,
            classes,
            names: Names { columns: header.columns, classes: header.classes, origin: header.origin },
            max_novelty: 0.0,
        };
        if let Some(name) = arrays.names().next() {
            return Err(bad(name, "a model of this kind has no such array".into()));
        }
        model.checked()
    }
}

/// Checks a count from the header.
fn whole(name: &'static str, number: u64) -> Result<usize> {
    usize::try_from(number).map_err(|_| Error::Parameter {
        name: name.into(),
        value: number.to_string(),
        rule: "must be a count that fits into memory".into(),
    })
}

fn layer_name(number: usize) -> String {
    format!("layers.{number}")
}

fn take_clusters(arrays: &mut Arrays<'_>, n: usize, n_clusters: usize, header: &Header) -> Result<Clusters> {
    let labels = arrays.take_ids("clusters", &[n], n_clusters)?;
    let memberships = match header.has_memberships {
        true => arrays.take_finite("memberships", &[n, n_clusters])?,
        false => Vec::new(),
    };
    // A missing array ends it, however many layers the header claims.
    let layers = (0..whole("layers", header.n_layers)?)
        .map(|number| arrays.take_ids(&layer_name(number), &[n], n))
        .collect::<Result<_>>()?;
    let spectral = match header.spectral {
        None => None,
        Some(SpectralHeader { laplacian, rows }) => {
            let d = arrays.shape("spectral.eigenvalues")?[0];
            let n_lengths = if rows == RowNormalization::UnitLength { n } else { 0 };
            Some(Spectral {
                kind: laplacian,
                rows,
                eigenvalues: arrays.take_finite("spectral.eigenvalues", &[d])?,
                coordinates: arrays.take_finite("spectral.coordinates", &[n, d])?,
                row_lengths: arrays.take_finite("spectral.row_lengths", &[n_lengths])?,
                degrees: arrays.take_finite("spectral.degrees", &[n])?,
                centers: arrays.take_finite("spectral.centers", &[n_clusters, d])?,
            })
        }
    };
    Ok(Clusters { labels, n_clusters, memberships, layers, spectral })
}
