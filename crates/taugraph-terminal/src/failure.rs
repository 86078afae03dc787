//! What ends a run early, and with which exit code.

use std::fmt;

/// Why the run failed; each kind has its own exit code.
#[derive(Debug)]
pub enum Failure {
    /// The flags contradict each other or the parameters are out of range: 2, as for unknown flags.
    Usage(String),
    /// The input cannot be read, or cannot be used: 3.
    Input(String),
    /// The output cannot be written: 4.
    Output(String),
    /// The run would need more memory than there is: 5.
    Memory(String),
    /// The computation failed: 1.
    Computation(String),
    /// Ctrl-C: 130.
    Interrupted,
    /// Ctrl-C in a run that can be resumed: 130.
    Paused(String),
    /// The reader of our output closed the pipe before it had everything: 141, as for programs that the signal ends.
    BrokenPipe,
}

/// The result of everything that a program does.
pub type Outcome<T> = Result<T, Failure>;

/// The exit codes, for the help and the manual.
pub const EXIT_CODES: &str = "Exit codes: 0 success, 1 the computation failed, 2 wrong flags or parameters, 3 the input \
cannot be read or used, 4 the output cannot be written, 5 not enough memory, 101 an internal error, 130 interrupted, 141 the \
reader of a pipe went away before it had everything.";

impl Failure {
    /// The exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Computation(_) => 1,
            Failure::Usage(_) => 2,
            Failure::Input(_) => 3,
            Failure::Output(_) => 4,
            Failure::Memory(_) => 5,
            Failure::Interrupted | Failure::Paused(_) => 130,
            Failure::BrokenPipe => 141,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(message)
            | Failure::Input(message)
            | Failure::Output(message)
            | Failure::Memory(message)
            | Failure::Computation(message) => f.write_str(message),
            Failure::Interrupted => f.write_str(&interrupted(&taugraph_io::written())),
            Failure::Paused(message) => {
                write!(f, "{}; {message}", interrupted(&taugraph_io::written()))
            }
            Failure::BrokenPipe => f.write_str("the reader of the output closed the pipe"),
        }
    }
}

/// What is left of an interrupted run.
fn interrupted(written: &[String]) -> String {
    match written {
        [] => "interrupted; nothing was written".into(),
        files => format!("interrupted; complete are only {}", files.join(", ")),
    }
}

impl From<taugraph_io::Error> for Failure {
    fn from(error: taugraph_io::Error) -> Self {
        if error.is_broken_pipe() {
            Failure::BrokenPipe
        } else if let taugraph_io::Error::OverBudget { .. } = error {
            Failure::Memory(error.to_string())
        } else if error.is_output() {
            Failure::Output(error.to_string())
        } else {
            Failure::Input(error.to_string())
        }
    }
}

impl From<taugraph::error::Error> for Failure {
    fn from(error: taugraph::error::Error) -> Self {
        use taugraph::error::Error;
        let message = error.to_string();
        match error {
            Error::Parameter { .. } | Error::UnknownParameter { .. } | Error::ParameterOfOther { .. } => {
                Failure::Usage(message)
            }
            Error::Memory { .. } => Failure::Memory(message),
            Error::Canceled => Failure::Interrupted,
            Error::Scratch { .. } => Failure::Output(message),
            Error::EigenNotConverged { .. }
            | Error::SolveNotConverged { .. }
            | Error::Diverged { .. }
            | Error::Numerical { .. } => Failure::Computation(message),
            Error::TooFewPoints { distinct: 0..=1, .. } => {
                Failure::Input("all points are equal: there is nothing that tells them apart".into())
            }
            Error::TooFewPoints { .. } => Failure::Usage(message),
            // More clusters than points, or fewer than components: the requested number is wrong.
            Error::TooManyClusters { .. } | Error::FewerClustersThanComponents { .. } => {
                Failure::Usage(message)
            }
            _ => Failure::Input(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_run_says_what_it_has_written() {
        assert_eq!(interrupted(&[]), "interrupted; nothing was written");
        let files = ["labels.csv".to_string(), "standard output".to_string()];
        assert_eq!(interrupted(&files), "interrupted; complete are only labels.csv, standard output");
    }
}
