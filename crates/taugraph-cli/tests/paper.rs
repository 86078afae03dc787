//! `taugraph paper`: a slice of it, its numbers, and going on after a kill.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Folder, TAUGRAPH};

/// NMI of a method on a set in the CSV, for every seed.
fn values(csv: &str, set: &str, method: &str) -> Vec<f64> {
    let start = format!("\"{set}\",\"{method}\",");
    let lines = csv.lines().filter(|line| line.starts_with(&start));
    lines.map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn a_slice_of_table_1_has_the_known_numbers_on_any_threads() {
    let folder = Folder::new();
    let text = folder.ok("paper table1 --slice --output one --threads 1");
    folder.ok("paper table1 --slice --output two --threads 2 --quiet");
    let csv = folder.read("one/table1.csv");
    assert_eq!(csv, folder.read("two/table1.csv"));
    assert!(csv.starts_with("set,method,seed,NMI\n"), "{csv}");
    assert_eq!(csv.lines().count(), 1 + 2 * 9 * 2);
    assert_eq!(values(&csv, "two spirals", "robust"), [1.0, 1.0]);
    let near = |set: &str, method: &str, expected: [f64; 2]| {
        let found = values(&csv, set, method);
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.005), "{set}, {method}: {found:?}");
    };
    near("two spirals", "local scaling", [0.750, 1.000]);
    near("two spirals", "robust's control", [1.000, 1.000]);
    near("two spirals", "k-means", [0.002, 0.000]);
    assert!(values(&csv, "pinwheel", "robust").iter().all(|&nmi| nmi > 0.9));
    assert!(text.contains("| two spirals | z-score |") && text.contains("(0.87)"), "{text}");
    let json = folder.json("one/table1.json");
    assert_eq!(json["cells"].as_array().unwrap().len(), 18);
    assert_eq!(json["cells"][0]["published"], 0.87);
    assert_eq!(folder.read("one/RESULTS.md"), text);
    let done = folder.run("paper table1 --seed 3");
    assert_eq!((done.code(), done.err().contains("seeds of their own")), (2, true), "{}", done.err());
}

/// Killed without warning, it goes on where it stopped and ends with the same bits.
#[test]
fn a_killed_run_goes_on() {
    let folder = Folder::new();
    let line = "paper table1 --slice --quiet --threads 2 --output killed";
    let mut child = Command::new(TAUGRAPH)
        .args(line.split(' '))
        .current_dir(folder.path())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = || {
        let text = std::fs::read_to_string(folder.file("killed/journal.jsonl")).unwrap_or_default();
        text.lines().map(String::from).collect::<Vec<_>>()
    };
    let start = Instant::now();
    while lines().len() < 6 {
        assert!(start.elapsed() < Duration::from_secs(120), "nothing was measured");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = lines();
    assert!(!folder.file("killed/table1.csv").exists());
    folder.ok(line);
    // What had been measured was not measured again: its time is the same.
    assert!(kept[..kept.len() - 1].iter().all(|line| lines().contains(line)));
    folder.ok("paper table1 --slice --quiet --output whole");
    assert_eq!(folder.read("killed/table1.csv"), folder.read("whole/table1.csv"));
}

/// What is missing is said before anything is measured.
#[test]
fn sets_that_are_not_here_are_named_first() {
    let folder = Folder::new();
    let done = Command::new(TAUGRAPH)
        .args(["paper", "table1", "--output", "none"])
        .env_remove("TAUGRAPH_DATA")
        .env("TAUGRAPH_CACHE", folder.file("cache"))
        .current_dir(folder.path())
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(3), "{message}");
    assert!(message.contains("glass") && message.contains("taugraph datasets fetch"), "{message}");
    assert_eq!(folder.read("none/journal.jsonl").lines().count(), 1);
}
