//! Where bytes come from: a file or standard input, compressed or not.

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

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

    /// Opens it and decompresses gzip and zstd, whatever its name.
    pub fn open(&self) -> Result<Box<dyn BufRead + Send>> {
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
            let plain = zstd::Decoder::with_buffer(buffered).map_err(|source| self.unreadable(source))?;
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

    /// The rest of the bytes of an opened source.
    pub(crate) fn rest_of(&self, mut bytes: Box<dyn BufRead + Send>) -> Result<Vec<u8>> {
        let mut all = Vec::new();
        bytes.read_to_end(&mut all).map_err(|error| self.unreadable(error))?;
        Ok(all)
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

/// An early end or broken compression is the file's fault, anything else the system's.
pub(crate) fn unreadable(name: &str, source: std::io::Error) -> Error {
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
            source.open().unwrap().read_to_end(&mut bytes).unwrap();
            assert_eq!(bytes, b"12345");
        }
        assert_eq!(Source::new(folder.path()).size().unwrap(), None);
        assert_eq!(Source::Stdin.size().unwrap(), None);
    }
}
