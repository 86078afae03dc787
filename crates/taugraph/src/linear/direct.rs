//! Small systems by a Cholesky factor: where most pairs of a few hundred nodes are edges, a cycle of multigrid for many right-hand sides takes
//! longer than the factor. It needs no hierarchy, and of right-hand sides that are only measured it takes half the substitution: with A = C·Cᵀ,
//! bᵀ·A⁻¹·b is the squared length of C⁻¹·b.

use faer::{Accum, Mat};

use super::{Right, SolveInfo, Solved, Solver};
use crate::dense::{Cholesky, multiply};
use crate::graph::SparseGraph;

/// Nodes up to which it is considered: two matrices of 8 MB.
pub(super) const MAX_NODES: usize = 1024;
/// Right-hand sides from which on it is considered. A few take multigrid about as long, and labels that hang on the tolerance stay as they were.
const MIN_WIDTH: usize = 16;
/// Operations of the iteration for each entry of the matrix and right-hand side, in the time of one operation of dense algebra.
const PER_ENTRY: usize = 120;
/// Corrections by the residual.
const MAX_CORRECTIONS: usize = 2;

/// Whether the factor is likely faster than multigrid for so many right-hand sides.
pub(super) fn pays(graph: &SparseGraph, width: usize) -> bool {
    let (n, n_entries) = (graph.n_nodes(), graph.ids().len());
    n <= MAX_NODES && width >= MIN_WIDTH && n.pow(3) / 3 + 4 * n * n * width < PER_ENTRY * n_entries * width
}

/// What is solved: L + E in units of a weight, without the nodes that are out.
pub(super) struct System<'a> {
    pub graph: &'a SparseGraph,
    pub unit: f64,
    pub is_out: &'a [bool],
    pub extra: &'a [f64],
}

/// Solves; nodes that are out are 0. `None` if the matrix is not positive definite to working precision or the tolerance is not reached, without a
/// correction if there is something to measure.
pub(super) fn solve(system: &System<'_>, right: &Right<'_>, solver: &Solver) -> Option<Solved> {
    let free: Vec<usize> = (0..system.is_out.len()).filter(|&node| !system.is_out[node]).collect();
    let matrix = system.matrix(&free);
    let factor = Cholesky::of(matrix.clone()).ok()?;
    let unit = system.unit;
    let columns = |values: &[f64], width: usize| {
        Mat::from_fn(free.len(), width, |place, column| values[free[place] * width + column] / unit)
    };
    let b = columns(right.solved, right.width);
    let mut x = b.clone();
    factor.solve_in_place(x.as_mut());
    let mut corrections = 0;
    let residual = loop {
        let mut residual = b.clone();
        multiply(residual.as_mut(), Accum::Add, matrix.as_ref(), x.as_ref(), -1.0);
        let worst = relative(&matrix, &residual, &b);
        if worst <= solver.tolerance {
            break worst;
        }
        if corrections == MAX_CORRECTIONS || right.n_measured > 0 || worst.is_nan() {
            return None;
        }
        factor.solve_in_place(residual.as_mut());
        x += &residual;
        corrections += 1;
    };
    let mut halves = columns(right.measured, right.n_measured);
    factor.solve_half_in_place(halves.as_mut());
    let measured =
        (0..right.n_measured).map(|column| unit * halves.as_ref().col(column).squared_norm_l2()).collect();
    let mut values = vec![0.0; right.solved.len()];
    for (place, &node) in free.iter().enumerate() {
        let row = &mut values[node * right.width..(node + 1) * right.width];
        row.iter_mut().enumerate().for_each(|(column, value)| *value = x[(place, column)]);
    }
    Some(Solved { values, measured, info: SolveInfo { iterations: corrections + 1, residual } })
}

impl System<'_> {
    /// The matrix of the nodes that are not out.
    fn matrix(&self, free: &[usize]) -> Mat<f64> {
        const OUT: usize = usize::MAX;
        let mut place_of = vec![OUT; self.is_out.len()];
        free.iter().enumerate().for_each(|(place, &node)| place_of[node] = place);
        let mut matrix = Mat::<f64>::zeros(free.len(), free.len());
        for (place, &node) in free.iter().enumerate() {
            let mut diagonal = self.extra[node] / self.unit;
            let column = matrix.col_as_slice_mut(place);
            for (other, weight) in self.graph.row(node) {
                let weight = weight / self.unit;
                diagonal += weight;
                if place_of[other as usize] != OUT {
                    column[place_of[other as usize]] = -weight;
                }
            }
            column[place] = diagonal;
        }
        matrix
    }
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
