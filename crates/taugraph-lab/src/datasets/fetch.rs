//! Sets from the archive, from a mirror or from a folder, into the cache.

use std::io::Read;
use std::path::{Path, PathBuf};

use taugraph::progress::Progress;
use taugraph_io::Output;

use super::download::{Patience, download};
use super::registry::ARCHIVE;
use super::store::{Presence, Store, check, read_file};
use super::{DatasetInfo, Error, FileInfo, Result};

/// Where files come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The archive of the University of California, Irvine.
    Archive,
    /// A mirror below this address. It may have the layout of the archive, or `<folder>/<file>` as the cache has.
    Mirror(String),
    /// A folder, with the layouts that a mirror may have.
    Folder(PathBuf),
}

/// The result of a fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Where the files are, all of them verified.
    pub folder: PathBuf,
    /// Whether nothing had to be fetched.
    pub was_here: bool,
}

impl Origin {
    /// An address that begins with `http://` or `https://`, or a folder.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = |problem| Err(Error::BadOrigin { text: text.to_string(), problem });
        match text.split_once("://") {
            Some(("http" | "https", "")) => bad("the address has no host"),
            Some(("http" | "https", _)) => Ok(Origin::Mirror(text.to_string())),
            Some(_) => bad("only http:// and https:// addresses, or a folder, can be read"),
            None if Path::new(text).is_dir() => Ok(Origin::Folder(text.into())),
            None => bad("there is no such folder; an address begins with http:// or https://"),
        }
    }
}

/// Gets the missing files of a set, and returns where they are. Progress is counted in bytes; a canceled run keeps
/// what has arrived, and the next one resumes from there.
pub fn fetch(info: &DatasetInfo, origin: &Origin, store: &Store, progress: &dyn Progress) -> Result<Fetched> {
    fetch_with(info, origin, store, progress, &Patience::default())
}

/// [`fetch()`] with other retries and timeouts.
pub fn fetch_with(
    info: &DatasetInfo,
    origin: &Origin,
    store: &Store,
    progress: &dyn Progress,
    patience: &Patience,
) -> Result<Fetched> {
    if let Presence::Here(folder) = store.presence(info) {
        return Ok(Fetched { folder, was_here: true });
    }
    let folder = store.download_folder(info)?;
    let advice = info.note.map_or(String::new(), |note| format!(". {note}"));
    for file in info.files {
        if progress.canceled() {
            return Err(Error::Canceled);
        }
        if let Ok(Some(_)) = read_file(&folder, file) {
            continue;
        }
        match origin {
            Origin::Archive => {
                let reason = info.note.unwrap_or("it is not offered separately.");
                let address =
                    file.address.ok_or(Error::NoAddress { id: info.id, file: file.name, reason })?;
                download(&join(ARCHIVE, address), file, &folder, &advice, progress, patience)?;
            }
            Origin::Mirror(base) => from_mirror(base, info, file, |url| {
                download(url, file, &folder, &advice, progress, patience)
            })?,
            Origin::Folder(source) => copy(source, info, file, &folder, &advice)?,
        }
    }
    Ok(Fetched { folder, was_here: false })
}

/// Possible paths of a file within a mirror, the likelier first.
fn places(info: &DatasetInfo, file: &FileInfo) -> Vec<String> {
    let mut places: Vec<String> = file.address.iter().map(|address| address.to_string()).collect();
    let as_here = format!("{}/{}", info.folder, file.name);
    if !places.contains(&as_here) {
        places.push(as_here);
    }
    places
}

fn join(base: &str, place: &str) -> String {
    format!("{}/{place}", base.trim_end_matches('/'))
}

/// Tries the next path if the previous one is not found.
fn from_mirror(
    base: &str,
    info: &DatasetInfo,
    file: &FileInfo,
    download: impl Fn(&str) -> Result<()>,
) -> Result<()> {
    let mut missing = None;
    for place in places(info, file) {
        match download(&join(base, &place)) {
            Err(error @ Error::Status { status: 404 | 410, .. }) => missing = missing.or(Some(error)),
            done => return done,
        }
    }
    missing.map_or(Ok(()), Err)
}

fn copy(source: &Path, info: &DatasetInfo, file: &FileInfo, folder: &Path, advice: &str) -> Result<()> {
    let places: Vec<PathBuf> = places(info, file).iter().map(|place| source.join(place)).collect();
    let Some(path) = places.iter().find(|path| path.is_file()) else {
        let path = source.join(info.folder).join(file.name);
        return Err(Error::Read { path, source: std::io::ErrorKind::NotFound.into() });
    };
    let unreadable = |source| Error::Read { path: path.clone(), source };
    let mut bytes = Vec::new();
    let open = std::fs::File::open(path).map_err(unreadable)?;
    open.take(file.bytes + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    check(&bytes, file, &path.display().to_string(), || advice.to_string())?;
    let target = folder.join(file.name);
    let unwritable = |source| Error::Write { path: target.clone(), source };
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    Output::new(&target).write(|out| out.write_all(&bytes)).map_err(|error| match error {
        taugraph_io::Error::Write { path, source } => Error::Write { path, source },
        other => unwritable(std::io::Error::other(other.to_string())),
    })
}
