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

/// Starts the run and kills it; whether that came before its end.
fn killed_after(folder: &Folder, seconds: f64) -> bool {
    let mut child = Command::new(TAUGRAPH)
        .args(LINE.split_whitespace())
        .current_dir(folder.path())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs_f64(seconds));
    child.kill().unwrap();
    !child.wait().unwrap().success()
}

#[test]
fn killed_at_random_moments() {
    let folder = Folder::new();
    folder.ok("generate blobs -n 600 --noise 0.3 -o points.npy");
    let begin = Instant::now();
    folder.ok(LINE);
    let mut seconds = begin.elapsed().as_secs_f64();
    let (expected, all_names) = (outputs(&folder), names(&folder));
    let n_kills = audit(20, 200);
    let (mut state, mut n_unfinished, mut n_again, mut n_tried) = (1u64, 0, 0, 0);
    // Only those count that come before the end of a run.
    while n_unfinished < n_kills {
        n_tried += 1;
        assert!(n_tried <= 5 * n_kills, "{n_unfinished} of {n_tried} kills came before the end");
        std::fs::remove_dir_all(folder.file("work")).unwrap();
        OUTPUTS.iter().for_each(|name| std::fs::remove_file(folder.file(name)).unwrap());
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let share = (state >> 40) as f64 / (1 << 24) as f64;
        let is_unfinished = killed_after(&folder, seconds * share);
        n_unfinished += usize::from(is_unfinished);
        // How long a run takes changes with what else the machine does.
        seconds *= if is_unfinished { 1.05 } else { 0.9 };
        // Half of the runs are killed once more while they go on.
        if n_tried % 2 == 1 {
            n_again += usize::from(killed_after(&folder, seconds * share / 4.0));
        }
        folder.ok(LINE);
        assert!(outputs(&folder) == expected, "kill {n_tried}");
        assert_eq!(names(&folder), all_names, "kill {n_tried}");
    }
    println!(
        "{n_unfinished} kills before the end of a run, {n_again} while it went on: same bytes, no stray files"
    );
}
