//! What people call the columns and classes of a model, and where it comes from. Placing needs none of it.

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
    /// As many as there are columns and classes, and all different.
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
            rule: "no name may be there twice".into(),
        }),
    }
}

impl Model {
    /// Adds the names of the raw columns, see [`Model::n_raw_columns`].
    pub fn with_columns(mut self, names: Vec<String>) -> Result<Self> {
        self.names.columns = Some(names);
        self.checked()
    }

    /// Adds the names of the classes. Labels have to be there already, see [`Model::with_classes`].
    pub fn with_class_names(mut self, names: Vec<String>) -> Result<Self> {
        self.names.classes = Some(names);
        self.checked()
    }

    /// Adds where the model comes from: any JSON that a front end wants to keep with it.
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

    /// Where the model comes from, in the words of the front end that made it.
    pub fn origin(&self) -> Option<&Value> {
        self.names.origin.as_ref()
    }
}
