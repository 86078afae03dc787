//! Pairs of rows that must, or must not, share a cluster, from the files that name them.

use std::path::Path;

use taugraph::Constraints;
use taugraph_io::{Budget, Contents, ReadOptions, Source, Table, read};

use crate::dataset::Dataset;
use crate::failure::{Failure, Outcome};
use crate::settings::Settings;

/// Before the work: standard input can be read only once.
pub fn check_pair_files(settings: &Settings) -> Outcome<()> {
    let files = settings.pairs.files().chain([settings.input.file.as_path()]);
    match files.filter(|file| file.as_os_str() == "-").count() {
        0..=1 => Ok(()),
        _ => {
            let message =
                "the rows and the pairs of --must-link and --cannot-link cannot all come from standard input";
            Err(Failure::Usage(message.into()))
        }
    }
}

/// The pairs of the settings, as rows of the dataset.
pub fn row_pairs(settings: &Settings, dataset: &Dataset, budget: &Budget) -> Outcome<Constraints> {
    let pairs = |path: &Option<_>| {
        path.as_deref().map_or(Ok(Vec::new()), |path| pairs_of_file(path, dataset, budget))
    };
    Ok(Constraints {
        must_link: pairs(&settings.pairs.must_link)?,
        cannot_link: pairs(&settings.pairs.cannot_link)?,
    })
}

fn pairs_of_file(path: &Path, dataset: &Dataset, budget: &Budget) -> Outcome<Vec<(u32, u32)>> {
    let name = path.display();
    let table = match read(&Source::new(path), &ReadOptions { budget, ..ReadOptions::numbers() })? {
        Contents::Table(table) => table,
        Contents::Sparse(_) | Contents::Labeled(_) => {
            return Err(Failure::Input(format!("{name} is a sparse matrix, not a table of pairs")));
        }
    };
    if table.columns.len() != 2 {
        let found = table.columns.len();
        let noun = if found == 1 { "column" } else { "columns" };
        let message = format!("{name} has {found} {noun}; pairs have two, the numbers of their rows");
        return Err(Failure::Input(message));
    }
    // A first line such as '1,x' would pass for a header.
    if let Some(number) = table.columns.iter().find(|column| column.name.parse::<f64>().is_ok()) {
        let message =
            format!("{name}, line 1: a header beside the number {}; two rows are needed", number.name);
        return Err(Failure::Input(message));
    }
    table.refuse_text("; the number of a row is needed, counted from 0")?;
    let values = table.values.to_f64();
    let pairs = values.chunks_exact(2).enumerate();
    let row = |cell: f64, pair: usize| match cell {
        _ if cell >= 0.0 && cell < dataset.n_rows as f64 && cell.fract() == 0.0 => Ok(cell as u32),
        _ => Err(Failure::Input(format!("{name}, {}: {}", place(&table, pair), fault(cell, dataset)))),
    };
    pairs.map(|(pair, cells)| Ok((row(cells[0], pair)?, row(cells[1], pair)?))).collect()
}

fn place(table: &Table, pair: usize) -> String {
    match table.header_lines {
        Some(header) => format!("line {}", header + pair as u64 + 1),
        None => format!("data row {}", pair + 1),
    }
}

fn fault(cell: f64, dataset: &Dataset) -> String {
    match cell {
        _ if cell.is_nan() => "a row is missing; two are needed".into(),
        _ if cell.fract() != 0.0 => format!("{cell} is not the number of a row"),
        _ => format!("there is no row {cell}; {} has rows 0 to {}", dataset.name, dataset.n_rows - 1),
    }
}
