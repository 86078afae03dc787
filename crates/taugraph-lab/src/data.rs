//! The points that methods are tried on: real tables from the folder TAUGRAPH_DATA, synthetic ones from the library.

use std::path::{Path, PathBuf};

use taugraph::generators::{SpiralDensity, add_noise, circles, moons, pinwheel, two_spirals, uneven_blobs};
use taugraph::labels::Labels;
use taugraph::points::{Points, PreparationParams, prepare};
use taugraph::progress::Run;
use taugraph_io::{Cells, Contents, Header, ReadOptions, Role, Source, read};

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// In the library.
    #[error(transparent)]
    Library(#[from] taugraph::error::Error),
    /// In a file.
    #[error(transparent)]
    File(#[from] taugraph_io::Error),
    /// A file without the table that was expected.
    #[error("{0}: a table with a last column 'label' was expected")]
    NoLabels(PathBuf),
}

/// Points, z-scored and missing cells filled, with their classes.
pub struct LabeledSet {
    /// Its name in tables.
    pub name: String,
    /// The points.
    pub points: Points,
    /// Their classes.
    pub labels: Labels,
}

/// The folder with the real tables, if there is one.
pub fn folder() -> Option<PathBuf> {
    std::env::var_os("TAUGRAPH_DATA").map(PathBuf::from)
}

/// The sets of the paper's Table 2, in its order, with the paper's figures for local scaling and its own approach.
pub const LABEL_SETS: [(&str, &str, f64, f64); 7] = [
    ("Blood Transfusion", "blood_transfusion.csv", 76.05, 84.9),
    ("Breast Cancer", "breast_cancer_wisconsin_original.csv", 82.7, 90.55),
    ("Echocardiogram", "echocardiogram.csv", 70.06, 88.49),
    ("Kidney Disease", "chronic_kidney_disease.csv", 66.8, 71.9),
    ("SPECT Heart", "spect.csv", 70.0, 86.0),
    ("Thoracic Surgery", "thoracic_surgery_onehot.csv", 68.3, 75.8),
    ("Arcene", "arcene.csv.gz", 59.0, 71.3),
];

/// Other tables: what is chosen on the seven should hold here, too.
pub const OTHER_SETS: [(&str, &str); 6] = [
    ("Wine", "wine.csv"),
    ("Glass", "glass.csv"),
    ("E. coli", "ecoli.csv"),
    ("Leaf", "leaf.csv"),
    ("Parkinsons", "parkinsons.csv"),
    ("WDBC", "breast_cancer_wisconsin_diagnostic.csv"),
];

/// A table of `folder/tidy`: numbers, and the classes in the last column, `label`.
pub fn tidy_set(folder: &Path, name: &str, file: &str) -> Result<LabeledSet, Error> {
    let path = folder.join("tidy").join(file);
    let roles = |names: &[String]| {
        Ok(names.iter().map(|name| if name == "label" { Role::Text } else { Role::Number }).collect())
    };
    let options = ReadOptions { roles: &roles, delimiter: None, header: Header::Yes, array: None };
    let Contents::Table(table) = read(&Source::new(&path), &options)? else {
        return Err(Error::NoLabels(path));
    };
    table.refuse_text("the tables of the laboratory are numbers")?;
    let Some(Cells::Texts(classes)) = table.columns.last().map(|column| &column.cells) else {
        return Err(Error::NoLabels(path));
    };
    let labels = Labels::in_order_of_appearance(classes.iter());
    prepared(name, &table.values, table.n_numbers, labels)
}

/// Shapes, some of them with noise, one of each for a seed.
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
    sets.map(|(name, set)| prepared(name, set.points.values(), set.points.n_columns(), set.labels))
        .into_iter()
        .collect()
}

fn prepared(name: &str, values: &[f64], n_columns: usize, labels: Labels) -> Result<LabeledSet, Error> {
    let prepared = prepare(values, n_columns, &PreparationParams::default(), &Run::new(0))?;
    Ok(LabeledSet { name: name.to_string(), points: prepared.points, labels })
}
