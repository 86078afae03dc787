//! What can go wrong with a file, with the place and what to do about it.

use std::fmt;
use std::path::PathBuf;

/// The crate's result type.
pub type Result<T> = std::result::Result<T, Error>;

/// A place in a file. Rows and lines are counted from 1, as editors do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A line of a text file, the header included.
    Line(u64),
    /// A row of data.
    Row(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, "line {line}"),
            Place::Row(row) => write!(f, "row {row}"),
        }
    }
}

/// Everything that stops a reader or a writer. `name` is the file, or `standard input`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file does not exist.
    #[error("{name}: there is no such file")]
    NotFound {
        /// The file.
        name: String,
    },
    /// A folder was given.
    #[error("{name} is a folder; give a file")]
    IsFolder {
        /// The folder.
        name: String,
    },
    /// The system refused to read.
    #[error("{name} cannot be read: {source}")]
    Read {
        /// The file.
        name: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is empty.
    #[error("{name} is empty")]
    Empty {
        /// The file.
        name: String,
    },
    /// The file has only a header.
    #[error("{name} has a header, but no rows below it")]
    NoRows {
        /// The file.
        name: String,
    },
    /// A row is longer or shorter than the first.
    #[error(
        "{name}, line {line}: {found} cells, but the first line has {expected}; if the cells look right, check the \
         delimiter (--delimiter) and the quotes"
    )]
    Ragged {
        /// The file.
        name: String,
        /// The line.
        line: u64,
        /// Cells found.
        found: usize,
        /// Cells of the first line.
        expected: usize,
    },
    /// A quote that is never closed.
    #[error("{name}: the row that begins in line {line} has a quote that is never closed")]
    OpenQuote {
        /// The file.
        name: String,
        /// Where the row begins.
        line: u64,
    },
    /// More columns than make sense.
    #[error(
        "{name}: the first line has {found} cells, more than the {most} columns that can be read; is the delimiter \
         right, and are the points in rows?"
    )]
    TooManyColumns {
        /// The file.
        name: String,
        /// Cells found.
        found: usize,
        /// The maximum that can be read.
        most: usize,
    },
    /// Text where numbers are needed.
    #[error("{name}, {place}, column '{column}': '{cell}' is not a number{hint}")]
    NotANumber {
        /// The file.
        name: String,
        /// Where.
        place: Place,
        /// Name of the column.
        column: String,
        /// What is there, shortened.
        cell: String,
        /// What to do.
        hint: &'static str,
    },
    /// Lists of different lengths in one column.
    #[error(
        "{name}, {place}, column '{column}': the list has {found} numbers, but the first one has {expected}; lists of the same length are needed"
    )]
    ListLength {
        /// The file.
        name: String,
        /// Where.
        place: Place,
        /// Name of the column.
        column: String,
        /// Numbers of this list.
        found: usize,
        /// Numbers of the first list.
        expected: usize,
    },
    /// An infinite number.
    #[error("{name}, {place}, column '{column}': the value is infinite; replace it or leave the cell empty")]
    Infinite {
        /// The file.
        name: String,
        /// Where.
        place: Place,
        /// Name of the column.
        column: String,
    },
    /// Text that is not UTF-8.
    #[error("{name}, {place}: the text is not valid UTF-8; save the file as UTF-8")]
    NotUtf8 {
        /// The file.
        name: String,
        /// Where.
        place: Place,
    },
    /// Two columns with the same name.
    #[error("{name}: two columns are called '{column}'; rename one of them")]
    DuplicateColumn {
        /// The file.
        name: String,
        /// The name.
        column: String,
    },
    /// A column that does not exist.
    #[error("{name} has no column '{column}'; it has {known}")]
    UnknownColumn {
        /// The file.
        name: String,
        /// The requested column.
        column: String,
        /// The existing columns, shortened.
        known: String,
    },
    /// A broken or unsupported file.
    #[error("{name} is not a readable {format} file: {problem}")]
    Malformed {
        /// The file.
        name: String,
        /// The format that it should have.
        format: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// The name implies no suitable format.
    #[error("{name}: no format fits this name; {advice}")]
    UnknownFormat {
        /// The file.
        name: String,
        /// Names that would work.
        advice: &'static str,
    },
    /// A format that cannot store this table.
    #[error("{name}: {problem}")]
    CannotHold {
        /// The file.
        name: String,
        /// Why not.
        problem: String,
    },
    /// The file could not be written; whatever was there before is unchanged.
    #[error("{} cannot be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A table could not be stored on disk.
    #[error("{}: there is not enough space for {} MiB on disk: {source}; choose another folder with --scratch", folder.display(), bytes.div_ceil(1 << 20))]
    Scratch {
        /// The folder.
        folder: PathBuf,
        /// Bytes that should have gone there.
        bytes: u64,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file takes more memory than its readers may hold.
    #[error(
        "{name}: reading it takes more than {}; read fewer rows or columns, or allow more with --memory; the numbers of NPY and \
         Parquet files can stay on disk (--features disk)",
        limit(*needed, *allowed)
    )]
    OverBudget {
        /// The file.
        name: String,
        /// Bytes needed, as far as it was read.
        needed: u64,
        /// Bytes allowed; 0 if there was no limit but that of the system.
        allowed: u64,
    },
    /// A format whose numbers are always read into memory.
    #[error("{name}: only points in NPY and Parquet files can stay on disk; convert it to one of them")]
    OnlyInMemory {
        /// The file.
        name: String,
    },
    /// Standard output could not be written.
    #[error("standard output cannot be written: {0}")]
    Stdout(std::io::Error),
}

impl Error {
    /// Whether the reader of our output closed the pipe, which is not an error.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Error::Stdout(source) if source.kind() == std::io::ErrorKind::BrokenPipe)
    }

    /// Whether an output failed rather than an input.
    pub fn is_output(&self) -> bool {
        matches!(
            self,
            Error::Write { .. }
                | Error::Scratch { .. }
                | Error::Stdout(_)
                | Error::CannotHold { .. }
                | Error::UnknownFormat { .. }
        )
    }
}

fn limit(needed: u64, allowed: u64) -> String {
    match allowed {
        0 => format!("the memory there is: {} were not to be had", size(needed)),
        _ => format!("the {} of memory that are allowed: at least {}", size(allowed), size(needed)),
    }
}

/// In whole units, rounded up.
fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..0x10_0000 => format!("{} KiB", bytes.div_ceil(1 << 10)),
        _ => format!("{} MiB", bytes.div_ceil(1 << 20)),
    }
}

/// The first characters of a cell, for a message; control characters are escaped.
pub(crate) fn shortened(cell: &[u8]) -> String {
    const MAX: usize = 40;
    let text = String::from_utf8_lossy(&cell[..cell.len().min(4 * MAX)]);
    let mut visible: String = text.chars().take(MAX).flat_map(char::escape_debug).collect();
    if text.chars().count() > MAX || cell.len() > 4 * MAX {
        visible.push('…');
    }
    visible
}
