//! Pages and figures of a run.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Clone, Args)]
pub struct ReportArgs {
    /// One HTML page to look at: points, edges by quantile, scales, clusters, what to do about warnings
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// The panels of the page as .svg and .png, in this folder
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub figures: Option<PathBuf>,
    /// The command that the page names, if it is not the one that was typed.
    #[arg(skip)]
    pub command: Option<String>,
}

impl ReportArgs {
    /// Whether anything is to be shown.
    pub fn is_asked(&self) -> bool {
        self.report.is_some() || self.figures.is_some()
    }
}
