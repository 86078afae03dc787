//! Files that are read in place need memory for what is asked of them, not for all they have.

use std::io::Write;
use std::path::Path;

use taugraph_io::{Budget, Contents, Error, ReadOptions, Source, read};

/// An NPY file of doubles that are all 1.
fn ones(n_rows: usize) -> Vec<u8> {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({n_rows}, 2), }}\n");
    let mut all = b"\x93NUMPY\x01\x00".to_vec();
    all.extend((header.len() as u16).to_le_bytes());
    all.extend(header.as_bytes());
    all.extend([1.0f64; 2].repeat(n_rows).iter().flat_map(|value| value.to_le_bytes()));
    all
}

/// A small array beside a large one, neither of them compressed.
fn archive() -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let plain = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, n_rows) in [("large.npy", 50_000), ("small.npy", 10)] {
        zip.start_file(name, plain).unwrap();
        zip.write_all(&ones(n_rows)).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn small_of(path: &Path, allowed: u64) -> Result<Contents, Error> {
    let budget = Budget::of(Some(allowed));
    read(&Source::new(path), &ReadOptions { array: Some("small"), budget: &budget, ..ReadOptions::numbers() })
}

#[test]
fn an_archive_is_not_loaded_unless_it_is_compressed() {
    let folder = tempfile::tempdir().unwrap();
    let (plain, packed) = (folder.path().join("x.npz"), folder.path().join("x.npz.zst"));
    let bytes = archive();
    std::fs::write(&plain, &bytes).unwrap();
    std::fs::write(&packed, zstd::encode_all(&bytes[..], 1).unwrap()).unwrap();
    let less = bytes.len() as u64 / 2;
    match small_of(&plain, less).unwrap() {
        Contents::Table(table) => assert_eq!((table.n_rows, table.values), (10, vec![1.0; 20])),
        other => panic!("{other:?}"),
    }
    assert!(matches!(small_of(&packed, less), Err(Error::OverBudget { .. })));
    small_of(&packed, 64 << 20).unwrap();
}
