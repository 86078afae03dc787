//! From a raw table, with missing cells and columns of any scale, to [`Points`].

use rayon::prelude::*;

use super::pca::{PcaModel, principal_components};
use super::{Points, PreparationRule, check_shape};
use crate::error::{Error, Result};
use crate::memory::{LargeTable, MemoryEstimate, refuse_if_over};
use crate::parameter::{choices, parameters};
use crate::progress::Run;

/// Columns examined together: a table on disk is read once for each batch.
const LOT: usize = 64;
/// Rows of a chunk of parallel work.
const ROWS: usize = 1024;

choices! {
    /// How each column is brought to a common scale.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Standardize = "zscore" {
        /// Mean 0, standard deviation 1 (over n, as scikit-learn does).
        "zscore" => ZScore,
        /// Smallest value 0, largest 1.
        "minmax" => MinMax,
        /// Median 0, interquartile range 1; a column whose quartiles coincide falls back to its standard deviation.
        "robust" => Robust,
        /// Largest magnitude 1; zeros stay zero.
        "max-abs" => MaxAbs,
        /// No scaling.
        "none" => None,
    }
}

choices! {
    /// What happens to missing cells (NaN).
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Missing = "median" {
        /// Filled with the median of the column's other cells.
        "median" => Median,
        /// Refused; the error names the first such cell.
        "error" => Refuse,
    }
}

parameters! {
    /// Parameters of [`prepare`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct PreparationParams {
        /// Scaling of the columns.
        standardize: Standardize = Standardize::ZScore;
        /// Treatment of missing cells.
        missing: Missing = Missing::Median;
        /// Number of principal components to keep; none keeps all columns.
        pca: Option<usize> = None, "at least 1" => |pca| *pca != Some(0);
    }
}

/// What was learned about one column that is used; maps new cells in the same way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnModel {
    /// Index in the raw table.
    pub column: usize,
    /// Value that fills missing cells.
    pub fill: f64,
    /// Subtracted.
    pub center: f64,
    /// Divided by.
    pub scale: f64,
    /// How many cells were missing.
    pub n_missing: usize,
}

impl ColumnModel {
    /// The prepared cell of a raw row.
    pub(super) fn apply(&self, row: &[f64]) -> f64 {
        let cell = row[self.column];
        ((if cell.is_nan() { self.fill } else { cell }) - self.center) / self.scale
    }
}

/// The prepared points and everything that was done to get them.
#[derive(Debug, Clone, PartialEq)]
pub struct Preparation {
    /// The points.
    pub points: Points,
    /// The columns that are used, in order.
    pub columns: Vec<ColumnModel>,
    /// Columns dropped because all their cells were equal.
    pub constant_columns: Vec<usize>,
    /// Columns dropped because all their cells were missing.
    pub empty_columns: Vec<usize>,
    /// The principal components, if requested.
    pub pca: Option<PcaModel>,
}

impl Preparation {
    /// How many cells were filled in.
    pub fn n_imputed(&self) -> usize {
        self.columns.iter().map(|column| column.n_missing).sum()
    }

    /// What it takes to prepare new points in the same way.
    pub fn rule(&self) -> PreparationRule {
        PreparationRule {
            n_columns: self.columns.len() + self.constant_columns.len() + self.empty_columns.len(),
            columns: self.columns.clone(),
            pca: self.pca.clone(),
        }
    }
}

/// Fills missing cells, drops constant columns, scales the rest and optionally rotates them.
///
/// `values` is row-major; NaN marks a missing cell. An infinite cell is an error.
pub fn prepare(
    values: &[f64],
    n_columns: usize,
    params: &PreparationParams,
    run: &Run<'_>,
) -> Result<Preparation> {
    check_shape(values, n_columns)?;
    let n_rows = values.len() / n_columns;
    let estimate = |n: usize| memory_estimate(n, n_columns, params, run.scratch.is_some());
    refuse_if_over(n_rows, run.memory_limit, estimate, "drop columns that are not needed")?;
    run.stage("prepare", Some(n_columns as u64))?;
    if let Some(position) = values.par_iter().with_min_len(ROWS).position_first(|value| value.is_infinite()) {
        let (row, column) = (position / n_columns, position % n_columns);
        return Err(Error::NotFinite { row, column, value: values[position] });
    }
    let mut columns = Vec::new();
    let (mut constant_columns, mut empty_columns) = (Vec::new(), Vec::new());
    let mut lot: Vec<Vec<f64>> = (0..LOT.min(n_columns)).map(|_| Vec::with_capacity(n_rows)).collect();
    for first_column in (0..n_columns).step_by(LOT) {
        lot.truncate(n_columns - first_column);
        gather(values, n_columns, first_column, &mut lot);
        let looked_at: Vec<Column> = (first_column..n_columns)
            .into_par_iter()
            .zip(&mut lot)
            .map(|(column, present)| {
                run.check()?;
                run.progress.advance(1);
                if params.missing == Missing::Refuse && present.len() < n_rows {
                    let mut cells = values.iter().skip(column).step_by(n_columns);
                    let row = cells.position(|value| value.is_nan()).expect("a cell is missing");
                    return Err(Error::NotFinite { row, column, value: f64::NAN });
                }
                Ok(Column::new(column, present, n_rows, params.standardize))
            })
            // Report the first bad column, whichever thread finds one first.
            .collect::<Vec<_>>()
            .into_iter()
            .collect::<Result<_>>()?;
        for (column, looked_at) in (first_column..).zip(looked_at) {
            match looked_at {
                Column::Empty => empty_columns.push(column),
                Column::Constant => constant_columns.push(column),
                Column::Varying(model) => columns.push(model),
            }
        }
    }
    drop(lot);
    if columns.is_empty() {
        return Err(Error::NoVaryingColumn { columns: n_columns });
    }
    let mut prepared = LargeTable::zeros(n_rows * columns.len(), run.scratch)?;
    let rows = prepared.as_mut().par_chunks_exact_mut(columns.len()).zip(values.par_chunks_exact(n_columns));
    rows.with_min_len(ROWS).for_each(|(out, row)| {
        out.iter_mut().zip(&columns).for_each(|(out, model)| *out = model.apply(row));
    });
    let mut points = Points::from_storage(prepared.into(), columns.len())?;
    let pca = match params.pca {
        None => None,
        Some(n_components) => {
            let (rotated, model) = principal_components(&points, n_components, run)?;
            points = rotated;
            Some(model)
        }
    };
    Ok(Preparation { points, columns, constant_columns, empty_columns, pca })
}

/// What a column turned out to be.
enum Column {
    Empty,
    Constant,
    Varying(ColumnModel),
}

impl Column {
    /// `present` are the cells that are not missing.
    fn new(column: usize, present: &mut [f64], n_rows: usize, standardize: Standardize) -> Self {
        match present.first() {
            None => Column::Empty,
            Some(first) if present.iter().all(|value| value == first) => Column::Constant,
            Some(_) => Column::Varying(column_model(column, present, n_rows, standardize)),
        }
    }
}

/// The cells that are not missing, for consecutive columns from `first_column` on, one list each.
fn gather(values: &[f64], n_columns: usize, first_column: usize, lot: &mut [Vec<f64>]) {
    // Each thread takes adjacent columns, so that adjacent cells are read together.
    const BESIDE: usize = 16;
    lot.par_chunks_mut(BESIDE).enumerate().for_each(|(group, lists)| {
        lists.iter_mut().for_each(Vec::clear);
        for row in values.chunks_exact(n_columns) {
            for (present, &cell) in lists.iter_mut().zip(&row[first_column + group * BESIDE..]) {
                if !cell.is_nan() {
                    present.push(cell);
                }
            }
        }
    });
}

/// What the preparation of `n` rows allocates besides the raw table: some columns, the scaled copy, and for principal components
/// a centered copy, the rotated points and the eigenproblem of the smaller side. With a scratch, only the scaled copy goes there.
pub fn memory_estimate(
    n: usize,
    n_columns: usize,
    params: &PreparationParams,
    has_scratch: bool,
) -> MemoryEstimate {
    let (n, d) = (n as u64, n_columns as u64);
    let scaled = if has_scratch { 0 } else { 8 * n * d };
    let mut stages = vec![("prepare", scaled + 8 * n * d.min(LOT as u64))];
    if let Some(components) = params.pca {
        let side = n.min(d).min(2048);
        let centered = 8 * n * d;
        let rotated = 8 * n * components as u64;
        stages.push(("principal components", scaled + centered + rotated + 32 * side * side));
    }
    MemoryEstimate::of(stages)
}

/// `present` are the column's cells that are not missing, at least two of them different.
fn column_model(column: usize, present: &mut [f64], n_rows: usize, standardize: Standardize) -> ColumnModel {
    let n_missing = n_rows - present.len();
    let fill = quantile(present, 0.5);
    // Mean and deviation are those of the filled column, so that it really has mean 0 and deviation 1 afterwards. They
    // are computed relative to the largest value, whose square could overflow.
    let n = n_rows as f64;
    let largest = present.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let relative = present.iter().map(|v| v / largest).chain(std::iter::repeat_n(fill / largest, n_missing));
    let mean = relative.clone().map(|v| v / n).sum::<f64>();
    let deviation = largest * (relative.map(|v| (v - mean).powi(2) / n).sum::<f64>()).sqrt();
    let mean = largest * mean;
    let (center, scale) = match standardize {
        Standardize::ZScore => (mean, deviation),
        Standardize::MinMax => {
            let (least, most) = present
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), &v| (least.min(v), most.max(v)));
            (least, most - least)
        }
        Standardize::Robust => {
            let range = quantile(present, 0.75) - quantile(present, 0.25);
            (fill, if range > 0.0 { range } else { deviation })
        }
        Standardize::MaxAbs => (0.0, largest),
        Standardize::None => (0.0, 1.0),
    };
    // Values that differ by less than the rounding of their squares have no usable spread.
    let scale = if scale > 0.0 && scale.is_finite() { scale } else { 1.0 };
    ColumnModel { column, fill, center, scale, n_missing }
}

/// Quantile of unsorted values, which it reorders.
fn quantile(values: &mut [f64], share: f64) -> f64 {
    let position = share * (values.len() - 1) as f64;
    let (_, &mut below, rest) = values.select_nth_unstable_by(position.floor() as usize, f64::total_cmp);
    let above = rest.iter().copied().min_by(f64::total_cmp).unwrap_or(below);
    below + (above - below) * position.fract()
}

/// Quantile of sorted values, with linear interpolation between order statistics (numpy's default).
pub(crate) fn sorted_quantile(sorted: &[f64], share: f64) -> f64 {
    let position = share * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
    below + (above - below) * position.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_prepare(values: &[f64], n_columns: usize, standardize: Standardize) -> Result<Preparation> {
        let params = PreparationParams { standardize, ..PreparationParams::default() };
        prepare(values, n_columns, &params, &Run::new(0))
    }

    #[test]
    fn every_scaling_does_what_it_says() {
        let table = [1.0, 10.0, 2.0, 10.0, 3.0, 30.0, 4.0, 50.0, 10.0, 70.0];
        for (standardize, first) in [
            (Standardize::ZScore, -3.0 / 10f64.sqrt()),
            (Standardize::MinMax, 0.0),
            (Standardize::Robust, -1.0),
            (Standardize::MaxAbs, 0.1),
            (Standardize::None, 1.0),
        ] {
            let prepared = run_prepare(&table, 2, standardize).unwrap();
            assert!((prepared.points.row(0)[0] - first).abs() < 1e-12, "{standardize:?}");
        }
    }

    #[test]
    fn quantiles_need_no_order() {
        let mut values = [7.0, -1.0, 3.0, 3.0, 0.5, 12.0, 3.5];
        for n in 1..=values.len() {
            for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
                let mut sorted = values[..n].to_vec();
                sorted.sort_by(f64::total_cmp);
                assert_eq!(quantile(&mut values[..n], share), sorted_quantile(&sorted, share), "{n} {share}");
            }
        }
    }

    #[test]
    fn missing_constant_and_empty_columns_are_reported() {
        let nan = f64::NAN;
        let table = [1.0, 7.0, nan, 2.0, 7.0, nan, nan, 7.0, nan, 4.0, nan, nan];
        let prepared = run_prepare(&table, 3, Standardize::None).unwrap();
        assert_eq!(prepared.constant_columns, [1]);
        assert_eq!(prepared.empty_columns, [2]);
        assert_eq!(prepared.n_imputed(), 1);
        assert_eq!(prepared.points.values(), [1.0, 2.0, 2.0, 4.0]);
        let params = PreparationParams { missing: Missing::Refuse, ..Default::default() };
        assert!(matches!(
            prepare(&table, 3, &params, &Run::new(0)),
            Err(Error::NotFinite { row: 2, column: 0, .. })
        ));
    }

    #[test]
    fn unusable_tables_are_refused() {
        assert_eq!(
            run_prepare(&[3.0; 8], 2, Standardize::ZScore),
            Err(Error::NoVaryingColumn { columns: 2 })
        );
        let infinite = run_prepare(&[1.0, 2.0, f64::NEG_INFINITY, 4.0], 2, Standardize::ZScore);
        assert!(matches!(infinite, Err(Error::NotFinite { row: 1, column: 0, .. })));
        // One row has only constant columns.
        assert_eq!(
            run_prepare(&[1.0, 2.0], 2, Standardize::ZScore),
            Err(Error::NoVaryingColumn { columns: 2 })
        );
    }

    #[test]
    fn quantiles_interpolate_like_numpy() {
        assert_eq!(sorted_quantile(&[1.0, 2.0, 3.0, 10.0], 0.25), 1.75);
        assert_eq!(sorted_quantile(&[5.0], 0.75), 5.0);
    }
}
