//! Damaged stages through the whole program: they are computed again, with a note, and the output has the same bytes.

use crate::common::{Folder, audit};

const LINE: &str = "cluster points.npy --clusters 3 --stability=2 --seed 7 -o labels.csv --graph graph.npz --checkpoints work";

fn outputs(folder: &Folder) -> (Vec<u8>, Vec<u8>) {
    (std::fs::read(folder.file("labels.csv")).unwrap(), std::fs::read(folder.file("graph.npz")).unwrap())
}

fn stages(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(folder.file("work")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let mut stages: Vec<String> = names.filter(|name| name.ends_with(".stage")).collect();
    stages.sort();
    stages
}

#[test]
fn damaged_stages_are_computed_again() {
    let folder = Folder::new();
    folder.ok("generate blobs -n 400 --noise 0.3 -o points.npy");
    folder.ok(LINE);
    let expected = outputs(&folder);
    let stages = stages(&folder);
    assert!(stages.len() >= 5, "{stages:?}");
    let (mut state, mut n_damaged) = (3u64, 0);
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 33) % bound as u64) as usize
    };
    for round in 0..audit(40, 400) {
        let stage = &stages[round % stages.len()];
        let path = folder.file(&format!("work/{stage}"));
        let whole = std::fs::read(&path).unwrap();
        let mut bytes = whole.clone();
        match round / stages.len() % 5 {
            0 => {
                let start = bytes.len().saturating_sub(4096);
                bytes[start..].fill(0);
            }
            1 => {
                let place = below(bytes.len());
                bytes[place] ^= 1 << below(8);
            }
            2 => bytes.truncate(below(bytes.len())),
            3 => {
                let half = bytes.len() / 2;
                bytes[half..].fill(0);
            }
            // Another stage under its name.
            _ => {
                bytes = std::fs::read(folder.file(&format!("work/{}", stages[(round + 1) % stages.len()])))
                    .unwrap()
            }
        }
        if bytes == whole {
            continue;
        }
        std::fs::write(&path, &bytes).unwrap();
        let done = folder.run(LINE);
        let name = stage.trim_end_matches(".stage");
        assert_eq!(done.code(), 0, "round {round}, {stage}: {}", done.err());
        let note = format!("note: the stage '{name}' is damaged");
        assert!(done.err().contains(&note), "round {round}, {stage}: {}", done.err());
        assert!(outputs(&folder) == expected, "round {round}, {stage}");
        assert!(std::fs::read(&path).unwrap() == whole, "round {round}: {stage} is whole again");
        n_damaged += 1;
    }
    println!("{n_damaged} damaged stages, 0 different results");
    // What is whole is used, without a note.
    let done = folder.run(LINE);
    assert!(!done.err().contains("computed again"), "{}", done.err());
}

#[test]
fn stages_of_another_run_are_not_used() {
    let folder = Folder::new();
    folder.ok("generate blobs -n 300 --noise 0.3 -o points.npy");
    folder.ok(LINE);
    let expected = outputs(&folder);
    folder.ok(&LINE.replace("--seed 7", "--seed 8 --neighbors 20").replace("work", "other"));
    for stage in stages(&folder) {
        std::fs::copy(folder.file(&format!("other/{stage}")), folder.file(&format!("work/{stage}"))).unwrap();
    }
    let done = folder.run(LINE);
    assert_eq!(done.code(), 0, "{}", done.err());
    assert!(
        done.err().contains("belongs to a run with other data or parameters and is computed again"),
        "{}",
        done.err()
    );
    assert!(outputs(&folder) == expected);
}

#[test]
fn a_damaged_description_is_refused_with_what_to_do() {
    let folder = Folder::new();
    folder.ok("generate blobs -n 300 --noise 0.3 -o points.npy");
    folder.ok(LINE);
    let expected = outputs(&folder);
    let whole = folder.read("work/run.json");
    folder.write("work/run.json", whole.replace("\"seed\":7", "\"seed\":8"));
    let done = folder.run(LINE);
    assert_eq!(done.code(), 2, "{}", done.err());
    assert!(done.err().contains("is damaged") && done.err().contains("remove run.json"), "{}", done.err());
    std::fs::remove_file(folder.file("work/run.json")).unwrap();
    let done = folder.run(LINE);
    assert!(done.code() == 0 && !done.err().contains("computed again"), "{}", done.err());
    assert!(outputs(&folder) == expected);
    assert_eq!(folder.read("work/run.json"), whole);
}

#[test]
fn folders_of_others_are_refused() {
    let folder = Folder::new();
    folder.ok("generate blobs -n 100 -o points.npy");
    std::fs::create_dir(folder.file("mine")).unwrap();
    folder.write("mine/lock", "of another program");
    let done = folder.run("cluster points.npy --checkpoints mine");
    assert!(
        done.code() == 2 && done.err().contains("holds 'lock', which is not of taugraph"),
        "{}",
        done.err()
    );
    assert_eq!(folder.read("mine/lock"), "of another program");
    assert_eq!(std::fs::read_dir(folder.file("mine")).unwrap().count(), 1);
}
