#![no_main]
//! Archives: sparse matrices and plain arrays.

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use taugraph_io::{read_arrays, read_sparse_npz};

fuzz_target!(|bytes: &[u8]| {
    let _ = read_arrays(Cursor::new(bytes), "fuzz");
    if let Ok(matrix) = read_sparse_npz(Cursor::new(bytes), "fuzz") {
        assert_eq!(matrix.entries().count(), matrix.values.len());
    }
});
