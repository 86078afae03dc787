//! Where the values of points are: in owned memory, or shared with their owner, for example in a mapped file; in single or double
//! precision.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::numbers::{Numbers, Precision, Value};
use crate::error::Result;
use crate::memory::{LargeTable, Scratch};

/// Values that somebody else owns, in either precision. They must not change while they are shared.
#[derive(Clone)]
pub enum SharedValues {
    /// Double precision.
    F64(Arc<dyn AsRef<[f64]> + Send + Sync>),
    /// Single precision.
    F32(Arc<dyn AsRef<[f32]> + Send + Sync>),
}

/// The values of a table, in the precision in which they are stored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Storage {
    F64(Typed<f64>),
    F32(Typed<f32>),
}

/// The values of a table.
#[derive(Clone)]
pub(crate) enum Typed<T> {
    Owned(Vec<T>),
    Shared(Arc<dyn AsRef<[T]> + Send + Sync>),
}

/// Evaluates an expression in which `$values` are the stored values, of either type.
macro_rules! with_storage {
    ($storage:expr, $values:ident => $body:expr) => {
        match $storage {
            $crate::points::storage::Storage::F64($values) => $body,
            $crate::points::storage::Storage::F32($values) => $body,
        }
    };
}
pub(super) use with_storage;

impl Storage {
    /// All values.
    #[inline]
    pub fn numbers(&self) -> Numbers<'_> {
        match self {
            Storage::F64(values) => Numbers::F64(values),
            Storage::F32(values) => Numbers::F32(values),
        }
    }

    /// Whether they are shared rather than owned.
    pub fn is_shared(&self) -> bool {
        with_storage!(self, values => matches!(values, Typed::Shared(_)))
    }
}

impl From<SharedValues> for Storage {
    fn from(values: SharedValues) -> Self {
        match values {
            SharedValues::F64(values) => Storage::F64(Typed::Shared(values)),
            SharedValues::F32(values) => Storage::F32(Typed::Shared(values)),
        }
    }
}

impl<T: Value> Typed<T> {
    /// The same values in a mutable table: a copy, unless they are owned.
    pub fn into_table(self, scratch: Option<&dyn Scratch>) -> Result<LargeTable<T>> {
        match self {
            Typed::Owned(values) => Ok(LargeTable::Memory(values)),
            Typed::Shared(_) => {
                let mut table = LargeTable::zeros(self.len(), scratch)?;
                table.as_mut().copy_from_slice(&self);
                Ok(table)
            }
        }
    }
}

impl<T: Value> From<LargeTable<T>> for Typed<T> {
    fn from(table: LargeTable<T>) -> Self {
        match table {
            LargeTable::Memory(values) => Typed::Owned(values),
            scratch => Typed::Shared(Arc::new(scratch)),
        }
    }
}

impl<T> Deref for Typed<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Typed::Owned(values) => values,
            Typed::Shared(values) => (**values).as_ref(),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Typed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Equal values are equal wherever they are.
impl<T: PartialEq> PartialEq for Typed<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

/// The values of a raw table: borrowed, or given away, so that they can become points without a copy.
#[derive(Clone)]
pub(crate) enum RawValues<'a> {
    Borrowed(Numbers<'a>),
    Given(Storage),
}

impl RawValues<'_> {
    /// All values.
    pub fn numbers(&self) -> Numbers<'_> {
        match self {
            RawValues::Borrowed(numbers) => *numbers,
            RawValues::Given(storage) => storage.numbers(),
        }
    }

    /// The precision in which they are stored.
    pub fn precision(&self) -> Precision {
        self.numbers().precision()
    }

    /// Whether they are shared with an owner.
    pub fn is_shared(&self) -> bool {
        matches!(self, RawValues::Given(storage) if storage.is_shared())
    }
}
