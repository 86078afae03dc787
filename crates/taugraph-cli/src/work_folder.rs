//! The folder in which a long run keeps its finished stages, so that the same command goes on after it was killed.
//!
//! Only new and empty folders and our own are used. Ours has a description, which says which run it belongs to and carries a
//! hash, like every stage: what does not verify is not believed.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use taugraph::arrays::Arrays;
use taugraph::checkpoint::Checkpoints;
use taugraph_io::faults::{self, Operation};
use taugraph_io::{Budget, is_part, open_own, remove_stale_parts, replace_file};

use crate::failure::{Failure, Outcome};
use crate::report::say;
use crate::settings::Settings;
use crate::stage_file::{MARK, Unusable, read_stage, write_stage};

/// Says which run the folder belongs to.
const DESCRIPTION: &str = "run.json";
/// More than any description has: the rest of a larger file is not read.
const MAX_DESCRIPTION: u64 = 1 << 24;
/// Held while a run uses the folder. It is always empty.
const LOCK: &str = "lock";
/// What the names of stages end with.
const STAGE: &str = ".stage";

/// A folder of finished stages.
pub struct WorkFolder {
    path: PathBuf,
    /// Written into every stage: what is found with another one is not ours.
    run: String,
    memory_limit: Option<u64>,
    _lock: File,
}

impl WorkFolder {
    /// Takes the folder for the run that these settings describe; an empty or new folder, or one of the same run.
    pub fn open(path: &Path, settings: &Settings, memory_limit: Option<u64>) -> Outcome<Self> {
        let is_read_once = |file: &Path| file.exists() && !file.is_file() || file.as_os_str() == "-";
        if settings.pairs.files().chain([settings.input.file.as_path()]).any(is_read_once) {
            let message =
                "--checkpoints needs files, which can be read again; not standard input or a device";
            return Err(Failure::Usage(message.into()));
        }
        Self::of_run(path, describe(settings)?.to_string(), memory_limit)
    }

    fn of_run(path: &Path, run: String, memory_limit: Option<u64>) -> Outcome<Self> {
        let folder = Folder(path);
        faults::check(Operation::Create)
            .and_then(|()| std::fs::create_dir_all(path))
            .map_err(|error| folder.failed("the folder cannot be made", error))?;
        // Before anything is written: a folder of somebody else stays as it is.
        folder.description()?;
        let lock = folder.lock()?;
        remove_stale_parts(path);
        let ours = described(&run);
        match folder.description()? {
            Some(known) if known == ours => {}
            Some(_) => {
                return Err(folder.refused(
                    "the folder belongs to a run with other data, parameters or another version; name another folder, \
                     or remove this one",
                ));
            }
            None => replace_file(&path.join(DESCRIPTION), |out| out.write_all(ours.as_bytes()))?,
        }
        Ok(Self { path: path.to_path_buf(), run, memory_limit, _lock: lock })
    }

    fn file(&self, stage: &str) -> PathBuf {
        self.path.join(format!("{stage}{STAGE}"))
    }

    /// The stage, if there is one.
    fn find(&self, stage: &str) -> Option<Result<Arrays<'static>, Unusable>> {
        match open_own(&self.file(stage)) {
            Ok((mut input, size)) => {
                // Reading takes no more memory than the file has bytes.
                let room = Budget::of(self.memory_limit).hold(size, stage);
                let too_large = |error: taugraph_io::Error| Unusable::Damaged(error.to_string());
                Some(room.map_err(too_large).and_then(|_| read_stage(stage, &self.run, &mut input, size)))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => Some(Err(Unusable::Damaged(error.to_string()))),
        }
    }
}

/// A folder that may be anybody's.
struct Folder<'a>(&'a Path);

impl Folder<'_> {
    fn said(&self, what: &str) -> String {
        format!("--checkpoints {}: {what}", self.0.display())
    }

    fn refused(&self, what: &str) -> Failure {
        Failure::Usage(self.said(what))
    }

    fn failed(&self, what: &str, error: std::io::Error) -> Failure {
        Failure::Output(self.said(&format!("{what}: {error}")))
    }

    /// The description, whole; none in a folder that is empty or has lost its description. Every other folder is refused.
    fn description(&self) -> Outcome<Option<String>> {
        let mut known = Vec::new();
        let read = open_own(&self.0.join(DESCRIPTION))
            .and_then(|(input, _)| input.take(MAX_DESCRIPTION).read_to_end(&mut known));
        match read {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return self.refuse_foreign().map(|()| None);
            }
            Err(error) => return Err(self.failed("its description, run.json, cannot be read", error)),
        }
        let text = String::from_utf8(known).ok();
        match text.filter(|text| is_whole(text)) {
            Some(text) => Ok(Some(text)),
            None => {
                // A description of another program would be refused for what is beside it, or stay.
                self.refuse_foreign()?;
                Err(self.refused(
                    "its description, run.json, is damaged, or not of taugraph; if the folder is of taugraph, remove run.json: \
                     the stages that are whole are used again",
                ))
            }
        }
    }

    /// Refuses a folder in which there is anything that is not ours.
    fn refuse_foreign(&self) -> Outcome<()> {
        let unreadable = |error| self.failed("the folder cannot be read", error);
        for entry in std::fs::read_dir(self.0).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            let is_ours = match name.as_str() {
                LOCK => entry.metadata().is_ok_and(|data| data.len() == 0),
                DESCRIPTION => true,
                name if is_part(name) => true,
                name => name.ends_with(STAGE) && begins_as_stage(&entry.path()),
            };
            if !(is_file && is_ours) {
                return Err(self.refused(&format!(
                    "the folder holds '{name}', which is not of taugraph; name an empty or a new folder"
                )));
            }
        }
        Ok(())
    }

    /// Takes the lock. An existing file is neither changed nor followed to another place.
    fn lock(&self) -> Outcome<File> {
        let failed = |error| self.failed("it cannot be locked", error);
        let path = self.0.join(LOCK);
        let mut open = OpenOptions::new();
        open.read(true).write(true);
        let lock = match path.symlink_metadata() {
            Ok(data) if data.is_file() => open.open(&path),
            Ok(_) => return Err(self.refused("its 'lock' is not a file of taugraph; name another folder")),
            Err(_) => {
                faults::check(Operation::Create).and_then(|()| match open.create_new(true).open(&path) {
                    // Another run was faster.
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                        OpenOptions::new().read(true).write(true).open(&path)
                    }
                    made => made,
                })
            }
        };
        let lock = lock.map_err(failed)?;
        faults::check(Operation::Lock).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => Ok(lock),
            Err(TryLockError::WouldBlock) => {
                Err(Failure::Output(self.said("another run is using the folder")))
            }
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

fn begins_as_stage(path: &Path) -> bool {
    let mut start = [0; MARK.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == MARK
}

/// The text of the description: the run and its hash.
fn described(run: &str) -> String {
    format!("{{\"run\":{run},\"sha256\":\"{}\"}}\n", hex(&Sha256::digest(run)))
}

/// Whether a description is as it was written.
fn is_whole(text: &str) -> bool {
    let value: Option<Value> = serde_json::from_str(text).ok();
    value.as_ref().and_then(|value| value.get("run")).is_some_and(|run| described(&run.to_string()) == text)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Everything that decides the results: the program, the settings, the contents of the files.
fn describe(settings: &Settings) -> Outcome<Value> {
    let (size, hash) = contents(&settings.input.file)?;
    let pairs = settings.pairs.files().map(contents).collect::<Outcome<Vec<_>>>()?;
    let settings = serde_json::to_value(settings).map_err(|error| Failure::Computation(error.to_string()))?;
    Ok(json!({
        "program": concat!("taugraph ", env!("CARGO_PKG_VERSION")),
        "file_bytes": size,
        "file_sha256": hash,
        "pairs_sha256": pairs.into_iter().map(|(_, hash)| hash).collect::<Vec<_>>(),
        "settings": settings,
    }))
}

/// Bytes of a file, and a hash of them.
fn contents(path: &Path) -> Outcome<(u64, String)> {
    let unreadable = |error: &dyn std::fmt::Display| Failure::Input(format!("{}: {error}", path.display()));
    let mut file = File::open(path).map_err(|error| unreadable(&error))?;
    let (mut size, mut hash) = (0u64, Sha256::new());
    let mut block = vec![0; 1 << 20];
    loop {
        match file.read(&mut block).map_err(|error| unreadable(&error))? {
            0 => return Ok((size, hex(&hash.finalize()))),
            read => {
                size += read as u64;
                hash.update(&block[..read]);
            }
        }
    }
}

impl Checkpoints for WorkFolder {
    fn load(&self, stage: &str) -> Option<Arrays<'static>> {
        match self.find(stage)? {
            Ok(arrays) => Some(arrays),
            Err(problem) => {
                say(&format!("note: the stage '{stage}' {problem} and is computed again\n"));
                None
            }
        }
    }

    fn save(&self, stage: &str, arrays: &Arrays<'_>) {
        let written = replace_file(&self.file(stage), |out| write_stage(stage, &self.run, arrays, out));
        if let Err(error) = written {
            say(&format!("note: the stage '{stage}' could not be kept: {error}\n"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(path: &Path, seed: u64) -> Outcome<WorkFolder> {
        WorkFolder::of_run(path, json!({ "seed": seed, "share": 0.1 }).to_string(), None)
    }

    fn sample() -> Arrays<'static> {
        let mut arrays = Arrays::new();
        arrays.put("labels", None, vec![3u32, 1, 2]);
        arrays
    }

    fn refusal(path: &Path) -> String {
        match open(path, 1) {
            Err(Failure::Usage(message)) => message,
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("the folder was taken"),
        }
    }

    #[test]
    fn stages_are_kept_for_the_same_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/work");
        let work = open(&path, 1).unwrap();
        assert!(work.load("clusters").is_none());
        work.save("clusters", &sample());
        assert_eq!(work.load("clusters"), Some(sample()));
        assert!(matches!(open(&path, 1), Err(Failure::Output(_))), "it is in use");
        drop(work);
        assert_eq!(open(&path, 1).unwrap().load("clusters"), Some(sample()));
        assert!(matches!(open(&path, 2), Err(Failure::Usage(_))));
        std::fs::write(path.join(".taugraph-dead00.part"), b"half").unwrap();
        std::fs::write(path.join("notes.txt"), b"mine").unwrap();
        let work = open(&path, 1).unwrap();
        assert!(!path.join(".taugraph-dead00.part").exists() && path.join("notes.txt").exists());
        // A stage of another run, a renamed stage, a damaged one.
        let other = open(&folder.path().join("other"), 2).unwrap();
        other.save("clusters", &sample());
        std::fs::copy(other.file("clusters"), work.file("clusters")).unwrap();
        assert_eq!(work.find("clusters"), Some(Err(Unusable::OfAnotherRun)));
        work.save("clusters", &sample());
        std::fs::rename(work.file("clusters"), work.file("embedding")).unwrap();
        assert!(work.find("clusters").is_none());
        assert!(matches!(work.find("embedding"), Some(Err(Unusable::Damaged(_)))));
    }

    /// Of runs that begin at the same time in a new folder one gets it, and the others are told why they do not.
    #[test]
    fn one_of_many_runs_gets_a_new_folder() {
        let folder = tempfile::tempdir().unwrap();
        for round in 0..40 {
            let path = folder.path().join(round.to_string());
            let at_once = std::sync::Barrier::new(8);
            let opened: Vec<Outcome<WorkFolder>> = std::thread::scope(|scope| {
                let run = || {
                    at_once.wait();
                    open(&path, 1)
                };
                let runs: Vec<_> = (0..8).map(|_| scope.spawn(run)).collect();
                runs.into_iter().map(|run| run.join().unwrap()).collect()
            });
            assert_eq!(opened.iter().filter(|opened| opened.is_ok()).count(), 1);
            for failure in opened.iter().filter_map(|opened| opened.as_ref().err()) {
                assert!(failure.to_string().contains("another run is using the folder"), "{failure}");
            }
        }
    }

    #[test]
    fn large_files_are_hashed_as_a_whole() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let bytes: Vec<u8> = (0..2_500_000u32).map(|at| (at.wrapping_mul(at) >> 7) as u8).collect();
        std::fs::write(file.path(), &bytes).unwrap();
        assert_eq!(contents(file.path()).unwrap(), (2_500_000, hex(&Sha256::digest(&bytes))));
    }

    #[test]
    fn a_damaged_description_is_refused_until_it_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        open(path, 1).unwrap().save("clusters", &sample());
        let description = path.join(DESCRIPTION);
        let whole = std::fs::read(&description).unwrap();
        for place in 0..whole.len() {
            for bit in 0..8 {
                let mut bytes = whole.clone();
                bytes[place] ^= 1 << bit;
                std::fs::write(&description, &bytes).unwrap();
                let said = refusal(path);
                assert!(said.contains("is damaged") && said.contains("remove run.json"), "{said}");
            }
            std::fs::write(&description, &whole[..place]).unwrap();
            assert!(refusal(path).contains("is damaged"));
        }
        std::fs::remove_file(&description).unwrap();
        assert_eq!(open(path, 1).unwrap().load("clusters"), Some(sample()));
    }

    #[test]
    fn folders_of_others_stay_as_they_are() {
        for (name, bytes) in [
            ("lock", "of another program"),
            ("notes.txt", ""),
            ("clusters.stage", "an actor"),
            ("run.json", "{\"run\": 7}"),
            (".hidden", ""),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            let said = refusal(folder.path());
            assert!(said.contains("not of taugraph"), "{said}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), bytes);
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was added");
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("lock")).unwrap();
        assert!(refusal(folder.path()).contains("'lock'"));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("data");
        std::fs::write(&target, b"").unwrap();
        for name in ["lock", "run.json", "clusters.stage"] {
            for to in [target.clone(), folder.path().join("nothing")] {
                let work = folder.path().join("work");
                std::fs::create_dir(&work).unwrap();
                symlink(&to, work.join(name)).unwrap();
                assert!(open(&work, 1).is_err(), "{name}");
                assert_eq!(std::fs::read_dir(&work).unwrap().count(), 1, "nothing was added");
                assert!(!folder.path().join("nothing").exists());
                std::fs::remove_dir_all(&work).unwrap();
            }
        }
        // A lock, or a stage, that is replaced by a link later.
        let work = folder.path().join("work");
        open(&work, 1).unwrap().save("clusters", &sample());
        std::fs::write(&target, b"data").unwrap();
        std::fs::remove_file(work.join("clusters.stage")).unwrap();
        symlink(&target, work.join("clusters.stage")).unwrap();
        let again = open(&work, 1).unwrap();
        assert!(again.load("clusters").is_none());
        again.save("clusters", &sample());
        assert_eq!(again.load("clusters"), Some(sample()));
        drop(again);
        std::fs::remove_file(work.join(LOCK)).unwrap();
        symlink(&target, work.join(LOCK)).unwrap();
        assert!(refusal(&work).contains("'lock'"));
        assert_eq!(std::fs::read(&target).unwrap(), b"data");
    }
}
