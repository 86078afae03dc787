//! Files written completely or not at all.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// Temporary files of active writers.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the temporary files of active writers, for a process that is about to end.
pub fn remove_unfinished() {
    let unfinished = UNFINISHED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    for path in unfinished.iter() {
        // There is nobody left to report an error to.
        let _ = std::fs::remove_file(path);
    }
}

/// Where something is written: a file, or standard output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// A file.
    File(PathBuf),
    /// Standard output, written `-`.
    Stdout,
}

impl Output {
    /// A path, or `-`.
    pub fn new(path: &Path) -> Self {
        if path.as_os_str() == "-" { Output::Stdout } else { Output::File(path.to_path_buf()) }
    }

    /// Checks that it can be written, before hours of work.
    pub fn check(&self) -> Result<()> {
        let Output::File(path) = self else { return Ok(()) };
        let refused = |source| Error::Write { path: path.clone(), source };
        match path.metadata() {
            Ok(data) if data.is_dir() => {
                Err(refused(std::io::Error::new(std::io::ErrorKind::IsADirectory, "it is a folder")))
            }
            Ok(data) if !data.is_file() => {
                OpenOptions::new().write(true).open(path).map(drop).map_err(refused)
            }
            _ => temporary_beside(path).map(drop).map_err(refused),
        }
    }

    /// Writes what `body` writes. A file appears complete, or stays as it was; names ending in `.gz` and `.zst` are
    /// compressed.
    pub fn write(&self, body: impl FnOnce(&mut (dyn Write + Send)) -> std::io::Result<()>) -> Result<()> {
        match self {
            Output::Stdout => {
                let mut out = BufWriter::new(std::io::stdout());
                body(&mut out).and_then(|()| out.flush()).map_err(Error::Stdout)
            }
            Output::File(path) => {
                let write = |file: &File| compressed(path, file, body);
                write_file(path, write).map_err(|source| Error::Write { path: path.clone(), source })
            }
        }
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Output::Stdout => f.write_str("standard output"),
            Output::File(path) => path.display().fmt(f),
        }
    }
}

fn write_file(path: &Path, write: impl FnOnce(&File) -> std::io::Result<()>) -> std::io::Result<()> {
    // Devices and pipes cannot be replaced, only written to.
    if path.metadata().is_ok_and(|data| !data.is_file()) {
        return write(&OpenOptions::new().write(true).open(path)?);
    }
    // A link stays a link: its target is replaced or created.
    let linked = path.read_link().map(|target| path.parent().unwrap_or(Path::new("")).join(target));
    let target = path.canonicalize().or(linked).unwrap_or_else(|_| path.to_path_buf());
    let temporary = temporary_beside(&target)?;
    let guard = Registered::new(temporary.path());
    write(temporary.as_file())?;
    // Rewriting a file keeps its permissions.
    if let Ok(before) = target.metadata() {
        temporary.as_file().set_permissions(before.permissions())?;
    }
    temporary.persist(&target).map_err(|error| error.error)?;
    drop(guard);
    Ok(())
}

fn temporary_beside(path: &Path) -> std::io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".taugraph-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Default permissions, subject to the user's umask.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// A temporary file on the list of those to remove.
struct Registered(PathBuf);

impl Registered {
    fn new(path: &Path) -> Self {
        UNFINISHED.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(path.to_path_buf());
        Self(path.to_path_buf())
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        unfinished.retain(|path| path != &self.0);
    }
}

fn compressed(
    path: &Path,
    file: &File,
    body: impl FnOnce(&mut (dyn Write + Send)) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 18, file);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("gz") => {
            let mut encoder = flate2::write::GzEncoder::new(&mut out, flate2::Compression::default());
            body(&mut encoder)?;
            encoder.finish()?;
        }
        Some("zst") => {
            let mut encoder = zstd::Encoder::new(&mut out, 3)?;
            encoder.include_checksum(true)?;
            body(&mut encoder)?;
            encoder.finish()?;
        }
        _ => body(&mut out)?,
    }
    out.flush()
}
