//! What stays charged: of an archive what is asked of it, of a text table its cells, however it is read.

use std::io::{Cursor, Write};
use std::path::Path;

use taugraph_io::{
    Budget, Contents, Error, Header, ReadOptions, Role, Source, read, read_csv, read_sparse_npz,
};

/// An NPY file.
fn npy(kind: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    // As long for every shape, so that sizes of archives differ by their values alone.
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape:12}, }}\n");
    let mut all = b"\x93NUMPY\x01\x00".to_vec();
    all.extend((header.len() as u16).to_le_bytes());
    all.extend(header.as_bytes());
    all.extend(bytes);
    all
}

fn doubles(shape: &str, values: &[f64]) -> Vec<u8> {
    npy("<f8", shape, &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())
}

/// Arrays that are not compressed.
fn archive(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let plain = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in members {
        zip.start_file(format!("{name}.npy"), plain).unwrap();
        zip.write_all(bytes).unwrap();
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
    let ones = |n_rows: usize| doubles(&format!("({n_rows}, 2)"), &vec![1.0; 2 * n_rows]);
    let bytes = archive(&[("large", ones(50_000)), ("small", ones(10))]);
    std::fs::write(&plain, &bytes).unwrap();
    std::fs::write(&packed, zstd::encode_all(&bytes[..], 1).unwrap()).unwrap();
    let less = bytes.len() as u64 / 2;
    match small_of(&plain, less).unwrap() {
        Contents::Table(table) => assert_eq!((table.n_rows, table.values.into_f64()), (10, vec![1.0; 20])),
        other => panic!("{other:?}"),
    }
    assert!(matches!(small_of(&packed, less), Err(Error::OverBudget { .. })));
    small_of(&packed, 64 << 20).unwrap();
}

/// Of the arrays of a sparse matrix its values stay charged, as they were read and as they are kept; ids are only passed on.
#[test]
fn ids_of_sparse_archives_do_not_stay() {
    let held = |n: usize| {
        let (shape, ids) = (format!("({n},)"), (0..n).map(|id| id as f64).collect::<Vec<_>>());
        let members = [
            ("format", npy("|S3", "()", b"coo")),
            ("shape", doubles("(2,)", &[5000.0, 5000.0])),
            ("data", doubles(&shape, &vec![1.0; n])),
            ("row", doubles(&shape, &ids)),
            ("col", doubles(&shape, &ids)),
        ];
        let budget = Budget::of(Some(1 << 30));
        let matrix = read_sparse_npz(Cursor::new(archive(&members)), "x", &budget).unwrap();
        assert_eq!(matrix.values.len(), n);
        (1 << 30) - budget.left()
    };
    assert_eq!(held(4000) - held(2000), 2000 * (8 + 12));
}

/// Quoted cells are read one by one, others by the line: the same is kept, and the same is charged for it.
#[test]
fn quoted_tables_keep_as_much_as_others() {
    let held = |row: &dyn Fn(usize) -> String| {
        let text: String = (0..2000).map(row).collect();
        let roles = |_: &[String]| Ok(vec![Role::Number, Role::Number, Role::Number, Role::Text]);
        let budget = Budget::of(Some(1 << 30));
        let options =
            ReadOptions { roles: &roles, header: Header::No, budget: &budget, ..ReadOptions::numbers() };
        let table = read_csv(text.as_bytes(), "x", &options).unwrap();
        ((1 << 30) - budget.left(), table)
    };
    let (plain, expected) = held(&|row| format!("{row},2,3,name{row}\n"));
    let (quoted, table) = held(&|row| format!("{row},\"2\",3,\"name{row}\"\n"));
    assert_eq!(quoted, plain);
    assert_eq!((table.values, table.columns), (expected.values, expected.columns));
}
