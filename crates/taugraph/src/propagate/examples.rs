//! The few labels that propagation starts from.

use crate::error::{Error, Result};
use crate::graph::Components;

/// The class of some nodes: at least two classes, each with an example, and at least one node without a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examples {
    of_nodes: Vec<Option<u32>>,
    n_classes: usize,
    labeled: Vec<u32>,
}

impl Examples {
    /// Checks labels of some of the nodes.
    pub fn new(of_nodes: Vec<Option<u32>>, n_classes: usize) -> Result<Self> {
        let labeled: Vec<u32> =
            (0..of_nodes.len() as u32).filter(|&i| of_nodes[i as usize].is_some()).collect();
        let mut sizes = vec![0usize; n_classes];
        for &node in &labeled {
            let label = of_nodes[node as usize].expect("it is labelled");
            match sizes.get_mut(label as usize) {
                Some(size) => *size += 1,
                None => return Err(Error::BadLabel { row: node as usize, label, n_classes }),
            }
        }
        if n_classes < 2 {
            return Err(Error::FewClasses { n_classes });
        }
        if let Some(class) = sizes.iter().position(|&size| size == 0) {
            return Err(Error::NoExample { class });
        }
        if labeled.len() == of_nodes.len() {
            return Err(Error::NothingToLabel);
        }
        Ok(Self { of_nodes, n_classes, labeled })
    }

    /// Number of nodes, labelled or not.
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

    /// The labelled nodes, ascending.
    pub fn nodes(&self) -> &[u32] {
        &self.labeled
    }

    /// The labelled nodes with their classes, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.labeled.iter().map(|&node| (node, self.of_nodes[node as usize].expect("it is labelled")))
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

    #[test]
    fn rules_are_checked() {
        let fine = Examples::new(vec![Some(1), None, Some(0)], 2).unwrap();
        assert_eq!((fine.nodes(), fine.get(1)), (&[0, 2][..], None));
        assert_eq!(fine.iter().collect::<Vec<_>>(), [(0, 1), (2, 0)]);
        let error =
            |labels: &[Option<u32>], n_classes| Examples::new(labels.to_vec(), n_classes).unwrap_err();
        assert_eq!(error(&[Some(0), None], 1), Error::FewClasses { n_classes: 1 });
        assert_eq!(error(&[Some(0), None], 2), Error::NoExample { class: 1 });
        assert_eq!(error(&[Some(0), Some(1)], 2), Error::NothingToLabel);
        assert_eq!(error(&[Some(2), None], 2), Error::BadLabel { row: 0, label: 2, n_classes: 2 });
    }
}
