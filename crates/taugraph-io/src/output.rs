//! Files written completely or not at all.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};
use crate::faults::{self, Operation, Watched};
use crate::parts::Part;

/// What this process has written completely.
static WRITTEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// Whether there is no standard output.
static STDOUT_IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// The outputs that this process has written completely, in order; not what goes to [`replace_file`].
pub fn written() -> Vec<String> {
    WRITTEN.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
}

/// From now on standard output is refused: the process was started without one, and what is written there would be lost.
pub fn refuse_stdout() {
    STDOUT_IS_CLOSED.store(true, Ordering::Relaxed);
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
        let Output::File(path) = self else { return check_stdout() };
        let refused = |source| Error::Write { path: path.clone(), source };
        match path.metadata() {
            Ok(data) if data.is_dir() => {
                Err(refused(std::io::Error::new(std::io::ErrorKind::IsADirectory, "it is a folder")))
            }
            Ok(data) if !data.is_file() => {
                OpenOptions::new().write(true).open(path).map(drop).map_err(refused)
            }
            _ => Part::beside(path).map(drop).map_err(refused),
        }
    }

    /// Writes what `body` writes. A file appears complete, or stays as it was; names ending in `.gz` and `.zst` are
    /// compressed.
    pub fn write(&self, body: impl FnOnce(&mut (dyn Write + Send)) -> std::io::Result<()>) -> Result<()> {
        match self {
            Output::Stdout => {
                check_stdout()?;
                let mut out = BufWriter::new(Watched(stdout().map_err(Error::Stdout)?));
                body(&mut out).and_then(|()| out.flush()).map_err(Error::Stdout)?;
            }
            Output::File(path) => {
                let write = |file: &File| compressed(path, file, body);
                write_file(path, write).map_err(|source| Error::Write { path: path.clone(), source })?;
            }
        }
        WRITTEN.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(self.to_string());
        Ok(())
    }
}

/// Standard output as a file: the standard library takes one that cannot be written for one that takes everything.
#[cfg(unix)]
fn stdout() -> std::io::Result<File> {
    use std::os::fd::AsFd;
    Ok(File::from(std::io::stdout().as_fd().try_clone_to_owned()?))
}

#[cfg(not(unix))]
fn stdout() -> std::io::Result<std::io::Stdout> {
    Ok(std::io::stdout())
}

fn check_stdout() -> Result<()> {
    match STDOUT_IS_CLOSED.load(Ordering::Relaxed) {
        false => Ok(()),
        true => Err(Error::Stdout(std::io::Error::other("it is closed; name a file with --output"))),
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
    let part = Part::beside(&target)?;
    write(part.file())?;
    // Rewriting a file keeps its permissions.
    if let Ok(before) = target.metadata() {
        part.file().set_permissions(before.permissions())?;
    }
    part.rename(&target)
}

/// Writes a file of the program itself, completely or not at all. In the place of a link there is a file afterwards.
pub fn replace_file(
    path: &Path,
    body: impl FnOnce(&mut (dyn Write + Send)) -> std::io::Result<()>,
) -> Result<()> {
    let write = || {
        let part = Part::beside(path)?;
        let mut out = BufWriter::with_capacity(1 << 18, Watched(part.file()));
        body(&mut out)?;
        out.flush()?;
        drop(out);
        part.rename(path)
    };
    write().map_err(|source| Error::Write { path: path.to_path_buf(), source })
}

/// Opens a file of the program itself; a link is refused.
pub fn open_own(path: &Path) -> std::io::Result<(impl std::io::Read, u64)> {
    let data = path.symlink_metadata()?;
    if !data.is_file() {
        return Err(std::io::Error::new(
            std::io::ErrorKind::InvalidInput,
            "it is not a file, but a link or a folder",
        ));
    }
    faults::check(Operation::Read)?;
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    Ok((Watched(file), size))
}

fn compressed(
    path: &Path,
    file: &File,
    body: impl FnOnce(&mut (dyn Write + Send)) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 18, Watched(file));
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
