//! What is charged to a budget: while reading, and afterwards only what is kept.

use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use taugraph_io::{
    Budget, Contents, Error, Header, Metered, ReadOptions, Role, Source, read, read_csv, read_matrix_market,
    read_npy, read_sparse_npz, read_svmlight,
};

use crate::common::{archive, as_texts, doubles, npy, texts_of};

/// Less than the cells themselves is refused, whatever the format; a few times as much is enough.
#[test]
fn what_readers_hold_is_what_they_keep() {
    let rows: String = (0..20_000).map(|row| format!("{row},{}\n", row % 7)).collect();
    let matrix: String = (1..=20_000).map(|row| format!("{row} {row} 1\n")).collect();
    let matrix = format!("%%MatrixMarket matrix coordinate real general\n20000 20000 20000\n{matrix}");
    let lines: String = (0..20_000).map(|row| format!("1 {}:1\n", row % 50 + 1)).collect();
    let array = doubles("(20000, 2)", &vec![1.0; 40_000]);
    type Reader<'a> = (&'a str, &'a dyn Fn(&Budget) -> Result<(), Error>, u64, u64);
    let numbers = |budget: &Budget| {
        let options = ReadOptions { budget, header: Header::No, ..ReadOptions::numbers() };
        read_csv(rows.as_bytes(), "x", &options).map(drop)
    };
    let texts = |budget: &Budget| {
        let options = ReadOptions { budget, roles: &as_texts, ..ReadOptions::numbers() };
        read_csv(rows.as_bytes(), "x", &options).map(drop)
    };
    let market = |budget: &Budget| read_matrix_market(matrix.as_bytes(), "x", budget).map(drop);
    let svm = |budget: &Budget| read_svmlight(lines.as_bytes(), "x", budget).map(drop);
    let npy = |budget: &Budget| read_npy(&array[..], "x", budget).map(drop);
    // Columns take 320 bytes each; a short text takes 112, as it is read and as what is made of it.
    let readers: [Reader<'_>; 5] = [
        ("numbers", &numbers, 40_000 * 8 + 2 * 320, 4_000_000),
        ("texts", &texts, 40_000 * 112 + 2 * 320, 8_000_000),
        ("matrix", &market, 20_000 * 12 + 20_001 * 8, 4_000_000),
        ("svmlight", &svm, 20_000 * (12 + 8 + 112), 6_000_000),
        ("array", &npy, 40_000 * 8, 320_000),
    ];
    for (name, read, kept, enough) in readers {
        assert!(matches!(read(&Budget::of(Some(kept - 1))), Err(Error::OverBudget { .. })), "{name}");
        let budget = Budget::of(Some(enough));
        read(&budget).unwrap_or_else(|error| panic!("{name}: {error}"));
        // What is in the result stays charged, and nothing else.
        assert_eq!(enough - budget.left(), kept, "{name}");
    }
}

/// Several blocks of several chunks, with a quote at the end that makes the rest be read in another way.
#[test]
fn large_text_tables_are_read_in_parts() {
    let n_rows = 400_000;
    let mut text: String =
        (0..n_rows).map(|row| format!("{row},{}.5,name{}\n", row % 1000, row % 10)).collect();
    assert!(text.len() > 6 << 20);
    text += "\"7\",\"8\",\"two\nlines\"\n";
    let roles = |_: &[String]| Ok(vec![Role::Number, Role::Number, Role::Text]);
    for allowed in [None, Some(1 << 28)] {
        let budget = Budget::of(allowed);
        let options =
            ReadOptions { roles: &roles, header: Header::No, budget: &budget, ..ReadOptions::numbers() };
        let table = read_csv(text.as_bytes(), "x", &options).unwrap();
        assert_eq!((table.n_rows, table.n_numbers), (n_rows + 1, 2));
        let values = table.values.to_f64();
        let rows = values.chunks_exact(2).take(n_rows).enumerate();
        assert!(rows.into_iter().all(|(row, cells)| cells == [row as f64, (row % 1000) as f64 + 0.5]));
        assert_eq!(values[2 * n_rows..], [7.0, 8.0]);
        let names = texts_of(&table, "column_3");
        assert!(names[..n_rows].iter().enumerate().all(|(row, name)| *name == format!("name{}", row % 10)));
        assert_eq!(names[n_rows], "two\nlines");
    }
    // What is wrong far inside is found with its line.
    let broken = text.replacen("\n300000,", "\n300000,x,", 1);
    let said =
        read_csv(broken.as_bytes(), "x", &ReadOptions { header: Header::No, ..ReadOptions::numbers() });
    assert!(said.unwrap_err().to_string().contains("line 300001: 4 cells, but the first line has 3"));
}

/// With every limit a table is refused for want of memory or read whole, and more memory never makes it worse.
#[test]
fn every_limit_refuses_or_suffices() {
    let text: String = (0..3000).map(|row| format!("{row},word{row}\n")).collect();
    let quoted: String = (0..3000).map(|row| format!("{row},\"w, {row}\"\n")).collect();
    let roles = |_: &[String]| Ok(vec![Role::Number, Role::Text]);
    for text in [text, quoted] {
        let mut was_enough = false;
        for allowed in (0..4_000_000).step_by(20_000) {
            let budget = Budget::of(Some(allowed));
            let options =
                ReadOptions { roles: &roles, header: Header::No, budget: &budget, ..ReadOptions::numbers() };
            match read_csv(text.as_bytes(), "x", &options) {
                Ok(table) => {
                    assert_eq!((table.n_rows, table.values.get(2999)), (3000, 2999.0));
                    was_enough = true;
                }
                Err(Error::OverBudget { allowed: limit, needed, .. }) => {
                    assert!(!was_enough && limit == allowed && needed > allowed, "{allowed}");
                    assert_eq!(budget.left(), allowed, "what was held for nothing is free again");
                }
                Err(other) => panic!("{other}"),
            }
        }
        assert!(was_enough);
    }
}

#[test]
fn meters_count_what_is_kept() {
    let budget = Budget::of(Some(100));
    let mut meter = Metered::new(Cursor::new([7u8; 30]), 3, &budget);
    let mut bytes = [0; 10];
    meter.read_exact(&mut bytes).unwrap();
    assert_eq!((bytes, budget.left()), ([7; 10], 70));
    assert_eq!(meter.seek(SeekFrom::End(-5)).unwrap(), 25);
    assert_eq!(meter.read(&mut bytes).unwrap(), 5);
    assert!(meter.refused("x").is_none());
    meter.keep();
    assert_eq!(budget.left(), 55);
    assert_eq!(Budget::unlimited().left(), u64::MAX);
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
