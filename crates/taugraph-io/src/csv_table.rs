//! Tables from delimited text.

use std::io::{BufRead, Cursor, Read};

use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder, Trim};

use crate::delimiter;
use crate::error::{Error, Place, Result, shortened};
use crate::source::unreadable;
use crate::table::{Cells, Header, MOST_COLUMNS, ReadOptions, Table, check_names, numbered_names};

/// Bytes looked at to find the delimiter.
const START: usize = 1 << 16;

/// How many missing cells look like in text tables, lower case.
const MISSING: [&[u8]; 7] = [b"", b"na", b"n/a", b"nan", b"null", b"none", b"?"];

/// Reads a delimited text table. `name` is for messages.
pub fn read_csv(mut source: impl BufRead, name: &str, options: &ReadOptions<'_>) -> Result<Table> {
    let mut start = Vec::new();
    source.by_ref().take(START as u64).read_to_end(&mut start).map_err(|error| unreadable(name, error))?;
    if start.starts_with(b"\xef\xbb\xbf") {
        start.drain(..3);
    }
    if start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff") {
        return Err(Error::NotUtf8 { name: name.to_string(), place: Place::Line(1) });
    }
    let delimiter = options.delimiter.unwrap_or_else(|| delimiter::find(&start, start.len() < START));
    let reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .buffer_capacity(1 << 18)
        .from_reader(Cursor::new(start).chain(source));
    Rows { reader, name }.read(options)
}

struct Rows<'a, R> {
    reader: Reader<R>,
    name: &'a str,
}

impl<R: Read> Rows<'_, R> {
    fn read(mut self, options: &ReadOptions<'_>) -> Result<Table> {
        let name = self.name.to_string();
        let mut record = ByteRecord::new();
        if !self.next(&mut record)? {
            return Err(Error::Empty { name });
        }
        let n_columns = record.len();
        if n_columns > MOST_COLUMNS {
            return Err(Error::TooManyColumns { name, found: n_columns, most: MOST_COLUMNS });
        }
        let is_header = match options.header {
            Header::Yes => true,
            Header::No => false,
            Header::Automatic => record.iter().any(|cell| number(cell).is_none()),
        };
        let names = if is_header { header_names(self.name, &record)? } else { numbered_names(n_columns) };
        check_names(self.name, &names)?;
        let roles = (options.roles)(&names)?;
        let mut table = Table::empty(self.name, names, &roles, Some(u64::from(is_header)));
        let mut more = true;
        if is_header {
            more = self.next(&mut record)?;
            if !more {
                return Err(Error::NoRows { name });
            }
        }
        while more {
            if record.len() != n_columns {
                let (line, found, expected) = (line_of(&record), record.len(), n_columns);
                return Err(Error::Ragged { name, line, found, expected });
            }
            self.append(&record, &mut table)?;
            more = self.next(&mut record)?;
        }
        table.finish()
    }

    fn next(&mut self, record: &mut ByteRecord) -> Result<bool> {
        self.reader.read_byte_record(record).map_err(|error| match error.into_kind() {
            ErrorKind::Io(source) => unreadable(self.name, source),
            other => Error::Malformed {
                name: self.name.to_string(),
                format: "CSV",
                problem: csv::Error::from(std::io::Error::other(format!("{other:?}"))).to_string(),
            },
        })
    }

    fn append(&self, record: &ByteRecord, table: &mut Table) -> Result<()> {
        for (cell, column) in record.iter().zip(&mut table.columns) {
            match &mut column.cells {
                Cells::Skipped => {}
                // The place in the row stays filled until the table is finished.
                Cells::NotNumbers(..) => table.values.push(f64::NAN),
                Cells::Numbers(_) => match number(cell) {
                    Some(value) => table.values.push(value),
                    None => {
                        let place = Place::Line(line_of(record));
                        column.cells = Cells::NotNumbers(place, shortened(cell));
                        table.values.push(f64::NAN);
                    }
                },
                Cells::Texts(texts) => texts.push(text(self.name, cell, Place::Line(line_of(record)))?),
            }
        }
        table.n_rows += 1;
        Ok(())
    }
}

fn line_of(record: &ByteRecord) -> u64 {
    record.position().map_or(0, csv::Position::line)
}

fn text(name: &str, cell: &[u8], place: Place) -> Result<String> {
    match std::str::from_utf8(cell) {
        Ok(text) => Ok(text.to_string()),
        Err(_) => Err(Error::NotUtf8 { name: name.to_string(), place }),
    }
}

/// Names of the columns; one without a name gets its number.
fn header_names(name: &str, record: &ByteRecord) -> Result<Vec<String>> {
    let cells = record.iter().zip(numbered_names(record.len()));
    cells
        .map(|(cell, numbered)| {
            let text = text(name, cell, Place::Line(1))?;
            Ok(if text.is_empty() { numbered } else { text })
        })
        .collect()
}

/// A number, NaN for a missing cell, `None` for anything else.
fn number(cell: &[u8]) -> Option<f64> {
    // Digits are by far the most frequent case.
    if let Some(value) = std::str::from_utf8(cell).ok().and_then(|text| text.parse::<f64>().ok()) {
        return Some(value);
    }
    let missing = cell.len() <= 4 && MISSING.contains(&cell.to_ascii_lowercase().as_slice());
    missing.then_some(f64::NAN)
}
