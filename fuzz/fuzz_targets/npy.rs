#![no_main]
//! Arrays: any bytes, and any bytes behind the magic of a header.

use libfuzzer_sys::fuzz_target;
use taugraph_io::read_npy;

fuzz_target!(|bytes: &[u8]| {
    let _ = read_npy(bytes, "fuzz");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend_from_slice(bytes);
    if let Ok(array) = read_npy(&file[..], "fuzz") {
        assert_eq!(array.values.len(), array.shape.iter().product::<usize>());
    }
});
