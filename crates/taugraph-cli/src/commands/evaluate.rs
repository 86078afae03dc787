//! `taugraph evaluate`: how well labels spread from one labeled row of each class.

use serde_json::json;
use taugraph::RobustGraph;
use taugraph::labels::Labels;
use taugraph::propagate::{Trials, evaluate as try_labeled};
use taugraph_io::Output;

use super::propagate::{walk_json, walk_text};
use crate::args::EvaluateCommand;
use crate::context::Context;
use crate::dataset::Dataset;
use crate::failure::{Failure, Outcome};
use crate::outputs::{Holds, Outputs, is_stdout};
use crate::report::{Report, grouped, is_missing, mean_and_deviation};
use crate::settings::{LabelSettings, Settings};

pub fn evaluate(args: &EvaluateCommand) -> Outcome<()> {
    let mut settings = Settings::start(&args.run)?;
    settings.apply_input(&args.input)?;
    args.labels.apply(&mut settings)?;
    args.rule.apply(&mut settings.params)?;
    args.params.apply(&mut settings.params)?;
    if settings.labels != LabelSettings::default() {
        let message = "evaluate draws its own labeled rows: leave out --labels-file, --priors and --sizes";
        return Err(Failure::Usage(message.into()));
    }
    let json = args.run.json.as_deref();
    Outputs::default().with("--json", json, Holds::Other).check(&[&settings.input.file])?;
    let context = Context::new(settings, &args.input, &args.run, &args.resume)?;
    let (dataset, input) = context.read()?;
    let names = true_labels(&dataset)?;
    let config = context.settings.params.clone();
    let params = config.propagate.clone();
    let estimator = RobustGraph::with_config(config).keep_points(false);
    let graph = context.explained(estimator.fit_with(input, &context.run()), &dataset)?;
    let (labels, classes) = Labels::from_names(names);
    let nodes: Vec<u32> = (0..graph.node_graph().n_nodes() as u32).collect();
    let node_of_row = graph.per_row(&nodes);
    let trials = if args.exact { Trials::AllPairs } else { Trials::Random(args.trials) };
    let found = try_labeled(graph.node_graph(), &node_of_row, &labels, &params, trials, &context.run())?;
    let stages = context.terminal.finish();
    let report = Report {
        command: "evaluate",
        settings: &context.settings,
        dataset: &dataset,
        graph: &graph,
        clusters: None,
        stages: &stages,
    };
    let section = json!({
        "classes": classes,
        "exact": trials == Trials::AllPairs,
        "accuracies": found.accuracies,
        "balanced_accuracies": found.balanced,
        "majority": found.majority,
        "walk": found.walk.map(walk_json),
    });
    let more = found.walk.map_or(String::new(), |walk| format!("labels    {}\n", walk_text(walk)));
    report.publish(Some(("evaluation", section)), &more, &args.run)?;
    if is_stdout(args.run.json.as_deref()) {
        return Ok(());
    }
    Ok(Output::Stdout.write(|out| {
        let n = grouped(found.accuracies.len());
        match trials {
            Trials::AllPairs => writeln!(out, "all {n} pairs of labeled rows (exact)")?,
            Trials::Random(_) => {
                writeln!(out, "{n} draws of one labeled row for each of {} classes", classes.len())?
            }
        }
        writeln!(out, "accuracy           {}", mean_and_deviation(&found.accuracies, 4))?;
        writeln!(out, "balanced_accuracy  {}", mean_and_deviation(&found.balanced, 4))?;
        writeln!(out, "majority           {:.4}", found.majority)
    })?)
}

/// The labels of all rows.
fn true_labels(dataset: &Dataset) -> Outcome<&[String]> {
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
