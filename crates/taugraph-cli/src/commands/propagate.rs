//! `taugraph propagate`.

use serde_json::{Value, json};
use taugraph::propagate::{Propagation, WalkInfo};
use taugraph::{FittedLabels, GivenLabels, LabelPropagation};
use taugraph_io::{NewColumn, write_table};
use taugraph_report::Found;

use super::{check_model_input, save_model, with_ids};
use crate::args::PropagateCommand;
use crate::context::Context;
use crate::failure::Outcome;
use crate::given_labels::{given_labels, with_shares};
use crate::outputs::{Holds, Outputs, output};
use crate::page::Page;
use crate::report::{Report, grouped};
use crate::settings::Settings;

pub fn propagate(args: &PropagateCommand) -> Outcome<()> {
    let mut settings = Settings::start(&args.run)?;
    settings.apply_input(&args.input)?;
    args.labels.apply(&mut settings)?;
    args.rule.apply(&mut settings.params)?;
    args.params.apply(&mut settings.params)?;
    let json = args.run.json.as_deref();
    let outputs = Outputs::default()
        .with_result("labels", args.output.as_deref(), Holds::Table(Some("labels")), json)
        .with("--json", json, Holds::Other)
        .with("--save-model", args.save_model.as_deref(), Holds::Other)
        .with_report(&args.shows);
    outputs.check(&[&settings.input.file])?;
    let context = Context::new(settings, &args.input, &args.run, &args.resume)?;
    let settings = &context.settings;
    let (dataset, input) = context.read()?;
    let given = given_labels(settings, &dataset)?;
    check_model_input(args.save_model.as_deref(), dataset.kind)?;
    let page = Page::asked(&args.shows, &dataset, &input, context.settings.params.seed);
    let mut config = settings.params.clone();
    config.propagate = with_shares(&config.propagate, &given, settings)?;
    // Models and pictures need the points, nothing else does.
    let keeps_points = args.save_model.is_some() || page.is_some();
    let estimator = LabelPropagation::with_config(config).keep_points(keeps_points);
    let found = context.explained(estimator.fit_with(input, &given, &context.run()), &dataset)?;
    context.run().stage("write", None)?;
    let rows = Rows::new(&given, &found);
    if outputs.has_result() {
        let table = with_ids(&dataset, settings.input.id_column.as_deref(), rows.columns(given.classes()));
        write_table(&table, &output(args.output.as_deref()))?;
    }
    if let Some(path) = &args.save_model {
        save_model(found.model()?, "propagate", settings, &dataset, given.classes(), path)?;
    }
    let stages = context.terminal.finish();
    let report = Report {
        command: "propagate",
        settings,
        dataset: &dataset,
        graph: found.graph(),
        clusters: None,
        stages: &stages,
    };
    let (spread, n_conflicts) = (found.propagation(), found.n_conflicts());
    let text = rows.text(given.classes(), spread, n_conflicts);
    report.publish(
        Some(("propagation", rows.json(given.classes(), spread, n_conflicts))),
        &text,
        &args.run,
    )?;
    match page {
        Some(page) => {
            let notes = rows.notes(spread, n_conflicts);
            page.publish(
                Found::Labels(&found, &given),
                &report,
                notes,
                &text,
                &context.run(),
                &context.terminal,
            )
        }
        None => Ok(()),
    }
}

/// What every row got.
struct Rows {
    labels: Vec<Option<u32>>,
    margins: Vec<f64>,
    probabilities: Vec<Vec<f64>>,
    flags: Vec<&'static str>,
}

impl Rows {
    fn new(given: &GivenLabels, found: &FittedLabels) -> Self {
        let width = given.classes().len();
        let of_class =
            |class: usize| found.probabilities().iter().skip(class).step_by(width).copied().collect();
        let probabilities = (0..width).map(of_class).collect();
        let flag = |(found, given): (&Option<u32>, &Option<u32>)| match (found, given) {
            (found, Some(_)) if found == given => "given",
            (_, Some(_)) => "corrected",
            (Some(_), None) => "",
            (None, None) => "unreached",
        };
        let flags = found.labels().iter().zip(given.of_rows()).map(flag).collect();
        Self { labels: found.labels().to_vec(), margins: found.margins().to_vec(), probabilities, flags }
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
                "name": class, "labeled": given, "rows": all,
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
                "rows are reached by no label and got none; --set propagate.link=yes joins the components of a given graph",
            ),
            (self.count("corrected"), "labeled rows were outvoted by their neighbors"),
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
