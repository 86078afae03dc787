//! Names of a model's columns and classes, and its origin. Placing needs none of them.

use std::collections::HashSet;

use serde_json::Value;

use super::Model;
use crate::error::{Error, Result};

/// Names of a model, as far as they are known.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    pub(super) columns: Option<Vec<String>>,
    pub(super) classes: Option<Vec<String>>,
    pub(super) origin: Option<Value>,
}

impl Names {
    /// Checks that there are as many as columns and classes, and that all are different.
    pub(super) fn check(&self, n_columns: usize, n_classes: usize) -> Result<()> {
        check("names of columns", &self.columns, n_columns)?;
        check("names of classes", &self.classes, n_classes)
    }
}

fn check(what: &'static str, names: &Option<Vec<String>>, expected: usize) -> Result<()> {
    let Some(names) = names else { return Ok(()) };
    if names.len() != expected {
        return Err(Error::Length { what, expected, received: names.len() });
    }
    let mut seen = HashSet::with_capacity(names.len());
    match names.iter().find(|name| !seen.insert(name.as_str())) {
        None => Ok(()),
        Some(name) => Err(Error::Parameter {
            name: what.into(),
            value: name.clone(),
            rule: "no name may occur twice".into(),
        }),
    }
}

impl Model {
    /// Adds the names of the raw columns, see [`Model::n_raw_columns`].
    pub fn with_columns(mut self, names: Vec<String>) -> Result<Self> {
        self.names.columns = Some(names);
        self.checked()
    }

    /// Adds the names of the classes. Labels must have been added already, see [`Model::with_classes`].
    pub fn with_class_names(mut self, names: Vec<String>) -> Result<Self> {
        self.names.classes = Some(names);
        self.checked()
    }

    /// Adds the origin of the model: any JSON that a front end wants to store with it.
    pub fn with_origin(mut self, origin: Value) -> Self {
        self.names.origin = Some(origin);
        self
    }

    /// Names of the raw columns.
    pub fn columns(&self) -> Option<&[String]> {
        self.names.columns.as_deref()
    }

    /// Names of the classes.
    pub fn class_names(&self) -> Option<&[String]> {
        self.names.classes.as_deref()
    }

    /// The origin of the model, as recorded by the front end that created it.
    pub fn origin(&self) -> Option<&Value> {
        self.names.origin.as_ref()
    }
}
