//! Stage 5, affinity: similarities from distances and local scales.

use crate::edges::Edges;
use crate::neighbors::{Gathered, NeighborGraph, Space};
use crate::parameter::choices;
use crate::scale::LocalScales;

choices! {
    /// The exponent of the affinity.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum AffinityKind = "squared-distance" {
        /// w = exp(−d²/(σ_i σ_j)), as Zelnik-Manor and Perona define it; independent of the unit of length.
        "squared-distance" => SquaredDistance,
        /// w = exp(−d/(σ_i σ_j)), as the paper prints it (eq. localscaling); depends on the unit of length.
        "plain-distance" => PlainDistance,
    }
}

impl AffinityKind {
    /// The exponent in exp(−·), from the squared distance and the inverse scales.
    #[inline]
    pub(crate) fn exponent(self, squared_distance: f64, inverse_a: f64, inverse_b: f64) -> f64 {
        match self {
            AffinityKind::SquaredDistance => squared_distance * inverse_a * inverse_b,
            AffinityKind::PlainDistance => squared_distance.sqrt() * inverse_a * inverse_b,
        }
    }
}

/// Points with local scales: similarities between any two of them.
#[derive(Debug, Clone)]
pub(crate) struct ScaledSpace<'a> {
    space: &'a Space,
    inverse_scales: Vec<f64>,
    kind: AffinityKind,
}

/// The candidate edges with their distances and similarities, and everything needed to compute any other similarity.
#[derive(Debug, Clone)]
pub struct Similarities<'a> {
    points: ScaledSpace<'a>,
    neighbors: &'a NeighborGraph,
    edges: &'a Edges,
    values: Vec<f64>,
}

/// A few points, gathered so that the similarities of others to all of them take little time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Alike {
    points: Gathered,
    inverse_scales: Vec<f64>,
}

impl<'a> ScaledSpace<'a> {
    /// # Panics
    /// If there is not one scale for each point.
    pub fn new(space: &'a Space, scales: &[f64], kind: AffinityKind) -> Self {
        assert_eq!(space.len(), scales.len(), "one scale for each point");
        Self { space, inverse_scales: scales.iter().map(|scale| 1.0 / scale).collect(), kind }
    }

    /// −ln of the similarity of any two points, candidate or not; 0 for a point with itself.
    #[inline]
    pub fn exponent_between(&self, i: usize, j: usize) -> f64 {
        let squared = self.space.squared_distance(i, j);
        self.kind.exponent(squared, self.inverse_scales[i], self.inverse_scales[j])
    }

    /// The same from `i` to each of the given points, appended to `out`.
    pub fn exponents_to_each(&self, i: usize, ids: &[u32], out: &mut Vec<f64>) {
        let first = out.len();
        out.resize(first + ids.len(), 0.0);
        let out = &mut out[first..];
        self.space.squared_distances(i, ids, out);
        for (value, &j) in out.iter_mut().zip(ids) {
            *value = self.kind.exponent(*value, self.inverse_scales[j as usize], self.inverse_scales[i]);
        }
    }

    /// Replaces the gathered points by these.
    pub fn gather(&self, ids: impl Iterator<Item = u32>, alike: &mut Alike) {
        self.space.gather(ids, &mut alike.points);
        alike.inverse_scales.clear();
        let ids = alike.points.ids().iter();
        alike.inverse_scales.extend(ids.map(|&id| self.inverse_scales[id as usize]));
    }

    /// −ln of the similarities from `i` to the gathered points: bit for bit [`ScaledSpace::exponents_to_each`].
    pub fn exponents_to(&self, i: usize, alike: &Alike, out: &mut Vec<f64>) {
        out.resize(alike.inverse_scales.len(), 0.0);
        self.space.squared_distances_to(i, &alike.points, out);
        for (value, &inverse) in out.iter_mut().zip(&alike.inverse_scales) {
            *value = self.kind.exponent(*value, inverse, self.inverse_scales[i]);
        }
    }

    /// How many of the exponents from `i` to the gathered points are below a limit. `exponents` is work space.
    pub fn n_below(&self, i: usize, alike: &Alike, limit: f64, exponents: &mut Vec<f64>) -> usize {
        if self.kind == AffinityKind::SquaredDistance
            && let (inverse, own) = (&alike.inverse_scales, self.inverse_scales[i])
            && let Some(found) = self.space.n_scaled_below(i, &alike.points, inverse, own, limit)
        {
            return found;
        }
        self.exponents_to(i, alike, exponents);
        exponents.iter().filter(|&&x| x < limit).count()
    }
}

impl<'a> Similarities<'a> {
    /// Computes the similarity of every candidate edge.
    ///
    /// # Panics
    /// If space, neighbors, scales, edges and distances are not of one size.
    pub fn new(
        space: &'a Space,
        neighbors: &'a NeighborGraph,
        scales: &LocalScales,
        kind: AffinityKind,
        edges: &'a Edges,
        distances: &[f64],
    ) -> Self {
        let n = edges.n_nodes();
        assert!(space.len() == n && neighbors.len() == n && scales.values().len() == n);
        let points = ScaledSpace::new(space, scales.values(), kind);
        let values = similarities(kind, &points.inverse_scales, edges, distances);
        Self { points, neighbors, edges, values }
    }

    /// The points with their scales.
    pub(crate) fn points(&self) -> &ScaledSpace<'a> {
        &self.points
    }

    /// The similarity of each candidate edge, dropping everything else.
    pub(crate) fn into_values(self) -> Vec<f64> {
        self.values
    }

    /// The candidate edges.
    pub fn edges(&self) -> &'a Edges {
        self.edges
    }

    /// The neighbors of each point.
    pub fn neighbors(&self) -> &'a NeighborGraph {
        self.neighbors
    }

    /// Similarity of each candidate edge.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// −ln of the similarity of any two points, candidate or not; 0 for a point with itself.
    #[inline]
    pub fn exponent_between(&self, i: usize, j: usize) -> f64 {
        self.points.exponent_between(i, j)
    }

    /// Similarity of any two points, candidate or not; 1 for a point with itself.
    #[inline]
    pub fn between(&self, i: usize, j: usize) -> f64 {
        (-self.exponent_between(i, j)).exp()
    }
}

/// The locally scaled affinity of each edge.
pub fn local_affinity(
    kind: AffinityKind,
    scales: &LocalScales,
    edges: &Edges,
    distances: &[f64],
) -> Vec<f64> {
    let inverse_scales: Vec<f64> = scales.values().iter().map(|scale| 1.0 / scale).collect();
    similarities(kind, &inverse_scales, edges, distances)
}

fn similarities(kind: AffinityKind, inverse_scales: &[f64], edges: &Edges, distances: &[f64]) -> Vec<f64> {
    assert_eq!(distances.len(), edges.len(), "one distance for each edge");
    edges.map(|edge, i, j| {
        let squared = distances[edge] * distances[edge];
        (-kind.exponent(squared, inverse_scales[i as usize], inverse_scales[j as usize])).exp()
    })
}

/// The distance of each edge.
pub(crate) fn edge_distances(space: &Space, edges: &Edges) -> Vec<f64> {
    edges.map(|_, i, j| space.distance(i as usize, j as usize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::Metric;
    use crate::neighbors::nearest_neighbors;
    use crate::points::Points;
    use crate::progress::Run;

    #[test]
    fn both_exponents_by_hand() {
        assert_eq!(AffinityKind::SquaredDistance.exponent(4.0, 1.0, 0.25), 1.0);
        assert_eq!(AffinityKind::PlainDistance.exponent(4.0, 1.0, 0.25), 0.5);
        assert_eq!(AffinityKind::SquaredDistance.exponent(f64::INFINITY, 1.0, 1.0), f64::INFINITY);
    }

    #[test]
    fn candidates_and_other_pairs_agree() {
        let space =
            Space::from_points(Points::new(vec![0.0, 1.0, 3.0], 1).unwrap(), Metric::Euclidean).unwrap();
        let neighbors = nearest_neighbors(&space, 1, &Run::new(0)).unwrap();
        let edges = Edges::from_pairs(3, [(0, 1), (1, 2)]).unwrap();
        let distances = edge_distances(&space, &edges);
        let scales = LocalScales::new(vec![1.0, 2.0, 4.0]).unwrap();
        let kind = AffinityKind::SquaredDistance;
        let similarities = Similarities::new(&space, &neighbors, &scales, kind, &edges, &distances);
        assert_eq!(similarities.values(), [(-0.5f64).exp(), (-0.5f64).exp()]);
        assert_eq!(similarities.values(), local_affinity(kind, &scales, &edges, &distances));
        assert_eq!(similarities.between(1, 2), similarities.values()[1]);
        assert_eq!(similarities.between(2, 2), 1.0);
    }
}
