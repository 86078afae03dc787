//! A table whose numbers stay on disk is the same table.

use std::io::Write;
use std::path::{Path, PathBuf};

use parquet::data_type::{DoubleType, FloatType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use taugraph_io::{
    Cells, Contents, DiskNumbers, DiskTable, Either, Error, Extent, ReadOptions, Role, ScratchFolder, Source,
    extent, read, read_on_disk,
};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(folder.file("scratch")).unwrap();
        folder
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, contents: &[u8]) -> PathBuf {
        std::fs::write(self.file(name), contents).unwrap();
        self.file(name)
    }

    fn scratch(&self) -> ScratchFolder {
        ScratchFolder::new(&self.file("scratch")).unwrap()
    }
}

/// An array with a header as numpy writes it, padded so that the values begin at a multiple of `align`.
fn npy(kind: &str, is_fortran: bool, shape: &str, values: &[u8], align: usize) -> Vec<u8> {
    let order = if is_fortran { "True" } else { "False" };
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}");
    while !(10 + header.len() + 1).is_multiple_of(align) {
        header.push(' ');
    }
    header.push('\n');
    let mut all = b"\x93NUMPY\x01\x00".to_vec();
    all.extend((header.len() as u16).to_le_bytes());
    all.extend(header.as_bytes());
    all.extend(values);
    all
}

/// 500 rows of 3 columns, some cells missing.
fn cells() -> Vec<f64> {
    (0..1500).map(|i| if i % 41 == 5 { f64::NAN } else { f64::from(i % 113) - 40.5 }).collect()
}

fn doubles(values: impl IntoIterator<Item = f64>) -> Vec<u8> {
    values.into_iter().flat_map(f64::to_le_bytes).collect()
}

fn by_columns() -> Vec<f64> {
    let cells = cells();
    (0..1500).map(|place| cells[place % 500 * 3 + place / 500]).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The precision and every number, as bits.
fn bits<A: AsRef<[f64]>, B: AsRef<[f32]>>(values: &Either<A, B>) -> (bool, Vec<u64>) {
    (values.is_single(), values.iter().map(f64::to_bits).collect())
}

/// The second column is left out, the third is text.
fn roles(names: &[String]) -> taugraph_io::Result<Vec<Role>> {
    let role = |place| [Role::Number, Role::Skip, Role::Text][place % 3];
    Ok((0..names.len()).map(role).collect())
}

fn with_roles() -> ReadOptions<'static> {
    ReadOptions { roles: &roles, ..ReadOptions::numbers() }
}

/// Both readers give the same table, and its extent is known beforehand.
fn assert_same(path: &Path, options: &ReadOptions<'_>, folder: &Folder) -> DiskTable {
    let source = Source::new(path);
    let Contents::Table(mut expected) = read(&source, options).unwrap() else { panic!("no table") };
    let found = read_on_disk(&source, options, &folder.scratch()).unwrap();
    let values = std::mem::take(&mut expected.values);
    assert_eq!(bits(&found.values), bits(&values), "{}", path.display());
    assert_eq!(found.table, expected, "{}", path.display());
    assert_eq!(std::fs::read_dir(folder.file("scratch")).unwrap().count(), 0, "scratch files have no name");
    found
}

#[test]
fn arrays_of_every_type_and_order() {
    let folder = Folder::new();
    let singles: Vec<u8> = cells().iter().flat_map(|&value| (value as f32).to_le_bytes()).collect();
    let wholes: Vec<u8> = (0..1500i32).flat_map(|value| (value * 7 - 2000).to_be_bytes()).collect();
    let double = npy("<f8", false, "(500, 3)", &doubles(cells()), 64);
    let turned = npy("<f8", true, "(500, 3)", &doubles(by_columns()), 64);
    let files = [
        ("double.npy", double.clone(), true),
        ("line.npy", npy("<f8", false, "(1500,)", &doubles(cells()), 64), true),
        // Not where the machine needs it: it is copied.
        ("odd.npy", npy("<f8", false, "(500, 3)", &doubles(cells()), 105), false),
        ("single.npy", npy("<f4", false, "(500, 3)", &singles, 64), true),
        ("odd_single.npy", npy("<f4", false, "(500, 3)", &singles, 101), false),
        ("turned_single.npy", npy("<f4", true, "(500, 3)", &singles, 64), false),
        ("big_single.npy", npy(">f4", false, "(500, 3)", &singles, 64), false),
        ("bytes.npy", npy("|i1", false, "(500, 3)", &singles[..1500], 64), false),
        ("whole.npy", npy(">i4", false, "(500, 3)", &wholes, 64), false),
        ("turned.npy", turned.clone(), false),
        ("turned_whole.npy", npy(">i4", true, "(500, 3)", &wholes, 64), false),
        ("double.npy.gz", gzip(&double), false),
        ("turned.npy.gz", gzip(&turned), false),
    ];
    for (name, bytes, stays) in files {
        let path = folder.write(name, &bytes);
        let found = assert_same(&path, &ReadOptions::numbers(), &folder);
        let is_mapped =
            matches!(found.values, Either::F64(DiskNumbers::File(_)) | Either::F32(DiskNumbers::File(_)));
        assert_eq!(is_mapped, stays, "{name}");
        let is_single = name.contains("single") || name.contains("bytes");
        assert_eq!(found.values.is_single(), is_single, "{name}");
        let (n_rows, columns) = (found.table.n_rows, found.table.n_numbers);
        let expected = Extent { n_rows, n_numbers: columns, is_single };
        assert_eq!(extent(&Source::new(&path), &ReadOptions::numbers()).unwrap(), Some(expected));
        if columns == 3 {
            let found = assert_same(&path, &with_roles(), &folder);
            assert_eq!(found.table.n_numbers, 1, "{name}");
            assert!(matches!(&found.table.columns[2].cells, Cells::Texts(texts) if texts.len() == 500));
            let expected = Extent { n_rows: 500, n_numbers: 1, is_single };
            assert_eq!(extent(&Source::new(&path), &with_roles()).unwrap(), Some(expected), "{name}");
        }
    }
}

/// Four columns in row groups of 128 rows: doubles with missing cells, text, singles, text that is to be numbers.
fn parquet_file(n_rows: usize) -> Vec<u8> {
    let schema = "message table { optional double a; required binary name (UTF8); required float b;
        required binary word (UTF8); }";
    let schema = std::sync::Arc::new(parse_message_type(schema).unwrap());
    let mut file = Vec::new();
    let properties = std::sync::Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(&mut file, schema, properties).unwrap();
    let rows: Vec<usize> = (0..n_rows).collect();
    for rows in rows.chunks(128) {
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let is_there = |row: &usize| row % 10 != 3;
        let levels: Vec<i16> = rows.iter().map(|row| i16::from(is_there(row))).collect();
        let values: Vec<f64> = rows.iter().copied().filter(is_there).map(|row| (row as f64).sqrt()).collect();
        column.typed::<DoubleType>().write_batch(&values, Some(&levels), None).unwrap();
        column.close().unwrap();
        let texts = |of: fn(usize) -> String| -> Vec<parquet::data_type::ByteArray> {
            rows.iter().map(|&row| of(row).as_str().into()).collect()
        };
        let mut column = group.next_column().unwrap().unwrap();
        let names = texts(|row| format!("row {row}"));
        column.typed::<parquet::data_type::ByteArrayType>().write_batch(&names, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let values: Vec<f32> = rows.iter().map(|&row| row as f32 / 7.0).collect();
        column.typed::<FloatType>().write_batch(&values, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let words = texts(|row| format!("w{}", row % 3));
        column.typed::<parquet::data_type::ByteArrayType>().write_batch(&words, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
    file
}

#[test]
fn parquet_by_row_groups() {
    let folder = Folder::new();
    let bytes = parquet_file(1000);
    let named = |names: &[String]| {
        let role = |name: &String| if name == "name" { Role::Text } else { Role::Number };
        Ok(names.iter().map(role).collect())
    };
    let dropped = |names: &[String]| {
        let role = |name: &String| if name == "a" || name == "b" { Role::Number } else { Role::Skip };
        Ok(names.iter().map(role).collect())
    };
    for (file, bytes) in [("table.parquet", bytes.clone()), ("table.parquet.gz", gzip(&bytes))] {
        let path = folder.write(file, &bytes);
        for roles in [&named as &dyn Fn(&[String]) -> taugraph_io::Result<Vec<Role>>, &dropped] {
            let options = ReadOptions { roles, ..ReadOptions::numbers() };
            // The column of words leaves the rows again.
            let found = assert_same(&path, &options, &folder);
            assert_eq!((found.table.n_rows, found.table.n_numbers), (1000, 2));
            assert_eq!(found.values.len(), 2000);
            assert_eq!(found.values.iter().filter(|value| value.is_nan()).count(), 100);
        }
    }
    let options = ReadOptions { roles: &dropped, ..ReadOptions::numbers() };
    let known = |file: &str| extent(&Source::new(&folder.file(file)), &options).unwrap();
    assert_eq!(
        (known("table.parquet"), known("table.parquet.gz")),
        (Some(Extent { n_rows: 1000, n_numbers: 2, is_single: false }), None)
    );
}

#[test]
fn what_is_wrong_is_said() {
    let folder = Folder::new();
    let message = |name: &str, bytes: &[u8]| {
        let path = folder.write(name, bytes);
        read_on_disk(&Source::new(&path), &ReadOptions::numbers(), &folder.scratch()).unwrap_err().to_string()
    };
    let cut = |kind: &str, is_fortran: bool| npy(kind, is_fortran, "(500, 3)", &doubles(cells())[..5000], 64);
    for (name, bytes) in [
        ("cut.npy", cut("<f8", false)),
        ("cut_turned.npy", cut("<f8", true)),
        ("cut_single.npy", cut("<f4", false)),
        ("cut.npy.gz", gzip(&cut("<f8", false))),
        ("huge.npy", npy("<f8", false, "(1000000000000, 1000)", &[0; 64], 64)),
        ("huge_single.npy", npy("<f4", false, "(1000000000000, 1000)", &[0; 64], 64)),
        ("huge_turned.npy.gz", gzip(&npy("<f4", true, "(1000000000000, 1000)", &[0; 64], 64))),
    ] {
        assert!(message(name, &bytes).contains("ends before that many"), "{name}");
    }
    assert!(message("table.csv", b"a,b\n1,2\n").contains("only points in NPY and Parquet"));
    assert!(message("text.npy", &npy("<U2", false, "(1, 1)", &[0; 8], 64)).contains("text or objects"));
    assert!(message("cube.npy", &npy("<f8", false, "(1, 1, 1)", &[0; 8], 64)).contains("two axes"));
    assert!(message("empty.npy", b"").contains("is empty"));
    assert!(message("cut.parquet", &parquet_file(300)[..900]).contains("Parquet"));
    let infinite = npy("<f8", false, "(2, 2)", &doubles([1.0, 2.0, f64::INFINITY, 4.0]), 64);
    assert!(message("infinite.npy", &infinite).contains("row 2, column 'column_1': the value is infinite"));
    let nowhere = ScratchFolder::new(&folder.file("nowhere")).unwrap_err();
    assert!(matches!(nowhere, Error::Scratch { .. }) && nowhere.is_output(), "{nowhere}");
    assert!(nowhere.to_string().contains("nowhere") && nowhere.to_string().contains("--scratch"));
}

#[test]
fn scratch_tables_are_zeros_that_can_be_written() {
    let folder = Folder::new();
    for n in [0, 1, 100_000] {
        let mut table = folder.scratch().table(n).unwrap();
        assert!(table.as_ref().len() == n && table.as_ref().iter().all(|&value| value == 0.0));
        table.as_mut().iter_mut().enumerate().for_each(|(place, value)| *value = place as f64);
        assert!(table.as_ref().iter().enumerate().all(|(place, &value)| value == place as f64));
    }
}
