//! The micro-communities of each group while groups merge, and the parts that a current sees of it.

use super::coarse::CoarseGraph;

/// A group is seen as at most this many parts: a current through them tells as much as one through thousands of micro-communities.
const MAX_PARTS: usize = 64;

/// The parts of a group.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parts {
    /// The sum of the degrees of each.
    pub volumes: Vec<f64>,
    /// The weights between each and the others.
    pub rows: Vec<Vec<(usize, f64)>>,
}

/// Members of each group, in an order in which those of every group merged into it are consecutive.
#[derive(Debug, Clone)]
pub(super) struct Members<'a> {
    coarse: &'a CoarseGraph,
    /// Micro-communities of each group; none once it has merged into another.
    of_groups: Vec<Vec<u32>>,
    /// How many members each group has or had.
    sizes: Vec<u32>,
    /// The two groups that each was merged from, in the order of their members; nothing for micro-communities.
    halves: Vec<Option<[u32; 2]>>,
    /// The parts of the groups that were asked for.
    parts: Vec<Option<Parts>>,
    /// The group of each micro-community,
    group_of: Vec<u32>,
    /// and its part of it, if the parts were asked for.
    part_of: Vec<u32>,
}

impl<'a> Members<'a> {
    /// Every micro-community for itself.
    pub fn new(coarse: &'a CoarseGraph) -> Self {
        let n = coarse.groups.len();
        Self {
            coarse,
            of_groups: (0..n as u32).map(|micro| vec![micro]).collect(),
            sizes: vec![1; n],
            halves: vec![None; n],
            parts: vec![None; n],
            group_of: (0..n as u32).collect(),
            part_of: vec![0; n],
        }
    }

    /// Makes two groups one, with the next number.
    pub fn merge(&mut self, a: u32, b: u32) {
        let (large, small) = if self.sizes[a as usize] >= self.sizes[b as usize] { (a, b) } else { (b, a) };
        let mut members = std::mem::take(&mut self.of_groups[large as usize]);
        members.append(&mut self.of_groups[small as usize]);
        let number = self.of_groups.len() as u32;
        members.iter().for_each(|&micro| self.group_of[micro as usize] = number);
        self.sizes.push(members.len() as u32);
        self.of_groups.push(members);
        self.halves.push(Some([large, small]));
        [large, small].iter().for_each(|&group| self.parts[group as usize] = None);
        self.parts.push(None);
    }

    /// The parts of two groups, and the weights from parts of the first to parts of the second.
    pub fn parts_of_both(&mut self, a: u32, b: u32) -> (&Parts, &Parts, Vec<(usize, usize, f64)>) {
        for group in [a, b] {
            if self.parts[group as usize].is_none() {
                self.parts[group as usize] = Some(self.cut_into_parts(group));
            }
        }
        let [of_a, of_b] = [a, b].map(|group| self.parts[group as usize].as_ref().expect("made above"));
        (of_a, of_b, self.across(a, b, of_b.volumes.len()))
    }

    fn cut_into_parts(&mut self, group: u32) -> Parts {
        let parts = self.segments(group);
        for (part, members) in parts.iter().enumerate() {
            // A list of its own would be borrowed for as long as the parts are.
            members.clone().for_each(|at| {
                let micro = self.of_groups[group as usize][at];
                self.part_of[micro as usize] = part as u32;
            });
        }
        let members = |part: &std::ops::Range<usize>| self.of_groups[group as usize][part.clone()].iter();
        let row = |(own, part): (usize, &std::ops::Range<usize>)| {
            let mut sums = vec![0.0; parts.len()];
            for (other, boundary) in members(part).flat_map(|&micro| &self.coarse.boundaries[micro as usize])
            {
                if self.group_of[*other as usize] == group {
                    sums[self.part_of[*other as usize] as usize] += boundary.weight;
                }
            }
            sums[own] = 0.0;
            sums.into_iter().enumerate().filter(|(_, weight)| *weight > 0.0).collect()
        };
        let volume = |&micro: &u32| self.coarse.groups[micro as usize].volume;
        Parts {
            volumes: parts.iter().map(|part| members(part).map(volume).sum()).collect(),
            rows: parts.iter().enumerate().map(row).collect(),
        }
    }

    /// Where the members of each part are: the micro-communities themselves or, if they are many, parts that were groups of their
    /// own before, the largest cut further and further.
    fn segments(&self, group: u32) -> Vec<std::ops::Range<usize>> {
        let mut parts = vec![(group, 0..self.of_groups[group as usize].len())];
        while parts.len() < MAX_PARTS {
            let places = 0..parts.len();
            let largest = places.max_by_key(|&place| (parts[place].1.len(), std::cmp::Reverse(place)));
            let place = largest.expect("a group has members");
            let (cut, members) = parts[place].clone();
            let Some([first, second]) = self.halves[cut as usize] else { break };
            let middle = members.start + self.sizes[first as usize] as usize;
            parts[place] = (first, members.start..middle);
            parts.insert(place + 1, (second, middle..members.end));
        }
        parts.into_iter().map(|(_, members)| members).collect()
    }

    /// The weights between the parts of two groups, found from the group with fewer members.
    fn across(&self, a: u32, b: u32, n_parts_of_b: usize) -> Vec<(usize, usize, f64)> {
        let is_smaller = self.sizes[a as usize] <= self.sizes[b as usize];
        let (from, to) = if is_smaller { (a, b) } else { (b, a) };
        let n_parts_of_a = self.parts[a as usize].as_ref().map_or(0, |parts| parts.volumes.len());
        let mut sums = vec![0.0; n_parts_of_a * n_parts_of_b];
        for &micro in &self.of_groups[from as usize] {
            let own = self.part_of[micro as usize] as usize;
            for (other, boundary) in &self.coarse.boundaries[micro as usize] {
                if self.group_of[*other as usize] == to {
                    let part = self.part_of[*other as usize] as usize;
                    let (of_a, of_b) = if is_smaller { (own, part) } else { (part, own) };
                    sums[of_a * n_parts_of_b + of_b] += boundary.weight;
                }
            }
        }
        let place = |at: usize| (at / n_parts_of_b, at % n_parts_of_b);
        let entries = sums.into_iter().enumerate().filter(|(_, weight)| *weight > 0.0);
        entries.map(|(at, weight)| (place(at).0, place(at).1, weight)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::coarse::{Boundary, Group};
    use super::*;

    /// Micro-communities in a row.
    fn chain(n: u32) -> CoarseGraph {
        let group = Group { size: 1.0, volume: 2.0, ..Group::default() };
        let beside = |i: u32| [i.checked_sub(1), (i + 1 < n).then_some(i + 1)];
        let boundary = |other: u32| (other, Boundary { weight: 1.0, ..Boundary::default() });
        CoarseGraph {
            groups: vec![group; n as usize],
            boundaries: (0..n).map(|i| beside(i).into_iter().flatten().map(boundary).collect()).collect(),
        }
    }

    #[test]
    fn parts_are_former_groups_and_leave_nothing_out() {
        let coarse = chain(100);
        let mut members = Members::new(&coarse);
        // 0 and 1 make 100, which with 2 makes 101, and so on; 99 stays.
        members.merge(0, 1);
        (2..99).for_each(|micro| members.merge(98 + micro, micro));
        let segments = members.segments(197);
        assert_eq!(segments.len(), MAX_PARTS);
        assert_eq!(segments[0], 0..99 - (MAX_PARTS - 1));
        assert!(segments.windows(2).all(|pair| pair[0].end == pair[1].start));
        let (large, small, across) = members.parts_of_both(197, 99);
        assert_eq!(large.volumes.iter().sum::<f64>(), 198.0);
        assert_eq!(large.rows[1], [(0, 1.0), (2, 1.0)]);
        assert_eq!((small.volumes.len(), small.rows[0].len()), (1, 0));
        assert_eq!(across, [(MAX_PARTS - 1, 0, 1.0)]);
        let (_, _, back) = members.parts_of_both(99, 197);
        assert_eq!(back, [(0, MAX_PARTS - 1, 1.0)]);
    }
}
