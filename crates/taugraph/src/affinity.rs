//! Stage 5, affinity: similarities from distances and local scales.

use crate::edges::Edges;
use crate::neighbors::Space;
use crate::scale::LocalScales;

/// The exponent of the affinity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AffinityKind {
    /// w = exp(−d²/(σ_i σ_j)), as Zelnik-Manor and Perona define it; does not change with the unit of length.
    #[default]
    SquaredDistance,
    /// w = exp(−d/(σ_i σ_j)), as the paper prints it (eq. localscaling); depends on the unit of length.
    PlainDistance,
}

impl AffinityKind {
    /// Similarity at distance d between points of scales `a` and `b`; 0 at infinite distance.
    #[inline]
    pub fn similarity(self, d: f64, a: f64, b: f64) -> f64 {
        match self {
            AffinityKind::SquaredDistance => (-(d / a) * (d / b)).exp(),
            AffinityKind::PlainDistance => (-(d / a) / b).exp(),
        }
    }
}

/// The candidate edges with their distances, similarities, and all it takes to compute any other similarity.
#[derive(Debug, Clone)]
pub struct Similarities<'a> {
    space: &'a Space,
    scales: &'a LocalScales,
    kind: AffinityKind,
    edges: &'a Edges,
    distances: &'a [f64],
    values: Vec<f64>,
}

impl<'a> Similarities<'a> {
    /// Computes the similarity of every candidate edge.
    ///
    /// # Panics
    /// If space, scales, edges and distances are not of one size.
    pub fn new(
        space: &'a Space,
        scales: &'a LocalScales,
        kind: AffinityKind,
        edges: &'a Edges,
        distances: &'a [f64],
    ) -> Self {
        assert!(space.len() == edges.n_nodes() && scales.values().len() == edges.n_nodes());
        assert_eq!(distances.len(), edges.len());
        let values = edges
            .map(|edge, i, j| kind.similarity(distances[edge], scales.get(i as usize), scales.get(j as usize)));
        Self { space, scales, kind, edges, distances, values }
    }

    /// The candidate edges.
    pub fn edges(&self) -> &'a Edges {
        self.edges
    }

    /// Distance of each candidate edge.
    pub fn distances(&self) -> &'a [f64] {
        self.distances
    }

    /// Similarity of each candidate edge.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Similarity of any two points, candidate or not; 1 for a point with itself.
    #[inline]
    pub fn between(&self, i: usize, j: usize) -> f64 {
        self.kind.similarity(self.space.distance(i, j), self.scales.get(i), self.scales.get(j))
    }
}

/// The distance of each edge.
pub(crate) fn edge_distances(space: &Space, edges: &Edges) -> Vec<f64> {
    edges.map(|_, i, j| space.distance(i as usize, j as usize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::Metric;
    use crate::points::Points;

    #[test]
    fn both_exponents_by_hand() {
        assert_eq!(AffinityKind::SquaredDistance.similarity(2.0, 1.0, 4.0), (-1.0f64).exp());
        assert_eq!(AffinityKind::PlainDistance.similarity(2.0, 1.0, 4.0), (-0.5f64).exp());
        assert_eq!(AffinityKind::SquaredDistance.similarity(f64::INFINITY, 1.0, 1.0), 0.0);
        assert_eq!(AffinityKind::SquaredDistance.similarity(0.0, 1e-300, 1e-300), 1.0);
    }

    #[test]
    fn candidates_and_other_pairs_agree() {
        let space = Space::from_points(Points::new(vec![0.0, 1.0, 3.0], 1).unwrap(), Metric::Euclidean).unwrap();
        let edges = Edges::from_pairs(3, [(0, 1), (1, 2)]).unwrap();
        let distances = edge_distances(&space, &edges);
        let scales = LocalScales::new(vec![1.0, 2.0, 4.0]).unwrap();
        let similarities = Similarities::new(&space, &scales, AffinityKind::SquaredDistance, &edges, &distances);
        assert_eq!(similarities.values(), [(-0.5f64).exp(), (-0.5f64).exp()]);
        assert_eq!(similarities.between(1, 2), similarities.values()[1]);
        assert_eq!(similarities.between(2, 2), 1.0);
    }
}
