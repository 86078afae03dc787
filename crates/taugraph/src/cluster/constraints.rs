//! What the user knows about pairs: together, or apart.

use crate::error::{Error, Result};
use crate::labels::Labels;

/// Pairs of micro-communities that must not merge.
pub(super) type Apart = Vec<(u32, u32)>;

/// Pairs of nodes that must share a cluster, or must not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Constraints {
    /// Pairs that share a cluster.
    pub must_link: Vec<(u32, u32)>,
    /// Pairs that do not.
    pub cannot_link: Vec<(u32, u32)>,
}

impl Constraints {
    /// Whether there is nothing to honor.
    pub fn is_empty(&self) -> bool {
        self.must_link.is_empty() && self.cannot_link.is_empty()
    }

    /// The nodes that a pair names.
    pub(super) fn named(&self, n: usize) -> Vec<bool> {
        let mut is_named = vec![false; n];
        for &(i, j) in self.must_link.iter().chain(&self.cannot_link) {
            is_named[i as usize] = true;
            is_named[j as usize] = true;
        }
        is_named
    }

    /// Micro-communities in which the nodes that a pair names are on their own, those that must be together in one; and which of them
    /// must not merge.
    pub(super) fn separated(&self, micro: &Labels) -> Result<(Labels, Apart)> {
        let n = micro.len();
        let roots = self.linked_groups(n)?;
        let is_named = self.named(n);
        let first_free = micro.n_classes() as u32;
        let name = |node: usize| if is_named[node] { first_free + roots[node] } else { micro[node] };
        let separated = Labels::in_order_of_appearance((0..n).map(name));
        let apart = self.cannot_link.iter().map(|&(i, j)| (separated[i as usize], separated[j as usize]));
        let apart = apart.collect();
        Ok((separated, apart))
    }

    /// Refuses pairs that contradict each other. The result is the group of each node: nodes that must be together.
    pub(crate) fn linked_groups(&self, n: usize) -> Result<Vec<u32>> {
        let mut group: Vec<u32> = (0..n as u32).collect();
        for &(i, j) in self.must_link.iter().chain(&self.cannot_link) {
            if i as usize >= n || j as usize >= n {
                return Err(Error::BadConstraint { i, j, rule: "a row does not exist" });
            }
        }
        for &(i, j) in &self.must_link {
            let (a, b) = (root(&mut group, i), root(&mut group, j));
            group[a.max(b) as usize] = a.min(b);
        }
        let roots: Vec<u32> = (0..n as u32).map(|node| root(&mut group, node)).collect();
        for &(i, j) in &self.cannot_link {
            if roots[i as usize] == roots[j as usize] {
                let rule = "the rows must not share a cluster, but other pairs say that they must";
                return Err(Error::BadConstraint { i, j, rule });
            }
        }
        Ok(roots)
    }
}

fn root(group: &mut [u32], node: u32) -> u32 {
    let mut at = node;
    while group[at as usize] != at {
        group[at as usize] = group[group[at as usize] as usize];
        at = group[at as usize];
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_nodes_leave_their_micro_communities() {
        let constraints = Constraints { must_link: vec![(0, 4)], cannot_link: vec![(1, 2)] };
        let micro = Labels::new(vec![0, 0, 0, 0, 1, 1], 2).unwrap();
        let (separated, apart) = constraints.separated(&micro).unwrap();
        assert_eq!(separated[..], [0, 1, 2, 3, 0, 4]);
        assert_eq!(apart, [(1, 2)]);
    }

    #[test]
    fn contradictions_name_the_pair() {
        let together = Constraints { must_link: vec![(0, 1), (1, 2)], cannot_link: vec![(3, 0)] };
        assert_eq!(together.linked_groups(4).unwrap(), [0, 0, 0, 3]);
        let torn = Constraints { cannot_link: vec![(0, 2)], ..together };
        assert!(matches!(torn.linked_groups(4), Err(Error::BadConstraint { i: 0, j: 2, .. })));
        let outside = Constraints { must_link: vec![(0, 9)], cannot_link: vec![] };
        assert!(matches!(outside.linked_groups(4), Err(Error::BadConstraint { i: 0, j: 9, .. })));
    }
}
