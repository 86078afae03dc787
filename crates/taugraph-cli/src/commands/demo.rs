//! `taugraph demo`: what the robust graph is good for, on two noisy spirals.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Parser;
use serde_json::json;
use taugraph::cluster::{ClusterParams, Clustering, spectral_clustering};
use taugraph::distance::Metric;
use taugraph::generators::{LabeledPoints, SpiralDensity, add_noise, two_spirals};
use taugraph::metrics::nmi;
use taugraph::neighbors::Space;
use taugraph::params::Preset;
use taugraph::points::{PreparationParams, prepare};
use taugraph::progress::Run;
use taugraph::robust::{NodeGraph, robust_graph};
use taugraph_io::{Output, write_table};

use super::cluster;
use super::generate::as_table;
use super::{new_run, use_threads};
use crate::args::{Cli, Command, DemoArgs};
use crate::failure::{Failure, Outcome};
use crate::html_report::command_line;
use crate::progress::{Terminal, total_seconds};
use crate::report::{grouped, mean_and_deviation, sparkline, write_json};
use taugraph_figures::{ABSENT, DecayPanel, GraphPanel, INK, Panel, PlaneMap, class_color, write_figure};

/// As many as in the paper's figure.
const POINTS: usize = 300;
/// Deviation of the noise on every point.
const NOISE: f64 = 0.2;
/// One run proves little: the scores are also averaged over this many seeds.
const SEEDS: u64 = 10;

/// One preset on one set of points.
struct Attempt {
    robust: NodeGraph,
    clustering: Clustering,
    nmi: f64,
}

pub fn demo(args: &DemoArgs) -> Outcome<()> {
    if args.run.config.is_some() {
        return Err(Failure::Usage("the demo has no --config".into()));
    }
    use_threads(&args.run)?;
    let terminal = Terminal::new(args.run.quiet);
    let seed = args.run.seed.unwrap_or(0);
    let run = new_run(seed, &args.run, &terminal);
    let folder = &args.output;
    std::fs::create_dir_all(folder)
        .map_err(|source| taugraph_io::Error::Write { path: folder.clone(), source })?;

    let data = noisy_spirals(seed)?;
    let plain = attempt(&data, Preset::LocalScaling, &run)?;
    let robust = attempt(&data, Preset::Robust, &run)?;
    let control = attempt(&data, Preset::ConstantControl, &run)?;
    let over_seeds = |preset: Preset| {
        let of_seed = |seed| Ok(attempt(&noisy_spirals(seed)?, preset, &Run { seed, ..run })?.nmi);
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
    write_page(folder, &data_file, seed)?;
    let seconds = total_seconds(&terminal.finish());

    let text = describe(&Story {
        seed,
        folder,
        data_file: &data_file,
        robust: &robust.robust,
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
    let json_on_stdout = args.run.json.as_ref().is_some_and(|path| path.as_os_str() == "-");
    if !args.run.quiet && !json_on_stdout {
        Output::Stdout.write(|out| out.write_all(text.as_bytes()))?;
    }
    Ok(())
}

/// The page of the clustering that the demo recommends.
fn write_page(folder: &Path, data_file: &Path, seed: u64) -> Outcome<()> {
    let page = folder.join("report.html");
    let labels = folder.join("clusters.csv");
    let flag = |name: &str, path: &Path| {
        let mut word = OsString::from(name);
        word.push(path);
        word
    };
    let words: Vec<OsString> = vec![
        "cluster".into(),
        "--label-column=label".into(),
        "--clusters=2".into(),
        "--stability=10".into(),
        format!("--seed={seed}").into(),
        flag("--output=", &labels),
        flag("--report=", &page),
        "--".into(),
        data_file.into(),
    ];
    let typed = command_line(words.iter().cloned());
    let program = [OsString::from("taugraph")];
    let mut quiet = words;
    quiet.insert(1, "--quiet".into());
    let cli = Cli::try_parse_from(program.into_iter().chain(quiet));
    let Ok(Cli { command: Command::Cluster(mut args) }) = cli else {
        unreachable!("the command of the demo is a command")
    };
    args.shows.command = Some(typed);
    cluster(&args)
}

fn noisy_spirals(seed: u64) -> Outcome<LabeledPoints> {
    let clean = two_spirals(POINTS, SpiralDensity::UniformAngle, seed)?;
    Ok(add_noise(&clean, NOISE, 1.0, seed)?)
}

fn attempt(data: &LabeledPoints, preset: Preset, run: &Run<'_>) -> Outcome<Attempt> {
    let prepared = prepare(data.points.values(), 2, &PreparationParams::default(), run)?;
    let space = Space::from_points(prepared.points, Metric::Euclidean)?;
    let robust = robust_graph(&space, &preset.params().check()?, run)?;
    let clustering = spectral_clustering(&robust.graph, &ClusterParams::exactly(2), run)?;
    let labels = robust.duplicates.restore(&clustering.labels);
    let nmi = nmi(&data.labels, &labels)?;
    Ok(Attempt { robust, clustering, nmi })
}

/// Every figure, and all of them on one page.
fn draw(folder: &Path, data: &LabeledPoints, plain: &Attempt, robust: &Attempt) -> Outcome<Vec<PathBuf>> {
    let map = PlaneMap::new(data.points.values(), 2);
    let stochastic = &robust.robust.stochastic;
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
    let grouped_by = |name: &str, attempt: &Attempt| {
        let labels = attempt.robust.duplicates.restore(&attempt.clustering.labels);
        GraphPanel {
            title: format!("{name}: NMI {:.2}", attempt.nmi),
            map: &map,
            edges: Vec::new(),
            colors: labels.into_iter().map(class_color).collect(),
            radius: 2.2,
            marked: Vec::new(),
        }
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
