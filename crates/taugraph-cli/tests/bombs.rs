//! Small files that promise or decompress to far more than may be held: every command refuses them, within its memory.
#![cfg(target_os = "linux")]

use std::io::{Result, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use taugraph_io::Output;

use crate::common::{Folder, TAUGRAPH};

/// What is allowed, and what may come on top of it: the program itself, and what the allocator keeps.
const LIMIT: &str = "50M";
const MOST: u64 = (50 + 64) << 20;

/// Runs the program; returns its exit code, the most memory it had, and what it said.
fn run(folder: &Folder, line: &str) -> (i32, u64, String) {
    let errors = folder.file("errors.txt");
    let mut child = Command::new(TAUGRAPH)
        .args(line.split_whitespace())
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(&errors).unwrap())
        .spawn()
        .unwrap();
    let mut peak = 0;
    loop {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        peak = peak.max(kib.unwrap_or(0) << 10);
        if peak > 8 * MOST {
            child.kill().unwrap();
        }
        if let Some(status) = child.try_wait().unwrap() {
            return (status.code().unwrap_or(-1), peak, std::fs::read_to_string(errors).unwrap());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn repeat(out: &mut (dyn Write + Send), text: &[u8], n_bytes: usize) -> Result<()> {
    let block = text.repeat((1 << 16) / text.len());
    (0..n_bytes / block.len()).try_for_each(|_| out.write_all(&block))
}

/// An NPY header for doubles.
fn npy(shape: &str) -> Vec<u8> {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes
}

/// A name, what it begins with, what repeats, and how many bytes of that there are.
type Bomb<'a> = (&'a str, Vec<u8>, &'a [u8], usize);

fn write(folder: &Folder, (name, start, repeated, n_bytes): Bomb<'_>) {
    let body = |out: &mut (dyn Write + Send)| {
        out.write_all(&start)?;
        repeat(out, repeated, n_bytes)
    };
    Output::new(&folder.file(name)).write(body).unwrap();
}

/// An archive of a table and of columns beside it, 120 MB together.
fn archive(path: &Path) {
    let mut zip = zip::ZipWriter::new(std::fs::File::create(path).unwrap());
    let zeros = vec![0; 4_000_000];
    for array in 0..30 {
        let name = if array == 0 { "X.npy".to_string() } else { format!("a{array}.npy") };
        zip.start_file(name, zip::write::SimpleFileOptions::default().compression_level(Some(1))).unwrap();
        zip.write_all(&npy(if array == 0 { "(500000, 1)" } else { "(500000,)" })).unwrap();
        zip.write_all(&zeros).unwrap();
    }
    zip.finish().unwrap();
}

/// All files, with the column that is named as labels.
fn bombs(folder: &Folder) -> Vec<(&'static str, &'static str)> {
    let header = b"x,label\n".to_vec();
    let many: Vec<u8> =
        b"x,label".iter().copied().chain((0..900_000).flat_map(|id| format!(",{id}").into_bytes())).collect();
    let mtx = b"%%MatrixMarket matrix coordinate real general\n9 9 99999999\n".to_vec();
    for bomb in [
        ("rows.csv.zst", header.clone(), &b"1,2\n"[..], 30 << 20),
        ("rows.csv.gz", header.clone(), b"1,2\n", 30 << 20),
        ("line.csv.zst", header.clone(), b"1", 200 << 20),
        ("first-line.csv.zst", Vec::new(), b"a", 200 << 20),
        ("quote.csv.zst", b"x,label\n1,\"".to_vec(), b"a", 200 << 20),
        ("columns.csv", many, b"\n", 0),
        ("zeros.npy.zst", npy("(25000000, 1)"), &[0; 8], 200_000_000),
        ("claims.npy", npy("(1000000000000, 3)"), &[0; 8], 0),
        ("rows.svm.zst", Vec::new(), b"1 1:1 2:2\n", 30 << 20),
        ("entries.mtx.zst", mtx, b"1 1 1\n", 50 << 20),
    ] {
        write(folder, bomb);
    }
    archive(&folder.file("arrays.npz"));
    for name in ["dictionary-bomb.parquet", "page-bomb.parquet"] {
        let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
        std::fs::copy(stored, folder.file(name)).unwrap();
    }
    vec![
        ("rows.csv.zst", "label"),
        ("rows.csv.gz", "label"),
        ("line.csv.zst", "label"),
        ("first-line.csv.zst", "label"),
        ("quote.csv.zst", "label"),
        ("columns.csv", "label"),
        ("zeros.npy.zst", "column_1"),
        ("claims.npy", "column_1"),
        ("rows.svm.zst", "label"),
        ("entries.mtx.zst", "label"),
        ("arrays.npz", "column_1"),
        ("dictionary-bomb.parquet", "label"),
        ("page-bomb.parquet", "label"),
        ("/dev/zero", "label"),
    ]
}

fn refused(folder: &Folder, line: &str) -> u64 {
    let (code, peak, said) = run(folder, &format!("{line} --memory {LIMIT}"));
    assert_eq!(code, 5, "{line}: {said}");
    assert!(peak <= MOST, "{line}: {} MiB", peak >> 20);
    assert!(said.contains("memory") || said.contains("needs"), "{line}: {said}");
    peak
}

#[test]
fn every_command_refuses_every_bomb_within_its_memory() {
    let folder = Folder::new();
    folder.write("small.csv", "x,y\n0,0\n0,1\n1,0\n1,1\n9,9\n9,8\n8,9\n8,8\n0,2\n2,0\n");
    folder.write("labels.csv", "label\n1\n2\n");
    folder.ok("cluster small.csv --quiet --output clusters.csv --save-model model.safetensors");
    for (bomb, column) in bombs(&folder) {
        // With many arrays one is named; that alone reads the columns beside it, too.
        let array = if bomb == "arrays.npz" { " --array X" } else { "" };
        let table = format!("{bomb}{array}");
        let predict = match bomb {
            // Names of features are looked for first.
            "rows.csv.zst" | "rows.csv.gz" | "line.csv.zst" | "quote.csv.zst" | "columns.csv" => None,
            "dictionary-bomb.parquet" | "page-bomb.parquet" => None,
            _ => Some(format!("predict model.safetensors {table} --quiet --output out.csv")),
        };
        let compare = match bomb {
            "arrays.npz" => None,
            _ => Some(format!("compare {bomb} labels.csv --first-column {column}")),
        };
        let lines = [
            Some(format!("cluster {table} --label-column {column} --quiet --output out.csv")),
            Some(format!("graph {table} --label-column {column} --quiet --output out.csv")),
            Some(format!("propagate {table} --labels {column} --quiet --output out.csv")),
            Some(format!("evaluate {table} --label-column {column} --quiet")),
            Some(format!("info {table} --label-column {column}")),
            predict,
            compare,
        ];
        let peaks: Vec<u64> = lines.iter().flatten().map(|line| refused(&folder, line) >> 20).collect();
        println!("{bomb}: {peaks:?} MiB");
    }
}

#[test]
fn files_beside_the_table_are_refused_within_the_memory() {
    let folder = Folder::new();
    folder.write("small.csv", "x,y\n0,0\n0,1\n1,0\n1,1\n9,9\n9,8\n8,9\n8,8\n0,2\n2,0\n");
    let header = "{\"__metadata__\":{\"taugraph\":\"\"},\"points\":{\"dtype\":\"F64\",\"shape\":[50000000],\"data_offsets\":[0,400000000]}}";
    let mut model = (header.len() as u64).to_le_bytes().to_vec();
    model.extend(header.as_bytes());
    write(&folder, ("model.safetensors.zst", model, &[0; 8], 400_000_000));
    write(&folder, ("labels.csv.zst", b"row,label\n".to_vec(), b"1,a\n", 60 << 20));
    write(&folder, ("pairs.csv.zst", b"a,b\n".to_vec(), b"1,2\n", 60 << 20));
    write(&folder, ("config.json", b"{\"settings\": \"".to_vec(), b"a", 200 << 20));
    for line in [
        "predict model.safetensors.zst small.csv --quiet --output out.csv",
        "info model.safetensors.zst",
        "propagate small.csv --labels-file labels.csv.zst --quiet --output out.csv",
        "cluster small.csv --must-link pairs.csv.zst --quiet --output out.csv",
        "cluster small.csv --config config.json --quiet --output out.csv",
        "cluster small.csv --set graph.taus=@pairs.csv.zst --quiet --output out.csv",
    ] {
        println!("{line}: {} MiB", refused(&folder, line) >> 20);
    }
}
