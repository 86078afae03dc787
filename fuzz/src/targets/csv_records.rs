//! Our reader of delimited text compared with the csv crate: the same cells, or an error in both.

use csv::{ByteRecord, ReaderBuilder, Trim};
use taugraph_io::{Header, ReadOptions, Role, read_csv};

/// Rows of cells without a header, delimited by commas.
pub fn csv_records(bytes: &[u8]) {
    // Marks of other encodings are ours to see; the csv crate reads them as cells.
    if bytes.starts_with(b"\xef\xbb\xbf") || bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff")
    {
        return;
    }
    let roles = |names: &[String]| Ok(vec![Role::Text; names.len()]);
    let options = ReadOptions {
        roles: &roles,
        delimiter: Some(b','),
        header: Header::No,
        budget: &super::budget(),
        ..ReadOptions::numbers()
    };
    let Ok(table) = read_csv(bytes, "fuzz", &options) else { return };
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).trim(Trim::All).from_reader(bytes);
    let (mut record, mut row) = (ByteRecord::new(), 0);
    while reader.read_byte_record(&mut record).expect("memory can be read") {
        assert_eq!(record.len(), table.columns.len(), "row {row}");
        for (cell, column) in record.iter().zip(&table.columns) {
            let texts = table.texts(&column.name).expect("every column is text");
            assert_eq!(texts[row].as_bytes(), cell, "row {row}");
        }
        row += 1;
    }
    assert_eq!(row, table.n_rows);
}
