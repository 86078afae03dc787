//! The coarsest level of multigrid: a matrix small enough to be inverted explicitly.

use super::kernels::Real;

/// Fraction of a diagonal entry below which a pivot is rounding error.
const ROUNDING: f64 = 1e-13;

/// A symmetric matrix in compressed rows: positive weights off the diagonal, which enter with a minus sign.
#[derive(Clone, Copy)]
pub(super) struct SmallMatrix<'a> {
    pub offsets: &'a [usize],
    pub ids: &'a [u32],
    pub weights: &'a [f64],
    pub diagonal: &'a [f64],
    /// The diagonal's excess over the weights of its row.
    pub excess: &'a [f64],
}

/// The inverse, row by row; 0 in the rows and columns of removed nodes.
pub(super) struct Inverse {
    values: Vec<f64>,
}

impl SmallMatrix<'_> {
    fn len(&self) -> usize {
        self.diagonal.len()
    }

    fn row(&self, node: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let entries = self.offsets[node]..self.offsets[node + 1];
        self.ids[entries.clone()].iter().map(|&id| id as usize).zip(self.weights[entries].iter().copied())
    }

    /// Nodes whose removal makes the matrix positive definite: those that take no part, and one of every connected component
    /// that is not grounded.
    fn nodes_to_take_out(&self) -> Vec<bool> {
        let mut is_out: Vec<bool> = self.diagonal.iter().map(|&diagonal| diagonal <= 0.0).collect();
        let mut is_seen = is_out.clone();
        for start in 0..self.len() {
            if !is_seen[start] {
                let component = self.component(start, &mut is_seen);
                is_out[start] = component.iter().all(|&node| self.excess[node] == 0.0);
            }
        }
        is_out
    }

    /// The nodes connected to `start` by positive weights.
    fn component(&self, start: usize, is_seen: &mut [bool]) -> Vec<usize> {
        is_seen[start] = true;
        let mut component = vec![start];
        let mut next = 0;
        while let Some(&node) = component.get(next) {
            next += 1;
            for (other, _) in self.row(node).filter(|&(_, weight)| weight > 0.0) {
                if !std::mem::replace(&mut is_seen[other], true) {
                    component.push(other);
                }
            }
        }
        component
    }

    /// The matrix without the removed nodes, row by row.
    fn dense(&self, is_out: &[bool]) -> Vec<f64> {
        let n = self.len();
        let mut a = vec![0.0; n * n];
        for node in (0..n).filter(|&node| !is_out[node]) {
            for (other, weight) in self.row(node).filter(|&(other, _)| !is_out[other]) {
                a[node * n + other] = -weight;
            }
            a[node * n + node] = self.diagonal[node];
        }
        a
    }
}

impl Inverse {
    /// By Gauss–Jordan sweeps, one for each node.
    pub fn of(matrix: SmallMatrix<'_>) -> Self {
        let n = matrix.len();
        let mut is_out = matrix.nodes_to_take_out();
        let mut a = matrix.dense(&is_out);
        for pivot in 0..n {
            // What vanishing weights leave of a pivot is rounding: such a node is removed as well.
            if is_out[pivot] || a[pivot * n + pivot] <= ROUNDING * matrix.diagonal[pivot] {
                is_out[pivot] = true;
                continue;
            }
            sweep(&mut a, n, pivot);
        }
        for (place, value) in a.iter_mut().enumerate() {
            if is_out[place / n] || is_out[place % n] {
                *value = 0.0;
            }
        }
        Self { values: a }
    }

    /// x ← inverse·r.
    pub fn multiply<T: Real>(&self, r: &[T], x: &mut [T], width: usize) {
        let n = r.len() / width;
        // No node is left on this level.
        if n == 0 {
            return;
        }
        for (x, row) in x.chunks_exact_mut(width).zip(self.values.chunks_exact(n)) {
            x.fill(T::default());
            for (r, a) in r.chunks_exact(width).zip(row) {
                x.iter_mut().zip(r).for_each(|(x, r)| *x += T::of(*a) * *r);
            }
        }
    }
}

/// Exchanges one unknown with its right-hand side.
fn sweep(a: &mut [f64], n: usize, pivot: usize) {
    let inverse = 1.0 / a[pivot * n + pivot];
    let row: Vec<f64> = a[pivot * n..(pivot + 1) * n].iter().map(|value| value * inverse).collect();
    for other in (0..n).filter(|&other| other != pivot) {
        let factor = a[other * n + pivot];
        if factor != 0.0 {
            a[other * n..(other + 1) * n].iter_mut().zip(&row).for_each(|(a, row)| *a -= factor * row);
            a[other * n + pivot] = -factor * inverse;
        }
    }
    a[pivot * n..(pivot + 1) * n].copy_from_slice(&row);
    a[pivot * n + pivot] = inverse;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path of three nodes and an isolated node; `excess` on the diagonal.
    fn inverse(excess: &[f64; 4]) -> Vec<f64> {
        let weights = [2.0, 2.0, 3.0, 3.0];
        let diagonal: Vec<f64> = [2.0, 5.0, 3.0, 0.0].iter().zip(excess).map(|(sum, e)| sum + e).collect();
        let (offsets, ids) = ([0, 1, 3, 4, 4], [1, 0, 2, 1]);
        Inverse::of(SmallMatrix {
            offsets: &offsets,
            ids: &ids,
            weights: &weights,
            diagonal: &diagonal,
            excess,
        })
        .values
    }

    #[test]
    fn a_component_that_is_held_is_inverted() {
        let found = inverse(&[1.0, 0.0, 0.0, 4.0]);
        // With only the first node tied to the ground, every node is reached through it.
        let exact = [1.0, 1.0, 1.0, 1.0, 1.5, 1.5, 1.0, 1.5, 1.5 + 1.0 / 3.0];
        for (place, exact) in exact.iter().enumerate() {
            assert!((found[place / 3 * 4 + place % 3] - exact).abs() < 1e-12);
        }
        assert_eq!(found[15], 0.25);
    }

    #[test]
    fn a_component_that_nothing_holds_loses_a_node() {
        let found = inverse(&[0.0; 4]);
        assert!(found[..4].iter().all(|value| *value == 0.0));
        assert!((found[5] - 0.5).abs() < 1e-12 && (found[10] - (0.5 + 1.0 / 3.0)).abs() < 1e-12);
        assert!(found[12..].iter().all(|value| *value == 0.0));
    }
}
