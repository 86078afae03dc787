//! Groups of nodes and the boundaries between them: all that merging needs to know of the graph.

use std::collections::BTreeMap;

use super::density::LocalDensity;
use crate::graph::SparseGraph;
use crate::labels::Labels;

/// A group of nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Group {
    /// Number of nodes.
    pub size: f64,
    /// Sum of the degrees.
    pub volume: f64,
    /// Sum of the inverse dimensions.
    pub inverse_dimension: f64,
    /// The mean level of its densest micro-community.
    pub peak: f64,
}

impl Group {
    pub fn joined(self, other: Group) -> Group {
        Group {
            size: self.size + other.size,
            volume: self.volume + other.volume,
            inverse_dimension: self.inverse_dimension + other.inverse_dimension,
            peak: self.peak.max(other.peak),
        }
    }
}

/// The edges between two groups.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Boundary {
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
    /// Both directions. The order of a map keeps sums the same on every machine.
    pub boundaries: Vec<BTreeMap<u32, Boundary>>,
}

impl CoarseGraph {
    /// The groups that `labels` gives; without densities every level is 0, and the inverse dimension ½.
    pub fn new(graph: &SparseGraph, labels: &Labels, density: Option<&LocalDensity>) -> Self {
        let empty = Group { size: 0.0, volume: 0.0, inverse_dimension: 0.0, peak: 0.0 };
        let mut groups = vec![empty; labels.n_classes()];
        let mut boundaries = vec![BTreeMap::<u32, Boundary>::new(); labels.n_classes()];
        let level = |i: usize| density.map_or(0.0, |density| density.level[i]);
        for i in 0..graph.n_nodes() {
            let own = labels[i];
            let group = &mut groups[own as usize];
            group.size += 1.0;
            group.inverse_dimension += density.map_or(0.5, |density| density.inverse_dimension[i]);
            group.peak += level(i);
            for (j, weight) in graph.row(i) {
                group.volume += weight;
                let other = labels[j as usize];
                if other != own {
                    let level = 0.5 * weight * (level(i) + level(j as usize));
                    let part = Boundary { weight, level, squared_level: 0.0 };
                    boundaries[own as usize].entry(other).or_default().add(part);
                }
            }
        }
        groups.iter_mut().for_each(|group| group.peak /= group.size);
        // The two directions were summed in different orders; one of them counts.
        for a in 0..boundaries.len() {
            let (before, rest) = boundaries.split_at_mut(a + 1);
            for (&b, boundary) in before[a].range_mut(a as u32 + 1..) {
                boundary.squared_level = boundary.level * boundary.level / boundary.weight;
                rest[b as usize - a - 1].insert(a as u32, *boundary);
            }
        }
        Self { groups, boundaries }
    }
}
