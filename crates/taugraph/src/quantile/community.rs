//! Persistence over communities: in how many of several partitions the ends of an edge share a community.
//!
//! The Louvain method (Blondel et al. 2008) on the similarities of the candidate edges, at several resolutions and seeds. An
//! edge whose ends stay together at every resolution lies inside a dense region; one that most partitions cut lies
//! between two.

use rayon::prelude::*;

use super::{ConditionalQuantiles, ProblemSize, Quantiles, Taus};
use crate::affinity::Similarities;
use crate::error::Result;
use crate::graph::SparseGraph;
use crate::labels::Labels;
use crate::parameter::parameters;
use crate::progress::Run;
use crate::random::{Draws, Stage, Stream};

/// Maximum number of sweeps over the nodes of one level; a handful is usual.
const SWEEPS: usize = 50;
/// A node moves only for a gain above this fraction of the total weight: less is rounding.
const MIN_GAIN: f64 = 1e-12;

parameters! {
    /// Parameters of the community estimator.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Community {
        /// Resolutions of the modularity: higher ones give more communities.
        resolutions: Vec<f64> = vec![1.0, 4.0], "finite and above 0, at least one" =>
            |all| !all.is_empty() && all.iter().all(|r| r.is_finite() && *r > 0.0);
        /// Partitions at each resolution.
        seeds: usize = 3, "between 1 and 1000" => |seeds| (1..=1000).contains(seeds);
        /// Persistence of an edge that every partition cuts: communities are coarse, so they weaken an edge but do not
        /// remove it.
        floor: f64 = 0.5, "between 0 and 1" => |floor| (0.0..=1.0).contains(floor);
    }
}

impl ConditionalQuantiles for Community {
    fn bytes(&self, size: ProblemSize) -> u64 {
        let partitions = (self.resolutions.len() * self.seeds) as u64;
        let at_work = (rayon::current_num_threads() as u64).min(partitions);
        // The graph, and for each partition in progress a shrinking copy of it.
        24 * size.n_edges * (1 + 2 * at_work)
            + 64 * size.n_nodes * at_work
            + 4 * size.n_nodes * partitions
            + 8 * size.n_edges
    }

    fn estimate(
        &self,
        similarities: &Similarities<'_>,
        taus: &Taus,
        _threshold: f64,
        run: &Run<'_>,
    ) -> Result<Quantiles> {
        let edges = similarities.edges();
        let partitions = self.partitions(&SparseGraph::from_edges(edges, similarities.values())?, run)?;
        let together = |i: u32, j: u32| {
            partitions.iter().filter(|partition| partition[i as usize] == partition[j as usize]).count()
        };
        let share = |i: u32, j: u32| together(i, j) as f64 / partitions.len() as f64;
        let persistence = edges.map(|_, i, j| self.floor + (1.0 - self.floor) * share(i, j));
        Ok(Quantiles::from_persistence(taus, persistence))
    }
}

impl Community {
    /// The community of each node in each partition.
    fn partitions(&self, graph: &SparseGraph, run: &Run<'_>) -> Result<Vec<Vec<u32>>> {
        let total = self.resolutions.len() * self.seeds;
        run.stage("communities", Some(total as u64))?;
        let stream = Stream::new(run.seed, Stage::Communities);
        let partitions = (0..total)
            .into_par_iter()
            .map(|index| {
                let resolution = self.resolutions[index / self.seeds];
                let found = louvain(graph, resolution, &mut stream.at(index as u32, 0), run)?;
                run.progress.advance(1);
                Ok(found)
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(partitions)
    }
}

/// A weighted graph in which nodes may have internal weight.
struct Level {
    offsets: Vec<usize>,
    ids: Vec<u32>,
    weights: Vec<f64>,
    /// Internal weight of each node, counted in both directions.
    inner: Vec<f64>,
}

impl Level {
    fn of(graph: &SparseGraph) -> Self {
        Self {
            offsets: graph.offsets().iter().map(|&offset| offset as usize).collect(),
            ids: graph.ids().to_vec(),
            weights: graph.weights().to_vec(),
            inner: vec![0.0; graph.n_nodes()],
        }
    }

    fn len(&self) -> usize {
        self.inner.len()
    }

    fn row(&self, node: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.offsets[node]..self.offsets[node + 1];
        self.ids[range.clone()].iter().copied().zip(self.weights[range].iter().copied())
    }

    fn strength(&self, node: usize) -> f64 {
        self.inner[node] + self.row(node).map(|(_, weight)| weight).sum::<f64>()
    }

    /// One node for each community.
    fn condensed(&self, community: &[u32], n_communities: usize) -> Self {
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); n_communities];
        community.iter().enumerate().for_each(|(node, &c)| members[c as usize].push(node as u32));
        let mut next =
            Level { offsets: vec![0], ids: Vec::new(), weights: Vec::new(), inner: vec![0.0; n_communities] };
        let mut sums = Sums::new(n_communities);
        for (own, nodes) in members.iter().enumerate() {
            for &node in nodes {
                next.inner[own] += self.inner[node as usize];
                self.row(node as usize)
                    .for_each(|(other, weight)| sums.add(community[other as usize], weight));
            }
            let mut found = sums.take();
            found.sort_unstable_by_key(|&(other, _)| other);
            for (other, weight) in found {
                if other as usize == own {
                    next.inner[own] += weight;
                } else {
                    next.ids.push(other);
                    next.weights.push(weight);
                }
            }
            next.offsets.push(next.ids.len());
        }
        next
    }
}

/// Sums by community, cleared without touching all of them.
struct Sums {
    values: Vec<f64>,
    touched: Vec<u32>,
    is_touched: Vec<bool>,
}

impl Sums {
    fn new(n: usize) -> Self {
        Self { values: vec![0.0; n], touched: Vec::new(), is_touched: vec![false; n] }
    }

    fn add(&mut self, community: u32, weight: f64) {
        if !self.is_touched[community as usize] {
            self.is_touched[community as usize] = true;
            self.touched.push(community);
        }
        self.values[community as usize] += weight;
    }

    /// The sums, in the order in which their communities first appeared.
    fn take(&mut self) -> Vec<(u32, f64)> {
        let found = self.touched.iter().map(|&c| (c, self.values[c as usize])).collect();
        for &community in &self.touched {
            self.values[community as usize] = 0.0;
            self.is_touched[community as usize] = false;
        }
        self.touched.clear();
        found
    }
}

/// Moves nodes to the neighboring community with the largest gain until no move gains, then repeats with the communities as nodes.
fn louvain(graph: &SparseGraph, resolution: f64, draws: &mut Draws, run: &Run<'_>) -> Result<Vec<u32>> {
    let mut of_nodes: Vec<u32> = (0..graph.n_nodes() as u32).collect();
    let mut level = Level::of(graph);
    loop {
        run.check()?;
        let (community, n_communities) = move_nodes(&level, resolution, draws, run)?;
        of_nodes.iter_mut().for_each(|own| *own = community[*own as usize]);
        if n_communities == level.len() {
            return Ok(of_nodes);
        }
        level = level.condensed(&community, n_communities);
    }
}

/// The community of each node after local moves, numbered in order of their first nodes.
fn move_nodes(level: &Level, resolution: f64, draws: &mut Draws, run: &Run<'_>) -> Result<(Vec<u32>, usize)> {
    let n = level.len();
    let strengths: Vec<f64> = (0..n).map(|node| level.strength(node)).collect();
    let total: f64 = strengths.iter().sum();
    let mut community: Vec<u32> = (0..n as u32).collect();
    let mut volumes = strengths.clone();
    let order = draws.permutation(n);
    let mut sums = Sums::new(n);
    for _ in 0..SWEEPS {
        run.check()?;
        let mut moved = false;
        for &node in &order {
            let node = node as usize;
            let own = community[node];
            // Its own community comes first, so in a tie the node stays.
            sums.add(own, 0.0);
            level.row(node).for_each(|(other, weight)| sums.add(community[other as usize], weight));
            volumes[own as usize] -= strengths[node];
            let gain = |&(c, weight): &(u32, f64)| {
                weight - resolution * strengths[node] * volumes[c as usize] / total
            };
            let found = sums.take();
            let (mut best, mut best_gain) = (own, gain(&found[0]));
            for candidate in &found[1..] {
                let of_candidate = gain(candidate);
                if of_candidate > best_gain + MIN_GAIN * total {
                    (best, best_gain) = (candidate.0, of_candidate);
                }
            }
            volumes[best as usize] += strengths[node];
            moved |= best != own;
            community[node] = best;
        }
        if !moved {
            break;
        }
    }
    let labels = Labels::in_order_of_appearance(community.iter());
    Ok((labels.to_vec(), labels.n_classes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::Edges;

    /// Cliques of five in a ring, each joined to the next by one edge.
    fn ring_of_cliques(n_cliques: u32) -> SparseGraph {
        let inside = (0..n_cliques)
            .flat_map(|c| (0..5).flat_map(move |i| (0..i).map(move |j| (5 * c + i, 5 * c + j))));
        let between = (0..n_cliques).map(|c| (5 * c, 5 * ((c + 1) % n_cliques) + 1));
        let edges = Edges::from_pairs(5 * n_cliques as usize, inside.chain(between)).unwrap();
        SparseGraph::from_edges(&edges, &vec![1.0; edges.len()]).unwrap()
    }

    fn modularity(graph: &SparseGraph, community: &[u32], resolution: f64) -> f64 {
        let degrees = graph.degrees();
        let total: f64 = degrees.iter().sum();
        let n = graph.n_nodes();
        let mut sum = 0.0;
        for i in 0..n {
            for j in 0..n {
                if community[i] == community[j] {
                    sum += graph.weight(i, j).unwrap_or(0.0) - resolution * degrees[i] * degrees[j] / total;
                }
            }
        }
        sum / total
    }

    #[test]
    fn cliques_are_found() {
        let graph = ring_of_cliques(12);
        let community = Community { resolutions: vec![1.0], seeds: 4, ..Community::default() };
        let expected: Vec<u32> = (0..60).map(|node| node / 5).collect();
        for partition in community.partitions(&graph, &Run::new(1)).unwrap() {
            let found = modularity(&graph, &partition, 1.0);
            // At this resolution two cliques may merge; otherwise the result is never worse than the cliques.
            assert!(found >= modularity(&graph, &expected, 1.0) - 0.02, "{found}");
            assert!((0..60).all(|node| partition[node] == partition[node / 5 * 5]));
        }
        let finer = Community { resolutions: vec![4.0], seeds: 1, ..Community::default() };
        assert_eq!(finer.partitions(&graph, &Run::new(1)).unwrap()[0], expected);
    }

    #[test]
    fn nodes_without_edges_stay_alone() {
        let edges = Edges::from_pairs(4, [(0, 1)]).unwrap();
        let graph = SparseGraph::from_edges(&edges, &[1.0]).unwrap();
        let found = &Community::default().partitions(&graph, &Run::new(0)).unwrap()[0];
        assert_eq!(found[..], [0, 0, 1, 2]);
    }
}
