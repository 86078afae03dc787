//! Prepares new points in the same way as the points from which the rule was learned.

use super::{ColumnModel, Numbers, PcaModel, Points, Precision, Value, check_shape, with_values};
use crate::arrays::{Arrays, bad};
use crate::error::{Error, Result};

/// What [`super::prepare`] learned: which columns are kept, how they are filled and scaled, and the rotation.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparationRule {
    pub(super) n_columns: usize,
    pub(super) columns: Vec<ColumnModel>,
    pub(super) pca: Option<PcaModel>,
    /// That of the points it was learned from. Others are rounded as they were, so that equal rows stay equal.
    pub(super) precision: Precision,
}

impl PreparationRule {
    /// From what was learned about the columns that are used.
    pub fn of_columns(n_columns: usize, columns: Vec<ColumnModel>, is_single: bool) -> Self {
        let precision = if is_single { Precision::Single } else { Precision::Double };
        Self { n_columns, columns, pca: None, precision }
    }

    /// Columns of the raw table.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Columns that are used, in order.
    pub fn columns(&self) -> &[ColumnModel] {
        &self.columns
    }

    /// The principal components, if there are any.
    pub fn pca(&self) -> Option<&PcaModel> {
        self.pca.as_ref()
    }

    /// Columns of the prepared points.
    pub(crate) fn n_prepared(&self) -> usize {
        self.pca.as_ref().map_or(self.columns.len(), |pca| pca.variances.len())
    }

    /// Prepares a raw table with the same columns, in either precision; also returns the number of missing cells (NaN) that were filled.
    pub fn apply<'a>(&self, values: impl Into<Numbers<'a>>, n_columns: usize) -> Result<(Points, usize)> {
        let values = values.into();
        check_shape(values, n_columns)?;
        if n_columns != self.n_columns {
            return Err(Error::Length {
                what: "columns of the new points",
                expected: self.n_columns,
                received: n_columns,
            });
        }
        with_values!(values, values => match self.precision {
            Precision::Single => {
                let (prepared, n_filled) = self.prepared::<_, f32>(values)?;
                Ok((Points::from_f32(prepared, self.n_prepared())?, n_filled))
            }
            Precision::Double => {
                let (prepared, n_filled) = self.prepared::<_, f64>(values)?;
                Ok((Points::new(prepared, self.n_prepared())?, n_filled))
            }
        })
    }

    /// The prepared cells in the precision of `T`, and how many were filled.
    fn prepared<R: Value, T: Value>(&self, values: &[R]) -> Result<(Vec<T>, usize)> {
        let mut prepared = Vec::with_capacity(values.len() / self.n_columns * self.n_prepared());
        let mut n_filled = 0;
        for (row, cells) in values.chunks_exact(self.n_columns).enumerate() {
            let cell = |column: usize| -> f64 { cells[column].into() };
            if let Some(column) = (0..cells.len()).find(|&column| cell(column).is_infinite()) {
                return Err(Error::NotFinite { row, column, value: cell(column) });
            }
            let scaled = self.columns.iter().map(|model| T::rounded(model.apply(cells)));
            n_filled += self.columns.iter().filter(|model| cell(model.column).is_nan()).count();
            match &self.pca {
                None => prepared.extend(scaled),
                Some(pca) => {
                    let scaled: Vec<f64> = scaled.map(Into::into).collect();
                    prepared.extend(pca.rotate(&scaled).map(T::rounded));
                }
            }
        }
        Ok((prepared, n_filled))
    }

    /// Borrows everything but the number of raw columns, as stored parts.
    pub(crate) fn put_into<'a>(&'a self, arrays: &mut Arrays<'a>) {
        let of_columns =
            |value: fn(&ColumnModel) -> f64| self.columns.iter().map(value).collect::<Vec<f64>>();
        let numbers = |value: fn(&ColumnModel) -> usize| {
            self.columns.iter().map(|model| value(model) as u64).collect::<Vec<u64>>()
        };
        arrays.put("preparation.columns", None, numbers(|model| model.column));
        arrays.put("preparation.missing", None, numbers(|model| model.n_missing));
        arrays.put("preparation.fill", None, of_columns(|model| model.fill));
        arrays.put("preparation.center", None, of_columns(|model| model.center));
        arrays.put("preparation.scale", None, of_columns(|model| model.scale));
        if let Some(pca) = &self.pca {
            arrays.put("pca.mean", None, &pca.mean[..]);
            arrays.put("pca.components", Some(pca.mean.len()), &pca.components[..]);
            arrays.put("pca.variances", None, &pca.variances[..]);
            arrays.put("pca.total_variance", None, vec![pca.total_variance]);
        }
    }

    /// Restores and checks a rule from its stored parts, for points of a precision.
    pub(crate) fn take_from(arrays: &mut Arrays<'_>, n_columns: usize, precision: Precision) -> Result<Self> {
        let [d] = *arrays.shape("preparation.columns")? else {
            return Err(bad("preparation.columns", "a list is needed".into()));
        };
        let places = arrays.take::<u64>("preparation.columns", &[d])?;
        let missing = arrays.take::<u64>("preparation.missing", &[d])?;
        let fill = arrays.take_finite("preparation.fill", &[d])?;
        let center = arrays.take_finite("preparation.center", &[d])?;
        let scale = arrays.take_finite("preparation.scale", &[d])?;
        let ascending = places.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascending || places.last().is_none_or(|&last| last >= n_columns as u64) {
            let problem = format!("ascending columns below {n_columns} are needed, at least one");
            return Err(bad("preparation.columns", problem));
        }
        if let Some(place) = scale.iter().position(|&scale| scale <= 0.0) {
            return Err(bad("preparation.scale", format!("entry {place} is {}", scale[place])));
        }
        let columns = (0..d).map(|place| ColumnModel {
            column: places[place] as usize,
            fill: fill[place],
            center: center[place],
            scale: scale[place],
            n_missing: missing[place] as usize,
        });
        let columns = columns.collect();
        let pca = match arrays.shape("pca.variances") {
            Err(_) => None,
            Ok(shape) => {
                let c = shape[0];
                Some(PcaModel {
                    mean: arrays.take_finite("pca.mean", &[d])?,
                    components: arrays.take_finite("pca.components", &[c, d])?,
                    variances: arrays.take_finite("pca.variances", &[c])?,
                    total_variance: arrays.take_finite("pca.total_variance", &[1])?[0],
                })
            }
        };
        Ok(Self { n_columns, columns, pca, precision })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::{PreparationParams, Standardize, prepare};
    use crate::progress::Run;

    #[test]
    fn the_points_it_was_learned_from_come_out_as_they_were() {
        let nan = f64::NAN;
        let table = [1.0, 7.0, 3.0, 2.0, 7.0, nan, 9.0, 7.0, 5.0, 4.0, 7.0, 4.0, -1.0, 7.0, 0.5];
        for standardize in [Standardize::ZScore, Standardize::MinMax, Standardize::Robust, Standardize::None]
        {
            let params = PreparationParams { standardize, ..Default::default() };
            let prepared = prepare(&table, 3, &params, &Run::new(0)).unwrap();
            let (points, n_filled) = prepared.rule().apply(&table, 3).unwrap();
            assert_eq!((points, n_filled), (prepared.points, 1), "{standardize:?}");
        }
        let params = PreparationParams { pca: Some(1), ..Default::default() };
        let prepared = prepare(&table, 3, &params, &Run::new(0)).unwrap();
        let (points, _) = prepared.rule().apply(&table, 3).unwrap();
        for (new, known) in points.values().iter().zip(prepared.points.values().iter()) {
            assert!((new - known).abs() < 1e-14, "{new} {known}");
        }
    }

    #[test]
    fn bad_tables_are_refused() {
        let prepared =
            prepare(&[1.0, 2.0, 3.0, 5.0], 2, &PreparationParams::default(), &Run::new(0)).unwrap();
        let rule = prepared.rule();
        assert!(matches!(
            rule.apply(&[1.0, 2.0, 3.0], 3),
            Err(Error::Length { expected: 2, received: 3, .. })
        ));
        assert!(matches!(rule.apply(&[0.0; 0], 2), Err(Error::Empty { .. })));
        let infinite = rule.apply(&[1.0, 2.0, 3.0, f64::INFINITY], 2);
        assert!(matches!(infinite, Err(Error::NotFinite { row: 1, column: 1, .. })));
    }

    #[test]
    fn a_rule_comes_back_and_a_broken_one_is_refused() {
        let table: Vec<f64> = (0..40).map(|cell| f64::from(cell * cell % 17)).collect();
        let params = PreparationParams { pca: Some(2), ..Default::default() };
        let rule = prepare(&table, 4, &params, &Run::new(0)).unwrap().rule();
        let mut arrays = Arrays::new();
        rule.put_into(&mut arrays);
        assert_eq!(PreparationRule::take_from(&mut arrays.clone(), 4, Precision::Double).unwrap(), rule);
        assert!(PreparationRule::take_from(&mut arrays.clone(), 3, Precision::Double).is_err());
        for (name, values) in [
            ("preparation.scale", vec![1.0, 0.0, 1.0, 1.0]),
            ("preparation.center", vec![1.0, f64::NAN, 1.0, 1.0]),
            ("pca.mean", vec![0.0; 3]),
            ("pca.total_variance", vec![f64::INFINITY]),
        ] {
            let mut changed = arrays.clone();
            changed.put(name, None, values);
            assert!(
                matches!(
                    PreparationRule::take_from(&mut changed, 4, Precision::Double),
                    Err(Error::BadArray { .. })
                ),
                "{name}"
            );
        }
        let mut twice = arrays.clone();
        twice.put("preparation.columns", None, vec![0u64, 1, 1, 2]);
        assert!(PreparationRule::take_from(&mut twice, 4, Precision::Double).is_err());
    }
}
