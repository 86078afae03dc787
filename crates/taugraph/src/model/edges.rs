//! The edges of a new point: persistence, probability and weight.

use super::Model;
use crate::edges::Symmetrize;
use crate::error::{Error, Result, require};
use crate::params::{CandidatePairs, CheckedGraphParams};
use crate::points::Numbers;
use crate::quantile::{Estimator, Neighborhood};
use crate::scale::FirstScale;
use crate::stochastic::{RobustScale, StochasticGraph};

/// How the edges of a new point get their persistence.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PersistenceRule {
    /// By the pool of their ends, as for the nodes; with the number of edges present at each τ, which the paper's probability
    /// needs.
    Pooled(Neighborhood, Vec<usize>),
    /// For estimators that cannot be evaluated on new edges: the mean over the edges of the known end.
    LikeKnownEnd {
        /// Mean persistence of the edges of each node.
        persistence: Vec<f64>,
        /// Mean probability of the edges of each node.
        probability: Vec<f64>,
    },
}

impl PersistenceRule {
    pub(super) fn learned(stochastic: &StochasticGraph, params: &CheckedGraphParams) -> Self {
        if let Estimator::Neighborhood(neighborhood) = params.estimator {
            let counts = stochastic.decay().iter().map(|(_, count)| *count).collect();
            return PersistenceRule::Pooled(neighborhood, counts);
        }
        let edges = stochastic.edges();
        let mean = |values: &[f64]| -> Vec<f64> {
            let of_node = |node: usize| {
                let sum: f64 = edges.incident(node).map(|(_, edge)| values[edge]).sum();
                sum / edges.degree(node).max(1) as f64
            };
            (0..edges.n_nodes()).map(of_node).collect()
        };
        PersistenceRule::LikeKnownEnd {
            persistence: mean(stochastic.persistence()),
            probability: mean(stochastic.probabilities()),
        }
    }

    pub(super) fn check(&self, n: usize, params: &CheckedGraphParams) -> Result<()> {
        match self {
            PersistenceRule::Pooled(_, counts) => {
                let (expected, received) = (params.taus.len(), counts.len());
                if expected != received {
                    return Err(Error::Length { what: "edges at each tau", expected, received });
                }
                Ok(())
            }
            PersistenceRule::LikeKnownEnd { persistence, probability } => {
                for values in [persistence, probability] {
                    if values.len() != n {
                        let received = values.len();
                        return Err(Error::Length { what: "mean persistence", expected: n, received });
                    }
                    let outside = values.iter().find(|value| !(0.0..=1.0).contains(*value));
                    let worst = outside.copied().unwrap_or(0.0);
                    require(outside.is_none(), "mean persistence", worst, "must be between 0 and 1")?;
                }
                Ok(())
            }
        }
    }
}

/// A new point among the nodes.
pub(super) struct NewPoint<'a> {
    /// Its coordinates.
    pub row: Numbers<'a>,
    /// The nodes nearest to it, nearest first, and their distances.
    pub ids: &'a [u32],
    pub distances: &'a [f64],
}

/// An edge between a new point and a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NewEdge {
    pub node: u32,
    pub distance: f64,
    pub probability: f64,
    /// Its final weight.
    pub weight: f64,
    /// ln of its locally scaled affinity, which is finite even if the affinity underflows.
    pub log_affinity: f64,
}

/// The edges of a new point, and its scales.
pub(super) struct Hung {
    pub edges: Vec<NewEdge>,
    pub first_scale: f64,
    pub scale: f64,
}

impl Hung {
    /// The weight of each edge when neighbors are averaged: its final weight or, if all of these are 0 because the point is too far
    /// from everything or nothing persists, its affinity relative to the largest.
    pub(super) fn votes(&self) -> Vec<f64> {
        let weights: Vec<f64> = self.edges.iter().map(|edge| edge.weight).collect();
        if weights.iter().sum::<f64>() > 0.0 {
            return weights;
        }
        let largest = self.edges.iter().map(|edge| edge.log_affinity).fold(f64::NEG_INFINITY, f64::max);
        self.edges.iter().map(|edge| (edge.log_affinity - largest).exp()).collect()
    }
}

impl Model {
    /// Scales, probabilities and weights of the edges of a new point.
    pub(super) fn hang(&self, new: &NewPoint<'_>) -> Hung {
        let first_scale = self.first_scale(new);
        let mut pool = Vec::new();
        let of_edge = |(node, distance): (u32, f64)| {
            let (persistence, probability) = self.persistence(new, first_scale, node, &mut pool);
            (node, distance, persistence, probability)
        };
        let edges: Vec<(u32, f64, f64, f64)> = self.candidates(new).into_iter().map(of_edge).collect();
        let scale = match self.params.robust_scale {
            RobustScale::First => self.shrunk_scale(first_scale),
            // The expectation that the draws of the nodes' scales estimate; a new point has no draws of its own.
            RobustScale::Expectation | RobustScale::MedianOfRealizations { .. } => {
                let weight: f64 = edges.iter().map(|edge| edge.3).sum();
                let sum: f64 = edges.iter().map(|edge| edge.3 * edge.1).sum();
                let mean = if weight > 0.0 { sum / weight } else { first_scale };
                self.shrunk_scale(mean).max(self.scales.least())
            }
        };
        let inverse = 1.0 / scale;
        let weighed = |(node, distance, persistence, probability): (u32, f64, f64, f64)| {
            let other = 1.0 / self.scales.get(node as usize);
            let exponent = self.params.affinity.exponent(distance * distance, inverse, other);
            let weight = self.params.final_affinity.weight((-exponent).exp(), persistence, probability);
            NewEdge { node, distance, probability, weight, log_affinity: -exponent }
        };
        Hung { edges: edges.into_iter().map(weighed).collect(), first_scale, scale }
    }

    /// The scale of a new point, shrunk like those of the nodes, which kept their median.
    fn shrunk_scale(&self, scale: f64) -> f64 {
        self.params.scale_shrinkage.apply(scale, self.scales.median())
    }

    /// The nodes that may get an edge: those nearest to the point. If both ends must choose each other, only those that would
    /// choose it, but at least the nearest.
    fn candidates(&self, new: &NewPoint<'_>) -> Vec<(u32, f64)> {
        let near = new.ids.iter().copied().zip(new.distances.iter().copied());
        match self.params.candidates {
            CandidatePairs::All => near.collect(),
            CandidatePairs::Neighbors { k, symmetrize: Symmetrize::Union } => near.take(k).collect(),
            CandidatePairs::Neighbors { k, symmetrize: Symmetrize::Mutual } => {
                let would_choose =
                    |node: u32, distance: f64| distance < self.neighbors.distances(node as usize)[k - 1];
                let kept = near.take(k).enumerate();
                kept.filter(|&(place, (node, distance))| place == 0 || would_choose(node, distance))
                    .map(|(_, edge)| edge)
                    .collect()
            }
        }
    }

    /// The first scale by the same rule as for the nodes; if their scales were given, that of the nearest node.
    fn first_scale(&self, new: &NewPoint<'_>) -> f64 {
        match self.params.first_scale {
            FirstScale::KthNeighbor { k } => new.distances[k - 1].max(self.first_scales.least()),
            FirstScale::MeanOfNeighbors { k } => {
                (new.distances[..k].iter().sum::<f64>() / k as f64).max(self.first_scales.least())
            }
            FirstScale::Given { .. } => self.first_scales.get(new.ids[0] as usize),
        }
    }

    /// Persistence and probability of the edge to a node.
    fn persistence(
        &self,
        new: &NewPoint<'_>,
        first_scale: f64,
        node: u32,
        pool: &mut Vec<f64>,
    ) -> (f64, f64) {
        match &self.persistence {
            PersistenceRule::LikeKnownEnd { persistence, probability } => {
                (persistence[node as usize], probability[node as usize])
            }
            PersistenceRule::Pooled(neighborhood, counts) => {
                self.fill_pool(new, first_scale, node, neighborhood.pool, pool);
                let persistence = neighborhood.persistence(pool, self.params.threshold);
                let taus = self.params.taus.values();
                (persistence, self.params.probability.of(persistence, taus, counts, true))
            }
        }
    }

    /// −ln of the similarities of the node to the point and nodes like the point, and of the point to the node and nodes like the node.
    fn fill_pool(&self, new: &NewPoint<'_>, first_scale: f64, node: u32, size: usize, pool: &mut Vec<f64>) {
        let rows = self.known.points();
        let inverse = |node: u32| 1.0 / self.first_scales.get(node as usize);
        let exponent = |a: Numbers<'_>, inverse_a: f64, b: u32| {
            let squared = self.known.metric().squared_distance(a, rows.row(b as usize));
            self.params.affinity.exponent(squared, inverse_a, inverse(b))
        };
        let to_new = |other: u32| exponent(new.row, 1.0 / first_scale, other);
        let to_node = |other: u32| exponent(rows.row(node as usize), inverse(node), other);
        pool.clear();
        pool.push(to_new(node));
        pool.extend(new.ids[..size].iter().map(|&like_new| to_node(like_new)));
        pool.push(to_new(node));
        pool.extend(self.neighbors.ids(node as usize)[..size].iter().map(|&like_node| to_new(like_node)));
    }
}
