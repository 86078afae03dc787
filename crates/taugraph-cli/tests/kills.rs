//! Killed at random moments, the same command ends with the same bytes and leaves nothing behind.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Folder, TAUGRAPH, audit};

const LINE: &str = "cluster points.npy --clusters 3 --stability=2 --quiet --seed 7 -o labels.csv --graph graph.npz \
                    --save-model model.safetensors --embedding embedding.npy --checkpoints work";
const OUTPUTS: [&str; 4] = ["labels.csv", "graph.npz", "model.safetensors", "embedding.npy"];

fn outputs(folder: &Folder) -> Vec<Vec<u8>> {
    OUTPUTS.iter().map(|name| std::fs::read(folder.file(name)).unwrap()).collect()
}

fn names(folder: &Folder) -> Vec<String> {
    let inside = std::fs::read_dir(folder.file("work")).unwrap();
    let inside = inside.map(|entry| format!("work/{}", entry.unwrap().file_name().to_string_lossy()));
    let mut names: Vec<String> = folder.names().into_iter().chain(inside).collect();
    names.sort();
    names
}

#[test]
fn killed_at_random_moments() {
    let folder = Folder::new();
    folder.ok("generate blobs -n 600 --noise 0.3 -o points.npy");
    let begin = Instant::now();
    folder.ok(LINE);
    let whole = begin.elapsed();
    let (expected, all_names) = (outputs(&folder), names(&folder));
    let n_kills = audit(20, 200);
    let (mut state, mut n_unfinished) = (1u64, 0);
    for kill in 0..n_kills {
        std::fs::remove_dir_all(folder.file("work")).unwrap();
        OUTPUTS.iter().for_each(|name| std::fs::remove_file(folder.file(name)).unwrap());
        let mut child = Command::new(TAUGRAPH)
            .args(LINE.split_whitespace())
            .current_dir(folder.path())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        std::thread::sleep(Duration::from_secs_f64(
            whole.as_secs_f64() * ((state >> 40) as f64 / (1 << 24) as f64),
        ));
        child.kill().unwrap();
        n_unfinished += usize::from(!child.wait().unwrap().success());
        // Half of the runs are killed once more while they go on.
        if kill % 2 == 1 {
            let mut child = Command::new(TAUGRAPH)
                .args(LINE.split_whitespace())
                .current_dir(folder.path())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(whole / 4);
            child.kill().unwrap();
            child.wait().unwrap();
        }
        folder.ok(LINE);
        assert!(outputs(&folder) == expected, "kill {kill}");
        assert_eq!(names(&folder), all_names, "kill {kill}");
    }
    println!("{n_kills} kills, {n_unfinished} before the end of the run: same bytes, no stray files");
    assert!(n_unfinished * 2 > n_kills, "{n_unfinished} of {n_kills} came before the end");
}
