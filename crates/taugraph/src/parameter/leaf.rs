//! Single values: numbers, lists, and optional values.

use serde_json::Value;

use super::{About, Parameter, ParameterTree, refused, unknown};
use crate::error::Result;

/// A single value: how it is written and read.
pub(crate) trait Leaf: Sized {
    const KIND: &'static str;

    fn write(&self) -> Value;

    /// `None` if it is something else.
    fn read(value: &Value) -> Option<Self>;
}

impl<T: Leaf> ParameterTree for T {
    fn to_json(&self) -> Value {
        self.write()
    }

    fn set(&mut self, path: &str, rest: &[&str], value: &Value) -> Result<()> {
        at_the_end(path, rest)?;
        *self = T::read(value).ok_or_else(|| refused(path, value, format!("must be a {}", T::KIND)))?;
        Ok(())
    }

    fn check_ranges(&self, _: &str) -> Result<()> {
        Ok(())
    }

    fn list(&self, path: &str, about: About<'_>, list: &mut Vec<Parameter>) {
        list.push(Parameter {
            path: path.to_string(),
            default: self.write(),
            kind: T::KIND.to_string(),
            range: about.range,
            meaning: about.meaning.trim().to_string(),
            only_with: about.only_with.map(str::to_string),
        });
    }
}

/// Numbers come as JSON, or as text from a command line.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

impl Leaf for u64 {
    const KIND: &'static str = "whole number";

    fn write(&self) -> Value {
        (*self).into()
    }

    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) if number.is_u64() => number.as_u64(),
            // Python and JavaScript may write 3 as 3.0.
            Value::Number(number) => number
                .as_f64()
                .filter(|number| number.fract() == 0.0 && (0.0..9.0e15).contains(number))
                .map(|number| number as u64),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        }
    }
}

impl Leaf for usize {
    const KIND: &'static str = u64::KIND;

    fn write(&self) -> Value {
        (*self).into()
    }

    fn read(value: &Value) -> Option<Self> {
        usize::try_from(u64::read(value)?).ok()
    }
}

impl Leaf for f64 {
    const KIND: &'static str = "number";

    fn write(&self) -> Value {
        (*self).into()
    }

    fn read(value: &Value) -> Option<Self> {
        number(value)
    }
}

impl Leaf for bool {
    const KIND: &'static str = "yes or no";

    fn write(&self) -> Value {
        (*self).into()
    }

    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(truth) => Some(*truth),
            Value::String(text) if matches!(text.as_str(), "yes" | "true") => Some(true),
            Value::String(text) if matches!(text.as_str(), "no" | "false") => Some(false),
            _ => None,
        }
    }
}

/// A list: a JSON array, or comma-separated values; a single value is a list of one.
fn read_list<T: Leaf>(value: &Value) -> Option<Vec<T>> {
    match value {
        Value::Array(values) => values.iter().map(T::read).collect(),
        Value::String(text) => text.split(',').map(|part| T::read(&Value::String(part.into()))).collect(),
        single => Some(vec![T::read(single)?]),
    }
}

impl Leaf for Vec<f64> {
    const KIND: &'static str = "list of numbers";

    fn write(&self) -> Value {
        self.to_vec().into()
    }

    fn read(value: &Value) -> Option<Self> {
        read_list(value)
    }
}

impl Leaf for Vec<usize> {
    const KIND: &'static str = "list of whole numbers";

    fn write(&self) -> Value {
        self.to_vec().into()
    }

    fn read(value: &Value) -> Option<Self> {
        read_list(value)
    }
}

/// Optional values: `auto`, `none` and `null` leave them unset.
fn is_left_open(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text == "auto" || text == "none",
        _ => false,
    }
}

impl Leaf for Option<usize> {
    const KIND: &'static str = "whole number, or none";

    fn write(&self) -> Value {
        (*self).into()
    }

    fn read(value: &Value) -> Option<Self> {
        if is_left_open(value) { Some(None) } else { usize::read(value).map(Some) }
    }
}

impl Leaf for Option<Vec<f64>> {
    const KIND: &'static str = "list of numbers, or none";

    fn write(&self) -> Value {
        self.clone().into()
    }

    fn read(value: &Value) -> Option<Self> {
        if is_left_open(value) { Some(None) } else { Vec::read(value).map(Some) }
    }
}

/// Refuses a path that continues beyond a single value.
fn at_the_end(path: &str, rest: &[&str]) -> Result<()> {
    match rest.first() {
        None => Ok(()),
        Some(name) => Err(unknown(path, name, &[])),
    }
}
