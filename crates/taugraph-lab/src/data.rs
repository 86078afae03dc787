//! Points with known classes, ready for a method.

use std::path::PathBuf;

use taugraph::generators::{SpiralDensity, add_noise, circles, moons, pinwheel, two_spirals, uneven_blobs};
use taugraph::labels::Labels;
use taugraph::points::{Numbers, Points, PreparationParams, Standardize, prepare};
use taugraph::progress::Run;

use crate::datasets::{LabeledTable, Presence, Store, find, load};

/// What can go wrong in a study.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// In the library.
    #[error(transparent)]
    Library(#[from] taugraph::error::Error),
    /// With a set.
    #[error(transparent)]
    Dataset(#[from] crate::datasets::Error),
    /// With a file.
    #[error(transparent)]
    File(#[from] taugraph_io::Error),
    /// The text of a study cannot be written.
    #[error("standard output cannot be written: {0}")]
    Text(#[from] std::io::Error),
    /// The journal cannot be read or written.
    #[error("{}: {source}", path.display())]
    Journal {
        /// Its file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// Points with their classes.
pub struct LabeledSet {
    /// Its name in tables.
    pub name: String,
    /// The points.
    pub points: Points,
    /// Their classes.
    pub labels: Labels,
}

impl LabeledSet {
    /// Raw values, missing cells filled with the median of their column.
    pub fn new<'a>(
        name: &str,
        values: impl Into<Numbers<'a>>,
        n_columns: usize,
        labels: Labels,
        standardize: Standardize,
    ) -> Result<Self, Error> {
        let params = PreparationParams::default().with(|params| params.standardize = standardize);
        let prepared = prepare(values, n_columns, &params, &Run::new(0))?;
        Ok(Self { name: name.to_string(), points: prepared.points, labels })
    }

    /// A table.
    pub fn of_table(name: &str, table: &LabeledTable, standardize: Standardize) -> Result<Self, Error> {
        let labels = Labels::in_order_of_appearance(&table.labels);
        Self::new(name, &table.values, table.n_features(), labels, standardize)
    }

    /// A set of the registry.
    pub fn load(name: &str, id: &str) -> Result<Self, Error> {
        Self::of_table(name, &load(find(id)?, &Store::from_environment())?, Standardize::ZScore)
    }
}

/// The sets of the paper's Table 2, in its order.
pub const LABEL_SETS: [(&str, &str); 7] = [
    ("Blood Transfusion", "blood-transfusion"),
    ("Breast Cancer", "breast-cancer-wisconsin"),
    ("Echocardiogram", "echocardiogram"),
    ("Kidney Disease", "kidney-disease"),
    ("SPECT Heart", "spect"),
    ("Thoracic Surgery", "thoracic-surgery"),
    ("Arcene", "arcene"),
];

/// Other tables: choices made on the seven should hold up here, too.
pub const OTHER_SETS: [(&str, &str); 6] = [
    ("Wine", "wine"),
    ("Glass", "glass"),
    ("E. coli", "ecoli"),
    ("Leaf", "leaf"),
    ("Parkinsons", "parkinsons"),
    ("WDBC", "breast-cancer-diagnostic"),
];

/// The sets of a list whose files are missing.
pub fn missing_sets<'a>(ids: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let store = Store::from_environment();
    let is_here = |id: &&str| find(id).is_ok_and(|info| matches!(store.presence(info), Presence::Here(_)));
    ids.into_iter().filter(|id| !is_here(id)).collect()
}

/// Shapes, some with noise, one of each per seed.
pub fn synthetic_sets(seed: u64) -> Result<Vec<LabeledSet>, Error> {
    let spirals = two_spirals(300, SpiralDensity::UniformAngle, seed)?;
    let sets = [
        ("two spirals", spirals.clone()),
        ("two spirals, σ = 0.4", add_noise(&spirals, 0.4, 1.0, seed)?),
        ("pinwheel", pinwheel(500, seed)?),
        ("moons, σ = 0.15", moons(400, 0.15, seed)?),
        ("circles, σ = 0.1", circles(400, 0.5, 0.1, seed)?),
        ("uneven blobs", uneven_blobs(600, 4, 6, seed)?),
    ];
    sets.into_iter()
        .map(|(name, set)| {
            let n_columns = set.points.n_columns();
            LabeledSet::new(name, set.points.values(), n_columns, set.labels, Standardize::ZScore)
        })
        .collect()
}
