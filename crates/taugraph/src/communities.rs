//! Communities of a weighted graph by the Louvain method (Blondel et al. 2008).
//!
//! A node moves to the neighboring community c with the largest gain w(i→c) − γ·deg_i·vol_c/vol, until no move gains; then the
//! communities become the nodes of a smaller graph, and so on. A higher resolution γ gives more communities. The order of the nodes is
//! drawn from the seed. It is sequential: each move depends on those before.
//!
//! Of many nodes most of the time goes into the first level. There, if less than the best communities will do, nodes are first united
//! with their strongest neighbors, all at the same time.

use std::borrow::Cow;

use rayon::prelude::*;

use crate::error::Result;
use crate::graph::SparseGraph;
use crate::labels::Labels;
use crate::progress::Run;
use crate::random::Draws;

/// Maximum number of sweeps over the nodes of one level; a handful is usual.
const SWEEPS: usize = 50;
/// [`Visits::Marked`] ends a level once a sweep moves less than one node in so many.
const FEW_MOVES: usize = 200;
/// [`Visits::Marked`] unites the nodes of a level with more than this many first,
const MANY_NODES: usize = 100_000;
/// at most so often.
const UNIONS: usize = 4;
/// Rows of a level are made in this many pieces: each needs room for a number for every community.
const CHUNKS: usize = 16;
/// A node moves only for a gain above this fraction of the total weight: less is rounding.
const MIN_GAIN: f64 = 1e-12;

/// A weighted graph in which nodes may have internal weight.
struct Level<'a> {
    offsets: Vec<usize>,
    ids: Cow<'a, [u32]>,
    weights: Cow<'a, [f64]>,
    /// Internal weight of each node, counted in both directions.
    inner: Vec<f64>,
}

impl<'a> Level<'a> {
    fn of(graph: &'a SparseGraph) -> Self {
        Self {
            offsets: graph.offsets().iter().map(|&offset| offset as usize).collect(),
            ids: graph.ids().into(),
            weights: graph.weights().into(),
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

    /// The same graph with the nodes in this order; each row keeps its order.
    fn reordered(&self, order: &[u32]) -> Level<'static> {
        let mut place = vec![0u32; order.len()];
        (0..).zip(order).for_each(|(to, &node)| place[node as usize] = to);
        let mut offsets = Vec::with_capacity(order.len() + 1);
        offsets.push(0);
        for &node in order {
            let length = self.offsets[node as usize + 1] - self.offsets[node as usize];
            offsets.push(offsets[offsets.len() - 1] + length);
        }
        let (mut ids, mut weights) = (Vec::with_capacity(self.ids.len()), Vec::with_capacity(self.ids.len()));
        for &node in order {
            ids.extend(self.row(node as usize).map(|(id, _)| place[id as usize]));
            weights.extend(self.row(node as usize).map(|(_, weight)| weight));
        }
        let inner = order.iter().map(|&node| self.inner[node as usize]).collect();
        Level { offsets, ids: Cow::Owned(ids), weights: Cow::Owned(weights), inner }
    }

    /// One node for each community.
    fn condensed(&self, community: &[u32], n_communities: usize) -> Level<'static> {
        let (members, firsts) = members_of(community, n_communities);
        let rows = n_communities.div_ceil(CHUNKS).max(1);
        let rows_from = |first: usize| {
            let (mut offsets, mut ids, mut weights) = (Vec::new(), Vec::new(), Vec::new());
            let mut inner_weights = Vec::new();
            let (mut sums, mut found) = (Sums::new(n_communities), Vec::new());
            for own in first..n_communities.min(first + rows) {
                let mut inner = 0.0;
                for &node in &members[firsts[own]..firsts[own + 1]] {
                    inner += self.inner[node as usize];
                    let row = self.row(node as usize);
                    row.for_each(|(other, weight)| sums.add(community[other as usize], weight));
                }
                sums.take(&mut found);
                for &(other, weight) in &found {
                    if other as usize == own {
                        inner += weight;
                    } else {
                        ids.push(other);
                        weights.push(weight);
                    }
                }
                inner_weights.push(inner);
                offsets.push(ids.len());
            }
            Level { offsets, ids: ids.into(), weights: weights.into(), inner: inner_weights }
        };
        let parts: Vec<Level<'static>> =
            (0..n_communities).into_par_iter().step_by(rows).map(rows_from).collect();
        let n_entries = parts.iter().map(|part| part.ids.len()).sum();
        let (mut ids, mut weights) =
            (Vec::<u32>::with_capacity(n_entries), Vec::<f64>::with_capacity(n_entries));
        let (mut offsets, mut inner) = (vec![0], Vec::with_capacity(n_communities));
        for part in parts {
            offsets.extend(part.offsets.iter().map(|end| ids.len() + end));
            ids.extend_from_slice(&part.ids);
            weights.extend_from_slice(&part.weights);
            inner.extend(part.inner);
        }
        Level { offsets, ids: ids.into(), weights: weights.into(), inner }
    }

    /// Nodes that are each other's strongest neighbors become one, and those whose strongest neighbor is such a node join it; the others
    /// stay alone. Numbered in the order of their first nodes.
    fn united(&self) -> Labels {
        let strongest: Vec<u32> = (0..self.len())
            .into_par_iter()
            .map(|node| {
                let mut best = (node as u32, 0.0);
                for (other, weight) in self.row(node) {
                    if weight > best.1 {
                        best = (other, weight);
                    }
                }
                best.0
            })
            .collect();
        let is_mutual = |node: u32| strongest[strongest[node as usize] as usize] == node;
        let leader = |node: u32| {
            let other = strongest[node as usize];
            match (is_mutual(node), is_mutual(other)) {
                (true, _) => node.min(other),
                (false, true) => other.min(strongest[other as usize]),
                (false, false) => node,
            }
        };
        let leaders: Vec<u32> = (0..self.len() as u32).into_par_iter().map(leader).collect();
        Labels::in_order_of_appearance(leaders)
    }
}

/// The nodes of each community one after the other, and where each community begins.
fn members_of(community: &[u32], n_communities: usize) -> (Vec<u32>, Vec<usize>) {
    let mut firsts = vec![0; n_communities + 1];
    community.iter().for_each(|&c| firsts[c as usize + 1] += 1);
    (0..n_communities).for_each(|c| firsts[c + 1] += firsts[c]);
    let mut next = firsts.clone();
    let mut members = vec![0; community.len()];
    for (node, &c) in (0..).zip(community) {
        members[next[c as usize]] = node;
        next[c as usize] += 1;
    }
    (members, firsts)
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

    /// Replaces `found` by the sums, in the order in which their communities first appeared.
    fn take(&mut self, found: &mut Vec<(u32, f64)>) {
        found.clear();
        found.extend(self.touched.iter().map(|&c| (c, self.values[c as usize])));
        for community in self.touched.drain(..) {
            self.values[community as usize] = 0.0;
            self.is_touched[community as usize] = false;
        }
    }
}

/// Which nodes a sweep visits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visits {
    /// All, until none moves.
    All,
    /// After the first sweep those with a neighbor that moved, until few move; strongest neighbors of many nodes stay together. A
    /// fraction of the time on a million nodes, and slightly different communities.
    Marked,
}

/// Moves nodes to the neighboring community with the largest gain until no move gains, then repeats with the communities as nodes.
pub(crate) fn louvain(
    graph: &SparseGraph,
    resolution: f64,
    visits: Visits,
    draws: &mut Draws,
    run: &Run<'_>,
) -> Result<Vec<u32>> {
    let mut of_nodes: Vec<u32> = (0..graph.n_nodes() as u32).collect();
    let mut level = Level::of(graph);
    for _ in 0..UNIONS {
        if visits == Visits::Marked && level.len() > MANY_NODES {
            let united = level.united();
            of_nodes.iter_mut().for_each(|own| *own = united[*own as usize]);
            level = level.condensed(&united, united.n_classes());
        }
    }
    loop {
        run.check()?;
        let (community, n_communities) = move_nodes(&level, resolution, visits, draws, run)?;
        of_nodes.iter_mut().for_each(|own| *own = community[*own as usize]);
        if n_communities == level.len() {
            return Ok(of_nodes);
        }
        level = level.condensed(&community, n_communities);
    }
}

/// The community of each node after local moves, numbered in order of their first nodes.
fn move_nodes(
    level: &Level<'_>,
    resolution: f64,
    visits: Visits,
    draws: &mut Draws,
    run: &Run<'_>,
) -> Result<(Vec<u32>, usize)> {
    let n = level.len();
    let strengths: Vec<f64> = (0..n).into_par_iter().map(|node| level.strength(node)).collect();
    let total: f64 = strengths.iter().sum();
    // Rows in the order of the visits are read ahead; in random order every visit would wait for memory.
    let order = draws.permutation(n);
    let level = &level.reordered(&order);
    let strengths: Vec<f64> = order.iter().map(|&node| strengths[node as usize]).collect();
    let mut community: Vec<u32> = (0..n as u32).collect();
    let mut volumes = strengths.clone();
    let (mut sums, mut found) = (Sums::new(n), Vec::new());
    let mut is_marked = vec![true; n];
    for _ in 0..SWEEPS {
        run.check()?;
        let mut n_moved = 0;
        for node in 0..n {
            if !is_marked[node] {
                continue;
            }
            is_marked[node] = visits == Visits::All;
            let own = community[node];
            // Its own community comes first, so in a tie the node stays.
            sums.add(own, 0.0);
            level.row(node).for_each(|(other, weight)| sums.add(community[other as usize], weight));
            volumes[own as usize] -= strengths[node];
            let gain = |&(c, weight): &(u32, f64)| {
                weight - resolution * strengths[node] * volumes[c as usize] / total
            };
            sums.take(&mut found);
            let (mut best, mut best_gain) = (own, gain(&found[0]));
            for candidate in &found[1..] {
                let of_candidate = gain(candidate);
                if of_candidate > best_gain + MIN_GAIN * total {
                    (best, best_gain) = (candidate.0, of_candidate);
                }
            }
            volumes[best as usize] += strengths[node];
            if best != own {
                n_moved += 1;
                community[node] = best;
                level.row(node).filter(|(other, _)| community[*other as usize] != best).for_each(
                    |(other, _)| {
                        is_marked[other as usize] = true;
                    },
                );
            }
        }
        if n_moved == 0 || visits == Visits::Marked && n_moved < n / FEW_MOVES {
            break;
        }
    }
    let mut of_nodes = vec![0; n];
    order.iter().zip(community).for_each(|(&node, own)| of_nodes[node as usize] = own);
    let labels = Labels::in_order_of_appearance(of_nodes);
    Ok((labels.to_vec(), labels.n_classes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::Edges;

    #[test]
    fn strongest_neighbors_unite_and_no_weight_is_lost() {
        // 0 and 1 are each other's strongest, 2 joins them; 3's strongest is 2, which is in no pair of its own; 4 is alone.
        let edges = Edges::from_pairs(5, [(0, 1), (1, 2), (2, 3)]).unwrap();
        let graph = SparseGraph::from_edges(&edges, &[4.0, 3.0, 1.0]).unwrap();
        let level = Level::of(&graph);
        let united = level.united();
        assert_eq!(united[..], [0, 0, 0, 1, 2]);
        let condensed = level.condensed(&united, 3);
        assert_eq!(condensed.inner, [14.0, 0.0, 0.0]);
        assert_eq!((&condensed.ids[..], &condensed.weights[..]), (&[1, 0][..], &[1.0, 1.0][..]));
        assert_eq!(condensed.offsets, [0, 1, 2, 2]);
        let strengths = |level: &Level<'_>| (0..level.len()).map(|node| level.strength(node)).sum::<f64>();
        assert_eq!(strengths(&level), strengths(&condensed));
    }
}
