//! Communities of a weighted graph by the Louvain method (Blondel et al. 2008).
//!
//! A node moves to the neighboring community c with the largest gain w(i→c) − γ·deg_i·vol_c/vol, until no move gains; then the
//! communities become the nodes of a smaller graph, and so on. A higher resolution γ gives more communities. The order of the nodes is
//! drawn from the seed. It is sequential: each move depends on those before.

use crate::error::Result;
use crate::graph::SparseGraph;
use crate::labels::Labels;
use crate::progress::Run;
use crate::random::Draws;

/// Maximum number of sweeps over the nodes of one level; a handful is usual.
const SWEEPS: usize = 50;
/// [`Visits::Marked`] ends a level once a sweep moves less than one node in so many.
const FEW_MOVES: usize = 200;
/// A node moves only for a gain above this fraction of the total weight: less is rounding.
const MIN_GAIN: f64 = 1e-12;

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

/// Which nodes a sweep visits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visits {
    /// All, until none moves.
    All,
    /// After the first sweep those with a neighbor that moved, until few move: less than half of the time on a million nodes, and
    /// slightly different communities.
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
    level: &Level,
    resolution: f64,
    visits: Visits,
    draws: &mut Draws,
    run: &Run<'_>,
) -> Result<(Vec<u32>, usize)> {
    let n = level.len();
    let strengths: Vec<f64> = (0..n).map(|node| level.strength(node)).collect();
    let total: f64 = strengths.iter().sum();
    let mut community: Vec<u32> = (0..n as u32).collect();
    let mut volumes = strengths.clone();
    let order = draws.permutation(n);
    let mut sums = Sums::new(n);
    let mut is_marked = vec![true; n];
    for _ in 0..SWEEPS {
        run.check()?;
        let mut n_moved = 0;
        for &node in &order {
            let node = node as usize;
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
            let found = sums.take();
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
    let labels = Labels::in_order_of_appearance(community.iter());
    Ok((labels.to_vec(), labels.n_classes()))
}
