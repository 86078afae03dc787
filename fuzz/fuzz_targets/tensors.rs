#![no_main]
//! Named arrays: any bytes, and any bytes as header and values of a file whose length of the header is right.

use libfuzzer_sys::fuzz_target;
use taugraph_io::Tensors;

fuzz_target!(|bytes: &[u8]| {
    let _ = Tensors::read_from(bytes, None, "fuzz");
    let n_header = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let mut file = (n_header as u64).to_le_bytes().to_vec();
    file.extend_from_slice(bytes);
    let known = Tensors::read_from(&file[..], Some(file.len() as u64), "fuzz");
    let stream = Tensors::read_from(&file[..], None, "fuzz");
    assert_eq!(known.is_ok(), stream.is_ok());
});
