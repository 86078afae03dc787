#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| taugraph_fuzz::run("files", bytes));
