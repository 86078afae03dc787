//! The configuration: a preset, and parameters by their paths.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use taugraph::Config;
use taugraph::config::Parameter;
use taugraph::error::Error;
use taugraph::fit::Baseline;
use taugraph::params::Preset;

use crate::errors::{checked, exception};
use crate::running::RunArgs;
use crate::values::{from_python, to_python};

/// Names of the presets.
#[pyfunction]
pub fn preset_names() -> Vec<&'static str> {
    Preset::NAMES.to_vec()
}

/// Names of the baselines.
#[pyfunction]
pub fn baseline_names() -> Vec<&'static str> {
    Baseline::NAMES.to_vec()
}

/// Every parameter of the library.
#[pyclass(name = "Config", module = "taugraph._core", from_py_object)]
#[derive(Clone)]
pub struct PyConfig {
    pub config: Config,
}

#[pymethods]
impl PyConfig {
    /// A preset with changes.
    #[new]
    #[pyo3(signature = (preset="robust", params=None))]
    fn new(py: Python<'_>, preset: &str, params: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let mut made = Self { config: Config::default() };
        checked(py, made.config.set("preset", preset))?;
        if let Some(params) = params {
            made.set_all(py, params)?;
        }
        Ok(made)
    }

    /// Sets the parameter, or group of parameters, that a path names.
    fn set(&mut self, py: Python<'_>, path: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        checked(py, self.config.set(path, from_python(value)?))
    }

    /// Sets parameters from a dict of paths, or of nested groups.
    fn set_all(&mut self, py: Python<'_>, params: &Bound<'_, PyAny>) -> PyResult<()> {
        checked(py, self.config.set_all(&from_python(params)?))
    }

    /// The value at a path.
    fn get<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Bound<'py, PyAny>> {
        match self.config.get(path) {
            Some(value) => to_python(py, &value),
            None => {
                let known = self.config.to_json();
                let known: Vec<&str> =
                    known.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
                let (path, place, known) = (path.into(), "the configuration".into(), known.join(", "));
                Err(exception(py, &Error::UnknownParameter { path, place, known }))
            }
        }
    }

    /// Everything as nested groups, named as in the paths.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.config.to_json())
    }

    /// Every parameter, with its current value as the default.
    fn list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = self.config.list().iter().map(|one| row_of(py, one)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, rows)
    }

    /// A copy that can be changed.
    fn copy(&self) -> Self {
        self.clone()
    }
}

impl PyConfig {
    /// The configuration of a run, with its seed.
    pub fn for_run(self, run_args: &RunArgs) -> Config {
        let mut config = self.config;
        config.seed = run_args.seed();
        config
    }
}

fn row_of<'py>(py: Python<'py>, parameter: &Parameter) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("path", &parameter.path)?;
    row.set_item("default", to_python(py, &parameter.default)?)?;
    row.set_item("kind", &parameter.kind)?;
    row.set_item("range", parameter.range)?;
    row.set_item("meaning", &parameter.meaning)?;
    row.set_item("only_with", &parameter.only_with)?;
    Ok(row)
}
