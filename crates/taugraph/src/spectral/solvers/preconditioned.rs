//! A Laplacian on blocks of vectors, with multigrid as its approximate inverse, on any level of a hierarchy.

use rayon::prelude::*;

use super::blocks::{Block, CHUNK};
use super::davidson::PreconditionedOperator;
use super::multilevel::Masses;
use crate::linear::{FINEST, Hierarchy, Multigrid, Real};

/// Smoother sweeps over vectors that come from a coarser level.
const SWEEPS: usize = 2;

/// The approximate inverse. The Laplacian itself is always applied in double precision.
#[derive(Clone, Copy)]
pub(super) enum Inverse<'a> {
    /// A cycle of the same multigrid.
    Double,
    /// A cycle in single precision of a Laplacian that is shifted a little: half the time and memory. Without the shift, groups behind
    /// links that are a million times weaker than others would be lost in rounding, and destroy the rest.
    Single(&'a Multigrid),
}

/// The Laplacian of one level. Everything is in the order of the hierarchy.
///
/// On a coarser level it is the same eigenproblem for vectors y that are constant on merged nodes: A·y = λ·M·y, where M sums the
/// masses of the members, and u = M^½·y.
pub(super) struct Preconditioned<'a> {
    multigrid: &'a Multigrid,
    inverse: Inverse<'a>,
    depth: usize,
    /// M^−½, with M the degrees or the numbers of nodes; 0 for nodes that take no part.
    /// L = unit·scales·(multigrid's matrix)·scales; everything here is in that unit, so that no square underflows or overflows.
    scales: Vec<f64>,
    unit: f64,
    /// Maximum number of vectors solved for at once.
    at_once: usize,
}

impl<'a> Preconditioned<'a> {
    /// The Laplacian of the graph itself.
    pub fn new(
        hierarchy: &Hierarchy,
        multigrid: &'a Multigrid,
        masses: Masses,
        at_once: usize,
        inverse: Inverse<'a>,
    ) -> Self {
        let (masses, unit) = match masses {
            Masses::Ones => (vec![1.0; hierarchy.order().len()], hierarchy.heaviest()),
            // The degrees here are divided by the graph's largest weight, which cancels.
            Masses::Degrees => (multigrid.diagonal().to_vec(), 1.0),
        };
        Self { inverse, ..Self::with_masses(multigrid, FINEST, masses, unit, at_once) }
    }

    /// The eigenproblem L·y = λ·M·y of a graph with these masses, for vectors u = M^½·y.
    pub fn of_masses(multigrid: &'a Multigrid, masses: Vec<f64>, at_once: usize) -> Self {
        Self::with_masses(multigrid, FINEST, masses, 1.0, at_once)
    }

    /// M^−½ at each node.
    pub fn scales(&self) -> &[f64] {
        &self.scales
    }

    fn with_masses(
        multigrid: &'a Multigrid,
        depth: usize,
        masses: Vec<f64>,
        unit: f64,
        at_once: usize,
    ) -> Self {
        let scales = masses.iter().map(|&mass| inverse(mass.sqrt())).collect();
        Self { multigrid, inverse: Inverse::Double, depth, scales, unit, at_once }
    }

    /// The same for the next level, if there is one.
    pub fn coarser(&self) -> Option<Self> {
        let is_there = self.depth + 1 < self.multigrid.depth();
        is_there.then(|| {
            let members = self.multigrid.members(self.depth);
            let mass = |scale: &f64| inverse(scale * scale);
            let masses = members.map(|members| self.scales[members].iter().map(mass).sum()).collect();
            let coarser = Self::with_masses(self.multigrid, self.depth + 1, masses, self.unit, self.at_once);
            Self { inverse: self.inverse, ..coarser }
        })
    }

    /// Restricts vectors of this level to the next, assuming they are constant on merged nodes.
    pub fn restricted(&self, block: &Block, coarser: &Self) -> Block {
        let mut restricted = Block::zeros(coarser.len(), block.width);
        let to = restricted.values.chunks_exact_mut(block.width);
        for ((to, members), scale) in to.zip(self.multigrid.members(self.depth)).zip(&coarser.scales) {
            let from = &block.values[members.start * block.width..][..block.width];
            let factor = self.scales[members.start] * inverse(*scale);
            to.iter_mut().zip(from).for_each(|(to, from)| *to = factor * from);
        }
        restricted
    }

    /// Interpolates vectors of the next level to this one and smooths them.
    pub fn prolonged(&self, block: &Block, coarser: &Self) -> Block {
        let mut prolonged = Block::zeros(self.len(), block.width);
        let merged = self.multigrid.members(self.depth).zip(block.nodes()).zip(&coarser.scales);
        for ((members, from), scale) in merged {
            let to = &mut prolonged.values[members.start * block.width..members.end * block.width];
            for to in to.chunks_exact_mut(block.width) {
                to.iter_mut().zip(from).for_each(|(to, from)| *to = scale * from);
            }
        }
        self.multigrid.smooth(self.depth, &mut prolonged.values, SWEEPS, block.width);
        prolonged.scale(&self.scales, inverse);
        prolonged
    }

    /// A vector for each group of nodes: constant on it, then smoothed. Groups are by node of the graph.
    pub fn near_groups(&self, groups: &[u32], order: &[u32]) -> Block {
        let n_groups = groups.iter().max().map_or(0, |last| *last as usize + 1);
        let mut block = Block::zeros(self.len(), n_groups);
        let width = block.width;
        let nodes = block.values.par_chunks_mut(width).with_min_len(CHUNK).zip(order);
        nodes.for_each(|(to, &node)| to[groups[node as usize] as usize] = 1.0);
        self.multigrid.smooth(self.depth, &mut block.values, SWEEPS, width);
        block.scale(&self.scales, inverse);
        block
    }

    /// The unit of eigenvalues here.
    pub fn unit(&self) -> f64 {
        self.unit
    }
}

impl PreconditionedOperator for Preconditioned<'_> {
    fn len(&self) -> usize {
        self.scales.len()
    }

    fn image(&self, mut x: Block) -> Block {
        let mut image = Block::zeros(self.len(), x.width);
        x.scale(&self.scales, |scale| scale);
        self.multigrid.apply_level(self.depth, &x.values, &mut image.values, x.width);
        image.scale(&self.scales, |scale| scale);
        image
    }

    fn solve(&self, r: Block, named: &[usize]) -> Block {
        match self.inverse {
            Inverse::Double => self.solve_apart(&r, named),
            Inverse::Single(shifted) => self.solve_in_place(shifted, r, named),
        }
    }
}

impl Preconditioned<'_> {
    /// The solutions in a block of their own.
    fn solve_apart(&self, r: &Block, named: &[usize]) -> Block {
        let mut solutions = Block::zeros(self.len(), named.len());
        for (group, named) in named.chunks(self.at_once).enumerate() {
            let mut right = Block::zeros(self.len(), named.len());
            right.update(r, |to, from| to.iter_mut().zip(named).for_each(|(to, &name)| *to = from[name]));
            right.scale(&self.scales, inverse);
            let (mut z, mut other) = (right.clone(), vec![0.0; right.values.len()]);
            let mut work = self.multigrid.level_workspace(self.depth, right.width);
            self.multigrid.cycle(
                self.depth,
                &right.values,
                &mut z.values,
                &mut other,
                &mut work,
                right.width,
            );
            z.scale(&self.scales, inverse);
            let first = group * self.at_once;
            solutions.update(&z, |to, from| to[first..first + from.len()].copy_from_slice(from));
        }
        solutions
    }

    /// The solutions in the place of the right-hand sides, computed in single precision; the others become 0.
    fn solve_in_place(&self, shifted: &Multigrid, mut r: Block, named: &[usize]) -> Block {
        let width = named.len().min(self.at_once).next_multiple_of(f32::LANES);
        let zeros = || vec![0.0f32; self.len() * width];
        let (mut right, mut z, mut other) = (zeros(), zeros(), zeros());
        let mut work = shifted.level_workspace(self.depth, width);
        for named in named.chunks(width) {
            let nodes = right.par_chunks_mut(CHUNK * width).zip(r.values.par_chunks(CHUNK * r.width));
            nodes.zip(self.scales.par_chunks(CHUNK)).for_each(|((to, from), scales)| {
                let nodes = to.chunks_exact_mut(width).zip(from.chunks_exact(r.width)).zip(scales);
                for ((to, from), &scale) in nodes {
                    let factor = inverse(scale);
                    to.fill(0.0);
                    to.iter_mut().zip(named).for_each(|(to, &name)| *to = (factor * from[name]) as f32);
                }
            });
            shifted.cycle(self.depth, &right, &mut z, &mut other, &mut work, width);
            let block_width = r.width;
            let nodes = r.values.par_chunks_mut(CHUNK * block_width).zip(z.par_chunks(CHUNK * width));
            nodes.zip(self.scales.par_chunks(CHUNK)).for_each(|((to, from), scales)| {
                let nodes = to.chunks_exact_mut(block_width).zip(from.chunks_exact(width)).zip(scales);
                for ((to, from), &scale) in nodes {
                    let factor = inverse(scale);
                    named.iter().zip(from).for_each(|(&name, from)| to[name] = factor * f64::from(*from));
                }
            });
        }
        let mut is_solved = vec![0.0; r.width];
        named.iter().for_each(|&name| is_solved[name] = 1.0);
        r.multiply_each(&is_solved);
        r
    }
}

/// Nodes without edges take no part.
fn inverse(number: f64) -> f64 {
    if number > 0.0 { 1.0 / number } else { 0.0 }
}
