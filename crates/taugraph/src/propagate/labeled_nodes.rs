//! The few labels that propagation starts from.

use crate::error::{Error, Result};
use crate::graph::Components;
use crate::points::Duplicates;

/// The class of some or all nodes: at least two classes, each with a labeled node. Labels may have weights.
#[derive(Debug, Clone, PartialEq)]
pub struct LabeledNodes {
    of_nodes: Vec<Option<u32>>,
    n_classes: usize,
    labeled: Vec<u32>,
    weights: Vec<f64>,
}

impl LabeledNodes {
    /// Checks the labels of some of the nodes.
    pub fn new(of_nodes: Vec<Option<u32>>, n_classes: usize) -> Result<Self> {
        let labeled: Vec<u32> =
            (0..of_nodes.len() as u32).filter(|&i| of_nodes[i as usize].is_some()).collect();
        let mut sizes = vec![0usize; n_classes];
        for &node in &labeled {
            let label = of_nodes[node as usize].expect("it is labeled");
            match sizes.get_mut(label as usize) {
                Some(size) => *size += 1,
                None => return Err(Error::BadLabel { row: node as usize, label, n_classes }),
            }
        }
        if n_classes < 2 {
            return Err(Error::FewClasses { n_classes });
        }
        if let Some(class) = sizes.iter().position(|&size| size == 0) {
            return Err(Error::UnlabeledClass { class });
        }
        let weights = vec![1.0; labeled.len()];
        Ok(Self { of_nodes, n_classes, labeled, weights })
    }

    /// The same from labels of some of the rows, which may have weights. Copies of a row share a node, which gets the label with the
    /// largest weight, or none in a tie; its own weight is the mean over the copies with that label. Also returns the number
    /// of nodes whose copies disagree.
    ///
    /// # Panics
    /// If there is not one weight for each row.
    pub fn of_rows(
        of_rows: &[Option<u32>],
        weights: Option<&[f64]>,
        n_classes: usize,
        duplicates: &Duplicates,
    ) -> Result<(Self, usize)> {
        if of_rows.len() != duplicates.n_rows() {
            let (expected, received) = (duplicates.n_rows(), of_rows.len());
            return Err(Error::Length { what: "labels", expected, received });
        }
        assert!(weights.is_none_or(|weights| weights.len() == of_rows.len()), "one weight for each row");
        let mut votes: Vec<Vec<(u32, f64)>> = vec![Vec::new(); duplicates.n_nodes()];
        for (row, &node) in duplicates.node_of_row().iter().enumerate() {
            let weight = weights.map_or(1.0, |weights| weights[row]);
            votes[node as usize].extend(of_rows[row].map(|label| (label, weight)));
        }
        let mut n_conflicts = 0;
        let mut of_labeled = Vec::new();
        let of_nodes = votes.into_iter().map(|mut votes| {
            votes.sort_by_key(|vote| vote.0);
            // Total weight, class and mean weight.
            let mut totals: Vec<(f64, u32, f64)> = votes
                .chunk_by(|a, b| a.0 == b.0)
                .map(|alike| {
                    let total: f64 = alike.iter().map(|vote| vote.1).sum();
                    (total, alike[0].0, total / alike.len() as f64)
                })
                .collect();
            totals.sort_by(|a, b| b.0.total_cmp(&a.0));
            n_conflicts += usize::from(totals.len() > 1);
            match totals[..] {
                [(first, ..), (second, ..), ..] if first == second => None,
                [(_, class, weight), ..] => {
                    of_labeled.push(weight);
                    Some(class)
                }
                [] => None,
            }
        });
        let labeled = Self::new(of_nodes.collect(), n_classes)?;
        Ok((Self { weights: of_labeled, ..labeled }, n_conflicts))
    }

    /// With a weight for each labeled node.
    #[cfg(test)]
    pub(super) fn weighted(self, weights: Vec<f64>) -> Self {
        assert_eq!(weights.len(), self.labeled.len());
        Self { weights, ..self }
    }

    /// Number of nodes, labeled or not.
    pub fn n_nodes(&self) -> usize {
        self.of_nodes.len()
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// The label of a node, if it has one.
    pub fn get(&self, node: usize) -> Option<u32> {
        self.of_nodes[node]
    }

    /// The labeled nodes, ascending.
    pub fn nodes(&self) -> &[u32] {
        &self.labeled
    }

    /// The weight of each labeled node's label, in the order of [`nodes`](Self::nodes).
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Whether some labels count more than others.
    pub(super) fn are_weighted(&self) -> bool {
        self.weights.iter().any(|weight| *weight != 1.0)
    }

    /// The total weight of the labels of each class.
    pub(super) fn weight_of_classes(&self) -> Vec<f64> {
        let mut totals = vec![0.0; self.n_classes];
        self.iter().zip(&self.weights).for_each(|((_, class), weight)| totals[class as usize] += weight);
        totals
    }

    /// The labeled nodes with their classes, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.labeled.iter().map(|&node| (node, self.of_nodes[node as usize].expect("it is labeled")))
    }

    /// Whether each component has a label.
    pub(super) fn reached(&self, components: &Components) -> Vec<bool> {
        let mut reached = vec![false; components.len()];
        self.labeled.iter().for_each(|&node| reached[components.of_nodes()[node as usize] as usize] = true);
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Points;

    #[test]
    fn rules_are_checked() {
        let fine = LabeledNodes::new(vec![Some(1), None, Some(0)], 2).unwrap();
        assert_eq!((fine.nodes(), fine.get(1)), (&[0, 2][..], None));
        assert_eq!(fine.iter().collect::<Vec<_>>(), [(0, 1), (2, 0)]);
        let error =
            |labels: &[Option<u32>], n_classes| LabeledNodes::new(labels.to_vec(), n_classes).unwrap_err();
        assert_eq!(error(&[Some(0), None], 1), Error::FewClasses { n_classes: 1 });
        assert_eq!(error(&[Some(0), None], 2), Error::UnlabeledClass { class: 1 });
        assert_eq!(error(&[Some(2), None], 2), Error::BadLabel { row: 0, label: 2, n_classes: 2 });
    }

    #[test]
    fn copies_vote() {
        let points = Points::new(vec![5.0, 1.0, 5.0, 1.0, 1.0, 2.0, 9.0], 1).unwrap();
        let duplicates = Duplicates::of_points(&points);
        // Nodes: 5 (rows 0, 2), 1 (rows 1, 3, 4), 2, 9.
        let rows = [Some(1), Some(0), Some(0), Some(1), Some(0), None, Some(1)];
        let (labeled, n_conflicts) = LabeledNodes::of_rows(&rows, None, 2, &duplicates).unwrap();
        assert_eq!((labeled.get(0), labeled.get(1), labeled.get(2)), (None, Some(0), None));
        assert_eq!((labeled.get(3), n_conflicts), (Some(1), 2));
        assert!(!labeled.are_weighted());
        // Weights turn the tie of node 0 and the majority of node 1.
        let weights = [1.0, 0.5, 2.0, 3.0, 0.5, 1.0, 4.0];
        let (weighted, _) = LabeledNodes::of_rows(&rows, Some(&weights), 2, &duplicates).unwrap();
        assert_eq!((weighted.get(0), weighted.get(1), weighted.get(3)), (Some(0), Some(1), Some(1)));
        assert_eq!(
            (weighted.weights(), weighted.weight_of_classes()),
            (&[2.0, 3.0, 4.0][..], vec![2.0, 7.0])
        );
        let short = LabeledNodes::of_rows(&rows[1..], None, 2, &duplicates).unwrap_err();
        assert_eq!(short, Error::Length { what: "labels", expected: 7, received: 6 });
    }
}
