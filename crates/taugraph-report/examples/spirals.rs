//! The report of a fit, from the library alone: two noisy spirals, clustered, as an HTML page and as figures.
//!
//!     cargo run --package taugraph-report --example spirals -- FOLDER
//!
//! writes FOLDER/report.html and FOLDER/figures.

use std::path::PathBuf;
use std::time::Instant;

use taugraph::generators::{SpiralDensity, add_noise, two_spirals};
use taugraph::progress::Run;
use taugraph::{SpectralClustering, Table};
use taugraph_io::Output;
use taugraph_report::{Found, Report, Sample, Subject, write_figures, write_page};

const ROWS: usize = 500;
const SEED: u64 = 3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "spirals".into()));
    let figures = folder.join("figures");
    std::fs::create_dir_all(&figures)?;

    let data = add_noise(&two_spirals(ROWS, SpiralDensity::UniformAngle, SEED)?, 0.15, 1.0, SEED)?;
    let columns = ["x1", "x2"].map(String::from);
    let known: Vec<String> = data.labels.iter().map(|label| format!("arm {label}")).collect();

    // The rows to show are sampled first: a fit may consume its table.
    let sample = Sample::new(ROWS, Some((data.points.values(), &columns)), SEED);
    let table = Table::new(data.points.values().to_vec(), columns.len())?.with_names(columns.to_vec());
    let begun = Instant::now();
    let clusters = SpectralClustering::new().n_clusters(2).stability(5).seed(SEED).fit(table)?;
    let seconds = begun.elapsed().as_secs_f64();

    let subject = Subject {
        name: "spirals",
        found: Found::Clusters(&clusters),
        sample,
        ids: None,
        known_labels: Some(&known),
        command: "cargo run --package taugraph-report --example spirals".into(),
        summary: format!("{ROWS} rows in {} clusters", clusters.n_clusters()),
        warnings: clusters.warnings().iter().map(ToString::to_string).collect(),
        stages: vec![("fit".into(), seconds, None)],
        settings: clusters.graph().config().to_json(),
        peak_memory: None,
    };
    let report = Report::new(&subject, &Run::new(SEED))?;
    let page = folder.join("report.html");
    write_page(&report, &Output::new(&page))?;
    let files = write_figures(&report, &figures)?;
    println!("{} and {} figure files", page.display(), files.len());
    Ok(())
}
