//! `taugraph-lab paper`: a slice of it, its numbers, and resuming after a kill.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{Done, Folder, real_files};

/// NMI of a method on a set in the CSV, for every seed.
fn values(csv: &str, set: &str, method: &str) -> Vec<f64> {
    let start = format!("\"{set}\",\"{method}\",");
    let lines = csv.lines().filter(|line| line.starts_with(&start));
    lines.map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect()
}

/// The same sets, methods and seeds, and numbers that differ by rounding at most.
fn assert_same_numbers(csv: &str, stored: &str) {
    assert_eq!(csv.lines().count(), stored.lines().count());
    assert_eq!(csv.lines().next(), stored.lines().next());
    for (line, expected) in csv.lines().zip(stored.lines()).skip(1) {
        // Names are quoted and may have commas; the seed and the numbers follow the last quote.
        let (name, numbers) = line.rsplit_once('"').unwrap();
        let (known, expected) = expected.rsplit_once('"').unwrap();
        assert_eq!(name, known);
        let parsed =
            |text: &str| text.split(',').skip(1).map(|cell| cell.parse().unwrap()).collect::<Vec<f64>>();
        let (numbers, expected) = (parsed(numbers), parsed(expected));
        let is_near = numbers.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 5e-6);
        assert!(numbers.len() == expected.len() && is_near, "{name}: {numbers:?} is not {expected:?}");
    }
}

#[test]
fn a_slice_of_table_2_has_the_stored_numbers() {
    let Some(real) = real_files("the slice of Table 2 was not compared with the stored numbers") else {
        return;
    };
    let folder = Folder::new();
    let mut command = folder.command("paper table2 --slice --quiet --output two");
    let done = Done::from(command.env("TAUGRAPH_DATA", real).output().unwrap());
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_same_numbers(&folder.read("two/table2.csv"), include_str!("stored/table2-slice.csv"));
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
    assert_same_numbers(&csv, include_str!("stored/table1-slice.csv"));
    let done = folder.run("paper table1 --seed 3");
    assert_eq!((done.code, done.err.contains("'--seed'")), (Some(2), true), "{}", done.err);
}

/// Killed without warning, it resumes and ends with the same bits.
#[test]
fn a_killed_run_goes_on() {
    let folder = Folder::new();
    let line = "paper table1 --slice --quiet --threads 2 --output killed";
    let mut child = folder.command(line).stderr(Stdio::null()).spawn().unwrap();
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
    // Finished measurements were not repeated: their times are the same.
    assert!(kept[..kept.len() - 1].iter().all(|line| lines().contains(line)));
    folder.ok("paper table1 --slice --quiet --output whole");
    assert_eq!(folder.read("killed/table1.csv"), folder.read("whole/table1.csv"));
}

/// Missing datasets are reported before anything is measured.
#[test]
fn sets_that_are_not_here_are_named_first() {
    let folder = Folder::new();
    let done = folder.run("paper table1 --output none");
    assert_eq!((done.code, done.out.as_str()), (Some(3), ""), "{}", done.err);
    assert!(done.err.contains("glass") && done.err.contains("taugraph-lab datasets fetch"), "{}", done.err);
    assert_eq!(folder.read("none/journal.jsonl").lines().count(), 1);
}
