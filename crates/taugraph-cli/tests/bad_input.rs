//! Whatever is wrong, the message says what and where, and the exit code says whose fault it is.

use crate::common::Folder;

/// Three columns, one of them text, one with a missing cell.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("infinite.csv", "a,b\n1,2\n3,inf\n");
    folder.write("text.csv", "a,b\n1,2\n3,four\n");
    folder.write("ragged.csv", "a,b\n1,2\n3,4,5\n");
    folder.write("empty.csv", "");
    folder.write("header.csv", "a,b\n");
    folder.write("one.csv", "a,b\n1,2\n");
    folder.write("equal.csv", "a,b\n".to_string() + &"1,2\n".repeat(30));
    folder.write("twice.csv", "a,a\n1,2\n3,4\n");
    folder.write("missing.csv", "a,b\n1,2\n3,\n5,6\n7,8\n");
    folder.write("latin1.csv", b"a,n\n1,caf\xe9\n2,x\n");
    folder.write(
        "ten.csv",
        (0..10).fold("a,b\n".to_string(), |text, i| text + &format!("{i},{}\n", i * i % 7)),
    );
    folder.write("wide.csv", "1,".repeat(10_000_000) + "1\n");
    folder.write("distances.csv", "0,1,2\n1,0,3\n");
    folder.write("asymmetric.csv", "0,1,2\n1,0,3\n5,3,0\n");
    folder.write("negative.csv", "0,-1,2\n-1,0,3\n2,3,0\n");
    folder.write("asymmetric.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 0.5\n");
    folder.write("negative.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 -0.5\n");
    folder.write("rectangle.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 2 0.5\n");
    folder.write("cut.npy", b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fort");
    folder.write("cut.parquet", b"PAR1\x15\x04\x15");
    folder.write("cut.csv.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b");
    folder.write("labels.csv", "label\n0\n1\n");
    folder.write("clusters.csv", "cluster,x\n1,2\n2,3\n");
    folder.write("open.csv", "a,b\n1,\"x\n2,y\n3,z\n");
    folder.write("comma.csv", "a;b\n0,5;1\n1,5;2\n");
    folder.write("zeros.csv", "0,0\n0,0\n");
    folder.write("config.json", "{\"settings\": {\"sed\": 1}}");
    folder.write("scales.csv", "1\n2\n3\n");
    std::fs::create_dir(folder.file("folder")).unwrap();
    folder
}

#[test]
fn every_fault_has_its_message_and_exit_code() {
    let folder = folder();
    for (line, code, expected) in [
        ("cluster infinite.csv", 3, "infinite.csv, line 3, column 'b': the value is infinite"),
        (
            "cluster text.csv",
            3,
            "text.csv, line 3, column 'b': 'four' is not a number; leave the column out with --drop",
        ),
        ("cluster ragged.csv", 3, "ragged.csv, line 3: 3 cells, but the first line has 2"),
        ("cluster empty.csv", 3, "empty.csv is empty"),
        ("cluster header.csv", 3, "header.csv has a header, but no rows"),
        (
            "cluster one.csv",
            3,
            "one.csv: all 2 features are constant or empty, so nothing tells its one row apart",
        ),
        (
            "cluster equal.csv",
            3,
            "equal.csv: all 2 features are constant or empty, so nothing tells its 30 rows apart",
        ),
        (
            "cluster ten.csv -k 15",
            2,
            "15 neighbors of each point were requested, but there are only 10 distinct points; request at most 9",
        ),
        ("cluster ten.csv -c 11", 2, "11 clusters were requested, but only 10 points"),
        ("cluster ten.csv -c 0", 2, "cluster.n_clusters = 0: must be at least 1"),
        ("cluster ten.csv --drop c", 3, "ten.csv has no column 'c'; it has 'a', 'b'"),
        ("cluster ten.csv --label-column y", 3, "ten.csv has no column 'y'"),
        ("cluster ten.csv --drop a,b", 3, "no column is left"),
        ("cluster twice.csv", 3, "two columns are called 'a'"),
        (
            "cluster missing.csv --missing error",
            3,
            "missing.csv, data row 2, column 'b': the cell is missing",
        ),
        ("cluster latin1.csv --label-column n", 3, "latin1.csv, line 2: the text is not valid UTF-8"),
        ("cluster wide.csv", 3, "10000001 cells, more than the 1000000 columns"),
        ("cluster distances.csv --input distances", 3, "distances.csv has 2 rows and 3 columns"),
        ("cluster asymmetric.csv --input distances", 3, "must be symmetric"),
        ("cluster negative.csv --input distances", 3, "distances must be finite and at least 0"),
        ("cluster asymmetric.mtx", 3, "entry (0, 1) is 0.5 but (1, 0) is 0: the matrix must be symmetric"),
        ("graph asymmetric.mtx", 3, "or --asymmetric mean or larger"),
        ("cluster negative.mtx", 3, "the weight of edge (0, 1) is -0.5"),
        ("cluster rectangle.mtx --input graph", 3, "rectangle.mtx has 2 rows and 3 columns"),
        ("cluster none.csv", 3, "none.csv: there is no such file"),
        ("cluster folder", 3, "folder is a folder; give a file"),
        ("cluster cut.npy", 3, "cut.npy is not a readable NPY file: it ends within its header"),
        ("cluster cut.parquet", 3, "cut.parquet is not a readable Parquet file"),
        ("cluster cut.csv.gz", 3, "it ends too early"),
        ("cluster", 2, "no FILE was given"),
        ("cluster ten.csv --output no/folder/x.csv", 4, "no/folder/x.csv cannot be written"),
        ("cluster ten.csv --output folder", 4, "no format fits this name"),
        ("cluster ten.csv --output x.xlsx", 4, "x.xlsx: no format fits this name; use .csv"),
        ("cluster ten.csv --output ten.csv", 2, "--output and the input are the same file"),
        ("cluster ten.csv --output x.csv --scales ./x.csv", 2, "--scales and --output are the same file"),
        ("cluster clusters.csv --id-column cluster", 2, "a column of the output is called 'cluster', too"),
        ("cluster open.csv --drop b", 3, "the row that begins in line 2 has a quote that is never closed"),
        ("cluster comma.csv", 3, "write decimal points, not commas"),
        (
            "cluster ten.csv --stability=99999999999",
            2,
            "cluster.stability = 99999999999: must be at most 1048576",
        ),
        ("generate moons -n 99999999999999", 5, "points of 2 columns need about"),
        ("generate blobs --columns 99999999999", 5, "are available"),
        ("cluster zeros.csv --input distances", 3, "all points are equal"),
        ("cluster ten.csv --id-column a --output x.npy", 2, "NPY holds numbers only"),
        ("cluster ten.csv --json - --output -", 2, "cannot all go to standard output"),
        ("cluster ten.csv --memory 1K", 5, "more than the 1 KiB of memory that are allowed"),
        ("cluster ten.csv --preset nonsense", 2, "possible values: robust"),
        ("cluster ten.csv --set graph.taus=0.5,0.2", 2, "must be a list of increasing numbers"),
        (
            "cluster ten.csv --set graph.estimator.rank=5",
            2,
            "graph.estimator.rank has no effect: it belongs to graph.estimator = factorization, but graph.estimator is neighborhood",
        ),
        (
            "cluster ten.csv --set graph.estimator.pol=5",
            2,
            "graph.estimator.pol is not a parameter; graph.estimator has",
        ),
        ("cluster ten.csv --set nonsense", 2, "a path and a value are needed"),
        (
            "cluster ten.csv --set graph.estimator=factorization --set graph.estimator.pairs=sampled --set \
             graph.estimator.pairs.per_edge=-1",
            2,
            "graph.estimator.pairs.per_edge = -1: must be finite and above 0",
        ),
        (
            "cluster ten.csv --set graph.final_affinity=plain --set graph.final_affinity.power=2",
            2,
            "graph.final_affinity.power has no effect: it belongs to graph.final_affinity = weighted, but graph.final_affinity is plain",
        ),
        ("cluster ten.csv --set graph.threshold=7", 2, "graph.threshold = 7: must be at least 0 and below 1"),
        ("cluster ten.csv --pca 3", 2, "pca = 3: must be at least 1 and at most"),
        (
            "cluster ten.csv --config config.json",
            3,
            "config.json is not a file of --json: unknown field `sed`",
        ),
        ("cluster ten.csv --config none.json", 3, "none.json cannot be read"),
        (
            "cluster ten.csv --set graph.first_scale=given --set graph.first_scale.values=@scales.csv",
            3,
            "local scales: expected 10 entries, received 3",
        ),
        ("graph asymmetric.mtx", 3, "must be symmetric"),
        ("params nothing", 2, "no parameter begins with 'nothing'"),
        ("generate spirals --points 1", 2, "points = 1: must be at least 2"),
        ("generate moons --noise -1", 2, "noise"),
        ("compare labels.csv ten.csv", 3, "ten.csv has no column 'cluster'; it has 'a', 'b'"),
        ("compare labels.csv ten.csv --second-column a", 3, "labels.csv has 2 rows, ten.csv has 10"),
        ("info none.csv", 3, "there is no such file"),
        ("demo --output ten.csv", 4, "ten.csv cannot be written"),
    ] {
        let done = folder.run(line);
        assert_eq!(done.code(), code, "{line}: {}", done.err());
        assert!(done.err().contains(expected), "{line}: {}", done.err());
        assert_eq!(done.out(), "", "{line}: nothing but data goes to standard output");
    }
    assert!(!folder.names().iter().any(|name| name.ends_with(".part") || name.starts_with("x.")));
}

#[test]
fn missing_cells_are_filled_and_said() {
    let folder = Folder::new();
    let rows = (0..40).map(|i| if i == 3 { "NA,4,1\n".into() } else { format!("{i},{},1\n", i * i % 11) });
    folder.write("gaps.csv", "a,b,c\n".to_string() + &rows.collect::<String>());
    let done = folder.run("cluster gaps.csv -c 2");
    assert_eq!(done.code(), 0, "{}", done.err());
    assert!(
        done.err().contains("1 missing cells were filled with the median of their column: a"),
        "{}",
        done.err()
    );
    assert!(done.err().contains("dropped constant columns: c"), "{}", done.err());
    assert_eq!(done.out().lines().count(), 41);
}

/// The disk fills up while the labels are written.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_output_error() {
    let folder = Folder::new();
    folder.ok("generate spirals --points 300 --output spirals.csv");
    std::os::unix::fs::symlink("/dev/full", folder.file("full.csv")).unwrap();
    let done = folder.run("cluster spirals.csv --drop label --output full.csv --quiet");
    assert_eq!(done.code(), 4, "{}", done.err());
    assert!(done.err().contains("No space left on device"), "{}", done.err());
    // A full disk behind the messages is no reason to lose the labels.
    let script =
        format!("{} cluster spirals.csv --drop label --output kept.csv 2>/dev/full", crate::common::TAUGRAPH);
    let done =
        std::process::Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
    assert_eq!(done.status.code(), Some(0));
    assert_eq!(folder.read("kept.csv").lines().count(), 301);
}

/// What cannot be had is said before anything is written.
#[test]
fn nothing_is_written_of_a_run_that_cannot_finish() {
    let folder = Folder::new();
    folder.ok("generate moons --points 300 --output moons.csv");
    folder.ok("graph moons.csv --drop label --set graph.link_components=no --output graph.npz");
    for (line, expected) in [
        ("cluster graph.npz --output x.csv --scales y.csv", "a given graph has no local scales"),
        (
            "cluster graph.npz --output x.csv --set cluster.components=separately --embedding y.csv",
            "have no common embedding",
        ),
    ] {
        let done = folder.run(line);
        assert_eq!(done.code(), 2, "{}", done.err());
        assert!(done.err().contains(expected), "{}", done.err());
    }
    assert_eq!(folder.names(), ["graph.npz", "moons.csv"]);
}
