//! The shortest pairs from groups of nodes to the other groups' nodes on one machine.

use crate::distance::Metric;
use crate::error::Result;
use crate::neighbors::shortest_to_other_groups;
use crate::points::Points;
use crate::progress::Run;

/// The shortest pair from a group to a node on this machine that is not in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutsideCandidate {
    /// The group.
    pub group: u32,
    /// Their distance.
    pub distance: f64,
    /// The node of the group, by its global id.
    pub inside: u32,
    /// The other node.
    pub outside: u32,
}

/// For each group of which there are queries, the shortest pair to a point of another group; of equally short ones that with the lowest id, then
/// the lowest other id.
///
/// `points` are the queries and this machine's own points, each once, with their global `ids` ascending and their `groups`; `queries` are places in
/// them.
pub fn nearest_outside(
    points: &Points,
    metric: Metric,
    ids: &[u32],
    groups: &[u32],
    queries: &[u32],
    run: &Run<'_>,
) -> Result<Vec<OutsideCandidate>> {
    let found = shortest_to_other_groups(points, metric, groups, queries, run)?;
    let named = found.into_iter().map(|(distance, inside, outside)| OutsideCandidate {
        group: groups[inside as usize],
        distance,
        inside: ids[inside as usize],
        outside: ids[outside as usize],
    });
    Ok(named.collect())
}
