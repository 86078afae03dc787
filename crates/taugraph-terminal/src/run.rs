//! From the first line of a program to its exit code.

use std::panic::{UnwindSafe, catch_unwind, set_hook};
use std::process::ExitCode;
use std::sync::Mutex;

use crate::failure::{Failure, Outcome};
use crate::output::say;
use crate::progress::listen_for_interrupts;
use crate::stdout::refuse_if_closed;
use crate::visible::visible_in_line;

/// The message of the last panic. It is shown to the user only if it gets this far: readers catch those of broken files.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Runs `work` and reports errors on standard error. To be called once, with the name of the program.
pub fn run(program: &str, work: impl FnOnce() -> Outcome<()> + UnwindSafe) -> ExitCode {
    set_hook(Box::new(|info| {
        if let Ok(mut last) = PANIC.lock() {
            *last = Some(info.to_string());
        }
    }));
    listen_for_interrupts();
    refuse_if_closed();
    match catch_unwind(work) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(failure)) => {
            if !matches!(failure, Failure::BrokenPipe) {
                say(&format!("error: {}\n", visible_in_line(&failure.to_string())));
            }
            ExitCode::from(failure.exit_code())
        }
        Err(_) => {
            let message = PANIC.lock().ok().and_then(|mut last| last.take()).unwrap_or_default();
            say(&format!(
                "error: {program} has a bug, please report it with the command you ran:\n{message}\n"
            ));
            ExitCode::from(101)
        }
    }
}
