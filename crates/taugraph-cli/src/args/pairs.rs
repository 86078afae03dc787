//! Pairs of rows that are known to belong together, or apart.

use std::path::PathBuf;

use clap::Args;

use crate::settings::PairSettings;

#[derive(Debug, Args)]
#[command(next_help_heading = "Pairs")]
pub struct PairArgs {
    /// Pairs of rows that share a cluster: a table of two columns, rows counted from 0
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub must_link: Option<PathBuf>,
    /// Pairs of rows that do not share a cluster
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub cannot_link: Option<PathBuf>,
}

impl PairArgs {
    pub fn apply(&self, settings: &mut PairSettings) {
        if self.must_link.is_some() {
            settings.must_link.clone_from(&self.must_link);
        }
        if self.cannot_link.is_some() {
            settings.cannot_link.clone_from(&self.cannot_link);
        }
    }
}
