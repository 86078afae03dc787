//! Where the files of a set are.
//!
//! `TAUGRAPH_DATA/<folder>/<file>` comes first: the user's own folder, which is read but never written. Then the cache, which
//! has the same layout: `TAUGRAPH_CACHE`, or the usual place of the system.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::checksum::sha256;
use super::text::TextFile;
use super::{DatasetInfo, Error, FileInfo, Result};

/// The folders that may contain datasets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    own: Option<PathBuf>,
    cache: Option<PathBuf>,
}

/// Whether a set is available.
#[derive(Debug)]
pub enum Presence {
    /// All files are in this folder, and were verified.
    Here(PathBuf),
    /// Some of it has arrived.
    Partial,
    /// A file exists, but its contents are wrong.
    Altered(Error),
    /// There are no files.
    Absent,
}

impl Store {
    /// The user's own folder, and one for downloads.
    pub fn new(own: Option<PathBuf>, cache: Option<PathBuf>) -> Self {
        Self { own, cache }
    }

    /// From the environment variables.
    pub fn from_environment() -> Self {
        Self::from_variables(|name| std::env::var_os(name), cfg!(windows))
    }

    fn from_variables(variable: impl Fn(&str) -> Option<OsString>, is_windows: bool) -> Self {
        // An empty variable counts as not set.
        let folder = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let usual = || match is_windows {
            true => folder("LOCALAPPDATA").map(|path| path.join("taugraph").join("cache")),
            // As XDG specifies, a relative path is ignored.
            false => folder("XDG_CACHE_HOME")
                .filter(|path| path.is_absolute())
                .or_else(|| folder("HOME").map(|home| home.join(".cache")))
                .map(|path| path.join("taugraph")),
        };
        Self::new(folder("TAUGRAPH_DATA"), folder("TAUGRAPH_CACHE").or_else(usual))
    }

    /// The folder that downloads of a set go to.
    pub fn download_folder(&self, info: &DatasetInfo) -> Result<PathBuf> {
        self.cache.as_ref().map(|cache| cache.join(info.folder)).ok_or(Error::NoFolder)
    }

    /// The verified files of a set, and the folder that contains them.
    pub fn read(&self, info: &DatasetInfo) -> Result<(PathBuf, Vec<TextFile>)> {
        let mut problem = Error::Absent { id: info.id };
        for folder in [&self.own, &self.cache].into_iter().flatten().map(|path| path.join(info.folder)) {
            match info.files.iter().map(|file| read_file(&folder, file)).collect::<Result<Option<Vec<_>>>>() {
                Ok(Some(files)) => return Ok((folder, files)),
                Ok(None) => {}
                // Perhaps the other folder has a correct copy.
                Err(wrong) => problem = wrong,
            }
        }
        Err(problem)
    }

    /// Whether a set is available.
    pub fn presence(&self, info: &DatasetInfo) -> Presence {
        match self.read(info) {
            Ok((folder, _)) => Presence::Here(folder),
            Err(Error::Absent { .. }) if self.has_some(info) => Presence::Partial,
            Err(Error::Absent { .. }) => Presence::Absent,
            Err(problem) => Presence::Altered(problem),
        }
    }

    fn has_some(&self, info: &DatasetInfo) -> bool {
        let Ok(folder) = self.download_folder(info) else { return false };
        info.files.iter().any(|file| folder.join(file.name).exists() || part_path(&folder, file).exists())
    }
}

/// Where a download is collected until it is complete.
pub(super) fn part_path(folder: &Path, file: &FileInfo) -> PathBuf {
    folder.join(format!("{}.part", file.name))
}

/// A file with the right bytes; `None` if there is none.
pub(super) fn read_file(folder: &Path, file: &FileInfo) -> Result<Option<TextFile>> {
    let path = folder.join(file.name);
    let unreadable = |source| Error::Read { path: path.clone(), source };
    let advice = || "; remove it and fetch it again".to_string();
    let found = match path.metadata() {
        Ok(data) => data.len(),
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(unreadable(source)),
    };
    let place = path.display().to_string();
    if found != file.bytes {
        return Err(Error::Length { place, expected: file.bytes, found, advice: advice() });
    }
    let bytes = std::fs::read(&path).map_err(unreadable)?;
    check(&bytes, file, &place, advice)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(TextFile { name: place, text })),
        Err(_) => Err(Error::File { file: place, problem: "the text is not valid UTF-8".into() }),
    }
}

/// An error if the bytes are not those of the registry.
pub(super) fn check(bytes: &[u8], file: &FileInfo, place: &str, advice: impl Fn() -> String) -> Result<()> {
    let place = place.to_string();
    let found = bytes.len() as u64;
    if found != file.bytes {
        return Err(Error::Length { place, expected: file.bytes, found, advice: advice() });
    }
    match sha256(bytes) {
        found if found == file.sha256 => Ok(()),
        found => Err(Error::Altered { place, expected: file.sha256, found, advice: advice() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(variables: &[(&str, &str)], is_windows: bool) -> Store {
        let value =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        Store::from_variables(value, is_windows)
    }

    #[cfg(unix)]
    #[test]
    fn folders_follow_the_environment() {
        let cache = |variables: &[(&str, &str)]| store(variables, false).cache;
        assert_eq!(cache(&[("HOME", "/h")]), Some("/h/.cache/taugraph".into()));
        assert_eq!(cache(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/x")]), Some("/x/taugraph".into()));
        assert_eq!(cache(&[("HOME", "/h"), ("XDG_CACHE_HOME", "x")]), Some("/h/.cache/taugraph".into()));
        let all = [("HOME", "/h"), ("XDG_CACHE_HOME", "/x"), ("TAUGRAPH_CACHE", "/c")];
        assert_eq!(cache(&all), Some("/c".into()));
        assert_eq!(cache(&[("HOME", "")]), None);
        assert_eq!(
            store(&[("LOCALAPPDATA", "/l"), ("HOME", "/h")], true).cache,
            Some("/l/taugraph/cache".into())
        );
        assert_eq!(store(&[("TAUGRAPH_DATA", "/d")], false).own, Some("/d".into()));
        assert_eq!(store(&[("TAUGRAPH_DATA", "")], false), Store::new(None, None));
    }
}
