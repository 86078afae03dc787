//! Files that are being written: their names, and what a killed process left of them.
//!
//! A part is locked as long as its writer lives, however it ends. Whoever writes to the same folder later removes the parts that
//! nobody has locked.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use tempfile::NamedTempFile;

use crate::faults::{self, Operation};

const PREFIX: &str = ".taugraph-";
const SUFFIX: &str = ".part";
/// Attempts to make a part: another process can remove it only between its making and its locking.
const ATTEMPTS: usize = 100;

/// Parts of active writers.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// Folders that were looked through: once in a process is enough.
static TIDIED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn lock<T>(list: &Mutex<T>) -> MutexGuard<'_, T> {
    list.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Removes the temporary files of active writers, for a process that is about to end.
pub fn remove_unfinished() {
    for path in lock(&UNFINISHED).iter() {
        // There is nobody left to report an error to.
        let _ = std::fs::remove_file(path);
    }
}

/// Whether a file of this name is a part.
pub fn is_part(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

/// Removes the parts that dead processes left in a folder.
pub fn remove_stale_parts(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_part)) {
        // Nothing but files is ever made: links are not followed. What cannot be opened or removed belongs to somebody else.
        if entry.file_type().is_ok_and(|kind| kind.is_file())
            && let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// A file that is being written. It goes away unless it is renamed.
pub struct Part {
    file: NamedTempFile,
    _listed: Listed,
}

impl Part {
    /// A new part in the folder of `path`, where parts of dead processes are removed.
    pub fn beside(path: &Path) -> std::io::Result<Self> {
        let folder = folder_of(path);
        if lock(&TIDIED).insert(folder.to_path_buf()) {
            remove_stale_parts(folder);
        }
        for _ in 0..ATTEMPTS {
            faults::check(Operation::Create)?;
            let file = named(folder)?;
            let listed = Listed::new(file.path());
            let part = Self { file, _listed: listed };
            match part.file.as_file().try_lock() {
                // Somebody who is tidying up has it, or has removed it before it was locked.
                Err(TryLockError::WouldBlock) => continue,
                // Some file systems have no locks: then nobody removes parts.
                Ok(()) | Err(TryLockError::Error(_)) => {}
            }
            if part.file.path().symlink_metadata().is_ok() {
                return Ok(part);
            }
        }
        Err(std::io::Error::other("temporary files in its folder are removed as soon as they are made"))
    }

    pub fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Gives the file its name, so that it is there after a power failure, too.
    pub fn rename(self, path: &Path) -> std::io::Result<()> {
        faults::sync(self.file.as_file())?;
        faults::check(Operation::Rename)?;
        self.file.persist(path).map_err(|error| error.error)?;
        sync_folder(folder_of(path))
    }
}

fn named(folder: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Default permissions, subject to the user's umask.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A name is on the disk when its folder is. Some systems and file systems have no such thing.
fn sync_folder(folder: &Path) -> std::io::Result<()> {
    use std::io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    let Ok(folder) = File::open(folder) else { return Ok(()) };
    match faults::sync(&folder) {
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => Ok(()),
        result => result,
    }
}

/// A part on the list of those to remove.
struct Listed(PathBuf);

impl Listed {
    fn new(path: &Path) -> Self {
        lock(&UNFINISHED).push(path.to_path_buf());
        Self(path.to_path_buf())
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        lock(&UNFINISHED).retain(|path| path != &self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn parts_of_the_dead_are_removed_and_those_of_the_living_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let living = Part::beside(&path.join("labels.csv")).unwrap();
        let name = living.file.path().file_name().unwrap().to_str().unwrap().to_string();
        assert!(is_part(&name));
        std::fs::write(path.join(".taugraph-dead12.part"), b"half").unwrap();
        std::fs::write(path.join("mine.part"), b"mine").unwrap();
        std::fs::create_dir(path.join(".taugraph-folder.part")).unwrap();
        remove_stale_parts(path);
        assert_eq!(
            names(path),
            [name.as_str(), ".taugraph-folder.part", "mine.part"].map(String::from).sorted()
        );
        drop(living);
        assert_eq!(names(path), [".taugraph-folder.part", "mine.part"]);
        remove_stale_parts(&path.join("nowhere"));
    }

    #[cfg(unix)]
    #[test]
    fn a_linked_part_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("data"), b"data").unwrap();
        std::os::unix::fs::symlink("data", folder.path().join(".taugraph-x.part")).unwrap();
        remove_stale_parts(folder.path());
        assert_eq!(names(folder.path()), [".taugraph-x.part", "data"]);
    }

    #[test]
    fn writers_that_tidy_up_at_the_same_time_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let path = folder.path();
                scope.spawn(move || {
                    for round in 0..50 {
                        remove_stale_parts(path);
                        let target = path.join(format!("{writer}-{round}"));
                        let part = Part::beside(&target).unwrap();
                        std::io::Write::write_all(&mut part.file(), b"whole").unwrap();
                        part.rename(&target).unwrap();
                    }
                });
            }
        });
        let found = names(folder.path());
        assert_eq!(found.len(), 200);
        assert!(found.iter().all(|name| std::fs::read(folder.path().join(name)).unwrap() == b"whole"));
    }

    trait Sorted {
        fn sorted(self) -> Self;
    }

    impl<const N: usize> Sorted for [String; N] {
        fn sorted(mut self) -> Self {
            self.sort();
            self
        }
    }
}
