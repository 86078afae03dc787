//! Where labels come from.

use std::path::PathBuf;

use clap::Args;

use crate::failure::Outcome;
use crate::settings::Settings;

#[derive(Debug, Args)]
#[command(next_help_heading = "Labels")]
pub struct LabelArgs {
    /// Column of known labels; an empty cell is a row to be labeled
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["labels_file", "label_column"])]
    pub labels: Option<String>,
    /// File of known labels: a column 'label' beside 'row' (counted from 1) or the --id-column
    #[arg(long, value_name = "FILE")]
    pub labels_file: Option<PathBuf>,
    /// Prior of each class, as NAME=SHARE [default: all alike]
    #[arg(long, value_name = "NAME=SHARE,…", value_delimiter = ',', value_parser = share)]
    pub priors: Option<Vec<(String, f64)>>,
    /// Shares of the classes among the rows to be labeled, respected as nearly as possible
    #[arg(long, value_name = "NAME=SHARE,…", value_delimiter = ',', value_parser = share, hide_short_help = true)]
    pub sizes: Option<Vec<(String, f64)>>,
}

impl LabelArgs {
    pub fn apply(&self, settings: &mut Settings) -> Outcome<()> {
        if self.labels.is_some() {
            settings.input.label_column.clone_from(&self.labels);
            settings.labels.file = None;
        }
        let labels = &mut settings.labels;
        if self.labels_file.is_some() {
            labels.file.clone_from(&self.labels_file);
        }
        if self.priors.is_some() {
            labels.priors.clone_from(&self.priors);
        }
        if self.sizes.is_some() {
            labels.sizes.clone_from(&self.sizes);
        }
        Ok(())
    }
}

fn share(text: &str) -> Result<(String, f64), String> {
    let parsed =
        text.rsplit_once('=').and_then(|(name, share)| Some((name.to_string(), share.parse().ok()?)));
    parsed.ok_or_else(|| "a class and its share are needed, as in yes=0.3".into())
}
