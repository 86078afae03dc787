//! New points among the nodes.

use rayon::prelude::*;

use super::Model;
use super::clusters::PlacedCluster;
use super::edges::{Hung, NewEdge, NewPoint};
use crate::cluster::score;
use crate::error::{Error, Result};
use crate::memory::{MemoryEstimate, refuse_if_over};
use crate::neighbors::neighbors_of_new;
use crate::points::{Points, Precision};
use crate::progress::Run;
use crate::propagate::best;

/// Coordinates that differ by less than this fraction of the largest count as equal: preparing a point twice may round differently.
const SAME: f64 = 1e-12;
/// The same for points in single precision: a few of their roundings.
const SAME_SINGLE: f64 = 4.0 * f32::EPSILON as f64;

/// Results for new points, in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct Placement {
    /// Where the edges of each new point begin, followed by the end of the last.
    pub offsets: Vec<u64>,
    /// The node of each edge; the nearest node of a point comes first.
    pub nodes: Vec<u32>,
    /// Its distance.
    pub distances: Vec<f64>,
    /// Its probability.
    pub probabilities: Vec<f64>,
    /// Its weight.
    pub affinities: Vec<f64>,
    /// The node that each new point equals, if any.
    pub same_as: Vec<Option<u32>>,
    /// First local scale of each point.
    pub first_scales: Vec<f64>,
    /// Robust local scale of each point.
    pub scales: Vec<f64>,
    /// Novelty score of each point: the distance to its nearest node, in units of that node's first scale.
    pub novelty: Vec<f64>,
    /// Whether a point's novelty score exceeds that of every node of the model: it is placed like the others, but nothing like it was
    /// seen before.
    pub outlier: Vec<bool>,
    /// Outlier score of each point: about 1 among its like, higher the farther apart; as [`crate::FittedClusters::outlier_scores`].
    pub outlier_scores: Vec<f64>,
    /// Clusters, if the model has any.
    pub clusters: Option<PlacedClusters>,
    /// Labels, if the model has any.
    pub classes: Option<PlacedClasses>,
}

/// Clusters of new points.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedClusters {
    /// The cluster of each point.
    pub labels: Vec<u32>,
    /// Margin: how much nearer its center is than the next, 1 − d/d', from 0 to 1. Without an embedding, the lead in the neighbors' votes.
    pub margins: Vec<f64>,
    /// The embedding, row by row; `None` without eigenvectors, or if the graph's components were clustered separately.
    pub embedding: Option<Vec<f64>>,
    /// Membership of each point in each cluster, point by point; those of a point sum to 1.
    pub memberships: Vec<f64>,
    /// The cluster of each point in each layer, layer by layer from coarse to fine.
    pub layers: Vec<Vec<u32>>,
}

/// Labels of new points.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedClasses {
    /// The label of each point; `None` if no label reaches any of its neighbors.
    pub labels: Vec<Option<u32>>,
    /// Probability of each class, point by point; all 0 without a label.
    pub probabilities: Vec<f64>,
    /// Lead of the likeliest class over the second.
    pub margins: Vec<f64>,
}

/// The result for one point.
struct Placed {
    hung: Hung,
    same_as: Option<u32>,
    novelty: f64,
    outlier_score: f64,
    cluster: Option<PlacedCluster>,
    class: Option<Vec<f64>>,
}

impl Model {
    /// Places points that were prepared as those of the model ([`Model::prepare`]).
    ///
    /// Each is treated as if it were one more node, with these differences:
    /// - its candidate edges are those to its own nearest nodes; no node gets a new neighbor;
    /// - for the `Neighborhood` estimator, an edge's persistence is that of its pool, with neighbors among the nodes only; other
    ///   estimators cannot be evaluated on new edges, so an edge gets the mean persistence and probability of the edges of its node;
    /// - if the nodes' scales are medians over draws, its scale is the expectation that they estimate; if they were given,
    ///   its first scale is that of the nearest node.
    ///
    /// Its embedding is the Nyström extension of the eigenvectors, its cluster the nearest center there, its class probabilities the
    /// weighted mean of its neighbors'. A point equal to a node gets that node's results, and an edge of weight 1 to it.
    pub fn place(&self, new: &Points, run: &Run<'_>) -> Result<Placement> {
        let k = self.n_candidates();
        let estimate = |n: usize| MemoryEstimate::of(vec![("place", self.bytes(n, k))]);
        refuse_if_over(new.len(), run.memory_limit, estimate, "place fewer points at a time")?;
        let near = neighbors_of_new(&self.known, new, k, run)?;
        let new = self.known.prepare_new(new, run)?;
        if let Some(row) = (0..new.len()).find(|&row| !near.distances(row)[k - 1].is_finite()) {
            return Err(Error::TooDistant { row });
        }
        run.stage("place", Some(new.len() as u64))?;
        let placed: Vec<Placed> = (0..new.len())
            .into_par_iter()
            .with_min_len(16)
            .map(|row| {
                run.check()?;
                run.progress.advance(1);
                Ok(self.place_one(&NewPoint {
                    row: new.row(row),
                    ids: near.ids(row),
                    distances: near.distances(row),
                }))
            })
            .collect::<Result<_>>()?;
        Ok(self.collected(placed))
    }

    /// Counts neighbors, edges (twice while they are collected), and the results.
    fn bytes(&self, n: usize, k: usize) -> u64 {
        let (n, k) = (n as u64, k as u64);
        let results = self.n_embedded().unwrap_or(0)
            + self.n_classes().unwrap_or(0)
            + self.n_clusters().unwrap_or(0)
            + self.n_layers()
            + 17;
        n * (12 * k + 2 * 40 * k + 2 * 8 * results as u64)
    }

    fn place_one(&self, new: &NewPoint<'_>) -> Placed {
        if let Some(node) = self.node_equal_to(new) {
            return self.placed_on(node);
        }
        let hung = self.hang(new);
        let votes = hung.votes();
        Placed {
            same_as: None,
            novelty: self.novelty(new.ids[0], new.distances[0]),
            outlier_score: self.outlier_score(&hung),
            cluster: self.clusters.as_ref().map(|clusters| clusters.of_new(&hung.edges, &votes)),
            class: self.classes.as_ref().map(|classes| classes.of_new(&hung.edges, &votes)),
            hung,
        }
    }

    fn outlier_score(&self, hung: &Hung) -> f64 {
        let beside: Vec<u32> = hung.edges.iter().map(|edge| edge.node).collect();
        let probability = hung.edges.iter().map(|edge| edge.probability).sum::<f64>() / beside.len() as f64;
        self.score_beside(hung.scale, probability, &beside)
    }

    /// A point's scale and the mean probability of its edges, compared with the nodes beside it.
    fn score_beside(&self, scale: f64, probability: f64, beside: &[u32]) -> f64 {
        let mean = |of: &dyn Fn(usize) -> f64| {
            beside.iter().map(|&node| of(node as usize)).sum::<f64>() / beside.len() as f64
        };
        score(scale, mean(&|node| self.scales.get(node)), probability, mean(&|node| self.probabilities[node]))
    }

    fn node_equal_to(&self, new: &NewPoint<'_>) -> Option<u32> {
        let nearest = self.known.points().row(new.ids[0] as usize);
        let largest = nearest.iter().fold(0.0f64, |most, value| most.max(value.abs()));
        let same = match nearest.precision() {
            Precision::Double => SAME,
            Precision::Single => SAME_SINGLE,
        };
        let is_same = |(a, b): (f64, f64)| (a - b).abs() <= same * largest;
        nearest.iter().zip(new.row.iter()).all(is_same).then_some(new.ids[0])
    }

    fn placed_on(&self, node: u32) -> Placed {
        let at = node as usize;
        let edge = NewEdge { node, distance: 0.0, probability: 1.0, weight: 1.0, log_affinity: 0.0 };
        Placed {
            hung: Hung {
                edges: vec![edge],
                first_scale: self.first_scales.get(at),
                scale: self.scales.get(at),
            },
            same_as: Some(node),
            novelty: 0.0,
            outlier_score: self.score_beside(
                self.scales.get(at),
                self.probabilities[at],
                self.neighbors.ids(at),
            ),
            cluster: self.clusters.as_ref().map(|clusters| clusters.of_node(at)),
            class: self.classes.as_ref().map(|classes| classes.of_node(at).to_vec()),
        }
    }

    fn collected(&self, placed: Vec<Placed>) -> Placement {
        let edges = || placed.iter().flat_map(|point| &point.hung.edges);
        let mut offsets = vec![0u64];
        for point in &placed {
            offsets.push(offsets[offsets.len() - 1] + point.hung.edges.len() as u64);
        }
        let has_embedding = self.n_embedded().is_some();
        let clusters = self.clusters.as_ref().map(|_| {
            let found = || placed.iter().flat_map(|point| &point.cluster);
            PlacedClusters {
                labels: found().map(|point| point.cluster).collect(),
                margins: found().map(|point| point.margin).collect(),
                embedding: has_embedding
                    .then(|| found().flat_map(|point| &point.embedded).copied().collect()),
                memberships: found().flat_map(|point| &point.memberships).copied().collect(),
                layers: (0..self.n_layers())
                    .map(|layer| found().map(|point| point.layers[layer]).collect())
                    .collect(),
            }
        });
        let classes = self.classes.as_ref().map(|_| {
            let found = || placed.iter().flat_map(|point| &point.class);
            let is_reached = |row: &[f64]| row.iter().any(|&p| p > 0.0);
            PlacedClasses {
                labels: found().map(|row| is_reached(row).then(|| best(row).0)).collect(),
                margins: found().map(|row| best(row).1.max(0.0)).collect(),
                probabilities: found().flatten().copied().collect(),
            }
        });
        Placement {
            offsets,
            nodes: edges().map(|edge| edge.node).collect(),
            distances: edges().map(|edge| edge.distance).collect(),
            probabilities: edges().map(|edge| edge.probability).collect(),
            affinities: edges().map(|edge| edge.weight).collect(),
            same_as: placed.iter().map(|point| point.same_as).collect(),
            first_scales: placed.iter().map(|point| point.hung.first_scale).collect(),
            scales: placed.iter().map(|point| point.hung.scale).collect(),
            novelty: placed.iter().map(|point| point.novelty).collect(),
            outlier_scores: placed.iter().map(|point| point.outlier_score).collect(),
            outlier: placed.iter().map(|point| point.novelty > self.max_novelty).collect(),
            clusters,
            classes,
        }
    }
}
