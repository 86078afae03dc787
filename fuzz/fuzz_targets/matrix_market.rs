#![no_main]
//! MatrixMarket: any bytes, and any bytes behind a header.

use libfuzzer_sys::fuzz_target;
use taugraph_io::read_matrix_market;

fuzz_target!(|bytes: &[u8]| {
    let _ = read_matrix_market(bytes, "fuzz");
    let mut file = b"%%MatrixMarket matrix coordinate real symmetric\n".to_vec();
    file.extend_from_slice(bytes);
    if let Ok(matrix) = read_matrix_market(&file[..], "fuzz") {
        assert_eq!(matrix.offsets.len(), matrix.n_rows + 1);
    }
});
