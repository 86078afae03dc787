//! What a row of W is to predict: the row of a point like it.
//!
//! A net that is shown the row w_i and has to give it back learns to copy, and its output is the same at every τ. With the row w_k of
//! a random k ∈ {i} ∪ N(i) as the target, N(i) being the nearest neighbors of i, the best output is the conditional
//! (1−τ)-quantile of the similarities over the points like i: what the neighborhood estimator counts, in a parametric and
//! smoother form. Without neighbors the row is its own target, which is the paper read literally.

use super::matrix::AffinityMatrix;
use crate::error::{Result, require};
use crate::neighbors::NeighborGraph;
use crate::random::{Stage, Stream};

/// Among which rows the targets of each row are.
#[derive(Clone, Copy)]
pub(super) struct Targets<'a> {
    neighbors: &'a NeighborGraph,
    n_neighbors: usize,
    stream: Stream,
}

impl<'a> Targets<'a> {
    pub fn new(neighbors: &'a NeighborGraph, n_neighbors: usize, seed: u64) -> Result<Self> {
        let rule = "must be at most the neighbors known of each point";
        require(n_neighbors <= neighbors.k(), "target_neighbors", n_neighbors, rule)?;
        Ok(Self { neighbors, n_neighbors, stream: Stream::new(seed, Stage::Targets) })
    }

    /// Whether every row is its own target.
    pub fn are_own_rows(&self) -> bool {
        self.n_neighbors == 0
    }

    /// How many rows each target is drawn from.
    pub fn pool_size(&self) -> usize {
        self.n_neighbors + 1
    }

    /// One of the points like `node`: first itself, then its neighbors from near to far.
    pub fn member(&self, node: u32, place: usize) -> u32 {
        match place.checked_sub(1) {
            None => node,
            Some(place) => self.neighbors.ids(node as usize)[place],
        }
    }

    /// How many targets a pair has: those of either end, or itself alone.
    pub fn n_of_pair(&self) -> usize {
        if self.are_own_rows() { 1 } else { 2 * self.pool_size() }
    }

    /// The targets of a pair: w_kj for the points k like i, and w_ik for the points k like j.
    pub fn write_pair(&self, matrix: &AffinityMatrix, i: u32, j: u32, out: &mut [f64]) {
        if self.are_own_rows() {
            out[0] = matrix.get(i, j);
            return;
        }
        for (place, two) in out.chunks_exact_mut(2).enumerate() {
            two[0] = matrix.get(self.member(i, place), j);
            two[1] = matrix.get(i, self.member(j, place));
        }
    }

    /// A random one of them, another one in every epoch.
    pub fn draw(&self, node: u32, epoch: u32) -> u32 {
        match self.n_neighbors {
            0 => node,
            _ => self.member(node, self.stream.at(epoch, node).below(self.pool_size())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::Metric;
    use crate::generators::moons;
    use crate::neighbors::{Space, nearest_neighbors};
    use crate::progress::Run;

    #[test]
    fn targets_are_drawn_evenly_from_the_point_and_its_neighbors() {
        let points = moons(40, 0.1, 3).unwrap().points;
        let space = Space::from_points(points, Metric::Euclidean).unwrap();
        let neighbors = nearest_neighbors(&space, 6, &Run::new(0)).unwrap();
        assert!(Targets::new(&neighbors, 7, 1).is_err());
        let own = Targets::new(&neighbors, 0, 1).unwrap();
        assert!((0..40).all(|node| own.draw(node, 5) == node));
        let targets = Targets::new(&neighbors, 4, 1).unwrap();
        for node in [0, 17] {
            let mut counts = vec![0; 5];
            for epoch in 0..5000 {
                let target = targets.draw(node, epoch);
                let place = (0..5).find(|&place| targets.member(node, place) == target).unwrap();
                counts[place] += 1;
            }
            assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
        }
    }
}
