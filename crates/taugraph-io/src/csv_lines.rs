//! Lines of delimited text without quotes, parsed in parallel.

use rayon::prelude::*;

use crate::budget::{Budget, Held, text_bytes};
use crate::csv_table::{number, text};
use crate::error::{Error, Place, Result, shortened};
use crate::table::{Cells, Role, Table};

/// Approximate size of a chunk in bytes.
const CHUNK: usize = 1 << 19;

/// What each column is read for.
pub(crate) struct Layout {
    delimiter: u8,
    roles: Vec<Role>,
    n_texts: usize,
    n_numbers: usize,
    name: String,
}

impl Layout {
    pub fn of(table: &Table, delimiter: u8) -> Self {
        let role = |cells: &Cells| match cells {
            Cells::Numbers(_) | Cells::NotNumbers(..) => Role::Number,
            Cells::Texts(_) => Role::Text,
            Cells::Skipped => Role::Skip,
        };
        let roles: Vec<Role> = table.columns.iter().map(|column| role(&column.cells)).collect();
        let n_texts = roles.iter().filter(|&&role| role == Role::Text).count();
        let n_numbers = roles.iter().filter(|&&role| role == Role::Number).count();
        Self { delimiter, roles, n_texts, n_numbers, name: table.name.clone() }
    }
}

/// The contents of a chunk; lines are counted from its beginning.
pub(crate) struct Chunk {
    /// For everything in it.
    held: Held,
    /// Bytes that are not charged yet.
    uncharged: u64,
    values: Vec<f64>,
    texts: Vec<Vec<String>>,
    n_rows: usize,
    n_lines: u64,
    /// The first cell of a column that is not a number.
    not_numbers: Vec<(usize, u64, String)>,
    /// The first error, and its line.
    error: Option<(u64, LineError)>,
}

impl Chunk {
    fn new(layout: &Layout, budget: &Budget) -> Self {
        Self {
            held: Held::nothing(budget),
            uncharged: 0,
            values: Vec::new(),
            texts: vec![Vec::new(); layout.n_texts],
            n_rows: 0,
            n_lines: 0,
            not_numbers: Vec::new(),
            error: None,
        }
    }

    fn charge(&mut self, layout: &Layout) {
        if let Err(error) = self.held.add(std::mem::take(&mut self.uncharged), &layout.name) {
            // What is wrong in an earlier line, or in this one, counts more.
            self.error.get_or_insert((self.n_lines, LineError::OverBudget(error)));
        }
    }
}

enum LineError {
    Ragged(usize),
    NotUtf8,
    OverBudget(Error),
}

/// Parses whole lines; `None` if a line is not a row, because there are quotes.
pub(crate) fn parse_lines(block: &[u8], layout: &Layout, budget: &Budget) -> Option<Vec<Chunk>> {
    let chunks = cut(block).into_par_iter();
    chunks.map(|chunk| lines_are_rows(chunk).then(|| parse(chunk, layout, budget))).collect()
}

/// Whether each line is a row: no quotes, and no carriage return that ends a line by itself.
fn lines_are_rows(lines: &[u8]) -> bool {
    memchr::memchr2_iter(b'"', b'\r', lines)
        .all(|place| lines[place] == b'\r' && lines.get(place + 1).is_none_or(|&next| next == b'\n'))
}

/// Appends the parsed rows to the table; returns the number of lines so far.
pub(crate) fn append_lines(
    chunks: Vec<Chunk>,
    layout: &Layout,
    lines_before: u64,
    table: &mut Table,
    budget: &Budget,
) -> Result<u64> {
    let mut line = lines_before;
    for chunk in chunks {
        for (column, within, cell) in chunk.not_numbers {
            let cells = &mut table.columns[column].cells;
            if let Cells::Numbers(_) = cells {
                *cells = Cells::NotNumbers(Place::Line(line + within), cell);
            }
        }
        if let Some((within, error)) = chunk.error {
            let (name, line, expected) = (layout.name.clone(), line + within, layout.roles.len());
            return Err(match error {
                LineError::Ragged(found) => Error::Ragged { name, line, found, expected },
                LineError::NotUtf8 => Error::NotUtf8 { name, place: Place::Line(line) },
                LineError::OverBudget(error) => error,
            });
        }
        let values = table.values.doubles();
        budget.reserve(values, chunk.values.len(), &layout.name)?;
        values.extend(chunk.values);
        chunk.held.keep();
        let mut texts = chunk.texts.into_iter();
        for column in &mut table.columns {
            if let Cells::Texts(all) = &mut column.cells {
                all.extend(texts.next().expect("a list for each column of text"));
            }
        }
        if chunk.n_rows as u64 != chunk.n_lines {
            // Empty lines: row numbers no longer follow from line numbers.
            table.header_lines = None;
        }
        table.n_rows += chunk.n_rows;
        line += chunk.n_lines;
    }
    Ok(line)
}

/// Chunks of whole lines.
fn cut(mut block: &[u8]) -> Vec<&[u8]> {
    let mut chunks = Vec::with_capacity(block.len() / CHUNK + 1);
    while block.len() > CHUNK {
        let Some(more) = memchr::memchr(b'\n', &block[CHUNK..]) else { break };
        let (chunk, rest) = block.split_at(CHUNK + more + 1);
        chunks.push(chunk);
        block = rest;
    }
    chunks.push(block);
    chunks
}

/// Bytes charged at once.
const STEP: u64 = 1 << 16;

fn parse(bytes: &[u8], layout: &Layout, budget: &Budget) -> Chunk {
    let mut chunk = Chunk::new(layout, budget);
    let mut begin = 0;
    while begin < bytes.len() && chunk.error.is_none() {
        let end = memchr::memchr(b'\n', &bytes[begin..]).map_or(bytes.len(), |length| begin + length);
        chunk.n_lines += 1;
        let line = &bytes[begin..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !line.is_empty() {
            parse_line(line, layout, &mut chunk);
            chunk.uncharged += 8 * layout.n_numbers as u64;
        }
        begin = end + 1;
        if chunk.uncharged > STEP || begin >= bytes.len() {
            chunk.charge(layout);
        }
    }
    chunk
}

fn parse_line(line: &[u8], layout: &Layout, chunk: &mut Chunk) {
    let (mut rest, mut text_column) = (Some(line), 0);
    for (column, role) in layout.roles.iter().enumerate() {
        let Some(bytes) = rest else {
            chunk.error = Some((chunk.n_lines, LineError::Ragged(column)));
            return;
        };
        // A number that ends where its cell ends needs no search for the delimiter.
        if *role == Role::Number
            && let Ok((value, length)) = fast_float2::parse_partial::<f64, _>(bytes)
            && bytes.get(length).is_none_or(|&next| next == layout.delimiter)
        {
            chunk.values.push(value);
            rest = bytes.get(length + 1..);
            continue;
        }
        let (cell, after) = match memchr::memchr(layout.delimiter, bytes) {
            Some(end) => (&bytes[..end], Some(&bytes[end + 1..])),
            None => (bytes, None),
        };
        rest = after;
        let cell = cell.trim_ascii();
        match role {
            Role::Skip => {}
            Role::Number => chunk.values.push(number(cell).unwrap_or_else(|| {
                if !chunk.not_numbers.iter().any(|(known, _, _)| *known == column) {
                    chunk.not_numbers.push((column, chunk.n_lines, shortened(cell)));
                }
                f64::NAN
            })),
            Role::Text => {
                match text(&layout.name, cell, chunk.n_lines) {
                    Ok(text) => {
                        chunk.uncharged += text_bytes(text.len());
                        chunk.texts[text_column].push(text);
                    }
                    Err(_) => {
                        chunk.error = Some((chunk.n_lines, LineError::NotUtf8));
                        return;
                    }
                }
                text_column += 1;
            }
        }
    }
    if let Some(bytes) = rest {
        let more = 1 + memchr::memchr_iter(layout.delimiter, bytes).count();
        chunk.error = Some((chunk.n_lines, LineError::Ragged(layout.roles.len() + more)));
        return;
    }
    chunk.n_rows += 1;
}
