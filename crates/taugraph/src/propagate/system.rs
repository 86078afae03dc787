//! The linear systems of the rules: a diagonal minus the weights of the graph, on the nodes that take part.

use crate::graph::{Components, SparseGraph};

/// diag(d) − f·S W S on the nodes with d > 0, with S = diag(s) or the identity.
pub(super) struct GraphSystem<'a> {
    pub graph: &'a SparseGraph,
    /// d: 0 takes a node out of the system.
    pub diagonal: Vec<f64>,
    /// s; `None` is the identity.
    pub scale: Option<Vec<f64>>,
    /// f.
    pub factor: f64,
    /// The null vector of each component, all in one: orthogonal to everything that is to be solved.
    pub null: Option<(&'a Components, Vec<f64>)>,
}

impl GraphSystem<'_> {
    /// Row `node` of the matrix times `x`, for each of the right-hand sides; `out` has one entry for each.
    pub fn apply_row(&self, node: usize, x: &[f64], out: &mut [f64]) {
        let width = out.len();
        let own = self.diagonal[node];
        if own == 0.0 {
            out.fill(0.0);
            return;
        }
        let at = |node: usize| &x[node * width..(node + 1) * width];
        out.iter_mut().zip(at(node)).for_each(|(out, x)| *out = own * x);
        let scale = |node: usize| self.scale.as_ref().map_or(1.0, |scale| scale[node]);
        let of_node = self.factor * scale(node);
        for (neighbor, weight) in self.graph.row(node) {
            let neighbor = neighbor as usize;
            if self.diagonal[neighbor] > 0.0 {
                let weight = of_node * weight * scale(neighbor);
                out.iter_mut().zip(at(neighbor)).for_each(|(out, x)| *out -= weight * x);
            }
        }
    }

    /// Removes the part of `x` that the matrix does not see.
    pub fn project(&self, x: &mut [f64], width: usize) {
        let Some((components, null)) = &self.null else { return };
        let mut shares = vec![0.0; components.len() * width];
        let mut lengths = vec![0.0; components.len()];
        for (node, row) in x.chunks_exact(width).enumerate() {
            let component = components.of_nodes()[node] as usize;
            lengths[component] += null[node] * null[node];
            let sums = &mut shares[component * width..(component + 1) * width];
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += null[node] * x);
        }
        for (node, row) in x.chunks_exact_mut(width).enumerate() {
            let component = components.of_nodes()[node] as usize;
            if lengths[component] > 0.0 {
                let factor = null[node] / lengths[component];
                let sums = &shares[component * width..(component + 1) * width];
                row.iter_mut().zip(sums).for_each(|(x, sum)| *x -= factor * sum);
            }
        }
    }
}
