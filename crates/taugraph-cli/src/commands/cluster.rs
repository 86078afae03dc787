//! `taugraph cluster`.

use taugraph::cluster::{ClusterCount, ClusterParams, Clustering, spectral_clustering};
use taugraph::progress::Run;
use taugraph::robust::RobustGraph;
use taugraph_io::{NewColumn, Output, check_graph_output, check_table_output, write_table};

use super::{
    check_model_output, is_stdout, keeping, new_run, output, refuse_shared_files, refuse_text_in_npy,
    refuse_two_on_stdout, text_of, use_threads, with_advice, with_ids, work_folder, write_rows_graph,
    write_scales,
};
use crate::args::{ClusterCommand, ReportArgs};
use crate::dataset::{Body, read_dataset};
use crate::failure::{Failure, Outcome};
use crate::features::Features;
use crate::html_report::{self, Sample, Subject};
use crate::model_file;
use crate::pipeline::{build_graph_and_points, cluster_graph, refuse_if_too_large};
use crate::progress::Terminal;
use crate::report::{Clusters, Report, Scores};
use crate::settings::{InputSettings, Settings};

/// Where figures go if nobody says.
const FIGURES: &str = "taugraph-figures";

pub fn cluster(args: &ClusterCommand) -> Outcome<()> {
    let on_stdout = !is_stdout(args.run.json.as_deref());
    cluster_and_show(args, &args.shows, args.output.is_some() || on_stdout)
}

/// `taugraph plot`: the same for its figures; labels are written only if asked for.
pub fn plot(args: &ClusterCommand) -> Outcome<()> {
    let mut shows = args.shows.clone();
    shows.figures.get_or_insert_with(|| FIGURES.into());
    cluster_and_show(args, &shows, args.output.is_some())
}

fn cluster_and_show(args: &ClusterCommand, shows: &ReportArgs, writes_labels: bool) -> Outcome<()> {
    let mut settings = Settings::start(&args.run)?;
    settings.apply_input(&args.input)?;
    settings.apply_graph(&args.graph)?;
    settings.apply_cluster(&args.cluster);
    check_outputs(args, &settings.input, writes_labels)?;
    html_report::check(shows)?;
    use_threads(&args.run)?;
    let terminal = Terminal::new(args.run.quiet);
    let folder = work_folder(&args.resume, &settings)?;
    let run = keeping(new_run(settings.seed, &args.run, &terminal), &folder);
    let features = Features::of_graph(&args.input, &settings, run.memory_limit)?;
    let run = features.place(run);

    run.stage("read", None)?;
    let mut dataset = read_dataset(&settings.input, &features)?;
    if let (Body::Graph(_), Some(_)) = (&dataset.body, &args.also.scales) {
        let message = "--scales needs points or distances; a given graph has no local scales";
        return Err(Failure::Usage(message.into()));
    }
    check_model_output(args.save_model.as_deref(), &dataset.body)?;
    refuse_if_too_large(&dataset, &settings, &run)?;
    let sample = shows.is_asked().then(|| Sample::new(&dataset, settings.seed));
    let (built, points) = with_advice(build_graph_and_points(&mut dataset, &mut settings, &run), &folder)?;
    // Models and pictures need the points, nothing else does.
    let points = points.filter(|_| args.save_model.is_some() || shows.is_asked());
    let (clustering, stability) = with_advice(cluster_graph(&built, &settings, &run), &folder)?;
    // Before anything is written: what cannot be had of this clustering.
    let embedding = match (&args.embedding, &clustering.embedding) {
        (Some(_), None) => {
            let message = "--embedding: components that are clustered separately have no common embedding";
            return Err(Failure::Usage(message.into()));
        }
        (path, embedding) => path.as_ref().zip(embedding.as_ref()),
    };
    run.stage("write", None)?;
    let labels = built.of_rows(&clustering.labels);
    let id_name = settings.input.id_column.as_deref();
    if writes_labels {
        let mut columns = vec![NewColumn::integers("cluster", labels.iter().map(|&label| i64::from(label)))];
        if let Some(stability) = &stability {
            columns.push(NewColumn::numbers("stability", built.of_rows(&stability.of_nodes)));
        }
        write_table(&with_ids(&dataset, id_name, columns), &output(args.output.as_deref()))?;
    }
    if let Some((path, embedding)) = embedding {
        let d = embedding.n_columns;
        let columns = (0..d).map(|column| {
            let of_nodes: Vec<f64> = embedding.coordinates.iter().skip(column).step_by(d).copied().collect();
            NewColumn::numbers(format!("embedding_{}", column + 1), built.of_rows(&of_nodes))
        });
        write_table(&with_ids(&dataset, id_name, columns.collect()), &Output::new(path))?;
    }
    if let Some((path, robust)) = args.also.scales.as_ref().zip(built.robust()) {
        write_scales(robust, &dataset, id_name, path)?;
    }
    if let Some(path) = &args.also.graph_file {
        write_rows_graph(&built, &Output::new(path))?;
    }
    if let (Some(path), Some(robust), Some(points)) = (&args.save_model, built.robust(), &points) {
        let model = model_file::model_of(robust, points, &settings)?.with_clusters(
            &robust.graph,
            &clustering,
            &settings.cluster,
        )?;
        model_file::save(model, "cluster", &settings, &dataset.features, &[], &Output::new(path))?;
    }
    let scores = match &dataset.labels {
        Some(truth) if settings.input.label_column.is_some() => Scores::new(truth, &labels)?,
        _ => None,
    };
    let stages = terminal.finish();
    let report = Report {
        command: "cluster",
        settings: &settings,
        dataset: &dataset,
        built: &built,
        clusters: Some(Clusters {
            clustering: &clustering,
            stability: stability.as_ref(),
            labels: &labels,
            scores,
        }),
        stages: &stages,
    };
    report.publish(None, "", &args.run)?;
    let Some(sample) = sample else { return Ok(()) };
    let relabel = |graph: &RobustGraph, run: &Run<'_>| relabeled(graph, &clustering, &settings, run);
    let found: Vec<Option<u32>> = labels.iter().copied().map(Some).collect();
    let subject = Subject {
        report: &report,
        sample,
        points: points.as_ref(),
        labels: Some((&found, &relabel)),
        classes: None,
    };
    html_report::publish(&subject, shows, &run, &terminal)
}

/// As many clusters of another graph of the same points.
fn relabeled(
    graph: &RobustGraph,
    clustering: &Clustering,
    settings: &Settings,
    run: &Run<'_>,
) -> Outcome<Vec<Option<u32>>> {
    let clusters = ClusterCount::Exactly(clustering.n_clusters());
    let params = ClusterParams { clusters, ..settings.cluster };
    let found = spectral_clustering(&graph.graph, &params, run)?;
    Ok(graph.duplicates.restore(&found.labels).into_iter().map(Some).collect())
}

/// Finds out before the work whether its results can be written.
fn check_outputs(args: &ClusterCommand, input: &InputSettings, writes_labels: bool) -> Outcome<()> {
    refuse_shared_files(
        &input.file,
        &[
            ("--output", args.output.as_deref()),
            ("--json", args.run.json.as_deref()),
            ("--embedding", args.embedding.as_deref()),
            ("--scales", args.also.scales.as_deref()),
            ("--graph", args.also.graph_file.as_deref()),
            ("--save-model", args.save_model.as_deref()),
            ("--report", args.shows.report.as_deref()),
        ],
    )?;
    let json_on_stdout = is_stdout(args.run.json.as_deref());
    refuse_two_on_stdout(&[
        ("labels", is_stdout(args.output.as_deref()) || (args.output.is_none() && writes_labels)),
        ("--json", json_on_stdout),
        ("--embedding", is_stdout(args.embedding.as_deref())),
        ("--scales", is_stdout(args.also.scales.as_deref())),
        ("--graph", is_stdout(args.also.graph_file.as_deref())),
        ("--save-model", is_stdout(args.save_model.as_deref())),
        ("--report", is_stdout(args.shows.report.as_deref())),
    ])?;
    for path in [&args.output, &args.embedding, &args.also.scales].into_iter().flatten() {
        check_table_output(&Output::new(path))?;
        refuse_text_in_npy(path, text_of(input))?;
    }
    if let Some(path) = &args.also.graph_file {
        check_graph_output(&Output::new(path))?;
    }
    if let Some(path) = &args.run.json {
        Output::new(path).check()?;
    }
    Ok(())
}
