//! Text formats: any bytes, and any bytes behind a beginning that is right.

use taugraph_io::{Header, ReadOptions, Role, read_csv, read_matrix_market, read_svmlight};

/// Columns in turn as numbers, text and skipped.
pub fn csv(bytes: &[u8]) {
    let roles = |names: &[String]| {
        Ok((0..names.len()).map(|place| [Role::Number, Role::Text, Role::Skip][place % 3]).collect())
    };
    for header in [Header::Automatic, Header::No] {
        let options =
            ReadOptions { roles: &roles, header, budget: &super::budget(), ..ReadOptions::numbers() };
        if let Ok(table) = read_csv(bytes, "fuzz", &options) {
            assert_eq!(table.values.len(), table.n_rows * table.n_numbers);
        }
    }
}

/// A file of labels: a header, and every column as text.
pub fn labels(bytes: &[u8]) {
    let roles = |names: &[String]| Ok(vec![Role::Text; names.len()]);
    let options = ReadOptions {
        roles: &roles,
        header: Header::Yes,
        budget: &super::budget(),
        ..ReadOptions::numbers()
    };
    if let Ok(table) = read_csv(bytes, "fuzz", &options) {
        let texts = table.columns.iter().filter_map(|column| table.texts(&column.name));
        assert!(texts.into_iter().all(|texts| texts.len() == table.n_rows));
    }
}

pub fn matrix_market(bytes: &[u8]) {
    let _ = read_matrix_market(bytes, "fuzz", &super::budget());
    let mut file = b"%%MatrixMarket matrix coordinate real symmetric\n".to_vec();
    file.extend_from_slice(bytes);
    if let Ok(matrix) = read_matrix_market(&file[..], "fuzz", &super::budget()) {
        assert_eq!(matrix.offsets.len(), matrix.n_rows + 1);
    }
}

pub fn svmlight(bytes: &[u8]) {
    let _ = read_svmlight(bytes, "fuzz", &super::budget());
    let mut file = b"1 1:1\n2 ".to_vec();
    file.extend_from_slice(bytes);
    if let Ok(found) = read_svmlight(&file[..], "fuzz", &super::budget()) {
        assert_eq!(found.labels.len(), found.matrix.n_rows);
        assert_eq!(found.matrix.offsets.len(), found.matrix.n_rows + 1);
        assert!(found.matrix.columns.iter().all(|&column| (column as usize) < found.matrix.n_columns));
    }
}
