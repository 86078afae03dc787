//! MatrixMarket's coordinate files.

use std::io::{BufRead, Write};

use crate::budget::Budget;
use crate::error::{Error, Place, Result};
use crate::sparse::SparseMatrix;

fn malformed(name: &str, line: u64, problem: impl std::fmt::Display) -> Error {
    let problem = format!("{}: {problem}", Place::Line(line));
    Error::Malformed { name: name.to_string(), format: "MatrixMarket", problem }
}

/// A longer line is not one of numbers.
const LONGEST_LINE: u64 = 1 << 16;

/// Entries charged at once.
const STEP: usize = 1 << 12;

struct Lines<'a, R> {
    source: R,
    name: &'a str,
    number: u64,
    line: String,
}

impl<R: BufRead> Lines<'_, R> {
    /// The next line that is neither empty nor a comment; `None` at the end.
    fn next(&mut self) -> Result<Option<&str>> {
        loop {
            self.number += 1;
            let mut bytes = Vec::new();
            let mut limited = std::io::Read::take(&mut self.source, LONGEST_LINE);
            let length = limited
                .read_until(b'\n', &mut bytes)
                .map_err(|source| crate::source::unreadable(self.name, source))?;
            if length == 0 {
                return Ok(None);
            }
            if length as u64 == LONGEST_LINE {
                return Err(malformed(self.name, self.number, "the line is too long"));
            }
            self.line = String::from_utf8(bytes)
                .map_err(|_| malformed(self.name, self.number, "the line is not text"))?;
            let text = self.line.trim();
            let is_comment = text.starts_with('%') && self.number > 1;
            if !(text.is_empty() || is_comment) {
                return Ok(Some(self.line.trim()));
            }
        }
    }
}

/// Reads a coordinate matrix: real, integer or pattern; general or symmetric. `name` is for messages.
pub fn read_matrix_market(source: impl BufRead, name: &str, budget: &Budget) -> Result<SparseMatrix> {
    let mut lines = Lines { source, name, number: 0, line: String::new() };
    let banner = lines.next()?.unwrap_or_default().to_ascii_lowercase();
    let words: Vec<&str> = banner.split_whitespace().collect();
    let (field, symmetry) = match words[..] {
        ["%%matrixmarket", "matrix", "coordinate", field, symmetry] => (field, symmetry),
        ["%%matrixmarket", "matrix", "array", ..] => {
            return Err(malformed(
                name,
                1,
                "dense arrays are not read; save a sparse matrix, or an NPY file",
            ));
        }
        _ => return Err(malformed(name, 1, "it does not begin with %%MatrixMarket matrix coordinate")),
    };
    let has_values = match field {
        "real" | "integer" | "double" => true,
        "pattern" => false,
        other => return Err(malformed(name, 1, format!("the field '{other}' is not read"))),
    };
    let is_symmetric = match symmetry {
        "general" => false,
        "symmetric" => true,
        other => return Err(malformed(name, 1, format!("the symmetry '{other}' is not read"))),
    };
    let sizes: Vec<usize> = match lines.next()? {
        Some(line) => line.split_whitespace().map_while(|word| word.parse().ok()).collect(),
        None => Vec::new(),
    };
    let [n_rows, n_columns, n_entries] = sizes[..] else {
        return Err(malformed(name, lines.number, "three sizes are expected: rows, columns, entries"));
    };
    let (mut entries, mut held) = (Vec::new(), budget.hold(0, name)?);
    for number in 0..n_entries {
        if number % STEP == 0 {
            // Two of 16 bytes for a line of a symmetric matrix, and half as much to sort them.
            held.set(24 * (entries.len() + 2 * STEP) as u64, name)?;
            budget.reserve(&mut entries, 2 * STEP, name)?;
        }
        let Some(line) = lines.next()? else {
            let problem = format!("{n_entries} entries were announced, but it ends before that many");
            return Err(malformed(name, lines.number, problem));
        };
        let mut words = line.split_whitespace();
        let mut id = || words.next()?.parse::<u32>().ok()?.checked_sub(1);
        let (row, column) = (id(), id());
        let value = if has_values { words.next().and_then(|word| word.parse().ok()) } else { Some(1.0) };
        let (Some(row), Some(column), Some(value)) = (row, column, value) else {
            return Err(malformed(
                name,
                lines.number,
                "an entry must be a row, a column and a value, counted from 1",
            ));
        };
        entries.push((row, column, value));
        if is_symmetric && row != column {
            entries.push((column, row, value));
        }
    }
    if lines.next()?.is_some() {
        return Err(malformed(
            name,
            lines.number,
            format!("there are more entries than the {n_entries} announced"),
        ));
    }
    SparseMatrix::from_entries((n_rows, n_columns), entries, "MatrixMarket", name, budget)
}

/// Writes the lower triangle of a symmetric matrix, or everything.
pub(crate) fn write_matrix_market(
    matrix: &SparseMatrix,
    is_symmetric: bool,
    out: &mut (dyn Write + Send),
) -> std::io::Result<()> {
    let kept = |&(row, column, _): &(u32, u32, f64)| !is_symmetric || row >= column;
    let symmetry = if is_symmetric { "symmetric" } else { "general" };
    writeln!(out, "%%MatrixMarket matrix coordinate real {symmetry}")?;
    writeln!(out, "{} {} {}", matrix.n_rows, matrix.n_columns, matrix.entries().filter(kept).count())?;
    for (row, column, value) in matrix.entries().filter(kept) {
        writeln!(out, "{} {} {value:e}", row + 1, column + 1)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symmetric_files_come_back() {
        let entries = vec![(0, 1, 0.1), (1, 0, 0.1), (2, 2, 1e-300)];
        let matrix = SparseMatrix::from_entries((3, 3), entries, "test", "x", Budget::unlimited()).unwrap();
        for is_symmetric in [true, false] {
            let mut bytes = Vec::new();
            write_matrix_market(&matrix, is_symmetric, &mut bytes).unwrap();
            assert_eq!(read_matrix_market(&bytes[..], "x", Budget::unlimited()).unwrap(), matrix);
        }
    }

    #[test]
    fn patterns_and_comments_are_read() {
        let text = "%%MatrixMarket matrix coordinate pattern symmetric\n% a comment\n\n2 2 1\n2 1\n";
        let matrix = read_matrix_market(text.as_bytes(), "x", Budget::unlimited()).unwrap();
        assert_eq!(matrix.entries().collect::<Vec<_>>(), [(0, 1, 1.0), (1, 0, 1.0)]);
    }

    #[test]
    fn broken_files_name_the_line() {
        for (text, line) in [
            ("", "line 1"),
            (
                "%%MatrixMarket matrix coordinate real\n",
                "does not begin with %%MatrixMarket matrix coordinate",
            ),
            ("%%MatrixMarket matrix array real general\n", "dense arrays are not read"),
            ("%%MatrixMarket matrix coordinate complex general\n", "line 1: the field 'complex' is not read"),
            ("%%MatrixMarket matrix coordinate real skew\n", "line 1: the symmetry 'skew' is not read"),
            ("%%MatrixMarket matrix coordinate real general\n", "three sizes"),
            ("%%MatrixMarket matrix coordinate real general\n2 2 2 2\n", "three sizes"),
            ("%%MatrixMarket matrix coordinate real general\n2 2\n", "line 2: three sizes"),
            ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 x 1\n", "line 3"),
            ("%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 1\n", "line 3"),
            (
                "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n",
                "2 entries were announced, but it ends",
            ),
            (
                "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n1 2 1\n",
                "line 4: there are more",
            ),
            ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 1\n", "outside"),
            ("%%MatrixMarket matrix coordinate real general\n99999999999 2 0\n", "claims"),
        ] {
            let message =
                read_matrix_market(text.as_bytes(), "x", Budget::unlimited()).unwrap_err().to_string();
            assert!(message.contains(line), "{message}");
        }
    }
}
