//! Finished measurements, one per line of a file, so that an interrupted run resumes.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use taugraph_io::Output;

use super::experiment::Measured;
use crate::data::Error;

/// Which measurement.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Key {
    /// The experiment.
    pub experiment: String,
    /// The row.
    pub row: String,
    /// The column.
    pub column: String,
    /// The seed.
    pub seed: u64,
}

/// A line of the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Entry {
    /// Which measurement.
    #[serde(flatten)]
    pub key: Key,
    /// Its values.
    pub values: Vec<f64>,
    /// How long it took.
    pub seconds: f64,
}

/// The first line: other versions may measure differently.
#[derive(Serialize, Deserialize, PartialEq)]
struct Head {
    taugraph: String,
}

/// What to do with earlier measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// Use them.
    WhereItStopped,
    /// Drop them.
    Anew,
}

/// The measurements so far.
pub struct Journal {
    path: PathBuf,
    state: Mutex<(HashMap<Key, Measured>, File)>,
}

impl Journal {
    /// Opens the file, or creates it, for this process alone. Lines that cannot be read, such as a truncated last one, are
    /// skipped; a file of another version is started over, and so is any with [`Begin::Anew`].
    pub fn open(path: &Path, begin: Begin) -> Result<Self, Error> {
        let mut file = locked(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|source| Error::Journal { path: path.to_path_buf(), source })?;
        let text = String::from_utf8_lossy(&bytes);
        let head = Head { taugraph: env!("CARGO_PKG_VERSION").to_string() };
        let mut kept = serde_json::to_string(&head).expect("a version is text") + "\n";
        let mut lines = text.lines();
        let is_ours = lines.next().and_then(|line| serde_json::from_str::<Head>(line).ok()) == Some(head);
        let entries: Vec<Entry> = match is_ours && begin == Begin::WhereItStopped {
            true => lines.filter_map(|line| serde_json::from_str(line).ok()).collect(),
            false => Vec::new(),
        };
        entries.iter().for_each(|entry| kept += &line_of(entry));
        if kept != text {
            // Rewritten, so that a truncated line does not precede the next one.
            Output::new(path).write(|out| out.write_all(kept.as_bytes()))?;
            file = locked(path)?;
        }
        let known = entries
            .into_iter()
            .map(|entry| (entry.key, Measured { values: entry.values, seconds: entry.seconds }));
        Ok(Self { path: path.to_path_buf(), state: Mutex::new((known.collect(), file)) })
    }

    /// The result of a measurement, if it was made.
    pub fn get(&self, key: &Key) -> Option<Measured> {
        self.state.lock().expect("no thread panicked").0.get(key).cloned()
    }

    /// Adds one.
    pub fn add(&self, entry: Entry) -> Result<(), Error> {
        let mut state = self.state.lock().expect("no thread panicked");
        let written = state.1.write_all(line_of(&entry).as_bytes());
        written.map_err(|source| Error::Journal { path: self.path.clone(), source })?;
        state.0.insert(entry.key, Measured { values: entry.values, seconds: entry.seconds });
        Ok(())
    }
}

/// The file, for this process alone: two runs would not see each other's measurements.
fn locked(path: &Path) -> Result<File, Error> {
    let failed = |source| Error::Journal { path: path.to_path_buf(), source };
    let file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(error) => Err(failed(std::io::Error::other(format!("another run uses it ({error})")))),
    }
}

fn line_of(entry: &Entry) -> String {
    serde_json::to_string(entry).expect("numbers and text") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_cut_off_is_measured_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let key = |seed| Key { experiment: "e".into(), row: "r \"1\"".into(), column: "c".into(), seed };
        let journal = Journal::open(&path, Begin::WhereItStopped).unwrap();
        for seed in 0..3 {
            let values = vec![0.1 + seed as f64, 1.0 / 3.0];
            journal.add(Entry { key: key(seed), values, seconds: 0.5 }).unwrap();
        }
        drop(journal);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 9]).unwrap();
        let again = Journal::open(&path, Begin::WhereItStopped).unwrap();
        assert_eq!(again.get(&key(1)).unwrap().values, [1.1, 1.0 / 3.0]);
        assert!(again.get(&key(2)).is_none());
        again.add(Entry { key: key(2), values: vec![7.0], seconds: 0.0 }).unwrap();
        drop(again);
        assert_eq!(Journal::open(&path, Begin::WhereItStopped).unwrap().get(&key(2)).unwrap().values, [7.0]);
        // An unreadable line in the middle costs only that line; a second process does not wait.
        let journal = Journal::open(&path, Begin::WhereItStopped).unwrap();
        assert!(Journal::open(&path, Begin::WhereItStopped).is_err());
        drop(journal);
        let text = std::fs::read_to_string(&path).unwrap();
        let spoiled: Vec<String> = text
            .lines()
            .enumerate()
            .map(|(i, line)| if i == 1 { "{σ".into() } else { line.to_string() })
            .collect();
        std::fs::write(&path, spoiled.join("\n")).unwrap();
        let journal = Journal::open(&path, Begin::WhereItStopped).unwrap();
        assert!(journal.get(&key(0)).is_none() && journal.get(&key(2)).is_some());
        drop(journal);
        // Measurements dropped on request are gone.
        drop(Journal::open(&path, Begin::Anew).unwrap());
        assert!(Journal::open(&path, Begin::WhereItStopped).unwrap().get(&key(2)).is_none());
        let journal = Journal::open(&path, Begin::WhereItStopped).unwrap();
        journal.add(Entry { key: key(1), values: vec![1.0], seconds: 0.0 }).unwrap();
        drop(journal);
        // Another version measures again.
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replacen(env!("CARGO_PKG_VERSION"), "0.0.0", 1)).unwrap();
        assert!(Journal::open(&path, Begin::WhereItStopped).unwrap().get(&key(1)).is_none());
    }
}
