//! `taugraph graph`.

use taugraph_io::{Output, check_graph_output, check_table_output};

use super::{
    is_stdout, keeping, new_run, output, refuse_shared_files, refuse_text_in_npy, refuse_two_on_stdout,
    text_of, use_threads, with_advice, work_folder, write_rows_graph, write_scales,
};
use crate::args::GraphCommand;
use crate::dataset::{Body, read_dataset};
use crate::failure::{Failure, Outcome};
use crate::features::Features;
use crate::html_report::{self, Sample, Subject};
use crate::pipeline::build_graph_and_points;
use crate::progress::Terminal;
use crate::report::Report;
use crate::settings::Settings;

pub fn graph(args: &GraphCommand) -> Outcome<()> {
    let mut settings = Settings::start(&args.run)?;
    settings.apply_input(&args.input)?;
    settings.apply_graph(&args.graph)?;
    refuse_shared_files(
        &settings.input.file,
        &[
            ("--output", args.output.as_deref()),
            ("--json", args.run.json.as_deref()),
            ("--scales", args.scales.as_deref()),
            ("--report", args.shows.report.as_deref()),
        ],
    )?;
    let json_on_stdout = is_stdout(args.run.json.as_deref());
    let edges_on_stdout = is_stdout(args.output.as_deref()) || (args.output.is_none() && !json_on_stdout);
    refuse_two_on_stdout(&[
        ("edges", edges_on_stdout),
        ("--json", json_on_stdout),
        ("--scales", is_stdout(args.scales.as_deref())),
        ("--report", is_stdout(args.shows.report.as_deref())),
    ])?;
    html_report::check(&args.shows)?;
    check_graph_output(&output(args.output.as_deref()))?;
    if let Some(path) = &args.scales {
        check_table_output(&Output::new(path))?;
        refuse_text_in_npy(path, text_of(&settings.input))?;
    }
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
    if let Body::Graph(_) = dataset.body {
        let message = format!("{} is a graph already; cluster it, or say --input distances", dataset.name);
        return Err(Failure::Input(message));
    }
    let sample = args.shows.is_asked().then(|| Sample::new(&dataset, settings.seed));
    let (built, points) = with_advice(build_graph_and_points(&mut dataset, &mut settings, &run), &folder)?;
    let points = points.filter(|_| args.shows.is_asked());
    run.stage("write", None)?;
    if edges_on_stdout || args.output.is_some() {
        write_rows_graph(&built, &output(args.output.as_deref()))?;
    }
    if let Some((path, robust)) = args.scales.as_ref().zip(built.robust()) {
        write_scales(robust, &dataset, settings.input.id_column.as_deref(), path)?;
    }
    let stages = terminal.finish();
    let report = Report {
        command: "graph",
        settings: &settings,
        dataset: &dataset,
        built: &built,
        clusters: None,
        stages: &stages,
    };
    report.publish(None, "", &args.run)?;
    let Some(sample) = sample else { return Ok(()) };
    let subject = Subject { report: &report, sample, points: points.as_ref(), labels: None, classes: None };
    html_report::publish(&subject, &args.shows, &run, &terminal)
}
