//! What every command that fits something runs in: threads, progress and Ctrl-C, the memory limit, finished stages, and where the
//! features are.

use taugraph::memory;
use taugraph::progress::Run;
use taugraph::{Error, Input};
use taugraph_io::Budget;
use taugraph_report::Found;

use crate::args::{InputArgs, ResumeArgs, RunArgs};
use crate::dataset::{Dataset, of_points, read_dataset};
use crate::failure::{Failure, Outcome};
use crate::features::{Features, with_advice};
use crate::page::Page;
use crate::progress::Terminal;
use crate::report::Report;
use crate::settings::Settings;
use crate::work_folder::WorkFolder;

/// A run with everything around it.
pub struct Context {
    pub settings: Settings,
    terminal: Terminal,
    memory_limit: Option<u64>,
    budget: Budget,
    folder: Option<WorkFolder>,
    features: Features,
}

impl Context {
    /// To be made once, before the library is used.
    pub fn new(settings: Settings, input: &InputArgs, run: &RunArgs, resume: &ResumeArgs) -> Outcome<Self> {
        taugraph_terminal::use_threads(run.threads)?;
        let terminal = Terminal::new(run.quiet);
        let memory_limit = run.memory.or_else(memory::available);
        let folder = resume.checkpoints.as_deref();
        let folder = folder.map(|path| WorkFolder::open(path, &settings, memory_limit)).transpose()?;
        let features = Features::of_graph(input, &settings, memory_limit)?;
        let budget = Budget::of(memory_limit);
        Ok(Self { settings, terminal, memory_limit, budget, folder, features })
    }

    /// The run, for the library.
    pub fn run(&self) -> Run<'_> {
        let run = Run::new(self.settings.params.seed).with_progress(&self.terminal);
        let run = run.with_memory_limit(self.memory_limit);
        let run = match &self.folder {
            Some(folder) => run.with_checkpoints(folder),
            None => run,
        };
        self.features.place(run)
    }

    /// Reads the input.
    pub fn read(&self) -> Outcome<(Dataset, Input<'static>)> {
        self.run().stage("read", None)?;
        read_dataset(&self.settings.input, &self.features, &self.budget)
    }

    /// What may still be read into memory.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// A result of the library; what went wrong is said in the names of the file, with what helps.
    pub fn explained<T>(&self, result: Result<T, Error>, dataset: &Dataset) -> Outcome<T> {
        result.map_err(|error| {
            let may_be_on_disk = !dataset.is_on_disk && !dataset.features.is_empty();
            let error = match may_be_on_disk {
                true => with_advice(error, (dataset.n_rows, dataset.features.len()), &self.settings),
                false => error,
            };
            match (of_points(error, dataset), &self.folder) {
                (Failure::Interrupted, Some(_)) => {
                    Failure::Paused("finished stages are kept, the same command resumes from there".into())
                }
                (failure, _) => failure,
            }
        })
    }

    /// The report of what was found; the work ends here.
    pub fn report<'a>(&'a self, command: &'static str, dataset: &'a Dataset, found: Found<'a>) -> Report<'a> {
        let (settings, stages) = (&self.settings, self.terminal.finish());
        Report {
            command,
            settings,
            dataset,
            found,
            scores: None,
            explanations: None,
            agreement: None,
            suggestions: Vec::new(),
            evaluation: None,
            stages,
        }
    }

    /// Publishes the report and, if it was asked for, the page.
    pub fn publish(&self, report: &Report<'_>, page: Option<Page<'_>>, args: &RunArgs) -> Outcome<()> {
        report.publish(args)?;
        match page {
            Some(page) => page.publish(report, &self.run(), &self.terminal),
            None => Ok(()),
        }
    }
}
