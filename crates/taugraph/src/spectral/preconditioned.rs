//! A Laplacian for blocks of vectors, with multigrid in place of its inverse.

use super::blocks::Block;
use super::laplacian::LaplacianKind;
use crate::linear::{Hierarchy, Multigrid};

/// Everything lies in the order of the hierarchy.
pub(super) struct Preconditioned<'a> {
    multigrid: Multigrid<'a>,
    /// L = unit·scales·(multigrid's matrix)·scales; everything here is in that unit, so that no square vanishes or overflows.
    scales: Vec<f64>,
    unit: f64,
    /// Most vectors that are solved for at once.
    at_once: usize,
}

impl<'a> Preconditioned<'a> {
    pub fn new(hierarchy: &'a Hierarchy, kind: LaplacianKind, at_once: usize) -> Self {
        let multigrid = Multigrid::new(hierarchy, None, None);
        let (scales, unit) = match kind {
            LaplacianKind::Unnormalized => (vec![1.0; hierarchy.order().len()], hierarchy.heaviest()),
            // The degrees here are those of the graph over its heaviest weight, which cancels.
            _ => (multigrid.diagonal().iter().map(|&degree| inverse(degree.sqrt())).collect(), 1.0),
        };
        Self { multigrid, scales, unit, at_once }
    }

    /// What eigenvalues here have to be multiplied by.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    pub fn len(&self) -> usize {
        self.scales.len()
    }

    /// L·x; x is lost.
    pub fn image(&self, mut x: Block) -> Block {
        let mut image = Block::zeros(self.len(), x.width);
        x.scale(&self.scales, |scale| scale);
        self.multigrid.apply(&x.values, &mut image.values, x.width);
        image.scale(&self.scales, |scale| scale);
        image
    }

    /// Approximate solutions of L·z = r for the named vectors of `r`, up to null vectors.
    pub fn solve(&self, r: &Block, named: &[usize]) -> Block {
        let mut solutions = Block::zeros(self.len(), named.len());
        for (group, named) in named.chunks(self.at_once).enumerate() {
            let mut right = Block::zeros(self.len(), named.len());
            right.update(r, |to, from| to.iter_mut().zip(named).for_each(|(to, &name)| *to = from[name]));
            right.scale(&self.scales, inverse);
            let (mut z, mut other) = (right.clone(), vec![0.0; right.values.len()]);
            let mut work = self.multigrid.workspace(right.width);
            self.multigrid.precondition(&right.values, &mut z.values, &mut other, &mut work, right.width);
            z.scale(&self.scales, inverse);
            let first = group * self.at_once;
            solutions.update(&z, |to, from| to[first..first + from.len()].copy_from_slice(from));
        }
        solutions
    }
}

/// Nodes without edges take no part.
fn inverse(number: f64) -> f64 {
    if number > 0.0 { 1.0 / number } else { 0.0 }
}
