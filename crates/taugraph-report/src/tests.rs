//! Reports of real fits: the registry, the page and the figures agree, and text stays text.

use std::path::PathBuf;

use serde_json::Value;
use taugraph::generators::{LabeledPoints, SpiralDensity, moons, two_spirals};
use taugraph::progress::Run;
use taugraph::{Error, GivenLabels, LabelPropagation, RobustGraph, SpectralClustering, Table};

use crate::{Found, Report, Sample, Subject, html, write_figures};

const EVIL: &str = "</script><script>alert(1)</script>{{script}}<!-- \u{2028} \"'&";

fn subject<'a>(found: Found<'a>, sample: Sample) -> Subject<'a> {
    Subject {
        name: "folder/data.csv",
        found,
        sample,
        ids: None,
        known_labels: None,
        command: "taugraph".into(),
        summary: "a run".into(),
        warnings: Vec::new(),
        stages: vec![("fit".into(), 1.5, Some(1 << 20))],
        settings: serde_json::json!({ "seed": 1 }),
        peak_memory: Some(1 << 20),
    }
}

fn sample(data: &LabeledPoints) -> Sample {
    let names = ["x1", "x2"].map(String::from);
    Sample::new(data.points.len(), Some((data.points.values(), &names)), 1)
}

fn data_of(page: &str) -> Value {
    let data = page.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
    serde_json::from_str(data).unwrap()
}

/// A temporary folder, deleted at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("taugraph-report-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn shows(report: &Report, panel: &str) -> bool {
    report.panels.iter().any(|(name, _)| *name == panel)
}

#[test]
fn every_panel_is_on_the_page_and_among_the_figures() {
    let data = two_spirals(120, SpiralDensity::UniformAngle, 1).unwrap();
    let clusters = SpectralClustering::new().n_clusters(2).stability(3).seed(1).fit(&data).unwrap();
    let known: Vec<String> = data.labels.iter().map(|label| format!("arm {label}")).collect();
    let about = Subject { known_labels: Some(&known), ..subject(Found::Clusters(&clusters), sample(&data)) };
    let report = Report::new(&about, &Run::new(1)).unwrap();
    for name in
        ["decay", "scales", "eigenvalues", "groups", "comparison", "preparation", "stages", "settings"]
    {
        assert!(shows(&report, name), "{name}");
    }

    let page = html(&report);
    let shown = data_of(&page);
    for (name, panel) in &report.panels {
        assert_eq!(shown["panels"][name], panel.json(), "{name}");
        assert!(page.contains(&format!("\npanels.{name} = (")), "{name} is drawn");
    }
    assert!(page.contains("<h1 dir=\"auto\">data.csv: 2 clusters</h1>"));
    let first = clusters.labels().iter().filter(|&&cluster| cluster == 0).count();
    assert_eq!(shown["panels"]["groups"]["groups"][0]["size"], first);
    assert!(shown["panels"]["eigenvalues"]["suggested"].is_number(), "more eigenvalues were computed");
    assert_eq!(shown["panels"]["comparison"]["rows"].as_array().unwrap().len(), 3);
    assert_eq!(shown["panels"]["decay"], shown["steps"]);
    let facts: Vec<&str> = report.facts.iter().map(|(name, _)| *name).collect();
    let expected = ["rows", "columns", "nodes", "edges", "components", "clusters", "stability", "NMI", "ARI"];
    assert_eq!(facts, [&expected[..], &["time", "memory", "seed"]].concat());

    let folder = Folder::new("figures");
    let files = write_figures(&report, &folder.0).unwrap();
    let is_written = |name: &str, ending: &str| files.contains(&folder.0.join(format!("{name}.{ending}")));
    let of_panels: Vec<&str> =
        report.panels.iter().flat_map(|(_, panel)| panel.figures()).map(|figure| figure.name).collect();
    for name in ["decay", "components", "scales", "eigenvalues", "sizes", "mean-stability", "comparison"] {
        assert!(of_panels.contains(&name), "{name}");
    }
    let of_frame = ["map-the-two-columns-cluster", "map-t-sne-cluster", "map-the-two-columns-known-label"];
    for name in of_panels.into_iter().chain(of_frame).chain(["graph-tau-0.1"]) {
        assert!(is_written(name, "svg") && is_written(name, "png"), "{name} in {files:?}");
    }
    assert!(files.iter().all(|file| file.exists()));
    let svg = std::fs::read_to_string(folder.0.join("scales.svg")).unwrap();
    assert_eq!(svg.matches("<circle").count(), 120, "a point for each row");
}

#[test]
fn text_stays_text() {
    let data = moons(60, 0.05, 1).unwrap();
    let names = vec![EVIL.to_string(), "مرحبا".to_string()];
    let table = Table::new(data.points.values().to_vec(), 2).unwrap().with_names(names.clone());
    let clusters = SpectralClustering::new().n_clusters(2).fit(table).unwrap();
    let rows: Vec<String> = (0..60).map(|row| format!("{row}{EVIL}")).collect();
    let known: Vec<String> = data.labels.iter().map(|label| format!("{label}{EVIL}")).collect();
    let about = Subject {
        name: EVIL,
        ids: Some(&rows),
        known_labels: Some(&known),
        command: EVIL.into(),
        summary: EVIL.into(),
        warnings: vec![EVIL.into()],
        stages: vec![(EVIL.into(), 0.0, None)],
        settings: serde_json::json!({ EVIL: EVIL }),
        ..subject(Found::Clusters(&clusters), Sample::new(60, Some((data.points.values(), &names)), 1))
    };
    let report = Report::new(&about, &Run::new(1)).unwrap();
    let page = html(&report);
    assert_eq!(page.matches("<script").count(), 2, "the data and the one script");
    assert_eq!(page.matches("</script>").count(), 2);
    assert_eq!(page.matches("\"use strict\"").count(), 1, "marks in the data are not filled in");
    assert!(!page.contains("<!--"));
    let shown = data_of(&page);
    assert_eq!(shown["points"]["ids"][7], rows[7], "it comes back as it was");
    assert_eq!(shown["panels"]["settings"][EVIL], EVIL);
    let folder = Folder::new("text");
    let files = write_figures(&report, &folder.0).unwrap();
    assert!(files.iter().all(|file| file.parent() == Some(&folder.0)), "{files:?}");
}

#[test]
fn labels_are_scored_where_they_were_not_given() {
    let data = moons(80, 0.05, 1).unwrap();
    let known: Vec<String> = data.labels.iter().map(|label| format!("moon {label}")).collect();
    let names: Vec<Option<&String>> =
        known.iter().enumerate().map(|(row, name)| (row % 10 == 0).then_some(name)).collect();
    let given = GivenLabels::from_names(&names);
    let labels = LabelPropagation::new().fit(&data, &given).unwrap();
    let only_given: Vec<String> =
        names.iter().map(|name| name.map_or(String::new(), String::clone)).collect();
    let report = |known: &[String]| {
        let about = subject(Found::Labels(&labels, &given), sample(&data));
        Report::new(&Subject { known_labels: Some(known), ..about }, &Run::new(0)).unwrap()
    };
    let scored = report(&known);
    assert!(!shows(&scored, "eigenvalues"));
    let shown = data_of(&html(&scored));
    assert_eq!(shown["panels"]["groups"]["title"], "Labels");
    assert_eq!(shown["panels"]["groups"]["certainty"]["name"], "margin");
    assert_eq!(shown["categories"][2]["name"], "known label");
    assert!(shown["panels"]["comparison"]["rows"][0]["score"].is_number());
    assert!(
        scored.facts.contains(&("given labels", "8".into()))
            && scored.facts.iter().any(|fact| fact.0 == "NMI")
    );
    let unscored = report(&only_given);
    assert!(unscored.facts.iter().all(|fact| fact.0 != "NMI"), "given labels prove nothing");
    assert_eq!(data_of(&html(&unscored))["panels"]["comparison"]["scoreName"], Value::Null);
}

#[test]
fn graphs_have_a_page_with_and_without_points() {
    let data = moons(60, 0.05, 1).unwrap();
    let graph = RobustGraph::new().fit(&data).unwrap();
    let report = Report::new(&subject(Found::Graph(&graph), sample(&data)), &Run::new(0)).unwrap();
    assert_eq!(
        ["decay", "scales", "groups", "comparison"].map(|name| shows(&report, name)),
        [true, true, false, false]
    );

    let weights = graph.graph().into_owned();
    let given = SpectralClustering::new().n_clusters(2).fit(weights).unwrap();
    let about = subject(Found::Clusters(&given), Sample::new(60, None, 0));
    let report = Report::new(&about, &Run::new(0)).unwrap();
    assert_eq!(
        ["groups", "eigenvalues", "decay", "scales"].map(|name| shows(&report, name)),
        [true, true, false, false]
    );
    let shown = data_of(&html(&report));
    assert_eq!(shown["layouts"][0]["name"], "spectral embedding");
    assert_eq!(shown["edges"]["taus"], serde_json::json!([]));
    assert_eq!(shown["panels"]["preparation"][0], "The graph was given; nothing was prepared.");

    // The report works without the points that were not kept.
    let forgotten = SpectralClustering::new().keep_points(false).fit(&data).unwrap();
    let report = Report::new(&subject(Found::Clusters(&forgotten), sample(&data)), &Run::new(0)).unwrap();
    assert!(!shows(&report, "comparison"));
}

#[test]
fn rows_of_something_else_are_refused() {
    let data = moons(60, 0.05, 1).unwrap();
    let graph = RobustGraph::new().fit(&data).unwrap();
    let refused = |about: &Subject<'_>| match Report::new(about, &Run::new(0)) {
        Err(Error::Length { what, expected: 60, .. }) => what,
        _ => panic!("it is not refused"),
    };
    assert_eq!(refused(&subject(Found::Graph(&graph), Sample::new(59, None, 0))), "rows of the sample");
    let short = vec![String::new(); 59];
    let about = Subject { ids: Some(&short), ..subject(Found::Graph(&graph), sample(&data)) };
    assert_eq!(refused(&about), "names of rows");
}
