#![no_main]
//! Named arrays and models: any bytes, and any bytes as header and values of a file whose length of the header is right.

use libfuzzer_sys::fuzz_target;
use taugraph::arrays::Arrays;
use taugraph::model::Model;

fuzz_target!(|bytes: &[u8]| {
    let _ = Model::from_bytes(bytes);
    let n_header = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let mut file = (n_header as u64).to_le_bytes().to_vec();
    file.extend_from_slice(bytes);
    let known = Arrays::from_bytes(&file);
    let stream = Arrays::read(&mut &file[..], None);
    assert_eq!(known.is_ok(), stream.is_ok());
    if let Ok((text, arrays)) = known {
        let again = Arrays::from_bytes(&arrays.to_bytes(&text).unwrap()).unwrap();
        assert_eq!(again.0, text);
        let _ = Model::from_bytes(&file);
    }
});
