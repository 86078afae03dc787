#![no_main]
//! Svmlight: any bytes, and any bytes behind a label.

use libfuzzer_sys::fuzz_target;
use taugraph_io::read_svmlight;

fuzz_target!(|bytes: &[u8]| {
    let _ = read_svmlight(bytes, "fuzz");
    let mut file = b"1 1:1\n2 ".to_vec();
    file.extend_from_slice(bytes);
    if let Ok(found) = read_svmlight(&file[..], "fuzz") {
        assert_eq!(found.labels.len(), found.matrix.n_rows);
        assert_eq!(found.matrix.offsets.len(), found.matrix.n_rows + 1);
        assert!(found.matrix.columns.iter().all(|&column| (column as usize) < found.matrix.n_columns));
    }
});
