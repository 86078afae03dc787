//! Small systems by a Cholesky factor: where most pairs of a few hundred nodes are edges, a cycle of multigrid for many right-hand sides takes
//! longer than the factor.

use faer::{Accum, Mat};

use super::hierarchy::Hierarchy;
use super::{SolveInfo, Solver};
use crate::dense::{Cholesky, multiply};

/// Nodes up to which it is considered: two matrices of 8 MB.
const MAX_NODES: usize = 1024;
/// Right-hand sides from which on it is considered. A few take multigrid about as long, and labels that hang on the tolerance stay as they were.
const MIN_WIDTH: usize = 16;
/// Operations of the iteration for each entry of the matrix and right-hand side, in the time of one operation of dense algebra.
const PER_ENTRY: usize = 120;
/// Corrections by the residual.
const MAX_CORRECTIONS: usize = 2;

/// Whether the factor is likely faster than multigrid for so many right-hand sides.
pub(super) fn pays(hierarchy: &Hierarchy, width: usize) -> bool {
    let (n, n_entries) = (hierarchy.order().len(), hierarchy.weights().len());
    n <= MAX_NODES && width >= MIN_WIDTH && n.pow(3) / 3 + 4 * n * n * width < PER_ENTRY * n_entries * width
}

/// Solves for the given right-hand sides, one column for each, in the order of the hierarchy. Nodes that are out are 0. `None` if the matrix is not
/// positive definite to working precision or the tolerance is not reached.
pub(super) fn solve(
    hierarchy: &Hierarchy,
    is_out: &[bool],
    extra: &[f64],
    right: &Mat<f64>,
    solver: &Solver,
) -> Option<(Mat<f64>, SolveInfo)> {
    let n = is_out.len();
    let pattern = &hierarchy.patterns()[0];
    let mut matrix = Mat::<f64>::zeros(n, n);
    for node in 0..n {
        if is_out[node] {
            matrix[(node, node)] = 1.0;
            continue;
        }
        let mut diagonal = extra[node];
        for entry in pattern.offsets[node]..pattern.offsets[node + 1] {
            let (other, weight) = (pattern.ids[entry] as usize, hierarchy.weights()[entry]);
            diagonal += weight;
            if !is_out[other] {
                matrix[(other, node)] = -weight;
            }
        }
        matrix[(node, node)] = diagonal;
    }
    let factor = Cholesky::of(matrix.clone()).ok()?;
    let mut x = right.clone();
    factor.solve_in_place(x.as_mut());
    for corrections in 0.. {
        let mut residual = right.clone();
        multiply(residual.as_mut(), Accum::Add, matrix.as_ref(), x.as_ref(), -1.0);
        let worst = relative(&matrix, &residual, right);
        if worst <= solver.tolerance {
            return Some((x, SolveInfo { iterations: corrections + 1, residual: worst }));
        }
        if corrections == MAX_CORRECTIONS || worst.is_nan() {
            return None;
        }
        factor.solve_in_place(residual.as_mut());
        x += &residual;
    }
    None
}

/// The largest residual relative to its right-hand side, both in units of the diagonal.
fn relative(matrix: &Mat<f64>, residual: &Mat<f64>, right: &Mat<f64>) -> f64 {
    let square = |of: &Mat<f64>, column: usize| -> f64 {
        (0..of.nrows()).map(|node| of[(node, column)].powi(2) / matrix[(node, node)]).sum()
    };
    let of_column = |column: usize| {
        let (left, start) = (square(residual, column), square(right, column));
        if left == 0.0 { 0.0 } else { (left / start).sqrt() }
    };
    // NaN, if there is any.
    (0..right.ncols())
        .map(of_column)
        .fold(0.0, |worst, of| if of > worst || of.is_nan() { of } else { worst })
}
