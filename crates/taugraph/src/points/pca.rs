//! Principal components, for wide tables.

use faer::{Accum, MatMut, MatRef};

use super::Points;
use crate::dense::{columns_of, columns_of_mut, multiply, orthonormalize, symmetric_eigen};
use crate::error::{Error, Result};
use crate::progress::Run;
use crate::random::{Stage, Stream};

/// Up to this many rows or columns the eigenproblem is solved exactly; beyond that, by seeded randomized subspace iteration.
const EXACT_SIDE: usize = 2048;
/// Oversampling and number of rounds of the randomized subspace iteration
/// (Halko, Martinsson, Tropp 2011 recommend 5 to 10 and 2 to 4; more costs little here).
const OVERSAMPLING: usize = 10;
const ROUNDS: usize = 8;

/// The rotation; maps new points in the same way.
#[derive(Debug, Clone, PartialEq)]
pub struct PcaModel {
    /// Mean of each column.
    pub mean: Vec<f64>,
    /// Orthonormal components, one after the other, each with one entry per column.
    pub components: Vec<f64>,
    /// Variance along each component (over n).
    pub variances: Vec<f64>,
    /// Total variance of all columns.
    pub total_variance: f64,
}

impl PcaModel {
    /// Share of the variance that the components keep.
    pub fn explained(&self) -> f64 {
        self.variances.iter().sum::<f64>() / self.total_variance
    }

    /// The coordinates of a row along the components.
    pub(super) fn rotate<'a>(&'a self, row: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        self.components.chunks_exact(self.mean.len()).map(move |component| {
            row.iter().zip(&self.mean).zip(component).map(|((v, mean), c)| (v - mean) * c).sum()
        })
    }
}

/// The points in the coordinates of their `n_components` leading principal components.
///
/// The sign of a component is fixed so that its largest entry is positive.
pub fn principal_components(
    points: &Points,
    n_components: usize,
    run: &Run<'_>,
) -> Result<(Points, PcaModel)> {
    let (n, d) = (points.len(), points.n_columns());
    if n_components == 0 || n_components > n.min(d) {
        return Err(Error::Parameter {
            name: "pca".into(),
            value: n_components.to_string(),
            rule: "must be at least 1 and at most the smaller of rows and varying columns".into(),
        });
    }
    run.stage("principal components", None)?;
    let mut mean = vec![0.0; d];
    for row in points.values().rows(d) {
        mean.iter_mut().zip(row.iter()).for_each(|(m, v)| *m += v / n as f64);
    }
    let mut centered = Vec::with_capacity(n * d);
    points.values().rows(d).for_each(|row| centered.extend(row.iter().zip(&mean).map(|(v, m)| v - m)));
    run.check()?;
    // Row-major n×d is column-major d×n: the table's transpose.
    let table = columns_of(&centered, d);
    let total_variance = centered.iter().map(|v| v * v).sum::<f64>() / n as f64;
    let mut components = if n.min(d) <= EXACT_SIDE {
        exact(table, n_components, run)?
    } else {
        random_subspace(table, n_components, run)?
    };
    for component in components.chunks_exact_mut(d) {
        let largest = component.iter().fold(0.0f64, |m, v| if v.abs() > m.abs() { *v } else { m });
        if largest < 0.0 {
            component.iter_mut().for_each(|v| *v = -*v);
        }
    }
    run.check()?;
    let mut rotated = vec![0.0; n * n_components];
    let out = MatMut::from_column_major_slice_mut(&mut rotated, n_components, n);
    multiply(out, Accum::Replace, columns_of(&components, d).transpose(), table, 1.0);
    let mut variances = vec![0.0; n_components];
    for row in rotated.chunks_exact(n_components) {
        variances.iter_mut().zip(row).for_each(|(s, v)| *s += v * v / n as f64);
    }
    Ok((Points::new(rotated, n_components)?, PcaModel { mean, components, variances, total_variance }))
}

/// From the covariance of the columns, or from the inner products of the rows, whichever is smaller.
fn exact(table: MatRef<'_, f64>, n_components: usize, run: &Run<'_>) -> Result<Vec<f64>> {
    let (d, n) = (table.nrows(), table.ncols());
    let side = d.min(n);
    let mut gram = vec![0.0; side * side];
    let view = columns_of_mut(&mut gram, side);
    if d <= n {
        multiply(view, Accum::Replace, table, table.transpose(), 1.0);
    } else {
        multiply(view, Accum::Replace, table.transpose(), table, 1.0);
    }
    let (values, vectors) = run.unstoppable(move || symmetric_eigen(columns_of(&gram, side)))??;
    let mut components = vec![0.0; d * n_components];
    for (rank, component) in components.chunks_exact_mut(d).enumerate() {
        let column = vectors.col(side - 1 - rank);
        if d <= n {
            component.iter_mut().zip(column.iter()).for_each(|(c, v)| *c = *v);
        } else {
            // The direction in column space is Xᵀu / √λ; directions without variance are repaired below.
            let scale = values[side - 1 - rank].max(0.0).sqrt();
            if scale > 0.0 {
                let out = columns_of_mut(component, d);
                multiply(out, Accum::Replace, table, column.as_mat(), 1.0 / scale);
            }
        }
    }
    orthonormalize(&mut components, d, &mut Stream::new(0, Stage::Pca).at(0, 0));
    Ok(components)
}

/// Subspace iteration from a seeded random start.
fn random_subspace(table: MatRef<'_, f64>, n_components: usize, run: &Run<'_>) -> Result<Vec<f64>> {
    let (d, n) = (table.nrows(), table.ncols());
    let width = (n_components + OVERSAMPLING).min(d.min(n));
    let mut draws = Stream::new(run.seed, Stage::Pca).at(1, 0);
    let mut basis: Vec<f64> = (0..d * width).map(|_| draws.normal()).collect();
    let mut scores = vec![0.0; n * width];
    for round in 0..=ROUNDS {
        run.check()?;
        orthonormalize(&mut basis, d, &mut draws);
        multiply(
            columns_of_mut(&mut scores, n),
            Accum::Replace,
            table.transpose(),
            columns_of(&basis, d),
            1.0,
        );
        if round < ROUNDS {
            multiply(columns_of_mut(&mut basis, d), Accum::Replace, table, columns_of(&scores, n), 1.0);
        }
    }
    // Rotate within the subspace to its own principal axes.
    let mut small = vec![0.0; width * width];
    let scores = columns_of(&scores, n);
    multiply(columns_of_mut(&mut small, width), Accum::Replace, scores.transpose(), scores, 1.0);
    let (_, vectors) = symmetric_eigen(columns_of(&small, width))?;
    let leading = vectors.as_ref().subcols(width - n_components, n_components).reverse_cols();
    let mut components = vec![0.0; d * n_components];
    multiply(columns_of_mut(&mut components, d), Accum::Replace, columns_of(&basis, d), leading, 1.0);
    Ok(components)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points whose columns have variances 1, 1/4, 1/16, … after rotations of neighboring columns.
    fn decaying(n: usize, d: usize) -> Points {
        let stream = Stream::new(3, Stage::Generator);
        let values = (0..n).flat_map(|i| {
            let mut draws = stream.at(i as u32, 0);
            let own: Vec<f64> = (0..d).map(|j| draws.normal() * 0.5f64.powi(j as i32)).collect();
            (0..d).map(|j| own[j] + own[(j + 1) % d]).collect::<Vec<_>>()
        });
        Points::new(values.collect(), d).unwrap()
    }

    #[test]
    fn components_diagonalise_the_covariance() {
        let run = Run::new(0);
        for (n, d, c) in [(200, 6, 3), (5, 40, 4)] {
            let points = decaying(n, d);
            let (rotated, model) = principal_components(&points, c, &run).unwrap();
            for a in 0..c {
                for b in 0..c {
                    let product: f64 =
                        (0..n).map(|i| rotated.row(i).get(a) * rotated.row(i).get(b)).sum::<f64>() / n as f64;
                    let expected = if a == b { model.variances[a] } else { 0.0 };
                    assert!((product - expected).abs() < 1e-9 * model.total_variance);
                }
            }
            assert!(model.variances.windows(2).all(|pair| pair[0] >= pair[1]));
            assert!(model.explained() > 0.9 && model.explained() < 1.0 + 1e-12);
        }
    }

    #[test]
    fn random_subspace_agrees_with_the_exact_components() {
        let points = decaying(300, 30);
        let values = points.values().to_f64();
        let table = columns_of(&values, 30);
        let (mut a, mut b) =
            (exact(table, 4, &Run::new(1)).unwrap(), random_subspace(table, 4, &Run::new(1)).unwrap());
        for pair in a.chunks_exact_mut(30).zip(b.chunks_exact_mut(30)) {
            let cosine: f64 = pair.0.iter().zip(pair.1.iter()).map(|(x, y)| x * y).sum();
            assert!((cosine.abs() - 1.0).abs() < 1e-9, "{cosine}");
        }
    }

    #[test]
    fn impossible_numbers_of_components_are_refused() {
        let points = decaying(10, 3);
        for c in [0, 4] {
            assert!(matches!(principal_components(&points, c, &Run::new(0)), Err(Error::Parameter { .. })));
        }
    }
}
