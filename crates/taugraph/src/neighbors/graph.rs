//! The k nearest neighbors of each point, as a graph.

use crate::error::{Error, Result};
use crate::points::check_count;

/// The k nearest neighbors of each point, nearest first; the point itself is not among them.
#[derive(Debug, Clone, PartialEq)]
pub struct NeighborGraph {
    pub(super) n: usize,
    pub(super) k: usize,
    pub(super) ids: Vec<u32>,
    pub(super) distances: Vec<f64>,
}

impl NeighborGraph {
    /// Checks the user's own neighbors: `k` for each point, row by row, nearest first.
    pub fn new(n: usize, k: usize, ids: Vec<u32>, distances: Vec<f64>) -> Result<Self> {
        if n == 0 {
            return Err(Error::Empty { what: "rows" });
        }
        check_count(n)?;
        if k == 0 || k >= n {
            return Err(Error::TooFewPoints { needed: k, distinct: n });
        }
        for (what, received) in [("neighbor ids", ids.len()), ("neighbor distances", distances.len())] {
            if received != n * k {
                return Err(Error::Length { what, expected: n * k, received });
            }
        }
        for (row, (ids, distances)) in ids.chunks_exact(k).zip(distances.chunks_exact(k)).enumerate() {
            for (&j, &value) in ids.iter().zip(distances) {
                if !(value.is_finite() && value >= 0.0) {
                    return Err(Error::BadDistance { i: row, j: j as usize, value });
                }
            }
            let bad = |rule| Err(Error::BadStructure { row, rule });
            let mut sorted = ids.to_vec();
            sorted.sort_unstable();
            if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
                return bad("a neighbor is listed twice");
            }
            if sorted.last().is_some_and(|&id| id as usize >= n) {
                return bad("a neighbor's id is not below the number of points");
            }
            if sorted.binary_search(&(row as u32)).is_ok() {
                return bad("a point is its own neighbor");
            }
            if distances.windows(2).any(|pair| pair[0] > pair[1]) {
                return bad("the neighbors are not sorted by distance");
            }
        }
        Ok(Self { n, k, ids, distances })
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Never: a graph without points is refused.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Neighbors of each point.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Ids of the neighbors of `i`, nearest first.
    #[inline]
    pub fn ids(&self, i: usize) -> &[u32] {
        &self.ids[i * self.k..(i + 1) * self.k]
    }

    /// Distances to the neighbors of `i`, ascending.
    #[inline]
    pub fn distances(&self, i: usize) -> &[f64] {
        &self.distances[i * self.k..(i + 1) * self.k]
    }

    /// The distance between `i` and `j` if one is among the other's neighbors.
    pub fn distance_between(&self, i: usize, j: usize) -> Option<f64> {
        let find = |i: usize, j: usize| {
            self.ids(i).iter().position(|&id| id as usize == j).map(|t| self.distances(i)[t])
        };
        find(i, j).or_else(|| find(j, i))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_neighbors_are_checked() {
        let rule = |ids: Vec<u32>, distances: Vec<f64>| match NeighborGraph::new(3, 1, ids, distances) {
            Err(Error::BadStructure { rule, .. }) => rule,
            other => panic!("{other:?}"),
        };
        assert!(rule(vec![0, 0, 0], vec![1.0; 3]).contains("its own"));
        assert!(rule(vec![1, 0, 9], vec![1.0; 3]).contains("below"));
        assert!(matches!(
            NeighborGraph::new(3, 1, vec![1, 0, 0], vec![f64::NAN; 3]),
            Err(Error::BadDistance { .. })
        ));
        let twice = NeighborGraph::new(3, 2, vec![1, 1, 0, 2, 0, 1], vec![1.0; 6]);
        assert!(matches!(twice, Err(Error::BadStructure { row: 0, .. })));
    }
}
