//! Micro-communities: the groups that agglomeration starts from, small enough to lie within one cluster.

use crate::communities::{Visits, louvain};
use crate::error::Result;
use crate::graph::SparseGraph;
use crate::labels::Labels;
use crate::progress::Run;
use crate::random::{Stage, Stream};

/// The lowest resolution.
const RESOLUTION: f64 = 4.0;
/// From this many nodes for each unit of resolution on, the resolution grows with them: modularity would otherwise join communities
/// below a size that grows with the graph.
const NODES_PER_RESOLUTION: f64 = 9_000.0;
/// Wanted communities for each cluster.
pub(super) const PER_CLUSTER: usize = 3;
/// The resolution is doubled at most this often; an even number.
const DOUBLINGS: u32 = 12;

/// The micro-community of each node, numbered in the order of their first nodes: at least three for each of `n_clusters`, if the
/// graph has that many parts worth telling apart. They differ from `time` to `time`.
pub(crate) fn micro_communities(
    graph: &SparseGraph,
    n_clusters: usize,
    time: u32,
    run: &Run<'_>,
) -> Result<Labels> {
    let n = graph.n_nodes();
    let wanted = n_clusters.saturating_mul(PER_CLUSTER).min(n);
    let lowest = RESOLUTION.max(n as f64 / NODES_PER_RESOLUTION);
    let at = |doublings: u32| {
        let mut draws = Stream::new(run.seed, Stage::Communities).at(u32::MAX - time, doublings);
        let resolution = lowest * f64::from(1u32 << doublings);
        let found = louvain(graph, resolution, Visits::Marked, &mut draws, run)?;
        Ok(Labels::in_order_of_appearance(found))
    };
    // The lowest resolution is usually enough. If not, two are tried at the same time: each uses one thread.
    let first = at(0)?;
    if first.n_classes() >= wanted {
        return Ok(first);
    }
    for doublings in (1..DOUBLINGS).step_by(2) {
        let (lower, higher) = rayon::join(|| at(doublings), || at(doublings + 1));
        for found in [lower?, higher?] {
            if found.n_classes() >= wanted {
                return Ok(found);
            }
        }
    }
    // Every node for itself: there is nothing smaller.
    Labels::new((0..n as u32).collect(), n)
}
