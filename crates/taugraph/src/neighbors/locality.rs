//! Locality order: nearby points are consecutive, so that a loop over them finds most of what it
//! needs in the cache.

use super::NeighborGraph;

/// Points per block: their neighbors and their neighbors' neighbors fit in a second-level cache.
const BLOCK: usize = 128;

impl NeighborGraph {
    /// All points, in blocks of nearby ones. A block grows breadth-first from one point along the neighbors; the next starts at
    /// a neighbor of the most recent point whose neighbors have not all been visited.
    pub(crate) fn locality_order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = Vec::with_capacity(self.n);
        let mut seen = vec![false; self.n];
        // Points in the order whose neighbors may not all be in it yet.
        let mut open: Vec<u32> = Vec::new();
        for point in 0..self.n as u32 {
            self.add_block(point, &mut order, &mut seen, &mut open);
            while let Some(last) = open.pop() {
                for &beside in self.ids(last as usize) {
                    self.add_block(beside, &mut order, &mut seen, &mut open);
                }
            }
        }
        order
    }

    /// Adds a block around a point that has not been visited.
    fn add_block(&self, first: u32, order: &mut Vec<u32>, seen: &mut [bool], open: &mut Vec<u32>) {
        if std::mem::replace(&mut seen[first as usize], true) {
            return;
        }
        let begin = order.len();
        order.push(first);
        let mut next = begin;
        while next < order.len() && order.len() - begin < BLOCK {
            let near = self.ids(order[next] as usize);
            next += 1;
            order.extend(near.iter().filter(|&&id| !std::mem::replace(&mut seen[id as usize], true)));
        }
        open.extend_from_slice(&order[next..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_comes_once_and_close_ones_together() {
        // A ring in which neighbors have distant ids.
        let (n, step) = (1009u32, 400u32);
        let ids: Vec<u32> = (0..n).flat_map(|i| [(i + step) % n, (i + n - step) % n]).collect();
        let graph = NeighborGraph::new(n as usize, 2, ids, vec![1.0; 2 * n as usize]).unwrap();
        let order = graph.locality_order();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..n).collect::<Vec<_>>());
        // Within a block, each point but the first is a neighbor of an earlier one.
        let mut place = vec![0; n as usize];
        order.iter().enumerate().for_each(|(at, &point)| place[point as usize] = at);
        let linked = order.iter().enumerate().filter(|&(at, &point)| {
            graph
                .ids(point as usize)
                .iter()
                .any(|&id| place[id as usize] < at && at - place[id as usize] < 2 * BLOCK)
        });
        assert!(linked.count() > order.len() * 9 / 10);
    }
}
