//! Lines of delimited text without quotes, parsed in parallel.

use rayon::prelude::*;

use crate::csv_table::{number, text};
use crate::error::{Error, Place, Result, shortened};
use crate::table::{Cells, Role, Table};

/// Bytes of a piece, about.
const PIECE: usize = 1 << 19;

/// What each column is read for.
pub(crate) struct Layout {
    delimiter: u8,
    roles: Vec<Role>,
    n_texts: usize,
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
        Self { delimiter, roles, n_texts, name: table.name.clone() }
    }
}

/// What a piece holds; lines are counted from its beginning.
#[derive(Default)]
pub(crate) struct Piece {
    values: Vec<f64>,
    texts: Vec<Vec<String>>,
    n_rows: usize,
    n_lines: u64,
    /// The first cell of a column that is not a number.
    not_numbers: Vec<(usize, u64, String)>,
    /// The first error, and its line.
    error: Option<(u64, LineError)>,
}

enum LineError {
    Ragged(usize),
    NotUtf8,
}

/// Parses whole lines; `None` if a line is not a row, because there are quotes.
pub(crate) fn parse_lines(block: &[u8], layout: &Layout) -> Option<Vec<Piece>> {
    cut(block).into_par_iter().map(|piece| lines_are_rows(piece).then(|| parse(piece, layout))).collect()
}

/// Whether each line is a row: no quotes, and no carriage return that ends a line by itself.
fn lines_are_rows(lines: &[u8]) -> bool {
    memchr::memchr2_iter(b'"', b'\r', lines)
        .all(|place| lines[place] == b'\r' && lines.get(place + 1).is_none_or(|&next| next == b'\n'))
}

/// Appends what was parsed to the table; gives the number of lines up to here.
pub(crate) fn append_lines(
    pieces: Vec<Piece>,
    layout: &Layout,
    lines_before: u64,
    table: &mut Table,
) -> Result<u64> {
    let mut line = lines_before;
    for piece in pieces {
        for (column, within, cell) in piece.not_numbers {
            let cells = &mut table.columns[column].cells;
            if let Cells::Numbers(_) = cells {
                *cells = Cells::NotNumbers(Place::Line(line + within), cell);
            }
        }
        if let Some((within, error)) = piece.error {
            let (name, line, expected) = (layout.name.clone(), line + within, layout.roles.len());
            return Err(match error {
                LineError::Ragged(found) => Error::Ragged { name, line, found, expected },
                LineError::NotUtf8 => Error::NotUtf8 { name, place: Place::Line(line) },
            });
        }
        table.values.extend(piece.values);
        let mut texts = piece.texts.into_iter();
        for column in &mut table.columns {
            if let Cells::Texts(all) = &mut column.cells {
                all.extend(texts.next().expect("a list for each column of text"));
            }
        }
        if piece.n_rows as u64 != piece.n_lines {
            // Empty lines: rows are no longer numbered as lines.
            table.header_lines = None;
        }
        table.n_rows += piece.n_rows;
        line += piece.n_lines;
    }
    Ok(line)
}

/// Pieces of whole lines.
fn cut(mut block: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::with_capacity(block.len() / PIECE + 1);
    while block.len() > PIECE {
        let Some(more) = memchr::memchr(b'\n', &block[PIECE..]) else { break };
        let (piece, rest) = block.split_at(PIECE + more + 1);
        pieces.push(piece);
        block = rest;
    }
    pieces.push(block);
    pieces
}

fn parse(bytes: &[u8], layout: &Layout) -> Piece {
    let mut piece = Piece { texts: vec![Vec::new(); layout.n_texts], ..Piece::default() };
    let mut begin = 0;
    while begin < bytes.len() && piece.error.is_none() {
        let end = memchr::memchr(b'\n', &bytes[begin..]).map_or(bytes.len(), |length| begin + length);
        piece.n_lines += 1;
        let line = &bytes[begin..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !line.is_empty() {
            parse_line(line, layout, &mut piece);
        }
        begin = end + 1;
    }
    piece
}

fn parse_line(line: &[u8], layout: &Layout, piece: &mut Piece) {
    let (mut rest, mut text_column) = (Some(line), 0);
    for (column, role) in layout.roles.iter().enumerate() {
        let Some(bytes) = rest else {
            piece.error = Some((piece.n_lines, LineError::Ragged(column)));
            return;
        };
        // A number that ends where its cell ends needs no search for the delimiter.
        if *role == Role::Number
            && let Ok((value, length)) = fast_float2::parse_partial::<f64, _>(bytes)
            && bytes.get(length).is_none_or(|&next| next == layout.delimiter)
        {
            piece.values.push(value);
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
            Role::Number => piece.values.push(number(cell).unwrap_or_else(|| {
                if !piece.not_numbers.iter().any(|(known, _, _)| *known == column) {
                    piece.not_numbers.push((column, piece.n_lines, shortened(cell)));
                }
                f64::NAN
            })),
            Role::Text => {
                match text(&layout.name, cell, piece.n_lines) {
                    Ok(text) => piece.texts[text_column].push(text),
                    Err(_) => {
                        piece.error = Some((piece.n_lines, LineError::NotUtf8));
                        return;
                    }
                }
                text_column += 1;
            }
        }
    }
    if let Some(bytes) = rest {
        let more = 1 + memchr::memchr_iter(layout.delimiter, bytes).count();
        piece.error = Some((piece.n_lines, LineError::Ragged(layout.roles.len() + more)));
        return;
    }
    piece.n_rows += 1;
}
