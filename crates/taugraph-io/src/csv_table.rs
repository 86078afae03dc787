//! Tables from delimited text.
//!
//! Blocks without quotes, which are the rule in tables of numbers, are split into chunks at line ends and parsed in parallel
//! ([`crate::csv_lines`]). From the first quote on, the csv crate takes over, since a row may then span several lines.

use std::io::{BufRead, BufReader, Cursor, Read};

use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder, Trim};

use crate::budget::{Budget, Held, text_bytes};
use crate::csv_lines::{Chunk, Layout, append_lines, parse_lines};
use crate::delimiter::{self, Squeezed};
use crate::error::{Error, Place, Result, shortened};
use crate::source::unreadable;
use crate::table::{
    Cells, Header, MAX_COLUMNS, ReadOptions, Table, charge_columns, check_names, numbered_names,
};

/// Bytes examined to detect the delimiter.
const START: usize = 1 << 16;

/// Bytes parsed at once, by all threads together.
const BLOCK: usize = 1 << 24;

/// How missing cells are written in text tables, in lower case.
const MISSING: [&[u8]; 7] = [b"", b"na", b"n/a", b"nan", b"null", b"none", b"?"];

/// Reads a delimited text table. `name` is for messages.
pub fn read_csv(source: impl BufRead + Send, name: &str, options: &ReadOptions<'_>) -> Result<Table> {
    // While a block is parsed the next one is read: what goes on at once has to be a small part of what is allowed.
    let block = options.budget.share(64, BLOCK as u64).max(START as u64) as usize;
    options.budget.attempt(|| read_in_blocks(source, name, options, block))
}

/// The same with blocks of another size; no blocks at all if it is 0.
pub(crate) fn read_in_blocks(
    mut source: impl BufRead + Send,
    name: &str,
    options: &ReadOptions<'_>,
    block: usize,
) -> Result<Table> {
    let mut start = Vec::new();
    let is_whole = fill(&mut source, &mut start, START, options.budget, name)?;
    if start.starts_with(b"\xef\xbb\xbf") {
        start.drain(..3);
    }
    if start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff") {
        return Err(Error::NotUtf8 { name: name.to_string(), place: Place::Line(1) });
    }
    let delimiter = options.delimiter.unwrap_or_else(|| delimiter::find(&start, is_whole));
    if delimiter == b' ' {
        let squeezed = BufReader::new(Squeezed::new(Cursor::new(start).chain(source)));
        return Start { bytes: Vec::new(), is_whole: false, delimiter }.read(squeezed, name, options, block);
    }
    Start { bytes: start, is_whole, delimiter }.read(source, name, options, block)
}

/// The first bytes of a table, and what is known about it.
struct Start {
    bytes: Vec<u8>,
    is_whole: bool,
    delimiter: u8,
}

impl Start {
    fn read(
        self,
        mut source: impl BufRead + Send,
        name: &str,
        options: &ReadOptions<'_>,
        block: usize,
    ) -> Result<Table> {
        let Start { bytes: mut start, mut is_whole, delimiter } = self;
        let budget = options.budget;
        if start.is_empty() {
            is_whole = fill(&mut source, &mut start, START, budget, name)?;
        }
        // The whole first two rows, however long they are.
        let (mut first, mut second) = (ByteRecord::new(), ByteRecord::new());
        let mut held = budget.hold(0, name)?;
        let rest_begins = loop {
            held.set(start.len() as u64 + record_bytes(start.len(), &start, delimiter), name)?;
            let mut reader = new_reader(Cursor::new(&start), delimiter);
            next_record(&mut reader, &mut first, name)?;
            let after_first = reader.position().byte() as usize;
            next_record(&mut reader, &mut second, name)?;
            if is_whole || (reader.position().byte() as usize) < start.len() {
                break after_first;
            }
            let double = 2 * start.len();
            held.set(2 * double as u64, name)?;
            is_whole = fill(&mut source, &mut start, double, budget, name)?;
        };
        if first.is_empty() {
            return Err(Error::Empty { name: name.to_string() });
        }
        let n_columns = first.len();
        if n_columns > MAX_COLUMNS {
            let name = name.to_string();
            return Err(Error::TooManyColumns { name, found: n_columns, most: MAX_COLUMNS });
        }
        let is_header = match options.header {
            Header::Yes => true,
            Header::No => false,
            Header::Automatic => looks_like_header(&first, &second),
        };
        charge_columns(n_columns, if is_header { first.as_slice().len() } else { 0 }, name, budget)?;
        let names = if is_header { header_names(name, &first)? } else { numbered_names(n_columns) };
        check_names(name, &names)?;
        let roles = (options.roles)(&names)?;
        let mut lines_before = 0;
        if is_header {
            lines_before = memchr::memchr_iter(b'\n', &start[..rest_begins]).count() as u64;
            start.drain(..rest_begins);
        }
        let table = Table::empty(name, names, &roles, Some(lines_before));
        let mut rows = Rows { table, delimiter, lines_before, budget };
        let pending = if block > 0 { rows.read_blocks(&mut source, start, block)? } else { start };
        rows.read_records(Cursor::new(pending).chain(source))?;
        if rows.table.n_rows == 0 {
            return Err(Error::NoRows { name: name.to_string() });
        }
        rows.table.finish()
    }
}

/// Reads until there are `length` bytes; returns whether the source ended earlier.
fn fill(
    source: &mut impl Read,
    bytes: &mut Vec<u8>,
    length: usize,
    budget: &Budget,
    name: &str,
) -> Result<bool> {
    let missing = length.saturating_sub(bytes.len());
    budget.reserve(bytes, missing, name)?;
    let read = source.take(missing as u64).read_to_end(bytes).map_err(|error| unreadable(name, error))?;
    Ok(read < missing)
}

/// What two records of these bytes take at most: each cell has its end, what is too small is doubled, and trimming makes a copy.
fn record_bytes(length: usize, bytes: &[u8], delimiter: u8) -> u64 {
    let ends = 2 + memchr::memchr2_iter(delimiter, b'\n', bytes).count();
    4 * length as u64 + 32 * ends as u64
}

fn new_reader<R: Read>(source: R, delimiter: u8) -> Reader<R> {
    ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .buffer_capacity(1 << 18)
        .from_reader(source)
}

fn next_record<R: Read>(reader: &mut Reader<R>, record: &mut ByteRecord, name: &str) -> Result<bool> {
    reader.read_byte_record(record).map_err(|error| match error.into_kind() {
        ErrorKind::Io(source) => unreadable(name, source),
        other => {
            let problem = format!("{other:?}");
            Error::Malformed { name: name.to_string(), format: "CSV", problem }
        }
    })
}

/// Passes bytes on, tracks whether they contained an odd number of quotes, and charges what a record of them would take.
struct QuoteCount<R> {
    source: R,
    is_odd: bool,
    delimiter: u8,
    /// For what was read since the last record.
    held: Held,
}

impl<R: Read> Read for QuoteCount<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.source.read(buffer)?;
        let bytes = &buffer[..length];
        self.is_odd ^= memchr::memchr_iter(b'"', bytes).count() % 2 == 1;
        self.held.add_io(record_bytes(length, bytes, self.delimiter))?;
        Ok(length)
    }
}

/// The table while it is being filled.
struct Rows<'a> {
    table: Table,
    delimiter: u8,
    /// Lines before those still to be read.
    lines_before: u64,
    budget: &'a Budget,
}

impl Rows<'_> {
    /// Reads whole lines as long as they contain no quotes; returns what is left unread.
    fn read_blocks(
        &mut self,
        source: &mut (impl Read + Send),
        start: Vec<u8>,
        block: usize,
    ) -> Result<Vec<u8>> {
        let name = self.table.name.clone();
        let layout = Layout::of(&self.table, self.delimiter);
        let budget = self.budget;
        // The bytes of two blocks, and the numbers of two: a number has at least two characters with its delimiter.
        let blocks = 10 * block as u64;
        let mut held = budget.hold(blocks, &name)?;
        let (mut bytes, mut next, mut parsed) = (start, Vec::new(), Vec::new());
        let mut is_whole = fill(source, &mut bytes, block, budget, &name)?;
        while !bytes.is_empty() {
            let end = match is_whole {
                true => bytes.len(),
                false => memchr::memrchr(b'\n', &bytes).map_or(0, |place| place + 1),
            };
            if end == 0 {
                // A line is longer than the block: try again with twice the size.
                let double = 2 * bytes.len();
                held.set(blocks + 2 * double as u64, &name)?;
                is_whole = fill(source, &mut bytes, double, budget, &name)?;
                continue;
            }
            // While these lines are parsed, the previous ones are appended and the next ones read.
            next.clear();
            next.extend_from_slice(&bytes[end..]);
            let (chunks, others) = rayon::join(
                || parse_lines(&bytes[..end], &layout, budget),
                || {
                    self.append_lines(std::mem::take(&mut parsed), &layout)?;
                    if is_whole { Ok(true) } else { fill(source, &mut next, block, budget, &name) }
                },
            );
            is_whole = others?;
            let Some(chunks) = chunks else {
                bytes.truncate(end);
                bytes.append(&mut next);
                return Ok(bytes);
            };
            parsed = chunks;
            std::mem::swap(&mut bytes, &mut next);
        }
        self.append_lines(parsed, &layout)?;
        Ok(bytes)
    }

    fn append_lines(&mut self, chunks: Vec<Chunk>, layout: &Layout) -> Result<()> {
        self.lines_before = append_lines(chunks, layout, self.lines_before, &mut self.table, self.budget)?;
        Ok(())
    }

    /// Reads records that may contain quotes and line breaks.
    fn read_records(&mut self, source: impl Read) -> Result<()> {
        let name = self.table.name.clone();
        let n_columns = self.table.columns.len();
        let held = self.budget.hold(0, &name)?;
        let source = QuoteCount { source, is_odd: false, delimiter: self.delimiter, held };
        let mut reader = new_reader(source, self.delimiter);
        let mut record = ByteRecord::new();
        let (mut last_broken, mut expected_line) = (None, self.lines_before + 1);
        while next_record(&mut reader, &mut record, &name)? {
            let line = self.lines_before + record.position().map_or(0, csv::Position::line);
            if line != expected_line {
                // From here on rows and lines differ, so messages count rows.
                self.table.header_lines = None;
            }
            expected_line = line + 1;
            last_broken = record.as_slice().contains(&b'\n').then_some(line);
            if record.len() != n_columns {
                return Err(Error::Ragged { name, line, found: record.len(), expected: n_columns });
            }
            self.append(&record, line)?;
            reader.get_mut().held.set(0, &name)?;
        }
        // The csv crate treats the end of the file as the missing quote, and all lines up to it as the cell.
        match last_broken {
            Some(line) if reader.get_ref().is_odd => Err(Error::OpenQuote { name, line }),
            _ => Ok(()),
        }
    }

    fn append(&mut self, record: &ByteRecord, line: u64) -> Result<()> {
        let table = &mut self.table;
        self.budget.take(8 * table.n_numbers as u64, &table.name)?;
        let values = table.values.doubles();
        self.budget.reserve(values, table.n_numbers, &table.name)?;
        for (cell, column) in record.iter().zip(&mut table.columns) {
            match &mut column.cells {
                Cells::Skipped => {}
                // The slot in the row stays filled until the table is finished.
                Cells::NotNumbers(..) => values.push(f64::NAN),
                Cells::Numbers(_) => match number(cell) {
                    Some(value) => values.push(value),
                    None => {
                        column.cells = Cells::NotNumbers(Place::Line(line), shortened(cell));
                        values.push(f64::NAN);
                    }
                },
                Cells::Texts(texts) => {
                    self.budget.take(text_bytes(cell.len()), &table.name)?;
                    texts.push(text(&table.name, cell, line)?);
                }
            }
        }
        table.n_rows += 1;
        Ok(())
    }
}

pub(crate) fn text(name: &str, cell: &[u8], line: u64) -> Result<String> {
    match std::str::from_utf8(cell) {
        Ok(text) => Ok(text.to_string()),
        Err(_) => Err(Error::NotUtf8 { name: name.to_string(), place: Place::Line(line) }),
    }
}

/// Whether the first row names the columns: it has text above a number. If the rows do not differ in that way, a row of
/// only text is a header, and one that contains a number (a table without header whose last column is text) is not.
fn looks_like_header(first: &ByteRecord, second: &ByteRecord) -> bool {
    let is_number = |cell: &[u8]| number(cell).is_some();
    let mut pairs = first.iter().zip(second.iter());
    pairs.any(|(above, below)| !is_number(above) && is_number(below)) || !first.iter().any(is_number)
}

/// Names of the columns; one without a name gets its number.
fn header_names(name: &str, record: &ByteRecord) -> Result<Vec<String>> {
    let cells = record.iter().zip(numbered_names(record.len()));
    cells
        .map(|(cell, numbered)| {
            let text = text(name, cell, 1)?;
            Ok(if text.is_empty() { numbered } else { text })
        })
        .collect()
}

/// A number, NaN for a missing cell, `None` for anything else. The cell is trimmed.
pub(crate) fn number(cell: &[u8]) -> Option<f64> {
    if let Ok(value) = fast_float2::parse(cell) {
        return Some(value);
    }
    is_missing(cell).then_some(f64::NAN)
}

/// Whether a trimmed cell of a text table is missing: empty, NA, N/A, NaN, null, none or ?, in any case.
pub fn is_missing(cell: &[u8]) -> bool {
    cell.len() <= 4 && MISSING.contains(&cell.to_ascii_lowercase().as_slice())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::table::Role;

    /// The text table as both parsers see it; texts are in the second column.
    fn both(text: &str, block: usize) -> [String; 2] {
        let roles = |names: &[String]| {
            Ok((0..names.len()).map(|place| if place == 1 { Role::Text } else { Role::Number }).collect())
        };
        let options = ReadOptions { roles: &roles, delimiter: Some(b','), ..ReadOptions::numbers() };
        let found = [block, 0].map(|block| match read_in_blocks(text.as_bytes(), "x", &options, block) {
            // As text: NaN equals itself there.
            Ok(table) => format!("{:?}", Table { header_lines: None, ..table }),
            Err(error) => error.to_string(),
        });
        // After empty lines the csv crate names the first of them, the fast parser the line itself.
        let plain = text.replace('\r', "\n");
        if plain.starts_with('\n') || plain.contains("\n\n") { found.map(without_lines) } else { found }
    }

    fn without_lines(text: String) -> String {
        if let Some(place) = text.find(": the value is infinite") {
            return text[place..].to_string();
        }
        let mut masked = String::new();
        for part in text.split_inclusive("ine") {
            masked.push_str(part.trim_start_matches(|c: char| " (".contains(c) || c.is_ascii_digit()));
        }
        masked
    }

    #[test]
    fn blocks_and_records_agree_on_the_odd_cases() {
        for text in [
            "a,b\n1,x\n2,y\n",
            "a,b\r\n1,x\r\n\r\n2,y",
            "a,b\n1,x\n2\n",
            "a,b\n1,x\n\n\nz,y\n3,\n",
            "a,b\n 1 , x y \n,\n",
            "a,b\r1,x\r2,y\r",
            "a,b\n1,x\n2,\"y\nz\"\n3,w\nbad,v\n",
            "1,2\n3,4\n   \n5,6\n",
            "a\n\n1\n \n2\n",
            "\n\na,b\n1,x\n",
            "a,b\n1,x,\n",
        ] {
            for block in [1, 7, 1 << 20] {
                let [fast, slow] = both(text, block);
                assert_eq!(fast, slow, "{text:?} in blocks of {block}");
            }
        }
    }

    proptest! {
        /// The fast parser against the csv crate.
        #[test]
        fn blocks_and_records_agree(
            text in "([ab0-9.,\\-+e \"\r\n]|nan|inf|,|\n){0,60}",
            block in 1usize..40,
        ) {
            let [fast, slow] = both(&text, block);
            prop_assert_eq!(fast, slow);
        }

        /// Numbers against the standard library.
        #[test]
        fn numbers_are_those_of_the_standard_library(text in "[-+]?[0-9]{0,25}(\\.[0-9]{0,25})?([eE][-+]?[0-9]{1,3})?") {
            let standard = if text.is_empty() { Some(f64::NAN) } else { text.parse::<f64>().ok() };
            prop_assert_eq!(number(text.as_bytes()).map(f64::to_bits), standard.map(f64::to_bits));
        }
    }
}
