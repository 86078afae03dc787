//! `taugraph cluster`.

use taugraph::{Input, SpectralClustering};
use taugraph_report::Found;

use crate::args::{ClusterCommand, ReportArgs};
use crate::context::Context;
use crate::dataset::Kind;
use crate::failure::Outcome;
use crate::model_file::{Origin, check_model_input, save_model};
use crate::outputs::{Holds, Outputs, output};
use crate::page::Page;
use crate::report::{Explanations, Report, Scores};
use crate::results::{
    check_embedding, check_layers, check_outliers, check_scales, write_clusters, write_embedding,
    write_graph_outputs, write_layers,
};
use crate::row_pairs::{check_pair_files, row_pairs};
use crate::settings::Settings;

/// Tables of at most so many rows are also clustered by plain local scaling, which takes all pairs.
const COMPARED_ROWS: usize = 2_000;

pub fn cluster(args: &ClusterCommand) -> Outcome<()> {
    cluster_and_show(args, &args.shows, true)
}

/// `plot` names other things to show, and may write no labels.
pub fn cluster_and_show(args: &ClusterCommand, shows: &ReportArgs, writes_labels: bool) -> Outcome<()> {
    let mut settings = Settings::start(&args.run, &args.input)?;
    args.cluster.apply(&mut settings.params)?;
    args.pairs.apply(&mut settings.pairs);
    args.params.apply(&mut settings.params)?;
    let (json, numbers) = (args.run.json.as_deref(), Holds::numbers(settings.input.id_column.as_deref()));
    let outputs = match writes_labels {
        true => Outputs::default().with_result("labels", args.output.as_deref(), numbers, json),
        false => Outputs::default(),
    };
    let outputs = outputs
        .with("--json", json, Holds::Other)
        .with("--embedding", args.embedding.as_deref(), numbers)
        .with("--layers", args.layers.as_deref(), numbers)
        .with("--scales", args.also.scales.as_deref(), numbers)
        .with("--graph", args.also.graph_file.as_deref(), Holds::Graph)
        .with("--save-model", args.save_model.as_deref(), Holds::Other)
        .with_report(shows);
    check_pair_files(&settings)?;
    check_layers(args.layers.as_deref(), &settings.params.cluster)?;
    let inputs: Vec<_> = settings.pairs.files().chain([settings.input.file.as_path()]).collect();
    outputs.check(&inputs)?;
    let context = Context::new(settings, &args.input, &args.run, &args.resume)?;
    let (dataset, input) = context.read()?;
    check_scales(args.also.scales.as_deref(), dataset.kind)?;
    Explanations::check(args.explain, dataset.kind)?;
    check_outliers(context.settings.params.cluster.outliers, dataset.kind)?;
    check_model_input(args.save_model.as_deref(), dataset.kind)?;
    let page = Page::asked(shows, &dataset, &input, context.settings.params.seed);
    // Models, pictures and the comparison of small tables need the points.
    let is_compared = input.n_rows() <= COMPARED_ROWS && dataset.kind != Kind::Graph;
    let keeps_points = args.save_model.is_some() || page.is_some() || is_compared;
    let config = context.settings.params.clone();
    let constraints = row_pairs(&context.settings, &dataset, context.budget())?;
    let estimator =
        SpectralClustering::with_config(config).keep_points(keeps_points).constraints(constraints);
    let mut table = None;
    let input = match input {
        Input::Points(given) if Explanations::are_wanted(args, given.n_rows()) => {
            Input::from(&*table.insert(given))
        }
        other => other,
    };
    let found = context.explained(estimator.fit_with(input, &context.run()), &dataset)?;
    check_embedding(args.embedding.as_deref(), &found)?;
    context.run().stage("write", None)?;
    if outputs.has_result() {
        write_clusters(&found, args.memberships, dataset.ids.as_ref(), &output(args.output.as_deref()))?;
    }
    if let Some(path) = &args.layers {
        write_layers(&found, dataset.ids.as_ref(), path)?;
    }
    if let Some(path) = &args.embedding {
        write_embedding(&found, dataset.ids.as_ref(), path)?;
    }
    write_graph_outputs(found.graph(), dataset.ids.as_ref(), &args.also)?;
    if let Some(path) = &args.save_model {
        let origin = Origin { command: "cluster", settings: &context.settings };
        save_model(found.model()?, &origin, &dataset.features, &[], path)?;
    }
    let scores = Scores::asked(&context.settings, &dataset, found.labels())?;
    let explanations = Explanations::new(&found, table.as_ref(), args.explain)?;
    let agreement = match is_compared {
        // A comparison that cannot be made is no reason to fail.
        true => {
            context.run().stage("comparison", None)?;
            found.agreement_with_local_scaling(&context.run()).unwrap_or(None)
        }
        false => None,
    };
    let report = context.report("cluster", &dataset, Found::Clusters(&found));
    context.publish(&Report { scores, explanations, agreement, ..report }, page, &args.run)
}
