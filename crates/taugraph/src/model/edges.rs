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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::{Metric, squared_euclidean};
    use crate::generators::uneven_blobs;
    use crate::neighbors::{Space, neighbors_of_new};
    use crate::params::{GraphParams, Preset};
    use crate::points::Points;
    use crate::progress::Run;
    use crate::quantile::Overlap;
    use crate::robust::{NodeGraph, robust_graph};
    use crate::scale::{LocalScales, ScaleShrinkage};
    use crate::stochastic::Probability;

    const N: usize = 90;

    fn known() -> Vec<f64> {
        uneven_blobs(N, 3, 3, 5).unwrap().points.values().iter().collect()
    }

    fn model(params: &GraphParams) -> (Model, NodeGraph) {
        let params = params.clone().check().unwrap();
        let points = Points::new(known(), 3).unwrap();
        let space = Space::from_points(points, Metric::Euclidean).unwrap();
        let robust = robust_graph(&space, &params, &Run::new(0)).unwrap();
        (Model::new(&space, &robust, &params).unwrap(), robust)
    }

    fn variants() -> Vec<GraphParams> {
        let usual = Preset::Robust.params();
        let neighbors = |symmetrize| CandidatePairs::Neighbors { k: 7, symmetrize };
        let given = (0..N).map(|node| 0.2 + node as f64 / 50.0).collect();
        vec![
            usual.clone(),
            GraphParams { candidates: neighbors(Symmetrize::Mutual), ..usual.clone() },
            GraphParams {
                candidates: neighbors(Symmetrize::Union),
                first_scale: FirstScale::KthNeighbor { k: 4 },
                ..usual.clone()
            },
            GraphParams {
                candidates: CandidatePairs::All,
                first_scale: FirstScale::MeanOfNeighbors { k: 5 },
                ..usual.clone()
            },
            GraphParams { first_scale: FirstScale::Given { values: given }, ..usual.clone() },
            GraphParams { robust_scale: RobustScale::First, ..usual.clone() },
            GraphParams { scale_shrinkage: ScaleShrinkage::TowardMedian { exponent: 0.5 }, ..usual.clone() },
            GraphParams { probability: Probability::Decay { floor: 0.4 }, ..usual.clone() },
            GraphParams { estimator: Estimator::Overlap(Overlap::default()), ..usual },
        ]
    }

    /// All by the definitions, from nothing but distances and what is known of the nodes.
    fn naive(model: &Model, robust: &NodeGraph, new: &[f64]) -> Vec<NewEdge> {
        let rows = known();
        let row = |node: usize| &rows[3 * node..3 * node + 3];
        let params = &model.params;
        let mut near: Vec<(f64, usize)> =
            (0..N).map(|node| (squared_euclidean(row(node), new).sqrt(), node)).collect();
        near.sort_by(|a, b| a.partial_cmp(b).unwrap());
        let of_nodes = |scales: &LocalScales| (0..N).map(|node| scales.get(node)).collect::<Vec<_>>();
        let (firsts, scales) = (of_nodes(&robust.first_scales), of_nodes(&robust.scales));
        let first = match params.first_scale {
            FirstScale::KthNeighbor { k } => near[k - 1].0,
            FirstScale::MeanOfNeighbors { k } => near[..k].iter().map(|pair| pair.0).sum::<f64>() / k as f64,
            FirstScale::Given { .. } => firsts[near[0].1],
        };
        let first = first.max(robust.first_scales.least());
        let exponent =
            |a: &[f64], scale_a: f64, b: usize| squared_euclidean(a, row(b)) / (scale_a * firsts[b]);
        let chosen: Vec<(f64, usize)> = match params.candidates {
            CandidatePairs::All => near.clone(),
            CandidatePairs::Neighbors { k, symmetrize } => {
                let farthest = |node: usize| {
                    let mut own: Vec<f64> =
                        (0..N).map(|j| squared_euclidean(row(node), row(j)).sqrt()).collect();
                    own.sort_by(f64::total_cmp);
                    own[k]
                };
                let is_kept = |&(place, &(distance, node)): &(usize, &(f64, usize))| {
                    symmetrize == Symmetrize::Union || place == 0 || distance < farthest(node)
                };
                near[..k].iter().enumerate().filter(is_kept).map(|(_, pair)| *pair).collect()
            }
        };
        let stochastic = &robust.stochastic;
        let persistence_to = |node: usize| match params.estimator {
            Estimator::Neighborhood(neighborhood) => {
                let mut pool = vec![exponent(new, first, node); 2];
                let like_new = near[..neighborhood.pool].iter().map(|pair| pair.1);
                pool.extend(like_new.map(|other| exponent(row(node), firsts[node], other)));
                let like_node = robust.neighbors.ids(node)[..neighborhood.pool].iter();
                pool.extend(like_node.map(|&other| exponent(new, first, other as usize)));
                let persistence = neighborhood.persistence(&pool, params.threshold);
                let counts: Vec<usize> = stochastic.decay().iter().map(|(_, count)| *count).collect();
                (persistence, params.probability.of(persistence, params.taus.values(), &counts, true))
            }
            _ => {
                let edges: Vec<usize> = stochastic.edges().incident(node).map(|(_, edge)| edge).collect();
                let mean =
                    |values: &[f64]| edges.iter().map(|&edge| values[edge]).sum::<f64>() / edges.len() as f64;
                (mean(stochastic.persistence()), mean(stochastic.probabilities()))
            }
        };
        let edges: Vec<(f64, usize, (f64, f64))> =
            chosen.iter().map(|&(distance, node)| (distance, node, persistence_to(node))).collect();
        let shrunk = |scale: f64| params.scale_shrinkage.apply(scale, robust.scales.median());
        let scale = match params.robust_scale {
            RobustScale::First => shrunk(first),
            _ => {
                let total: f64 = edges.iter().map(|edge| edge.2.1).sum();
                let mean = edges.iter().map(|edge| edge.2.1 * edge.0).sum::<f64>() / total;
                shrunk(if total > 0.0 { mean } else { first }).max(robust.scales.least())
            }
        };
        let weighed = edges.iter().map(|&(distance, node, (persistence, probability))| {
            let log_affinity = -distance * distance / (scale * scales[node]);
            let weight = params.final_affinity.weight(log_affinity.exp(), persistence, probability);
            NewEdge { node: node as u32, distance, probability, weight, log_affinity }
        });
        weighed.collect()
    }

    #[test]
    fn edges_of_new_points_are_those_of_the_definitions() {
        for params in variants() {
            let (model, robust) = model(&params);
            for new in [[0.1, 0.2, -0.1], [1.5, -0.4, 2.0], [-3.0, 1.0, 0.5], [40.0, 0.0, 0.0]] {
                let points = Points::new(new.to_vec(), 3).unwrap();
                let near = neighbors_of_new(&model.known, &points, model.n_candidates(), &Run::new(0));
                let near = near.unwrap();
                let row = Numbers::F64(&new);
                let found = model.hang(&NewPoint { row, ids: near.ids(0), distances: near.distances(0) });
                let expected = naive(&model, &robust, &new);
                assert_eq!(found.edges.len(), expected.len(), "{params:?}");
                for (found, expected) in found.edges.iter().zip(&expected) {
                    let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
                    assert!(
                        found.node == expected.node
                            && close(found.distance, expected.distance)
                            && close(found.probability, expected.probability)
                            && close(found.weight, expected.weight)
                            && close(found.log_affinity, expected.log_affinity),
                        "{new:?}: {found:?}, not {expected:?}; {params:?}"
                    );
                }
            }
        }
    }

    /// Where every weight is 0 affinities decide, relative to the largest.
    #[test]
    fn edges_vote_by_weight_or_by_affinity() {
        let edge =
            |weight, log_affinity| NewEdge { node: 0, distance: 1.0, probability: 0.5, weight, log_affinity };
        let votes = |edges| Hung { edges, first_scale: 1.0, scale: 1.0 }.votes();
        assert_eq!(votes(vec![edge(0.25, -2.0), edge(0.0, -1.0)]), [0.25, 0.0]);
        assert_eq!(votes(vec![edge(0.0, -900.0), edge(0.0, -901.0)]), [1.0, (-1.0f64).exp()]);
    }
}
