//! Progress on the terminal, and Ctrl-C.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use taugraph::progress::Progress;

use crate::cost::{Moment, StageCost, costs};

/// Set by Ctrl-C.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// How long the computation may take to notice Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(1500);

/// From now on, Ctrl-C asks the computation to stop; if it does not stop soon, or on a second Ctrl-C, the process ends after
/// removing any file that was being written.
pub fn listen_for_interrupts() {
    let end = || {
        taugraph_io::remove_unfinished();
        std::process::exit(130);
    };
    let handler = move || {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            end();
        }
        std::thread::spawn(move || {
            std::thread::sleep(PATIENCE);
            end();
        });
    };
    // If signals cannot be caught, the system's default behavior applies.
    let _ = ctrlc::set_handler(handler);
}

/// A progress bar on standard error if that is a terminal; records what every stage costs in any case.
pub struct Terminal {
    is_shown: bool,
    stages: Mutex<Stages>,
}

struct Stages {
    bar: ProgressBar,
    /// Name of each stage, and when it began.
    begun: Vec<(String, Moment)>,
}

impl Terminal {
    /// Shows nothing if it is quiet.
    pub fn new(is_quiet: bool) -> Self {
        let is_shown = !is_quiet && std::io::stderr().is_terminal();
        Self { is_shown, stages: Mutex::new(Stages { bar: ProgressBar::hidden(), begun: Vec::new() }) }
    }

    /// Removes the bar and returns what each stage cost, in order; repeated stages are summed.
    pub fn finish(&self) -> Vec<StageCost> {
        let stages = self.lock();
        stages.bar.finish_and_clear();
        costs(&stages.begun)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Stages> {
        self.stages.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Progress for Terminal {
    fn stage(&self, name: &str, total: Option<u64>) {
        let mut stages = self.lock();
        stages.begun.push((name.to_string(), Moment::now()));
        if !self.is_shown {
            return;
        }
        stages.bar.finish_and_clear();
        let (bar, template) = match total {
            Some(total) => (ProgressBar::new(total), "{msg:<24} {bar:32} {percent:>3} %  {eta} left"),
            None => (ProgressBar::new_spinner(), "{msg:<24} {spinner} {elapsed}"),
        };
        let style = ProgressStyle::with_template(template).expect("the template is right");
        bar.set_style(style.progress_chars("=> "));
        bar.set_message(name.to_string());
        // Drawn at the first tick: a stage that ends earlier is never shown.
        bar.enable_steady_tick(Duration::from_millis(200));
        stages.bar = bar;
    }

    fn advance(&self, steps: u64) {
        if self.is_shown {
            self.lock().bar.inc(steps);
        }
    }

    fn canceled(&self) -> bool {
        INTERRUPTED.load(Ordering::Relaxed)
    }
}
