//! Standard output and the terminal: results that cannot be delivered are an error, and text from a file cannot control the terminal.
#![cfg(unix)]

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Folder, TAUGRAPH};

fn shell(folder: &Folder, script: &str) -> Output {
    let script = script.replace("taugraph ", &format!("{TAUGRAPH} "));
    Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output().unwrap()
}

fn said(done: &Output) -> String {
    String::from_utf8_lossy(&done.stderr).into_owned()
}

/// The reader goes away after one line: nothing is said, and the exit code is that of a program that SIGPIPE ends.
#[test]
fn a_broken_pipe_is_quiet_but_no_success() {
    let folder = Folder::new();
    let line = "taugraph generate spirals --points 200000 | head -n 1";
    let done = shell(&folder, line);
    assert_eq!((done.status.code(), said(&done).as_str()), (Some(0), ""), "the code is that of head");
    assert_eq!(done.stdout, b"x1,x2,label\n");
    let done = shell(&folder, &format!("set -o pipefail; {line}"));
    assert_eq!((done.status.code(), said(&done).as_str()), (Some(141), ""));
}

#[test]
fn a_standard_output_that_takes_nothing_is_an_error() {
    let folder = Folder::new();
    folder.ok("generate moons -n 100 -o points.npy");
    for (stdout, message) in [(">&-", "it is closed"), ("1</dev/null", ""), (">/dev/full", "")] {
        if stdout == ">/dev/full" && !std::path::Path::new("/dev/full").exists() {
            continue;
        }
        let done = shell(&folder, &format!("taugraph cluster points.npy --quiet {stdout}"));
        assert_eq!(done.status.code(), Some(4), "{stdout}: {}", said(&done));
        let expected = format!("standard output cannot be written: {message}");
        assert!(said(&done).contains(&expected), "{stdout}: {}", said(&done));
    }
    // Nobody who asks for nothing on standard output misses it, and what is thrown away on purpose is no error.
    for stdout in ["-o labels.csv >&-", ">/dev/null", "1<>/dev/null"] {
        let done = shell(&folder, &format!("taugraph cluster points.npy --quiet {stdout}"));
        assert_eq!(done.status.code(), Some(0), "{stdout}: {}", said(&done));
    }
}

#[test]
fn an_interrupted_run_says_what_was_written() {
    let folder = Folder::new();
    folder.ok("generate blobs -n 20000 -o points.npy");
    let line = "cluster points.npy --clusters 5 --output labels.csv --report page.html";
    let child = Command::new(TAUGRAPH)
        .args(line.split(' '))
        .current_dir(folder.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while !folder.file("labels.csv").exists() {
        assert!(begin.elapsed() < Duration::from_secs(120), "no labels were written");
        std::thread::sleep(Duration::from_millis(1));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(130), "{}", said(&done));
    assert!(said(&done).contains("interrupted; complete are only labels.csv"), "{}", said(&done));
    assert_eq!(folder.names(), ["labels.csv", "points.npy"]);
}

/// Everything that a terminal would obey, in names of columns, cells and files.
#[test]
fn text_from_a_file_does_not_control_the_terminal() {
    let folder = Folder::new();
    let mut table = String::from("\u{1b}[31mred,\"two\nlines\",id,label\n");
    for row in 0..60 {
        let (x, y) = (f64::from(row % 7), f64::from(row * 5 % 11) + f64::from(row / 30) * 50.0);
        let label = if row % 30 < 3 { format!("\u{1b}]0;title\u{7}{}", row / 30) } else { String::new() };
        table += &format!("{x},{y},\u{9b}2J{row},{label}\n");
    }
    folder.write("p.csv", &table);
    folder.write("all.csv", table.replace(",\n", ",\u{1b}[2Jother\n"));
    folder.write("bad.csv", "\u{1b}[31mred,b\n1,\u{1b}[2Jx\n2,3\n4,5\n");
    let ids = "--id-column id";
    for (line, code) in [
        (format!("cluster p.csv {ids} --label-column label --explain -o l.csv"), 0),
        (format!("propagate p.csv {ids} --labels label --suggest 3 -o l.csv --save-model m.safetensors"), 0),
        ("predict m.safetensors p.csv --drop id,label -o l.csv".to_string(), 0),
        (format!("evaluate all.csv {ids} --label-column label --trials 3"), 0),
        ("info p.csv".to_string(), 0),
        ("info m.safetensors".to_string(), 0),
        ("cluster p.csv".to_string(), 3),
        ("cluster p.csv --drop nothing".to_string(), 3),
        ("cluster bad.csv".to_string(), 3),
        ("cluster \u{1b}[31m.csv".to_string(), 3),
    ] {
        let done = folder.run(&line);
        assert_eq!(done.code(), code, "{line}: {}", done.err());
        for text in [done.err(), done.out()] {
            let acts = text.chars().find(|letter| letter.is_control() && !"\n\t".contains(*letter));
            assert_eq!(acts, None, "{line}: {text:?}");
            assert!(!text.contains("two\nlines"), "{line}: {text:?}");
        }
    }
}

/// Settings from a file pass the checks that flags pass.
#[test]
fn settings_of_a_file_are_checked_like_flags() {
    let folder = Folder::new();
    folder.ok("generate moons -n 100 -o points.csv");
    folder.ok("cluster points.csv --drop label --json run.json -o labels.csv");
    let run = folder.json("run.json");
    for (path, value, message) in [
        (
            "/settings/input/id_column",
            serde_json::json!("cluster"),
            "a column of the output is called 'cluster'",
        ),
        ("/settings/input/delimiter", serde_json::json!("\u{12c}"), "a delimiter is one character"),
        ("/settings/input/delimiter", serde_json::json!("\n"), "a delimiter is one character"),
        ("/settings/input/delimiter", serde_json::json!("x"), "a delimiter is one character"),
        ("/settings/params/graph/threshold", serde_json::json!(7.5), "graph.threshold = 7.5: must be"),
    ] {
        let mut changed = run.clone();
        *changed.pointer_mut(path).unwrap_or_else(|| panic!("{path} in {run}")) = value;
        folder.write("changed.json", changed.to_string());
        let done = folder.run("cluster --config changed.json");
        // Ranges of parameters are checked as the file is read.
        assert_eq!(done.code(), if path.contains("params") { 3 } else { 2 }, "{path}: {}", done.err());
        assert!(done.err().contains(message), "{path}: {}", done.err());
    }
}
