//! Persistence by shared neighbors: the Jaccard overlap of the neighborhoods of an edge's ends.
//!
//! No quantile and no training: the more neighbors two points share, the likelier they belong together. An alternative to the
//! conditional quantiles at the same cost.

use super::{ConditionalQuantiles, ProblemSize, Quantiles, Taus};
use crate::affinity::Similarities;
use crate::error::{Result, require};
use crate::parameter::parameters;
use crate::progress::Run;

parameters! {
    /// Parameters of the overlap estimator.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Overlap {
        /// Number of neighbors of each end, not counting the point itself.
        pool: usize = 30, "at least 1" => |pool| *pool >= 1;
    }
}

impl ConditionalQuantiles for Overlap {
    fn n_neighbors(&self) -> usize {
        self.pool
    }

    fn bytes(&self, size: ProblemSize) -> u64 {
        8 * size.n_edges + 32 * size.n_nodes + 4 * size.n_nodes * (self.pool as u64 + 1)
    }

    fn estimate(
        &self,
        similarities: &Similarities<'_>,
        taus: &Taus,
        _threshold: f64,
        run: &Run<'_>,
    ) -> Result<Quantiles> {
        let (edges, neighbors) = (similarities.edges(), similarities.neighbors());
        let rule = "must be at most the number of known neighbors of each point";
        require(self.pool <= neighbors.k(), "pool", self.pool, rule)?;
        run.stage("shared neighbors", Some(edges.n_nodes() as u64))?;
        let size = self.pool + 1;
        // Each point together with its neighbors, in order of ids.
        let sorted: Vec<u32> = (0..neighbors.len())
            .flat_map(|i| {
                let mut own = neighbors.ids(i)[..self.pool].to_vec();
                own.push(i as u32);
                own.sort_unstable();
                own
            })
            .collect();
        let of = |node: usize| &sorted[node * size..(node + 1) * size];
        let mut persistence = vec![0.0; edges.len()];
        edges.for_each_row(&mut persistence, 1, |i, numbers, row| {
            for (edge, out) in numbers.zip(row) {
                let shared = n_common(of(i), of(edges.target(edge) as usize)) as f64;
                *out = shared / (2.0 * size as f64 - shared);
            }
            run.progress.advance(1);
        });
        run.check()?;
        Ok(Quantiles::from_persistence(taus, persistence))
    }
}

/// Number of entries that two ascending lists share.
fn n_common(a: &[u32], b: &[u32]) -> usize {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        shared += usize::from(a[i] == b[j]);
        let (low, high) = (a[i] <= b[j], b[j] <= a[i]);
        i += usize::from(low);
        j += usize::from(high);
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_entries_are_counted() {
        assert_eq!(n_common(&[1, 3, 5], &[2, 3, 5, 9]), 2);
        assert_eq!(n_common(&[], &[1]), 0);
        assert_eq!(n_common(&[4, 7], &[4, 7]), 2);
    }
}
