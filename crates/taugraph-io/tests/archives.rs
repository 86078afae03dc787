//! Arrays of NumPy: archives of several, sparse matrices among them, and cells in every role.

use std::io::Cursor;

use taugraph_io::{
    Budget, Cells, Contents, Error, ReadOptions, Role, Source, SparseMatrix, Table, read, read_arrays,
    read_sparse_npz,
};

use crate::common::{archive, doubles, npy, texts_of};

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
