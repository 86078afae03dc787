//! Exact duplicates form one node of the graph; afterwards every copy gets the result of its node.
//!
//! Without this, a point with k copies has local scale 0 and affinities collapse
//! (28 % of the rows of Breast Cancer Wisconsin are copies: NMI .79 with, .04 to .11 without collapsing).

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{Hash, Hasher};

use rayon::prelude::*;

use super::{Points, SparsePoints, Value, with_values};

/// Which rows are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicates {
    node_of_row: Vec<u32>,
    row_of_node: Vec<u32>,
}

/// Mixes the bits of a row (the steps of splitmix64, Steele, Lea, Flood 2014). Adding 0 turns −0 into +0: they are the same
/// coordinate.
fn mixed<T: Value>(row: &[T]) -> u64 {
    row.iter().fold(row.len() as u64, |state, &value| {
        let value: f64 = value.into();
        let mut mixed = (state ^ (value + 0.0).to_bits()).wrapping_add(0x9E37_79B9_7F4A_7C15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    })
}

impl Duplicates {
    /// Groups equal rows; the node of a group is named after its first row, in row order.
    pub fn of_points(points: &Points) -> Self {
        // Equal rows have equal hashes, so only rows with equal hashes are compared.
        let mut order: Vec<(u64, u32)> = (0..points.len() as u32)
            .into_par_iter()
            .map(|row| (with_values!(points.row(row as usize), values => mixed(values)), row))
            .collect();
        order.par_sort_unstable();
        let mut first_of_row: Vec<u32> = (0..points.len() as u32).collect();
        for alike in order.chunk_by(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1) {
            // Nearly always a single row, however many copies there are.
            let mut firsts: Vec<u32> = Vec::new();
            for &(_, row) in alike {
                match firsts.iter().find(|&&first| points.row(first as usize) == points.row(row as usize)) {
                    Some(&first) => first_of_row[row as usize] = first,
                    None => firsts.push(row),
                }
            }
        }
        drop(order);
        let mut row_of_node = Vec::new();
        let mut node_of_row = first_of_row;
        for row in 0..node_of_row.len() {
            // A first row precedes its copies, so its node is known.
            let first = node_of_row[row] as usize;
            node_of_row[row] = if first == row {
                row_of_node.push(row as u32);
                row_of_node.len() as u32 - 1
            } else {
                node_of_row[first]
            };
        }
        Self { node_of_row, row_of_node }
    }

    /// Groups equal rows of sparse points.
    pub fn of_sparse(points: &SparsePoints) -> Self {
        Self::of_keys((0..points.len()).map(|row| SparseRow(points.row(row))))
    }

    fn of_keys<K: Eq + Hash>(keys: impl ExactSizeIterator<Item = K>) -> Self {
        let mut node_of_key: HashMap<K, u32> = HashMap::with_capacity(keys.len());
        let mut row_of_node = Vec::new();
        let node_of_row = keys
            .enumerate()
            .map(|(row, key)| match node_of_key.entry(key) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => {
                    row_of_node.push(row as u32);
                    *new.insert(row_of_node.len() as u32 - 1)
                }
            })
            .collect();
        Self { node_of_row, row_of_node }
    }

    /// Groups rows at distance 0: each row joins the first earlier node at distance 0 from it.
    pub fn of_distances(n: usize, distance: impl Fn(usize, usize) -> f64) -> Self {
        let mut row_of_node: Vec<u32> = Vec::new();
        let node_of_row = (0..n)
            .map(|row| {
                let known = row_of_node.iter().position(|&first| distance(row, first as usize) == 0.0);
                known.unwrap_or_else(|| {
                    row_of_node.push(row as u32);
                    row_of_node.len() - 1
                }) as u32
            })
            .collect();
        Self { node_of_row, row_of_node }
    }

    /// Every row is its own node.
    pub fn none(n: usize) -> Self {
        let every: Vec<u32> = (0..n as u32).collect();
        Self { node_of_row: every.clone(), row_of_node: every }
    }

    /// Number of distinct points.
    pub fn n_nodes(&self) -> usize {
        self.row_of_node.len()
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.node_of_row.len()
    }

    /// How many rows are copies of an earlier one.
    pub fn n_copies(&self) -> usize {
        self.n_rows() - self.n_nodes()
    }

    /// The node of each row.
    pub fn node_of_row(&self) -> &[u32] {
        &self.node_of_row
    }

    /// The first row of each node, ascending.
    pub fn row_of_node(&self) -> &[u32] {
        &self.row_of_node
    }

    /// Copies values of nodes to their rows.
    ///
    /// # Panics
    /// If there is not one value for each node.
    pub fn restore<T: Clone>(&self, of_nodes: &[T]) -> Vec<T> {
        assert_eq!(of_nodes.len(), self.n_nodes(), "one value for each node");
        self.node_of_row.iter().map(|&node| of_nodes[node as usize].clone()).collect()
    }
}

/// Columns and values of a sparse row. The values are neither NaN nor zero, so equal ones have equal bits.
#[derive(PartialEq)]
struct SparseRow<'a>((&'a [u32], &'a [f64]));

impl Eq for SparseRow<'_> {}

impl Hash for SparseRow<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (columns, values) = self.0;
        columns.hash(state);
        values.iter().for_each(|value| state.write_u64(value.to_bits()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_share_a_node_and_signed_zero_is_zero() {
        let points = Points::new(vec![0.0, 1.0, 5.0, 5.0, -0.0, 1.0, 5.0, 5.0, 2.0, 2.0], 2).unwrap();
        let duplicates = Duplicates::of_points(&points);
        assert_eq!(duplicates.node_of_row(), [0, 1, 0, 1, 2]);
        assert_eq!(duplicates.row_of_node(), [0, 1, 4]);
        assert_eq!(duplicates.n_copies(), 2);
        assert_eq!(duplicates.restore(&['a', 'b', 'c']), ['a', 'b', 'a', 'b', 'c']);
        let by_distance = Duplicates::of_distances(5, |i, j| {
            points.row(i).iter().zip(points.row(j).iter()).map(|(a, b)| (a - b).abs()).sum()
        });
        assert_eq!(by_distance, duplicates);
    }

    #[test]
    fn sparse_copies_share_a_node() {
        // Rows (1, 2), (0, 2), (1, 2), (1, 0), (2, 1), (0, 2).
        let columns = vec![0, 1, 1, 0, 1, 0, 0, 1, 1];
        let values = vec![1.0, 2.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0];
        let points = SparsePoints::new(2, vec![0, 2, 3, 5, 6, 8, 9], columns, values).unwrap();
        assert_eq!(Duplicates::of_sparse(&points).node_of_row(), [0, 1, 0, 2, 3, 1]);
    }
}
