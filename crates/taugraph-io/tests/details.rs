//! Rare cases of every format: types of columns, kinds of archives, names, and what exactly is charged and said.

use std::io::{Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType, FloatType,
    Int32Type, Int64Type, Int96, Int96Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use taugraph_io::{
    Budget, Cells, Contents, Error, Format, Header, Metered, NewColumn, NewTable, Output, ReadOptions, Role,
    Source, SparseMatrix, Table, check_graph_output, check_table_output, is_missing, is_safetensors,
    open_own, read, read_arrays, read_csv, read_matrix_market, read_npy, read_parquet, read_sparse_npz,
    read_svmlight, replace_file, write_graph, write_matrix, write_table, written,
};

fn as_texts(names: &[String]) -> taugraph_io::Result<Vec<Role>> {
    Ok(vec![Role::Text; names.len()])
}

fn texts_of<'a>(table: &'a Table, name: &str) -> &'a [String] {
    table.texts(name).unwrap_or_else(|| panic!("{name} is no text"))
}

/// The cell that kept a column from being numbers.
fn obstacle(table: &Table, name: &str) -> String {
    match &table.columns.iter().find(|column| column.name == name).unwrap().cells {
        Cells::NotNumbers(place, cell) => format!("{place}: {cell}"),
        other => panic!("{name}: {other:?}"),
    }
}

fn put<T: DataType>(group: &mut SerializedRowGroupWriter<'_, &mut Vec<u8>>, values: &[T::T], levels: &[i16]) {
    let mut column = group.next_column().unwrap().unwrap();
    let levels = (!levels.is_empty()).then_some(levels);
    column.typed::<T>().write_batch(values, levels, None).unwrap();
    column.close().unwrap();
}

fn parquet_file(
    schema: &str,
    properties: WriterProperties,
    fill: impl Fn(&mut SerializedRowGroupWriter<'_, &mut Vec<u8>>),
) -> bytes::Bytes {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut file = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut file, schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    fill(&mut group);
    group.close().unwrap();
    writer.close().unwrap();
    file.into()
}

fn every_type() -> bytes::Bytes {
    let schema = "message table {
        required boolean truth; required int32 small; required int32 natural (UINT_32);
        required int64 large; required int64 huge (UINT_64); required float single; required double double;
        required int32 cents (DECIMAL(9, 2)); required int64 mills (DECIMAL(18, 3));
        required fixed_len_byte_array(2) half (FLOAT16); optional double gap; optional binary word (UTF8);
        required int64 __index_level_0__; }";
    parquet_file(schema, WriterProperties::builder().build(), |group| {
        put::<BoolType>(group, &[true, false, true], &[]);
        put::<Int32Type>(group, &[-5, 0, 7], &[]);
        put::<Int32Type>(group, &[-5, 0, 7], &[]);
        put::<Int64Type>(group, &[-(1 << 40), 0, 1], &[]);
        put::<Int64Type>(group, &[-1, 0, 1], &[]);
        put::<FloatType>(group, &[0.5, -0.25, 3.0], &[]);
        put::<DoubleType>(group, &[0.1, -0.2, 1e300], &[]);
        put::<Int32Type>(group, &[1234, -5, 100], &[]);
        put::<Int64Type>(group, &[1500, 1, -2000], &[]);
        let halves = [0x3c00u16, 0xc000, 0x0001].map(|bits| bits.to_le_bytes().to_vec().into());
        put::<FixedLenByteArrayType>(group, &halves, &[]);
        put::<DoubleType>(group, &[2.0, 4.0], &[1, 0, 1]);
        put::<ByteArrayType>(group, &["a".into(), "b".into()], &[0, 1, 1]);
        put::<Int64Type>(group, &[0, 1, 2], &[]);
    })
}

const TYPES: [&str; 11] =
    ["truth", "small", "natural", "large", "huge", "single", "double", "cents", "mills", "half", "gap"];

#[test]
fn every_type_of_parquet_as_numbers() {
    let table = read_parquet(every_type(), "x", &ReadOptions::numbers()).unwrap();
    assert_eq!((table.n_rows, table.n_numbers), (3, 11));
    assert_eq!(table.number_names(), TYPES);
    assert_eq!(table.columns.len(), 12, "the row labels of pandas are no column");
    let values = table.values.to_f64();
    let row = |row: usize| &values[11 * row..11 * (row + 1)];
    assert_eq!(
        row(0),
        [1.0, -5.0, 4294967291.0, -(2f64.powi(40)), 2f64.powi(64), 0.5, 0.1, 12.34, 1.5, 1.0, 2.0]
    );
    assert_eq!(row(1)[..10], [0.0, 0.0, 0.0, 0.0, 0.0, -0.25, -0.2, -0.05, 0.001, -2.0]);
    assert!(row(1)[10].is_nan());
    assert_eq!(row(2), [1.0, 7.0, 7.0, 1.0, 1.0, 3.0, 1e300, 1.0, -2.0, 2f64.powi(-24), 4.0]);
    // The first cell that is there.
    assert_eq!(obstacle(&table, "word"), "row 2: a");
}

#[test]
fn every_type_of_parquet_as_text() {
    let options = ReadOptions { roles: &as_texts, ..ReadOptions::numbers() };
    let table = read_parquet(every_type(), "x", &options).unwrap();
    let first: Vec<&str> = TYPES.iter().map(|name| texts_of(&table, name)[0].as_str()).collect();
    assert_eq!(
        first,
        [
            "true",
            "-5",
            "4294967291",
            "-1099511627776",
            "18446744073709551615",
            "0.5",
            "0.1",
            "12.34",
            "1.5",
            "1",
            "2"
        ]
    );
    assert_eq!(texts_of(&table, "gap"), ["2", "", "4"]);
    assert_eq!(texts_of(&table, "word"), ["", "a", "b"]);
    assert_eq!((table.n_numbers, table.values.len()), (0, 0));
}

#[test]
fn cells_of_parquet_that_are_neither() {
    let schema = "message table { required double x; required int32 day (DATE); required int96 old;
        required fixed_len_byte_array(3) raw; required int64 when (TIMESTAMP_MILLIS);
        required group nested { required double inner; } repeated binary list (UTF8); }";
    let file = parquet_file(schema, WriterProperties::builder().build(), |group| {
        put::<DoubleType>(group, &[1.0, 2.0], &[]);
        put::<Int32Type>(group, &[1, 2], &[]);
        put::<Int96Type>(group, &[Int96::new(), Int96::new()], &[]);
        let raw = [FixedLenByteArray::from(vec![1, 2, 3]), vec![4, 5, 6].into()];
        put::<FixedLenByteArrayType>(group, &raw, &[]);
        put::<Int64Type>(group, &[1, 2], &[]);
        put::<DoubleType>(group, &[1.0, 2.0], &[]);
        let mut list = group.next_column().unwrap().unwrap();
        let words = ["a", "b", "c"].map(parquet::data_type::ByteArray::from);
        list.typed::<ByteArrayType>().write_batch(&words, Some(&[1, 1, 1]), Some(&[0, 1, 0])).unwrap();
        list.close().unwrap();
    });
    let table = read_parquet(file.clone(), "x", &ReadOptions::numbers()).unwrap();
    assert_eq!((table.number_names(), &*table.values.to_f64()), (vec!["x"], &[1.0, 2.0][..]));
    for (column, what) in [
        ("day", "a date or time"),
        ("when", "a date or time"),
        ("old", "neither a number nor text"),
        ("raw", "neither a number nor text"),
        ("nested", "a nested value"),
        ("list", "a nested value"),
    ] {
        assert_eq!(obstacle(&table, column), format!("row 1: ({what})"));
        // As text it is an error, and not read at all it is none.
        let roles = |names: &[String]| {
            let role = |name: &String| if name == column { Role::Text } else { Role::Skip };
            Ok(names.iter().map(role).collect())
        };
        let options = ReadOptions { roles: &roles, ..ReadOptions::numbers() };
        let said = read_parquet(file.clone(), "x", &options).unwrap_err().to_string();
        assert!(said.contains(&format!("the cells of column '{column}' are {what}; save them as text")));
    }
}

/// Pages of both versions, texts in the encodings that begin with lengths, and dictionaries.
#[test]
fn encodings_of_parquet_are_within_the_budget() {
    use parquet::basic::Encoding;
    use parquet::file::properties::WriterVersion;
    let words: Vec<String> = (0..2000).map(|row| format!("word {}", row % 700)).collect();
    let schema = "message table { optional binary word (UTF8); required double x; }";
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        for encoding in [
            None,
            Some(Encoding::DELTA_LENGTH_BYTE_ARRAY),
            Some(Encoding::DELTA_BYTE_ARRAY),
            Some(Encoding::PLAIN),
        ] {
            let properties = WriterProperties::builder().set_writer_version(version);
            let properties = match encoding {
                None => properties,
                Some(encoding) => {
                    let word: parquet::schema::types::ColumnPath = "word".into();
                    properties.set_dictionary_enabled(false).set_column_encoding(word, encoding)
                }
            };
            let file = parquet_file(schema, properties.build(), |group| {
                let cells: Vec<_> = words.iter().map(|word| word.as_str().into()).collect();
                put::<ByteArrayType>(group, &cells, &vec![1; words.len()]);
                put::<DoubleType>(group, &(0..2000).map(f64::from).collect::<Vec<_>>(), &[]);
            });
            let options = ReadOptions { roles: &as_texts, ..ReadOptions::numbers() };
            let table = read_parquet(file.clone(), "x", &options).unwrap();
            assert_eq!(texts_of(&table, "word"), words, "{version:?} {encoding:?}");
            // What it takes is found by trying: less than that is refused, and nothing else happens.
            let fits = |bytes: u64| {
                let budget = Budget::of(Some(bytes));
                match read_parquet(file.clone(), "x", &ReadOptions { budget: &budget, ..options }) {
                    Ok(table) => {
                        assert_eq!(texts_of(&table, "word"), words);
                        true
                    }
                    Err(Error::OverBudget { allowed, .. }) => {
                        assert_eq!(allowed, bytes);
                        false
                    }
                    Err(other) => panic!("{other}"),
                }
            };
            let (mut low, mut high) = (0, 1 << 24);
            assert!(fits(high));
            while high - low > 1000 {
                let middle = (low + high) / 2;
                if fits(middle) { high = middle } else { low = middle }
            }
            // At least the texts themselves, and not many times that.
            assert!((100_000..2_000_000).contains(&high), "{version:?} {encoding:?}: {high}");
        }
    }
}

#[test]
fn tables_of_parquet_without_rows_or_with_double_names_are_refused() {
    let empty =
        parquet_file("message table { required double x; }", WriterProperties::builder().build(), |group| {
            put::<DoubleType>(group, &[], &[]);
        });
    assert!(matches!(read_parquet(empty, "x", &ReadOptions::numbers()), Err(Error::NoRows { .. })));
    let twice = "message table { required double x; required double x; }";
    let twice = parquet_file(twice, WriterProperties::builder().build(), |group| {
        put::<DoubleType>(group, &[1.0], &[]);
        put::<DoubleType>(group, &[2.0], &[]);
    });
    let found = read_parquet(twice, "x", &ReadOptions::numbers());
    assert!(matches!(found, Err(Error::DuplicateColumn { column, .. }) if column == "x"));
    let broken = parquet_file(
        "message table { required binary t (UTF8); }",
        WriterProperties::builder().build(),
        |group| {
            put::<ByteArrayType>(group, &["fine".into(), vec![0xff].into()], &[]);
        },
    );
    let options = ReadOptions { roles: &as_texts, ..ReadOptions::numbers() };
    let said = read_parquet(broken, "x", &options).unwrap_err().to_string();
    assert!(said.contains("row 2") && said.contains("UTF-8"), "{said}");
}

/// An NPY file.
fn npy(kind: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut all = b"\x93NUMPY\x01\x00".to_vec();
    all.extend((header.len() as u16).to_le_bytes());
    all.extend(header.as_bytes());
    all.extend(bytes);
    all
}

fn doubles(shape: &str, values: &[f64]) -> Vec<u8> {
    npy("<f8", shape, &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())
}

/// An archive of these members.
fn archive(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn sparse(format: &str, shape: &[f64], more: &[(&str, &[f64])]) -> Result<SparseMatrix, Error> {
    let count = |values: &[f64]| format!("({},)", values.len());
    let mut members = vec![
        ("format", npy(&format!("|S{}", format.len()), "()", format.as_bytes())),
        ("shape", doubles(&count(shape), shape)),
    ];
    members.extend(more.iter().map(|(name, values)| (*name, doubles(&count(values), values))));
    read_sparse_npz(Cursor::new(archive(&members)), "x", Budget::unlimited())
}

#[test]
fn sparse_archives_of_every_kind() {
    // 0 5 0
    // 7 0 6
    let expected = [(0, 1, 5.0), (1, 0, 7.0), (1, 2, 6.0)];
    let csr = sparse(
        "csr",
        &[2.0, 3.0],
        &[("data", &[5.0, 7.0, 6.0]), ("indices", &[1.0, 0.0, 2.0]), ("indptr", &[0.0, 1.0, 3.0])],
    );
    let csc = sparse(
        "csc",
        &[2.0, 3.0],
        &[("data", &[7.0, 5.0, 6.0]), ("indices", &[1.0, 0.0, 1.0]), ("indptr", &[0.0, 1.0, 2.0, 3.0])],
    );
    let coo = sparse(
        "coo",
        &[2.0, 3.0],
        &[("data", &[6.0, 7.0, 5.0]), ("row", &[1.0, 1.0, 0.0]), ("col", &[2.0, 0.0, 1.0])],
    );
    for matrix in [csr, csc, coo] {
        let matrix = matrix.unwrap();
        assert_eq!((matrix.n_rows, matrix.n_columns), (2, 3));
        assert_eq!(matrix.entries().collect::<Vec<_>>(), expected);
    }
}

#[test]
fn broken_sparse_archives_say_why() {
    let data: (&str, &[f64]) = ("data", &[1.0, 2.0]);
    let indices: (&str, &[f64]) = ("indices", &[0.0, 1.0]);
    let csr = |shape: &[f64], indices: &[f64], indptr: &[f64]| {
        let found = sparse("csr", shape, &[data, ("indices", indices), ("indptr", indptr)]);
        found.map(|_| String::new()).unwrap_or_else(|error| error.to_string())
    };
    assert_eq!(csr(&[2.0, 2.0], &[0.0, 1.0], &[0.0, 1.0, 2.0]), "");
    for (shape, ids, indptr, expected) in [
        (&[2.0][..], &[0.0, 1.0][..], &[0.0, 1.0, 2.0][..], "shape is not that of a matrix"),
        (&[2.0, 2.0, 2.0], &[0.0, 1.0], &[0.0, 1.0, 2.0], "shape is not that of a matrix"),
        (&[-2.0, 2.0], &[0.0, 1.0], &[0.0, 1.0, 2.0], "whole numbers"),
        (&[2.0, 1.5], &[0.0, 1.0], &[0.0, 1.0, 2.0], "whole numbers"),
        (&[2.0, f64::NAN], &[0.0, 1.0], &[0.0, 1.0, 2.0], "whole numbers"),
        (&[2.0, 1e300], &[0.0, 1.0], &[0.0, 1.0, 2.0], "whole numbers"),
        (&[1e9, 2.0], &[0.0, 1.0], &[0.0, 1.0, 2.0], "claims 1000000000 × 2 cells"),
        (&[2.0, 2.0], &[0.0], &[0.0, 1.0, 2.0], "indices and data differ in length"),
        (&[2.0, 2.0], &[0.0, -1.0], &[0.0, 1.0, 2.0], "not an index"),
        (&[2.0, 2.0], &[0.0, 0.5], &[0.0, 1.0, 2.0], "not an index"),
        (&[2.0, 2.0], &[0.0, 4294967295.0], &[0.0, 1.0, 2.0], "not an index"),
        (&[2.0, 2.0], &[0.0, 2.0], &[0.0, 1.0, 2.0], "an entry at (1, 2) lies outside"),
        (&[2.0, 2.0], &[0.0, 1.0], &[0.0, 2.0], "indptr does not fit"),
        (&[2.0, 2.0], &[0.0, 1.0], &[1.0, 1.0, 2.0], "indptr does not fit"),
        (&[2.0, 2.0], &[0.0, 1.0], &[0.0, 1.0, 1.0], "indptr does not fit"),
        (&[2.0, 2.0], &[0.0, 1.0], &[0.0, 3.0, 2.0], "indptr does not fit"),
        (&[2.0, 2.0], &[0.0, 1.0], &[0.0, f64::NAN, 2.0], "indptr does not fit"),
        (&[2.0, 2.0], &[0.0, 1.0], &[0.0, -1.0, 2.0], "indptr does not fit"),
    ] {
        let said = csr(shape, ids, indptr);
        assert!(said.contains(expected), "{shape:?} {ids:?} {indptr:?}: {said}");
    }
    let said = sparse("dia", &[2.0, 2.0], &[data, indices]).unwrap_err().to_string();
    assert!(said.contains("the sparse format 'dia' is not read; save it as csr, csc or coo"), "{said}");
    let said = sparse("coo", &[2.0, 2.0], &[data]).unwrap_err().to_string();
    assert!(said.contains("x (row)"), "{said}");
}

fn read_archive(members: &[(&str, Vec<u8>)], array: Option<&str>) -> Result<Table, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    std::fs::write(&path, archive(members)).unwrap();
    match read(&Source::new(&path), &ReadOptions { array, ..ReadOptions::numbers() })? {
        Contents::Table(table) => Ok(table),
        other => panic!("{other:?}"),
    }
}

#[test]
fn arrays_of_an_archive_become_columns() {
    let table = doubles("(2, 2)", &[1.0, 2.0, 3.0, 4.0]);
    let more = doubles("(2,)", &[5.0, 6.0]);
    let long = doubles("(3,)", &[0.0; 3]);
    let words = npy("|S2", "(2,)", b"abcd");
    let members = [
        ("y", more.clone()),
        ("X", table.clone()),
        ("long", long.clone()),
        ("words", words),
        ("b", more.clone()),
    ];
    let found = read_archive(&members, None).unwrap();
    assert_eq!(found.number_names(), ["column_1", "column_2", "b", "y"]);
    assert_eq!(*found.values.to_f64(), [1.0, 2.0, 5.0, 5.0, 3.0, 4.0, 6.0, 6.0]);
    let chosen = read_archive(&members, Some("long")).unwrap();
    assert_eq!((chosen.n_rows, chosen.number_names()), (3, vec!["column_1"]));
    let all = read_arrays(Cursor::new(archive(&members)), "x", Budget::unlimited()).unwrap();
    assert_eq!(all.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["y", "X", "long", "b"]);
    assert_eq!(all[1].1.shape, [2, 2]);
    for (members, array, expected) in [
        (
            vec![("a", table.clone()), ("b", table.clone())],
            None,
            "it contains 2 arrays with two axes (a, b); choose one",
        ),
        (vec![("a", table.clone()), ("b", table.clone())], Some("c"), "it has no array 'c', but a, b"),
        (vec![("a", more.clone()), ("b", more.clone())], None, "it contains 0 arrays with two axes"),
        (vec![("a", npy("|S1", "()", b"a"))], None, "it contains no array of numbers"),
        (vec![("a", doubles("(1, 1, 1)", &[0.0]))], None, "its shape is [1, 1, 1]; two axes are needed"),
        (vec![("a", doubles("(0, 2)", &[]))], None, "is empty"),
        (vec![("a", doubles("(2, 0)", &[]))], None, "is empty"),
        (vec![("a", table.clone()), ("column_1", more.clone())], None, "two columns are called 'column_1'"),
    ] {
        let said = read_archive(&members, array).unwrap_err().to_string();
        assert!(said.contains(expected), "{said}");
    }
    assert_eq!(read_archive(&[("only", more)], None).unwrap().values.into_f64(), [5.0, 6.0]);
}

/// Columns of arrays as text, and infinite cells.
#[test]
fn cells_of_arrays_in_other_roles() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    std::fs::write(&path, doubles("(2, 3)", &[1.0, f64::NAN, 0.5, 2.0, -0.25, 1e300])).unwrap();
    let roles = |_: &[String]| Ok(vec![Role::Number, Role::Text, Role::Skip]);
    let options = ReadOptions { roles: &roles, ..ReadOptions::numbers() };
    let Contents::Table(table) = read(&Source::new(&path), &options).unwrap() else { panic!() };
    assert_eq!((&*table.values.to_f64(), table.n_numbers), (&[1.0, 2.0][..], 1));
    assert_eq!(texts_of(&table, "column_2"), ["", "-0.25"]);
    assert_eq!(table.columns[2].cells, Cells::Skipped);
    assert_eq!((table.texts("column_1"), table.texts("none")), (None, None));
    assert!(table.refuse_text("").is_ok());
    std::fs::write(&path, doubles("(2, 2)", &[1.0, 2.0, 3.0, f64::NEG_INFINITY])).unwrap();
    let said = read(&Source::new(&path), &ReadOptions::numbers()).unwrap_err().to_string();
    assert!(said.contains("row 2, column 'column_2': the value is infinite"), "{said}");
}

#[test]
fn names_imply_formats() {
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str| Output::new(&folder.path().join(name));
    for (name, format, table, graph) in [
        ("a.csv", Some(Format::Text(b',')), true, true),
        ("a.TXT", Some(Format::Text(b',')), true, true),
        ("a.tsv.gz", Some(Format::Text(b'\t')), true, true),
        ("a.tab", Some(Format::Text(b'\t')), true, true),
        ("a.npy", Some(Format::Npy), true, false),
        ("a.npz", Some(Format::Npz), false, true),
        ("a.parquet", Some(Format::Parquet), true, true),
        ("a.pq", Some(Format::Parquet), true, true),
        ("a.mtx.zst", Some(Format::MatrixMarket), false, true),
        ("a.xlsx", None, false, false),
        ("a.gz", None, false, false),
        ("a", None, false, false),
        ("-", Some(Format::Text(b',')), true, true),
    ] {
        let output = if name == "-" { Output::new(Path::new("-")) } else { of(name) };
        assert_eq!(Format::of(&output), format, "{name}");
        assert_eq!(check_table_output(&output).is_ok(), table, "{name}");
        assert_eq!(check_graph_output(&output).is_ok(), graph, "{name}");
    }
    assert_eq!(Output::new(Path::new("-")).to_string(), "standard output");
    assert!(
        check_table_output(&of("no/folder.csv")).is_err() && check_graph_output(&of("no/folder.pq")).is_err()
    );
    let matrix = SparseMatrix {
        n_rows: 2,
        n_columns: 3,
        offsets: vec![0, 1, 2],
        columns: vec![2, 0],
        values: vec![0.5, 2.0],
    };
    let edges = || NewTable::new(vec![NewColumn::integers("from", [0]), NewColumn::numbers("weight", [0.5])]);
    for name in ["m.npz", "m.mtx"] {
        write_matrix(&matrix, || unreachable!(), &of(name)).unwrap();
        let back = read(&Source::new(&folder.path().join(name)), &ReadOptions::numbers()).unwrap();
        assert_eq!(back, Contents::Sparse(matrix.clone()), "{name}");
    }
    write_graph(&matrix, edges, &of("g.csv")).unwrap();
    assert_eq!(std::fs::read_to_string(folder.path().join("g.csv")).unwrap(), "from,weight\n0,0.5\n");
    for name in ["g.npy", "g.xlsx"] {
        assert!(matches!(write_graph(&matrix, edges, &of(name)), Err(Error::UnknownFormat { .. })), "{name}");
    }
    // Whole numbers stay whole in NPY, beside others they do not; one column is one axis.
    write_table(&NewTable::new(vec![NewColumn::integers("a", [3, -4])]), &of("whole.npy")).unwrap();
    let whole = std::fs::read(folder.path().join("whole.npy")).unwrap();
    assert!(whole.windows(4).any(|part| part == b"'<i8") && whole.windows(4).any(|part| part == b"(2,)"));
    assert_eq!(read_npy(&whole[..], "x", Budget::unlimited()).unwrap().values, [3.0, -4.0]);
}

#[test]
fn safetensors_are_recognized() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    std::fs::write(&path, b"\x02\0\0\0\0\0\0\0{}").unwrap();
    let source = Source::new(&path);
    assert!(is_safetensors(&source, Budget::unlimited()).unwrap());
    assert!(!is_safetensors(&Source::Stdin, Budget::unlimited()).unwrap());
    let said = read(&source, &ReadOptions::numbers()).unwrap_err().to_string();
    assert!(said.contains("it contains named arrays (safetensors)"), "{said}");
    std::fs::write(&path, b"\x02\0\0\0\0\0\0\x01{}").unwrap();
    assert!(!is_safetensors(&source, Budget::unlimited()).unwrap());
    std::fs::write(&path, b"").unwrap();
    assert!(matches!(read(&source, &ReadOptions::numbers()), Err(Error::Empty { .. })));
}

#[test]
fn errors_say_sizes_and_whose_fault_it_is() {
    let over = |needed, allowed| Error::OverBudget { name: "x".into(), needed, allowed }.to_string();
    assert!(over(2000, 1023).contains("the 1023 bytes of memory that are allowed: at least 2 KiB"));
    assert!(over((1 << 20) + 1, 1 << 10).contains("the 1 KiB of memory that are allowed: at least 2 MiB"));
    assert!(over(1 << 30, 0).contains("the memory there is: 1024 MiB were not to be had"));
    let other = |kind: std::io::ErrorKind| std::io::Error::from(kind);
    let (pipe, full) = (std::io::ErrorKind::BrokenPipe, std::io::ErrorKind::StorageFull);
    assert!(Error::Stdout(other(pipe)).is_broken_pipe() && !Error::Stdout(other(full)).is_broken_pipe());
    let written = Error::Write { path: "x".into(), source: other(pipe) };
    assert!(!written.is_broken_pipe() && written.is_output() && Error::Stdout(other(full)).is_output());
    assert!(!Error::Empty { name: "x".into() }.is_output());
    let long = format!("a\n1\n{}\n", "é".repeat(50));
    let said = read_csv(long.as_bytes(), "x", &ReadOptions::numbers()).unwrap();
    assert!(obstacle(&said, "a").ends_with(&format!("{}…", "é".repeat(40))));
    let bell = read_csv(&b"a\n1\n\x07\n"[..], "x", &ReadOptions::numbers()).unwrap();
    assert!(obstacle(&bell, "a").ends_with("\\u{7}"));
}

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

#[test]
fn missing_cells_have_many_names() {
    for cell in ["", "na", "N/A", "NaN", "NULL", "None", "?"] {
        assert!(is_missing(cell.as_bytes()), "{cell}");
    }
    assert!(!is_missing(b"0") && !is_missing(b"nano"));
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

#[test]
fn files_of_the_program_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stage");
    replace_file(&path, |out| out.write_all(b"first")).unwrap();
    let failed = replace_file(&path, |out| {
        out.write_all(b"half")?;
        Err(std::io::Error::other("no more"))
    });
    assert!(matches!(failed, Err(Error::Write { path: named, .. }) if named == path));
    let (mut own, size) = open_own(&path).unwrap();
    let mut text = String::new();
    own.read_to_string(&mut text).unwrap();
    assert_eq!((text.as_str(), size), ("first", 5));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no part is left");
    assert!(open_own(folder.path()).is_err() && open_own(&folder.path().join("none")).is_err());
    assert!(!written().contains(&path.display().to_string()), "only outputs are listed");
    let output = Output::new(&folder.path().join("labels.csv"));
    output.write(|out| out.write_all(b"x\n")).unwrap();
    assert!(written().contains(&output.to_string()));
}

/// In the place of a link there is a file afterwards; what it named stays.
#[cfg(unix)]
#[test]
fn links_in_the_place_of_own_files_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (target, link) = (folder.path().join("target"), folder.path().join("link"));
    std::fs::write(&target, "of somebody").unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let refused = open_own(&link).map(|_| ()).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::InvalidInput);
    replace_file(&link, |out| out.write_all(b"ours")).unwrap();
    assert!(!link.is_symlink());
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "of somebody");
    assert_eq!(std::fs::read_to_string(&link).unwrap(), "ours");
}

/// A file that is written again keeps its permissions; a pipe is written to, not replaced.
#[cfg(unix)]
#[test]
fn permissions_and_pipes_stay() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("private.csv");
    std::fs::write(&path, "old").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    Output::new(&path).write(|out| out.write_all(b"new")).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    let pipe = folder.path().join("pipe");
    if std::process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read_to_string(pipe).unwrap()
        });
        Output::new(&pipe).write(|out| out.write_all(b"a,b\n1,2\n")).unwrap();
        assert_eq!(reader.join().unwrap(), "a,b\n1,2\n");
        assert!(std::fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
        assert_eq!(Format::of(&Output::new(&pipe)), Some(Format::Text(b',')));
    }
}
