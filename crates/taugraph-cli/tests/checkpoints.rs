//! `--checkpoints`: a run that was killed goes on from its finished stages and ends with the same bytes.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Folder, TAUGRAPH};

const RUN: &str = "cluster points.npy --clusters 5 --stability=3 --quiet --seed 7";

fn start(folder: &Folder, line: &str) -> Child {
    let words = line.split(' ');
    let child = Command::new(TAUGRAPH).args(words).current_dir(folder.path()).stderr(Stdio::piped()).spawn();
    child.unwrap()
}

fn stages(folder: &Folder, path: &str) -> usize {
    let entries = std::fs::read_dir(folder.file(path)).into_iter().flatten().flatten();
    entries.filter(|entry| entry.path().extension().is_some_and(|name| name == "stage")).count()
}

#[test]
fn killed_after_every_number_of_stages() {
    let folder = Folder::new();
    folder.ok("generate blobs -n 4000 --noise 0.3 -o points.npy");
    folder.ok(&format!("{RUN} -o whole.csv"));
    for n_stages in [1, 3, 5, 7] {
        let line = format!("{RUN} -o killed-{n_stages}.csv --checkpoints work-{n_stages}");
        let mut child = start(&folder, &line);
        let begin = Instant::now();
        while stages(&folder, &format!("work-{n_stages}")) < n_stages && child.try_wait().unwrap().is_none() {
            assert!(begin.elapsed() < Duration::from_secs(60), "no stage was kept");
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        folder.ok(&line);
        assert_eq!(folder.read(&format!("killed-{n_stages}.csv")), folder.read("whole.csv"));
    }
    // Neighbors, quantiles, graph, embedding, clusters and three draws.
    assert_eq!(stages(&folder, "work-1"), 8);
}

#[test]
fn a_folder_belongs_to_one_run() {
    let folder = Folder::new();
    folder.ok("generate moons -n 300 -o points.npy");
    let line = "cluster points.npy --clusters 2 --checkpoints work -o labels.csv";
    folder.ok(line);
    let first = folder.read("labels.csv");
    for other in ["--seed 1 --clusters 2", "--neighbors 12 --clusters 2", "--clusters 3"] {
        let done = folder.run(&line.replace("--clusters 2", other));
        assert_eq!(done.code(), 2, "{}", done.err());
        assert!(done.err().contains("belongs to a run with other"), "{}", done.err());
    }
    // Other data under the same name.
    folder.ok("generate moons -n 301 -o points.npy");
    assert_eq!(folder.run(line).code(), 2);
    folder.ok("generate moons -n 300 -o points.npy");
    folder.ok(line);
    assert_eq!(folder.read("labels.csv"), first);
    let done = folder.run("cluster - --checkpoints work");
    assert!(done.code() == 2 && done.err().contains("standard input"), "{}", done.err());
    std::fs::write(folder.file("file"), b"").unwrap();
    assert_eq!(folder.run("cluster points.npy --checkpoints file").code(), 4);
}

#[cfg(unix)]
#[test]
fn ctrl_c_says_how_to_go_on() {
    let folder = Folder::new();
    folder.ok("generate blobs -n 30000 -o points.npy");
    let line = "cluster points.npy --clusters 5 --stability=50 --checkpoints work -o labels.csv";
    let child = start(&folder, line);
    let begin = Instant::now();
    while stages(&folder, "work") < 3 {
        assert!(begin.elapsed() < Duration::from_secs(60), "no stage was kept");
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let done = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr).to_string();
    assert_eq!(done.status.code(), Some(130), "{said}");
    assert!(said.contains("the same command resumes from there"), "{said}");
    assert!(!folder.file("labels.csv").exists());
}
