//! `taugraph-lab labels` and what the program says about itself.

use std::process::Stdio;

use crate::common::Folder;

#[test]
fn a_study_without_its_sets_names_them() {
    let out = Folder::new().ok("labels");
    assert!(
        out.starts_with("\n## Labels") && out.contains("Skipped: these datasets are missing: blood-"),
        "{out}"
    );
}

/// A closed pipe ends the program as SIGPIPE ends others, and nothing is said.
#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let folder = Folder::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let done = folder.command("labels").stdout(Stdio::from(writer)).output().unwrap();
    assert_eq!((done.status.code(), done.stderr.as_slice()), (Some(141), &b""[..]));
}

#[test]
fn every_command_has_help() {
    let folder = Folder::new();
    let help = folder.ok("--help");
    for command in ["paper", "datasets", "labels", "sparse-training", "networks"] {
        assert!(help.contains(command), "{help}");
        assert!(folder.ok(&format!("{command} --help")).contains("Usage: taugraph-lab"), "{command}");
    }
    assert!(help.contains("Exit codes: 0 success"), "{help}");
    assert_eq!(folder.run("paper").code, Some(2));
    assert_eq!(folder.run("table1").code, Some(2));
}
