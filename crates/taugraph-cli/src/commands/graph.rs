//! `taugraph graph`.

use taugraph::RobustGraph;
use taugraph_report::Found;

use crate::args::GraphCommand;
use crate::context::Context;
use crate::dataset::Kind;
use crate::failure::{Failure, Outcome};
use crate::outputs::{Holds, Outputs, output};
use crate::page::Page;
use crate::results::{write_graph, write_scales};
use crate::settings::Settings;

pub fn graph(args: &GraphCommand) -> Outcome<()> {
    let mut settings = Settings::start(&args.run, &args.input)?;
    args.params.apply(&mut settings.params)?;
    let (json, numbers) = (args.run.json.as_deref(), Holds::numbers(settings.input.id_column.as_deref()));
    let outputs = Outputs::default()
        .with_result("edges", args.output.as_deref(), Holds::Graph, json)
        .with("--json", json, Holds::Other)
        .with("--scales", args.scales.as_deref(), numbers)
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
        write_scales(&found, dataset.ids.as_ref(), path)?;
    }
    let report = context.report("graph", &dataset, Found::Graph(&found));
    context.publish(&report, page, &args.run)
}
