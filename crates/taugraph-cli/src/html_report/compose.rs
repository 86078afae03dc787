//! A run and its picture as what a page shows.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use taugraph_report::{
    Category, Edge, Group, GroupColumn, NumberColumn, NumberRole, Report as Shown, ShownEdges, ShownPoints,
};

use super::picture::Picture;
use super::sample::{MAX_POINTS, Sample};
use super::{Classes, Subject};
use crate::pipeline::Built;
use crate::progress::total_seconds;
use crate::report::{Report, grouped, is_missing, listed};

/// Edges that a browser draws in a moment.
const MAX_EDGES: usize = 250_000;
/// Points in the list of those whose scale moved most.
const MOVED: usize = 15;
/// Columns in the description of a group.
const TELLING: usize = 3;

pub fn report(subject: &Subject<'_>, picture: &Picture, command: String) -> Shown {
    let (report, classes, sample) = (subject.report, subject.classes.as_ref(), &subject.sample);
    let numbers = numbers(report, classes, sample);
    let categories = categories(report, classes, sample);
    let mut warnings = report.warnings();
    warnings.extend(classes.iter().flat_map(|classes| classes.notes.iter().cloned()));
    Shown {
        title: title(report, classes),
        version: env!("CARGO_PKG_VERSION").into(),
        command,
        summary: report.text() + classes.map_or("", |classes| &classes.text),
        facts: facts(report, classes, picture),
        warnings,
        preparation: preparation(report),
        points: ShownPoints {
            rows: sample.rows.iter().map(|row| row + 1).collect(),
            ids: report.dataset.ids.as_ref().map(|ids| sample.of(ids)),
            nodes: first_equal(report.built, sample).1,
            is_sample: !sample.is_whole(),
            note: sample_note(sample),
        },
        layouts: picture.layouts.clone(),
        groups: groups(report, classes, sample),
        groups_title: if classes.is_some() { "Labels".into() } else { "Clusters".into() },
        edges: edges(report.built, sample),
        decay: picture.decay.clone(),
        moved: moved(&numbers),
        eigen: picture.eigen.clone(),
        comparison: picture.comparison.rows.clone(),
        comparison_note: picture.comparison.note.clone(),
        score_name: picture
            .comparison
            .rows
            .iter()
            .any(|row| row.score.is_some())
            .then(|| "NMI with the known labels".into()),
        stages: report
            .stages
            .iter()
            .map(|cost| (cost.stage.clone(), cost.seconds, cost.peak_bytes))
            .collect(),
        settings: serde_json::to_value(report.settings).unwrap_or_default(),
        categories,
        numbers,
    }
}

fn title(report: &Report<'_>, classes: Option<&Classes<'_>>) -> String {
    let path = Path::new(&report.dataset.name);
    let name =
        path.file_name().map_or(report.dataset.name.clone(), |name| name.to_string_lossy().into_owned());
    match (&report.clusters, classes) {
        (Some(clusters), _) => format!("{name}: {} clusters", clusters.clustering.n_clusters()),
        (None, Some(classes)) => format!("{name}: labels from {} classes", classes.names.len()),
        (None, None) => format!("{name}: the graph"),
    }
}

fn facts(report: &Report<'_>, classes: Option<&Classes<'_>>, picture: &Picture) -> Vec<(String, String)> {
    let (dataset, graph) = (report.dataset, report.built.graph());
    let mut facts = vec![("rows", grouped(dataset.n_rows))];
    let is_table = report.built.robust().is_some_and(|robust| robust.preparation.is_some());
    if let Some(size) = dataset.sparse {
        facts.push(("columns", grouped(size.n_columns)));
    } else if is_table {
        facts.push(("columns", grouped(dataset.features.len())));
    }
    facts.push(("nodes", grouped(graph.n_nodes())));
    facts.push(("edges", grouped(graph.n_edges())));
    if let Some(robust) = report.built.robust() {
        facts.push(("components", grouped(robust.graph.components.len())));
    }
    if let Some(clusters) = &report.clusters {
        facts.push(("clusters", grouped(clusters.clustering.n_clusters())));
        if let Some(stability) = clusters.stability {
            facts.push(("stability", format!("{:.3}", stability.overall)));
        }
        if let Some(scores) = &clusters.scores {
            facts.push(("NMI", format!("{:.3}", scores.nmi)));
            facts.push(("ARI", format!("{:.3}", scores.ari)));
        }
    }
    if let Some(classes) = classes {
        let count = |labels: &[Option<u32>]| grouped(labels.iter().flatten().count());
        facts.push(("examples", count(classes.given)));
        facts.push(("labeled rows", count(classes.of_rows)));
        let without = classes.of_rows.iter().filter(|label| label.is_none()).count();
        facts.push(("abstentions", grouped(without)));
    }
    facts.push(("time", format!("{:.1} s", total_seconds(report.stages))));
    if let Some(bytes) = picture.memory_before {
        facts.push(("memory", format!("{:.0} MB", bytes as f64 / 1e6)));
    }
    facts.push(("seed", report.settings.seed.to_string()));
    facts.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

fn preparation(report: &Report<'_>) -> Vec<String> {
    let Some(robust) = report.built.robust() else {
        return vec!["The graph was given; nothing was prepared.".into()];
    };
    let mut says = Vec::new();
    if let Some(prepared) = &robust.preparation {
        let (settings, kept) = (report.settings.preparation(), prepared.kept.len());
        says.push(format!("{} columns were used, scaled by {}.", grouped(kept), settings.standardize.name()));
        for (what, names) in [("constant", &prepared.constant), ("empty", &prepared.empty)] {
            if !names.is_empty() {
                says.push(format!("Left out, because {what}: {}.", listed(names)));
            }
        }
        for column in prepared.kept.iter().filter(|column| column.n_missing > 0) {
            let (cells, name) = (grouped(column.n_missing), &report.dataset.features[column.column]);
            says.push(format!(
                "{cells} missing cells of {name} were filled with its median, {:.4}.",
                column.fill
            ));
        }
        if let Some(share) = prepared.pca_share {
            says.push(format!("Principal components kept {:.1} % of the variance.", 100.0 * share));
        }
    }
    let copies = robust.graph.duplicates.n_copies();
    if copies > 0 {
        says.push(format!("{} rows equal another one and share its node.", grouped(copies)));
    }
    match (&robust.preparation, report.dataset.sparse) {
        (None, None) => says.push("Distances were given.".into()),
        _ => says.push(format!("Distances are {}.", report.settings.metric().name())),
    }
    let search = &robust.graph.search;
    if search.sample > 0 {
        let (share, points) = (100.0 * search.recall, grouped(search.sample));
        says.push(format!("{share:.1} % of the true neighbors were found, measured on {points} points."));
    }
    says
}

fn sample_note(sample: &Sample) -> String {
    let mut note = String::new();
    if !sample.is_whole() {
        let (all, shown) = (grouped(sample.n_rows), grouped(MAX_POINTS));
        note = format!(
            "A random sample of {shown} of the {all} points, and the edges among them. The decay, the components beside the slider and the \
             sizes of groups are of all points."
        );
    }
    if !sample.columns.is_empty() && sample.columns.len() < sample.n_columns {
        note += &format!(" The first {} of {} columns can be shown.", sample.columns.len(), sample.n_columns);
    }
    note.trim().into()
}

/// What was found, then what was known.
fn categories(report: &Report<'_>, classes: Option<&Classes<'_>>, sample: &Sample) -> Vec<Category> {
    let mut categories = Vec::new();
    if let Some(clusters) = &report.clusters {
        let names = (0..clusters.clustering.n_clusters()).map(|cluster| cluster.to_string()).collect();
        let of = sample.of(clusters.labels).into_iter().map(Some).collect();
        categories.push(Category { name: "cluster".into(), classes: names, of });
    }
    if let Some(classes) = classes {
        for (name, of) in [("label", classes.of_rows), ("example", classes.given)] {
            let classes = classes.names.to_vec();
            categories.push(Category { name: name.into(), classes, of: sample.of(of) });
        }
    } else if let Some(labels) = &report.dataset.labels {
        let mut names: Vec<String> = labels.iter().filter(|label| !is_missing(label)).cloned().collect();
        names.sort_unstable();
        names.dedup();
        let class = |label: &String| names.binary_search(label).ok().map(|class| class as u32);
        let of = sample.of(labels).iter().map(class).collect();
        categories.push(Category { name: "known label".into(), classes: names, of });
    }
    categories
}

fn numbers(report: &Report<'_>, classes: Option<&Classes<'_>>, sample: &Sample) -> Vec<NumberColumn> {
    let mut numbers = Vec::new();
    let mut add = |name: &str, role: NumberRole, of_rows: &[f64]| {
        numbers.push(NumberColumn { name: name.into(), role, values: sample.of(of_rows) });
    };
    let stability = report.clusters.as_ref().and_then(|clusters| clusters.stability);
    if let Some(stability) = stability {
        add("stability", NumberRole::Stability, &report.built.of_rows(&stability.of_nodes));
    }
    if let Some(classes) = classes {
        add("margin", NumberRole::Margin, classes.margins);
    }
    if let Some(robust) = report.built.robust() {
        let graph = &robust.graph;
        add("robust scale", NumberRole::Scale, &graph.duplicates.restore(graph.scales.values()));
        add("first scale", NumberRole::FirstScale, &graph.duplicates.restore(graph.first_scales.values()));
    }
    for (name, values) in &sample.columns {
        numbers.push(NumberColumn { name: name.clone(), role: NumberRole::Column, values: values.clone() });
    }
    numbers
}

/// By the ratio of the robust to the first scale, up or down.
fn moved(numbers: &[NumberColumn]) -> Vec<u32> {
    let of = |role: NumberRole| numbers.iter().find(|column| column.role == role);
    let (Some(first), Some(robust)) = (of(NumberRole::FirstScale), of(NumberRole::Scale)) else {
        return Vec::new();
    };
    let changes: Vec<f64> =
        first.values.iter().zip(&robust.values).map(|(first, robust)| (robust / first).ln().abs()).collect();
    let mut points: Vec<u32> = (0..changes.len() as u32).filter(|&i| changes[i as usize] > 0.0).collect();
    points.sort_by(|&a, &b| changes[b as usize].total_cmp(&changes[a as usize]).then(a.cmp(&b)));
    points.truncate(MOVED);
    points
}

/// The first point shown of each node, and for each point the first one that is equal to it.
fn first_equal(built: &Built, sample: &Sample) -> (Vec<u32>, Vec<u32>) {
    let duplicates = built.duplicates();
    let node = |row: u32| duplicates.node_of_row()[row as usize] as usize;
    let mut of_nodes = vec![u32::MAX; duplicates.n_nodes()];
    for (place, &row) in sample.rows.iter().enumerate().rev() {
        of_nodes[node(row)] = place as u32;
    }
    let of_points = sample.rows.iter().map(|&row| of_nodes[node(row)]).collect();
    (of_nodes, of_points)
}

/// Edges between the rows that are shown; of equal rows the first shown one stands for all.
fn edges(built: &Built, sample: &Sample) -> ShownEdges {
    let (shown_as, _) = first_equal(built, sample);
    let shown = |i: u32, j: u32| {
        let (a, b) = (shown_as[i as usize], shown_as[j as usize]);
        (a != u32::MAX && b != u32::MAX).then(|| (a.min(b), a.max(b)))
    };
    let mut taus = Vec::new();
    let mut edges: Vec<Edge> = match built {
        Built::Robust(robust) => {
            let stochastic = &robust.graph.stochastic;
            taus = stochastic.decay().iter().map(|(tau, _)| *tau).take(usize::from(u8::MAX)).collect();
            let mut levels = vec![0u8; stochastic.edges().len()];
            for &tau in &taus {
                let present = stochastic.present_at(tau);
                levels.iter_mut().zip(present).for_each(|(level, present)| *level += u8::from(present));
            }
            let candidates = stochastic.edges().iter().zip(stochastic.probabilities()).zip(levels);
            let candidates = candidates.filter_map(|(((i, j), &probability), level)| {
                shown(i, j).map(|(i, j)| Edge { i, j, level, probability })
            });
            // What is present at no quantile is never drawn.
            candidates.filter(|edge| edge.level > 0).collect()
        }
        Built::Given(graph) => {
            let heaviest = graph.weights().iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            let of_node =
                |i: u32| graph.row(i as usize).filter(move |(j, _)| i < *j).map(move |(j, w)| (i, j, w));
            let all = (0..graph.n_nodes() as u32).flat_map(of_node);
            let edge = |(i, j, weight): (u32, u32, f64)| {
                shown(i, j).map(|(i, j)| Edge { i, j, level: 0, probability: weight / heaviest })
            };
            all.filter_map(edge).collect()
        }
    };
    let all = edges.len();
    if all > MAX_EDGES {
        // The likeliest, and of equally likely ones those that persist longest.
        edges.sort_by(|a, b| {
            let likelier = b.probability.total_cmp(&a.probability);
            likelier.then(b.level.cmp(&a.level)).then((a.i, a.j).cmp(&(b.i, b.j)))
        });
        edges.truncate(MAX_EDGES);
    }
    edges.sort_by_key(|edge| (edge.i, edge.j));
    let note = match all > MAX_EDGES {
        true => format!("The {} likeliest of {} edges are drawn.", grouped(MAX_EDGES), grouped(all)),
        false => String::new(),
    };
    ShownEdges { taus, edges, note }
}

fn groups(report: &Report<'_>, classes: Option<&Classes<'_>>, sample: &Sample) -> Vec<Group> {
    let (names, of_rows): (Vec<String>, Vec<Option<u32>>) = match (&report.clusters, classes) {
        (Some(clusters), _) => (
            (0..clusters.clustering.n_clusters()).map(|cluster| cluster.to_string()).collect(),
            clusters.labels.iter().copied().map(Some).collect(),
        ),
        (None, Some(classes)) => (classes.names.to_vec(), classes.of_rows.to_vec()),
        (None, None) => return Vec::new(),
    };
    let stability = report.clusters.as_ref().and_then(|clusters| clusters.stability);
    let stability = stability.map(|stability| report.built.of_rows(&stability.of_nodes));
    let truth = report.dataset.labels.as_ref().filter(|_| classes.is_none());
    let mut sizes = vec![0usize; names.len()];
    of_rows.iter().flatten().for_each(|&class| sizes[class as usize] += 1);
    let stability = stability.map(|values| means(&of_rows, &values, names.len()));
    let margins = classes.map(|classes| means(&of_rows, classes.margins, names.len()));
    let commonest = truth.map(|truth| commonest(&of_rows, truth, names.len()));
    let telling = telling(&sample.of(&of_rows), sample, names.len());
    let groups = names.into_iter().zip(telling).enumerate();
    let group = |(index, (name, columns)): (usize, (String, Vec<GroupColumn>))| Group {
        index: index as u32,
        name,
        size: sizes[index],
        stability: stability.as_ref().and_then(|means| means[index]),
        margin: margins.as_ref().and_then(|means| means[index]),
        label: commonest.as_ref().and_then(|labels| labels[index].clone()),
        columns,
    };
    groups.map(group).collect()
}

/// The mean of the numbers of each class; `None` where there is none.
fn means(of: &[Option<u32>], values: &[f64], n_classes: usize) -> Vec<Option<f64>> {
    let mut sums = vec![(0.0, 0usize); n_classes];
    for (class, value) in of.iter().zip(values).filter(|(_, value)| value.is_finite()) {
        if let Some(class) = class {
            let (sum, count) = &mut sums[*class as usize];
            *sum += value;
            *count += 1;
        }
    }
    sums.into_iter().map(|(sum, count)| (count > 0).then(|| sum / count as f64)).collect()
}

/// The commonest known label of each class, and the share of its labeled rows that have it.
fn commonest(of: &[Option<u32>], labels: &[String], n_classes: usize) -> Vec<Option<(String, f64)>> {
    let mut counts = vec![BTreeMap::<&str, usize>::new(); n_classes];
    for (class, label) in of.iter().zip(labels).filter(|(_, label)| !is_missing(label)) {
        if let Some(class) = class {
            *counts[*class as usize].entry(label).or_default() += 1;
        }
    }
    let most = |counts: BTreeMap<&str, usize>| {
        let total: usize = counts.values().sum();
        // Of equally common ones the first in the order of the alphabet.
        let best = counts.into_iter().reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map(|(label, count)| (label.to_string(), count as f64 / total as f64))
    };
    counts.into_iter().map(most).collect()
}

/// For each class the columns whose mean lies farthest from that of all points shown, in deviations.
fn telling(of_points: &[Option<u32>], sample: &Sample, n_classes: usize) -> Vec<Vec<GroupColumn>> {
    let mut columns: Vec<Vec<(f64, GroupColumn)>> = vec![Vec::new(); n_classes];
    let together = vec![Some(0); of_points.len()];
    let mean_of_all = |values: &[f64]| means(&together, values, 1)[0].unwrap_or(f64::NAN);
    for (name, values) in &sample.columns {
        let all = mean_of_all(values);
        let squares: Vec<f64> = values.iter().map(|value| (value - all).powi(2)).collect();
        let deviation = mean_of_all(&squares).sqrt();
        for (class, mean) in means(of_points, values, n_classes).into_iter().enumerate() {
            if let Some(mean) = mean.filter(|_| deviation > 0.0) {
                let column = GroupColumn { name: name.clone(), mean, all };
                columns[class].push(((mean - all).abs() / deviation, column));
            }
        }
    }
    let first = |mut columns: Vec<(f64, GroupColumn)>| {
        columns.sort_by(|a, b| b.0.total_cmp(&a.0));
        columns.into_iter().take(TELLING).map(|(_, column)| column).collect()
    };
    columns.into_iter().map(first).collect()
}

/// The command as a shell takes it, from the words after its name.
pub fn command_line(words: impl Iterator<Item = OsString>) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,+@%".contains(letter);
    let quoted = |word: String| match !word.is_empty() && word.chars().all(is_plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    let words = words.map(|word| word.to_string_lossy().into_owned());
    std::iter::once("taugraph".to_string()).chain(words).map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_quoted() {
        let words = ["cluster", "my data.csv", "--drop", "it's", ""].map(OsString::from);
        assert_eq!(command_line(words.into_iter()), r"taugraph cluster 'my data.csv' --drop 'it'\''s' ''");
    }

    #[test]
    fn groups_are_described_by_their_rows() {
        let of = [Some(0), Some(0), None, Some(1), Some(0), Some(1)];
        let labels = ["b", "a", "c", "", "b", "NA"].map(String::from);
        assert_eq!(commonest(&of, &labels, 3), [Some(("b".into(), 2.0 / 3.0)), None, None]);
        let values = [1.0, f64::NAN, 100.0, 5.0, 2.0, 7.0];
        assert_eq!(means(&of, &values, 3), [Some(1.5), Some(6.0), None]);
    }
}
