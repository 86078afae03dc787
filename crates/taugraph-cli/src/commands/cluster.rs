//! `taugraph cluster`.

use taugraph::SpectralClustering;
use taugraph_report::Found;

use crate::args::{ClusterCommand, ReportArgs};
use crate::context::Context;
use crate::failure::Outcome;
use crate::model_file::{check_model_input, save_model};
use crate::outputs::{Holds, Outputs, output};
use crate::page::Page;
use crate::report::{Report, Scores};
use crate::results::{check_embedding, check_scales, write_clusters, write_embedding, write_graph_outputs};
use crate::settings::Settings;

pub fn cluster(args: &ClusterCommand) -> Outcome<()> {
    cluster_and_show(args, &args.shows, true)
}

/// `plot` names other things to show, and may write no labels.
pub fn cluster_and_show(args: &ClusterCommand, shows: &ReportArgs, writes_labels: bool) -> Outcome<()> {
    let mut settings = Settings::start(&args.run, &args.input)?;
    args.cluster.apply(&mut settings.params)?;
    args.params.apply(&mut settings.params)?;
    let (json, numbers) = (args.run.json.as_deref(), Holds::numbers(settings.input.id_column.as_deref()));
    let outputs = match writes_labels {
        true => Outputs::default().with_result("labels", args.output.as_deref(), numbers, json),
        false => Outputs::default(),
    };
    let outputs = outputs
        .with("--json", json, Holds::Other)
        .with("--embedding", args.embedding.as_deref(), numbers)
        .with("--scales", args.also.scales.as_deref(), numbers)
        .with("--graph", args.also.graph_file.as_deref(), Holds::Graph)
        .with("--save-model", args.save_model.as_deref(), Holds::Other)
        .with_report(shows);
    outputs.check(&[&settings.input.file])?;
    let context = Context::new(settings, &args.input, &args.run, &args.resume)?;
    let (dataset, input) = context.read()?;
    check_scales(args.also.scales.as_deref(), dataset.kind)?;
    check_model_input(args.save_model.as_deref(), dataset.kind)?;
    let page = Page::asked(shows, &dataset, &input, context.settings.params.seed);
    // Models and pictures need the points, nothing else does.
    let keeps_points = args.save_model.is_some() || page.is_some();
    let config = context.settings.params.clone();
    let estimator = SpectralClustering::with_config(config).keep_points(keeps_points);
    let found = context.explained(estimator.fit_with(input, &context.run()), &dataset)?;
    check_embedding(args.embedding.as_deref(), &found)?;
    context.run().stage("write", None)?;
    if outputs.has_result() {
        write_clusters(&found, dataset.ids.as_ref(), &output(args.output.as_deref()))?;
    }
    if let Some(path) = &args.embedding {
        write_embedding(&found, dataset.ids.as_ref(), path)?;
    }
    write_graph_outputs(found.graph(), dataset.ids.as_ref(), &args.also)?;
    if let Some(path) = &args.save_model {
        save_model(found.model()?, "cluster", &context.settings, &dataset.features, &[], path)?;
    }
    let scores = Scores::asked(&context.settings, &dataset, found.labels())?;
    let report = context.report("cluster", &dataset, Found::Clusters(&found));
    context.publish(&Report { scores, ..report }, page, &args.run)
}
