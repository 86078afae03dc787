//! The default estimator: empirical conditional quantiles from the neighborhoods of an edge's two ends.
//!
//! For an edge ij, pool the similarities of j to points like i, and of i to points like j:
//! w_kj for k ∈ {i} ∪ N(i) and w_ki for k ∈ {j} ∪ N(j), with N the `pool` nearest neighbors: 2·(pool + 1) values.
//! Ŵ_τ(ij) is their (1−τ)-quantile (the smallest value v such that at least a share 1−τ of the pool is at or below it).
//! Hence Ŵ_τ > θ exactly if more than a share τ of the pool lies above θ: the highest τ at which the edge persists is that
//! share, found by counting. Nothing is trained and nothing is random; the cost is 2·(pool + 1) similarities for
//! each edge.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use super::{ConditionalQuantiles, ProblemSize, Quantiles, Taus};
use crate::affinity::{Alike, ScaledSpace, Similarities};
use crate::error::{Result, require};
use crate::parameter::{choices, parameters};
use crate::progress::Run;

/// Nodes that one thread processes in sequence.
const NEARBY: usize = 128;

choices! {
    /// Which statistic of the pool is the persistence of an edge.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum PoolStatistic = "share" {
        /// The share above the threshold.
        "share" => Share,
        /// The mean similarity; needs no threshold.
        "mean" => Mean,
    }
}

choices! {
    /// Whether to return the quantiles themselves, besides the persistence that follows from them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum KeepReconstructions = "no" {
        /// Only the persistence: 8 bytes per edge.
        "no" => No,
        /// Also Ŵ_τ: 8 more bytes per edge and quantile.
        "yes" => Yes,
    }
}

parameters! {
    /// Parameters of the neighborhood estimator.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Neighborhood {
        /// Number of neighbors of each end that enter the pool.
        pool: usize = 15, "at least 1" => |pool| *pool >= 1;
        /// Which statistic of the pool is the persistence of an edge.
        statistic: PoolStatistic = PoolStatistic::Share;
        /// Whether to return Ŵ_τ as well.
        reconstructions: KeepReconstructions = KeepReconstructions::No;
    }
}

impl ConditionalQuantiles for Neighborhood {
    fn n_neighbors(&self) -> usize {
        self.pool
    }

    fn bytes(&self, size: ProblemSize) -> u64 {
        let kept = if self.reconstructions == KeepReconstructions::Yes { size.n_taus } else { 0 };
        // The node order and the lists of rows for the parallel loop add 48 bytes per node.
        8 * size.n_edges * (1 + kept) + 48 * size.n_nodes
    }

    fn estimate(
        &self,
        similarities: &Similarities<'_>,
        taus: &Taus,
        threshold: f64,
        run: &Run<'_>,
    ) -> Result<Quantiles> {
        let edges = similarities.edges();
        let rule = "must be at most the number of known neighbors of each point";
        require(self.pool <= similarities.neighbors().k(), "pool", self.pool, rule)?;
        run.stage("neighborhood quantiles", Some(edges.n_nodes() as u64))?;
        let order = similarities.neighbors().locality_order();
        let persistence = self.persistences(similarities, &order, threshold, run);
        let reconstructions = match self.reconstructions {
            KeepReconstructions::Yes => Some(self.reconstructed(similarities, &order, taus, run)),
            KeepReconstructions::No => None,
        };
        run.check()?;
        Ok(Quantiles { reconstructions, ..Quantiles::from_persistence(taus, persistence) })
    }
}

/// A point and its neighbors: one half of the pools of its edges.
pub(crate) struct Around<'a> {
    estimator: &'a Neighborhood,
    points: &'a ScaledSpace<'a>,
    limit: f64,
    like: Alike,
    exponents: Vec<f64>,
}

impl<'a> Around<'a> {
    pub fn new(estimator: &'a Neighborhood, points: &'a ScaledSpace<'a>, threshold: f64) -> Self {
        let limit = exponent_limit(threshold);
        Self { estimator, points, limit, like: Alike::default(), exponents: Vec::new() }
    }

    /// Gathers another point and its neighbors.
    pub fn move_to(&mut self, center: u32, neighbors: &[u32]) {
        self.points.gather(std::iter::once(center).chain(neighbors.iter().copied()), &mut self.like);
    }

    /// The sum over this half of the pool of the edge to another point.
    pub fn half_of_pool(&mut self, other: u32) -> f64 {
        match self.estimator.statistic {
            PoolStatistic::Share => {
                self.points.n_below(other as usize, &self.like, self.limit, &mut self.exponents) as f64
            }
            PoolStatistic::Mean => {
                self.points.exponents_to(other as usize, &self.like, &mut self.exponents);
                self.estimator.sum(&self.exponents, self.limit)
            }
        }
    }
}

impl Neighborhood {
    /// Number of similarities in the pool of an edge, half of them around either end.
    pub(crate) fn size(&self) -> f64 {
        (2 * (self.pool + 1)) as f64
    }

    /// The statistic of every edge's pool.
    ///
    /// Half of an edge's pool lies around either end, and the sums of both halves are added. Halves are computed node by node:
    /// the points like a node are the same for all its edges, and the nodes come in locality order, so
    /// most rows are already in the cache.
    fn persistences(
        &self,
        similarities: &Similarities<'_>,
        order: &[u32],
        threshold: f64,
        run: &Run<'_>,
    ) -> Vec<f64> {
        let edges = similarities.edges();
        // Floating-point sums stored as bits. Two terms have the same sum in either order, so threads cannot change it.
        let sums: Vec<AtomicU64> = (0..edges.len()).map(|_| AtomicU64::new(0f64.to_bits())).collect();
        order.par_chunks(NEARBY).for_each(|nearby| {
            let mut around = Around::new(self, similarities.points(), threshold);
            for &center in nearby {
                if run.progress.canceled() {
                    return;
                }
                around.move_to(center, &similarities.neighbors().ids(center as usize)[..self.pool]);
                for (other, edge) in edges.incident(center as usize) {
                    let sum = around.half_of_pool(other);
                    let add = |bits| Some((f64::from_bits(bits) + sum).to_bits());
                    sums[edge].fetch_update(Relaxed, Relaxed, add).expect("it always adds");
                }
                run.progress.advance(1);
            }
        });
        sums.into_iter().map(|bits| f64::from_bits(bits.into_inner()) / self.size()).collect()
    }

    /// Ŵ_τ of every edge.
    fn reconstructed(
        &self,
        similarities: &Similarities<'_>,
        order: &[u32],
        taus: &Taus,
        run: &Run<'_>,
    ) -> Vec<f64> {
        let edges = similarities.edges();
        let mut values = vec![0.0; edges.len() * taus.len()];
        edges.for_each_row_in_order(order, &mut values, taus.len(), |i, numbers, row| {
            let mut pool = Vec::with_capacity(2 * (self.pool + 1));
            for (edge, out) in numbers.zip(row.chunks_exact_mut(taus.len())) {
                if run.progress.canceled() {
                    return;
                }
                self.fill_pool(similarities, i, edges.target(edge) as usize, &mut pool);
                // Ascending exponents are descending similarities.
                pool.sort_unstable_by(f64::total_cmp);
                for (value, &tau) in out.iter_mut().zip(taus.values()) {
                    *value = (-pool[rank_from_above(tau, pool.len())]).exp();
                }
            }
        });
        values
    }

    /// The statistic of an edge's pool, which is given as −ln of similarities.
    pub(crate) fn persistence(&self, pool: &[f64], threshold: f64) -> f64 {
        self.sum(pool, exponent_limit(threshold)) / pool.len() as f64
    }

    fn sum(&self, exponents: &[f64], limit: f64) -> f64 {
        match self.statistic {
            PoolStatistic::Share => exponents.iter().filter(|&&x| x < limit).count() as f64,
            PoolStatistic::Mean => exponents.iter().map(|x| (-x).exp()).sum(),
        }
    }

    /// −ln of the pooled similarities of an edge.
    fn fill_pool(&self, similarities: &Similarities<'_>, i: usize, j: usize, pool: &mut Vec<f64>) {
        pool.clear();
        for (center, other) in [(i, j), (j, i)] {
            pool.push(similarities.exponent_between(center, other));
            let like_center = &similarities.neighbors().ids(center)[..self.pool];
            similarities.points().exponents_to_each(other, like_center, pool);
        }
    }
}

/// The exponent of the threshold: w > θ is decided on the exponents, so that the share needs no exponentials.
fn exponent_limit(threshold: f64) -> f64 {
    -threshold.ln()
}

/// Index of the (1−τ)-quantile among `n` values in descending order: the lowest index such that more than a share
/// τ of the values lies at or before it.
fn rank_from_above(tau: f64, n: usize) -> usize {
    ((tau * n as f64).floor() as usize).min(n - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::affinity::{AffinityKind, edge_distances};
    use crate::distance::Metric;
    use crate::edges::{Edges, Symmetrize};
    use crate::neighbors::{Space, nearest_neighbors};
    use crate::points::Points;
    use crate::random::{Stage, Stream};
    use crate::scale::{FirstScale, first_scales};

    fn with_similarities(check: impl Fn(&Similarities<'_>)) {
        let mut draws = Stream::new(4, Stage::Generator).at(0, 0);
        let points = Points::new((0..180).map(|_| draws.normal()).collect(), 3).unwrap();
        let space = Space::from_points(points, Metric::Euclidean).unwrap();
        let neighbors = nearest_neighbors(&space, 8, &Run::new(0)).unwrap();
        let scales = first_scales(&neighbors, &FirstScale::KthNeighbor { k: 7 }, 0.25).unwrap();
        let edges = Edges::from_neighbors(&neighbors, 8, Symmetrize::Union);
        let distances = edge_distances(&space, &edges);
        check(&Similarities::new(
            &space,
            &neighbors,
            &scales,
            AffinityKind::SquaredDistance,
            &edges,
            &distances,
        ));
    }

    #[test]
    fn share_is_the_highest_tau_at_which_the_quantile_passes_the_threshold() {
        with_similarities(|similarities| {
            let taus = Taus::new((1..100).map(|t| (f64::from(t) - 0.5) / 100.0).collect()).unwrap();
            let estimator =
                Neighborhood { pool: 5, reconstructions: KeepReconstructions::Yes, ..Default::default() };
            let quantiles = estimator.estimate(similarities, &taus, 0.3, &Run::new(0)).unwrap();
            let values = quantiles.reconstructions.unwrap();
            assert_eq!(super::super::crossing_rate(&values, taus.len()), 0.0);
            for (edge, share) in quantiles.persistence.unwrap().into_iter().enumerate() {
                let of_edge = &values[edge * taus.len()..(edge + 1) * taus.len()];
                for (&tau, &value) in taus.values().iter().zip(of_edge) {
                    assert_eq!(
                        value > 0.3,
                        share > tau,
                        "edge {edge}, tau {tau}, share {share}, value {value}"
                    );
                }
            }
        });
    }

    #[test]
    fn share_and_mean_equal_the_definition() {
        with_similarities(|similarities| {
            for statistic in [PoolStatistic::Share, PoolStatistic::Mean] {
                let estimator = Neighborhood { pool: 6, statistic, ..Default::default() };
                let found = estimator.estimate(similarities, &Taus::default(), 0.4, &Run::new(0)).unwrap();
                for ((i, j), value) in similarities.edges().iter().zip(found.persistence.unwrap()) {
                    let (i, j) = (i as usize, j as usize);
                    let mut pool = vec![similarities.between(i, j), similarities.between(j, i)];
                    for &k in &similarities.neighbors().ids(i)[..6] {
                        pool.push(similarities.between(k as usize, j));
                    }
                    for &k in &similarities.neighbors().ids(j)[..6] {
                        pool.push(similarities.between(k as usize, i));
                    }
                    assert_eq!(pool.len(), 14);
                    let expected = match statistic {
                        PoolStatistic::Share => pool.iter().filter(|&&w| w > 0.4).count() as f64 / 14.0,
                        PoolStatistic::Mean => pool.iter().sum::<f64>() / 14.0,
                    };
                    assert!((value - expected).abs() < 1e-14);
                }
            }
        });
    }
}
