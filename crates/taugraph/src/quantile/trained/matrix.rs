//! The similarities as the symmetric matrix W that the trained estimators see: 1 on the diagonal, the
//! similarity on candidate edges, 0 elsewhere. Stored sparse; dense only a few columns at a time.

use faer::{Accum, MatRef};
use rayon::prelude::*;

use crate::affinity::Similarities;
use crate::dense::{columns_of, columns_of_mut, multiply, orthonormalize, symmetric_eigen};
use crate::error::Result;
use crate::graph::SparseGraph;
use crate::progress::Run;
use crate::random::{Stage, Stream};

/// Rounds of subspace iteration for the leading eigenvectors: a start for training, not an answer.
const ROUNDS: usize = 20;

/// Column-major, `n` rows → row-major.
pub(super) fn transposed(values: &[f64], n: usize) -> Vec<f64> {
    let p = values.len() / n;
    (0..n).flat_map(|i| (0..p).map(move |t| values[t * n + i])).collect()
}

/// W.
#[derive(Debug)]
pub(super) struct AffinityMatrix {
    off_diagonal: SparseGraph,
}

impl AffinityMatrix {
    pub fn new(similarities: &Similarities<'_>) -> Result<Self> {
        Ok(Self { off_diagonal: SparseGraph::from_edges(similarities.edges(), similarities.values())? })
    }

    /// Bytes for `n_edges` edges on `n_nodes` nodes.
    pub fn bytes(n_nodes: u64, n_edges: u64) -> u64 {
        24 * n_edges + 40 * n_nodes
    }

    pub fn len(&self) -> usize {
        self.off_diagonal.n_nodes()
    }

    /// An entry of W.
    pub fn get(&self, i: u32, j: u32) -> f64 {
        if i == j {
            return 1.0;
        }
        let graph = &self.off_diagonal;
        let row = graph.offsets()[i as usize] as usize..graph.offsets()[i as usize + 1] as usize;
        let place = graph.ids()[row.clone()].binary_search(&j);
        place.map_or(0.0, |place| graph.weights()[row.start + place])
    }

    /// The mean over all entries.
    pub fn mean(&self) -> f64 {
        let n = self.len() as f64;
        (n + self.off_diagonal.weights().iter().sum::<f64>()) / (n * n)
    }

    /// A row of W, its diagonal among the candidates: (column, similarity), ascending.
    pub fn row(&self, i: usize) -> Vec<(u32, f64)> {
        let mut row: Vec<(u32, f64)> = self.off_diagonal.row(i).collect();
        let place = row.partition_point(|&(j, _)| (j as usize) < i);
        row.insert(place, (i as u32, 1.0));
        row
    }

    /// Writes the columns named by `nodes` one after the other.
    pub fn write_columns(&self, nodes: &[u32], out: &mut Vec<f64>) {
        let n = self.len();
        out.clear();
        out.resize(n * nodes.len(), 0.0);
        let graph = &self.off_diagonal;
        out.par_chunks_exact_mut(n).zip(nodes).for_each(|(column, &node)| {
            let i = node as usize;
            column[i] = 1.0;
            let row = graph.offsets()[i] as usize..graph.offsets()[i + 1] as usize;
            if row.len() == n - 1 {
                // All pairs are candidates: the row has every column but its own.
                let (before, after) = graph.weights()[row].split_at(i);
                column[..i].copy_from_slice(before);
                column[i + 1..].copy_from_slice(after);
                return;
            }
            for (j, weight) in graph.row(i) {
                column[j as usize] = weight;
            }
        });
    }

    /// W·X for a column-major X; the product is written transposed (row by row of W).
    fn times_transposed(&self, x: MatRef<'_, f64>) -> Vec<f64> {
        let (n, p) = (self.len(), x.ncols());
        let mut rows = vec![0.0; n * p];
        // Row-major copy: one pass over contiguous rows for each entry of W.
        let mut by_row = vec![0.0; n * p];
        for (i, row) in by_row.chunks_exact_mut(p).enumerate() {
            row.iter_mut().enumerate().for_each(|(t, value)| *value = x[(i, t)]);
        }
        rows.par_chunks_exact_mut(p).enumerate().for_each(|(i, out)| {
            out.copy_from_slice(&by_row[i * p..(i + 1) * p]);
            for (j, weight) in self.off_diagonal.row(i) {
                let row = &by_row[j as usize * p..(j as usize + 1) * p];
                out.iter_mut().zip(row).for_each(|(sum, value)| *sum += weight * value);
            }
        });
        rows
    }

    /// Approximate eigenvectors of the `rank` largest eigenvalues (column-major, orthonormal) and the values.
    pub fn leading_eigenvectors(&self, rank: usize, run: &Run<'_>) -> Result<(Vec<f64>, Vec<f64>)> {
        let n = self.len();
        let mut draws = Stream::new(run.seed, Stage::Weights).at(0, 1);
        let mut basis: Vec<f64> = (0..n * rank).map(|_| draws.normal()).collect();
        for round in 0..=ROUNDS {
            run.check()?;
            orthonormalize(&mut basis, n, &mut draws);
            let product = self.times_transposed(columns_of(&basis, n));
            let product = MatRef::from_row_major_slice(&product, n, rank);
            if round < ROUNDS {
                for (t, column) in basis.chunks_exact_mut(n).enumerate() {
                    column.iter_mut().enumerate().for_each(|(i, value)| *value = product[(i, t)]);
                }
            } else {
                let mut small = vec![0.0; rank * rank];
                multiply(
                    columns_of_mut(&mut small, rank),
                    Accum::Replace,
                    columns_of(&basis, n).transpose(),
                    product,
                    1.0,
                );
                let (values, vectors) = symmetric_eigen(columns_of(&small, rank))?;
                let mut rotated = vec![0.0; n * rank];
                let descending = vectors.as_ref().reverse_cols();
                multiply(
                    columns_of_mut(&mut rotated, n),
                    Accum::Replace,
                    columns_of(&basis, n),
                    descending,
                    1.0,
                );
                return Ok((rotated, values.into_iter().rev().collect()));
            }
        }
        unreachable!("the last round returns")
    }
}
