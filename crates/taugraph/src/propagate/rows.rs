//! From results for nodes to results for rows.

use super::{Clamping, Propagation};
use crate::points::Duplicates;

/// Labels of rows, copies included.
#[derive(Debug, Clone, PartialEq)]
pub struct RowLabels {
    /// The label of each row; `None` where no labeled point reaches.
    pub labels: Vec<Option<u32>>,
    /// Probability of each class, row by row.
    pub probabilities: Vec<f64>,
    /// Lead of the likeliest class over the second.
    pub margins: Vec<f64>,
}

impl Propagation {
    /// Labels of the rows. `given` are the labeled points: under hard clamping they keep their labels, even those that differ
    /// from most copies of their point.
    ///
    /// # Panics
    /// If the lengths differ from those of the propagation.
    pub fn of_rows(&self, given: &[Option<u32>], duplicates: &Duplicates, clamping: Clamping) -> RowLabels {
        let width = self.probabilities.len() / self.labels.len();
        let mut rows = RowLabels {
            labels: duplicates.restore(&self.labels),
            margins: duplicates.restore(&self.margins),
            probabilities: Vec::with_capacity(width * duplicates.n_rows()),
        };
        assert_eq!(given.len(), rows.labels.len(), "one given label, or none, for each row");
        for &node in duplicates.node_of_row() {
            let of_node = node as usize * width..(node as usize + 1) * width;
            rows.probabilities.extend_from_slice(&self.probabilities[of_node]);
        }
        if clamping == Clamping::Hard {
            for (row, class) in given.iter().enumerate() {
                let Some(class) = *class else { continue };
                (rows.labels[row], rows.margins[row]) = (Some(class), 1.0);
                let of_row = &mut rows.probabilities[row * width..(row + 1) * width];
                of_row.fill(0.0);
                of_row[class as usize] = 1.0;
            }
        }
        rows
    }
}
