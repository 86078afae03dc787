//! Neighbors in few columns: a k-d tree with bounding boxes.
//!
//! A subtree is skipped only if the distance to its box is *greater* than the worst distance found so far, so ties
//! are still seen and go to the lower index. The bound is computed by the same sum as the distance
//! itself, with no term larger, and so never exceeds it even after rounding.

use rayon::prelude::*;

use super::best::Best;
use super::scan::write_row;
use crate::distance::{SquareTransform, lane_sum, squared_euclidean};
use crate::error::Result;
use crate::points::{Numbers, Points};
use crate::progress::Run;

/// Points per leaf.
const LEAF: usize = 12;
/// Queries between two checks for cancellation.
const BLOCK: usize = 256;

/// A balanced tree over all points.
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// Lower corner and upper corner of each node, one after the other.
    boxes: Vec<f64>,
    /// Points in leaf order: nearby queries visit the same nodes.
    pub order: Vec<u32>,
    coordinates: Vec<f64>,
    n_columns: usize,
}

struct Node {
    begin: u32,
    end: u32,
    /// Index of the second child (the first follows its parent); 0 for a leaf.
    second: u32,
}

impl Tree {
    pub fn new(points: &Points) -> Self {
        let d = points.n_columns();
        let order: Vec<u32> = (0..points.len() as u32).collect();
        let mut tree =
            Tree { nodes: Vec::new(), boxes: Vec::new(), order, coordinates: Vec::new(), n_columns: d };
        tree.split(points, 0, points.len());
        tree.coordinates = tree.order.iter().flat_map(|&i| points.row(i as usize).iter()).collect();
        tree
    }

    fn split(&mut self, points: &Points, begin: usize, end: usize) {
        let d = self.n_columns;
        let index = self.nodes.len();
        self.nodes.push(Node { begin: begin as u32, end: end as u32, second: 0 });
        let (mut low, mut high) = (vec![f64::INFINITY; d], vec![f64::NEG_INFINITY; d]);
        for &i in &self.order[begin..end] {
            for (t, value) in points.row(i as usize).iter().enumerate() {
                low[t] = low[t].min(value);
                high[t] = high[t].max(value);
            }
        }
        let extent = |t: usize| high[t] - low[t];
        let widest = (0..d).fold(0, |best, t| if extent(t) > extent(best) { t } else { best });
        let spread = extent(widest);
        self.boxes.extend(low);
        self.boxes.extend(high);
        if end - begin > LEAF && spread > 0.0 {
            let middle = (end - begin) / 2;
            self.order[begin..end].select_nth_unstable_by(middle, |&a, &b| {
                let key = |i: u32| points.row(i as usize).get(widest);
                key(a).total_cmp(&key(b)).then(a.cmp(&b))
            });
            self.split(points, begin, begin + middle);
            self.nodes[index].second = self.nodes.len() as u32;
            self.split(points, begin + middle, end);
        }
    }

    /// Squared distance from `query` to the box of a node: at most that to any point inside.
    #[inline]
    fn box_distance(&self, node: usize, query: &[f64]) -> f64 {
        let d = self.n_columns;
        let corners = &self.boxes[node * 2 * d..(node + 1) * 2 * d];
        lane_sum(d, |t| {
            let gap = (corners[t] - query[t]).max(query[t] - corners[d + t]).max(0.0);
            gap * gap
        })
    }

    /// Visits the points that may lie within the bound, nearer subtrees first.
    ///
    /// `visit(point, squared_distance)` returns the bound from then on; `skip(node)` may discard a whole subtree.
    pub fn search(
        &self,
        query: Numbers<'_>,
        bound: f64,
        skip: &impl Fn(usize) -> bool,
        visit: &mut impl FnMut(u32, f64) -> f64,
    ) {
        // A few columns, which are compared with many points: the copy costs nothing.
        let (query, mut bound) = (&*query.to_f64(), bound);
        self.descend(0, self.box_distance(0, query), query, &mut bound, skip, visit);
    }

    fn descend(
        &self,
        node: usize,
        nearest: f64,
        query: &[f64],
        bound: &mut f64,
        skip: &impl Fn(usize) -> bool,
        visit: &mut impl FnMut(u32, f64) -> f64,
    ) {
        if nearest > *bound || skip(node) {
            return;
        }
        let Node { begin, end, second } = self.nodes[node];
        if second == 0 {
            let d = self.n_columns;
            for position in begin as usize..end as usize {
                let squared = squared_euclidean(query, &self.coordinates[position * d..(position + 1) * d]);
                if squared <= *bound {
                    *bound = visit(self.order[position], squared);
                }
            }
            return;
        }
        let (first, second) = (node + 1, second as usize);
        let (to_first, to_second) = (self.box_distance(first, query), self.box_distance(second, query));
        let children = if to_first <= to_second {
            [(first, to_first), (second, to_second)]
        } else {
            [(second, to_second), (first, to_first)]
        };
        for (child, nearest) in children {
            self.descend(child, nearest, query, bound, skip, visit);
        }
    }

    /// A value for each node, bottom-up: `leaf` of a range of positions, then `join` of the children.
    pub fn fold<T: Copy>(&self, leaf: impl Fn(&[u32]) -> T, join: impl Fn(T, T) -> T) -> Vec<T> {
        let mut values: Vec<Option<T>> = vec![None; self.nodes.len()];
        for index in (0..self.nodes.len()).rev() {
            let node = &self.nodes[index];
            values[index] = Some(if node.second == 0 {
                leaf(&self.order[node.begin as usize..node.end as usize])
            } else {
                // Children come after their parent, so in reverse order they are done first.
                join(values[index + 1].expect("done"), values[node.second as usize].expect("done"))
            });
        }
        values.into_iter().map(|value| value.expect("every node is visited")).collect()
    }
}

/// Ids and distances of the `k` nearest of each point.
pub(super) fn nearest(
    points: &Points,
    transform: SquareTransform,
    k: usize,
    run: &Run<'_>,
) -> Result<(Vec<u32>, Vec<f64>)> {
    let tree = Tree::new(points);
    let found = nearest_in(&tree, points, &tree.order, true, transform, k, run)?;
    // Blocks follow the leaves, the result follows the rows.
    let n = points.len();
    let (mut ids, mut distances) = (vec![0; n * k], vec![0.0; n * k]);
    for (queries, (block_ids, block_distances)) in tree.order.chunks(BLOCK).zip(found) {
        for (row, &query) in queries.iter().enumerate() {
            let (from, to) = (row * k..(row + 1) * k, query as usize * k..(query as usize + 1) * k);
            ids[to.clone()].copy_from_slice(&block_ids[from.clone()]);
            distances[to].copy_from_slice(&block_distances[from]);
        }
    }
    Ok((ids, distances))
}

/// Ids and distances of the `k` nearest known points of each new one.
pub(super) fn nearest_of_new(
    known: &Points,
    new: &Points,
    transform: SquareTransform,
    k: usize,
    run: &Run<'_>,
) -> Result<(Vec<u32>, Vec<f64>)> {
    let rows: Vec<u32> = (0..new.len() as u32).collect();
    let found = nearest_in(&Tree::new(known), new, &rows, false, transform, k, run)?;
    let (ids, distances): (Vec<Vec<u32>>, Vec<Vec<f64>>) = found.into_iter().unzip();
    Ok((ids.concat(), distances.concat()))
}

/// Searches the tree for the rows `order` of `queries`, in blocks; known queries do not find themselves.
fn nearest_in(
    tree: &Tree,
    queries: &Points,
    order: &[u32],
    are_known: bool,
    transform: SquareTransform,
    k: usize,
    run: &Run<'_>,
) -> Result<Vec<(Vec<u32>, Vec<f64>)>> {
    let blocks = order.par_chunks(BLOCK).map(|rows| {
        run.check()?;
        let (mut ids, mut distances) = (vec![0; rows.len() * k], vec![0.0; rows.len() * k]);
        let mut best = Best::new(k);
        for (place, &query) in rows.iter().enumerate() {
            best.clear();
            tree.search(queries.row(query as usize), f64::INFINITY, &|_| false, &mut |id, squared| {
                if !(are_known && id == query) {
                    // Different squares can have the same square root: sort by the reported distance.
                    best.offer(transform.distance_at(squared), id);
                }
                best.bound().map_or(f64::INFINITY, |bound| transform.square_bound(bound))
            });
            let place = place * k..(place + 1) * k;
            write_row(best.pairs(), &mut ids[place.clone()], &mut distances[place]);
        }
        run.progress.advance(rows.len() as u64);
        Ok((ids, distances))
    });
    blocks.collect()
}
