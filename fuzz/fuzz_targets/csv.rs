#![no_main]
//! Delimited text: any bytes, columns in turn as numbers, text and skipped.

use libfuzzer_sys::fuzz_target;
use taugraph_io::{Header, ReadOptions, Role, read_csv};

fuzz_target!(|bytes: &[u8]| {
    let roles = |names: &[String]| {
        Ok((0..names.len()).map(|place| [Role::Number, Role::Text, Role::Skip][place % 3]).collect())
    };
    for header in [Header::Automatic, Header::No] {
        let options = ReadOptions { roles: &roles, delimiter: None, header, array: None };
        if let Ok(table) = read_csv(bytes, "fuzz", &options) {
            assert_eq!(table.values.len(), table.n_rows * table.n_numbers);
        }
    }
});
