//! `taugraph compare`.

use std::path::Path;

use taugraph::labels::Labels;
use taugraph_io::{Contents, Error as FileError, Header, Output, ReadOptions, Role, Source, read};

use crate::args::CompareArgs;
use crate::failure::{Failure, Outcome};
use crate::report::{Scores, is_missing, write_json};

pub fn compare(args: &CompareArgs) -> Outcome<()> {
    let first = read_labels(&args.first, args.first_column.as_deref(), &["label", "class", "cluster"])?;
    let second = read_labels(&args.second, args.second_column.as_deref(), &["cluster", "label", "class"])?;
    if first.len() != second.len() {
        return Err(Failure::Input(format!(
            "{} has {} rows, {} has {}; both must label the same rows",
            args.first.display(),
            first.len(),
            args.second.display(),
            second.len()
        )));
    }
    // Rows without a label in either do not count.
    let both = first.into_iter().zip(second).filter(|(a, b)| !is_missing(a) && !is_missing(b));
    let (first, second): (Vec<String>, Vec<String>) = both.unzip();
    let (second, _) = Labels::from_names(&second);
    let scores = Scores::new(&first, &second)?
        .ok_or_else(|| Failure::Input("no row has a label in both files".into()))?;
    match &args.json {
        Some(path) => write_json(&scores.json(), path),
        None => Ok(Output::Stdout.write(|out| {
            for (name, value) in scores.named() {
                writeln!(out, "{name:<18} {value:.6}")?;
            }
            writeln!(out, "{:<18} {}", "rows", scores.n_rows)
        })?),
    }
}

fn read_labels(path: &Path, column: Option<&str>, usual: &[&str]) -> Outcome<Vec<String>> {
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
    let options = ReadOptions { roles: &roles, delimiter: None, header: Header::Automatic, array: None };
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
                taugraph_io::Cells::Texts(texts) => Some(texts),
                _ => None,
            });
            Ok(texts.expect("one column was read as text"))
        }
    }
}
