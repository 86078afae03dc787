//! The labels that are known: a column of the table, or a file of their own; and what is said about their classes.

use std::collections::HashMap;
use std::path::Path;

use taugraph::GivenLabels;
use taugraph::propagate::{Priors, PropagateParams};
use taugraph_io::{Budget, Cells, Contents, Header, ReadOptions, Role, Source, read};

use crate::dataset::Dataset;
use crate::failure::{Failure, Outcome};
use crate::report::is_missing;
use crate::settings::Settings;

/// Finds the labels; at least two classes, and at least one row without a label.
pub fn given_labels(settings: &Settings, dataset: &Dataset, budget: &Budget) -> Outcome<GivenLabels> {
    let names: Vec<Option<String>> = match (&settings.labels.file, &dataset.labels) {
        (Some(path), _) => labels_of_file(path, dataset, budget)?,
        (None, Some(column)) => {
            column.iter().map(|label| (!is_missing(label)).then(|| label.clone())).collect()
        }
        (None, None) => {
            let message =
                "no labels were given: name their column with --labels, or a file with --labels-file";
            return Err(Failure::Usage(message.into()));
        }
    };
    let given = GivenLabels::from_names(&names);
    if given.classes().len() < 2 {
        let found = given.classes().first().map_or("none".into(), |class| format!("'{class}' only"));
        let message = format!("{}: at least two classes need labeled rows; there is {found}", dataset.name);
        return Err(Failure::Input(message));
    }
    if names.iter().all(Option::is_some) {
        let message =
            format!("{}: every row has a label already; leave some empty (nan in svmlight)", dataset.name);
        return Err(Failure::Input(message));
    }
    Ok(given)
}

/// The labels of all rows.
pub fn true_labels(dataset: &Dataset) -> Outcome<&[String]> {
    let Some(names) = &dataset.labels else {
        return Err(Failure::Usage(
            "the true labels are needed: name their column with --label-column, or give a svmlight file"
                .into(),
        ));
    };
    match names.iter().position(|name| is_missing(name)) {
        None => Ok(names),
        Some(row) => Err(Failure::Input(format!(
            "{}, data row {}: the label is missing; evaluate needs all of them",
            dataset.name,
            row + 1
        ))),
    }
}

/// The parameters, with priors and sizes in the order of the classes.
pub fn with_shares(
    params: &PropagateParams,
    given: &GivenLabels,
    settings: &Settings,
) -> Outcome<PropagateParams> {
    let in_order = |shares: &[(String, f64)], flag: &str| {
        let unknown = shares.iter().find(|(name, _)| !given.classes().contains(name));
        if let Some((name, _)) = unknown {
            return Err(Failure::Usage(format!("{flag}: class '{name}' has no labeled row")));
        }
        let of = |class: &String| {
            let share = shares.iter().find(|(name, _)| name == class).map(|(_, share)| *share);
            share.ok_or_else(|| Failure::Usage(format!("{flag}: class '{class}' is missing")))
        };
        given.classes().iter().map(of).collect::<Outcome<Vec<f64>>>()
    };
    let mut params = params.clone();
    if let Some(shares) = &settings.labels.priors {
        params.priors = Priors::Given { shares: in_order(shares, "--priors")? };
    }
    if let Some(shares) = &settings.labels.sizes {
        params.sizes = Some(in_order(shares, "--sizes")?);
    }
    Ok(params)
}

/// A file with a column `label`, and `row` or the column that names the rows.
fn labels_of_file(path: &Path, dataset: &Dataset, budget: &Budget) -> Outcome<Vec<Option<String>>> {
    let name = path.display();
    let roles = |names: &[String]| Ok(vec![Role::Text; names.len()]);
    let options = ReadOptions { roles: &roles, header: Header::Yes, budget, ..ReadOptions::numbers() };
    let Contents::Table(table) = read(&Source::new(path), &options)? else {
        return Err(Failure::Input(format!("{name} is a sparse matrix, not a table of labels")));
    };
    let column = |wanted: &str| {
        table.columns.iter().find(|column| column.name == wanted).and_then(|column| match &column.cells {
            Cells::Texts(texts) => Some(texts),
            _ => None,
        })
    };
    let labels = column("label").ok_or_else(|| Failure::Input(format!("{name} has no column 'label'")))?;
    let by_id = dataset.ids.as_ref().and_then(|ids| Some((column(&ids.column)?, &ids.of_rows)));
    let rows: Vec<usize> = match (by_id, column("row")) {
        (Some((ids, known)), _) => {
            let mut places: HashMap<&str, usize> = HashMap::new();
            for (row, id) in known.iter().enumerate() {
                if places.insert(id, row).is_some() {
                    return Err(Failure::Input(format!("{}: two rows are called '{id}'", dataset.name)));
                }
            }
            let place = |id: &String| {
                let unknown = || Failure::Input(format!("{name}: {} has no row '{id}'", dataset.name));
                places.get(id.as_str()).copied().ok_or_else(unknown)
            };
            ids.iter().map(place).collect::<Outcome<_>>()?
        }
        (None, Some(rows)) => {
            let place = |text: &String| match text.parse::<usize>() {
                Ok(row) if (1..=dataset.n_rows).contains(&row) => Ok(row - 1),
                _ => {
                    Err(Failure::Input(format!("{name}: '{text}' is not a row from 1 to {}", dataset.n_rows)))
                }
            };
            rows.iter().map(place).collect::<Outcome<_>>()?
        }
        (None, None) => {
            let message = format!("{name} needs a column 'row' (counted from 1), or the one of --id-column");
            return Err(Failure::Input(message));
        }
    };
    let mut given = vec![None; dataset.n_rows];
    for (row, label) in rows.into_iter().zip(labels).filter(|(_, label)| !is_missing(label)) {
        if given[row].as_ref().is_some_and(|before| before != label) {
            return Err(Failure::Input(format!("{name}: row {} has two labels", row + 1)));
        }
        given[row] = Some(label.clone());
    }
    Ok(given)
}
