//! Where bytes come from: a file or standard input, compressed or not.

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::budget::{Budget, Held, Refusal};
use crate::error::{Error, Result};

/// Bytes read at once.
const BUFFER: usize = 1 << 18;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// A file, or standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// Standard input, written `-`.
    Stdin,
}

impl Source {
    /// A path, or `-`.
    pub fn new(path: &Path) -> Self {
        if path.as_os_str() == "-" { Source::Stdin } else { Source::File(path.to_path_buf()) }
    }

    /// Opens it and decompresses gzip and zstd, whatever its name. Their checksums are verified at the end of the bytes: readers have to
    /// read up to there.
    pub fn open(&self, budget: &Budget) -> Result<Box<dyn BufRead + Send>> {
        let raw: Box<dyn Read + Send> = match self {
            Source::Stdin => Box::new(std::io::stdin()),
            Source::File(path) => Box::new(open_file(path, &self.to_string())?),
        };
        let mut buffered = BufReader::with_capacity(BUFFER, raw);
        let start = buffered.fill_buf().map_err(|source| self.unreadable(source))?;
        if start.starts_with(GZIP) {
            let plain = flate2::bufread::MultiGzDecoder::new(buffered);
            return Ok(Box::new(BufReader::with_capacity(BUFFER, plain)));
        }
        if start.starts_with(ZSTD) {
            let plain = Zstd::new(buffered, budget, self)?;
            return Ok(Box::new(BufReader::with_capacity(BUFFER, plain)));
        }
        Ok(Box::new(buffered))
    }

    /// How many bytes [`Source::open`] yields, if known in advance: for a file that is not compressed.
    pub fn size(&self) -> Result<Option<u64>> {
        let Source::File(path) = self else { return Ok(None) };
        match path.metadata() {
            Ok(data) if data.is_file() && !self.is_compressed()? => Ok(Some(data.len())),
            _ => Ok(None),
        }
    }

    /// Whether a file begins like a compressed one; standard input cannot be read twice.
    pub(crate) fn is_compressed(&self) -> Result<bool> {
        let Source::File(path) = self else { return Ok(false) };
        let mut start = Vec::new();
        let file = open_file(path, &self.to_string())?;
        file.take(4).read_to_end(&mut start).map_err(|source| self.unreadable(source))?;
        Ok(start.starts_with(GZIP) || start.starts_with(ZSTD))
    }

    /// The rest of the bytes of an opened source, and what they take.
    pub(crate) fn rest_of(
        &self,
        mut bytes: Box<dyn BufRead + Send>,
        budget: &Budget,
    ) -> Result<(Vec<u8>, Held)> {
        let name = self.to_string();
        let (mut all, mut held) = (Vec::new(), budget.hold(0, &name)?);
        loop {
            let part = bytes.fill_buf().map_err(|error| self.unreadable(error))?;
            let length = part.len();
            if length == 0 {
                return Ok((all, held));
            }
            held.add(length as u64, &name)?;
            budget.reserve(&mut all, length, &name)?;
            all.extend_from_slice(part);
            bytes.consume(length);
        }
    }

    pub(crate) fn unreadable(&self, source: std::io::Error) -> Error {
        unreadable(&self.to_string(), source)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Stdin => f.write_str("standard input"),
            Source::File(path) => path.display().fmt(f),
        }
    }
}

pub(crate) fn open_file(path: &Path, name: &str) -> Result<File> {
    let name = name.to_string();
    match File::open(path) {
        Ok(file) if file.metadata().is_ok_and(|data| data.is_dir()) => Err(Error::IsFolder { name }),
        Ok(file) => Ok(file),
        Err(source) if source.kind() == ErrorKind::NotFound => Err(Error::NotFound { name }),
        Err(source) if source.kind() == ErrorKind::IsADirectory => Err(Error::IsFolder { name }),
        Err(source) => Err(Error::Read { name, source }),
    }
}

/// A zstd decoder with the memory of its window.
struct Zstd<R: BufRead> {
    plain: zstd::Decoder<'static, R>,
    budget: Budget,
    window: u64,
    _held: Held,
}

impl<R: BufRead> Zstd<R> {
    /// A window takes at most an eighth of the budget, and never more than zstd allows without being asked.
    fn new(compressed: R, budget: &Budget, source: &Source) -> Result<Self> {
        let log = budget.share(8, 1 << 27).max(1 << 10).ilog2();
        let (window, failed) = (1 << log, |error| source.unreadable(error));
        let mut plain = zstd::Decoder::with_buffer(compressed).map_err(failed)?;
        plain.window_log_max(log).map_err(failed)?;
        let held = budget.hold(window, &source.to_string())?;
        Ok(Self { plain, budget: budget.clone(), window, _held: held })
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.plain.read(buffer).map_err(|error| match error.to_string().contains("too much memory") {
            // At least twice the largest window: by how much is not said.
            true => self.budget.failed(16 * self.window).into(),
            false => error,
        })
    }
}

/// Reads up to the end of a line, which is included, or of the source.
pub(crate) fn read_line(
    source: &mut impl BufRead,
    line: &mut Vec<u8>,
    held: &mut Held,
    name: &str,
) -> Result<()> {
    line.clear();
    loop {
        let part = source.fill_buf().map_err(|error| unreadable(name, error))?;
        let end = memchr::memchr(b'\n', part);
        let length = end.map_or(part.len(), |end| end + 1);
        // Vectors grow to twice what is in them.
        held.set(2 * (line.len() + length) as u64, name)?;
        line.extend_from_slice(&part[..length]);
        source.consume(length);
        if end.is_some() || length == 0 {
            return Ok(());
        }
    }
}

/// Reads on to the end, where checksums are verified; refuses anything that is still there.
pub(crate) fn expect_end(source: &mut impl Read, name: &str, format: &'static str) -> Result<()> {
    let mut next = [0];
    match source.read(&mut next) {
        Ok(0) => Ok(()),
        Ok(_) => Err(goes_on(name, format)),
        Err(error) if error.kind() == ErrorKind::Interrupted => expect_end(source, name, format),
        Err(error) => Err(unreadable(name, error)),
    }
}

/// The error for bytes after the last value: they may be a second array, which would be lost without a word.
pub(crate) fn goes_on(name: &str, format: &'static str) -> Error {
    let problem =
        "it continues after its last value; if it has several arrays, save each to a file".to_string();
    Error::Malformed { name: name.to_string(), format, problem }
}

/// An early end or broken compression is the file's fault, anything else the system's.
pub(crate) fn unreadable(name: &str, source: std::io::Error) -> Error {
    if let Some(refusal) = Refusal::within(&source) {
        return refusal.of(name);
    }
    let name = name.to_string();
    match source.kind() {
        ErrorKind::UnexpectedEof => {
            let problem = "it ends too early; was it truncated while it was copied?".to_string();
            Error::Malformed { name, format: "compressed", problem }
        }
        ErrorKind::InvalidInput | ErrorKind::InvalidData => {
            Error::Malformed { name, format: "compressed", problem: source.to_string() }
        }
        _ => Error::Read { name, source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Output;

    #[test]
    fn the_size_of_plain_files_is_known() {
        let folder = tempfile::tempdir().unwrap();
        for (name, size) in [("plain", Some(5)), ("x.gz", None), ("x.zst", None)] {
            let path = folder.path().join(name);
            Output::new(&path).write(|out| out.write_all(b"12345")).unwrap();
            let source = Source::new(&path);
            assert_eq!(source.size().unwrap(), size, "{name}");
            let mut bytes = Vec::new();
            source.open(Budget::unlimited()).unwrap().read_to_end(&mut bytes).unwrap();
            assert_eq!(bytes, b"12345");
        }
        assert_eq!(Source::new(folder.path()).size().unwrap(), None);
        assert_eq!(Source::Stdin.size().unwrap(), None);
    }
}
