//! `taugraph evaluate`: how well labels spread from one example of each class.

use serde_json::json;
use taugraph::labels::Labels;
use taugraph::propagate::{PropagateParams, Trials, evaluate as try_examples};
use taugraph_io::Output;

use super::propagate::{walk_json, walk_text};
use super::{is_stdout, keeping, new_run, refuse_shared_files, use_threads, with_advice, work_folder};
use crate::args::EvaluateCommand;
use crate::dataset::read_dataset;
use crate::failure::{Failure, Outcome};
use crate::features::Features;
use crate::pipeline::build_graph;
use crate::progress::Terminal;
use crate::report::{Report, grouped, is_missing, mean_and_deviation};
use crate::settings::Settings;

pub fn evaluate(args: &EvaluateCommand) -> Outcome<()> {
    let mut settings = Settings::start(&args.run)?;
    settings.apply_input(&args.input)?;
    settings.apply_graph(&args.graph)?;
    settings.apply_propagate(&args.propagate)?;
    let spread = settings.propagate.clone();
    if spread.labels_file.is_some() || spread.priors.is_some() || spread.sizes.is_some() {
        let message = "evaluate draws its own examples: leave out --labels-file, --priors and --sizes";
        return Err(Failure::Usage(message.into()));
    }
    refuse_shared_files(&settings.input.file, &[("--json", args.run.json.as_deref())])?;
    if let Some(path) = &args.run.json {
        Output::new(path).check()?;
    }
    use_threads(&args.run)?;
    let terminal = Terminal::new(args.run.quiet);
    let folder = work_folder(&args.resume, &settings)?;
    let run = keeping(new_run(settings.seed, &args.run, &terminal), &folder);
    let features = Features::of_graph(&args.input, &settings, run.memory_limit)?;
    let run = features.place(run);

    run.stage("read", None)?;
    let mut dataset = read_dataset(&settings.input, &features)?;
    let Some(names) = dataset.labels.clone() else {
        return Err(Failure::Usage(
            "the true labels are needed: name their column with --label-column, or give a svmlight file"
                .into(),
        ));
    };
    if let Some(row) = names.iter().position(|name| is_missing(name)) {
        let message = format!(
            "{}, data row {}: the label is missing; evaluate needs all of them",
            dataset.name,
            row + 1
        );
        return Err(Failure::Input(message));
    }
    let (labels, classes) = Labels::from_names(&names);
    let built = with_advice(build_graph(&mut dataset, &mut settings, &run), &folder)?;
    let rows: Vec<u32> = (0..built.graph().n_nodes() as u32).collect();
    let node_of_row = built.of_rows(&rows);
    let params = PropagateParams {
        rule: spread.rule,
        clamping: spread.clamping,
        solver: spread.solver,
        ..PropagateParams::default()
    };
    let trials = if args.exact { Trials::AllPairs } else { Trials::Random(args.trials) };
    let found = try_examples(built.graph(), &node_of_row, &labels, &params, trials, &run)?;
    let stages = terminal.finish();
    let report = Report {
        command: "evaluate",
        settings: &settings,
        dataset: &dataset,
        built: &built,
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
            Trials::AllPairs => writeln!(out, "all {n} pairs of examples (exact)")?,
            Trials::Random(_) => {
                writeln!(out, "{n} draws of one example for each of {} classes", classes.len())?
            }
        }
        writeln!(out, "accuracy           {}", mean_and_deviation(&found.accuracies, 4))?;
        writeln!(out, "balanced_accuracy  {}", mean_and_deviation(&found.balanced, 4))?;
        writeln!(out, "majority           {:.4}", found.majority)
    })?)
}
