//! `taugraph compare`.

use std::path::Path;

use taugraph::labels::Labels;
use taugraph::memory;
use taugraph_io::{Budget, Output};

use crate::args::CompareArgs;
use crate::failure::{Failure, Outcome};
use crate::label_column::read_label_column;
use crate::report::{Scores, is_missing, write_json};

pub fn compare(args: &CompareArgs) -> Outcome<()> {
    let budget = Budget::of(args.memory.or_else(memory::available));
    let read = |file: &Path, column: &Option<String>, usual: &[&str]| {
        read_label_column(file, column.as_deref(), usual, &budget)
    };
    let first = read(&args.first, &args.first_column, &["label", "class", "cluster"])?;
    let second = read(&args.second, &args.second_column, &["cluster", "label", "class"])?;
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
