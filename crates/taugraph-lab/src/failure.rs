//! How errors of the laboratory end its program.

use taugraph_terminal::failure::Failure;

use crate::{data, datasets};

impl From<datasets::Error> for Failure {
    fn from(error: datasets::Error) -> Self {
        use datasets::Error;
        let message = error.to_string();
        match error {
            Error::Unknown { .. } | Error::BadOrigin { .. } => Failure::Usage(message),
            Error::Write { .. } | Error::NoFolder | Error::Busy { .. } => Failure::Output(message),
            Error::Canceled => Failure::Paused(message),
            _ => Failure::Input(message),
        }
    }
}

impl From<data::Error> for Failure {
    fn from(error: data::Error) -> Self {
        use data::Error;
        match error {
            Error::Library(taugraph::error::Error::Canceled) => Failure::Paused(
                "interrupted; finished measurements are saved, and the same command resumes from there"
                    .into(),
            ),
            Error::Library(error) => error.into(),
            Error::Dataset(error) => error.into(),
            Error::File(error) => error.into(),
            Error::Text(source) => taugraph_io::Error::Stdout(source).into(),
            Error::Journal { .. } => Failure::Output(error.to_string()),
        }
    }
}
