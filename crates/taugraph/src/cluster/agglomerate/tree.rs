//! The merge tree of an agglomeration.

use crate::labels::Labels;

/// Two groups that became one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Merge {
    /// The groups: micro-communities have the numbers 0, 1, …, and the m-th merge makes the group with the number of
    /// micro-communities + m.
    pub groups: [u32; 2],
    /// W/(|a|·|b|): the mean weight between a node of one and a node of the other.
    pub linkage: f64,
    /// How much their boundary resisted, as far as it was asked: the evidence that they are two.
    pub resistance: f64,
    /// The threshold that the boundaries of this merge and of all before stay below.
    pub threshold: f64,
    /// Number of nodes of the merged group.
    pub size: usize,
}

/// Which groups were merged, in order: from micro-communities to one group, or to as many groups as there are components.
#[derive(Debug, Clone, PartialEq)]
pub struct MergeTree {
    /// The micro-community of each node.
    pub micro_communities: Labels,
    /// The merges.
    pub merges: Vec<Merge>,
}

impl MergeTree {
    /// The smallest number of groups.
    pub fn min_groups(&self) -> usize {
        self.micro_communities.n_classes() - self.merges.len()
    }

    /// The group of each node when `n_groups` are left, numbered in the order of their first nodes; `None` if the tree never has so
    /// many.
    pub fn cut(&self, n_groups: usize) -> Option<Labels> {
        let n_micro = self.micro_communities.n_classes();
        if n_groups > n_micro || n_groups < self.min_groups() {
            return None;
        }
        let n_merges = n_micro - n_groups;
        let mut parents: Vec<u32> = (0..(n_micro + n_merges) as u32).collect();
        for (step, merge) in self.merges[..n_merges].iter().enumerate() {
            merge.groups.iter().for_each(|&group| parents[group as usize] = (n_micro + step) as u32);
        }
        // Parents come later: from the last group back each one's root is known.
        for group in (0..parents.len()).rev() {
            parents[group] = parents[parents[group] as usize];
        }
        let roots = self.micro_communities.iter().map(|&micro| parents[micro as usize]);
        Some(Labels::in_order_of_appearance(roots))
    }

    /// The micro-community of each node, numbered such that those that merge soon have nearby numbers.
    pub(in super::super) fn regions(&self) -> Vec<u32> {
        let n_micro = self.micro_communities.n_classes();
        let mut is_merged = vec![false; n_micro + self.merges.len()];
        self.merges
            .iter()
            .for_each(|merge| merge.groups.iter().for_each(|&group| is_merged[group as usize] = true));
        let mut open: Vec<u32> =
            (0..is_merged.len() as u32).filter(|&group| !is_merged[group as usize]).collect();
        let (mut numbers, mut next) = (vec![0u32; n_micro], 0);
        while let Some(group) = open.pop() {
            match (group as usize).checked_sub(n_micro) {
                None => {
                    numbers[group as usize] = next;
                    next += 1;
                }
                Some(merge) => open.extend(self.merges[merge].groups),
            }
        }
        self.micro_communities.iter().map(|&micro| numbers[micro as usize]).collect()
    }

    /// The two groups that merge next when `n_groups` are left, if any do: those with the weakest boundary.
    pub fn next_merge(&self, n_groups: usize) -> Option<[u32; 2]> {
        let n_merges = self.micro_communities.n_classes().checked_sub(n_groups)?;
        Some(self.merges.get(n_merges)?.groups)
    }

    /// Which micro-communities a group has.
    pub fn members(&self, group: u32) -> Vec<bool> {
        let n_micro = self.micro_communities.n_classes();
        let mut is_member = vec![false; n_micro];
        let mut open = vec![group];
        while let Some(group) = open.pop() {
            match (group as usize).checked_sub(n_micro) {
                None => is_member[group as usize] = true,
                Some(merge) => open.extend(self.merges[merge].groups),
            }
        }
        is_member
    }

    /// The numbers of groups at which the threshold had to rise, from fine to coarse.
    pub fn levels(&self) -> Vec<Level> {
        let n_micro = self.micro_communities.n_classes();
        let mut levels = Vec::new();
        let mut before = f64::NEG_INFINITY;
        for (step, merge) in self.merges.iter().enumerate() {
            if merge.threshold > before {
                levels.push(Level { n_groups: n_micro - step, reached: before, left: merge.threshold });
                before = merge.threshold;
            }
        }
        levels
    }
}

/// A partition that stays as it is while the threshold rises.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Number of groups.
    pub n_groups: usize,
    /// The threshold at which the partition appears.
    pub reached: f64,
    /// The threshold at which two of its groups merge: the resistance of its weakest boundary.
    pub left: f64,
}

impl Level {
    /// How far the threshold rises while the partition stays, from where structureless sets still merge.
    pub(crate) fn lifetime(&self) -> f64 {
        self.left - self.reached.max(super::LOWEST_THRESHOLD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> MergeTree {
        let merge =
            |groups, threshold, size| Merge { groups, linkage: 1.0, resistance: threshold, threshold, size };
        MergeTree {
            micro_communities: Labels::new(vec![0, 0, 1, 2, 3, 3], 4).unwrap(),
            merges: vec![merge([0, 1], 0.5, 3), merge([2, 3], 0.5, 3), merge([4, 5], 7.0, 6)],
        }
    }

    #[test]
    fn cuts_are_nested_and_numbered_by_first_nodes() {
        let tree = tree();
        assert_eq!(tree.cut(4).unwrap()[..], [0, 0, 1, 2, 3, 3]);
        assert_eq!(tree.cut(3).unwrap()[..], [0, 0, 0, 1, 2, 2]);
        assert_eq!(tree.cut(2).unwrap()[..], [0, 0, 0, 1, 1, 1]);
        assert_eq!(tree.cut(1).unwrap()[..], [0; 6]);
        assert_eq!(tree.cut(5), None);
        assert_eq!(tree.cut(0), None);
        assert_eq!(tree.members(4), [true, true, false, false]);
        assert_eq!(tree.members(6), [true; 4]);
        assert_eq!(tree.members(2), [false, false, true, false]);
        assert_eq!(tree.regions(), [3, 3, 2, 1, 0, 0]);
    }

    #[test]
    fn levels_are_where_the_threshold_rises() {
        let levels = tree().levels();
        let shown: Vec<(usize, f64)> = levels.iter().map(|level| (level.n_groups, level.left)).collect();
        assert_eq!(shown, [(4, 0.5), (2, 7.0)]);
        assert_eq!(tree().next_merge(2), Some([4, 5]));
        assert_eq!((tree().next_merge(1), tree().next_merge(9)), (None, None));
        assert_eq!(levels[1].lifetime(), 5.5);
    }
}
