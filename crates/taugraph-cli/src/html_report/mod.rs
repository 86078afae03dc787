//! A run as a page and figures: what is to be shown ([`Subject`]), what has to be computed for that ([`Picture`]), and how both become a
//! report.

mod comparison;
mod compose;
mod picture;
mod sample;

pub use compose::command_line;
pub use sample::Sample;

use std::path::Path;

use picture::Picture;
use taugraph::cluster::Clustering;
use taugraph::progress::Run;
use taugraph::robust::NodeGraph;
use taugraph_io::Output;
use taugraph_report::{write_figures, write_page};

use crate::args::ReportArgs;
use crate::failure::Outcome;
use crate::pipeline::GraphPoints;
use crate::progress::Terminal;
use crate::report::Report;

/// Labels of all rows on another graph of the same points.
pub type Relabel<'a> = dyn Fn(&NodeGraph, &Run<'_>) -> Outcome<Vec<Option<u32>>> + 'a;

/// What is to be shown.
pub struct Subject<'a> {
    pub report: &'a Report<'a>,
    pub sample: Sample,
    pub points: Option<&'a GraphPoints>,
    /// Labels that were found, and how they are found on another graph.
    pub labels: Option<(&'a [Option<u32>], &'a Relabel<'a>)>,
    /// More about them if they come from examples.
    pub classes: Option<Classes<'a>>,
}

impl<'a> Subject<'a> {
    fn clustering(&self) -> Option<&'a Clustering> {
        self.report.clusters.as_ref().map(|clusters| clusters.clustering)
    }

    /// Known labels of the rows, unless they were the examples.
    fn truth(&self) -> Option<&'a [String]> {
        self.report.dataset.labels.as_deref().filter(|_| self.classes.is_none())
    }
}

/// What labels were found, for the rows of a report.
pub struct Classes<'a> {
    pub names: &'a [String],
    pub of_rows: &'a [Option<u32>],
    pub given: &'a [Option<u32>],
    pub margins: &'a [f64],
    /// In plain words, with what to do.
    pub notes: Vec<String>,
    /// What the terminal says about them.
    pub text: String,
}

/// Finds out before the work whether page and figures can be written.
pub fn check(args: &ReportArgs) -> Outcome<()> {
    if let Some(path) = &args.report {
        Output::new(path).check()?;
    }
    if let Some(folder) = &args.figures {
        make_folder(folder)?;
    }
    Ok(())
}

/// Makes a folder where there is none.
pub fn make_folder(folder: &Path) -> Outcome<()> {
    Ok(std::fs::create_dir_all(folder)
        .map_err(|source| taugraph_io::Error::Write { path: folder.to_path_buf(), source })?)
}

/// Computes and writes what was asked for.
pub fn publish(subject: &Subject<'_>, args: &ReportArgs, run: &Run<'_>, terminal: &Terminal) -> Outcome<()> {
    let picture = Picture::new(subject, run)?;
    terminal.finish();
    let typed = || command_line(std::env::args_os().skip(1));
    let command = args.command.clone().unwrap_or_else(typed);
    let shown = compose::report(subject, &picture, command);
    if let Some(path) = &args.report {
        write_page(&shown, &Output::new(path))?;
    }
    if let Some(folder) = &args.figures {
        write_figures(&shown, folder)?;
    }
    Ok(())
}
