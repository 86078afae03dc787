//! The graph of the aggregates of all partitions, on one machine.

use super::dense::Dense;
use crate::edges::Edges;
use crate::error::{Error, Result};
use crate::graph::SparseGraph;
use crate::linear::{FINEST, Hierarchy, LANES, Multigrid};
use crate::random::{Stage, Stream};
use crate::spectral::{Block, Context, coarse_vectors};

/// Right-hand sides of one cycle.
const AT_ONCE: usize = 4 * LANES;
/// Steps of the search for rough solutions, and aggregates up to which it is made: there are machines waiting for one.
const STEPS: usize = 20;
const MANY: usize = 1 << 18;

/// L = D − W on aggregates: what is constant on them is solved for here.
pub struct CoarseSolver {
    /// Where the aggregates of each partition begin, and those of the last end.
    bounds: Vec<usize>,
    order: Vec<u32>,
    multigrid: Multigrid,
    unit: f64,
}

impl CoarseSolver {
    /// `sizes` are the numbers of aggregates of each partition; edges are given by both ends, each once, with their weights.
    pub fn new(sizes: &[usize], edges: &[(&[u32], &[u32], &[f64])]) -> Result<Self> {
        let mut bounds = vec![0];
        sizes.iter().for_each(|size| bounds.push(bounds[bounds.len() - 1] + size));
        let mut entries: Vec<(u32, u32, f64)> = Vec::new();
        for &(low, high, weights) in edges {
            for (expected, received) in [(low.len(), high.len()), (low.len(), weights.len())] {
                if expected != received {
                    return Err(Error::Length { what: "edges between aggregates", expected, received });
                }
            }
            entries.extend(
                low.iter().zip(high).zip(weights).map(|((&low, &high), &weight)| (low, high, weight)),
            );
        }
        entries.sort_by_key(|&(low, high, _)| (low, high));
        let pairs =
            Edges::from_pairs(bounds[bounds.len() - 1], entries.iter().map(|&(low, high, _)| (low, high)))?;
        let weights: Vec<f64> = entries.iter().map(|entry| entry.2).collect();
        let graph = SparseGraph::from_edges(&pairs, &weights)?;
        let hierarchy = Hierarchy::of_laplacian(&graph);
        let multigrid = Multigrid::new(&hierarchy, None, None);
        Ok(Self { bounds, order: hierarchy.order().to_vec(), multigrid, unit: hierarchy.heaviest() })
    }

    /// Number of aggregates.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Approximate solutions for the right-hand sides of all partitions, and what each partition gets of them. Their means are 0: constants are
    /// null vectors.
    pub fn solve(&self, right: &[Dense]) -> Result<Vec<Dense>> {
        let width = right.first().map_or(LANES, |first| first.n_columns);
        if width == 0 || !width.is_multiple_of(LANES) {
            let (expected, received) = (width.next_multiple_of(LANES).max(LANES), width);
            return Err(Error::Length { what: "right-hand sides", expected, received });
        }
        let all = self.joined(right, width)?;
        let mut solution = Block::zeros(self.len(), width);
        for first in (0..width).step_by(AT_ONCE) {
            let count = AT_ONCE.min(width - first);
            let mut some = Block::zeros(self.len(), count);
            for (to, &node) in some.values.chunks_exact_mut(count).zip(&self.order) {
                let from = &all[node as usize * width + first..][..count];
                to.iter_mut().zip(from).for_each(|(to, from)| *to = from / self.unit);
            }
            let (mut x, mut other) = (vec![0.0; some.values.len()], vec![0.0; some.values.len()]);
            let mut work = self.multigrid.level_workspace(FINEST, count);
            self.multigrid.cycle(FINEST, &some.values, &mut x, &mut other, &mut work, count);
            for (from, &node) in x.chunks_exact(count).zip(&self.order) {
                solution.values[node as usize * width + first..][..count].copy_from_slice(from);
            }
        }
        let mut means = vec![0.0; width];
        solution.nodes().for_each(|node| means.iter_mut().zip(node).for_each(|(sum, value)| *sum += value));
        means.iter_mut().for_each(|mean| *mean /= self.len() as f64);
        for node in solution.values.chunks_exact_mut(width) {
            node.iter_mut().zip(&means).for_each(|(value, mean)| *value -= mean);
        }
        Ok(self.parts(&solution.values, width))
    }

    /// Rough solutions of the eigenproblem among vectors that are constant on aggregates, given the sums of their degrees: the wanted ones and a few more, for
    /// each partition; none if there are too few aggregates for that.
    pub fn rough_vectors(&self, masses: &[&[f64]], wanted: usize, seed: u64) -> Result<Option<Vec<Dense>>> {
        let masses = masses.concat();
        if masses.len() != self.len() {
            let (expected, received) = (self.len(), masses.len());
            return Err(Error::Length { what: "masses of aggregates", expected, received });
        }
        let in_order = self.order.iter().map(|&node| masses[node as usize] / self.unit).collect();
        let max_steps = if self.len() > MANY { 0 } else { STEPS };
        let context = Context { stream: Stream::new(seed, Stage::Eigen), check: &|| Ok(()) };
        let Some(found) = coarse_vectors(&self.multigrid, in_order, wanted, max_steps, context)? else {
            return Ok(None);
        };
        let mut by_node = vec![0.0; found.values.len()];
        for (from, &node) in found.nodes().zip(&self.order) {
            by_node[node as usize * found.width..][..found.width].copy_from_slice(from);
        }
        Ok(Some(self.parts(&by_node, found.width)))
    }

    fn joined(&self, right: &[Dense], width: usize) -> Result<Vec<f64>> {
        if right.len() + 1 != self.bounds.len() {
            let (expected, received) = (self.bounds.len() - 1, right.len());
            return Err(Error::Length { what: "partitions", expected, received });
        }
        for (part, ends) in right.iter().zip(self.bounds.windows(2)) {
            let (expected, received) = ((ends[1] - ends[0]) * width, part.values.len());
            if expected != received {
                return Err(Error::Length { what: "right-hand sides of aggregates", expected, received });
            }
        }
        Ok(right.iter().flat_map(|part| &part.values).copied().collect())
    }

    fn parts(&self, values: &[f64], n_columns: usize) -> Vec<Dense> {
        let part = |ends: &[usize]| Dense {
            values: values[ends[0] * n_columns..ends[1] * n_columns].to_vec(),
            n_columns,
        };
        self.bounds.windows(2).map(part).collect()
    }
}
