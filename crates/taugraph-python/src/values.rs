//! Values of parameters between Python and the library: numbers, names, lists and groups.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PySequence, PyString};
use serde_json::{Map, Number, Value};

use crate::errors::refused;

/// A value from Python. NumPy numbers and arrays are treated like the corresponding Python values.
pub fn from_python(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(Value::Bool(truth.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        let whole =
            value.extract::<u64>().map(Number::from).or_else(|_| value.extract::<i64>().map(Number::from));
        return whole.map(Value::Number).map_err(|_| strange(value, "must be a number of at most 64 bits"));
    }
    if value.is_instance_of::<PyFloat>() {
        let number = Number::from_f64(value.extract()?);
        return number.map(Value::Number).ok_or_else(|| strange(value, "must be finite"));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::String(text.to_cow()?.into_owned()));
    }
    if let Ok(group) = value.cast::<PyMapping>() {
        let mut map = Map::new();
        for item in group.items()? {
            let (name, value): (String, Bound<'_, PyAny>) = item.extract()?;
            map.insert(name, from_python(&value)?);
        }
        return Ok(Value::Object(map));
    }
    if let Ok(method) = value.getattr("tolist") {
        return from_python(&method.call0()?);
    }
    match value.cast::<PySequence>() {
        Ok(list) => {
            list.try_iter()?.map(|item| from_python(&item?)).collect::<PyResult<_>>().map(Value::Array)
        }
        Err(_) => Err(strange(value, "must be a number, a name, a list or a dict of them")),
    }
}

fn strange(value: &Bound<'_, PyAny>, rule: &str) -> PyErr {
    let shown = value.repr().map_or_else(|_| "?".into(), |text| text.to_string());
    refused(value.py(), "params", &shown, rule)
}

/// A value for Python.
pub fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(whole), _) => whole.into_pyobject(py)?.into_any(),
            (None, Some(whole)) => whole.into_pyobject(py)?.into_any(),
            (None, None) => number.as_f64().into_pyobject(py)?.into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(values) => {
            let list = values.iter().map(|value| to_python(py, value)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, list)?.into_any()
        }
        Value::Object(map) => {
            let group = PyDict::new(py);
            for (name, value) in map {
                group.set_item(name, to_python(py, value)?)?;
            }
            group.into_any()
        }
    })
}
