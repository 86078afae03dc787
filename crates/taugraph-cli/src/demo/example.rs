//! The command that the demo recommends, carried out on its points: labels and page.

use std::ffi::OsString;
use std::path::Path;

use taugraph::generators::LabeledPoints;
use taugraph::graph::Changes;
use taugraph::progress::Run;
use taugraph::{Input, SpectralClustering};
use taugraph_io::Output;
use taugraph_report::Found;

use super::STABILITY;
use crate::args::ReportArgs;
use crate::dataset::{Dataset, Kind};
use crate::failure::Outcome;
use crate::page::{Page, command_line};
use crate::progress::Terminal;
use crate::report::{Report, Scores};
use crate::results::write_clusters;
use crate::settings::{InputSettings, Settings};

/// Writes `clusters.csv` and `report.html`.
pub fn write_example(
    folder: &Path,
    data_file: &Path,
    data: &LabeledPoints,
    run: &Run<'_>,
    terminal: &Terminal,
) -> Outcome<()> {
    let (labels_file, page_file) = (folder.join("clusters.csv"), folder.join("report.html"));
    let settings = settings(data_file, run.seed)?;
    let shows = ReportArgs {
        report: Some(page_file.clone()),
        figures: None,
        command: Some(command(data_file, &labels_file, &page_file, run.seed)),
    };
    let input = Input::from(data);
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
    let page = Page::asked(&shows, &dataset, &input, run.seed);
    let found = SpectralClustering::with_config(settings.params.clone()).fit_with(input, run)?;
    write_clusters(&found, false, None, &Output::new(&labels_file))?;
    let report = Report {
        command: "cluster",
        settings: &settings,
        dataset: &dataset,
        found: Found::Clusters(&found),
        scores: Scores::asked(&settings, &dataset, found.labels())?,
        explanations: None,
        agreement: None,
        suggestions: Vec::new(),
        evaluation: None,
        stages: terminal.finish(),
    };
    match page {
        Some(page) => page.publish(&report, run, terminal),
        None => Ok(()),
    }
}

fn settings(data_file: &Path, seed: u64) -> Outcome<Settings> {
    let mut settings = Settings {
        input: InputSettings {
            file: data_file.to_path_buf(),
            label_column: Some("label".into()),
            ..InputSettings::default()
        },
        ..Settings::default()
    };
    settings.params.set("seed", seed)?;
    settings.params.set("cluster.n_clusters", 2)?;
    settings.params.set("cluster.stability", STABILITY)?;
    Ok(settings)
}

/// The command as people type it.
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
