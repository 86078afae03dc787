//! A run as a page and figures: what is shown of it ([`Sample`]), what has to be computed to show it ([`Picture`]), and how both become a
//! report.

mod compose;
mod picture;
mod sample;

pub use compose::command_line;
pub use picture::{Picture, Subject};
pub use sample::Sample;

use std::path::Path;

use taugraph_io::Output;
use taugraph_report::{write_figures, write_page};

use crate::args::ReportArgs;
use crate::failure::Outcome;
use crate::report::Report;

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

/// Writes what was asked for.
pub fn publish(
    report: &Report<'_>,
    classes: Option<&Classes<'_>>,
    picture: &Picture,
    args: &ReportArgs,
) -> Outcome<()> {
    let typed = || command_line(std::env::args_os().skip(1));
    let command = args.command.clone().unwrap_or_else(typed);
    let shown = compose::report(report, classes, picture, command);
    if let Some(path) = &args.report {
        write_page(&shown, &Output::new(path))?;
    }
    if let Some(folder) = &args.figures {
        write_figures(&shown, folder)?;
    }
    Ok(())
}
