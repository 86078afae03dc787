//! Agglomeration of micro-communities that were found on several machines: each adds the rows of its own, and one of them merges all.

use super::PartGraph;
use crate::cluster::{
    self, Agglomeration, Boundary, CountByBoundaries, CutQuality, Group, GroupRow, LocalDensity, MergeTree,
    group_rows, merge_rows,
};
use crate::error::{Error, Result};
use crate::progress::Run;

/// How often levels are smoothed.
pub const SMOOTHINGS: usize = cluster::SMOOTHINGS;

/// The inverse dimension around each node and its level before smoothing, from a table of the distances to its `k` neighbors.
pub fn unsmoothed_density(distances: &[f64], k: usize) -> (Vec<f64>, Vec<f64>) {
    cluster::unsmoothed_density(distances, k)
}

/// The best of several cuts into as many clusters; `None` if there is none.
pub fn best_cut(cuts: &[CutQuality]) -> Option<usize> {
    cluster::best_of(cuts)
}

/// The micro-communities of a machine, by their numbers among those of all machines, and their boundaries, as arrays.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GroupShare {
    /// Number of nodes, volume, sum of the inverse dimensions and mean level of each group, one after the other.
    pub groups: Vec<[f64; 4]>,
    /// Where the boundaries of each group begin, and where those of the last one end.
    pub offsets: Vec<u64>,
    /// The groups beside each group, ascending.
    pub beside: Vec<u32>,
    /// The weight of each boundary, and the sum of its weights, each times the mean level of its ends.
    pub boundaries: Vec<[f64; 2]>,
}

impl GroupShare {
    /// The groups of a machine, which have the numbers `first`, `first` + 1, …, of `n_groups` in all. `labels`, `levels` and `inverse_dimension`
    /// are by place; the last counts for own nodes only.
    pub fn new(
        graph: &PartGraph,
        labels: &[u32],
        (first, n_groups): (u32, usize),
        levels: &[f64],
        inverse_dimension: &[f64],
    ) -> Result<Self> {
        for received in [labels.len(), levels.len(), inverse_dimension.len()] {
            if received != graph.ids().len() {
                return Err(Error::Length { what: "values of nodes", expected: graph.ids().len(), received });
            }
        }
        let own = graph.own().iter().map(|&place| labels[place as usize]);
        let Some(last) = own.clone().max() else { return Ok(Self { offsets: vec![0], ..Self::default() }) };
        if let Some(row) = labels.iter().position(|&label| label as usize >= n_groups) {
            return Err(Error::BadLabel { row, label: labels[row], n_classes: n_groups });
        }
        if own.clone().any(|label| label < first) {
            let rule = "an own node is in a group of another machine";
            return Err(Error::BadStructure { row: first as usize, rule });
        }
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); (last - first) as usize + 1];
        graph.own().iter().zip(own).for_each(|(&place, label)| members[(label - first) as usize].push(place));
        let density = LocalDensity { inverse_dimension: inverse_dimension.to_vec(), level: levels.to_vec() };
        let rows = group_rows(graph.rows(), labels, n_groups, Some(&density), first, &members);
        let mut share = Self { offsets: vec![0], ..Self::default() };
        for (group, boundaries) in rows {
            share.groups.push([group.size, group.volume, group.inverse_dimension, group.peak]);
            for (other, boundary) in boundaries {
                share.beside.push(other);
                share.boundaries.push([boundary.weight, boundary.level]);
            }
            share.offsets.push(share.beside.len() as u64);
        }
        Ok(share)
    }

    fn rows(&self) -> impl Iterator<Item = GroupRow> + '_ {
        let rows = self.groups.iter().zip(self.offsets.windows(2));
        rows.map(|(&[size, volume, inverse_dimension, peak], row)| {
            let row = row[0] as usize..row[1] as usize;
            let boundaries = self.beside[row.clone()].iter().zip(&self.boundaries[row]);
            let boundary = |(&other, &[weight, level]): (&u32, &[f64; 2])| {
                (other, Boundary { weight, level, ..Boundary::default() })
            };
            let group = Group { size, volume, inverse_dimension, peak, ..Group::default() };
            (group, boundaries.map(boundary).collect())
        })
    }
}

/// The merge trees of all micro-communities.
#[derive(Debug, Clone, PartialEq)]
pub struct MergeTrees(Agglomeration);

/// One of both trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeKind {
    /// Merged with vetoes.
    Resistance,
    /// Merged by linkage alone.
    Linkage,
}

impl MergeTrees {
    /// From the groups of all machines, in their order.
    pub fn new(shares: &[GroupShare], run: &Run<'_>) -> Result<Self> {
        let rows: Vec<GroupRow> = shares.iter().flat_map(GroupShare::rows).collect();
        if let Some(row) = (0..rows.len()).find(|&a| !are_mutual(&rows, a)) {
            return Err(Error::BadStructure { row, rule: "a boundary is known to one of its groups only" });
        }
        merge_rows(rows, run).map(Self)
    }

    fn tree(&self, kind: TreeKind) -> &MergeTree {
        match kind {
            TreeKind::Resistance => &self.0.by_resistance,
            TreeKind::Linkage => &self.0.by_linkage,
        }
    }

    /// The number of clusters that the boundaries suggest.
    pub fn count(&self) -> CountByBoundaries {
        CountByBoundaries::new(&[&self.0.by_resistance])
    }

    /// The group of each micro-community when so many are left; `None` if the tree never has so many.
    pub fn cut(&self, kind: TreeKind, n_groups: usize) -> Option<Vec<u32>> {
        Some(self.tree(kind).cut(n_groups)?.to_vec())
    }
}

/// Whether every boundary of a group with a higher one is known to that, too.
fn are_mutual(rows: &[GroupRow], a: usize) -> bool {
    let knows = |row: &GroupRow, b: usize| row.1.binary_search_by_key(&(b as u32), |beside| beside.0).is_ok();
    rows[a].1.iter().all(|&(b, _)| rows.get(b as usize).is_some_and(|row| b as usize != a && knows(row, a)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::{Edges, Symmetrize};
    use crate::generators::uneven_blobs;
    use crate::graph::SparseGraph;
    use crate::labels::Labels;
    use crate::neighbors::{NeighborGraph, Space, nearest_neighbors};

    const N: usize = 700;
    const GROUPS: u32 = 24;

    fn graph() -> (NeighborGraph, SparseGraph) {
        let points = uneven_blobs(N, 3, 4, 1).unwrap().points;
        let space = Space::from_points(points, crate::distance::Metric::Euclidean).unwrap();
        let neighbors = nearest_neighbors(&space, 15, &Run::new(0)).unwrap();
        let edges = Edges::from_neighbors(&neighbors, 15, Symmetrize::Union);
        let weights = edges.map(|_, i, j| (-space.distance(i as usize, j as usize)).exp().max(1e-6));
        (neighbors, SparseGraph::from_edges(&edges, &weights).unwrap())
    }

    /// What one machine of several has: every `n_machines`-th node.
    fn part(graph: &SparseGraph, n_machines: u32, machine: u32) -> PartGraph {
        let own: Vec<u32> = (0..N as u32).filter(|id| id % n_machines == machine).collect();
        let (mut offsets, mut targets, mut weights) = (vec![0], Vec::new(), Vec::new());
        for &id in &own {
            targets.extend(graph.row(id as usize).map(|(other, _)| other));
            weights.extend(graph.row(id as usize).map(|(_, weight)| weight));
            offsets.push(targets.len() as u64);
        }
        PartGraph::new(&own, &offsets, &targets, &weights).unwrap()
    }

    /// Groups that lie within machines, numbered machine by machine.
    fn group_of(id: u32, n_machines: u32) -> u32 {
        let per_machine = GROUPS / n_machines;
        (id % n_machines) * per_machine + (id / n_machines) % per_machine
    }

    #[test]
    fn several_machines_merge_what_one_does() {
        let (neighbors, graph) = graph();
        let distances: Vec<f64> = (0..N).flat_map(|i| neighbors.distances(i).to_vec()).collect();
        let whole = LocalDensity::new(&neighbors, &graph);
        for n_machines in [1, 2, 4] {
            let parts: Vec<PartGraph> =
                (0..n_machines).map(|machine| part(&graph, n_machines, machine)).collect();
            let (inverse_dimension, mut levels) = unsmoothed_density(&distances, 15);
            for _ in 0..SMOOTHINGS {
                let before = levels.clone();
                for part in &parts {
                    let known: Vec<f64> = part.ids().iter().map(|&id| before[id as usize]).collect();
                    let places = part.own().iter().map(|&place| part.ids()[place as usize]);
                    places
                        .zip(part.smoothed(&known).unwrap())
                        .for_each(|(id, level)| levels[id as usize] = level);
                }
            }
            assert_eq!((&inverse_dimension, &levels), (&whole.inverse_dimension, &whole.level));

            let shares: Vec<GroupShare> = parts
                .iter()
                .zip(0..)
                .map(|(part, machine)| {
                    let of = |values: &[f64]| -> Vec<f64> {
                        part.ids().iter().map(|&id| values[id as usize]).collect()
                    };
                    let labels: Vec<u32> = part.ids().iter().map(|&id| group_of(id, n_machines)).collect();
                    let numbers = (machine * (GROUPS / n_machines), GROUPS as usize);
                    GroupShare::new(part, &labels, numbers, &of(&levels), &of(&inverse_dimension)).unwrap()
                })
                .collect();
            let trees = MergeTrees::new(&shares, &Run::new(0)).unwrap();

            let labels = (0..N as u32).map(|id| group_of(id, n_machines)).collect();
            let labels = Labels::new(labels, GROUPS as usize).unwrap();
            let members = (0..GROUPS)
                .map(|group| (0..N as u32).filter(|&id| labels[id as usize] == group).collect())
                .collect::<Vec<Vec<u32>>>();
            let rows = group_rows(&graph, &labels, GROUPS as usize, Some(&whole), 0, &members);
            let expected = MergeTrees(merge_rows(rows, &Run::new(0)).unwrap());
            assert!(trees == expected, "{n_machines} machines");
        }
    }

    #[test]
    fn shares_that_do_not_match_are_refused() {
        let share = GroupShare {
            groups: vec![[1.0, 1.0, 0.5, 0.0]],
            offsets: vec![0, 1],
            beside: vec![1],
            boundaries: vec![[1.0, 0.0]],
        };
        let alone = GroupShare { groups: share.groups.clone(), offsets: vec![0, 0], ..GroupShare::default() };
        assert!(MergeTrees::new(&[share.clone(), alone], &Run::new(0)).is_err());
        assert!(MergeTrees::new(&[share], &Run::new(0)).is_err());
        let (_, graph) = graph();
        let part = part(&graph, 2, 1);
        let zeros = vec![0.0; part.ids().len()];
        let labels = vec![3; part.ids().len()];
        assert!(
            GroupShare::new(&part, &labels, (4, 9), &zeros, &zeros).is_err(),
            "a group of another machine"
        );
        assert!(GroupShare::new(&part, &labels, (3, 3), &zeros, &zeros).is_err(), "no such group");
        assert!(GroupShare::new(&part, &labels, (3, 4), &zeros[1..], &zeros).is_err());
    }
}
