//! `taugraph propagate`.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value, json};
use taugraph::labels::Labels;
use taugraph::links::link_by_degree;
use taugraph::points::Duplicates;
use taugraph::progress::Run;
use taugraph::propagate::{
    Clamping, LabeledNodes, Priors, PropagateParams, Propagation, RowLabels, WalkInfo, propagate as spread,
};
use taugraph::robust::RobustGraph;
use taugraph_io::{
    Cells, Contents, Header, NewColumn, Output, ReadOptions, Role, Source, check_table_output, read,
    write_table,
};

use super::{
    check_model_output, is_stdout, keeping, new_run, output, refuse_shared_files, refuse_text_in_npy,
    refuse_two_on_stdout, use_threads, with_advice, with_ids, work_folder,
};
use crate::args::PropagateCommand;
use crate::dataset::{Dataset, read_dataset};
use crate::failure::{Failure, Outcome};
use crate::features::Features;
use crate::html_report::{self, Classes, Sample, Subject};
use crate::model_file;
use crate::pipeline::{Built, build_graph_and_points};
use crate::progress::Terminal;
use crate::report::{Report, grouped, is_missing};
use crate::settings::Settings;

pub fn propagate(args: &PropagateCommand) -> Outcome<()> {
    let mut settings = Settings::start(&args.run)?;
    settings.apply_input(&args.input)?;
    settings.apply_graph(&args.graph)?;
    settings.apply_propagate(&args.propagate)?;
    check_outputs(args, &settings)?;
    use_threads(&args.run)?;
    let terminal = Terminal::new(args.run.quiet);
    let folder = work_folder(&args.resume, &settings)?;
    let run = keeping(new_run(settings.seed, &args.run, &terminal), &folder);
    let features = Features::of_graph(&args.input, &settings, run.memory_limit)?;
    let run = features.place(run);

    run.stage("read", None)?;
    let mut dataset = read_dataset(&settings.input, &features)?;
    let given = Given::new(&settings, &dataset)?;
    check_model_output(args.save_model.as_deref(), &dataset.body)?;
    let sample = args.shows.is_asked().then(|| Sample::new(&dataset, settings.seed));
    let (mut built, points) =
        with_advice(build_graph_and_points(&mut dataset, &mut settings, &run), &folder)?;
    // Models and pictures need the points, nothing else does.
    let points = points.filter(|_| args.save_model.is_some() || args.shows.is_asked());
    if let (Built::Given(graph), true) = (&built, settings.propagate.link) {
        built = Built::Given(link_by_degree(graph).0);
    }
    let duplicates = built.duplicates();
    let (examples, n_conflicts) = LabeledNodes::of_rows(&given.of_rows, given.classes.len(), &duplicates)?;
    let params = given.params(&settings)?;
    let found = spread(built.graph(), &examples, &params, &run)?;
    run.stage("write", None)?;

    let rows = Rows::new(&given, &duplicates, &found, params.clamping);
    let id_name = settings.input.id_column.as_deref();
    let json_on_stdout = is_stdout(args.run.json.as_deref());
    if !json_on_stdout || args.output.is_some() {
        let table = with_ids(&dataset, id_name, rows.columns(&given.classes));
        write_table(&table, &output(args.output.as_deref()))?;
    }
    if let (Some(path), Some(robust), Some(points)) = (&args.save_model, built.robust(), &points) {
        let model = model_file::model_of(robust, points, &settings)?.with_classes(&found)?;
        let output = Output::new(path);
        model_file::save(model, "propagate", &settings, &dataset.features, &given.classes, &output)?;
    }
    let stages = terminal.finish();
    let report = Report {
        command: "propagate",
        settings: &settings,
        dataset: &dataset,
        built: &built,
        clusters: None,
        stages: &stages,
    };
    let section = rows.json(&given.classes, &found, n_conflicts);
    let text = rows.text(&given.classes, &found, n_conflicts);
    report.publish(Some(("propagation", section)), &text, &args.run)?;
    let Some(sample) = sample else { return Ok(()) };
    let relabel = |graph: &RobustGraph, run: &Run<'_>| {
        let duplicates = &graph.duplicates;
        let (examples, _) = LabeledNodes::of_rows(&given.of_rows, given.classes.len(), duplicates)?;
        let found = spread(&graph.graph, &examples, &params, run)?;
        Ok(found.of_rows(&given.of_rows, duplicates, params.clamping).labels)
    };
    let classes = Classes {
        names: &given.classes,
        of_rows: &rows.labels,
        given: &given.of_rows,
        margins: &rows.margins,
        notes: rows.notes(&found, n_conflicts),
        text,
    };
    let subject = Subject {
        report: &report,
        sample,
        points: points.as_ref(),
        labels: Some((&rows.labels, &relabel)),
        classes: Some(classes),
    };
    html_report::publish(&subject, &args.shows, &run, &terminal)
}

fn check_outputs(args: &PropagateCommand, settings: &Settings) -> Outcome<()> {
    let json_on_stdout = is_stdout(args.run.json.as_deref());
    refuse_two_on_stdout(&[
        ("labels", is_stdout(args.output.as_deref()) || (args.output.is_none() && !json_on_stdout)),
        ("--json", json_on_stdout),
        ("--save-model", is_stdout(args.save_model.as_deref())),
        ("--report", is_stdout(args.shows.report.as_deref())),
    ])?;
    refuse_shared_files(
        &settings.input.file,
        &[
            ("--output", args.output.as_deref()),
            ("--json", args.run.json.as_deref()),
            ("--save-model", args.save_model.as_deref()),
            ("--report", args.shows.report.as_deref()),
        ],
    )?;
    html_report::check(&args.shows)?;
    if let Some(path) = &args.output {
        check_table_output(&Output::new(path))?;
        refuse_text_in_npy(path, Some("labels"))?;
    }
    if let Some(path) = &args.run.json {
        Output::new(path).check()?;
    }
    Ok(())
}

/// The labels that are known.
struct Given {
    /// Class of each row that has one.
    of_rows: Vec<Option<u32>>,
    /// Names of the classes.
    classes: Vec<String>,
}

impl Given {
    fn new(settings: &Settings, dataset: &Dataset) -> Outcome<Self> {
        let names: Vec<Option<String>> = match (&settings.propagate.labels_file, &dataset.labels) {
            (Some(path), _) => labels_of_file(path, settings, dataset)?,
            (None, Some(column)) => {
                column.iter().map(|label| (!is_missing(label)).then(|| label.clone())).collect()
            }
            (None, None) => {
                let message =
                    "no labels were given: name their column with --labels, or a file with --labels-file";
                return Err(Failure::Usage(message.into()));
            }
        };
        let known: Vec<String> = names.iter().flatten().cloned().collect();
        let (labels, classes) = Labels::from_names(&known);
        if classes.len() < 2 {
            let found = classes.first().map_or("none".into(), |class| format!("'{class}' only"));
            let message = format!("{}: at least two classes need examples; there is {found}", dataset.name);
            return Err(Failure::Input(message));
        }
        if known.len() == names.len() {
            let message = format!(
                "{}: every row has a label already; leave some empty (nan in svmlight)",
                dataset.name
            );
            return Err(Failure::Input(message));
        }
        let mut ids = labels.iter().copied();
        let of_rows = names.iter().map(|name| name.as_ref().and_then(|_| ids.next())).collect();
        Ok(Self { of_rows, classes })
    }

    /// The parameters, with priors and sizes in the order of the classes.
    fn params(&self, settings: &Settings) -> Outcome<PropagateParams> {
        let spread = &settings.propagate;
        let in_order = |shares: &[(String, f64)], flag: &str| {
            let unknown = shares.iter().find(|(name, _)| !self.classes.contains(name));
            if let Some((name, _)) = unknown {
                return Err(Failure::Usage(format!("{flag}: class '{name}' has no example")));
            }
            let of = |class: &String| {
                let share = shares.iter().find(|(name, _)| name == class).map(|(_, share)| *share);
                share.ok_or_else(|| Failure::Usage(format!("{flag}: class '{class}' is missing")))
            };
            self.classes.iter().map(of).collect::<Outcome<Vec<f64>>>()
        };
        Ok(PropagateParams {
            rule: spread.rule,
            clamping: spread.clamping,
            priors: match &spread.priors {
                None => Priors::Uniform,
                Some(shares) => Priors::Given(in_order(shares, "--priors")?),
            },
            sizes: spread.sizes.as_ref().map(|shares| in_order(shares, "--sizes")).transpose()?,
            solver: spread.solver,
        })
    }
}

/// A file with a column `label`, and `row` or the column that names the rows.
fn labels_of_file(path: &Path, settings: &Settings, dataset: &Dataset) -> Outcome<Vec<Option<String>>> {
    let name = path.display();
    let roles = |names: &[String]| Ok(vec![Role::Text; names.len()]);
    let options = ReadOptions { roles: &roles, delimiter: None, header: Header::Yes, array: None };
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
    let by_id = settings.input.id_column.as_ref().and_then(|id| column(id).zip(dataset.ids.as_ref()));
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

/// What every row got.
struct Rows {
    labels: Vec<Option<u32>>,
    margins: Vec<f64>,
    probabilities: Vec<Vec<f64>>,
    flags: Vec<&'static str>,
}

impl Rows {
    fn new(given: &Given, duplicates: &Duplicates, found: &Propagation, clamping: Clamping) -> Self {
        let RowLabels { labels, margins, probabilities } =
            found.of_rows(&given.of_rows, duplicates, clamping);
        let width = given.classes.len();
        let of_class = |class: usize| probabilities.iter().skip(class).step_by(width).copied().collect();
        let probabilities = (0..width).map(of_class).collect();
        let flag = |(found, given): (&Option<u32>, &Option<u32>)| match (found, given) {
            (found, Some(_)) if found == given => "given",
            (_, Some(_)) => "corrected",
            (Some(_), None) => "",
            (None, None) => "unreached",
        };
        let flags = labels.iter().zip(&given.of_rows).map(flag).collect();
        Self { labels, margins, probabilities, flags }
    }

    fn columns(&self, classes: &[String]) -> Vec<NewColumn> {
        let name = |label: &Option<u32>| label.map_or(String::new(), |label| classes[label as usize].clone());
        let mut columns = vec![
            NewColumn::texts("label", self.labels.iter().map(name)),
            NewColumn::numbers("margin", self.margins.iter().copied()),
            NewColumn::texts("flag", self.flags.iter().map(|flag| flag.to_string())),
        ];
        for (class, of_class) in classes.iter().zip(&self.probabilities) {
            columns.push(NewColumn::numbers(format!("p_{class}"), of_class.iter().copied()));
        }
        columns
    }

    fn count(&self, flag: &str) -> usize {
        self.flags.iter().filter(|own| **own == flag).count()
    }

    /// Rows of each class, as given and as found.
    fn counts(&self, n_classes: usize) -> Vec<(usize, usize)> {
        let mut counts = vec![(0, 0); n_classes];
        for (label, flag) in self.labels.iter().zip(&self.flags) {
            if let Some(label) = label {
                let (given, all) = &mut counts[*label as usize];
                *given += usize::from(*flag == "given");
                *all += 1;
            }
        }
        counts
    }

    fn json(&self, classes: &[String], found: &Propagation, n_conflicts: usize) -> Value {
        let counts = self.counts(classes.len());
        json!({
            "classes": classes.iter().zip(&counts).map(|(class, (given, all))| json!({
                "name": class, "examples": given, "rows": all,
            })).collect::<Vec<_>>(),
            "iterations": found.info.iterations,
            "residual": found.info.residual,
            "walk": found.walk.map(walk_json),
            "components": found.n_components,
            "weak_edges_left_out": found.n_weak_edges,
            "abstained": self.count("unreached"),
            "corrected": self.count("corrected"),
            "conflicting_copies": n_conflicts,
            "labels": self.labels.iter().map(|label| label.map(|label| &classes[label as usize])).collect::<Vec<_>>(),
            "margins": self.margins,
        })
    }

    fn text(&self, classes: &[String], found: &Propagation, n_conflicts: usize) -> String {
        let most = 12;
        let of_class = |(class, (given, all)): (&String, (usize, usize))| {
            format!("{class} {} ({} given)", grouped(all), grouped(given))
        };
        let shown: Vec<String> =
            classes.iter().zip(self.counts(classes.len())).take(most).map(of_class).collect();
        let rest =
            if classes.len() > most { format!(" and {} more", classes.len() - most) } else { String::new() };
        let mut text = format!("labels    {}{rest}\n", shown.join(", "));
        let unsure =
            self.margins.iter().zip(&self.flags).filter(|(margin, flag)| flag.is_empty() && **margin < 0.1);
        let how = match found.walk {
            Some(walk) => walk_text(walk),
            None => format!("{} iterations", found.info.iterations),
        };
        text += &format!("          {} rows with a margin below 0.1; {how}\n", grouped(unsure.count()));
        for note in self.notes(found, n_conflicts) {
            text += &format!("note      {note}\n");
        }
        text
    }

    /// What the user should know about.
    fn notes(&self, found: &Propagation, n_conflicts: usize) -> Vec<String> {
        let notes = [
            (
                self.count("unreached"),
                "rows are reached by no label and got none; --link joins the components of a graph",
            ),
            (self.count("corrected"), "examples were outvoted by their neighbors"),
            (found.n_weak_edges, "edges weigh less than 1e-10 of the heaviest and were left out"),
            (n_conflicts, "groups of equal rows have different labels: the most frequent one counts"),
        ];
        let notes = notes.iter().filter(|(count, _)| *count > 0);
        notes.map(|(count, note)| format!("{} {note}", grouped(*count))).collect()
    }
}

/// How much of the kernel a walk saw.
pub fn walk_json(walk: WalkInfo) -> Value {
    json!({ "pairs": walk.n_pairs, "all_pairs": walk.n_all, "truncation": walk.truncation })
}

pub fn walk_text(walk: WalkInfo) -> String {
    if walk.n_pairs == walk.n_all {
        return format!("walks in all {} eigenpairs", grouped(walk.n_all));
    }
    format!(
        "walks in {} of {} eigenpairs (what is missing is at most {:.2} of the leading one)",
        grouped(walk.n_pairs),
        grouped(walk.n_all),
        walk.truncation
    )
}
