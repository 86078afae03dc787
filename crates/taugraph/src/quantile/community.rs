//! Persistence over communities: in how many of several partitions the ends of an edge share a community.
//!
//! The Louvain method (Blondel et al. 2008) on the similarities of the candidate edges, at several resolutions and seeds. An
//! edge whose ends stay together at every resolution lies inside a dense region; one that most partitions cut lies
//! between two.

use rayon::prelude::*;

use super::{ConditionalQuantiles, ProblemSize, Quantiles, Taus};
use crate::affinity::Similarities;
use crate::communities::{Visits, louvain};
use crate::error::Result;
use crate::graph::SparseGraph;
use crate::parameter::parameters;
use crate::progress::Run;
use crate::random::{Stage, Stream};

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
                let found = louvain(graph, resolution, Visits::All, &mut stream.at(index as u32, 0), run)?;
                run.progress.advance(1);
                Ok(found)
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(partitions)
    }
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
