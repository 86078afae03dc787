//! Where the values of points are: in owned memory, or shared with their owner, for example in a mapped file.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::error::Result;
use crate::memory::{LargeTable, Scratch};

/// Values that somebody else owns. They must not change while they are shared.
pub type SharedValues = Arc<dyn AsRef<[f64]> + Send + Sync>;

/// The values of a table.
#[derive(Clone)]
pub(super) enum Storage {
    Owned(Vec<f64>),
    Shared(SharedValues),
}

impl Storage {
    /// The same values in a mutable table: a copy, unless they are owned.
    pub fn into_table(self, scratch: Option<&dyn Scratch>) -> Result<LargeTable> {
        match self {
            Storage::Owned(values) => Ok(LargeTable::Memory(values)),
            Storage::Shared(_) => {
                let mut table = LargeTable::zeros(self.len(), scratch)?;
                table.as_mut().copy_from_slice(&self);
                Ok(table)
            }
        }
    }
}

impl From<LargeTable> for Storage {
    fn from(table: LargeTable) -> Self {
        match table {
            LargeTable::Memory(values) => Storage::Owned(values),
            LargeTable::Scratch(table) => Storage::Shared(Arc::new(LargeTable::Scratch(table))),
        }
    }
}

impl Deref for Storage {
    type Target = [f64];

    #[inline]
    fn deref(&self) -> &[f64] {
        match self {
            Storage::Owned(values) => values,
            Storage::Shared(values) => (**values).as_ref(),
        }
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Equal values are equal wherever they are.
impl PartialEq for Storage {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
