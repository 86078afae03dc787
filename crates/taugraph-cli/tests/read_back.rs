//! What the program writes is read by numpy, scipy, pandas, pyarrow and polars; what they and scikit-learn write is read by the
//! program.
//!
//! `make test` names the Python with these packages in TAUGRAPH_PYTHON; without it the test says that it skips.

use std::process::Command;

use crate::common::Folder;

#[test]
fn python_reads_our_files_and_we_read_its() {
    let Some(python) = std::env::var_os("TAUGRAPH_PYTHON") else {
        eprintln!(
            "skipped: TAUGRAPH_PYTHON does not name a Python with numpy, scipy, scikit-learn, pandas, pyarrow and polars"
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
    let printed = String::from_utf8(done.stdout).unwrap();
    let (tables, sparse) = printed.split_once("sparse:\n").unwrap();
    let (tables, single) = tables.split_once("single:\n").unwrap();
    let files: Vec<String> = tables.lines().map(String::from).collect();
    assert_eq!(files.len(), 18, "{files:?}");
    for file in files {
        assert_eq!(folder.ok(&format!("cluster {file} --clusters 3")), expected, "{file}");
    }

    // Files in single precision hold the same; unscaled, their results have the bits of the same values in double precision.
    let files: Vec<&str> = single.lines().collect();
    assert_eq!(files.len(), 7, "{files:?}");
    let of = |file: &str, flags: &str| {
        let command = format!("cluster {file} --clusters 3 {flags} --scales scales.csv");
        (folder.ok(&command), folder.read("scales.csv"))
    };
    for flags in
        ["--standardize none", "--standardize none --features disk", "--set preparation.precision=double"]
    {
        let wide = of("wide.npy", flags);
        for file in files.iter().filter(|file| !flags.contains("disk") || !file.ends_with("npz")) {
            assert_eq!(of(file, flags), wide, "{file} {flags}");
        }
    }
    let scaled = of("single.npy", "");
    for file in &files[2..] {
        assert_eq!(of(file, ""), scaled, "{file}");
    }
    assert_eq!(of("wide.npy", "--set preparation.precision=single"), scaled);
    let refused = folder.run("cluster ragged.parquet");
    assert_eq!(refused.code(), 3);
    assert!(refused.err().contains("row 6, column 'embedding': the list has 1 numbers"), "{}", refused.err());

    // Sparse points as scipy and scikit-learn write them: all files hold the same.
    let documents: Vec<&str> = sparse.lines().collect();
    let dense = folder.ok("cluster documents.npy --metric cosine --standardize none --clusters 3");
    assert_eq!(documents.len(), 7, "{documents:?}");
    for file in documents {
        assert_eq!(folder.ok(&format!("cluster {file} --clusters 3")), dense, "{file}");
    }
    let scores = folder.ok("compare documents.svm documents-one.svm");
    assert!(scores.contains("nmi                1.0"), "{scores}");

    folder.ok("info types.parquet --id-column id --json types.json");
    let columns = folder.json("types.json")["columns"].clone();
    let column = |place: usize| -> Vec<f64> {
        ["min", "max", "missing"]
            .iter()
            .map(|key| columns[place][*key].as_f64().unwrap_or(f64::NAN))
            .collect()
    };
    assert_eq!(column(1), [4294967256.0, 4294967295.0, 0.0]);
    assert_eq!(column(2), [0.0, 9.75, 0.0]);
    assert_eq!(column(3), [0.0, 4.875, 0.0]);
    assert_eq!(column(4), [0.0, 1.0, 0.0]);
    assert_eq!(column(5), [0.0, 39.0, 1.0]);
    assert_eq!(columns[7]["name"], "list[0]");
    assert_eq!(column(7), [0.0, 39.0, 0.0]);
    for (place, note) in [(6, "(a date or time)"), (8, "'t0'")] {
        assert!(columns[place]["note"].as_str().unwrap().contains(note), "{}", columns[place]);
    }
    let named = folder.ok("cluster types.parquet --id-column id --drop day,list,text --clusters 2");
    assert_eq!(named.lines().nth(2).unwrap().split(',').next(), Some("1152921504606846977"));
}
