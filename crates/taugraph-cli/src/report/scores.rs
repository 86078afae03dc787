//! How well found labels agree with known ones.

use serde_json::{Value, json};
use taugraph::labels::Labels;
use taugraph::metrics::{ami, ari, balanced_accuracy, match_labels, matched_accuracy, nmi};

use crate::dataset::Dataset;
use crate::failure::Outcome;
use crate::settings::Settings;

/// Agreement of two labelings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scores {
    pub nmi: f64,
    pub ari: f64,
    pub ami: f64,
    /// Under the best matching of clusters to classes.
    pub accuracy: f64,
    /// The same, averaged over the classes.
    pub balanced_accuracy: f64,
    /// Rows with a label in both.
    pub n_rows: usize,
}

impl Scores {
    /// Scores found labels against true ones; rows without a true label do not count.
    pub fn new(truth: &[String], found: &[u32]) -> Outcome<Option<Self>> {
        let labeled = truth.iter().zip(found).filter(|(label, _)| !is_missing(label));
        let (truth, found): (Vec<&String>, Vec<u32>) = labeled.map(|(label, &found)| (label, found)).unzip();
        if truth.is_empty() {
            return Ok(None);
        }
        let (truth, _) = Labels::from_names(&truth);
        let matched = match_labels(&truth, &found)?;
        Ok(Some(Self {
            nmi: nmi(&truth, &found)?,
            ari: ari(&truth, &found)?,
            ami: ami(&truth, &found)?,
            accuracy: matched_accuracy(&truth, &found)?,
            balanced_accuracy: balanced_accuracy(&truth, &matched)?,
            n_rows: truth.len(),
        }))
    }

    /// The same for the label column of a run, if one is named: the labels of a svmlight file are there unasked.
    pub fn asked(settings: &Settings, dataset: &Dataset, found: &[u32]) -> Outcome<Option<Self>> {
        match &dataset.labels {
            Some(truth) if settings.input.label_column.is_some() => Self::new(truth, found),
            _ => Ok(None),
        }
    }

    /// Name and value of each score.
    pub fn named(&self) -> [(&'static str, f64); 5] {
        [
            ("nmi", self.nmi),
            ("ari", self.ari),
            ("ami", self.ami),
            ("accuracy", self.accuracy),
            ("balanced_accuracy", self.balanced_accuracy),
        ]
    }

    /// One line.
    pub fn text(&self) -> String {
        format!(
            "NMI {:.3}, ARI {:.3}, AMI {:.3}, accuracy {:.3}, balanced {:.3}",
            self.nmi, self.ari, self.ami, self.accuracy, self.balanced_accuracy
        )
    }

    pub fn json(&self) -> Value {
        let mut scores: serde_json::Map<String, Value> =
            self.named().into_iter().map(|(name, value)| (name.to_string(), json!(value))).collect();
        scores.insert("rows".into(), json!(self.n_rows));
        Value::Object(scores)
    }
}

/// A cell that holds no label.
pub fn is_missing(label: &str) -> bool {
    taugraph_io::is_missing(label.trim().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_a_label_do_not_count() {
        let truth = ["a", "", "b", "NA", "b"].map(String::from);
        let scores = Scores::new(&truth, &[1, 5, 0, 5, 0]).unwrap().unwrap();
        assert_eq!((scores.nmi, scores.accuracy, scores.n_rows), (1.0, 1.0, 3));
        assert_eq!(Scores::new(&["".to_string()], &[0]).unwrap(), None);
    }
}
