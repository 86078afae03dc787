//! Progress on the terminal, times of the stages, and Ctrl-C.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use taugraph::progress::Progress;

/// Set by Ctrl-C.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// How long the computation may take to notice Ctrl-C.
const PATIENCE: Duration = Duration::from_secs(2);

/// From now on Ctrl-C asks the computation to stop; if it does not soon, or on a second Ctrl-C, the process ends after
/// removing whatever file was being written.
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
    // Where signals cannot be caught the system's own behaviour has to do.
    let _ = ctrlc::set_handler(handler);
}

/// A bar on standard error where that is a terminal; the time of every stage in any case.
pub struct Terminal {
    is_shown: bool,
    stages: Mutex<Stages>,
}

struct Stages {
    bar: ProgressBar,
    begun: Vec<(String, Instant)>,
}

impl Terminal {
    pub fn new(is_quiet: bool) -> Self {
        let is_shown = !is_quiet && std::io::stderr().is_terminal();
        Self { is_shown, stages: Mutex::new(Stages { bar: ProgressBar::hidden(), begun: Vec::new() }) }
    }

    /// Takes the bar away and gives the seconds of each stage, in order; repeated stages are added up.
    pub fn finish(&self) -> Vec<(String, f64)> {
        let stages = self.lock();
        stages.bar.finish_and_clear();
        let ends = stages.begun.iter().skip(1).map(|(_, time)| *time).chain([Instant::now()]);
        let mut seconds: Vec<(String, f64)> = Vec::new();
        for ((name, begin), end) in stages.begun.iter().zip(ends) {
            let spent = (end - *begin).as_secs_f64();
            match seconds.iter_mut().find(|(known, _)| known == name) {
                Some((_, sum)) => *sum += spent,
                None => seconds.push((name.clone(), spent)),
            }
        }
        seconds
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Stages> {
        self.stages.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Progress for Terminal {
    fn stage(&self, name: &str, total: Option<u64>) {
        let mut stages = self.lock();
        stages.begun.push((name.to_string(), Instant::now()));
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
        // Drawn at the first tick: a stage that ends before never shows.
        bar.enable_steady_tick(Duration::from_millis(200));
        stages.bar = bar;
    }

    fn advance(&self, steps: u64) {
        if self.is_shown {
            self.lock().bar.inc(steps);
        }
    }

    fn cancelled(&self) -> bool {
        INTERRUPTED.load(Ordering::Relaxed)
    }
}
