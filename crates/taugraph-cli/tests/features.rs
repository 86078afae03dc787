//! Features on disk: the same results, less memory, and nothing left behind.

use crate::common::Folder;
use serde_json::Value;

/// Points with labels in the last column, as every kind of file, and an empty folder for scratch files.
fn folder(points: usize, columns: usize) -> Folder {
    let folder = Folder::new();
    for ending in ["npy", "parquet", "csv"] {
        folder.ok(&format!("generate blobs --points {points} --columns {columns} -o blobs.{ending}"));
    }
    let double = std::fs::read(folder.file("blobs.npy")).unwrap();
    let begin = 10 + u16::from_le_bytes([double[8], double[9]]) as usize;
    let mut values: Vec<f64> =
        double[begin..].chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).collect();
    let width = columns + 1;
    // Copies of rows, and missing cells.
    for row in (10..points).step_by(9) {
        values.copy_within((row - 1) * width..row * width, row * width);
        values[(row - 5) * width + row % columns] = f64::NAN;
    }
    let shape = format!("({points}, {width})");
    let doubles = |values: Vec<f64>| values.into_iter().flat_map(f64::to_le_bytes).collect::<Vec<u8>>();
    let singles: Vec<u8> = values.iter().flat_map(|&value| (value as f32).to_le_bytes()).collect();
    let turned = (0..values.len()).map(|at| values[at % points * width + at / points]).collect();
    folder.write("turned.npy", array("<f8", true, &shape, &doubles(turned)));
    folder.write("single.npy", array("<f4", false, &shape, &singles));
    folder.write("double.npy", array("<f8", false, &shape, &doubles(values)));
    std::fs::create_dir(folder.file("scratch")).unwrap();
    folder
}

fn array(kind: &str, is_fortran: bool, shape: &str, values: &[u8]) -> Vec<u8> {
    let order = if is_fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}");
    let header = format!("{header:117}\n");
    let mut all = b"\x93NUMPY\x01\x00".to_vec();
    all.extend((header.len() as u16).to_le_bytes());
    all.extend(header.as_bytes());
    all.extend(values);
    all
}

/// The JSON without times and memory, and where the features were.
fn report(folder: &Folder, name: &str) -> (Value, String) {
    let mut json = folder.json(name);
    let place = json["input"]["features_are_on"].take();
    for measured in ["seconds", "total", "memory"] {
        json[measured].take();
    }
    (json, place.as_str().unwrap().to_string())
}

fn assert_scratch_is_empty(folder: &Folder) {
    assert_eq!(std::fs::read_dir(folder.file("scratch")).unwrap().count(), 0);
}

#[test]
fn the_same_results_from_disk() {
    let folder = folder(600, 11);
    for (file, flags) in [
        ("double.npy", "--label-column column_12"),
        ("single.npy", "--drop column_12"),
        ("turned.npy", "--label-column column_12 --metric cosine"),
        ("double.npy", ""),
        ("blobs.npy", "--pca 4"),
        ("blobs.parquet", "--label-column label"),
        ("blobs.parquet", "--label-column label --drop x2 --metric manhattan"),
    ] {
        let run = |place: &str| {
            let line =
                format!("cluster {file} {flags} --clusters 5 --stability=2 {place} --json run.json -o a.csv");
            folder.ok(&line);
            (report(&folder, "run.json"), folder.read("a.csv"))
        };
        let ((expected, place), labels) = run("--features memory");
        assert_eq!(place, "memory");
        for threads in [1, 2, 4] {
            let ((found, place), found_labels) =
                run(&format!("--features disk --scratch scratch --threads {threads}"));
            assert_eq!(place, "disk");
            assert!(found == expected && found_labels == labels, "{file} {flags} on {threads} threads");
        }
        assert_scratch_is_empty(&folder);
    }
    let done = folder.run("cluster double.npy --clusters 5 --features disk --scratch scratch");
    assert!(done.err().contains("600 rows, 12 features (on disk)"), "{}", done.err());
}

#[test]
fn from_standard_input_and_for_other_commands() {
    let folder = folder(300, 8);
    let bytes = std::fs::read(folder.file("double.npy")).unwrap();
    let on_disk = folder.run_with("graph - --features disk --scratch scratch", &bytes);
    assert_eq!(on_disk.code(), 0, "{}", on_disk.err());
    assert_eq!(on_disk.out(), folder.ok("graph double.npy --features memory"));
    for line in [
        "evaluate blobs.parquet --label-column label --trials 5",
        "info double.npy",
        "info blobs.parquet --drop label",
    ] {
        // How much memory is available changes all the time.
        let without_memory = |text: String| text.split("memory:").next().unwrap().to_string();
        let found = folder.ok(&format!("{line} --features disk --scratch scratch"));
        assert_eq!(without_memory(found), without_memory(folder.ok(line)), "{line}");
    }
    assert_scratch_is_empty(&folder);
}

/// What is refused in memory passes on disk, and is put there without being asked.
#[test]
fn too_large_for_memory_but_not_for_the_disk() {
    let folder = folder(4000, 300);
    folder.ok("info double.npy --drop column_301 --json info.json");
    let known = &folder.json("info.json")["memory"];
    let limit = known["bytes_with_features_on_disk"].as_u64().unwrap();
    assert!(limit + (10 << 20) < known["bytes"].as_u64().unwrap(), "{known}");
    let line = "cluster double.npy --drop column_301 --clusters 5 --scratch scratch --json run.json -o a.csv";
    folder.ok(&format!("{line} --features memory"));
    let ((expected, _), labels) = (report(&folder, "run.json"), folder.read("a.csv"));
    let refused = folder.run(&format!("{line} --features memory --memory {limit}"));
    assert_eq!(refused.code(), 5, "{}", refused.err());
    assert!(refused.err().contains("--features disk"), "{}", refused.err());
    folder.ok(&format!("{line} --memory {limit}"));
    let (found, place) = report(&folder, "run.json");
    assert_eq!(place, "disk");
    assert!(found == expected && folder.read("a.csv") == labels);
    // Enough for all of it: nothing goes to disk.
    folder.ok(&format!("{line} --memory 8G"));
    assert_eq!(report(&folder, "run.json").1, "memory");
    let text = folder.run(&format!("cluster blobs.csv --drop label --clusters 5 --memory {limit}"));
    assert_eq!(text.code(), 5, "{}", text.err());
    assert!(text.err().contains("text tables stay in memory, NPY and Parquet need not"), "{}", text.err());
    let hopeless = folder.run(&format!("{line} --memory 1M"));
    assert_eq!(hopeless.code(), 5, "{}", hopeless.err());
    assert!(hopeless.err().contains("that is with the features on disk"), "{}", hopeless.err());
    assert_scratch_is_empty(&folder);
}

#[test]
fn what_is_wrong_is_said_and_nothing_is_left() {
    let folder = folder(200, 7);
    let whole = std::fs::read(folder.file("double.npy")).unwrap();
    folder.write("cut.npy", &whole[..5000]);
    folder.write("equal.npy", array("<f4", false, "(50, 2)", &[0; 400]));
    for (line, code, expected) in [
        ("cluster cut.npy", 3, "cut.npy is not a readable NPY file: its header announces 1600 values"),
        ("cluster blobs.csv", 3, "blobs.csv: only points in NPY and Parquet files can stay on disk"),
        ("cluster absent.npy", 3, "absent.npy: there is no such file"),
        ("cluster equal.npy", 3, "all 2 features are constant"),
        ("cluster single.npy --missing error", 3, "the cell is missing"),
        ("cluster single.npy --drop other", 3, "no column 'other'"),
        ("cluster double.npy --input distances", 2, "only points can stay on disk"),
        ("cluster double.npy --scratch nowhere", 4, "nowhere"),
        ("cluster double.npy --memory 1M", 5, "this run needs about"),
    ] {
        let scratch = if line.contains("--scratch") { "" } else { "--scratch scratch" };
        let done = folder.run(&format!("{line} --features disk {scratch}"));
        assert_eq!(done.code(), code, "{line}: {}", done.err());
        assert!(done.err().contains(expected), "{line}: {}", done.err());
        assert_scratch_is_empty(&folder);
    }
}
