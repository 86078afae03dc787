//! How well the results agree with true labels.

use taugraph::labels::Labels;
use taugraph::metrics::{accuracy, balanced_accuracy};

use super::PlacedRows;
use crate::failure::Outcome;
use crate::report::{Scores, is_missing};

/// Of whatever the model gives.
#[derive(Default)]
pub struct Agreement {
    pub(super) clusters: Option<Scores>,
    pub(super) labels: Option<LabelScores>,
}

/// Labels have the names of the true ones: nothing has to be matched.
pub(super) struct LabelScores {
    pub accuracy: f64,
    pub balanced_accuracy: f64,
    /// Rows with a true label.
    pub n_rows: usize,
}

impl PlacedRows<'_> {
    pub fn agreement(&self) -> Outcome<Agreement> {
        let Some(truth) = &self.rows.labels else { return Ok(Agreement::default()) };
        let clusters = match &self.placed.clusters {
            Some(clusters) => Scores::new(truth, &clusters.labels)?,
            None => None,
        };
        let labels = match self.labels() {
            Some(found) => LabelScores::new(truth, &found)?,
            None => None,
        };
        Ok(Agreement { clusters, labels })
    }
}

impl LabelScores {
    /// A row without a label that has a true one counts as wrong.
    fn new(truth: &[String], found: &[&str]) -> Outcome<Option<Self>> {
        let labeled = truth.iter().zip(found).filter(|(label, _)| !is_missing(label));
        let (truth, found): (Vec<&str>, Vec<&str>) =
            labeled.map(|(label, found)| (label.as_str(), *found)).unzip();
        if truth.is_empty() {
            return Ok(None);
        }
        let (truth, classes) = Labels::from_names(&truth);
        let other = classes.len() as u32;
        let place = |name: &&str| classes.binary_search(name).map_or(other, |place| place as u32);
        let found: Vec<u32> = found.iter().map(place).collect();
        Ok(Some(Self {
            accuracy: accuracy(&truth, &found)?,
            balanced_accuracy: balanced_accuracy(&truth, &found)?,
            n_rows: truth.len(),
        }))
    }
}
