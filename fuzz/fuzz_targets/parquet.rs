#![no_main]
//! Parquet tables. The parquet crate panics on some broken files, which our reader turns into errors; libfuzzer's own hook
//! would end the run at the first of them, so it is replaced.

use std::sync::Once;

use libfuzzer_sys::fuzz_target;
use taugraph_io::{ReadOptions, read_parquet};

static QUIET: Once = Once::new();

fuzz_target!(|bytes: &[u8]| {
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    let _ = read_parquet(bytes::Bytes::copy_from_slice(bytes), "fuzz", &ReadOptions::numbers());
});
