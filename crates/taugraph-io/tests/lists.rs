//! Columns of lists in Parquet files, the usual form of embeddings: a block of columns, in memory and on disk.

use std::sync::Arc;

use bytes::Bytes;
use parquet::data_type::{ByteArrayType, DataType, DoubleType, FloatType, Int32Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use taugraph_io::{
    Budget, Cells, Error, Extent, ReadOptions, Role, ScratchFolder, Source, Table, extent, read_on_disk,
    read_parquet,
};

/// Rows of a file: an id, and a list that may be missing, with elements that may be.
type Lists<T> = Vec<Option<Vec<Option<T>>>>;

/// A required id and optional lists of optional elements, as pyarrow and polars write them, in row groups of two rows.
fn file<D: DataType>(element: &str, lists: &Lists<D::T>) -> Vec<u8> {
    let schema = format!(
        "message table {{ required int32 id; optional group vector (LIST) {{ repeated group list {{ optional {element}; }} }} }}"
    );
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let mut bytes = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut bytes, schema, Arc::new(WriterProperties::builder().build())).unwrap();
    for (first, lists) in (0..).step_by(2).zip(lists.chunks(2)) {
        let mut group = writer.next_row_group().unwrap();
        let ids: Vec<i32> = (first..first + lists.len() as i32).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int32Type>().write_batch(&ids, None, None).unwrap();
        column.close().unwrap();
        let (mut values, mut levels, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
        for list in lists {
            match list.as_deref() {
                None => (levels.push(0), repetitions.push(0)).0,
                Some([]) => (levels.push(1), repetitions.push(0)).0,
                Some(elements) => {
                    for (place, element) in elements.iter().enumerate() {
                        repetitions.push(i16::from(place > 0));
                        levels.push(if element.is_some() { 3 } else { 2 });
                        values.extend(element.clone());
                    }
                }
            }
        }
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<D>().write_batch(&values, Some(&levels), Some(&repetitions)).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
    bytes
}

fn without_id(names: &[String]) -> taugraph_io::Result<Vec<Role>> {
    Ok(names.iter().map(|name| if name == "id" { Role::Text } else { Role::Number }).collect())
}

fn options() -> ReadOptions<'static> {
    ReadOptions { roles: &without_id, ..ReadOptions::numbers() }
}

fn table(bytes: &[u8], options: &ReadOptions<'_>) -> taugraph_io::Result<Table> {
    read_parquet(Bytes::from(bytes.to_vec()), "file", options)
}

/// Four lists: the third is missing, and so is an element of the second.
fn four() -> Lists<f32> {
    vec![
        Some(vec![Some(1.0), Some(2.5), Some(-3.0)]),
        Some(vec![Some(4.0), None, Some(0.1)]),
        None,
        Some(vec![Some(7.0), Some(8.0), Some(9.0)]),
    ]
}

#[test]
fn lists_are_blocks_of_columns() {
    let bytes = file::<FloatType>("float element", &four());
    let found = table(&bytes, &options()).unwrap();
    assert_eq!(found.number_names(), ["vector[0]", "vector[1]", "vector[2]"]);
    assert_eq!(found.texts("id").unwrap(), ["0", "1", "2", "3"]);
    assert!(found.values.is_single(), "the id is text");
    let values: Vec<String> = found.values.iter().map(|value| (value as f32).to_string()).collect();
    assert_eq!(values, ["1", "2.5", "-3", "4", "NaN", "0.1", "NaN", "NaN", "NaN", "7", "8", "9"]);
    // A whole number beside them is not single precision.
    let all = table(&bytes, &ReadOptions::numbers()).unwrap();
    assert!(!all.values.is_single());
    assert_eq!((all.n_numbers, all.values.get(7)), (4, f64::from(0.1f32)));
    let some = |names: &[String]| {
        let role = |name: &String| if name == "vector[1]" { Role::Number } else { Role::Skip };
        Ok(names.iter().map(role).collect())
    };
    let some = table(&bytes, &ReadOptions { roles: &some, ..ReadOptions::numbers() }).unwrap();
    assert_eq!((some.n_numbers, some.values.get(0), some.values.get(3)), (1, 2.5, 8.0));
}

#[test]
fn lists_of_every_number() {
    let double =
        four().into_iter().map(|list| Some(list?.into_iter().map(|x| Some(f64::from(x?))).collect()));
    let found = table(&file::<DoubleType>("double element", &double.collect()), &options()).unwrap();
    assert!(!found.values.is_single() && found.values.get(1) == 2.5);
    let whole: Lists<i32> = vec![Some(vec![Some(3), Some(-4)]), Some(vec![Some(5), None])];
    for (element, is_single) in [("int32 element", false), ("int32 element (INT_8)", true)] {
        let found = table(&file::<Int32Type>(element, &whole), &options()).unwrap();
        assert_eq!(found.values.is_single(), is_single, "{element}");
        assert_eq!(found.values.to_f64()[..3], [3.0, -4.0, 5.0]);
    }
}

#[test]
fn lists_on_disk_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lists.parquet");
    let bytes = file::<FloatType>("float element", &four());
    std::fs::write(&path, &bytes).unwrap();
    let scratch = ScratchFolder::new(folder.path()).unwrap();
    let source = Source::new(&path);
    let found = read_on_disk(&source, &options(), &scratch).unwrap();
    let expected = table(&bytes, &options()).unwrap();
    let bits = |values: Vec<f64>| -> Vec<u64> { values.into_iter().map(f64::to_bits).collect() };
    assert_eq!(bits(found.values.iter().collect()), bits(expected.values.iter().collect()));
    let known = extent(&source, &options()).unwrap();
    assert_eq!(known, Some(Extent { n_rows: 4, n_numbers: 3, is_single: true }));
}

#[test]
fn other_lengths_are_named() {
    for (row, list, n_found) in [(1, vec![], 0), (3, vec![Some(1.0); 2], 2), (1, vec![Some(1.0); 5], 5)] {
        let mut lists = four();
        lists[row] = Some(list);
        let error = table(&file::<FloatType>("float element", &lists), &options()).unwrap_err();
        let Error::ListLength { found, expected, ref column, .. } = error else { panic!("{error}") };
        assert_eq!((found, expected, column.as_str()), (n_found, 3, "vector"));
        let said = error.to_string();
        assert!(said.contains(&format!("row {}", row + 1)) && said.contains("the same length"), "{said}");
    }
}

/// Lists that are all missing are one column without a number; the first may be missing too.
#[test]
fn missing_lists_count_nowhere() {
    let found = table(&file::<FloatType>("float element", &vec![None; 5]), &options()).unwrap();
    assert_eq!((found.n_numbers, found.values.iter().filter(|value| value.is_nan()).count()), (1, 5));
    let late = vec![None, None, None, Some(vec![Some(1.0), Some(2.0)])];
    let found = table(&file::<FloatType>("float element", &late), &options()).unwrap();
    assert_eq!((found.n_numbers, found.values.get(7)), (2, 2.0));
}

#[test]
fn lists_of_texts_and_lists_as_texts_are_refused() {
    let words: Lists<parquet::data_type::ByteArray> = vec![Some(vec![Some("a".into())]), None];
    let found = table(&file::<ByteArrayType>("binary element (UTF8)", &words), &options()).unwrap();
    assert!(matches!(&found.columns[1].cells, Cells::NotNumbers(_, what) if what.contains("nested")));
    assert!(found.refuse_text("").is_err());
    let texts = |names: &[String]| Ok(vec![Role::Text; names.len()]);
    let bytes = file::<FloatType>("float element", &four());
    let error = table(&bytes, &ReadOptions { roles: &texts, ..ReadOptions::numbers() }).unwrap_err();
    assert!(error.to_string().contains("'vector[0]' is part of a list"), "{error}");
}

/// Cut or changed anywhere: an error or a table of the same shape, and never more memory than allowed.
#[test]
fn damaged_files_are_refused() {
    let bytes = file::<FloatType>("float element", &four());
    for length in 0..bytes.len() {
        assert!(table(&bytes[..length], &options()).is_err(), "{length}");
    }
    for place in 0..bytes.len() {
        for change in [0x01, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[place] ^= change;
            let budget = Budget::of(Some(1 << 20));
            if let Ok(found) = table(&changed, &ReadOptions { budget: &budget, ..options() }) {
                assert_eq!(found.values.len(), found.n_rows * found.n_numbers);
            }
        }
    }
}

/// The table, the names of its columns and a page of lists are charged.
#[test]
fn lists_are_within_the_budget() {
    let lists: Lists<f32> = vec![Some(vec![Some(1.5); 1000]); 20];
    let bytes = file::<FloatType>("float element", &lists);
    let limited = |allowed: u64| {
        let budget = Budget::of(Some(allowed));
        table(&bytes, &ReadOptions { budget: &budget, ..options() })
    };
    assert!(limited(1 << 22).is_ok());
    assert!(matches!(limited(400_000), Err(Error::OverBudget { .. })));
}
