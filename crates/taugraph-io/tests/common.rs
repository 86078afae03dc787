//! What several tests need: files, and what is in tables.

use std::io::{Cursor, Write};

use taugraph_io::{Cells, Role, Table};

/// Every column is text.
pub fn as_texts(names: &[String]) -> taugraph_io::Result<Vec<Role>> {
    Ok(vec![Role::Text; names.len()])
}

pub fn texts_of<'a>(table: &'a Table, name: &str) -> &'a [String] {
    table.texts(name).unwrap_or_else(|| panic!("{name} is no text"))
}

/// The cell that kept a column from being numbers.
pub fn obstacle(table: &Table, name: &str) -> String {
    match &table.columns.iter().find(|column| column.name == name).unwrap().cells {
        Cells::NotNumbers(place, cell) => format!("{place}: {cell}"),
        other => panic!("{name}: {other:?}"),
    }
}

/// An NPY file.
pub fn npy(kind: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    // As long for every shape, so that sizes of archives differ by their values alone.
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape:12}, }}\n");
    let mut all = b"\x93NUMPY\x01\x00".to_vec();
    all.extend((header.len() as u16).to_le_bytes());
    all.extend(header.as_bytes());
    all.extend(bytes);
    all
}

pub fn doubles(shape: &str, values: &[f64]) -> Vec<u8> {
    npy("<f8", shape, &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())
}

/// Arrays that are not compressed.
pub fn archive(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let plain = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in members {
        zip.start_file(format!("{name}.npy"), plain).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}
