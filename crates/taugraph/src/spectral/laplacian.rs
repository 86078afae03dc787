//! Graph Laplacians as operators: they are applied, never formed.

use rayon::prelude::*;

use super::solvers::multilevel::Masses;
use super::solvers::{SymmetricMatrix, SymmetricOperator};
use crate::dense::norm;
use crate::graph::{Components, SparseGraph};
use crate::parameter::choices;

/// Rows per thread at a time.
const ROWS: usize = 512;

choices! {
    /// The Laplacian; D is the diagonal matrix of degrees.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum LaplacianKind = "symmetric" {
        /// I − D^−½ W D^−½; eigenvalues in [0, 2].
        "symmetric" => Symmetric,
        /// I − D^−1 W; has the eigenvalues of the symmetric one, and its eigenvectors divided by √D.
        "random-walk" => RandomWalk,
        /// D − W.
        "unnormalized" => Unnormalized,
    }
}

/// A Laplacian of a graph. The random-walk kind is represented by the symmetric one, to which it is similar.
#[derive(Debug)]
pub struct Laplacian<'a> {
    graph: &'a SparseGraph,
    kind: LaplacianKind,
    degrees: Vec<f64>,
    /// D^−½ (normalized kinds; 0 for isolated nodes) or 1.
    weights: Vec<f64>,
    norm_bound: f64,
}

impl<'a> Laplacian<'a> {
    /// The Laplacian of a graph.
    pub fn new(graph: &'a SparseGraph, kind: LaplacianKind) -> Self {
        let degrees = graph.degrees();
        let (weights, norm_bound) = match kind {
            LaplacianKind::Unnormalized => {
                (vec![1.0; degrees.len()], 2.0 * degrees.iter().copied().fold(f64::MIN_POSITIVE, f64::max))
            }
            _ => (degrees.iter().map(|&d| if d > 0.0 { 1.0 / d.sqrt() } else { 0.0 }).collect(), 2.0),
        };
        Self { graph, kind, degrees, weights, norm_bound }
    }

    /// The graph.
    pub fn graph(&self) -> &SparseGraph {
        self.graph
    }

    /// Which Laplacian.
    pub fn kind(&self) -> LaplacianKind {
        self.kind
    }

    /// Upper bound on the eigenvalues.
    pub fn norm_bound(&self) -> f64 {
        self.norm_bound
    }

    /// Sum of the weights of each node.
    pub fn degrees(&self) -> &[f64] {
        &self.degrees
    }

    /// How nodes are weighted in this kind of Laplacian.
    pub(super) fn masses(&self) -> Masses {
        match self.kind {
            LaplacianKind::Unnormalized => Masses::Ones,
            LaplacianKind::Symmetric | LaplacianKind::RandomWalk => Masses::Degrees,
        }
    }

    /// y ← L·x.
    pub fn apply(&self, x: &[f64], y: &mut [f64]) {
        self.accumulate(x, y, |diagonal, x, sum| diagonal * x - sum);
    }

    fn accumulate(&self, x: &[f64], y: &mut [f64], join: impl Fn(f64, f64, f64) -> f64 + Sync) {
        let scaled: Vec<f64> =
            x.par_iter().with_min_len(8192).zip(&self.weights).map(|(x, s)| x * s).collect();
        let (offsets, ids, weights) = (self.graph.offsets(), self.graph.ids(), self.graph.weights());
        y.par_chunks_mut(ROWS).enumerate().for_each(|(block, part)| {
            for (row, out) in part.iter_mut().enumerate() {
                let i = block * ROWS + row;
                let entries = offsets[i] as usize..offsets[i + 1] as usize;
                let sum = sparse_dot(&ids[entries.clone()], &weights[entries], &scaled);
                *out = join(self.diagonal(i), x[i], self.weights[i] * sum);
            }
        });
    }

    /// The unit vectors that would be null vectors if the given parts were separate components: D^½·1 (or 1) on
    /// each part. For the components themselves they span the null space; no eigenproblem needs to be solved.
    pub(super) fn part_vectors(
        &self,
        parts: &Components,
        named: impl IntoIterator<Item = usize>,
    ) -> Vec<f64> {
        let n = self.degrees.len();
        let mut vectors = Vec::new();
        for part in named {
            let begin = vectors.len();
            vectors.extend(parts.of_nodes().iter().zip(&self.degrees).map(|(&of_node, &degree)| {
                match self.kind {
                    _ if of_node as usize != part => 0.0,
                    LaplacianKind::Symmetric | LaplacianKind::RandomWalk if degree > 0.0 => degree.sqrt(),
                    _ => 1.0,
                }
            }));
            let length = norm(&vectors[begin..begin + n]);
            vectors[begin..].iter_mut().for_each(|v| *v /= length);
        }
        vectors
    }
}

impl SymmetricOperator for Laplacian<'_> {
    fn len(&self) -> usize {
        self.degrees.len()
    }

    fn norm_bound(&self) -> f64 {
        self.norm_bound
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        Laplacian::apply(self, x, y);
    }
}

impl SymmetricMatrix for Laplacian<'_> {
    fn diagonal(&self, i: usize) -> f64 {
        match self.kind {
            LaplacianKind::Unnormalized => self.degrees[i],
            // An isolated node is a component of its own: its null vector needs a zero here.
            _ => f64::from(u8::from(self.degrees[i] > 0.0)),
        }
    }

    fn off_diagonal(&self, i: usize) -> impl Iterator<Item = (u32, f64)> {
        self.graph.row(i).map(move |(j, w)| (j, -w * self.weights[i] * self.weights[j as usize]))
    }
}

/// Σ weight·x[id], in four interleaved sums: a single sum would wait for each addition to finish.
#[inline]
fn sparse_dot(ids: &[u32], weights: &[f64], x: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (id_chunks, weight_chunks) = (ids.chunks_exact(4), weights.chunks_exact(4));
    let rest = id_chunks.remainder().iter().zip(weight_chunks.remainder());
    let rest: f64 = rest.map(|(&id, weight)| weight * x[id as usize]).sum();
    for (ids, weights) in id_chunks.zip(weight_chunks) {
        for lane in 0..4 {
            sums[lane] += weights[lane] * x[ids[lane] as usize];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// bound·I − L: its *largest* eigenvalues correspond to the smallest of L.
pub(super) struct Flipped<'a>(pub &'a Laplacian<'a>);

impl SymmetricOperator for Flipped<'_> {
    fn len(&self) -> usize {
        self.0.degrees.len()
    }

    fn norm_bound(&self) -> f64 {
        self.0.norm_bound
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        let bound = self.0.norm_bound;
        self.0.accumulate(x, y, |diagonal, x, sum| (bound - diagonal) * x + sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::Edges;

    #[test]
    fn operators_equal_their_matrices_and_kill_their_null_vectors() {
        // A triangle with a tail, and an isolated node.
        let edges = Edges::from_pairs(5, [(0, 1), (0, 2), (1, 2), (2, 3)]).unwrap();
        let graph = SparseGraph::from_edges(&edges, &[1.0, 2.0, 3.0, 0.5]).unwrap();
        let components = graph.components().clone();
        for kind in [LaplacianKind::Symmetric, LaplacianKind::RandomWalk, LaplacianKind::Unnormalized] {
            let laplacian = Laplacian::new(&graph, kind);
            for column in 0..5 {
                let (mut x, mut y, mut z) = (vec![0.0; 5], vec![0.0; 5], vec![0.0; 5]);
                x[column] = 1.0;
                laplacian.apply(&x, &mut y);
                Flipped(&laplacian).apply(&x, &mut z);
                for row in 0..5 {
                    let entry = if row == column {
                        laplacian.diagonal(row)
                    } else {
                        laplacian
                            .off_diagonal(row)
                            .find(|&(j, _)| j as usize == column)
                            .map_or(0.0, |pair| pair.1)
                    };
                    assert!((y[row] - entry).abs() < 1e-15);
                    let flipped = if row == column { laplacian.norm_bound() - entry } else { -entry };
                    assert!((z[row] - flipped).abs() < 1e-15);
                }
            }
            for vector in laplacian.part_vectors(&components, 0..2).chunks_exact(5) {
                let mut image = vec![0.0; 5];
                laplacian.apply(vector, &mut image);
                assert!(image.iter().all(|v| v.abs() < 1e-14), "{kind:?}: {image:?}");
            }
        }
    }
}
