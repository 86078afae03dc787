//! Errors of the library as exceptions of `taugraph.exceptions`, one class for each.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use taugraph::error::Error;

/// Names of all errors; the package has a class for each, which a test checks.
#[pyfunction]
pub fn error_names() -> Vec<&'static str> {
    Error::NAMES.to_vec()
}

/// The exception of an error: the class `ZeroRowError` for the variant `ZeroRow`.
pub fn exception(py: Python<'_>, error: &Error) -> PyErr {
    named_exception(py, &format!("{}Error", error.name()), &error.to_string())
}

/// The exception of that class in `taugraph.exceptions`.
pub fn named_exception(py: Python<'_>, class: &str, message: &str) -> PyErr {
    let raised = py
        .import("taugraph.exceptions")
        .and_then(|module| module.getattr(class))
        .and_then(|class| class.call1((message,)));
    match raised {
        Ok(exception) => PyErr::from_value(exception),
        // Only if Python is shutting down, or the package is incomplete.
        Err(_) => PyRuntimeError::new_err(message.to_string()),
    }
}

/// A value that is not one of the names.
pub fn unknown_name(py: Python<'_>, what: &str, value: &str, names: &[&str]) -> PyErr {
    refused(py, what, value, &format!("must be one of {}", names.join(", ")))
}

/// A value that breaks a rule.
pub fn refused(py: Python<'_>, what: &str, value: &str, rule: &str) -> PyErr {
    exception(py, &Error::Parameter { name: what.into(), value: value.into(), rule: rule.into() })
}

/// A result of the library for Python.
pub fn checked<T>(py: Python<'_>, result: taugraph::error::Result<T>) -> PyResult<T> {
    result.map_err(|error| exception(py, &error))
}
