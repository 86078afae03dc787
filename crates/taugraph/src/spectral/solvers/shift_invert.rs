//! (A + shift·I)⁻¹ through a sparse Cholesky factorization: small eigenvalues of A become large and far apart.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMat, SymbolicSparseColMat};
use faer::{Conj, MatMut, Par, Side};

use super::{SymmetricMatrix, SymmetricOperator};

/// A + shift·I, positive definite, symbolically factorized.
pub(in super::super) struct Shifted {
    matrix: SparseColMat<usize, f64>,
    symbolic: SymbolicCholesky<usize>,
    shift: f64,
}

/// The factorized inverse.
pub(in super::super) struct ShiftInvert {
    symbolic: SymbolicCholesky<usize>,
    factor: Vec<f64>,
    shift: f64,
}

impl Shifted {
    /// Orders the rows for low fill-in and finds the sparsity pattern of the factor.
    pub fn new(operator: &impl SymmetricMatrix, shift: f64) -> Option<Self> {
        let n = operator.len();
        let (mut columns, mut rows, mut values) = (vec![0usize], Vec::new(), Vec::new());
        for i in 0..n {
            rows.push(i);
            values.push(operator.diagonal(i) + shift);
            // The lower triangle by columns is the upper triangle by rows.
            for (j, value) in operator.off_diagonal(i).filter(|&(j, _)| j as usize > i) {
                rows.push(j as usize);
                values.push(value);
            }
            columns.push(rows.len());
        }
        let matrix = SparseColMat::new(SymbolicSparseColMat::new_checked(n, n, columns, None, rows), values);
        let symbolic = factorize_symbolic_cholesky(
            matrix.symbolic(),
            Side::Lower,
            SymmetricOrdering::Amd,
            CholeskySymbolicParams::default(),
        )
        .ok()?;
        Some(Self { matrix, symbolic, shift })
    }

    /// Bytes that the factorization allocates.
    pub fn bytes(&self) -> u64 {
        let scratch = self.symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        8 * self.symbolic.len_val() as u64 + scratch.unaligned_bytes_required() as u64
    }

    /// Factorizes; `None` if the matrix is not positive definite to working precision.
    pub fn factorize(self) -> Option<ShiftInvert> {
        let Shifted { matrix, symbolic, shift } = self;
        let scratch = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        let mut factor = vec![0.0; symbolic.len_val()];
        let mut buffer = MemBuffer::try_new(scratch).ok()?;
        symbolic
            .factorize_numeric_llt(
                &mut factor,
                matrix.as_ref(),
                Side::Lower,
                Default::default(),
                Par::Seq,
                MemStack::new(&mut buffer),
                Default::default(),
            )
            .ok()?;
        Some(ShiftInvert { symbolic, factor, shift })
    }
}

impl SymmetricOperator for ShiftInvert {
    fn len(&self) -> usize {
        self.symbolic.nrows()
    }

    fn norm_bound(&self) -> f64 {
        1.0 / self.shift
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        y.copy_from_slice(x);
        let mut buffer = MemBuffer::new(self.symbolic.solve_in_place_scratch::<f64>(1, Par::Seq));
        let n = y.len();
        let right = MatMut::from_column_major_slice_mut(y, n, 1);
        LltRef::new(&self.symbolic, &self.factor).solve_in_place_with_conj(
            Conj::No,
            right,
            Par::Seq,
            MemStack::new(&mut buffer),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::Edges;
    use crate::graph::SparseGraph;
    use crate::random::{Stage, Stream};
    use crate::spectral::{Laplacian, LaplacianKind};

    /// Random graphs of many sizes: simplicial and supernodal factors, every shape of their inner products.
    #[test]
    fn the_inverse_inverts() {
        for n in [1usize, 2, 3, 5, 12, 13, 17, 33, 64, 101, 200, 400] {
            let mut draws = Stream::new(n as u64, Stage::Generator).at(0, 0);
            let pairs: Vec<(u32, u32)> = (0..6 * n)
                .map(|_| (draws.below(n) as u32, draws.below(n) as u32))
                .filter(|(i, j)| i != j)
                .collect();
            let edges = Edges::from_pairs(n, pairs).unwrap();
            let weights: Vec<f64> = (0..edges.len()).map(|_| draws.uniform() + 0.01).collect();
            let graph = SparseGraph::from_edges(&edges, &weights).unwrap();
            let laplacian = Laplacian::new(&graph, LaplacianKind::Symmetric);
            let inverse = Shifted::new(&laplacian, 0.1).unwrap().factorize().unwrap();
            let x: Vec<f64> = (0..n).map(|_| draws.normal()).collect();
            let (mut y, mut back) = (vec![0.0; n], vec![0.0; n]);
            inverse.apply(&x, &mut y);
            laplacian.apply(&y, &mut back);
            for ((back, y), x) in back.iter().zip(&y).zip(&x) {
                assert!((back + 0.1 * y - x).abs() < 1e-11, "n = {n}");
            }
        }
    }

    #[test]
    fn a_dense_factor_is_counted() {
        let edges = Edges::all_pairs(50);
        let graph = SparseGraph::from_edges(&edges, &vec![1.0; edges.len()]).unwrap();
        let shifted = Shifted::new(&Laplacian::new(&graph, LaplacianKind::Symmetric), 0.1).unwrap();
        assert!(shifted.bytes() >= 8 * 50 * 51 / 2);
    }
}
