//! What a partition has of the vectors of the search, and its part of every step.

use faer::{Accum, Mat, MatRef};
use rayon::prelude::*;

use super::dense::Dense;
use super::halo::Halo;
use super::system::{LocalEdges, LocalSystem};
use crate::dense::multiply;
use crate::error::{Error, Result};
use crate::random::{Stage, Stream};
use crate::spectral::{Block, CHUNK, products};

/// The own nodes of a partition. Methods that return slices return one for every partition; those that take slices take one from each of
/// `Halo::sources`. Every slice has a row of values for each node, one for each vector, padded to whole lanes.
///
/// New directions are *candidates* until they are appended to the basis. A basis is kept with its images, so that the residuals of pairs need no
/// exchange.
pub struct PartitionSolver {
    pub(super) ids: Vec<u32>,
    pub(super) system: LocalSystem,
    pub(super) seed: u64,
    /// The null vector, of length 1 over all partitions.
    pub(super) null: Block,
    pub(super) basis: Block,
    pub(super) images: Block,
    pub(super) filled: usize,
    pub(super) residuals: Block,
    /// Of the systems that are solved approximately: D^½ times residuals.
    pub(super) right: Block,
    /// Their solutions so far, before they are scaled.
    pub(super) solution: Block,
    pub(super) candidates: Block,
    /// What is measured in the end.
    pub(super) vectors: Block,
    pub(super) vector_images: Block,
}

impl PartitionSolver {
    /// Nothing but the system. The graph has nodes elsewhere; seeds are those of the run.
    pub fn new(edges: LocalEdges<'_>, seed: u64) -> Result<Self> {
        let system = LocalSystem::new(edges)?;
        let nothing = || Block::zeros(system.len(), 0);
        Ok(Self {
            ids: edges.ids.to_vec(),
            seed,
            null: nothing(),
            basis: nothing(),
            images: nothing(),
            filled: 0,
            residuals: nothing(),
            right: nothing(),
            solution: nothing(),
            candidates: nothing(),
            vectors: nothing(),
            vector_images: nothing(),
            system,
        })
    }

    /// Number of own nodes.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are no own nodes.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// What goes where.
    pub fn halo(&self) -> &Halo {
        &self.system.halo
    }

    /// Number of aggregates, which are numbered one partition after the other.
    pub fn n_aggregates(&self) -> usize {
        self.system.n_aggregates()
    }

    /// Sum of the degrees of the own nodes.
    pub fn volume(&self) -> f64 {
        self.system.roots.iter().map(|root| root * root).sum()
    }

    /// Sums of the degrees of each aggregate.
    pub fn masses(&self) -> Vec<f64> {
        let sum = |ends: &[u32]| -> f64 {
            self.system.roots[ends[0] as usize..ends[1] as usize].iter().map(|root| root * root).sum()
        };
        self.system.begins.windows(2).map(sum).collect()
    }

    /// The aggregates of the nodes that each partition wants, the own ones numbered from `first`.
    pub fn aggregates(&self, first: u32) -> Vec<Vec<u32>> {
        let numbers: Vec<f64> =
            self.system.aggregate_of.iter().map(|&aggregate| f64::from(first + aggregate)).collect();
        let slices = self.system.halo.slices(&numbers, 1).into_iter();
        slices.map(|slice| slice.into_iter().map(|number| number as u32).collect()).collect()
    }

    /// Weights between aggregates: both ends, the lower first, ascending. The aggregates of the halo come from its sources.
    pub fn coarse_edges(&self, first: u32, of_halo: &[&[u32]]) -> Result<(Vec<u32>, Vec<u32>, Vec<f64>)> {
        let numbers: Vec<Vec<f64>> =
            of_halo.iter().map(|slice| slice.iter().map(|&number| f64::from(number)).collect()).collect();
        let slices: Vec<&[f64]> = numbers.iter().map(Vec::as_slice).collect();
        let joined = self.system.halo.joined(&slices, 1)?;
        let joined: Vec<u32> = joined.into_iter().map(|number| number as u32).collect();
        Ok(self.system.coarse_edges(first, &joined))
    }

    /// Makes room for a basis of so many vectors, given the sum of all degrees.
    pub fn begin(&mut self, volume: f64, room: usize) {
        let n = self.len();
        self.null = Block::zeros(n, 1);
        let width = self.null.width;
        let length = volume.sqrt();
        for (to, root) in self.null.values.chunks_exact_mut(width).zip(&self.system.roots) {
            to[0] = root / length;
        }
        (self.basis, self.images, self.filled) = (Block::zeros(n, room), Block::zeros(n, room), 0);
    }

    /// Candidates: as many random vectors, of their own for each salt.
    pub fn draw(&mut self, count: usize, salt: u32) -> Dense {
        let stream = Stream::new(self.seed, Stage::Eigen);
        let mut block = Block::zeros(self.len(), count);
        let width = block.width;
        let nodes = block.values.par_chunks_mut(width).with_min_len(CHUNK).zip(&self.system.order);
        nodes.for_each(|(to, &node)| {
            let mut draws = stream.at(salt, self.ids[node as usize]);
            to[..count].iter_mut().for_each(|value| *value = draws.normal());
        });
        self.candidates = block;
        self.shares()
    }

    /// Candidates: a vector for each group of nodes, D^½ on its nodes and 0 elsewhere.
    pub fn guess_groups(&mut self, group_of: &[u32], n_groups: usize) -> Result<Dense> {
        if group_of.len() != self.len() {
            let (expected, received) = (self.len(), group_of.len());
            return Err(Error::Length { what: "groups of nodes", expected, received });
        }
        if let Some(row) = group_of.iter().position(|&group| group as usize >= n_groups) {
            return Err(Error::BadLabel { row, label: group_of[row], n_classes: n_groups });
        }
        self.candidates = Block::zeros(self.len(), n_groups);
        let width = self.candidates.width;
        let nodes = self.candidates.values.chunks_exact_mut(width);
        for ((to, &node), root) in nodes.zip(&self.system.order).zip(&self.system.roots) {
            to[group_of[node as usize] as usize] = *root;
        }
        Ok(self.shares())
    }

    /// Candidates: vectors given by their values on the aggregates, which are multiplied by D^½.
    pub fn guess_smooth(&mut self, on_aggregates: &Dense) -> Result<Dense> {
        self.check_coarse(on_aggregates)?;
        self.candidates = Block::zeros(self.len(), on_aggregates.n_columns);
        self.system.prolong(
            &on_aggregates.values,
            on_aggregates.n_columns,
            &mut self.candidates,
            |to, from| {
                to[..from.len()].copy_from_slice(from);
            },
        );
        self.candidates.scale(&self.system.roots, |root| root);
        Ok(self.shares())
    }

    /// Inner products of the null vector, the basis and, last, of each candidate itself with the candidates.
    pub fn shares(&self) -> Dense {
        let width = self.candidates.width;
        let mut values = Dense::of(products(self.known().0, self.candidates.view()).as_ref()).values;
        values.extend(Dense::of(products(self.known().1, self.candidates.view()).as_ref()).values);
        values.extend(self.candidates.squares());
        Dense { values, n_columns: width }
    }

    /// The null vector, and the basis.
    fn known(&self) -> (MatRef<'_, f64>, MatRef<'_, f64>) {
        (self.null.view().subrows(0, 1), self.basis.view().subrows(0, self.filled))
    }

    /// Subtracts from the candidates what they share with the known vectors, given all [`shares`](Self::shares); returns their inner products.
    pub fn subtract(&mut self, shares: &Dense) -> Result<Dense> {
        self.expect(shares, 2 + self.filled, self.candidates.width)?;
        let all = shares.to_mat();
        let null = self.null.view().subrows(0, 1);
        let basis = self.basis.view().subrows(0, self.filled);
        for (known, first) in [(null, 0), (basis, 1)] {
            if known.nrows() > 0 {
                let shares = all.as_ref().subrows(first, known.nrows());
                multiply(self.candidates.view_mut(), Accum::Add, shares.transpose(), known, -1.0);
            }
        }
        Ok(Dense::of(products(self.candidates.view(), self.candidates.view()).as_ref()))
    }

    /// Replaces the candidates by the combinations given by the columns, and returns their [`shares`](Self::shares).
    pub fn combine(&mut self, rotation: &Dense) -> Result<Dense> {
        self.expect(rotation, self.candidates.width, rotation.n_columns)?;
        self.candidates = self.candidates.combined(rotation.to_mat().as_ref());
        Ok(self.shares())
    }

    /// Appends combinations of the candidates to the basis, and returns slices of what their images need.
    pub fn append(&mut self, rotation: &Dense) -> Result<Vec<Vec<f64>>> {
        self.expect(rotation, self.candidates.width, rotation.n_columns)?;
        if self.filled + rotation.n_columns > self.basis.width {
            let (expected, received) = (self.basis.width, self.filled + rotation.n_columns);
            return Err(Error::Length { what: "basis", expected, received });
        }
        self.candidates = self.candidates.combined(rotation.to_mat().as_ref());
        let (first, added) = (self.filled, rotation.n_columns);
        self.basis
            .update(&self.candidates, |to, from| to[first..first + added].copy_from_slice(&from[..added]));
        self.filled += added;
        self.candidates.scale(&self.system.roots, inverse);
        Ok(self.system.halo.slices(&self.candidates.values, self.candidates.width))
    }

    /// The products of the basis with the images of the `added` vectors that were appended.
    pub fn image(&mut self, halo: &[&[f64]], added: usize) -> Result<Dense> {
        let joined = self.system.halo.joined(halo, self.candidates.width)?;
        let mut images = self.system.apply(&self.candidates, &joined);
        images.scale(&self.system.roots, inverse);
        let first = self.filled - added.min(self.filled);
        self.images.update(&images, |to, from| to[first..first + added].copy_from_slice(&from[..added]));
        Ok(Dense::of(products(self.known().1, images.view().subrows(0, added)).as_ref()))
    }

    /// Squared lengths of the residuals A·v − value·v of vectors given in terms of the basis.
    pub fn residuals(&mut self, rotation: &Dense, values: &[f64]) -> Result<Dense> {
        self.expect(rotation, self.filled, values.len())?;
        let rotation = rotation.to_mat();
        let scaled = Mat::from_fn(rotation.nrows(), rotation.ncols(), |i, j| rotation[(i, j)] * values[j]);
        self.residuals = self.images.combined(rotation.as_ref());
        let to = self.residuals.view_mut().subrows_mut(0, values.len());
        let basis = self.basis.view().subrows(0, self.filled);
        multiply(to, Accum::Add, scaled.transpose(), basis, -1.0);
        Ok(Dense { values: self.residuals.squares(), n_columns: self.residuals.width })
    }

    /// Replaces the basis by the combinations given by the columns.
    pub fn restart(&mut self, rotation: &Dense) -> Result<()> {
        self.expect(rotation, self.filled, rotation.n_columns)?;
        let rotation = rotation.to_mat();
        self.basis.rotate(rotation.as_ref());
        self.images.rotate(rotation.as_ref());
        self.filled = rotation.ncols();
        Ok(())
    }

    /// Roots of the degrees of the own nodes, ascending.
    pub fn roots(&self) -> Vec<f64> {
        let mut roots = vec![0.0; self.len()];
        self.system
            .order
            .iter()
            .zip(&self.system.roots)
            .for_each(|(&node, root)| roots[node as usize] = *root);
        roots
    }

    /// The basis and its images, to be stored.
    pub fn stored(&self) -> (Dense, Dense) {
        let cut = |block: &Block| {
            let values = block.nodes().flat_map(|node| &node[..self.filled]).copied().collect();
            Dense { values, n_columns: self.filled }
        };
        (cut(&self.basis), cut(&self.images))
    }

    /// Goes back to a stored basis with its images.
    pub fn restore(&mut self, basis: &Dense, images: &Dense) -> Result<()> {
        let filled = basis.n_columns;
        if filled > self.basis.width {
            let (expected, received) = (self.basis.width, filled);
            return Err(Error::Length { what: "basis", expected, received });
        }
        for (block, stored) in [(&mut self.basis, basis), (&mut self.images, images)] {
            let (expected, received) = (block.values.len() / block.width * filled, stored.values.len());
            if received != expected || stored.n_columns != filled {
                return Err(Error::Length { what: "stored basis", expected, received });
            }
            let width = block.width;
            let nodes = block.values.chunks_exact_mut(width).zip(stored.values.chunks_exact(filled.max(1)));
            nodes.for_each(|(to, from)| to[..filled].copy_from_slice(from));
        }
        self.filled = filled;
        Ok(())
    }

    pub(super) fn check_coarse(&self, on_aggregates: &Dense) -> Result<()> {
        let (expected, received) =
            (self.n_aggregates(), on_aggregates.values.len() / on_aggregates.n_columns.max(1));
        match expected == received {
            true => Ok(()),
            false => Err(Error::Length { what: "aggregates", expected, received }),
        }
    }

    pub(super) fn expect(&self, matrix: &Dense, n_rows: usize, n_columns: usize) -> Result<()> {
        let (expected, received) = (n_rows * n_columns, matrix.values.len());
        match expected == received && matrix.n_columns == n_columns {
            true => Ok(()),
            false => Err(Error::Length { what: "matrix of a step", expected, received }),
        }
    }
}

/// Nodes without edges take no part.
pub(super) fn inverse(number: f64) -> f64 {
    if number > 0.0 { 1.0 / number } else { 0.0 }
}
