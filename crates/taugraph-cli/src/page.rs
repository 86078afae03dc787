//! The page and the figures of a run.

use std::ffi::OsString;

use taugraph::Input;
use taugraph::progress::Run;
use taugraph_io::Output;
use taugraph_report::{Found, Report as Shown, Sample, Subject, write_figures, write_page};

use crate::args::ReportArgs;
use crate::cost::peak_memory;
use crate::dataset::Dataset;
use crate::failure::Outcome;
use crate::progress::Terminal;
use crate::report::Report;

/// What is to be shown, as far as it must be known before the fit.
pub struct Page<'a> {
    args: &'a ReportArgs,
    sample: Sample,
}

impl<'a> Page<'a> {
    /// If a page or figures are asked for. The sample is taken now: a fit consumes its input.
    pub fn asked(args: &'a ReportArgs, dataset: &Dataset, input: &Input<'_>, seed: u64) -> Option<Self> {
        if !args.is_asked() {
            return None;
        }
        let table = match input {
            Input::Points(table) => Some((table.values(), dataset.features.as_slice())),
            _ => None,
        };
        let sample = Sample::new(dataset.n_rows, table, seed);
        Some(Self { args, sample })
    }

    /// Computes and writes what was asked for.
    pub fn publish(self, report: &Report<'_>, run: &Run<'_>, terminal: &Terminal) -> Outcome<()> {
        let typed = || command_line(std::env::args_os().skip(1));
        let is_propagation = matches!(report.found, Found::Labels(..));
        let subject = Subject {
            name: &report.dataset.name,
            found: report.found,
            sample: self.sample,
            ids: report.dataset.ids.as_ref().map(|ids| ids.of_rows.as_slice()),
            // The labels that were spread are no truth to compare with.
            known_labels: report.dataset.labels.as_deref().filter(|_| !is_propagation),
            command: self.args.command.clone().unwrap_or_else(typed),
            summary: report.text(),
            warnings: report.warnings_and_notes(),
            stages: report
                .stages
                .iter()
                .map(|cost| (cost.stage.clone(), cost.time.seconds, cost.peak_bytes))
                .collect(),
            settings: serde_json::to_value(report.settings).unwrap_or_default(),
            peak_memory: peak_memory(),
        };
        let shown = Shown::new(&subject, run)?;
        terminal.finish();
        if let Some(path) = &self.args.report {
            write_page(&shown, &Output::new(path))?;
        }
        if let Some(folder) = &self.args.figures {
            write_figures(&shown, folder)?;
        }
        Ok(())
    }
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
}
