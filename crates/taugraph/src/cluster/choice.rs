//! Which of two clusterings with the same number of clusters is taken.

use crate::graph::SparseGraph;
use crate::labels::Labels;

/// Agglomeration is taken if its normalized cut is below this share of the other's …
const MUCH_BETTER: f64 = 0.5;
/// … or below this share, if its modularity is no lower.
const BETTER: f64 = 0.75;

/// How well a partition cuts a graph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CutQuality {
    /// Σ_c (vol_c − W_cc)/vol_c over the clusters c: lower is better.
    pub normalized_cut: f64,
    /// Newman's modularity at resolution 1: higher is better.
    pub modularity: f64,
}

impl CutQuality {
    /// Of a partition of the nodes.
    pub(super) fn new(graph: &SparseGraph, labels: &Labels) -> Self {
        let (inner, volumes) = cut_sums(graph, labels, labels.n_classes());
        Self::of_sums(&inner, &volumes)
    }

    /// From the weights within each cluster, counted in both directions, and its volume.
    pub fn of_sums(inner: &[f64], volumes: &[f64]) -> Self {
        let total: f64 = volumes.iter().sum();
        let (mut normalized_cut, mut modularity) = (0.0, 0.0);
        for (inner, volume) in inner.iter().zip(volumes).filter(|(_, volume)| **volume > 0.0) {
            normalized_cut += (volume - inner) / volume;
            modularity += inner / total - (volume / total).powi(2);
        }
        Self { normalized_cut, modularity }
    }
}

/// The weights within each cluster, counted in both directions, and its volume.
pub(crate) fn cut_sums(graph: &SparseGraph, labels: &[u32], n_clusters: usize) -> (Vec<f64>, Vec<f64>) {
    let mut inner = vec![0.0; n_clusters];
    let mut volumes = vec![0.0; n_clusters];
    for i in 0..graph.n_nodes() {
        let own = labels[i] as usize;
        for (j, weight) in graph.row(i) {
            volumes[own] += weight;
            if labels[j as usize] as usize == own {
                inner[own] += weight;
            }
        }
    }
    (inner, volumes)
}

/// What the choice between agglomeration and spectral clustering was based on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MethodChoice {
    /// The agglomerated partition.
    pub agglomerated: CutQuality,
    /// The partition by eigenvectors.
    pub spectral: CutQuality,
}

impl MethodChoice {
    /// r: the normalized cut of agglomeration over that of spectral clustering.
    pub fn ratio(&self) -> f64 {
        if self.agglomerated.normalized_cut == self.spectral.normalized_cut {
            return 1.0;
        }
        self.agglomerated.normalized_cut / self.spectral.normalized_cut
    }

    /// Whether agglomeration is taken.
    pub fn prefers_agglomeration(&self) -> bool {
        let ratio = self.ratio();
        ratio < MUCH_BETTER || ratio < BETTER && self.agglomerated.modularity >= self.spectral.modularity
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::Edges;

    #[test]
    fn cuts_and_modularity_are_those_of_the_definition() {
        // Two triangles joined by one edge.
        let pairs = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (2, 3)];
        let edges = Edges::from_pairs(6, pairs).unwrap();
        let graph = SparseGraph::from_edges(&edges, &[1.0; 7]).unwrap();
        let found = CutQuality::new(&graph, &Labels::new(vec![0, 0, 0, 1, 1, 1], 2).unwrap());
        assert!((found.normalized_cut - 2.0 / 7.0).abs() < 1e-12);
        assert!((found.modularity - (12.0 / 14.0 - 0.5)).abs() < 1e-12);
        let whole = CutQuality::new(&graph, &Labels::new(vec![0; 6], 1).unwrap());
        assert_eq!((whole.normalized_cut, whole.modularity), (0.0, 0.0));
        let choice = MethodChoice { agglomerated: found, spectral: found };
        assert_eq!((choice.ratio(), choice.prefers_agglomeration()), (1.0, false));
    }
}
