//! What can go wrong with a dataset, with the place and what to do about it.

use std::path::PathBuf;

/// Everything that stops a set from being fetched or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name that no set has.
    #[error("there is no dataset '{name}'; {advice}")]
    Unknown {
        /// The requested name.
        name: String,
        /// Similar names, or all of them.
        advice: String,
    },
    /// Its files are missing.
    #[error("{id} is not available; get it with: taugraph-lab datasets fetch {id}")]
    Absent {
        /// The set.
        id: &'static str,
    },
    /// No folder for downloads.
    #[error("no folder is known for downloads: set TAUGRAPH_CACHE to one")]
    NoFolder,
    /// Wrong bytes.
    #[error("{place}: the SHA-256 is {found}, but {expected} was expected{advice}")]
    Altered {
        /// File or address.
        place: String,
        /// The one in the registry.
        expected: &'static str,
        /// The one of the bytes.
        found: String,
        /// What to do, or nothing.
        advice: String,
    },
    /// More or fewer bytes than the set has.
    #[error("{place}: there are {found} bytes, but {expected} were expected{advice}")]
    Length {
        /// File or address.
        place: String,
        /// The number in the registry.
        expected: u64,
        /// The number found.
        found: u64,
        /// What to do, or nothing.
        advice: String,
    },
    /// The archive does not offer the file separately.
    #[error(
        "{id}: {file} cannot be downloaded from the archive: {reason} Give a mirror or a folder that has it with --from"
    )]
    NoAddress {
        /// The set.
        id: &'static str,
        /// The file.
        file: &'static str,
        /// Why not.
        reason: &'static str,
    },
    /// Something that is neither an address nor a folder.
    #[error("--from {text}: {problem}")]
    BadOrigin {
        /// What was given.
        text: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The server answered, but not with the file.
    #[error("{url}: the server answered {status}{meaning}")]
    Status {
        /// The address.
        url: String,
        /// The status of HTTP.
        status: u16,
        /// The status in words.
        meaning: &'static str,
    },
    /// The server could not be reached, or the connection broke too often.
    #[error("{url}: {problem}")]
    Transfer {
        /// The address.
        url: String,
        /// What happened.
        problem: String,
    },
    /// Another process has the part file.
    #[error("{} is being fetched by another process", path.display())]
    Busy {
        /// The part file.
        path: PathBuf,
    },
    /// The run was canceled.
    #[error("interrupted; the partial download is kept, and the same command resumes from there")]
    Canceled,
    /// A file that cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file that cannot be written.
    #[error("{} cannot be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A malformed line.
    #[error("{file}, line {line}: {problem}")]
    Line {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// A malformed file.
    #[error("{file}: {problem}")]
    File {
        /// The file.
        file: String,
        /// What is wrong.
        problem: String,
    },
}
