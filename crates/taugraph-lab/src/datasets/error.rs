//! What can be wrong with a set, with the place and what to do about it.

use std::path::PathBuf;

/// Everything that stops a set from being fetched or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name that no set has.
    #[error("there is no data set '{name}'; {advice}")]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names that are near, or all of them.
        advice: String,
    },
    /// Its files are nowhere.
    #[error("{id} is not here; get it with: taugraph-lab datasets fetch {id}")]
    Absent {
        /// The set.
        id: &'static str,
    },
    /// No folder to keep files in.
    #[error("no folder is known for downloads: set TAUGRAPH_CACHE to one")]
    NoFolder,
    /// Bytes that are not those of the set.
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
    /// The archive has no such file by itself.
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
    /// The run was asked to stop.
    #[error("interrupted; what has arrived is kept, and the same command goes on from there")]
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
    /// A line that is not as it should be.
    #[error("{file}, line {line}: {problem}")]
    Line {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// A file that is not as it should be.
    #[error("{file}: {problem}")]
    File {
        /// The file.
        file: String,
        /// What is wrong.
        problem: String,
    },
}
