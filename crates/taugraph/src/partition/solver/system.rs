//! The system of one partition: the rows of its own nodes in the whole graph, and multigrid on its inner edges.

use rayon::prelude::*;

use super::halo::Halo;
use crate::error::{Error, Result};
use crate::graph::SparseGraph;
use crate::linear::{FINEST, Hierarchy, LANES, Multigrid};
use crate::spectral::{Block, CHUNK};

/// Right-hand sides of one cycle: more would take more memory than the vectors of the search.
const AT_ONCE: usize = 4 * LANES;
/// Levels between the nodes and their aggregates: each has about a fifth of the nodes of the one before.
const DEPTH: usize = 2;

/// The edges of the own nodes of a partition in the whole graph; all ids are global and ascending.
#[derive(Debug, Clone, Copy)]
pub struct LocalEdges<'a> {
    /// The own nodes.
    pub ids: &'a [u32],
    /// Where the edges of each begin, and those of the last end.
    pub offsets: &'a [u64],
    /// The other ends.
    pub targets: &'a [u32],
    /// The weights.
    pub weights: &'a [f64],
    /// The other ends in each partition.
    pub halo: &'a [&'a [u32]],
    /// The own nodes that are other ends in each partition.
    pub wanted: &'a [&'a [u32]],
}

/// L = D − W of the whole graph at the own nodes, in the order of their hierarchy.
pub(super) struct LocalSystem {
    /// The own node at each place, by its rank among them.
    pub order: Vec<u32>,
    /// Roots of the degrees in the whole graph; L is scaled by their inverses.
    pub roots: Vec<f64>,
    pub halo: Halo,
    /// Where the nodes of each aggregate begin, and those of the last end.
    pub begins: Vec<u32>,
    /// The aggregate of each place.
    pub aggregate_of: Vec<u32>,
    /// Of the inner edges, with what leads elsewhere on the diagonal; `None` without nodes. It is in units of its own.
    multigrid: Option<Multigrid>,
    unit: f64,
    /// Edges to the halo: where those of each place begin, their other ends there, and their weights.
    cross_offsets: Vec<usize>,
    cross_ends: Vec<u32>,
    cross_weights: Vec<f64>,
    /// Inner edges, for the weights between aggregates.
    inner: Option<SparseGraph>,
}

impl LocalSystem {
    pub fn new(edges: LocalEdges<'_>) -> Result<Self> {
        check(&edges)?;
        let LocalEdges { ids, offsets, targets, weights, halo, wanted } = edges;
        let mut in_halo: Vec<(u32, u32)> = halo.iter().flat_map(|ids| ids.iter().copied()).zip(0..).collect();
        in_halo.sort_unstable();
        // The rank of an own node, or behind these the place in the halo.
        let place = |target: &u32| match ids.binary_search(target) {
            Ok(own) => Some(own),
            Err(_) => {
                let at = in_halo.binary_search_by_key(target, |entry| entry.0).ok()?;
                Some(ids.len() + in_halo[at].1 as usize)
            }
        };
        let places: Option<Vec<usize>> = targets.par_iter().with_min_len(CHUNK).map(place).collect();
        let places = places
            .ok_or(Error::BadStructure { row: 0, rule: "an edge leads to a node that is not in the halo" })?;
        let (mut inner_offsets, mut inner_ids, mut inner_weights) = (vec![0u64], Vec::new(), Vec::new());
        let mut cross: Vec<Vec<(u32, f64)>> = Vec::with_capacity(ids.len());
        let mut degrees = Vec::with_capacity(ids.len());
        for ends in offsets.windows(2) {
            let mut of_row = Vec::new();
            let entries = ends[0] as usize..ends[1] as usize;
            degrees.push(weights[entries.clone()].iter().sum::<f64>());
            for (&place, &weight) in places[entries.clone()].iter().zip(&weights[entries]) {
                match place.checked_sub(ids.len()) {
                    None => {
                        inner_ids.push(place as u32);
                        inner_weights.push(weight);
                    }
                    Some(in_halo) => of_row.push((in_halo as u32, weight)),
                }
            }
            inner_offsets.push(inner_ids.len() as u64);
            cross.push(of_row);
        }
        drop(places);
        let mut system = Self {
            order: Vec::new(),
            roots: Vec::new(),
            halo: Halo::new(&[], &[], &[], &[])?,
            begins: vec![0],
            aggregate_of: Vec::new(),
            multigrid: None,
            unit: 1.0,
            cross_offsets: vec![0],
            cross_ends: Vec::new(),
            cross_weights: Vec::new(),
            inner: None,
        };
        if !ids.is_empty() {
            let inner = SparseGraph::new(inner_offsets, inner_ids, inner_weights)?;
            let hierarchy = Hierarchy::of_laplacian(&inner);
            let unit = hierarchy.heaviest();
            let sum = |row: &Vec<(u32, f64)>| row.iter().map(|(_, weight)| weight).sum::<f64>() / unit;
            let extra: Vec<f64> = cross.iter().map(sum).collect();
            system.multigrid = Some(Multigrid::new(&hierarchy, None, Some(&extra)));
            (system.unit, system.begins) = (unit, hierarchy.aggregates(DEPTH));
            system.order = hierarchy.order().to_vec();
            system.inner = Some(inner);
        }
        for (aggregate, ends) in (0..).zip(system.begins.windows(2)) {
            let size = (ends[1] - ends[0]) as usize;
            system.aggregate_of.extend(std::iter::repeat_n(aggregate, size));
        }
        for &node in &system.order {
            system.roots.push(degrees[node as usize].sqrt());
            let of_row = &cross[node as usize];
            system.cross_ends.extend(of_row.iter().map(|entry| entry.0));
            system.cross_weights.extend(of_row.iter().map(|entry| entry.1));
            system.cross_offsets.push(system.cross_ends.len());
        }
        system.halo = Halo::new(ids, &system.place_of(), wanted, halo)?;
        Ok(system)
    }

    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// The place of each own node.
    fn place_of(&self) -> Vec<u32> {
        let mut place_of = vec![0; self.order.len()];
        self.order.iter().zip(0..).for_each(|(&node, place)| place_of[node as usize] = place);
        place_of
    }

    pub fn n_aggregates(&self) -> usize {
        self.begins.len() - 1
    }

    /// L·x, with x at the halo.
    pub fn apply(&self, x: &Block, halo: &[f64]) -> Block {
        let width = x.width;
        let mut image = Block { width, values: vec![0.0; x.values.len()] };
        let Some(multigrid) = &self.multigrid else { return image };
        multigrid.apply_level(FINEST, &x.values, &mut image.values, width);
        image.values.par_chunks_mut(CHUNK * width).enumerate().for_each(|(chunk, rows)| {
            for (place, to) in (chunk * CHUNK..).zip(rows.chunks_exact_mut(width)) {
                to.iter_mut().for_each(|value| *value *= self.unit);
                for entry in self.cross_offsets[place]..self.cross_offsets[place + 1] {
                    let (from, weight) = (self.cross_ends[entry] as usize * width, self.cross_weights[entry]);
                    to.iter_mut().zip(&halo[from..from + width]).for_each(|(to, x)| *to -= weight * x);
                }
            }
        });
        image
    }

    /// r − L·x.
    pub fn rest(&self, right: &Block, x: &Block, halo: &[f64]) -> Block {
        let mut rest = self.apply(x, halo);
        rest.update(right, |to, from| to.iter_mut().zip(from).for_each(|(to, right)| *to = right - *to));
        rest
    }

    /// Adds to x an approximate solution of the inner system for this right-hand side.
    pub fn correct(&self, right: &Block, x: &mut Block) {
        let (Some(multigrid), n) = (&self.multigrid, self.len()) else { return };
        for first in (0..right.width).step_by(AT_ONCE) {
            let width = AT_ONCE.min(right.width - first);
            let mut some = Block::zeros(n, width);
            let unit = self.unit;
            some.update(right, |to, from| {
                to.iter_mut().zip(&from[first..]).for_each(|(to, from)| *to = from / unit);
            });
            let (mut z, mut other) = (vec![0.0; some.values.len()], vec![0.0; some.values.len()]);
            let mut work = multigrid.level_workspace(FINEST, width);
            multigrid.cycle(FINEST, &some.values, &mut z, &mut other, &mut work, width);
            some.values = z;
            x.update(&some, |to, from| to[first..].iter_mut().zip(from).for_each(|(to, z)| *to += z));
        }
    }

    /// Sums over the nodes of each aggregate.
    pub fn restricted(&self, x: &Block) -> Vec<f64> {
        let width = x.width;
        let mut sums = vec![0.0; self.n_aggregates() * width];
        sums.par_chunks_mut(width).with_min_len(CHUNK / 8).zip(self.begins.par_windows(2)).for_each(
            |(to, ends)| {
                for from in x.values[ends[0] as usize * width..ends[1] as usize * width].chunks_exact(width) {
                    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
                }
            },
        );
        sums
    }

    /// Calls `work` with the values at each node and those of its aggregate.
    pub fn prolong(
        &self,
        coarse: &[f64],
        n_columns: usize,
        x: &mut Block,
        work: impl Fn(&mut [f64], &[f64]) + Sync,
    ) {
        let width = x.width;
        let chunks = x.values.par_chunks_mut(CHUNK * width).zip(self.aggregate_of.par_chunks(CHUNK));
        chunks.for_each(|(nodes, aggregate_of)| {
            for (to, &aggregate) in nodes.chunks_exact_mut(width).zip(aggregate_of) {
                work(to, &coarse[aggregate as usize * n_columns..][..n_columns]);
            }
        });
    }

    /// Weights between aggregates, each pair once: by both ends and ascending. The own ones are numbered from `first`, those of the halo are given.
    /// What leads to a partition with lower numbers is left to that one.
    pub fn coarse_edges(&self, first: u32, of_halo: &[u32]) -> (Vec<u32>, Vec<u32>, Vec<f64>) {
        let (of_place, place_of) = (&self.aggregate_of, self.place_of());
        let mut entries: Vec<(u32, u32, f64)> = Vec::new();
        for (place, &node) in self.order.iter().enumerate() {
            let own = first + of_place[place];
            let row = self.inner.iter().flat_map(|inner| inner.row(node as usize));
            let inner =
                row.map(|(other, weight)| (first + of_place[place_of[other as usize] as usize], weight));
            let cross = (self.cross_offsets[place]..self.cross_offsets[place + 1])
                .map(|entry| (of_halo[self.cross_ends[entry] as usize], self.cross_weights[entry]));
            entries.extend(
                inner.chain(cross).filter(|end| end.0 > own).map(|(other, weight)| (own, other, weight)),
            );
        }
        // Stable: equal pairs stay in the order of the places.
        entries.par_sort_by_key(|&(low, high, _)| (low, high));
        entries.dedup_by(|next, kept| {
            let is_same = (next.0, next.1) == (kept.0, kept.1);
            if is_same {
                kept.2 += next.2;
            }
            is_same
        });
        let mut edges = (Vec::new(), Vec::new(), Vec::new());
        for (low, high, weight) in entries {
            edges.0.push(low);
            edges.1.push(high);
            edges.2.push(weight);
        }
        edges
    }
}

fn check(edges: &LocalEdges<'_>) -> Result<()> {
    let LocalEdges { ids, offsets, targets, weights, .. } = *edges;
    for (what, expected, received) in [
        ("offsets of edges", ids.len() + 1, offsets.len()),
        ("weights of edges", targets.len(), weights.len()),
    ] {
        if expected != received {
            return Err(Error::Length { what, expected, received });
        }
    }
    let n_edges = targets.len() as u64;
    let is_bad = |ends: &[u64]| ends[0] > ends[1] || ends[1] > n_edges;
    if offsets[0] != 0 || offsets[ids.len()] != n_edges || offsets.windows(2).any(is_bad) {
        return Err(Error::BadStructure { row: 0, rule: "the offsets do not span the entries" });
    }
    if let Some(row) = ids.windows(2).position(|pair| pair[0] >= pair[1]) {
        return Err(Error::BadStructure { row, rule: "the ids are not ascending" });
    }
    Ok(())
}
