//! The system fails at every moment, one after the other: a write, a rename, a sync, a map, an allocation; or the program is stopped
//! there. Exit codes are the documented ones, old files stay, nothing is left behind, and the next run gives the same bytes.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{Folder, TAUGRAPH, audit};

/// A command whose every operation fails once.
struct Scenario {
    line: &'static str,
    /// Outputs that are the same in every run.
    same: &'static [&'static str],
    /// An output with times in it, which only has to be whole.
    page: Option<&'static str>,
    /// Whether finished stages are there already.
    resumes: bool,
}

const SCENARIOS: [Scenario; 6] = [
    Scenario {
        line: "cluster points.npy --clusters 2 --quiet -o labels.csv --graph graph.npz --save-model model.safetensors \
               --report page.html --checkpoints work",
        same: &["labels.csv", "graph.npz", "model.safetensors"],
        page: Some("page.html"),
        resumes: false,
    },
    Scenario {
        line: "propagate points.csv --labels label --quiet -o labels.csv --save-model model.safetensors --checkpoints work",
        same: &["labels.csv", "model.safetensors"],
        page: None,
        resumes: false,
    },
    Scenario {
        line: "cluster points.npy --clusters 2 --quiet -o labels.npy --features disk --scratch . --checkpoints work",
        same: &["labels.npy"],
        page: None,
        resumes: false,
    },
    Scenario {
        line: "cluster columns.npy --quiet -o labels.csv.gz --features disk --scratch .",
        same: &["labels.csv.gz"],
        page: None,
        resumes: false,
    },
    Scenario { line: "cluster points.npy --clusters 2 --quiet", same: &[], page: None, resumes: false },
    Scenario {
        line: "cluster points.npy --clusters 2 --stability=1 --quiet -o labels.csv --checkpoints work",
        same: &["labels.csv"],
        page: None,
        resumes: true,
    },
];

/// More commands in which memory runs out: other formats, and a model that is loaded.
const READERS: [Scenario; 4] = [
    Scenario {
        line: "predict known.safetensors points.npy --quiet -o placed.csv",
        same: &["placed.csv"],
        page: None,
        resumes: false,
    },
    Scenario {
        line: "cluster points.parquet --label-column label --clusters 2 --quiet -o labels.parquet",
        same: &["labels.parquet"],
        page: None,
        resumes: false,
    },
    Scenario {
        line: "cluster graph.npz --input graph --clusters 2 --quiet -o labels.csv.zst",
        same: &["labels.csv.zst"],
        page: None,
        resumes: false,
    },
    Scenario {
        line: "cluster points.csv.gz --label-column label --clusters 2 --quiet -o labels.tsv",
        same: &["labels.tsv"],
        page: None,
        resumes: false,
    },
];

const OLD: &[u8] = b"what was there before";

fn run(folder: &Path, line: &str, fault: Option<&str>) -> Output {
    let mut command = Command::new(TAUGRAPH);
    command
        .args(line.split_whitespace())
        .current_dir(folder)
        .env("RAYON_NUM_THREADS", "1")
        .stdin(Stdio::null());
    if let Some(fault) = fault {
        command.env("TAUGRAPH_FAIL", fault);
    }
    command.output().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn parts(folder: &Path) -> Vec<String> {
    let work = folder.join("work");
    let inside = if work.exists() { names(&work) } else { Vec::new() };
    names(folder).into_iter().chain(inside).filter(|name| name.starts_with(".taugraph-")).collect()
}

/// The state before a run: the inputs, and an old file in the place of each output.
fn prepare(inputs: &Folder, scenario: &Scenario) -> Folder {
    let folder = Folder::new();
    for name in inputs.names() {
        std::fs::copy(inputs.file(&name), folder.file(&name)).unwrap();
    }
    if scenario.resumes {
        assert!(run(folder.path(), scenario.line, None).status.success());
    }
    for name in scenario.same.iter().copied().chain(scenario.page) {
        folder.write(name, OLD);
    }
    folder
}

fn inputs() -> Folder {
    let inputs = Folder::new();
    inputs.ok("generate moons -n 60 --noise 0.05 -o points.npy");
    inputs.ok("generate moons -n 60 --noise 0.05 -o all.csv");
    // Two labeled rows of each class, the others to be labeled.
    let mut seen = [0; 2];
    let lines = inputs.read("all.csv");
    let mut few = lines.lines().map(|line| match line.rsplit_once(',') {
        Some((point, label)) => {
            let class = usize::from(label == "1");
            seen[class] += usize::from(label != "label");
            if label == "label" || seen[class] <= 2 { line.to_string() } else { format!("{point},") }
        }
        None => line.to_string(),
    });
    let few: Vec<String> = few.by_ref().collect();
    inputs.write("points.csv", few.join("\n") + "\n");
    std::fs::remove_file(inputs.file("all.csv")).unwrap();
    inputs.ok("generate moons -n 60 --noise 0.05 -o points.parquet");
    inputs.ok("generate moons -n 60 --noise 0.05 -o points.csv.gz");
    inputs.ok(
        "cluster points.npy --clusters 2 --quiet -o all.csv --save-model known.safetensors --graph graph.npz",
    );
    std::fs::remove_file(inputs.file("all.csv")).unwrap();
    // Columns one after the other, as Fortran has them: they are turned in the scratch folder.
    let values: Vec<f64> =
        (0..120).map(|i| f64::from(i * 37 % 101) + f64::from(i % 60 / 30) * 500.0).collect();
    let mut bytes = b"\x93NUMPY\x01\x00v\x00".to_vec();
    let header = "{'descr': '<f8', 'fortran_order': True, 'shape': (60, 2), }";
    bytes.extend(format!("{header:<117}\n").bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    inputs.write("columns.npy", bytes);
    inputs
}

/// What a run must give.
struct Expected {
    files: Vec<Vec<u8>>,
    stdout: Vec<u8>,
    names: Vec<String>,
}

impl Scenario {
    fn expected(&self, inputs: &Folder) -> Expected {
        let folder = prepare(inputs, self);
        let done = run(folder.path(), self.line, None);
        assert!(done.status.success(), "{}: {}", self.line, String::from_utf8_lossy(&done.stderr));
        let files = self.same.iter().map(|name| std::fs::read(folder.file(name)).unwrap()).collect();
        Expected { files, stdout: done.stdout, names: names(folder.path()) }
    }

    /// Runs it with a fault; whether the fault happened.
    fn survives(&self, fault: &str, inputs: &Folder, expected: &Expected) -> bool {
        let folder = prepare(inputs, self);
        let done = run(folder.path(), self.line, Some(fault));
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        let what = format!("{fault} in {}: {said}", self.line);
        let is_stop = fault.starts_with("stop");
        let is_memory = fault.starts_with("allocate");
        if !said.contains("fault: ") {
            assert_eq!(done.status.code(), Some(0), "{what}");
            return false;
        }
        match done.status.code() {
            Some(137) => assert!(is_stop, "{what}"),
            // A stage that could not be kept or used: results do not depend on it.
            Some(0) => assert!(!is_stop, "{what}"),
            // The user's own file that cannot be mapped.
            Some(3) => assert!(said.contains("(map)") && said.contains("npy cannot be read"), "{what}"),
            Some(4) => assert!(!is_memory && said.contains("error: "), "{what}"),
            Some(5) => assert!(is_memory && said.contains("error: "), "{what}"),
            _ => panic!("{what} ended with {}", done.status),
        }
        if !is_stop {
            assert_eq!(parts(folder.path()), [""; 0], "{what}");
        }
        for (name, new) in self.same.iter().zip(&expected.files) {
            let bytes = std::fs::read(folder.file(name)).unwrap();
            assert!(bytes == OLD || bytes == *new, "{what}: {name} is neither old nor new");
            assert!(done.status.code() != Some(0) || bytes == *new, "{what}: {name} is old");
        }
        if done.status.code() == Some(0) {
            assert_eq!(done.stdout, expected.stdout, "{what}");
        }
        self.check_page(&folder, done.status.code() != Some(0), &what);
        // The same command again.
        let again = run(folder.path(), self.line, None);
        assert!(again.status.success(), "{what}, then {}", String::from_utf8_lossy(&again.stderr));
        for (name, new) in self.same.iter().zip(&expected.files) {
            assert_eq!(std::fs::read(folder.file(name)).unwrap(), *new, "{what}, then {name}");
        }
        assert_eq!(again.stdout, expected.stdout, "{what}");
        self.check_page(&folder, false, &what);
        assert_eq!(names(folder.path()), expected.names, "{what}");
        assert_eq!(parts(folder.path()), [""; 0], "{what}");
        true
    }

    fn check_page(&self, folder: &Folder, may_be_old: bool, what: &str) {
        if let Some(page) = self.page {
            let bytes = std::fs::read(folder.file(page)).unwrap();
            let is_whole = bytes.trim_ascii_end().ends_with(b"</html>");
            assert!(is_whole || may_be_old && bytes == OLD, "{what}: the page is not whole");
        }
    }

    /// Every number from 1 until there is nothing left to fail; how many there were.
    fn sweep(&self, kind: &str, ending: &str, step: usize, inputs: &Folder, expected: &Expected) -> usize {
        let (next, count) = (AtomicUsize::new(1), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(step, Ordering::SeqCst);
                        if !self.survives(&format!("{kind}:{number}{ending}"), inputs, expected) {
                            break;
                        }
                        count.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        count.into_inner()
    }
}

#[test]
fn every_operation_fails_once() {
    let inputs = inputs();
    for scenario in &SCENARIOS {
        let expected = scenario.expected(&inputs);
        let n = scenario.sweep("any", "", 1, &inputs, &expected);
        println!("{n} operations failed once in: {}", scenario.line);
        assert!(n >= 1, "{}", scenario.line);
    }
}

/// A disk that is full stays full.
#[test]
fn every_operation_fails_from_some_moment_on() {
    let inputs = inputs();
    for scenario in &SCENARIOS {
        let expected = scenario.expected(&inputs);
        let n = scenario.sweep("any", "+", audit(7, 1), &inputs, &expected);
        println!("{n} moments from which all operations failed in: {}", scenario.line);
    }
}

/// Memory is refused once, or from some moment on.
#[test]
fn every_large_allocation_fails() {
    let inputs = inputs();
    for scenario in SCENARIOS.iter().chain(&READERS) {
        let expected = scenario.expected(&inputs);
        let once = scenario.sweep("allocate", "", 1, &inputs, &expected);
        let on = scenario.sweep("allocate", "+", audit(3, 1), &inputs, &expected);
        println!("{once} allocations failed once, {on} times all from there on in: {}", scenario.line);
        assert!(once >= 1 && on >= 1, "{}", scenario.line);
    }
}

#[test]
fn stopped_at_every_operation() {
    let inputs = inputs();
    for scenario in &SCENARIOS {
        let expected = scenario.expected(&inputs);
        let n = scenario.sweep("stop", "", audit(2, 1), &inputs, &expected);
        println!("{n} stops in: {}", scenario.line);
    }
}

#[test]
fn every_kind_of_operation_is_reached() {
    let inputs = inputs();
    let of_kind = |kind: &str, scenario: &Scenario| {
        let folder = prepare(&inputs, scenario);
        let done = run(folder.path(), scenario.line, Some(&format!("{kind}:1")));
        String::from_utf8_lossy(&done.stderr).contains("fault: ")
    };
    for kind in ["create", "lock", "write", "sync", "rename"] {
        assert!(of_kind(kind, &SCENARIOS[0]), "{kind}");
    }
    assert!(of_kind("map", &SCENARIOS[3]), "map");
}
