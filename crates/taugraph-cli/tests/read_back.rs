//! What the program writes is read by numpy, scipy, pandas, pyarrow and polars; what they write is read by the program.
//!
//! `make test` names the Python with these packages in TAUGRAPH_PYTHON; without it the test says that it skips.

mod common;

use std::process::Command;

use common::Folder;

#[test]
fn python_reads_our_files_and_we_read_its() {
    let Some(python) = std::env::var_os("TAUGRAPH_PYTHON") else {
        eprintln!(
            "skipped: TAUGRAPH_PYTHON does not name a Python with numpy, scipy, pandas, pyarrow and polars"
        );
        return;
    };
    let folder = Folder::new();
    folder.ok("generate blobs --points 400 --blobs 3 --columns 4 --seed 2 --output points.csv");
    for kind in ["csv", "tsv", "csv.gz", "csv.zst", "parquet", "npy"] {
        folder.ok(&format!(
            "cluster points.csv --label-column label --clusters 3 --output labels.{kind} --scales scales.{kind} \
             --embedding embedding.{kind} --json run.json"
        ));
    }
    for kind in ["npz", "mtx", "csv", "parquet"] {
        folder.ok(&format!("graph points.csv --drop label --output graph.{kind}"));
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/read_back.py");
    let done = Command::new(python).arg(script).current_dir(folder.path()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));

    // The files that the script has written hold the same points, or the same graph.
    let expected = folder.ok("cluster points.csv --drop label --clusters 3");
    let files: Vec<String> = String::from_utf8(done.stdout).unwrap().lines().map(String::from).collect();
    assert_eq!(files.len(), 15, "{files:?}");
    for file in files {
        assert_eq!(folder.ok(&format!("cluster {file} --clusters 3")), expected, "{file}");
    }
}
