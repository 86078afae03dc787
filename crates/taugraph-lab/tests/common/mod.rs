//! Running the program as people do.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A temporary folder, deleted after the test.
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

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        std::fs::write(self.file(name), contents).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap()
    }

    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// The program in this folder, with blank-separated arguments, `cache` for downloads and no other folder of datasets.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taugraph-lab"));
        command
            .args(line.split_whitespace())
            .current_dir(self.path())
            .env_remove("TAUGRAPH_DATA")
            .env("TAUGRAPH_CACHE", self.file("cache"))
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, line: &str) -> Done {
        self.command(line).output().unwrap().into()
    }

    /// Runs it and expects success; returns standard output.
    pub fn ok(&self, line: &str) -> String {
        let done = self.run(line);
        assert_eq!(done.code, Some(0), "{line}: {}", done.err);
        done.out
    }
}

/// How a run ended.
pub struct Done {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// The folder with the real files. Without it, reports on standard error what is not tested: `eprintln!` would be captured, because a
/// skipped test passes.
pub fn real_files(skipped: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("TAUGRAPH_DATA").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    if folder.is_none() {
        let line = format!("\nSKIPPED, TAUGRAPH_DATA is not set: {skipped}\n");
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
    folder
}
