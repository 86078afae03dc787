//! The corpus of the fuzz targets, and small changes of it: the targets find nothing wrong in them.

use std::path::PathBuf;

use crate::targets::{self, TARGETS};

/// Changed versions of each file.
const CHANGES: usize = 400;

fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let files = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// The file with a few bytes changed, left out or repeated, by a fixed sequence.
fn changed(bytes: &[u8], state: &mut u64) -> Vec<u8> {
    let mut next = |below: usize| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as usize % below.max(1)
    };
    let mut bytes = bytes.to_vec();
    for _ in 0..=next(3) {
        let (place, length) = (next(bytes.len()), 1 + next(8));
        let end = bytes.len().min(place + length);
        match next(5) {
            0 if !bytes.is_empty() => bytes[place] ^= 1 << next(8),
            1 if !bytes.is_empty() => bytes[place] = [0, 255, b'9', b'\n', b'"'][next(5)],
            2 => drop(bytes.drain(place..end)),
            3 => {
                let again = bytes[place..end].to_vec();
                bytes.splice(place..place, again);
            }
            _ => bytes.truncate(place),
        }
    }
    bytes
}

#[test]
fn every_target_has_a_corpus_and_takes_it() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), TARGETS.len(), "a program for each target");
    let (mut n_runs, mut state) = (0, 1);
    for (name, _) in TARGETS {
        let run = |bytes: &[u8]| targets::run(name, bytes);
        let files = corpus(name);
        assert!(!files.is_empty(), "{name}");
        for (path, bytes) in files {
            run(&bytes);
            for change in 0..CHANGES {
                let changed = changed(&bytes, &mut state);
                let found = std::panic::catch_unwind(|| run(&changed));
                assert!(found.is_ok(), "{} changed for the {change}th time: {changed:?}", path.display());
            }
            n_runs += 1 + CHANGES;
        }
    }
    println!("{n_runs} runs of {} targets", TARGETS.len());
}
