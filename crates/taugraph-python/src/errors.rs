//! Errors of the library as exceptions of `taugraph.exceptions`, one class for each.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use taugraph::error::Error;

/// The exception of an error. Classes are named after the variants.
pub fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let shown = format!("{error:?}");
    let variant = shown.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let exception = raise(py, &format!("{variant}Error"), error.to_string());
    if let Error::TooFewPoints { distinct, .. } = error {
        // The package asks for fewer neighbors then.
        let _ = exception.value(py).setattr("distinct", distinct);
    }
    exception
}

/// The exception of this name, or the one that all of them are.
fn raise(py: Python<'_>, name: &str, message: String) -> PyErr {
    let found = py.import("taugraph.exceptions").and_then(|module| {
        let class = module.getattr(name).or_else(|_| module.getattr("TaugraphError"))?;
        class.call1((message.clone(),))
    });
    match found {
        Ok(exception) => PyErr::from_value(exception),
        Err(_) => PyRuntimeError::new_err(message),
    }
}

/// Parameters from JSON.
pub fn parse<T: DeserializeOwned>(py: Python<'_>, what: &str, text: &str) -> PyResult<T> {
    serde_json::from_str(text)
        .map_err(|error| raise(py, "ParameterError", format!("{what}: {error}; received {text}")))
}

/// A result of the library for Python.
pub fn checked<T>(py: Python<'_>, result: taugraph::error::Result<T>) -> PyResult<T> {
    result.map_err(|error| exception(py, &error))
}
