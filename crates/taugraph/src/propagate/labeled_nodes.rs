//! The few labels that propagation starts from.

use crate::error::{Error, Result};
use crate::graph::Components;
use crate::points::Duplicates;

/// The class of some or all nodes: at least two classes, each with a labeled node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabeledNodes {
    of_nodes: Vec<Option<u32>>,
    n_classes: usize,
    labeled: Vec<u32>,
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
        Ok(Self { of_nodes, n_classes, labeled })
    }

    /// The same from labels of some of the rows. Copies of a row share a node, which gets their majority label, or none
    /// in a tie. Also returns the number of nodes whose copies disagree.
    pub fn of_rows(
        of_rows: &[Option<u32>],
        n_classes: usize,
        duplicates: &Duplicates,
    ) -> Result<(Self, usize)> {
        if of_rows.len() != duplicates.n_rows() {
            let (expected, received) = (duplicates.n_rows(), of_rows.len());
            return Err(Error::Length { what: "labels", expected, received });
        }
        let mut votes: Vec<Vec<u32>> = vec![Vec::new(); duplicates.n_nodes()];
        for (&node, label) in duplicates.node_of_row().iter().zip(of_rows) {
            votes[node as usize].extend(label);
        }
        let mut n_conflicts = 0;
        let of_nodes = votes.into_iter().map(|mut votes| {
            votes.sort_unstable();
            let mut counts: Vec<(usize, u32)> =
                votes.chunk_by(|a, b| a == b).map(|alike| (alike.len(), alike[0])).collect();
            counts.sort_unstable_by(|a, b| b.cmp(a));
            n_conflicts += usize::from(counts.len() > 1);
            match counts[..] {
                [(most, class), (second, _), ..] if most > second => Some(class),
                [(_, class)] => Some(class),
                _ => None,
            }
        });
        let labeled = Self::new(of_nodes.collect(), n_classes)?;
        Ok((labeled, n_conflicts))
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
        let (labeled, n_conflicts) = LabeledNodes::of_rows(&rows, 2, &duplicates).unwrap();
        assert_eq!((labeled.get(0), labeled.get(1), labeled.get(2)), (None, Some(0), None));
        assert_eq!((labeled.get(3), n_conflicts), (Some(1), 2));
        let short = LabeledNodes::of_rows(&rows[1..], 2, &duplicates).unwrap_err();
        assert_eq!(short, Error::Length { what: "labels", expected: 7, received: 6 });
    }
}
