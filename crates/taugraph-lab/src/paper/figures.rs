//! The paper's figures, each with its panels.

use std::path::{Path, PathBuf};

use taugraph::cluster::{ClusterParams, spectral_clustering};
use taugraph::distance::Metric;
use taugraph::graph::SparseGraph;
use taugraph::metrics::nmi;
use taugraph::neighbors::Space;
use taugraph::params::{GraphParams, Preset};
use taugraph::points::{Duplicates, principal_components};
use taugraph::progress::Run;
use taugraph::quantile::loss::Loss;
use taugraph::robust::{NodeGraph, robust_graph};
use taugraph::tsne::{TsneParams, tsne};
use taugraph_figures::{
    ABSENT, Bars, Curve, Curves, DecayPanel, GraphPanel, INK, Level, Panel, PlaneMap, class_color,
    write_figure,
};

use super::experiment::Found;
use super::sets::Set;
use crate::data::{Error, LabeledSet};
use crate::statistics::{deviation, mean};

/// Losses, spirals, pinwheel and the two sets of labels. Returns the files written.
pub fn draw(folder: &Path, run: &Run<'_>) -> Result<Vec<PathBuf>, Error> {
    let mut files = losses(folder)?;
    let spirals = Set::Spirals { sigma: 0.0, share: 0.0 }.load(run.seed)?;
    files.extend(shape(folder, "two-spirals", "two spirals", &spirals, run)?);
    files.extend(shape(folder, "pinwheel", "pinwheel", &Set::Pinwheel.load(run.seed)?, run)?);
    for (name, id) in [("Echocardiogram", "echocardiogram"), ("Breast Cancer", "breast-cancer-wisconsin")] {
        files.extend(labeled_points(folder, name, &LabeledSet::load(name, id)?, run)?);
    }
    Ok(files)
}

/// The losses of quantile regression over the residual: check and Huber, in the paper's convention.
fn losses(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let residuals: Vec<f64> = (-40..=40).map(|step| f64::from(step) / 20.0).collect();
    let panel = |title: &str, loss: Loss| Curves {
        title: title.into(),
        x_label: "residual".into(),
        y_label: "loss".into(),
        curves: [0.1, 0.5, 0.9]
            .map(|tau| Curve {
                name: format!("τ = {tau}"),
                points: residuals.iter().map(|&r| (r, loss.value(tau, r))).collect(),
            })
            .into(),
        y_range: (0.0, 2.0),
        marks: false,
    };
    let check = panel("quantile loss", Loss::Check);
    let huber = panel("quantile Huber loss, half-width 0.5", Loss::Huber { kappa: 0.5 });
    Ok(write_figure(folder, "losses", &[&check, &huber], 2)?)
}

/// One method's graph and clusters.
struct Attempt {
    robust: NodeGraph,
    labels: Vec<u32>,
    nmi: f64,
}

fn attempt(set: &LabeledSet, params: GraphParams, run: &Run<'_>) -> Result<Attempt, Error> {
    let space = Space::from_points(set.points.clone(), Metric::Euclidean)?;
    let robust = robust_graph(&space, &params.check()?, run)?;
    let found = spectral_clustering(&robust.graph, &ClusterParams::exactly(set.labels.n_classes()), run)?;
    let labels = robust.duplicates.restore(&found.labels);
    let nmi = nmi(&set.labels, &labels)?;
    Ok(Attempt { robust, labels, nmi })
}

/// Input, edges at three quantiles, decay, stochastic graph, clusters: with the networks of the paper and with the default.
fn shape(
    folder: &Path,
    file: &str,
    name: &str,
    set: &LabeledSet,
    run: &Run<'_>,
) -> Result<Vec<PathBuf>, Error> {
    let map = PlaneMap::new(&set.points.values().to_f64(), set.points.n_columns());
    let plain = attempt(set, Preset::LocalScaling.params(), run)?;
    let mut files = Vec::new();
    // The threshold of the preset suits its scales; with a lower one the graphs are seen to thin out up to the highest τ.
    let lower = Preset::Paper.params().with(|params| params.threshold = 0.3);
    let ways = [
        ("paper", Preset::Paper.params()),
        ("paper-threshold-0.3", lower),
        ("robust", Preset::Robust.params()),
    ];
    for (way, params) in ways {
        let ours = attempt(set, params, run)?;
        let stochastic = &ours.robust.stochastic;
        let row_of_node = ours.robust.duplicates.row_of_node();
        let points = |title: String, colors: Vec<&'static str>, radius: f64| GraphPanel {
            title,
            map: &map,
            edges: Vec::new(),
            colors,
            radius,
            marked: Vec::new(),
        };
        let at = |tau: f64| {
            let pairs = stochastic.edges().iter().zip(stochastic.present_at(tau));
            let edges: Vec<(u32, u32, Option<f64>)> = pairs
                .filter(|(_, is_present)| *is_present)
                .map(|((i, j), _)| (row_of_node[i as usize], row_of_node[j as usize], None))
                .collect();
            let title = format!("τ = {tau}: {} edges", edges.len());
            GraphPanel { edges, ..points(title, vec![ABSENT; map.n_points()], 1.6) }
        };
        let likely = stochastic.edges().iter().zip(stochastic.probabilities()).filter(|(_, p)| **p > 0.0);
        let probable = GraphPanel {
            edges: likely
                .map(|((i, j), &p)| (row_of_node[i as usize], row_of_node[j as usize], Some(p)))
                .collect(),
            ..points("stochastic graph, dark = likely".into(), vec![ABSENT; map.n_points()], 1.2)
        };
        let clusters = |title: &str, attempt: &Attempt| {
            let colors = attempt.labels.iter().map(|&label| class_color(label)).collect();
            points(format!("{title}: NMI {:.2}", attempt.nmi), colors, 2.2)
        };
        let input = points(format!("{name}: {} points", map.n_points()), vec![INK; map.n_points()], 2.2);
        let decay = DecayPanel { title: "edges at each quantile".into(), decay: stochastic.decay().to_vec() };
        let (low, middle, high) = (at(0.1), at(0.3), at(0.7));
        let (by_plain, by_ours) = (clusters("local scaling", &plain), clusters(way, &ours));
        let panels: [&dyn Panel; 8] = [&input, &low, &middle, &high, &decay, &probable, &by_plain, &by_ours];
        files.extend(write_figure(folder, &format!("{file}-{way}"), &panels, 4)?);
    }
    Ok(files)
}

/// t-SNE of a set with the edges of a graph and one labeled point per class.
fn labeled_points(folder: &Path, name: &str, set: &LabeledSet, run: &Run<'_>) -> Result<Vec<PathBuf>, Error> {
    let space = Space::from_points(set.points.clone(), Metric::Euclidean)?;
    let (plane, _) = principal_components(&set.points, 2, run)?;
    let perplexity = TsneParams::default().perplexity.min((set.points.len() as f64 - 1.0) / 3.0);
    let params = TsneParams { perplexity, ..TsneParams::default() };
    let map = PlaneMap::new(&tsne(&space, &plane.values().to_f64(), &params, run)?, 2);
    let labeled: Vec<u32> = (0..set.labels.n_classes() as u32)
        .filter_map(|class| set.labels.iter().position(|&label| label == class).map(|row| row as u32))
        .collect();
    let colors: Vec<&'static str> = set.labels.iter().map(|&label| class_color(label)).collect();
    let panel = |title: String, graph: &SparseGraph, duplicates: &Duplicates| {
        let rows = duplicates.row_of_node();
        let most = graph.weights().iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let edges =
            (0..graph.n_nodes()).flat_map(|i| graph.row(i).map(move |(j, weight)| (i as u32, j, weight)));
        // Edges a hundred times lighter than the heaviest would only add gray.
        let edges = edges.filter(|&(i, j, weight)| i < j && weight > 0.01 * most);
        GraphPanel {
            title,
            map: &map,
            edges: edges
                .map(|(i, j, weight)| (rows[i as usize], rows[j as usize], Some(weight / most)))
                .collect(),
            colors: colors.clone(),
            radius: 2.0,
            marked: labeled.clone(),
        }
    };
    let mut panels = Vec::new();
    for preset in [Preset::LocalScaling, Preset::Paper, Preset::Robust] {
        let robust = robust_graph(&space, &preset.params().check()?, run)?;
        panels.push(panel(format!("{name}: {}", preset.name()), &robust.graph, &robust.duplicates));
    }
    let all: Vec<&dyn Panel> = panels.iter().map(|panel| panel as &dyn Panel).collect();
    let file = format!("tsne-{}", name.to_lowercase().replace(' ', "-"));
    Ok(write_figure(folder, &file, &all, 3)?)
}

/// Columns that figures of experiments show.
const SHOWN: [&str; 4] = ["local scaling", "paper", "paper's control", "robust"];

/// Bars: NMI under noise.
pub fn draw_noise(folder: &Path, found: &Found) -> Result<Vec<PathBuf>, Error> {
    let experiment = &found.experiment;
    let shown: Vec<usize> = shown_columns(found);
    let panel = |from: usize, to: usize, title: &str| Bars {
        title: title.into(),
        y_label: "NMI".into(),
        series: shown.iter().map(|&column| experiment.columns[column].to_string()).collect(),
        groups: (from..to.min(experiment.rows.len()))
            .map(|row| {
                let share = experiment.rows[row].name.rsplit(" on ").next().unwrap_or_default().to_string();
                let level = |&column: &usize| {
                    let values = found.values(row, column, 0);
                    Level { mean: mean(&values), deviation: deviation(&values) }
                };
                (share, shown.iter().map(level).collect())
            })
            .collect(),
    };
    let panels = [panel(0, 3, "noise σ = 0.1"), panel(3, 6, "noise σ = 0.2"), panel(6, 9, "noise σ = 0.4")];
    let all: Vec<&dyn Panel> = panels.iter().map(|panel| panel as &dyn Panel).collect();
    Ok(write_figure(folder, "noise", &all, 3)?)
}

/// Curves: NMI over the k of the first scales.
pub fn draw_neighbors(folder: &Path, found: &Found) -> Result<Vec<PathBuf>, Error> {
    let experiment = &found.experiment;
    let curve = |column: usize| Curve {
        name: experiment.columns[column].to_string(),
        points: (0..experiment.rows.len())
            .map(|row| (5.0 + row as f64, mean(&found.values(row, column, 0))))
            .collect(),
    };
    let panel = Curves {
        title: "two spirals: first scales from the k-th neighbor".into(),
        x_label: "k".into(),
        y_label: "NMI".into(),
        curves: shown_columns(found).into_iter().map(curve).collect(),
        y_range: (0.0, 1.0),
        marks: true,
    };
    Ok(write_figure(folder, "neighbors", &[&panel], 1)?)
}

fn shown_columns(found: &Found) -> Vec<usize> {
    SHOWN
        .iter()
        .filter_map(|name| found.experiment.columns.iter().position(|column| column == name))
        .collect()
}
