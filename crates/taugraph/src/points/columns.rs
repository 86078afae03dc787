//! What is learned about each column of a raw table: what fills its missing cells, and how it is scaled.

use rayon::prelude::*;

use super::Value;
use super::moments::Moments;
use super::prepare::Standardize;

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
    /// What is learned from the moments of a column with at least two different cells, the same but for rounding. `quantile` gives those of the cells that are not missing.
    pub(crate) fn of_moments(
        column: usize,
        moments: Moments,
        n_missing: usize,
        standardize: Standardize,
        mut quantile: impl FnMut(f64) -> f64,
    ) -> Self {
        let fill = quantile(0.5);
        // Mean and deviation are those of the filled column, so that it really has mean 0 and deviation 1 afterwards.
        let filled = moments.filled(fill, n_missing as u64);
        let (center, scale) = match standardize {
            Standardize::ZScore => (filled.mean, filled.deviation()),
            Standardize::MinMax => (moments.least, moments.most - moments.least),
            Standardize::Robust => {
                let range = quantile(0.75) - quantile(0.25);
                (fill, if range > 0.0 { range } else { filled.deviation() })
            }
            Standardize::MaxAbs => (0.0, moments.least.abs().max(moments.most.abs())),
            Standardize::None => (0.0, 1.0),
        };
        // Values that differ by less than the rounding of their squares have no usable spread.
        let scale = if scale > 0.0 && scale.is_finite() { scale } else { 1.0 };
        Self { column, fill, center, scale, n_missing }
    }

    /// The prepared cell of a raw row.
    pub(super) fn apply<T: Value>(&self, row: &[T]) -> f64 {
        let cell: f64 = row[self.column].into();
        ((if cell.is_nan() { self.fill } else { cell }) - self.center) / self.scale
    }

    /// Whether it leaves every cell as it is.
    pub(super) fn changes_nothing(&self) -> bool {
        self.n_missing == 0 && self.center == 0.0 && self.scale == 1.0
    }
}

/// What a column turned out to be.
pub(super) enum Column {
    Empty,
    Constant,
    Varying(ColumnModel),
}

impl Column {
    /// `present` are the cells that are not missing.
    pub fn new(column: usize, present: &mut [f64], n_rows: usize, standardize: Standardize) -> Self {
        match present.first() {
            None => Column::Empty,
            Some(first) if present.iter().all(|value| value == first) => Column::Constant,
            Some(_) => Column::Varying(column_model(column, present, n_rows, standardize)),
        }
    }
}

/// The cells that are not missing, for consecutive columns from `first_column` on, one list each.
pub(super) fn gather<T: Value>(values: &[T], n_columns: usize, first_column: usize, lot: &mut [Vec<f64>]) {
    // Each thread takes adjacent columns, so that adjacent cells are read together.
    const BESIDE: usize = 16;
    lot.par_chunks_mut(BESIDE).enumerate().for_each(|(group, lists)| {
        lists.iter_mut().for_each(Vec::clear);
        for row in values.chunks_exact(n_columns) {
            for (present, &cell) in lists.iter_mut().zip(&row[first_column + group * BESIDE..]) {
                let cell: f64 = cell.into();
                if !cell.is_nan() {
                    present.push(cell);
                }
            }
        }
    });
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
    fn quantiles_interpolate_like_numpy() {
        assert_eq!(sorted_quantile(&[1.0, 2.0, 3.0, 10.0], 0.25), 1.75);
        assert_eq!(sorted_quantile(&[5.0], 0.75), 5.0);
    }
}
