//! `taugraph cluster` and `taugraph plot`.

use taugraph::{FittedClusters, SpectralClustering};
use taugraph_io::{NewColumn, Output, write_table};

use super::{check_model_input, save_model, text_of, with_ids, write_graph, write_scales};
use crate::args::{ClusterCommand, ReportArgs};
use crate::context::Context;
use crate::dataset::{Dataset, Kind};
use crate::failure::{Failure, Outcome};
use crate::outputs::{Holds, Outputs, output};
use taugraph_report::Found;

use crate::page::Page;
use crate::report::{Clusters, Report, Scores};
use crate::settings::Settings;

/// Where `plot` draws if nothing else is said.
const FIGURES: &str = "taugraph-figures";

pub fn cluster(args: &ClusterCommand) -> Outcome<()> {
    cluster_and_show(args, &args.shows, true)
}

pub fn plot(args: &ClusterCommand) -> Outcome<()> {
    let mut shows = args.shows.clone();
    shows.figures.get_or_insert_with(|| FIGURES.into());
    cluster_and_show(args, &shows, args.output.is_some())
}

fn cluster_and_show(args: &ClusterCommand, shows: &ReportArgs, writes_labels: bool) -> Outcome<()> {
    let mut settings = Settings::start(&args.run)?;
    settings.apply_input(&args.input)?;
    args.cluster.apply(&mut settings.params)?;
    args.params.apply(&mut settings.params)?;
    let outputs = outputs(args, shows, &settings, writes_labels);
    outputs.check(&[&settings.input.file])?;
    let context = Context::new(settings, &args.input, &args.run, &args.resume)?;
    let (dataset, input) = context.read()?;
    if dataset.kind == Kind::Graph && args.also.scales.is_some() {
        let message = "--scales needs points or distances; a given graph has no local scales";
        return Err(Failure::Usage(message.into()));
    }
    check_model_input(args.save_model.as_deref(), dataset.kind)?;
    let page = Page::asked(shows, &dataset, &input, context.settings.params.seed);
    // Models and pictures need the points, nothing else does.
    let keeps_points = args.save_model.is_some() || page.is_some();
    let estimator =
        SpectralClustering::with_config(context.settings.params.clone()).keep_points(keeps_points);
    let found = context.explained(estimator.fit_with(input, &context.run()), &dataset)?;
    if args.embedding.is_some() && found.clustering().embedding.is_none() {
        let message = "--embedding: components that are clustered separately have no common embedding";
        return Err(Failure::Usage(message.into()));
    }
    context.run().stage("write", None)?;
    write_results(args, &context.settings, &dataset, &found, outputs.has_result())?;
    let scores = match &dataset.labels {
        Some(truth) if context.settings.input.label_column.is_some() => Scores::new(truth, found.labels())?,
        _ => None,
    };
    let stages = context.terminal.finish();
    let report = Report {
        command: "cluster",
        settings: &context.settings,
        dataset: &dataset,
        graph: found.graph(),
        clusters: Some(Clusters { found: &found, scores }),
        stages: &stages,
    };
    report.publish(None, "", &args.run)?;
    match page {
        Some(page) => {
            page.publish(Found::Clusters(&found), &report, Vec::new(), "", &context.run(), &context.terminal)
        }
        None => Ok(()),
    }
}

fn outputs<'a>(
    args: &'a ClusterCommand,
    shows: &'a ReportArgs,
    settings: &Settings,
    writes_labels: bool,
) -> Outputs<'a> {
    let table = Holds::Table(text_of(&settings.input));
    let result = match writes_labels {
        true => {
            let json = args.run.json.as_deref();
            Outputs::default().with_result("labels", args.output.as_deref(), table, json)
        }
        false => Outputs::default(),
    };
    result
        .with("--json", args.run.json.as_deref(), Holds::Other)
        .with("--embedding", args.embedding.as_deref(), table)
        .with("--scales", args.also.scales.as_deref(), table)
        .with("--graph", args.also.graph_file.as_deref(), Holds::Graph)
        .with("--save-model", args.save_model.as_deref(), Holds::Other)
        .with_report(shows)
}

fn write_results(
    args: &ClusterCommand,
    settings: &Settings,
    dataset: &Dataset,
    found: &FittedClusters,
    writes_labels: bool,
) -> Outcome<()> {
    let id_name = settings.input.id_column.as_deref();
    if writes_labels {
        let labels = found.labels().iter().map(|&label| i64::from(label));
        let mut columns = vec![NewColumn::integers("cluster", labels)];
        columns.extend(found.stability().map(|of_rows| NewColumn::numbers("stability", of_rows)));
        write_table(&with_ids(dataset, id_name, columns), &output(args.output.as_deref()))?;
    }
    if let (Some(path), Some(coordinates)) = (&args.embedding, found.embedding()) {
        let d = coordinates.len() / dataset.n_rows;
        let columns = (0..d).map(|column| {
            let of_rows = coordinates.iter().skip(column).step_by(d).copied();
            NewColumn::numbers(format!("embedding_{}", column + 1), of_rows)
        });
        write_table(&with_ids(dataset, id_name, columns.collect()), &Output::new(path))?;
    }
    if let Some(path) = &args.also.scales {
        write_scales(found.graph(), dataset, id_name, path)?;
    }
    if let Some(path) = &args.also.graph_file {
        write_graph(found.graph(), &Output::new(path))?;
    }
    match &args.save_model {
        Some(path) => save_model(found.model()?, "cluster", settings, dataset, &[], path),
        None => Ok(()),
    }
}
