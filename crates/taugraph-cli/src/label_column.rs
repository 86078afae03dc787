//! One column of labels in a file.

use std::path::Path;

use taugraph_io::{Budget, Cells, Contents, Error as FileError, ReadOptions, Role, Source, read};

use crate::failure::{Failure, Outcome};

/// Reads the named column; without a name the only one, or the first there is of the usual ones.
pub fn read_label_column(
    path: &Path,
    column: Option<&str>,
    usual: &[&str],
    budget: &Budget,
) -> Outcome<Vec<String>> {
    let source = Source::new(path);
    let name = source.to_string();
    let choose = |names: &[String]| -> Result<usize, FileError> {
        let place = |wanted: &str| names.iter().position(|name| name == wanted);
        let found = match column {
            Some(column) => place(column),
            None if names.len() == 1 => Some(0),
            None => usual.iter().find_map(|&usual| place(usual)),
        };
        found.ok_or_else(|| FileError::UnknownColumn {
            name: name.clone(),
            column: column.unwrap_or(usual[0]).to_string(),
            known: names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", "),
        })
    };
    let roles = |names: &[String]| {
        let chosen = choose(names)?;
        Ok((0..names.len()).map(|place| if place == chosen { Role::Text } else { Role::Skip }).collect())
    };
    let options = ReadOptions { roles: &roles, budget, ..ReadOptions::numbers() };
    match read(&source, &options)? {
        Contents::Sparse(_) => {
            Err(Failure::Input(format!("{name} is a sparse matrix, not a table of labels")))
        }
        Contents::Labeled(found) => match column {
            None | Some("label") => Ok(found.labels),
            Some(column) => {
                let column = column.to_string();
                Err(FileError::UnknownColumn { name, column, known: "'label'".into() }.into())
            }
        },
        Contents::Table(table) => {
            let texts = table.columns.into_iter().find_map(|column| match column.cells {
                Cells::Texts(texts) => Some(texts),
                _ => None,
            });
            Ok(texts.expect("one column was read as text"))
        }
    }
}
