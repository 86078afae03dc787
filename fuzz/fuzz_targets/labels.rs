#![no_main]

libfuzzer_sys::fuzz_target!(init: taugraph_fuzz::on_this_thread(), |bytes: &[u8]| taugraph_fuzz::labels(bytes));
