//! The sets of the paper's tables, prepared in a stated way.

use taugraph::generators::{SpiralDensity, add_noise, pinwheel, two_spirals};
use taugraph::points::Standardize;

use crate::data::{Error, LabeledSet};
use crate::datasets::{LabeledTable, Store, find, load};

/// Which points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Set {
    /// Two spirals with Gaussian noise on a share of the points; every seed has its own.
    Spirals {
        /// σ of the noise.
        sigma: f64,
        /// Share of the points that have it.
        share: f64,
    },
    /// A pinwheel of 500 points; every seed has its own.
    Pinwheel,
    /// A table.
    Table {
        /// The name of the set.
        set: &'static str,
        /// How its columns are scaled.
        standardize: Standardize,
        /// Whether rows with missing cells are dropped; otherwise the cells are filled with the median.
        complete_rows: bool,
    },
}

impl Set {
    /// A table, z-scored, missing cells filled.
    pub fn table(set: &'static str) -> Self {
        Set::Table { set, standardize: Standardize::ZScore, complete_rows: false }
    }

    /// Its name in the registry, if it is a table.
    pub fn registered(self) -> Option<&'static str> {
        match self {
            Set::Table { set, .. } => Some(set),
            Set::Spirals { .. } | Set::Pinwheel => None,
        }
    }

    /// How the points are prepared.
    pub fn preparation(self) -> &'static str {
        match self {
            Set::Spirals { .. } | Set::Pinwheel => "z-score",
            Set::Table { standardize: Standardize::None, .. } => "as they are",
            Set::Table { complete_rows: true, .. } => "z-score, complete rows",
            Set::Table { .. } => "z-score, median",
        }
    }

    /// The points for a seed.
    pub fn load(self, seed: u64) -> Result<LabeledSet, Error> {
        match self {
            Set::Spirals { sigma, share } => {
                let clean = two_spirals(300, SpiralDensity::UniformAngle, seed)?;
                let noisy = if sigma > 0.0 { add_noise(&clean, sigma, share, seed)? } else { clean };
                LabeledSet::new("two spirals", noisy.points.values(), 2, noisy.labels, Standardize::ZScore)
            }
            Set::Pinwheel => {
                let made = pinwheel(500, seed)?;
                LabeledSet::new("pinwheel", made.points.values(), 2, made.labels, Standardize::ZScore)
            }
            Set::Table { set, standardize, complete_rows } => {
                let table = load(find(set)?, &Store::from_environment())?;
                let table = if complete_rows { complete(&table) } else { table };
                LabeledSet::of_table(set, &table, standardize)
            }
        }
    }
}

/// The rows without missing cells.
fn complete(table: &LabeledTable) -> LabeledTable {
    let rows = || table.values.chunks_exact(table.n_features()).zip(&table.labels);
    let kept = || rows().filter(|(row, _)| row.iter().all(|value| !value.is_nan()));
    LabeledTable {
        feature_names: table.feature_names.clone(),
        values: kept().flat_map(|(row, _)| row).copied().collect(),
        labels: kept().map(|(_, label)| label.clone()).collect(),
    }
}
