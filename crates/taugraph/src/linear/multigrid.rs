//! The preconditioner: the error that a level cannot smooth out is corrected on the next.

use std::sync::Arc;

use super::coarsest::Inverse;
use super::conjugate::System;
use super::hierarchy::Hierarchy;
use super::kernels::Real;
use super::level::Level;

/// The level of the graph itself.
pub(crate) const FINEST: usize = 0;
/// Corrections per level below the first: two (a W-cycle) keep the iterations from growing with the number of levels.
const ROUNDS: usize = 2;

/// The levels of one system, finest first, and the inverse of the coarsest. It shares patterns and weights with the hierarchy, which it may
/// outlive.
pub(crate) struct Multigrid {
    levels: Vec<Level>,
    coarsest: Inverse,
}

/// Vectors of one level.
pub(crate) struct Workspace<T> {
    right: Vec<T>,
    x: Vec<T>,
    other: Vec<T>,
}

impl Multigrid {
    /// `clamped` and `extra` are by node of the graph.
    pub fn new(hierarchy: &Hierarchy, clamped: Option<&[bool]>, extra: Option<&[f64]>) -> Self {
        let order = hierarchy.order();
        let is_clamped: Vec<bool> =
            order.iter().map(|&node| clamped.is_some_and(|clamped| clamped[node as usize])).collect();
        let extra_at = |place: usize| extra.map_or(0.0, |extra| extra[order[place] as usize]);
        let (finest, mut excess) = Level::finest(hierarchy, &is_clamped, extra_at);
        let mut levels = vec![finest];
        for (depth, pattern) in hierarchy.patterns().iter().enumerate().skip(1) {
            let fine = &levels[depth - 1];
            excess = fine.merged_excess(pattern, &excess);
            let weights = match hierarchy.coarse_weights(depth) {
                Some(weights) => weights.clone(),
                None => Arc::new(fine.merged_weights(pattern, |place| depth == 1 && is_clamped[place])),
            };
            levels.push(Level::coarse(pattern.clone(), weights, &excess));
        }
        let coarsest = levels[levels.len() - 1].inverse(&excess);
        Self { levels, coarsest }
    }

    /// The diagonal of the system, in the order of the hierarchy.
    pub fn diagonal(&self) -> &[f64] {
        &self.levels[0].diagonal
    }

    /// Number of levels.
    pub fn depth(&self) -> usize {
        self.levels.len()
    }

    /// The nodes of a level that each node of the next consists of; the nodes after them merge with nothing.
    pub fn members(&self, depth: usize) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        let firsts = &self.levels[depth].pattern.firsts;
        firsts.windows(2).map(|ends| ends[0] as usize..ends[1] as usize)
    }

    /// Work space for cycles that begin at a level.
    pub fn level_workspace<T: Real>(&self, depth: usize, width: usize) -> Vec<Workspace<T>> {
        let of_level = |level: &Level| {
            let zeros = || vec![T::default(); level.pattern.len() * width];
            Workspace { right: zeros(), x: zeros(), other: zeros() }
        };
        self.levels[depth + 1..].iter().map(of_level).collect()
    }

    /// out ← A·x on a level.
    pub fn apply_level(&self, depth: usize, x: &[f64], out: &mut [f64], width: usize) {
        self.levels[depth].apply(x, out, width);
    }

    /// Damps the oscillating part of x: sweeps of the smoother towards A·x = 0 on a level.
    pub fn smooth(&self, depth: usize, x: &mut Vec<f64>, sweeps: usize, width: usize) {
        let (zeros, mut other) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        for _ in 0..sweeps {
            self.levels[depth].smooth(x, &zeros, &mut other, width);
            std::mem::swap(x, &mut other);
        }
    }

    /// x ← an approximate solution of A·x = r on a level; `other` is work space.
    pub fn cycle<T: Real>(
        &self,
        depth: usize,
        r: &[T],
        x: &mut Vec<T>,
        other: &mut Vec<T>,
        work: &mut [Workspace<T>],
        width: usize,
    ) {
        let level = &self.levels[depth];
        if depth + 1 == self.levels.len() {
            return self.coarsest.multiply(r, x, width);
        }
        level.smooth_from_zero(r, x, width);
        let rounds = if depth == FINEST { 1 } else { ROUNDS };
        let (next, deeper) = work.split_first_mut().expect("a work space for each level");
        for _ in 0..rounds {
            level.restrict(x, r, &mut next.right, width);
            self.cycle(depth + 1, &next.right, &mut next.x, &mut next.other, deeper, width);
            level.prolong(&next.x, x, width);
            level.smooth(x, r, other, width);
            std::mem::swap(x, other);
        }
    }
}

impl System for Multigrid {
    type Workspace = Vec<Workspace<f64>>;

    fn workspace(&self, width: usize) -> Vec<Workspace<f64>> {
        self.level_workspace(FINEST, width)
    }

    fn diagonal(&self) -> &[f64] {
        Multigrid::diagonal(self)
    }

    fn apply(&self, x: &[f64], out: &mut [f64], width: usize) {
        self.apply_level(FINEST, x, out, width);
    }

    fn precondition(
        &self,
        r: &[f64],
        z: &mut Vec<f64>,
        spare: &mut Vec<f64>,
        work: &mut Vec<Workspace<f64>>,
        width: usize,
    ) {
        self.cycle(FINEST, r, z, spare, work, width);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::uneven_blobs;
    use crate::neighbors::{Space, nearest_neighbors};
    use crate::progress::Run;
    use crate::random::{Stage, Stream};

    /// A neighbor graph with weights of a few orders of magnitude.
    fn graph() -> crate::graph::SparseGraph {
        let points = uneven_blobs(3000, 3, 4, 1).unwrap().points;
        let space = Space::from_points(points, crate::distance::Metric::Euclidean).unwrap();
        let neighbors = nearest_neighbors(&space, 8, &Run::new(0)).unwrap();
        let edges = crate::edges::Edges::from_neighbors(&neighbors, 8, crate::edges::Symmetrize::Union);
        let weights = edges.map(|_, i, j| (-space.distance(i as usize, j as usize)).exp().max(1e-6));
        crate::graph::SparseGraph::from_edges(&edges, &weights).unwrap()
    }

    #[test]
    fn single_precision_and_the_laplacian_alone_come_close() {
        let graph = graph();
        let (any, alone) = (Hierarchy::new(&graph), Hierarchy::of_laplacian(&graph));
        assert_eq!(any.order(), alone.order());
        let width = 16;
        let mut draws = Stream::new(1, Stage::Weights).at(0, 0);
        let right: Vec<f64> = (0..graph.n_nodes() * width).map(|_| draws.normal()).collect();
        let extra: Vec<f64> = graph.degrees().iter().map(|degree| 1e-3 * degree).collect();
        let cycle = |hierarchy: &Hierarchy| {
            let multigrid = Multigrid::new(hierarchy, None, Some(&extra));
            let (mut x, mut other) = (right.clone(), right.clone());
            let mut work = multigrid.level_workspace(FINEST, width);
            multigrid.cycle(FINEST, &right, &mut x, &mut other, &mut work, width);
            x
        };
        let double = cycle(&any);
        let length = double.iter().map(|v| v * v).sum::<f64>().sqrt();
        let apart = |other: &mut dyn Iterator<Item = f64>| {
            double.iter().zip(other).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt() / length
        };
        let of_alone = apart(&mut cycle(&alone).into_iter());
        assert!(of_alone < 1e-10, "{of_alone}");
        let multigrid = Multigrid::new(&alone, None, Some(&extra));
        let right: Vec<f32> = right.iter().map(|&value| value as f32).collect();
        let (mut x, mut other) = (right.clone(), right.clone());
        let mut work = multigrid.level_workspace(FINEST, width);
        multigrid.cycle(FINEST, &right, &mut x, &mut other, &mut work, width);
        let single = apart(&mut x.into_iter().map(f64::from));
        assert!(single < 1e-4, "{single}");
    }
}
