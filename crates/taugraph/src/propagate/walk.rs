//! Algorithm 2 of the paper: a greedy walk in the distances of the graph Laplacian kernel.
//!
//! K = L_sym† and S_ij = K_ii + K_jj − 2·K_ij. Across components S is infinite: taken literally, the pseudo-inverse would give a
//! small distance there. From node j, up to `max_walk` times, the walk moves to the nearest node not yet visited and ends
//! where that node is labeled; each label is as close as the walk ever came to it. The moves do not depend on the labels,
//! so one table of walks serves every set of labels.

use rayon::prelude::*;

use super::kernel::KernelDistances;
use super::labeled_nodes::LabeledNodes;
use super::rules::Scores;
use crate::error::{Result, require};
use crate::graph::{Components, SparseGraph};
use crate::progress::Run;

/// Marks the end of a walk.
const END: u32 = u32::MAX;

/// How much of the kernel a walk uses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WalkInfo {
    /// Eigenpairs of the kernel in use.
    pub n_pairs: usize,
    /// Eigenpairs in total.
    pub n_all: usize,
    /// Bound on the largest missing eigenvalue of K, relative to the largest of all; 0 if none is missing.
    pub truncation: f64,
}

/// The walks from every node, independent of labels.
#[derive(Debug, Clone)]
pub struct WalkTable {
    components: Components,
    kernel: KernelDistances,
    /// Nodes of the walk from each node, itself first.
    walks: Vec<u32>,
    max_walk: usize,
}

impl WalkTable {
    /// In the whole kernel: takes the memory and time of a dense inverse.
    pub fn exact(graph: &SparseGraph, max_walk: usize, run: &Run<'_>) -> Result<Self> {
        Self::in_kernel(graph, KernelDistances::exact(graph, run)?, max_walk, run)
    }

    /// In the `n_pairs` leading eigenpairs of the kernel only.
    pub fn truncated(graph: &SparseGraph, n_pairs: usize, max_walk: usize, run: &Run<'_>) -> Result<Self> {
        Self::in_kernel(graph, KernelDistances::truncated(graph, n_pairs, run)?, max_walk, run)
    }

    fn in_kernel(
        graph: &SparseGraph,
        kernel: KernelDistances,
        max_walk: usize,
        run: &Run<'_>,
    ) -> Result<Self> {
        require((1..=100).contains(&max_walk), "max walk", max_walk, "must be between 1 and 100")?;
        let components = graph.components().clone();
        let mut walks = vec![END; graph.n_nodes() * max_walk];
        for nodes in components.nodes() {
            walk_component(&nodes, &kernel, max_walk, &mut walks, run)?;
        }
        Ok(Self { components, kernel, walks, max_walk })
    }

    /// S between two nodes: the kernel distance, infinite across components.
    pub fn kernel_distance(&self, i: usize, j: usize) -> f64 {
        let of = self.components.of_nodes();
        if of[i] == of[j] { self.kernel.distance(i, j) } else { f64::INFINITY }
    }

    /// How much of the kernel is used.
    pub fn info(&self) -> WalkInfo {
        let n_all = self.components.of_nodes().len() - self.components.len();
        let (n_pairs, truncation) = self.kernel.truncation().unwrap_or((n_all, 0.0));
        WalkInfo { n_pairs, n_all, truncation }
    }

    /// For each node and class, minus the smallest distance from the walk to a label of the class.
    pub(super) fn scores(&self, labeled: &LabeledNodes) -> Scores {
        let (n, width) = (self.components.of_nodes().len(), labeled.n_classes());
        let mut values = vec![f64::NEG_INFINITY; n * width];
        values.par_chunks_exact_mut(width).enumerate().for_each(|(node, row)| {
            let walk = &self.walks[node * self.max_walk..(node + 1) * self.max_walk];
            for (step, &place) in walk.iter().enumerate() {
                // The walk ends before a labeled node; its starting node does not count.
                if place == END || (step > 0 && labeled.get(place as usize).is_some()) {
                    break;
                }
                for (label, class) in labeled.iter() {
                    let best = &mut row[class as usize];
                    *best = best.max(-self.kernel_distance(place as usize, label as usize));
                }
            }
        });
        let info = super::SolveInfo { iterations: 0, residual: 0.0 };
        Scores { values, returning: Vec::new(), info }
    }
}

/// The walks within one component. At most `max_walk` − 1 other nodes have been visited when the walk moves, so one of the
/// `max_walk` nearest is always new.
fn walk_component(
    nodes: &[u32],
    kernel: &KernelDistances,
    max_walk: usize,
    walks: &mut [u32],
    run: &Run<'_>,
) -> Result<()> {
    let near = kernel.nearest(nodes, max_walk.min(nodes.len() - 1), run)?;
    for (start, &node) in nodes.iter().enumerate() {
        let walk = &mut walks[node as usize * max_walk..(node as usize + 1) * max_walk];
        let mut visited = vec![start as u32];
        walk[0] = node;
        for step in walk.iter_mut().skip(1) {
            let here = visited[visited.len() - 1] as usize;
            let Some(&next) = near[here].iter().find(|id| !visited.contains(id)) else { break };
            visited.push(next);
            *step = nodes[next as usize];
        }
    }
    Ok(())
}
