//! `taugraph graph`.

use taugraph::RobustGraph;

use super::{text_of, write_graph, write_scales};
use crate::args::GraphCommand;
use crate::context::Context;
use crate::dataset::Kind;
use crate::failure::{Failure, Outcome};
use crate::outputs::{Holds, Outputs, output};
use taugraph_report::Found;

use crate::page::Page;
use crate::report::Report;
use crate::settings::Settings;

pub fn graph(args: &GraphCommand) -> Outcome<()> {
    let mut settings = Settings::start(&args.run)?;
    settings.apply_input(&args.input)?;
    args.params.apply(&mut settings.params)?;
    let json = args.run.json.as_deref();
    let outputs = Outputs::default()
        .with_result("edges", args.output.as_deref(), Holds::Graph, json)
        .with("--json", json, Holds::Other)
        .with("--scales", args.scales.as_deref(), Holds::Table(text_of(&settings.input)))
        .with_report(&args.shows);
    outputs.check(&[&settings.input.file])?;
    let context = Context::new(settings, &args.input, &args.run, &args.resume)?;
    let (dataset, input) = context.read()?;
    if dataset.kind == Kind::Graph {
        let message = format!("{} is a graph already; cluster it, or say --input distances", dataset.name);
        return Err(Failure::Input(message));
    }
    let page = Page::asked(&args.shows, &dataset, &input, context.settings.params.seed);
    let estimator = RobustGraph::with_config(context.settings.params.clone()).keep_points(page.is_some());
    let found = context.explained(estimator.fit_with(input, &context.run()), &dataset)?;
    context.run().stage("write", None)?;
    if outputs.has_result() {
        write_graph(&found, &output(args.output.as_deref()))?;
    }
    if let Some(path) = &args.scales {
        write_scales(&found, &dataset, context.settings.input.id_column.as_deref(), path)?;
    }
    let stages = context.terminal.finish();
    let report = Report {
        command: "graph",
        settings: &context.settings,
        dataset: &dataset,
        graph: &found,
        clusters: None,
        stages: &stages,
    };
    report.publish(None, "", &args.run)?;
    match page {
        Some(page) => {
            page.publish(Found::Graph(&found), &report, Vec::new(), "", &context.run(), &context.terminal)
        }
        None => Ok(()),
    }
}
