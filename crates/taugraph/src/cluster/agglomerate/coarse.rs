//! Groups of nodes and the boundaries between them: all that merging needs to know of the graph.

use rayon::prelude::*;

use super::density::LocalDensity;
use crate::graph::SparseGraph;
use crate::labels::Labels;

/// A group of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Group {
    /// Number of nodes.
    pub size: f64,
    /// Sum of the degrees.
    pub volume: f64,
    /// Sum of the inverse dimensions.
    pub inverse_dimension: f64,
    /// The mean level of its densest micro-community.
    pub peak: f64,
    /// The resistance to a unit of current from anywhere to anywhere within the group is at most this; micro-communities have none.
    pub inner_resistance: f64,
}

impl Group {
    /// Two groups, with the weight of their boundary, as one.
    pub fn joined(self, other: Group, weight: f64) -> Group {
        Group {
            // The current is led through the boundary in proportion to the weights; the least resistance is at most that.
            inner_resistance: self.inner_resistance + other.inner_resistance + 1.0 / weight,
            size: self.size + other.size,
            volume: self.volume + other.volume,
            inverse_dimension: self.inverse_dimension + other.inverse_dimension,
            peak: self.peak.max(other.peak),
        }
    }
}

/// The edges between two groups.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Boundary {
    /// Sum of the weights.
    pub weight: f64,
    /// Sum of the weights, each times the mean level of its ends.
    pub level: f64,
    /// The same with the squared mean level of each pair of micro-communities.
    pub squared_level: f64,
}

impl Boundary {
    pub fn add(&mut self, other: Boundary) {
        self.weight += other.weight;
        self.level += other.level;
        self.squared_level += other.squared_level;
    }

    /// Where the boundary is passed most easily: one standard deviation above the mean level. The mean alone sees valleys where a
    /// boundary merely runs from a dense core into thin tails.
    pub fn pass(&self) -> f64 {
        let mean = self.level / self.weight;
        mean + (self.squared_level / self.weight - mean * mean).max(0.0).sqrt()
    }
}

/// Groups, and the boundaries of each with those beside it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CoarseGraph {
    pub groups: Vec<Group>,
    /// Both directions, ascending.
    pub boundaries: Vec<Vec<(u32, Boundary)>>,
}

/// A group and its boundaries with others, ascending.
pub(crate) type GroupRow = (Group, Vec<(u32, Boundary)>);

impl CoarseGraph {
    /// The groups that `labels` gives; without densities every level is 0, and the inverse dimension ½.
    pub fn new(graph: &SparseGraph, labels: &Labels, density: Option<&LocalDensity>) -> Self {
        let n_groups = labels.n_classes();
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); n_groups];
        labels.iter().zip(0..).for_each(|(&label, node)| members[label as usize].push(node));
        Self::of_rows(group_rows(graph, labels, n_groups, density, 0, &members))
    }

    /// From the rows of all groups. The two directions of a boundary were summed in different orders; that of the lower group counts.
    pub fn of_rows(rows: Vec<GroupRow>) -> Self {
        let (groups, mut boundaries): (Vec<Group>, Vec<Vec<(u32, Boundary)>>) = rows.into_iter().unzip();
        let mut next = vec![0; groups.len()];
        for a in 0..groups.len() {
            let (before, rest) = boundaries.split_at_mut(a + 1);
            for (b, boundary) in before[a].iter_mut().skip_while(|(b, _)| *b as usize <= a) {
                boundary.squared_level = boundary.level * boundary.level / boundary.weight;
                // Lower numbers come first in the row of b, in this order.
                let b = *b as usize;
                rest[b - a - 1][next[b]].1 = *boundary;
                next[b] += 1;
            }
        }
        Self { groups, boundaries }
    }
}

/// The rows of the groups with the numbers `first`, `first` + 1, … and these members; `labels` has a group for every node that they have an
/// edge to.
pub(crate) fn group_rows(
    graph: &SparseGraph,
    labels: &[u32],
    n_groups: usize,
    density: Option<&LocalDensity>,
    first: u32,
    members: &[Vec<u32>],
) -> Vec<GroupRow> {
    members
        .par_iter()
        .zip(first..first + members.len() as u32)
        .map_init(
            || vec![Boundary::default(); n_groups],
            |sums, (members, own)| of_group(own, members, (graph, labels, density), sums),
        )
        .collect()
}

/// A group and its boundaries, ascending. `sums` is all zeros, and left so.
fn of_group(
    own: u32,
    members: &[u32],
    (graph, labels, density): (&SparseGraph, &[u32], Option<&LocalDensity>),
    sums: &mut [Boundary],
) -> GroupRow {
    let level = |i: usize| density.map_or(0.0, |density| density.level[i]);
    let mut group = Group { size: members.len() as f64, ..Group::default() };
    let mut beside: Vec<u32> = Vec::new();
    for &i in members {
        let i = i as usize;
        group.inverse_dimension += density.map_or(0.5, |density| density.inverse_dimension[i]);
        group.peak += level(i);
        for (j, weight) in graph.row(i) {
            group.volume += weight;
            let other = labels[j as usize];
            if other != own {
                if sums[other as usize].weight == 0.0 {
                    beside.push(other);
                }
                let level = 0.5 * weight * (level(i) + level(j as usize));
                sums[other as usize].add(Boundary { weight, level, ..Boundary::default() });
            }
        }
    }
    group.peak /= group.size;
    beside.sort_unstable();
    let take = |other: u32| (other, std::mem::take(&mut sums[other as usize]));
    let boundaries = beside.into_iter().map(take).collect();
    (group, boundaries)
}
