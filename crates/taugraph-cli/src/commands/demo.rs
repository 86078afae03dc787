//! `taugraph demo`: what the robust graph is good for, on two noisy spirals.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::json;
use taugraph::generators::{LabeledPoints, SpiralDensity, add_noise, two_spirals};
use taugraph::graph::Changes;
use taugraph::metrics::nmi;
use taugraph::params::Preset;
use taugraph::progress::Run;
use taugraph::robust::NodeGraph;
use taugraph::{FittedClusters, Input, SpectralClustering};
use taugraph_figures::{ABSENT, DecayPanel, GraphPanel, INK, Panel, PlaneMap, class_color, write_figure};
use taugraph_io::{NewColumn, NewTable, Output, write_table};
use taugraph_report::Found;

use super::generate::as_table;
use crate::args::{DemoArgs, ReportArgs};
use crate::dataset::{Dataset, Kind};
use crate::failure::{Failure, Outcome};
use crate::outputs::{is_stdout, make_folder};
use crate::page::{Page, command_line};
use crate::progress::{Terminal, total_seconds};
use crate::report::{Clusters, Report, Scores, grouped, mean_and_deviation, sparkline, write_json};
use crate::settings::{InputSettings, Settings};

/// As many as in the paper's figure.
const POINTS: usize = 300;
/// Deviation of the noise on every point.
const NOISE: f64 = 0.2;
/// One run proves little: the scores are also averaged over this many seeds.
const SEEDS: u64 = 10;
/// Drawn graphs for the stability on the page.
const STABILITY: usize = 10;

/// One preset on one set of points.
struct Attempt {
    found: FittedClusters,
    nmi: f64,
}

impl Attempt {
    fn new(data: &LabeledPoints, preset: Preset, run: &Run<'_>) -> Outcome<Self> {
        let found = SpectralClustering::new().preset(preset).n_clusters(2).fit_with(data, run)?;
        let nmi = nmi(&data.labels, found.labels())?;
        Ok(Self { found, nmi })
    }

    /// The graph behind it.
    fn nodes(&self) -> Outcome<&NodeGraph> {
        let part = self.found.graph().robust();
        part.map(|part| &part.nodes)
            .ok_or_else(|| Failure::Computation("the demo makes its own graph".into()))
    }
}

pub fn demo(args: &DemoArgs) -> Outcome<()> {
    if args.run.config.is_some() {
        return Err(Failure::Usage("the demo has no --config".into()));
    }
    taugraph_terminal::use_threads(args.run.threads)?;
    let terminal = Terminal::new(args.run.quiet);
    let seed = args.run.seed.unwrap_or(0);
    let run = Run::new(seed).with_progress(&terminal);
    let run = run.with_memory_limit(args.run.memory.or(run.memory_limit));
    let folder = &args.output;
    make_folder(folder)?;

    let data = noisy_spirals(seed)?;
    let plain = Attempt::new(&data, Preset::LocalScaling, &run)?;
    let robust = Attempt::new(&data, Preset::Robust, &run)?;
    let control = Attempt::new(&data, Preset::ConstantControl, &run)?;
    let over_seeds = |preset: Preset| {
        let of_seed = |seed| Ok(Attempt::new(&noisy_spirals(seed)?, preset, &run.with_seed(seed))?.nmi);
        (0..SEEDS).map(of_seed).collect::<Outcome<Vec<f64>>>()
    };
    let rows = [
        Row { name: "local scaling", nmi: plain.nmi, of_seeds: over_seeds(Preset::LocalScaling)? },
        Row {
            name: "the same sparse graph, p = 1",
            nmi: control.nmi,
            of_seeds: over_seeds(Preset::ConstantControl)?,
        },
        Row { name: "robust graph", nmi: robust.nmi, of_seeds: over_seeds(Preset::Robust)? },
    ];
    run.stage("figures", None)?;
    let data_file = folder.join("spirals.csv");
    write_table(&as_table(&data), &Output::new(&data_file))?;
    let files = draw(folder, &data, &plain, &robust)?;
    write_results(folder, &data_file, &data, &run, &terminal)?;
    let seconds = total_seconds(&terminal.finish());

    let text = describe(&Story {
        seed,
        folder,
        data_file: &data_file,
        robust: robust.nodes()?,
        rows: &rows,
        seconds,
    });
    let report = format!("{text}\n![all figures](overview.png)\n");
    Output::new(&folder.join("report.md")).write(|out| out.write_all(report.as_bytes()))?;
    if let Some(path) = &args.run.json {
        let value = json!({
            "taugraph": env!("CARGO_PKG_VERSION"),
            "seed": seed,
            "points": POINTS,
            "noise": NOISE,
            "nmi": rows.iter().map(|row| json!({
                "graph": row.name,
                "this_seed": row.nmi,
                "seeds": row.of_seeds,
            })).collect::<Vec<_>>(),
            "files": files.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>(),
        });
        write_json(&value, path)?;
    }
    if !args.run.quiet && !is_stdout(args.run.json.as_deref()) {
        Output::Stdout.write(|out| out.write_all(text.as_bytes()))?;
    }
    Ok(())
}

/// Labels and page of the clustering that the demo recommends.
fn write_results(
    folder: &Path,
    data_file: &Path,
    data: &LabeledPoints,
    run: &Run<'_>,
    terminal: &Terminal,
) -> Outcome<()> {
    let (labels_file, page_file) = (folder.join("clusters.csv"), folder.join("report.html"));
    let mut settings = Settings {
        input: InputSettings {
            file: data_file.to_path_buf(),
            label_column: Some("label".into()),
            ..InputSettings::default()
        },
        ..Settings::default()
    };
    settings.params.set("seed", run.seed)?;
    settings.params.set("cluster.n_clusters", 2)?;
    settings.params.set("cluster.stability", STABILITY)?;
    let dataset = Dataset {
        name: data_file.display().to_string(),
        n_rows: data.labels.len(),
        kind: Kind::Points,
        features: vec!["x1".into(), "x2".into()],
        sparse: None,
        labels: Some(data.labels.iter().map(u32::to_string).collect()),
        ids: None,
        changes: Changes::default(),
        is_on_disk: false,
    };
    let shows = ReportArgs {
        report: Some(page_file.clone()),
        figures: None,
        command: Some(command(data_file, &labels_file, &page_file, run.seed)),
    };
    let input = Input::from(data);
    let page = Page::asked(&shows, &dataset, &input, run.seed);
    let found = SpectralClustering::with_config(settings.params.clone()).fit_with(input, run)?;
    let mut columns =
        vec![NewColumn::integers("cluster", found.labels().iter().map(|&label| i64::from(label)))];
    columns.extend(found.stability().map(|of_rows| NewColumn::numbers("stability", of_rows)));
    write_table(&NewTable::new(columns), &Output::new(&labels_file))?;
    let names = dataset.labels.as_deref().unwrap_or_default();
    let clusters = Clusters { found: &found, scores: Scores::new(names, found.labels())? };
    let stages = terminal.finish();
    let report = Report {
        command: "cluster",
        settings: &settings,
        dataset: &dataset,
        graph: found.graph(),
        clusters: Some(clusters),
        stages: &stages,
    };
    match page {
        Some(page) => page.publish(Found::Clusters(&found), &report, Vec::new(), "", run, terminal),
        None => Ok(()),
    }
}

/// The command that does the same.
fn command(data_file: &Path, labels_file: &Path, page_file: &Path, seed: u64) -> String {
    let words = [
        OsString::from("cluster"),
        data_file.into(),
        "--label-column".into(),
        "label".into(),
        "--clusters".into(),
        "2".into(),
        format!("--stability={STABILITY}").into(),
        "--seed".into(),
        seed.to_string().into(),
        "--output".into(),
        labels_file.into(),
        "--report".into(),
        page_file.into(),
    ];
    command_line(words.into_iter())
}

fn noisy_spirals(seed: u64) -> Outcome<LabeledPoints> {
    let clean = two_spirals(POINTS, SpiralDensity::UniformAngle, seed)?;
    Ok(add_noise(&clean, NOISE, 1.0, seed)?)
}

/// Every figure, and all of them on one page.
fn draw(folder: &Path, data: &LabeledPoints, plain: &Attempt, robust: &Attempt) -> Outcome<Vec<PathBuf>> {
    let map = PlaneMap::new(data.points.values(), 2);
    let stochastic = &robust.nodes()?.stochastic;
    let input = GraphPanel {
        title: format!("input: {POINTS} points, noise {NOISE}"),
        map: &map,
        edges: Vec::new(),
        colors: vec![INK; map.n_points()],
        radius: 2.2,
        marked: Vec::new(),
    };
    let at = |tau: f64| {
        let present = stochastic.present_at(tau);
        let edges: Vec<(u32, u32, Option<f64>)> = stochastic
            .edges()
            .iter()
            .zip(present)
            .filter(|(_, present)| *present)
            .map(|((i, j), _)| (i, j, None))
            .collect();
        let title = format!("edges present at τ = {tau}: {}", grouped(edges.len()));
        GraphPanel {
            title,
            map: &map,
            edges,
            colors: vec![ABSENT; map.n_points()],
            radius: 1.6,
            marked: Vec::new(),
        }
    };
    let (low, middle, high) = (at(0.1), at(0.3), at(0.7));
    let decay = DecayPanel {
        title: "decay: edges present at each quantile".into(),
        decay: stochastic.decay().to_vec(),
    };
    let likely = stochastic.edges().iter().zip(stochastic.probabilities());
    let probable = GraphPanel {
        title: "stochastic graph, dark = likely".into(),
        map: &map,
        edges: likely.map(|((i, j), &p)| (i, j, Some(p))).collect(),
        colors: vec![ABSENT; map.n_points()],
        radius: 1.2,
        marked: Vec::new(),
    };
    let grouped_by = |name: &str, attempt: &Attempt| GraphPanel {
        title: format!("{name}: NMI {:.2}", attempt.nmi),
        map: &map,
        edges: Vec::new(),
        colors: attempt.found.labels().iter().copied().map(class_color).collect(),
        radius: 2.2,
        marked: Vec::new(),
    };
    let (by_plain, by_robust) = (grouped_by("local scaling", plain), grouped_by("robust graph", robust));
    let all: [(&str, &dyn Panel); 8] = [
        ("input", &input),
        ("graph-tau-0.1", &low),
        ("graph-tau-0.3", &middle),
        ("graph-tau-0.7", &high),
        ("decay", &decay),
        ("stochastic-graph", &probable),
        ("clusters-local-scaling", &by_plain),
        ("clusters-robust", &by_robust),
    ];
    let mut files = Vec::new();
    for (name, panel) in all {
        files.extend(write_figure(folder, name, &[panel], 1)?);
    }
    files.extend(write_figure(folder, "overview", &all.map(|(_, panel)| panel), 4)?);
    Ok(files)
}

/// Agreement with the truth of one kind of graph.
struct Row {
    name: &'static str,
    nmi: f64,
    of_seeds: Vec<f64>,
}

struct Story<'a> {
    seed: u64,
    folder: &'a Path,
    data_file: &'a Path,
    robust: &'a NodeGraph,
    rows: &'a [Row],
    seconds: f64,
}

/// What was done, where the files are and what to try next.
fn describe(story: &Story<'_>) -> String {
    let mut text = String::new();
    let stochastic = &story.robust.stochastic;
    let decay = stochastic.decay();
    let counts: Vec<usize> = decay.iter().map(|(_, edges)| *edges).collect();
    let mut table = String::new();
    for row in story.rows {
        let _ = writeln!(
            table,
            "    {:<30} {:.3}        {}",
            row.name,
            row.nmi,
            mean_and_deviation(&row.of_seeds, 3)
        );
    }
    let _ = write!(
        text,
        "\
Two spirals of {POINTS} points, Gaussian noise of deviation {NOISE} on all of them. Agreement of two
spectral clusters with the two arms (NMI), for seed {} and as mean ± deviation over seeds 0 to {}:

    graph                          seed {:<6}  all seeds
{table}
The robust graph asked of each of its {} candidate edges up to which quantile of the similarities
around it it persists: {} edges at tau = {}, {} at tau = {}.  {}
Edges between the arms die early, edges along them persist; scales and weights follow.

Open {} in a browser (every figure is beside it as .svg and .png).
{:.1} s in all. Try next:

    taugraph cluster {} --label-column label
    taugraph cluster {} --label-column label --preset local-scaling
    taugraph info YOUR.csv
    taugraph cluster YOUR.csv --output clusters.csv --report clusters.html
",
        story.seed,
        SEEDS - 1,
        story.seed,
        grouped(stochastic.edges().len()),
        grouped(counts[0]),
        decay[0].0,
        grouped(counts[counts.len() - 1]),
        decay[decay.len() - 1].0,
        sparkline(&counts),
        story.folder.join("report.html").display(),
        story.seconds,
        story.data_file.display(),
        story.data_file.display(),
    );
    text
}
