//! The symmetric sparse graph: the output of the pipeline and the input of everything that uses it.

mod components;

pub use components::Components;
pub(crate) use components::Joined;

use std::fmt;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use crate::edges::Edges;
use crate::error::{Error, Result};
use crate::parameter::choices;
use crate::points::check_count;
use crate::vectorized::largest;

choices! {
    /// How to treat a matrix whose entries (i, j) and (j, i) differ.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Asymmetry = "refuse" {
        /// Refuse it.
        "refuse" => Refuse,
        /// Replace both by their mean; an absent one counts as 0.
        "mean" => Mean,
        /// Replace both by the larger one.
        "larger" => Larger,
    }
}

/// What was changed in a matrix to make it a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Changes {
    /// Entries on the diagonal that were dropped.
    pub n_loops: usize,
    /// Pairs whose two entries differed.
    pub n_asymmetric: usize,
}

/// A symmetric graph with positive weights and no self-loops, in compressed rows.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseGraph {
    offsets: Vec<u64>,
    ids: Vec<u32>,
    weights: Vec<f64>,
    components: Found,
}

/// The connected components, computed on first use. They follow from the graph and take no part in comparisons.
#[derive(Clone, Default)]
struct Found(OnceLock<Arc<Components>>);

impl fmt::Debug for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

impl PartialEq for Found {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl SparseGraph {
    /// Checks the user's own compressed rows: ids ascending within a row, weights finite and at least 0,
    /// symmetric to the last bit, no self-loops. Zero weights are dropped.
    pub fn new(offsets: Vec<u64>, ids: Vec<u32>, weights: Vec<f64>) -> Result<Self> {
        let graph = Self::checked_rows(offsets, ids, weights)?;
        let asymmetric = (0..graph.n_nodes()).into_par_iter().find_map_first(|i| {
            graph.row(i).find_map(|(j, forward)| {
                let backward = graph.weight(j as usize, i).unwrap_or(0.0);
                (forward != backward).then_some(Error::NotSymmetric { i, j: j as usize, forward, backward })
            })
        });
        match asymmetric {
            Some(error) => Err(error),
            None => graph.without_zeros().with_finite_degrees(),
        }
    }

    /// The rows that one machine has of a graph that is spread over several; other nodes have none, so it is not symmetric.
    pub(crate) fn of_own_rows(offsets: Vec<u64>, ids: Vec<u32>, weights: Vec<f64>) -> Result<Self> {
        Self::checked_rows(offsets, ids, weights)?.without_zeros().with_finite_degrees()
    }

    /// The connected components; computed once.
    pub fn components(&self) -> &Components {
        self.components.0.get_or_init(|| Arc::new(Components::of_graph(self)))
    }

    /// Checks everything but the symmetry.
    fn checked_rows(offsets: Vec<u64>, ids: Vec<u32>, weights: Vec<f64>) -> Result<Self> {
        let n = offsets.len().saturating_sub(1);
        if n == 0 {
            return Err(Error::Empty { what: "rows" });
        }
        check_count(n)?;
        if weights.len() != ids.len() {
            return Err(Error::Length {
                what: "graph weights",
                expected: ids.len(),
                received: weights.len(),
            });
        }
        let bad = |row, rule| Err(Error::BadStructure { row, rule });
        if offsets[0] != 0 || offsets[n] != ids.len() as u64 {
            return bad(0, "the offsets do not span the entries");
        }
        for row in 0..n {
            if offsets[row] > offsets[row + 1] || offsets[row + 1] > ids.len() as u64 {
                return bad(row, "the offsets decrease or leave the entries");
            }
            let entries = offsets[row] as usize..offsets[row + 1] as usize;
            for entry in entries.clone() {
                let (id, value) = (ids[entry] as usize, weights[entry]);
                if id >= n {
                    return bad(row, "a node's id is not below the number of nodes");
                }
                if id == row {
                    return bad(row, "a node is linked to itself");
                }
                if entry > entries.start && ids[entry - 1] >= ids[entry] {
                    return bad(row, "the ids are not ascending");
                }
                if !(value.is_finite() && value >= 0.0) {
                    return Err(Error::BadWeight { i: row, j: id, value });
                }
            }
        }
        Ok(Self { offsets, ids, weights, components: Found::default() })
    }

    /// The graph of the user's own matrix, its entries in ascending order of (row, column), without repetition. The
    /// diagonal is dropped.
    pub fn from_entries(
        n: usize,
        entries: impl IntoIterator<Item = (u32, u32, f64)>,
        asymmetry: Asymmetry,
    ) -> Result<(Self, Changes)> {
        let mut changes = Changes::default();
        let (mut offsets, mut ids, mut weights) = (vec![0u64; n + 1], Vec::new(), Vec::new());
        let mut last = 0;
        for (row, column, weight) in entries {
            let bad = |rule| Err(Error::BadStructure { row: row as usize, rule });
            if row as usize >= n {
                return bad("the row is not below the number of nodes");
            }
            if row < last {
                return bad("the rows are not ascending");
            }
            last = row;
            if row == column {
                changes.n_loops += 1;
                continue;
            }
            ids.push(column);
            weights.push(weight);
            offsets[row as usize + 1] = ids.len() as u64;
        }
        for row in 0..n {
            offsets[row + 1] = offsets[row + 1].max(offsets[row]);
        }
        if asymmetry == Asymmetry::Refuse {
            return Ok((Self::new(offsets, ids, weights)?, changes));
        }
        let directed = Self::checked_rows(offsets, ids, weights)?;
        // Each pair appears once for each direction in which it has an entry, lower node first.
        let mut pairs: Vec<(u32, u32, f64)> = (0..n)
            .flat_map(|i| directed.row(i).map(move |(j, weight)| (j.min(i as u32), j.max(i as u32), weight)))
            .collect();
        pairs.sort_by_key(|&(i, j, _)| (i, j));
        let mut kept = Vec::with_capacity(pairs.len());
        let mut joined = Vec::with_capacity(pairs.len());
        for both in pairs.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (i, j, forward) = both[0];
            let backward = both.get(1).map_or(0.0, |entry| entry.2);
            changes.n_asymmetric += usize::from(forward != backward);
            kept.push((i, j));
            joined.push(match asymmetry {
                Asymmetry::Mean => 0.5 * forward + 0.5 * backward,
                _ => forward.max(backward),
            });
        }
        Ok((Self::from_edges(&Edges::from_pairs(n, kept)?, &joined)?, changes))
    }

    /// From a weight for each edge, finite and at least 0. Edges of weight 0 are dropped.
    pub fn from_edges(edges: &Edges, weights: &[f64]) -> Result<Self> {
        if weights.len() != edges.len() {
            return Err(Error::Length {
                what: "graph weights",
                expected: edges.len(),
                received: weights.len(),
            });
        }
        if let Some(edge) = weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
            let (i, j) = edges.iter().nth(edge).expect("there is a weight for it");
            return Err(Error::BadWeight { i: i as usize, j: j as usize, value: weights[edge] });
        }
        let n = edges.n_nodes();
        let mut offsets = vec![0u64; n + 1];
        for i in 0..n {
            offsets[i + 1] = offsets[i] + edges.degree(i) as u64;
        }
        let total = offsets[n] as usize;
        let (mut ids, mut values) = (vec![0u32; total], vec![0.0; total]);
        let (mut rest_ids, mut rest_values) = (ids.as_mut_slice(), values.as_mut_slice());
        let mut rows = Vec::with_capacity(n);
        for i in 0..n {
            let (row_ids, tail_ids) = rest_ids.split_at_mut(edges.degree(i));
            let (row_values, tail_values) = rest_values.split_at_mut(edges.degree(i));
            (rest_ids, rest_values) = (tail_ids, tail_values);
            rows.push((i, row_ids, row_values));
        }
        rows.into_par_iter().with_min_len(64).for_each(|(i, ids, values)| {
            for ((id, value), (j, edge)) in ids.iter_mut().zip(values).zip(edges.incident(i)) {
                (*id, *value) = (j, weights[edge]);
            }
        });
        Self { offsets, ids, weights: values, components: Found::default() }
            .without_zeros()
            .with_finite_degrees()
    }

    /// From the entries of each row above the diagonal, ascending, with positive weights.
    pub(crate) fn from_upper_rows(upper: &[Vec<(u32, f64)>]) -> Result<Self> {
        let n = upper.len();
        let mut offsets = vec![0u64; n + 1];
        for (i, row) in upper.iter().enumerate() {
            offsets[i + 1] += row.len() as u64;
            row.iter().for_each(|&(j, _)| offsets[j as usize + 1] += 1);
        }
        (0..n).for_each(|i| offsets[i + 1] += offsets[i]);
        let mut next = offsets[..n].to_vec();
        let (mut ids, mut weights) = (vec![0u32; offsets[n] as usize], vec![0.0; offsets[n] as usize]);
        let mut put = |row: usize, id: u32, weight: f64| {
            let at = next[row] as usize;
            (ids[at], weights[at]) = (id, weight);
            next[row] += 1;
        };
        // By the time that a row gets its upper entries, it has all its lower ones.
        for (i, row) in upper.iter().enumerate() {
            for &(j, weight) in row {
                put(i, j, weight);
                put(j as usize, i as u32, weight);
            }
        }
        // Sums of so few weights cannot overflow, which is known sooner than the sums.
        let is_bounded = largest(&weights) < f64::MAX / (2 * n) as f64;
        let graph = Self { offsets, ids, weights, components: Found::default() };
        if is_bounded { Ok(graph) } else { graph.with_finite_degrees() }
    }

    /// From rows that are already known to be well formed and symmetric, with positive weights.
    #[cfg(test)]
    pub(crate) fn from_symmetric_rows(rows: Vec<Vec<(u32, f64)>>) -> Result<Self> {
        let mut offsets = vec![0u64];
        rows.iter().for_each(|row| offsets.push(offsets[offsets.len() - 1] + row.len() as u64));
        let (ids, weights) = rows.into_iter().flatten().unzip();
        Self { offsets, ids, weights, components: Found::default() }.with_finite_degrees()
    }

    fn with_finite_degrees(self) -> Result<Self> {
        match self.degrees().iter().position(|degree| !degree.is_finite()) {
            None => Ok(self),
            Some(i) => Err(Error::BadWeight { i, j: i, value: f64::INFINITY }),
        }
    }

    fn without_zeros(self) -> Self {
        if self.weights.iter().all(|&weight| weight > 0.0) {
            return self;
        }
        let mut kept =
            Self { offsets: vec![0], ids: Vec::new(), weights: Vec::new(), components: Found::default() };
        for i in 0..self.n_nodes() {
            for (j, weight) in self.row(i).filter(|&(_, weight)| weight > 0.0) {
                kept.ids.push(j);
                kept.weights.push(weight);
            }
            kept.offsets.push(kept.ids.len() as u64);
        }
        kept
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of undirected edges.
    pub fn n_edges(&self) -> usize {
        self.ids.len() / 2
    }

    /// Where each row begins in [`SparseGraph::ids`] and [`SparseGraph::weights`].
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// Neighbors, row by row, ascending.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// Weights, row by row.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The neighbors of `i` with their weights, ascending.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let entries = self.offsets[i] as usize..self.offsets[i + 1] as usize;
        self.ids[entries.clone()].iter().copied().zip(self.weights[entries].iter().copied())
    }

    /// Number of neighbors of `i`.
    pub fn n_neighbors(&self, i: usize) -> usize {
        (self.offsets[i + 1] - self.offsets[i]) as usize
    }

    /// The weight between `i` and `j`, if there is an edge.
    pub fn weight(&self, i: usize, j: usize) -> Option<f64> {
        let entries = self.offsets[i] as usize..self.offsets[i + 1] as usize;
        let place = self.ids[entries.clone()].binary_search(&(j as u32)).ok()?;
        Some(self.weights[entries.start + place])
    }

    /// Sum of the weights of each node.
    pub fn degrees(&self) -> Vec<f64> {
        (0..self.n_nodes()).into_par_iter().map(|i| self.row(i).map(|(_, weight)| weight).sum()).collect()
    }

    /// The same edges with the nodes renumbered, in ascending order, in a graph of `n` nodes.
    pub(crate) fn renamed(&self, names: &[u32], n: usize) -> Self {
        let mut offsets = vec![0; n + 1];
        for (node, &name) in names.iter().enumerate() {
            offsets[name as usize + 1] = self.offsets[node + 1] - self.offsets[node];
        }
        for node in 0..n {
            offsets[node + 1] += offsets[node];
        }
        let ids = self.ids.iter().map(|&id| names[id as usize]).collect();
        Self { offsets, ids, weights: self.weights.clone(), components: Found::default() }
    }

    /// The graph with additional edges; an existing edge keeps the larger weight.
    pub(crate) fn with_edges(&self, extra: &[(u32, u32, f64)]) -> Self {
        let mut directed: Vec<(u32, u32, f64)> =
            extra.iter().flat_map(|&(i, j, w)| [(i, j, w), (j, i, w)]).collect();
        directed.sort_unstable_by_key(|&(i, j, _)| (i, j));
        let mut added = directed.into_iter().peekable();
        let mut joined = Self {
            offsets: vec![0],
            ids: Vec::with_capacity(self.ids.len() + 2 * extra.len()),
            weights: Vec::with_capacity(self.ids.len() + 2 * extra.len()),
            components: Found::default(),
        };
        for i in 0..self.n_nodes() as u32 {
            let mut push = |j: u32, weight: f64| {
                if joined.ids.len() > joined.offsets[i as usize] as usize && joined.ids.last() == Some(&j) {
                    let last = joined.weights.last_mut().expect("as many weights as ids");
                    *last = last.max(weight);
                } else {
                    joined.ids.push(j);
                    joined.weights.push(weight);
                }
            };
            for (j, weight) in self.row(i as usize) {
                while let Some(&(_, to, extra)) = added.peek().filter(|&&(from, to, _)| from == i && to <= j)
                {
                    push(to, extra);
                    added.next();
                }
                push(j, weight);
            }
            while let Some((_, to, extra)) = added.next_if(|&(from, _, _)| from == i) {
                push(to, extra);
            }
            joined.offsets.push(joined.ids.len() as u64);
        }
        joined
    }

    /// The edges whose weights are at least this fraction of the largest, and how many are lighter; `None` if none is.
    pub(crate) fn without_weak_edges(&self, share: f64) -> Option<(Self, usize)> {
        let least = share * largest(&self.weights);
        let n_weak = self.weights.par_iter().filter(|weight| **weight < least).count();
        if n_weak == 0 {
            return None;
        }
        let mut kept =
            Self { offsets: vec![0], ids: Vec::new(), weights: Vec::new(), components: Found::default() };
        for i in 0..self.n_nodes() {
            for (j, weight) in self.row(i).filter(|(_, weight)| *weight >= least) {
                kept.ids.push(j);
                kept.weights.push(weight);
            }
            kept.offsets.push(kept.ids.len() as u64);
        }
        Some((kept, n_weak / 2))
    }

    /// The graph of each component, its nodes renumbered in their order.
    pub(crate) fn split(&self, components: &Components) -> Vec<Self> {
        let mut next = vec![0u32; components.len()];
        let number: Vec<u32> = components
            .of_nodes()
            .iter()
            .map(|&component| {
                next[component as usize] += 1;
                next[component as usize] - 1
            })
            .collect();
        let empty =
            Self { offsets: vec![0], ids: Vec::new(), weights: Vec::new(), components: Found::default() };
        let mut parts = vec![empty; components.len()];
        for (node, &component) in components.of_nodes().iter().enumerate() {
            let component = &mut parts[component as usize];
            for (j, weight) in self.row(node) {
                component.ids.push(number[j as usize]);
                component.weights.push(weight);
            }
            component.offsets.push(component.ids.len() as u64);
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_are_made_symmetric_on_request() {
        let entries = [(0, 0, 9.0), (0, 1, 1.0), (1, 0, 3.0), (1, 2, 2.0), (2, 0, 4.0), (2, 1, 2.0)];
        let of = |asymmetry| SparseGraph::from_entries(3, entries, asymmetry);
        assert!(matches!(of(Asymmetry::Refuse), Err(Error::NotSymmetric { i: 0, j: 1, .. })));
        for (asymmetry, expected) in
            [(Asymmetry::Mean, [2.0, 2.0, 2.0]), (Asymmetry::Larger, [3.0, 4.0, 2.0])]
        {
            let (graph, changes) = of(asymmetry).unwrap();
            assert_eq!(changes, Changes { n_loops: 1, n_asymmetric: 2 });
            let found = [graph.weight(0, 1), graph.weight(0, 2), graph.weight(1, 2)];
            assert_eq!(found, expected.map(Some));
            assert!((0..3).all(|i| graph.row(i).all(|(j, w)| graph.weight(j as usize, i) == Some(w))));
        }
        let bad = SparseGraph::from_entries(2, [(0, 1, -1.0)], Asymmetry::Mean);
        assert!(matches!(bad, Err(Error::BadWeight { .. })));
        assert!(SparseGraph::from_entries(2, [(5, 5, 1.0)], Asymmetry::Mean).is_err());
        assert!(SparseGraph::from_entries(4, [(1, 2, 1.0), (0, 3, 1.0)], Asymmetry::Mean).is_err());
    }

    fn path() -> SparseGraph {
        SparseGraph::new(vec![0, 1, 3, 4], vec![1, 0, 2, 1], vec![1.0, 1.0, 2.0, 2.0]).unwrap()
    }

    #[test]
    fn rules_are_checked() {
        let graph = |offsets, ids, weights| SparseGraph::new(offsets, ids, weights);
        assert!(matches!(graph(vec![0], vec![], vec![]), Err(Error::Empty { .. })));
        assert!(matches!(graph(vec![0, 1], vec![0], vec![1.0]), Err(Error::BadStructure { .. })));
        assert!(matches!(graph(vec![0, 1, 1], vec![1], vec![1.0]), Err(Error::NotSymmetric { .. })));
        assert!(matches!(graph(vec![0, 1, 2], vec![1, 0], vec![-1.0, -1.0]), Err(Error::BadWeight { .. })));
        assert!(matches!(graph(vec![0, 9, 2], vec![1, 0], vec![1.0, 1.0]), Err(Error::BadStructure { .. })));
        assert!(matches!(graph(vec![0, 1, 2], vec![1, 0], vec![1.0]), Err(Error::Length { .. })));
        assert!(matches!(
            graph(vec![0, 2, 4], vec![1, 1, 0, 0], vec![1.0; 4]),
            Err(Error::BadStructure { .. })
        ));
        assert!(matches!(
            graph(vec![0, 2, 3, 4], vec![1, 2, 0, 0], vec![1e308; 4]),
            Err(Error::BadWeight { .. })
        ));
        let edges = Edges::from_pairs(2, [(0, 1)]).unwrap();
        for bad in [f64::NAN, -1.0, f64::INFINITY] {
            assert!(matches!(
                SparseGraph::from_edges(&edges, &[bad]),
                Err(Error::BadWeight { i: 0, j: 1, .. })
            ));
        }
        let zero = graph(vec![0, 1, 2], vec![1, 0], vec![0.0, 0.0]).unwrap();
        assert_eq!(zero.n_edges(), 0);
    }

    #[test]
    fn edges_become_rows() {
        let edges = Edges::from_pairs(3, [(2, 1), (0, 1), (0, 2)]).unwrap();
        assert_eq!(SparseGraph::from_edges(&edges, &[1.0, 0.0, 2.0]).unwrap(), path());
        assert_eq!(path().degrees(), [1.0, 3.0, 2.0]);
        assert_eq!(path().weight(2, 1), Some(2.0));
        assert_eq!(path().weight(0, 2), None);
    }

    #[test]
    fn extra_edges_and_parts() {
        let more = path().with_edges(&[(2, 0, 5.0), (1, 0, 0.5)]);
        assert_eq!(more.row(0).collect::<Vec<_>>(), [(1, 1.0), (2, 5.0)]);
        assert_eq!(more.row(2).collect::<Vec<_>>(), [(0, 5.0), (1, 2.0)]);
        let edges = Edges::from_pairs(5, [(0, 3), (1, 4), (2, 4)]).unwrap();
        let graph = SparseGraph::from_edges(&edges, &[1.0, 2.0, 3.0]).unwrap();
        let components = graph.split(&Components::of_graph(&graph));
        assert_eq!((components[0].n_nodes(), components[0].weight(0, 1)), (2, Some(1.0)));
        assert_eq!((components[1].n_nodes(), components[1].weight(1, 2)), (3, Some(3.0)));
    }
}
