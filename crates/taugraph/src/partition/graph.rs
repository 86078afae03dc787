//! The graph as one machine sees it: the edges of its own nodes, and the other ends in its halo.

use crate::cluster::{cut_sums, micro_communities, move_nodes, smoothed};
use crate::error::{Error, Result};
use crate::graph::{Components, SparseGraph};
use crate::progress::Run;

/// The edges of a machine's own nodes. Values of nodes are given and returned in the order of [`PartGraph::ids`].
#[derive(Debug, Clone, PartialEq)]
pub struct PartGraph {
    ids: Vec<u32>,
    is_own: Vec<bool>,
    own: Vec<u32>,
    /// The rows of own nodes, by places; those of the halo are empty.
    rows: SparseGraph,
}

impl PartGraph {
    /// From the own nodes, ascending, and their edges as compressed rows with ascending ids of the other ends. Weights of 0 are dropped.
    pub fn new(own: &[u32], offsets: &[u64], targets: &[u32], weights: &[f64]) -> Result<Self> {
        for (what, expected, received) in [
            ("offsets of edges", own.len() + 1, offsets.len()),
            ("weights of edges", targets.len(), weights.len()),
        ] {
            if expected != received {
                return Err(Error::Length { what, expected, received });
            }
        }
        let mut ids = [own, targets].concat();
        ids.sort_unstable();
        ids.dedup();
        let place = |id: &u32| ids.binary_search(id).expect("every end is among the ids") as u32;
        let places: Vec<u32> = own.iter().map(place).collect();
        let mut is_own = vec![false; ids.len()];
        let mut row_offsets = vec![0; ids.len() + 1];
        for (&place, row) in places.iter().zip(offsets.windows(2)) {
            is_own[place as usize] = true;
            row_offsets[place as usize + 1] = row[1] - row[0];
        }
        for row in 0..ids.len() {
            row_offsets[row + 1] += row_offsets[row];
        }
        let targets = targets.iter().map(place).collect();
        let rows = SparseGraph::of_own_rows(row_offsets, targets, weights.to_vec())?;
        Ok(Self { is_own, own: places, rows, ids })
    }

    /// The own nodes and those that they have edges to, ascending.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The places of the own nodes.
    pub fn own(&self) -> &[u32] {
        &self.own
    }

    fn check_values(&self, what: &'static str, received: usize) -> Result<()> {
        match self.ids.len() {
            expected if expected != received => Err(Error::Length { what, expected, received }),
            _ => Ok(()),
        }
    }

    fn check_labels(&self, labels: &[u32], n_classes: usize) -> Result<()> {
        self.check_values("labels of nodes", labels.len())?;
        crate::labels::Labels::new(labels.to_vec(), n_classes).map(|_| ())
    }

    fn of_own<T: Copy>(&self, values: &[T]) -> Vec<T> {
        self.own.iter().map(|&place| values[place as usize]).collect()
    }

    /// The graph of the own nodes, without the edges to others.
    fn inner(&self) -> Result<SparseGraph> {
        let mut inner_place = vec![u32::MAX; self.ids.len()];
        (0..).zip(&self.own).for_each(|(inner, &place)| inner_place[place as usize] = inner);
        let (mut offsets, mut ids, mut weights) = (vec![0], Vec::new(), Vec::new());
        for &place in &self.own {
            for (other, weight) in self.rows.row(place as usize) {
                if self.is_own[other as usize] {
                    ids.push(inner_place[other as usize]);
                    weights.push(weight);
                }
            }
            offsets.push(ids.len() as u64);
        }
        SparseGraph::new(offsets, ids, weights)
    }

    /// The component of each own node in the graph of the own nodes, numbered by their lowest node.
    pub fn components(&self) -> Result<Vec<u32>> {
        Ok(self.inner()?.components().of_nodes().to_vec())
    }

    /// A micro-community for each own node, found among the own nodes: at least three for each of `n_clusters`, if there are that many parts worth
    /// telling apart.
    pub fn micro_communities(&self, n_clusters: usize, run: &Run<'_>) -> Result<Vec<u32>> {
        Ok(micro_communities(&self.inner()?, n_clusters, 0, run)?.to_vec())
    }

    /// Levels of the own nodes, smoothed once over the graph.
    pub fn smoothed(&self, levels: &[f64]) -> Result<Vec<f64>> {
        self.check_values("levels of nodes", levels.len())?;
        Ok(self.of_own(&smoothed(&self.rows, levels)))
    }

    /// The rows of graph and labels that agglomeration needs.
    pub(super) fn rows(&self) -> &SparseGraph {
        &self.rows
    }

    /// Moves own nodes to the cluster with the largest sum of weights to it, while others stay; the clusters of the own nodes, and how often
    /// one moved.
    ///
    /// A cluster keeps its last own node if `keeps` says so: one machine does for each cluster, so that none vanishes.
    pub fn moved(&self, clusters: &[u32], keeps: &[bool]) -> Result<(Vec<u32>, usize)> {
        self.check_labels(clusters, keeps.len())?;
        let mut sizes: Vec<usize> = keeps.iter().map(|&keeps| usize::from(!keeps)).collect();
        self.own.iter().for_each(|&place| sizes[clusters[place as usize] as usize] += 1);
        let mut clusters = clusters.to_vec();
        let n_moves = move_nodes(&self.rows, &mut clusters, &mut sizes, |place| !self.is_own[place]);
        Ok((self.of_own(&clusters), n_moves))
    }

    /// What the own nodes add to the weights within each cluster and to its volume.
    pub fn cut_sums(&self, clusters: &[u32], n_clusters: usize) -> Result<(Vec<f64>, Vec<f64>)> {
        self.check_labels(clusters, n_clusters)?;
        Ok(cut_sums(&self.rows, clusters, n_clusters))
    }
}

/// The components of nodes that are joined by pairs, numbered by their lowest node.
pub fn components_of_pairs(n_nodes: usize, pairs: impl Iterator<Item = (u32, u32)>) -> Vec<u32> {
    Components::of_pairs(n_nodes, pairs).of_nodes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes 2 and 5 of a path 1 – 2 – 5 – 7.
    fn part() -> PartGraph {
        PartGraph::new(&[2, 5], &[0, 2, 4], &[1, 5, 2, 7], &[0.5, 1.0, 1.0, 2.0]).unwrap()
    }

    #[test]
    fn the_halo_has_no_rows() {
        let part = part();
        assert_eq!((part.ids(), part.own()), (&[1, 2, 5, 7][..], &[1, 2][..]));
        assert_eq!(part.components().unwrap(), [0, 0]);
        assert_eq!(part.inner().unwrap().n_edges(), 1);
        // ½ℓ + ½·(weighted mean of the neighbors' levels).
        assert_eq!(part.smoothed(&[3.0, 0.0, 6.0, 0.0]).unwrap(), [0.5 * (0.5 * 3.0 + 6.0) / 1.5, 3.0]);
        assert_eq!(part.cut_sums(&[0, 0, 1, 1], 2).unwrap(), (vec![1.0 - 0.5, 2.0], vec![1.5, 3.0]));
    }

    #[test]
    fn nodes_move_but_one_machine_keeps_the_last_of_a_cluster() {
        let part = part();
        assert_eq!(part.moved(&[0, 0, 1, 2], &[false; 3]).unwrap(), (vec![2, 2], 3));
        assert_eq!(part.moved(&[0, 0, 1, 2], &[true; 3]).unwrap(), (vec![0, 1], 0));
        assert_eq!(part.moved(&[0, 0, 1, 2], &[false, true, false]).unwrap(), (vec![1, 2], 2));
        assert!(
            part.moved(&[0, 0, 1], &[true; 3]).is_err() && part.moved(&[0, 0, 1, 3], &[true; 3]).is_err()
        );
    }

    #[test]
    fn a_machine_without_edges() {
        let alone = PartGraph::new(&[4, 9], &[0; 3], &[], &[]).unwrap();
        assert_eq!(alone.components().unwrap(), [0, 1]);
        assert_eq!(alone.micro_communities(1, &Run::new(0)).unwrap(), [0, 1]);
        assert!(PartGraph::new(&[4], &[0, 1], &[4], &[1.0]).is_err(), "linked to itself");
        assert!(PartGraph::new(&[4], &[0], &[], &[]).is_err(), "no offsets");
    }
}
