//! The candidate edges of a machine's own nodes, from their neighbors and from those who have them as neighbors.

use crate::edges::Symmetrize;
use crate::error::{Error, Result};

/// A node that has one of the own nodes among its neighbors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReverseNeighbor {
    /// The own node.
    pub own: u32,
    /// The node whose neighbor it is.
    pub by: u32,
    /// Their distance.
    pub distance: f64,
}

/// The edges of each own node in both directions, as compressed rows, the other ends ascending.
#[derive(Debug, Clone, PartialEq)]
pub struct IncidentEdges {
    /// Where the edges of each own node begin, and where those of the last one end.
    pub offsets: Vec<u64>,
    /// The other ends.
    pub targets: Vec<u32>,
    /// Lengths of the edges.
    pub distances: Vec<f64>,
}

impl IncidentEdges {
    /// From the `k` neighbors of each own node, row by row, and from all who have one of them as a neighbor.
    pub fn new(
        own: &[u32],
        k: usize,
        neighbors: &[u32],
        distances: &[f64],
        reverse: &[ReverseNeighbor],
        symmetrize: Symmetrize,
    ) -> Result<Self> {
        for received in [neighbors.len(), distances.len()] {
            if received != own.len() * k {
                return Err(Error::Length { what: "neighbors", expected: own.len() * k, received });
            }
        }
        let mut by_own: Vec<(u32, u32, f64)> = Vec::with_capacity(reverse.len());
        for entry in reverse {
            let Ok(place) = own.binary_search(&entry.own) else {
                let rule = "a reverse neighbor refers to a node of another machine";
                return Err(Error::BadStructure { row: entry.own as usize, rule });
            };
            by_own.push((place as u32, entry.by, entry.distance));
        }
        by_own.sort_unstable_by_key(|&(place, by, _)| (place, by));
        let mut rest = &by_own[..];
        let mut edges = Self { offsets: vec![0], targets: Vec::new(), distances: Vec::new() };
        let mut both: Vec<(u32, bool, f64)> = Vec::new();
        for place in 0..own.len() {
            let chosen = neighbors[place * k..(place + 1) * k].iter().zip(&distances[place * k..]);
            let (choosing, after) = rest.split_at(rest.partition_point(|entry| entry.0 as usize == place));
            rest = after;
            both.clear();
            both.extend(chosen.map(|(&other, &distance)| (other, true, distance)));
            both.extend(choosing.iter().map(|&(_, other, distance)| (other, false, distance)));
            both.sort_unstable_by_key(|&(other, is_chosen, _)| (other, is_chosen));
            for same in both.chunk_by(|a, b| a.0 == b.0) {
                let is_mutual = same.first().map(|entry| entry.1) != same.last().map(|entry| entry.1);
                if symmetrize == Symmetrize::Union || is_mutual {
                    edges.targets.push(same[0].0);
                    edges.distances.push(same[0].2);
                }
            }
            edges.offsets.push(edges.targets.len() as u64);
        }
        Ok(edges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::Edges;
    use crate::neighbors::{NeighborGraph, Space, nearest_neighbors};
    use crate::points::Points;
    use crate::progress::Run;
    use crate::random::{Stage, Stream};

    fn neighbors(n: usize, k: usize) -> NeighborGraph {
        let mut draws = Stream::new(6, Stage::Generator).at(0, 0);
        let points = Points::new((0..n * 3).map(|_| draws.normal()).collect(), 3).unwrap();
        let space = Space::from_points(points, crate::distance::Metric::Euclidean).unwrap();
        nearest_neighbors(&space, k, &Run::new(0)).unwrap()
    }

    #[test]
    fn they_are_the_edges_of_one_machine() {
        let (n, k, found) = (90, 5, neighbors(90, 5));
        for symmetrize in [Symmetrize::Union, Symmetrize::Mutual] {
            let edges = Edges::from_neighbors(&found, k, symmetrize);
            for n_machines in [1, 4] {
                for machine in 0..n_machines {
                    let own: Vec<u32> = (0..n as u32).filter(|id| id % n_machines == machine).collect();
                    let rows = |of: &dyn Fn(u32) -> Vec<f64>| own.iter().flat_map(|&id| of(id)).collect();
                    let ids: Vec<u32> = own.iter().flat_map(|&id| found.ids(id as usize).to_vec()).collect();
                    let distances: Vec<f64> = rows(&|id| found.distances(id as usize).to_vec());
                    let all = (0..n).flat_map(|by| {
                        let of_node = found.ids(by).iter().zip(found.distances(by));
                        of_node.map(move |(&own, &distance)| ReverseNeighbor { own, by: by as u32, distance })
                    });
                    // In any order.
                    let reverse: Vec<_> =
                        all.filter(|entry| entry.own % n_machines == machine).rev().collect();
                    let here = IncidentEdges::new(&own, k, &ids, &distances, &reverse, symmetrize).unwrap();
                    for (place, &id) in own.iter().enumerate() {
                        let row = here.offsets[place] as usize..here.offsets[place + 1] as usize;
                        let expected: Vec<u32> = edges.incident(id as usize).map(|edge| edge.0).collect();
                        assert_eq!(&here.targets[row.clone()], expected);
                        for (&other, &distance) in here.targets[row.clone()].iter().zip(&here.distances[row])
                        {
                            assert_eq!(found.distance_between(id as usize, other as usize), Some(distance));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn strangers_are_refused() {
        let strange = ReverseNeighbor { own: 4, by: 1, distance: 1.0 };
        assert!(IncidentEdges::new(&[1, 3], 1, &[3, 1], &[1.0; 2], &[strange], Symmetrize::Union).is_err());
        assert!(IncidentEdges::new(&[1, 3], 2, &[3, 1], &[1.0; 2], &[], Symmetrize::Union).is_err());
    }
}
