//! The folder in which a long run keeps its finished stages, so that the same command goes on after it was killed.

use std::fs::{File, TryLockError};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use taugraph::arrays::Arrays;
use taugraph::checkpoint::Checkpoints;
use taugraph_io::{Budget, Metered, Output, Source};

use crate::failure::{Failure, Outcome};
use crate::report::say;
use crate::settings::Settings;

/// Says which run the folder belongs to.
const DESCRIPTION: &str = "run.json";
/// Held while a run uses the folder.
const LOCK: &str = "lock";

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
        let failed = |what: &str, error: std::io::Error| {
            Failure::Output(format!("--checkpoints {}: {what}: {error}", path.display()))
        };
        let is_read_once = |file: &Path| file.exists() && !file.is_file() || file.as_os_str() == "-";
        if settings.pairs.files().chain([settings.input.file.as_path()]).any(is_read_once) {
            let message =
                "--checkpoints needs files, which can be read again; not standard input or a device";
            return Err(Failure::Usage(message.into()));
        }
        std::fs::create_dir_all(path).map_err(|error| failed("the folder cannot be made", error))?;
        let lock = File::create(path.join(LOCK)).map_err(|error| failed("it cannot be written to", error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let message = format!("--checkpoints {}: another run is using the folder", path.display());
                return Err(Failure::Output(message));
            }
            Err(TryLockError::Error(error)) => return Err(failed("it cannot be locked", error)),
        }
        let run = describe(settings)?.to_string();
        let description = path.join(DESCRIPTION);
        match std::fs::read_to_string(&description) {
            Ok(known) if known == run => {}
            Ok(_) => {
                return Err(Failure::Usage(format!(
                    "--checkpoints {}: the folder belongs to a run with other data, parameters or another version; name \
                     another folder, or remove this one",
                    path.display()
                )));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Output::new(&description).write(|out| out.write_all(run.as_bytes()))?;
            }
            Err(error) => return Err(failed("its description cannot be read", error)),
        }
        Ok(Self { path: path.to_path_buf(), run, memory_limit, _lock: lock })
    }

    fn file(&self, stage: &str) -> PathBuf {
        self.path.join(format!("{stage}.safetensors"))
    }
}

/// Everything that decides the results: the program, the settings, the contents of the files.
fn describe(settings: &Settings) -> Outcome<Value> {
    let (size, hash) = contents(&settings.input.file)?;
    let pairs = settings.pairs.files().map(contents).collect::<Outcome<Vec<_>>>()?;
    let settings = serde_json::to_value(settings).map_err(|error| Failure::Computation(error.to_string()))?;
    Ok(json!({
        "program": concat!("taugraph ", env!("CARGO_PKG_VERSION")),
        "file_bytes": size,
        "file_hash": hash,
        "pair_hashes": pairs.into_iter().map(|(_, hash)| hash).collect::<Vec<_>>(),
        "settings": settings,
    }))
}

/// Bytes of a file, and a hash of them.
fn contents(path: &Path) -> Outcome<(u64, String)> {
    let unreadable = |error: &dyn std::fmt::Display| Failure::Input(format!("{}: {error}", path.display()));
    let mut file = File::open(path).map_err(|error| unreadable(&error))?;
    let (mut size, mut hash) = (0u64, 0xCBF2_9CE4_8422_2325u64);
    let mut block = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut block).map_err(|error| unreadable(&error))?;
        if read == 0 {
            break;
        }
        size += read as u64;
        // FNV-1a (Fowler, Noll, Vo): it tells changed files apart, not forged ones.
        hash = block[..read]
            .iter()
            .fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3));
    }
    Ok((size, format!("{hash:016x}")))
}

impl Checkpoints for WorkFolder {
    fn load(&self, stage: &str) -> Option<Arrays<'static>> {
        let path = self.file(stage);
        if !path.exists() {
            return None;
        }
        let source = Source::new(&path);
        // A stage that cannot be read is computed again.
        let budget = Budget::of(self.memory_limit);
        let (bytes, size) = (source.open(&budget).ok()?, source.size().ok()?);
        drop(budget.hold(size.unwrap_or(0), stage).ok()?);
        let (run, arrays) = Arrays::read(&mut Metered::new(bytes, 1, &budget), size).ok()?;
        (run == self.run).then_some(arrays)
    }

    fn save(&self, stage: &str, arrays: &Arrays<'_>) {
        let written = Output::new(&self.file(stage)).write(|out| Ok(arrays.write(&self.run, out)?));
        if let Err(error) = written {
            say(&format!("note: the stage '{stage}' could not be kept: {error}\n"));
        }
    }
}
