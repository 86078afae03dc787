//! Named arrays: the stored form of a result, and how it is written and read.
//!
//! [`Arrays`] borrows the vectors of a result, which is later rebuilt from them. [`Arrays::write`] encodes them as safetensors, with
//! a text that describes them, and [`Arrays::read`] decodes them. What is read is untrusted: arrays are taken by name, type and
//! shape, and the caller checks the values.

mod safetensors;

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::error::{Error, Result};

/// The values of an array, borrowed from a result or owned after reading.
#[derive(Debug, Clone, PartialEq)]
pub enum Values<'a> {
    /// Double precision.
    F64(Cow<'a, [f64]>),
    /// Single precision.
    F32(Cow<'a, [f32]>),
    /// Unsigned integers of 32 bits.
    U32(Cow<'a, [u32]>),
    /// Unsigned integers of 64 bits.
    U64(Cow<'a, [u64]>),
}

impl Values<'_> {
    fn len(&self) -> usize {
        match self {
            Values::F64(values) => values.len(),
            Values::F32(values) => values.len(),
            Values::U32(values) => values.len(),
            Values::U64(values) => values.len(),
        }
    }

    fn dtype(&self) -> Dtype {
        match self {
            Values::F64(_) => f64::DTYPE,
            Values::F32(_) => f32::DTYPE,
            Values::U32(_) => u32::DTYPE,
            Values::U64(_) => u64::DTYPE,
        }
    }
}

/// Values with a shape of one or two axes, the last axis fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct Array<'a> {
    shape: Vec<usize>,
    values: Values<'a>,
}

impl<'a> Array<'a> {
    /// Length of each axis.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The values.
    pub fn values(&self) -> &Values<'a> {
        &self.values
    }
}

/// Element types of an array: `f64`, `f32`, `u32`, `u64`.
pub trait Element: sealed::Element {}

impl Element for f64 {}
impl Element for f32 {}
impl Element for u32 {}
impl Element for u64 {}

// Nobody outside shall name what is in it.
#[allow(unnameable_types)]
mod sealed {
    use serde::{Deserialize, Serialize};

    use super::{Cow, Values};

    /// The type of an array's values, by the names of safetensors.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    pub enum Dtype {
        F64,
        F32,
        U32,
        U64,
    }

    impl Dtype {
        pub fn bytes(self) -> usize {
            match self {
                Dtype::F64 | Dtype::U64 => 8,
                Dtype::F32 | Dtype::U32 => 4,
            }
        }
    }

    pub trait Element: Copy + 'static {
        const DTYPE: Dtype;
        const BYTES: usize = size_of::<Self>();
        fn wrap(values: Cow<'_, [Self]>) -> Values<'_>;
        fn unwrap(values: Values<'_>) -> Option<Cow<'_, [Self]>>;
        fn put(self, bytes: &mut [u8]);
        fn get(bytes: &[u8]) -> Self;
    }

    macro_rules! element {
        ($type:ty, $variant:ident) => {
            impl Element for $type {
                const DTYPE: Dtype = Dtype::$variant;

                fn wrap(values: Cow<'_, [Self]>) -> Values<'_> {
                    Values::$variant(values)
                }

                fn unwrap(values: Values<'_>) -> Option<Cow<'_, [Self]>> {
                    match values {
                        Values::$variant(values) => Some(values),
                        _ => None,
                    }
                }

                fn put(self, bytes: &mut [u8]) {
                    bytes.copy_from_slice(&self.to_le_bytes());
                }

                fn get(bytes: &[u8]) -> Self {
                    <$type>::from_le_bytes(bytes.try_into().expect("as many bytes as the type has"))
                }
            }
        };
    }

    element!(f64, F64);
    element!(f32, F32);
    element!(u32, U32);
    element!(u64, U64);
}

use sealed::{Dtype, Element as _};

/// Arrays by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Arrays<'a>(BTreeMap<String, Array<'a>>);

impl<'a> Arrays<'a> {
    /// An empty collection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a list, or a table of `n_columns` columns. Takes a slice, which is borrowed, or a vector.
    ///
    /// # Panics
    /// If the values do not fill whole rows.
    pub fn put<T: Element>(&mut self, name: &str, n_columns: Option<usize>, values: impl Into<Cow<'a, [T]>>)
    where
        [T]: ToOwned<Owned = Vec<T>>,
    {
        let values = values.into();
        let shape = match n_columns {
            None => vec![values.len()],
            Some(width) => vec![values.len().checked_div(width).unwrap_or(0), width],
        };
        assert_eq!(shape.iter().product::<usize>(), values.len(), "values that fill whole rows");
        self.0.insert(name.to_string(), Array { shape, values: T::wrap(values) });
    }

    /// All arrays in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Array<'a>)> {
        self.0.iter().map(|(name, array)| (name.as_str(), array))
    }

    /// The names that are left, so that unexpected arrays can be refused.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Shape of an array.
    pub fn shape(&self, name: &str) -> Result<&[usize]> {
        self.0.get(name).map(Array::shape).ok_or_else(|| bad(name, "it is missing".into()))
    }

    /// Takes out an array that must be of this type and shape.
    pub fn take<T: Element>(&mut self, name: &str, shape: &[usize]) -> Result<Vec<T>> {
        let found = self.shape(name)?;
        if found != shape {
            return Err(bad(name, format!("its shape is {found:?}, not {shape:?}")));
        }
        let values = self.0.remove(name).expect("its shape was just looked at").values;
        let found = values.dtype();
        T::unwrap(values)
            .map(Cow::into_owned)
            .ok_or_else(|| bad(name, format!("it contains {found:?}, not {:?}", T::DTYPE)))
    }

    /// Whether an array is in single precision.
    pub(crate) fn is_single(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|array| matches!(array.values, Values::F32(_)))
    }

    /// Takes out numbers of this shape, all of them finite.
    pub fn take_finite(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f64>> {
        let values = self.take::<f64>(name, shape)?;
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(values),
            Some(place) => Err(bad(name, format!("entry {place} is {}", values[place]))),
        }
    }

    /// Takes out ids below `bound`.
    pub fn take_ids(&mut self, name: &str, shape: &[usize], bound: usize) -> Result<Vec<u32>> {
        let ids = self.take::<u32>(name, shape)?;
        match ids.iter().position(|&id| id as usize >= bound) {
            None => Ok(ids),
            Some(place) => {
                Err(bad(name, format!("entry {place} is {}, but must be below {bound}", ids[place])))
            }
        }
    }
}

/// The error that refuses an array.
pub(crate) fn bad(name: &str, problem: String) -> Error {
    Error::BadArray { name: shortened(name), problem }
}

/// The beginning of an untrusted text, for a message; control characters are escaped.
pub(crate) fn shortened(text: &str) -> String {
    const MAX: usize = 100;
    let mut visible = String::new();
    for c in text.chars().take(MAX) {
        if c.is_control() { visible.extend(c.escape_debug()) } else { visible.push(c) }
    }
    if text.chars().nth(MAX).is_some() {
        visible.push('…');
    }
    visible
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_taken_by_name_type_and_shape() {
        let (points, ids) = (vec![1.0, 2.0, 3.0, 4.0], vec![0u32, 3]);
        let mut arrays = Arrays::new();
        arrays.put("points", Some(2), &points[..]);
        arrays.put("ids", None, &ids[..]);
        arrays.put("counts", None, vec![7u64]);
        assert_eq!(arrays.names().collect::<Vec<_>>(), ["counts", "ids", "points"]);
        assert_eq!(arrays.shape("points").unwrap(), [2, 2]);
        let said = |error: Error| error.to_string();
        assert!(said(arrays.shape("nothing").unwrap_err()).contains("'nothing': it is missing"));
        let wrong = said(arrays.take::<f64>("points", &[4]).unwrap_err());
        assert!(wrong.contains("its shape is [2, 2], not [4]"), "{wrong}");
        let wrong = said(arrays.take_ids("ids", &[2], 3).unwrap_err());
        assert!(wrong.contains("entry 1 is 3, but must be below 3"), "{wrong}");
        let wrong = said(arrays.take::<u32>("counts", &[1]).unwrap_err());
        assert!(wrong.contains("it contains U64, not U32"), "{wrong}");
        assert_eq!(arrays.take_finite("points", &[2, 2]).unwrap(), points);
        arrays.put("points", None, vec![0.0, f64::NAN]);
        let wrong = said(arrays.take_finite("points", &[2]).unwrap_err());
        assert!(wrong.contains("entry 1 is NaN"), "{wrong}");
        assert!(arrays.names().next().is_none());
    }

    #[test]
    fn long_texts_are_shortened() {
        assert_eq!(shortened("a\n\"b\""), "a\\n\"b\"");
        assert_eq!(shortened(&"x".repeat(100)).len(), 100);
        assert!(shortened(&"ä".repeat(101)).ends_with("ä…"));
    }
}
