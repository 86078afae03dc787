//! Files with checksums: one flipped bit is refused, or changes nothing; a file without its end is refused.

use std::io::Write;
use std::path::{Path, PathBuf};

use taugraph_io::{
    Budget, Contents, Error, NewColumn, NewTable, Output, ReadOptions, ScratchFolder, Source, SparseMatrix,
    read, read_on_disk, write_graph, write_table,
};

const FLIPS: usize = 1_000;

/// Numbers without a pattern, so that no bit of a compressed file is without effect.
fn numbers(n: usize) -> Vec<f64> {
    let mut state = 1u64;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..n).map(next).collect()
}

fn table() -> NewTable {
    NewTable::new(vec![
        NewColumn::numbers("x", numbers(300)),
        NewColumn::numbers("y", numbers(301).split_off(1)),
    ])
}

fn matrix() -> SparseMatrix {
    let n = 300;
    let (offsets, columns) = ((0..=n as u64).collect(), (0..n as u32).rev().collect());
    SparseMatrix { n_rows: n, n_columns: n, offsets, columns, values: numbers(n) }
}

/// What is in a file, in words: NaN equals itself there.
fn contents(path: &Path) -> Result<String, Error> {
    // A flipped bit may promise any size.
    let options = ReadOptions { budget: &Budget::of(Some(1 << 28)), ..ReadOptions::numbers() };
    match read(&Source::new(path), &options)? {
        // Names are no numbers, and have no checksum in Parquet.
        Contents::Table(table) => Ok(format!("{} × {}: {:?}", table.n_rows, table.n_numbers, table.values)),
        other => Ok(format!("{other:?}")),
    }
}

/// Flips bits all over the bytes `from..to` of a file; returns how many files were refused.
fn flip(file: &Path, from: usize, to: usize, read: impl Fn(&Path) -> Result<String, Error>) -> usize {
    let bytes = std::fs::read(file).unwrap();
    let whole = read(file).unwrap();
    let flipped = file.with_file_name(format!("flipped-{}", file.file_name().unwrap().to_str().unwrap()));
    let n_bits = 8 * (to - from);
    let mut refused = 0;
    for flip in 0..FLIPS {
        let bit = 8 * from + flip * n_bits / FLIPS;
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&flipped, changed).unwrap();
        match read(&flipped) {
            Err(_) => refused += 1,
            Ok(found) => assert!(found == whole, "{}: bit {bit} changes what is read", file.display()),
        }
    }
    refused
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The table in the format of the name.
    fn table(&self, name: &str) -> PathBuf {
        let path = self.file(name);
        write_table(&table(), &Output::new(&path)).unwrap();
        path
    }
}

fn length(path: &Path) -> usize {
    std::fs::metadata(path).unwrap().len() as usize
}

#[test]
fn flipped_bits_in_compressed_files_are_refused() {
    let folder = Folder::new();
    for name in ["t.npy.gz", "t.csv.gz", "t.npy.zst", "t.csv.zst"] {
        let path = folder.table(name);
        let refused = flip(&path, 0, length(&path), contents);
        println!("{name}: {refused} of {FLIPS} refused");
        // The others are in fields of the header that say nothing about the contents, such as gzip's time.
        assert!(refused > FLIPS * 97 / 100, "{name}: {refused}");
    }
}

#[test]
fn flipped_bits_in_archives_are_refused() {
    let folder = Folder::new();
    let path = folder.file("m.npz");
    write_graph(&matrix(), table, &Output::new(&path)).unwrap();
    let refused = flip(&path, 0, length(&path), contents);
    println!("m.npz: {refused} of {FLIPS} refused");
    assert!(refused > FLIPS / 2, "{refused}");
    let packed = folder.file("m.npz.gz");
    write_graph(&matrix(), table, &Output::new(&packed)).unwrap();
    let refused = flip(&packed, 0, length(&packed), contents);
    println!("m.npz.gz: {refused} of {FLIPS} refused");
    assert!(refused > FLIPS * 97 / 100, "{refused}");
}

#[test]
fn flipped_bits_of_files_on_disk_are_refused() {
    let folder = Folder::new();
    let path = folder.table("t.npy.gz");
    let scratch = ScratchFolder::new(folder.0.path()).unwrap();
    let on_disk = |path: &Path| {
        let options = ReadOptions { budget: &Budget::of(Some(1 << 28)), ..ReadOptions::numbers() };
        Ok(format!("{:?}", read_on_disk(&Source::new(path), &options, &scratch)?.values.to_f64()))
    };
    let refused = flip(&path, 0, length(&path), on_disk);
    println!("t.npy.gz on disk: {refused} of {FLIPS} refused");
    assert!(refused > FLIPS * 97 / 100, "{refused}");
}

/// Pages have checksums, the metadata behind them has none.
#[test]
fn flipped_bits_in_the_pages_of_parquet_are_refused() {
    let folder = Folder::new();
    for name in ["plain.parquet", "dictionary.parquet"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
        let copy = folder.file(name);
        std::fs::copy(path, &copy).unwrap();
        let bytes = std::fs::read(&copy).unwrap();
        let metadata = u32::from_le_bytes(bytes[bytes.len() - 8..bytes.len() - 4].try_into().unwrap());
        let pages = bytes.len() - 8 - metadata as usize;
        let refused = flip(&copy, 4, pages, contents);
        println!("{name}: {refused} of {FLIPS} refused");
        assert!(refused > FLIPS / 2, "{name}: {refused}");
    }
}

#[test]
fn files_without_their_end_are_refused() {
    let folder = Folder::new();
    for name in ["t.npy.gz", "t.csv.gz", "t.npy.zst", "t.csv.zst", "t.npy", "t.parquet"] {
        let path = folder.table(name);
        let bytes = std::fs::read(&path).unwrap();
        for cut in 1..=40 {
            std::fs::write(&path, &bytes[..bytes.len() - cut]).unwrap();
            assert!(contents(&path).is_err(), "{name} without its last {cut} bytes");
        }
    }
}

/// NumPy ignores what follows an array. It may be a second one, so here it is an error.
#[test]
fn what_follows_an_array_is_refused() {
    let folder = Folder::new();
    let path = folder.table("t.npy");
    let scratch = ScratchFolder::new(folder.0.path()).unwrap();
    std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"\0").unwrap();
    let on_disk = read_on_disk(&Source::new(&path), &ReadOptions::numbers(), &scratch).map(drop);
    for refused in [contents(&path).map(drop), on_disk] {
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("continues after its last value"), "{message}");
    }
}
