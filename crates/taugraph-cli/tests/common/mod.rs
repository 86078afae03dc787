//! Running the program as people do.
#![allow(dead_code)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The program.
pub const TAUGRAPH: &str = env!("CARGO_BIN_EXE_taugraph");

/// A few cases in a test, all of them in `make audit`.
pub fn audit(few: usize, all: usize) -> usize {
    if std::env::var_os("TAUGRAPH_AUDIT").is_some() { all } else { few }
}

/// A folder that goes away with the test.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        std::fs::write(self.file(name), contents).unwrap();
        self.file(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap()
    }

    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Runs the program in this folder, words separated by blanks.
    pub fn run(&self, line: &str) -> Done {
        self.run_with(line, b"")
    }

    pub fn run_with(&self, line: &str, input: &[u8]) -> Done {
        let mut child = Command::new(TAUGRAPH)
            .args(line.split_whitespace())
            .current_dir(self.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let feeder = std::thread::spawn(move || {
            // A program that does not read its input closes it.
            let _ = stdin.write_all(&input);
        });
        let done = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        Done(done)
    }

    /// Runs it and expects success; gives standard output.
    pub fn ok(&self, line: &str) -> String {
        let done = self.run(line);
        assert_eq!(done.code(), 0, "{line}: {}", done.err());
        done.out()
    }

    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }
}

/// How a run ended.
pub struct Done(Output);

impl Done {
    pub fn code(&self) -> i32 {
        self.0.status.code().unwrap_or(-1)
    }

    pub fn out(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).unwrap()
    }

    pub fn err(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).unwrap()
    }
}
