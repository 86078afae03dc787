//! Cells of Parquet files: every type of column, as numbers and as text, and every encoding.

use std::sync::Arc;

use parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType, FloatType,
    Int32Type, Int64Type, Int96, Int96Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use taugraph_io::{Budget, Error, ReadOptions, Role, read_parquet};

use crate::common::{as_texts, obstacle, texts_of};

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
