//! Formats of arrays and tables, in memory and on disk, compressed or not.

use std::io::{Cursor, Write};
use std::path::PathBuf;
use std::sync::OnceLock;

use taugraph_io::{
    Contents, Output, ReadOptions, ScratchFolder, Source, extent, read, read_arrays, read_npy, read_on_disk,
    read_parquet, read_sparse_npz,
};

/// Any bytes, and any bytes behind the beginning of a header.
pub fn npy(bytes: &[u8]) {
    let _ = read_npy(bytes, "fuzz", &super::budget());
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend_from_slice(bytes);
    if let Ok(array) = read_npy(&file[..], "fuzz", &super::budget()) {
        assert_eq!(array.values.len(), array.shape.iter().product::<usize>());
    }
}

/// Sparse matrices and plain arrays.
pub fn npz(bytes: &[u8]) {
    let _ = read_arrays(Cursor::new(bytes), "fuzz", &super::budget());
    if let Ok(matrix) = read_sparse_npz(Cursor::new(bytes), "fuzz", &super::budget()) {
        assert_eq!(matrix.entries().count(), matrix.values.len());
    }
}

pub fn parquet(bytes: &[u8]) {
    quiet();
    let options = ReadOptions { budget: &super::budget(), ..ReadOptions::numbers() };
    let _ = read_parquet(bytes::Bytes::copy_from_slice(bytes), "fuzz", &options);
}

/// The format is detected, through gzip and zstd, too: the first byte says whether the rest is compressed before it is read.
pub fn files(bytes: &[u8]) {
    quiet();
    let Some((first, rest)) = bytes.split_first() else { return };
    let path = match first % 4 {
        0 => plain(bytes, "any"),
        1 => plain(rest, "any"),
        2 => compressed(rest, "any.gz"),
        _ => compressed(rest, "any.zst"),
    };
    let options = ReadOptions { budget: &super::budget(), ..ReadOptions::numbers() };
    match read(&Source::new(&path), &options) {
        Ok(Contents::Table(table)) => assert_eq!(table.values.len(), table.n_rows * table.n_numbers),
        Ok(Contents::Sparse(matrix)) => assert_eq!(matrix.offsets.len(), matrix.n_rows + 1),
        Ok(Contents::Labeled(found)) => assert_eq!(found.labels.len(), found.matrix.n_rows),
        Err(_) => {}
    }
}

/// Numbers left on disk are those read into memory.
pub fn on_disk(bytes: &[u8]) {
    quiet();
    let path = plain(bytes, "table");
    let (source, budget) = (Source::new(&path), super::budget());
    let options = ReadOptions { budget: &budget, ..ReadOptions::numbers() };
    let known = extent(&source, &options);
    let scratch = ScratchFolder::new(&std::env::temp_dir()).expect("a folder for files without a name");
    let Ok(found) = read_on_disk(&source, &options, &scratch) else { return };
    let (n, d) = (found.table.n_rows, found.table.n_numbers);
    assert_eq!(found.values.len(), n * d);
    // A column that turns out to be text is known only when it has been read.
    let known = known.expect("it can be read").expect("the formats that stay on disk say so at once");
    assert!(known.n_rows == n && known.n_numbers >= d);
    match read(&source, &ReadOptions { budget: &super::budget(), ..options }) {
        Ok(Contents::Table(table)) => {
            let same = table.values.iter().zip(found.values.iter()).all(|(a, b)| a.to_bits() == b.to_bits());
            assert!(same && table.values.len() == n * d);
        }
        Ok(_) => panic!("a table on disk is a table in memory"),
        Err(error) => assert!(matches!(error, taugraph_io::Error::OverBudget { .. }), "{error}"),
    }
}

/// The parquet crate panics on some broken files, which our reader turns into errors. libFuzzer's hook would end the run at the first
/// of them: for targets that read Parquet only panics in our own code count there.
/// Any other that our reader does not catch still ends the run.
fn quiet() {
    static QUIET: OnceLock<()> = OnceLock::new();
    QUIET.get_or_init(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let file = panic.location().map_or("", |place| place.file());
            if !file.contains("/registry/") && !file.starts_with("/rustc/") {
                usual(panic);
            }
        }));
    });
}

/// A path of this process and thread.
fn path(name: &str) -> PathBuf {
    let thread = format!("{:?}", std::thread::current().id()).replace(['(', ')'], "");
    std::env::temp_dir().join(format!("taugraph-fuzz-{}-{thread}-{name}", std::process::id()))
}

/// Removed when it goes out of use.
struct File(PathBuf);

impl std::ops::Deref for File {
    type Target = PathBuf;

    fn deref(&self) -> &PathBuf {
        &self.0
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn plain(bytes: &[u8], name: &str) -> File {
    let path = path(name);
    std::fs::write(&path, bytes).expect("temporary files can be written");
    File(path)
}

fn compressed(bytes: &[u8], name: &str) -> File {
    let path = path(name);
    let written = Output::new(&path).write(|out: &mut (dyn Write + Send)| out.write_all(bytes));
    written.expect("temporary files can be written");
    File(path)
}
