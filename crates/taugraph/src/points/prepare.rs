//! From a raw table, with missing cells and columns of any scale, to [`Points`].

use rayon::prelude::*;

use super::columns::{Column, ColumnModel, gather};
use super::pca::{PcaModel, principal_components};
use super::{
    Numbers, Points, Precision, PreparationRule, RawValues, Storage, Typed, Value, check_shape, with_values,
};
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
        /// How precisely the points are stored: auto is the precision of the table.
        precision: Option<Precision> = None;
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
            precision: self.points.precision(),
        }
    }
}

/// Fills missing cells, drops constant columns, scales the rest and optionally rotates them.
///
/// `values` is row-major, in single or double precision; NaN marks a missing cell. An infinite cell is an error. Statistics and
/// prepared cells are computed in double precision, and rounded if the points are in single precision.
pub fn prepare<'a>(
    values: impl Into<Numbers<'a>>,
    n_columns: usize,
    params: &PreparationParams,
    run: &Run<'_>,
) -> Result<Preparation> {
    prepare_raw(RawValues::Borrowed(values.into()), n_columns, params, run)
}

/// The same for values that may be given away: they are scaled where they are if all columns are used, and become the points as they
/// are if there is nothing to scale or fill.
pub(crate) fn prepare_raw(
    values: RawValues<'_>,
    n_columns: usize,
    params: &PreparationParams,
    run: &Run<'_>,
) -> Result<Preparation> {
    check_shape(values.numbers(), n_columns)?;
    let (n_rows, given) = (values.numbers().len() / n_columns, values.precision());
    let estimate = |n: usize| memory_estimate(n, n_columns, given, params, run.scratch.is_some());
    refuse_if_over(n_rows, run.memory_limit, estimate, "drop columns that are not needed")?;
    run.stage("prepare", Some(n_columns as u64))?;
    let Examined { columns, constant_columns, empty_columns } =
        with_values!(values.numbers(), values => examine(values, n_columns, params, run)?);
    if columns.is_empty() {
        return Err(Error::NoVaryingColumn { columns: n_columns });
    }
    let precision = params.precision.unwrap_or(given);
    let scaled = match precision {
        Precision::Single => scale::<f32>(values, n_columns, &columns, run)?,
        Precision::Double => scale::<f64>(values, n_columns, &columns, run)?,
    };
    let mut points = match Points::from_storage(scaled, columns.len()) {
        // The raw cells are finite.
        Err(Error::NotFinite { row, column, .. }) if precision == Precision::Single => {
            return Err(Error::Parameter {
                name: "preparation.precision".into(),
                value: precision.name().into(),
                rule: format!(
                    "row {row}, column {} is beyond single precision: use double, or scale the columns",
                    columns[column].column
                ),
            });
        }
        points => points?,
    };
    let pca = match params.pca {
        None => None,
        Some(n_components) => {
            let (rotated, model) = principal_components(&points, n_components, run)?;
            points = rotated.in_precision(precision);
            Some(model)
        }
    };
    Ok(Preparation { points, columns, constant_columns, empty_columns, pca })
}

/// What the columns turned out to be.
struct Examined {
    columns: Vec<ColumnModel>,
    constant_columns: Vec<usize>,
    empty_columns: Vec<usize>,
}

fn examine<T: Value>(
    values: &[T],
    n_columns: usize,
    params: &PreparationParams,
    run: &Run<'_>,
) -> Result<Examined> {
    let n_rows = values.len() / n_columns;
    let is_infinite = |value: &T| value.widened().is_infinite();
    if let Some(position) = values.par_iter().with_min_len(ROWS).position_first(is_infinite) {
        let (row, column) = (position / n_columns, position % n_columns);
        return Err(Error::NotFinite { row, column, value: values[position].into() });
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
                    let row = cells.position(|&value| value.widened().is_nan());
                    let row = row.expect("a cell is missing");
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
    Ok(Examined { columns, constant_columns, empty_columns })
}

/// The prepared cells in the precision of `T`.
fn scale<T: Value>(
    values: RawValues<'_>,
    n_columns: usize,
    columns: &[ColumnModel],
    run: &Run<'_>,
) -> Result<Storage> {
    let all_are_used = columns.len() == n_columns;
    let values = match values {
        RawValues::Given(storage) if all_are_used => match T::unstored(storage) {
            Ok(values) if columns.iter().all(ColumnModel::changes_nothing) => return Ok(T::stored(values)),
            Ok(Typed::Owned(mut values)) => {
                let rows = values.par_chunks_exact_mut(n_columns);
                rows.with_min_len(ROWS).for_each(|row| {
                    // Column i is the i-th: each cell is read before it is replaced.
                    (0..n_columns).for_each(|i| row[i] = T::rounded(columns[i].apply(row)));
                });
                return Ok(T::stored(Typed::Owned(values)));
            }
            Ok(shared) => RawValues::Given(T::stored(shared)),
            Err(other) => RawValues::Given(other),
        },
        values => values,
    };
    let n_rows = values.numbers().len() / n_columns;
    let mut prepared = LargeTable::<T>::zeros(n_rows * columns.len(), run.scratch)?;
    with_values!(values.numbers(), values => {
        let rows = prepared.as_mut().par_chunks_exact_mut(columns.len());
        rows.zip(values.par_chunks_exact(n_columns)).with_min_len(ROWS).for_each(|(out, row)| {
            out.iter_mut().zip(columns).for_each(|(out, model)| *out = T::rounded(model.apply(row)));
        });
    });
    Ok(T::stored(prepared.into()))
}

/// What the preparation of `n` rows in the given precision allocates besides the raw table: some columns, the scaled copy, and for principal components
/// a centered copy, the rotated points and the eigenproblem of the smaller side. With a scratch, only the scaled copy goes there.
pub fn memory_estimate(
    n: usize,
    n_columns: usize,
    given: Precision,
    params: &PreparationParams,
    has_scratch: bool,
) -> MemoryEstimate {
    let (n, d) = (n as u64, n_columns as u64);
    let scaled = if has_scratch { 0 } else { params.precision.unwrap_or(given).bytes() * n * d };
    let mut stages = vec![("prepare", scaled + 8 * n * d.min(LOT as u64))];
    if let Some(components) = params.pca {
        let side = n.min(d).min(2048);
        let centered = 8 * n * d;
        let rotated = 8 * n * components as u64;
        stages.push(("principal components", scaled + centered + rotated + 32 * side * side));
    }
    MemoryEstimate::of(stages)
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
            assert!((prepared.points.row(0).get(0) - first).abs() < 1e-12, "{standardize:?}");
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
        assert_eq!(prepared.points.values(), Numbers::from(&[1.0, 2.0, 2.0, 4.0]));
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
}
