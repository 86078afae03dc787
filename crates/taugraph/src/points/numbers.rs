//! Numbers in single or double precision, as points and raw tables store them.
//!
//! Whatever is computed from them is computed in double precision: single-precision numbers give bit for bit the results of the same
//! numbers widened. Loops choose the precision once, by [`with_values!`], and are compiled for each.

use std::borrow::Cow;

use super::storage::{Storage, Typed};
use crate::parameter::choices;

choices! {
    /// How precisely the numbers of points are stored. Results are computed in double precision.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Precision = "double" {
        /// Four bytes each, 7 digits.
        "single" => Single,
        /// Eight bytes each, 16 digits.
        "double" => Double,
    }
}

impl Precision {
    /// Bytes of a number.
    pub fn bytes(self) -> u64 {
        match self {
            Precision::Single => 4,
            Precision::Double => 8,
        }
    }
}

/// Borrowed numbers, of one row or of a whole table.
#[derive(Debug, Clone, Copy)]
pub enum Numbers<'a> {
    /// Double precision.
    F64(&'a [f64]),
    /// Single precision.
    F32(&'a [f32]),
}

/// Evaluates an expression in which `$values` are the numbers as a slice of their own type.
macro_rules! with_values {
    ($numbers:expr, $values:ident => $body:expr) => {
        match $numbers {
            $crate::points::Numbers::F64($values) => $body,
            $crate::points::Numbers::F32($values) => $body,
        }
    };
}
pub(crate) use with_values;

impl<'a> Numbers<'a> {
    /// How many there are.
    #[inline]
    pub fn len(self) -> usize {
        with_values!(self, values => values.len())
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The precision in which they are stored.
    pub fn precision(self) -> Precision {
        match self {
            Numbers::F64(_) => Precision::Double,
            Numbers::F32(_) => Precision::Single,
        }
    }

    /// One of them.
    ///
    /// # Panics
    /// If there are not so many.
    #[inline]
    pub fn get(self, i: usize) -> f64 {
        match self {
            Numbers::F64(values) => values[i],
            Numbers::F32(values) => values[i].into(),
        }
    }

    /// All of them, one after the other.
    #[inline]
    pub fn iter(self) -> impl ExactSizeIterator<Item = f64> + Clone + 'a {
        match self {
            Numbers::F64(values) => Each::F64(values.iter()),
            Numbers::F32(values) => Each::F32(values.iter()),
        }
    }

    /// Rows of `n_columns` numbers.
    pub fn rows(self, n_columns: usize) -> impl ExactSizeIterator<Item = Numbers<'a>> + Clone {
        (0..self.len() / n_columns).map(move |row| self.slice(row * n_columns, n_columns))
    }

    /// `length` of them, from `begin` on.
    #[inline]
    pub(crate) fn slice(self, begin: usize, length: usize) -> Numbers<'a> {
        match self {
            Numbers::F64(values) => Numbers::F64(&values[begin..begin + length]),
            Numbers::F32(values) => Numbers::F32(&values[begin..begin + length]),
        }
    }

    /// A copy in double precision.
    pub fn to_vec(self) -> Vec<f64> {
        self.to_f64().into_owned()
    }

    /// In double precision; not copied if they already are.
    pub fn to_f64(self) -> Cow<'a, [f64]> {
        match self {
            Numbers::F64(values) => Cow::Borrowed(values),
            Numbers::F32(values) => Cow::Owned(values.iter().map(|&value| value.into()).collect()),
        }
    }
}

/// Numbers are equal if their values are, in whatever precision.
impl PartialEq for Numbers<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (*self, *other) {
            (Numbers::F64(own), Numbers::F64(other)) => own == other,
            (Numbers::F32(own), Numbers::F32(other)) => own == other,
            (own, other) => own.iter().eq(other.iter()),
        }
    }
}

/// The numbers of [`Numbers::iter`].
#[derive(Clone)]
enum Each<'a> {
    F64(std::slice::Iter<'a, f64>),
    F32(std::slice::Iter<'a, f32>),
}

impl Iterator for Each<'_> {
    type Item = f64;

    #[inline]
    fn next(&mut self) -> Option<f64> {
        match self {
            Each::F64(values) => values.next().copied(),
            Each::F32(values) => values.next().map(|&value| value.into()),
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Each::F64(values) => values.size_hint(),
            Each::F32(values) => values.size_hint(),
        }
    }

    #[inline]
    fn fold<B, F: FnMut(B, f64) -> B>(self, start: B, mut step: F) -> B {
        match self {
            Each::F64(values) => values.fold(start, |state, &value| step(state, value)),
            Each::F32(values) => values.fold(start, |state, &value| step(state, value.into())),
        }
    }
}

impl ExactSizeIterator for Each<'_> {}

impl<'a> From<&'a [f64]> for Numbers<'a> {
    fn from(values: &'a [f64]) -> Self {
        Numbers::F64(values)
    }
}

impl<'a> From<&'a [f32]> for Numbers<'a> {
    fn from(values: &'a [f32]) -> Self {
        Numbers::F32(values)
    }
}

impl<'a> From<&'a Vec<f64>> for Numbers<'a> {
    fn from(values: &'a Vec<f64>) -> Self {
        Numbers::F64(values)
    }
}

impl<'a> From<&'a Vec<f32>> for Numbers<'a> {
    fn from(values: &'a Vec<f32>) -> Self {
        Numbers::F32(values)
    }
}

impl<'a, const N: usize> From<&'a [f64; N]> for Numbers<'a> {
    fn from(values: &'a [f64; N]) -> Self {
        Numbers::F64(values)
    }
}

impl<'a, const N: usize> From<&'a [f32; N]> for Numbers<'a> {
    fn from(values: &'a [f32; N]) -> Self {
        Numbers::F32(values)
    }
}

/// A number of either precision.
pub(crate) trait Value: bytemuck::Pod + Default + PartialEq + Into<f64> + Send + Sync {
    /// The nearest number of this precision; infinite if there is none.
    fn rounded(value: f64) -> Self;

    /// The same number in double precision.
    #[inline(always)]
    fn widened(self) -> f64 {
        self.into()
    }

    /// As a storage of points.
    fn stored(values: Typed<Self>) -> Storage;

    /// Out of a storage of this precision; gives another back.
    fn unstored(storage: Storage) -> Result<Typed<Self>, Storage>;

    /// The numbers, which must be of this precision.
    fn expect(numbers: Numbers<'_>) -> &[Self];
}

impl Value for f64 {
    #[inline(always)]
    fn rounded(value: f64) -> Self {
        value
    }

    fn stored(values: Typed<Self>) -> Storage {
        Storage::F64(values)
    }

    fn unstored(storage: Storage) -> Result<Typed<Self>, Storage> {
        match storage {
            Storage::F64(values) => Ok(values),
            other => Err(other),
        }
    }

    #[inline(always)]
    fn expect(numbers: Numbers<'_>) -> &[Self] {
        match numbers {
            Numbers::F64(values) => values,
            Numbers::F32(_) => panic!("rows of the same points have the same precision"),
        }
    }
}

impl Value for f32 {
    #[inline(always)]
    fn rounded(value: f64) -> Self {
        value as f32
    }

    fn stored(values: Typed<Self>) -> Storage {
        Storage::F32(values)
    }

    fn unstored(storage: Storage) -> Result<Typed<Self>, Storage> {
        match storage {
            Storage::F32(values) => Ok(values),
            other => Err(other),
        }
    }

    #[inline(always)]
    fn expect(numbers: Numbers<'_>) -> &[Self] {
        match numbers {
            Numbers::F32(values) => values,
            Numbers::F64(_) => panic!("rows of the same points have the same precision"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_what_they_were_in_either_precision() {
        let (double, single) = ([0.5, -1.25, 3.0, 1e-30], [0.5f32, -1.25, 3.0, 1e-30]);
        let (a, b) = (Numbers::from(&double), Numbers::from(&single));
        assert_eq!((a.len(), b.len()), (4, 4));
        assert_eq!(a.slice(0, 3), b.slice(0, 3));
        assert_ne!(a, b, "1e-30 is not the same in single precision");
        assert_eq!(b.iter().sum::<f64>(), 2.25 + f64::from(1e-30f32));
        assert_eq!(b.to_f64()[3], b.get(3));
        assert_eq!(b.rows(2).map(Numbers::len).collect::<Vec<_>>(), [2, 2]);
        assert!(matches!(a.to_f64(), Cow::Borrowed(_)));
    }
}
