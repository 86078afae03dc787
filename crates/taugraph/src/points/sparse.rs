//! Points whose values are mostly zero, in compressed rows: word counts, one-hot categories.

use rayon::prelude::*;

use super::prepare::{PreparationParams, Standardize};
use super::{Precision, check_count, scale_to_unit};
use crate::error::{Error, Result, require};

/// Points in compressed rows: only nonzero values are stored.
///
/// Columns are renumbered among those that occur, so nothing here grows with the number of columns.
#[derive(Debug, Clone, PartialEq)]
pub struct SparsePoints {
    offsets: Vec<u64>,
    /// Column indices among those that occur, ascending within a row.
    places: Vec<u32>,
    values: Vec<f64>,
    n_columns: usize,
    n_used: usize,
}

impl SparsePoints {
    /// Checks compressed rows: `offsets` say where each row begins in `columns` and `values`, the end included. Columns
    /// ascend within a row, values are finite; zeros among them are dropped.
    pub fn new(n_columns: usize, offsets: Vec<u64>, columns: Vec<u32>, values: Vec<f64>) -> Result<Self> {
        check_rows(n_columns, &offsets, &columns, &values)?;
        let mut used = columns.clone();
        used.par_sort_unstable();
        used.dedup();
        let place = |column: &u32| used.binary_search(column).expect("every column is among them") as u32;
        let places = columns.par_iter().map(place).collect();
        Ok(Self { offsets, places, values, n_columns, n_used: used.len() }.without_zeros())
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Never: points without rows are refused.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Number of columns, those without entries included.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Number of nonzero values.
    pub fn n_entries(&self) -> usize {
        self.values.len()
    }

    /// Number of nonzero values of point `i`.
    pub fn n_entries_of(&self, i: usize) -> usize {
        (self.offsets[i + 1] - self.offsets[i]) as usize
    }

    /// Entries of the longest row.
    pub fn longest_row(&self) -> usize {
        (0..self.len()).map(|i| self.n_entries_of(i)).max().unwrap_or(0)
    }

    /// Number of columns that occurred when the points were created; all column indices in the rows are below it.
    pub fn n_used_columns(&self) -> usize {
        self.n_used
    }

    /// Renumbered columns and values of point `i`.
    #[inline]
    pub(crate) fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.offsets[i] as usize..self.offsets[i + 1] as usize;
        (&self.places[range.clone()], &self.values[range])
    }

    /// The points named by `rows`, in that order.
    pub fn select(&self, rows: &[u32]) -> SparsePoints {
        let (mut offsets, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
        for &row in rows {
            let (of_row, own) = self.row(row as usize);
            places.extend_from_slice(of_row);
            values.extend_from_slice(own);
            offsets.push(values.len() as u64);
        }
        SparsePoints { offsets, places, values, n_columns: self.n_columns, n_used: self.n_used }
    }

    /// Rows scaled to Euclidean length 1, for the cosine distance.
    pub(crate) fn unit_rows(mut self) -> Result<SparsePoints> {
        for row in 0..self.len() {
            let range = self.offsets[row] as usize..self.offsets[row + 1] as usize;
            if !scale_to_unit(&mut self.values[range]) {
                return Err(Error::ZeroRow { row });
            }
        }
        Ok(self.without_zeros())
    }

    /// Every column divided by its largest magnitude: the only scaling to a common range that keeps zeros zero.
    fn by_largest_magnitude(mut self) -> SparsePoints {
        let mut largest = vec![0.0f64; self.n_used];
        for (&place, value) in self.places.iter().zip(&self.values) {
            largest[place as usize] = largest[place as usize].max(value.abs());
        }
        for (&place, value) in self.places.iter().zip(&mut self.values) {
            *value /= largest[place as usize];
        }
        self.without_zeros()
    }

    /// Drops zeros: explicit ones, and tiny values that a division rounded to zero.
    fn without_zeros(mut self) -> SparsePoints {
        if !self.values.contains(&0.0) {
            return self;
        }
        let (mut kept, mut begin) = (0, 0);
        for row in 0..self.len() {
            let end = self.offsets[row + 1] as usize;
            for place in begin..end {
                if self.values[place] != 0.0 {
                    (self.places[kept], self.values[kept]) = (self.places[place], self.values[place]);
                    kept += 1;
                }
            }
            (begin, self.offsets[row + 1]) = (end, kept as u64);
        }
        self.places.truncate(kept);
        self.values.truncate(kept);
        self
    }

    /// Σ aₜ·bₜ over the columns that both have, in ascending order. A search that adds column by column makes the same
    /// additions and so gets the same bits.
    #[inline]
    pub(crate) fn dot(&self, i: usize, j: usize) -> f64 {
        let ((in_a, a), (in_b, b)) = (self.row(i), self.row(j));
        let (mut s, mut t, mut sum) = (0, 0, 0.0);
        while s < in_a.len() && t < in_b.len() {
            let (x, y) = (in_a[s], in_b[t]);
            if x == y {
                sum += a[s] * b[t];
            }
            // Which of the two is lower is unpredictable, so there is no branch on it.
            s += usize::from(x <= y);
            t += usize::from(y <= x);
        }
        sum
    }

    /// Σ (aₜ − bₜ)² over the columns that either has, in ascending order.
    pub(crate) fn squared_difference(&self, i: usize, j: usize) -> f64 {
        let ((in_a, a), (in_b, b)) = (self.row(i), self.row(j));
        let (mut s, mut t, mut sum) = (0, 0, 0.0);
        while s < in_a.len() || t < in_b.len() {
            // No column has this index: there are fewer than 2³² of them.
            let x = in_a.get(s).copied().unwrap_or(u32::MAX);
            let y = in_b.get(t).copied().unwrap_or(u32::MAX);
            let difference = if x <= y { a[s] } else { 0.0 } - if y <= x { b[t] } else { 0.0 };
            sum += difference * difference;
            s += usize::from(x <= y);
            t += usize::from(y <= x);
        }
        sum
    }

    /// Σ aₜ² of point `i`, in ascending order of the columns.
    pub(crate) fn squared_norm(&self, i: usize) -> f64 {
        self.row(i).1.iter().map(|value| value * value).sum()
    }
}

/// The rules of [`SparsePoints::new`].
fn check_rows(n_columns: usize, offsets: &[u64], columns: &[u32], values: &[f64]) -> Result<()> {
    if n_columns == 0 {
        return Err(Error::Empty { what: "columns" });
    }
    if offsets.len() < 2 {
        return Err(Error::Empty { what: "rows" });
    }
    check_count(offsets.len() - 1)?;
    if columns.len() != values.len() {
        let (expected, received) = (columns.len(), values.len());
        return Err(Error::Length { what: "values of sparse points", expected, received });
    }
    let bad = |row, rule| Err(Error::BadStructure { row, rule });
    if offsets[0] != 0 {
        return bad(0, "the first row does not begin at entry 0");
    }
    for (row, pair) in offsets.windows(2).enumerate() {
        if pair[0] > pair[1] || pair[1] > values.len() as u64 {
            return bad(row, "the row ends before it begins, or beyond the entries");
        }
        let range = pair[0] as usize..pair[1] as usize;
        let own = &columns[range.clone()];
        if own.windows(2).any(|pair| pair[0] >= pair[1]) {
            return bad(row, "the columns are not ascending, or one is repeated");
        }
        if own.last().is_some_and(|&column| column as usize >= n_columns || column == u32::MAX) {
            return bad(row, "a column is not below the number of columns, or not below 2^32 - 1");
        }
        if let Some(place) = range.clone().find(|&place| !values[place].is_finite()) {
            return Err(Error::NotFinite { row, column: columns[place] as usize, value: values[place] });
        }
    }
    match offsets.last() {
        Some(&end) if end == values.len() as u64 => Ok(()),
        _ => bad(offsets.len() - 2, "there are entries after the last row"),
    }
}

/// Scales the columns of sparse points. Whatever would fill in the zeros is refused: centering, and therefore principal
/// components.
pub fn prepare_sparse(points: SparsePoints, params: &PreparationParams) -> Result<SparsePoints> {
    if let Some(components) = params.pca {
        let rule = "principal components need centered columns, which are no longer sparse; omit them";
        return Err(Error::Parameter {
            name: "pca".into(),
            value: components.to_string(),
            rule: rule.into(),
        });
    }
    let is_double = params.precision != Some(Precision::Single);
    require(
        is_double,
        "precision",
        Precision::Single.name(),
        "sparse points are stored in double precision",
    )?;
    let keeps_zeros = matches!(params.standardize, Standardize::None | Standardize::MaxAbs);
    let rule = "centering would fill in the zeros of sparse points; use none or max-abs";
    require(keeps_zeros, "standardize", params.standardize.name(), rule)?;
    Ok(if params.standardize == Standardize::MaxAbs { points.by_largest_magnitude() } else { points })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows (0, 3, 0, 4), (0, 0, 0, 0) and (1, 0, 2, −2); the 0 in the third column of the first is explicit.
    fn three() -> SparsePoints {
        let columns = vec![1, 2, 3, 0, 2, 3];
        let values = vec![3.0, 0.0, 4.0, 1.0, 2.0, -2.0];
        SparsePoints::new(4, vec![0, 3, 3, 6], columns, values).unwrap()
    }

    #[test]
    fn zeros_are_dropped_and_sums_are_right() {
        let points = three();
        assert_eq!((points.len(), points.n_entries(), points.longest_row()), (3, 5, 3));
        assert_eq!(points.dot(0, 2), -8.0);
        assert_eq!(points.dot(0, 1), 0.0);
        assert_eq!(points.squared_difference(0, 2), 1.0 + 9.0 + 4.0 + 36.0);
        assert_eq!(points.squared_difference(1, 2), points.squared_norm(2));
        assert_eq!(points.select(&[2, 0]).dot(0, 1), -8.0);
    }

    #[test]
    fn rules_are_checked() {
        let new = |n_columns, offsets: &[u64], columns: &[u32], values: &[f64]| {
            SparsePoints::new(n_columns, offsets.to_vec(), columns.to_vec(), values.to_vec())
        };
        assert_eq!(new(2, &[0], &[], &[]), Err(Error::Empty { what: "rows" }));
        assert_eq!(new(0, &[0, 0], &[], &[]), Err(Error::Empty { what: "columns" }));
        assert!(matches!(new(2, &[0, 1], &[0], &[]), Err(Error::Length { .. })));
        for (offsets, columns) in [
            (&[1, 2][..], &[0, 1][..]),
            (&[0, 2, 1], &[0, 1]),
            (&[0, 3], &[0, 1]),
            (&[0, 1], &[0, 1]),
            (&[0, 2], &[1, 0]),
            (&[0, 2], &[1, 1]),
            (&[0, 2], &[0, 2]),
        ] {
            let values = vec![1.0; columns.len()];
            let found = new(2, offsets, columns, &values);
            assert!(matches!(found, Err(Error::BadStructure { .. })), "{offsets:?} {columns:?}: {found:?}");
        }
        let infinite = new(9, &[0, 1, 3], &[0, 3, 7], &[1.0, 2.0, f64::INFINITY]);
        assert_eq!(infinite, Err(Error::NotFinite { row: 1, column: 7, value: f64::INFINITY }));
    }

    #[test]
    fn columns_far_out_cost_nothing() {
        let points = SparsePoints::new(4_000_000_001, vec![0, 1, 2], vec![4_000_000_000, 5], vec![1.0, 1.0]);
        assert_eq!(points.unwrap().n_used_columns(), 2);
    }

    #[test]
    fn unit_rows_and_zero_rows() {
        assert_eq!(three().unit_rows(), Err(Error::ZeroRow { row: 1 }));
        let extreme =
            SparsePoints::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![3e300, 4e300, 3e-300, 4e-300]);
        let unit = extreme.unwrap().unit_rows().unwrap();
        for row in 0..2 {
            let values = unit.row(row).1;
            assert!((values[0] - 0.6).abs() < 1e-15 && (values[1] - 0.8).abs() < 1e-15);
        }
        // A value that underflows relative to the largest entry is dropped.
        let tiny = SparsePoints::new(2, vec![0, 2], vec![0, 1], vec![1e-300, 1e300]).unwrap();
        assert_eq!(tiny.unit_rows().unwrap().n_entries(), 1);
    }

    #[test]
    fn preparation_keeps_zeros() {
        let params = |standardize, pca| PreparationParams { standardize, pca, ..Default::default() };
        let scaled = prepare_sparse(three(), &params(Standardize::MaxAbs, None)).unwrap();
        assert_eq!(scaled.row(0).1, [1.0, 1.0]);
        assert_eq!(scaled.row(2).1, [1.0, 1.0, -0.5]);
        assert_eq!(prepare_sparse(three(), &params(Standardize::None, None)), Ok(three()));
        for refused in [params(Standardize::ZScore, None), params(Standardize::None, Some(2))] {
            assert!(matches!(prepare_sparse(three(), &refused), Err(Error::Parameter { .. })));
        }
    }
}
