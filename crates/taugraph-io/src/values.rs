//! Numbers of tables in single or double precision: as their file stores them, if all columns fit single precision.

use std::borrow::Cow;

/// A number of either precision.
pub(crate) trait Number: bytemuck::Pod + PartialEq + Send + Sync {
    /// A missing cell.
    const MISSING: Self;

    /// The nearest number of this precision.
    fn rounded(value: f64) -> Self;

    fn widened(self) -> f64;
}

impl Number for f64 {
    const MISSING: Self = f64::NAN;

    fn rounded(value: f64) -> Self {
        value
    }

    fn widened(self) -> f64 {
        self
    }
}

impl Number for f32 {
    const MISSING: Self = f32::NAN;

    fn rounded(value: f64) -> Self {
        value as f32
    }

    fn widened(self) -> f64 {
        self.into()
    }
}

/// Where the numbers of a Parquet file go.
#[cfg_attr(not(feature = "parquet"), expect(dead_code))]
pub(crate) trait Room {
    /// Space for numbers of a precision.
    type Of<T: Number>: AsMut<[T]>;

    /// Space for so many, all of which will be overwritten or are missing.
    fn room<T: Number>(&self, n_values: usize) -> crate::error::Result<Self::Of<T>>;
}

/// Something of either precision.
#[derive(Debug, Clone)]
pub enum Either<A, B> {
    /// Double precision.
    F64(A),
    /// Single precision.
    F32(B),
}

/// The numbers of a table in their room.
pub(crate) type Filled<R> = Either<<R as Room>::Of<f64>, <R as Room>::Of<f32>>;

/// Numbers in memory.
pub type Values = Either<Vec<f64>, Vec<f32>>;

/// Evaluates an expression in which `$values` are of either precision.
macro_rules! with_either {
    ($either:expr, $values:ident => $body:expr) => {
        match $either {
            $crate::values::Either::F64($values) => $body,
            $crate::values::Either::F32($values) => $body,
        }
    };
}
pub(crate) use with_either;

impl<A: AsRef<[f64]>, B: AsRef<[f32]>> Either<A, B> {
    /// How many numbers there are.
    pub fn len(&self) -> usize {
        with_either!(self, values => values.as_ref().len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether they are in single precision.
    pub fn is_single(&self) -> bool {
        matches!(self, Either::F32(_))
    }

    /// One of them.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn get(&self, i: usize) -> f64 {
        with_either!(self, values => values.as_ref()[i].widened())
    }

    /// All of them, one after the other.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = f64> {
        (0..self.len()).map(|i| self.get(i))
    }

    /// In double precision; not copied if they already are.
    pub fn to_f64(&self) -> Cow<'_, [f64]> {
        match self {
            Either::F64(values) => Cow::Borrowed(values.as_ref()),
            Either::F32(values) => Cow::Owned(values.as_ref().iter().map(|&value| value.into()).collect()),
        }
    }

    /// What they take.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Either::F64(values) => 8 * values.as_ref().len() as u64,
            Either::F32(values) => 4 * values.as_ref().len() as u64,
        }
    }
}

impl Values {
    /// To be filled by readers of text, which is double precision.
    ///
    /// # Panics
    /// If they are in single precision.
    pub(crate) fn doubles(&mut self) -> &mut Vec<f64> {
        match self {
            Either::F64(values) => values,
            Either::F32(_) => panic!("text is read in double precision"),
        }
    }

    /// In double precision; not copied if they already are.
    pub fn into_f64(self) -> Vec<f64> {
        match self {
            Either::F64(values) => values,
            Either::F32(values) => values.into_iter().map(f64::from).collect(),
        }
    }
}

impl Default for Values {
    fn default() -> Self {
        Either::F64(Vec::new())
    }
}

/// Equal precisions and equal values.
impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Either::F64(own), Either::F64(other)) => own == other,
            (Either::F32(own), Either::F32(other)) => own == other,
            _ => false,
        }
    }
}

impl From<Vec<f64>> for Values {
    fn from(values: Vec<f64>) -> Self {
        Either::F64(values)
    }
}

impl From<Vec<f32>> for Values {
    fn from(values: Vec<f32>) -> Self {
        Either::F32(values)
    }
}
