//! Detects the delimiter of a text table.

/// The delimiters to try, in order. A comma between semicolons is a decimal comma; a semicolon between commas hardly
/// ever occurs in every line.
const CANDIDATES: [u8; 5] = [b'\t', b';', b'|', b',', b' '];

/// Lines examined.
const LINES: usize = 20;

/// The first delimiter that splits each of the first lines into the same number of cells, more than one; a comma
/// if there is none. `start` is the beginning of the file; its last line may be truncated if the file continues.
pub(crate) fn find(start: &[u8], is_whole: bool) -> u8 {
    let is_even = |&delimiter: &u8| {
        let lines = cells_of_lines(start, delimiter, is_whole);
        lines.first().is_some_and(|&first| first > 1 && lines.iter().all(|&cells| cells == first))
    };
    if let Some(delimiter) = CANDIDATES.into_iter().find(is_even) {
        return delimiter;
    }
    // Ragged with every delimiter: that of the first line is the best guess, and the reader reports the bad line.
    let of_first =
        |delimiter: u8| cells_of_lines(start, delimiter, true).first().copied().unwrap_or_default();
    // The last of equals: a comma if there is none.
    CANDIDATES[..4].iter().copied().max_by_key(|&delimiter| of_first(delimiter)).unwrap_or(b',')
}

/// Number of cells of each of the first lines, not counting delimiters and line breaks within quotes.
fn cells_of_lines(start: &[u8], delimiter: u8, is_whole: bool) -> Vec<usize> {
    let (mut lines, mut cells, mut quoted, mut empty) = (Vec::new(), 1, false, true);
    let squeezed;
    let start = match delimiter {
        b' ' => {
            squeezed = squeeze(start);
            &squeezed[..]
        }
        _ => start,
    };
    for &byte in start {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' if !quoted => {
                if !empty {
                    lines.push(cells);
                }
                (cells, empty) = (1, true);
                if lines.len() == LINES {
                    return lines;
                }
                continue;
            }
            b'\r' => continue,
            _ if byte == delimiter && !quoted => cells += 1,
            _ => {}
        }
        empty = false;
    }
    if !empty && (is_whole || lines.is_empty()) {
        lines.push(cells);
    }
    lines
}

/// Collapses runs of blanks and tabs to one blank, and removes them at the ends of lines; quoted text stays as it is.
fn squeeze(text: &[u8]) -> Vec<u8> {
    let mut all = Vec::with_capacity(text.len() + 64);
    std::io::Read::read_to_end(&mut Squeezed::new(text), &mut all).expect("memory can be read");
    all
}

/// A source of blank-delimited text whose columns are aligned by several blanks.
pub(crate) struct Squeezed<R> {
    source: R,
    is_quoted: bool,
    /// A blank that counts only if something follows on the line.
    pending: bool,
    is_start: bool,
}

impl<R> Squeezed<R> {
    pub fn new(source: R) -> Self {
        Self { source, is_quoted: false, pending: false, is_start: true }
    }
}

impl<R: std::io::Read> std::io::Read for Squeezed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        // A byte yields at most two (a pending blank and itself), so half of the buffer is filled at a time.
        let mut raw = vec![0; (buffer.len() / 2).max(1)];
        if buffer.len() < 2 {
            return Err(std::io::Error::other("the buffer is too small"));
        }
        loop {
            let length = self.source.read(&mut raw)?;
            if length == 0 {
                return Ok(0);
            }
            let mut kept = 0;
            for &byte in &raw[..length] {
                if matches!(byte, b' ' | b'\t') && !self.is_quoted {
                    self.pending = !self.is_start;
                    continue;
                }
                let is_end = matches!(byte, b'\n' | b'\r') && !self.is_quoted;
                if self.pending && !is_end {
                    buffer[kept] = b' ';
                    kept += 1;
                }
                buffer[kept] = byte;
                kept += 1;
                (self.pending, self.is_start) = (false, is_end);
                self.is_quoted ^= byte == b'"';
            }
            if kept > 0 {
                return Ok(kept);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::{LINES, Squeezed, cells_of_lines, find};

    #[test]
    fn delimiters_are_found() {
        for (text, delimiter) in [
            ("a,b,c\n1,2,3\n", b','),
            ("a\tb\n1,5\t2\n3,5\t4", b'\t'),
            ("a;b\n1,5;2\n", b';'),
            ("a|b\n1|2\n", b'|'),
            ("1 2 3\n4 5 6\n", b' '),
            ("\"x, y\",b\n\"1,\n2\",3\n", b','),
            (" 1  2   3\n10 20  30 \n", b' '),
            ("0,5;1,5\n2,5;3,5\n", b';'),
            ("only\n1\n2\n", b','),
            ("first name,b\n1,2\n", b','),
            ("a,b\n1,2,3\n", b','),
            ("", b','),
        ] {
            assert_eq!(find(text.as_bytes(), true), delimiter, "{text:?}");
        }
        // The last line is truncated and does not count.
        assert_eq!(find(b"a;b;c\n1;2;3\n4;5", false), b';');
    }

    #[test]
    fn cells_of_lines_are_counted() {
        let none: &[usize] = &[];
        for (text, delimiter, is_whole, cells) in [
            ("", b',', true, none),
            ("\n\r\n\n", b',', true, none),
            ("a", b',', true, &[1]),
            ("a,b\n", b',', true, &[2]),
            ("a,b\r\n\r\n1,2,3\r\n", b',', true, &[2, 3]),
            (",\n,,", b',', true, &[2, 3]),
            // Delimiters and line breaks within quotes do not count, and a quoted nothing is a cell.
            ("\"a,b\n,c\",d\ne,f,g", b',', true, &[2, 3]),
            ("\"a\"\"b,c\",d", b',', true, &[2]),
            ("\"\"\n1,2", b',', true, &[1, 2]),
            // A line that may continue counts only if there is no other.
            ("a,b\n1,2,3", b',', false, &[2]),
            ("a,b,c", b',', false, &[3]),
            ("a,b\n1,2,3\n", b',', false, &[2, 3]),
            ("  a  b\t c \n1 2", b' ', true, &[3, 2]),
            ("a b\tc\n", b'\t', true, &[2]),
        ] {
            assert_eq!(cells_of_lines(text.as_bytes(), delimiter, is_whole), cells, "{text:?}");
        }
        assert_eq!(cells_of_lines("1,2\n".repeat(LINES + 5).as_bytes(), b',', true), [2; LINES]);
    }

    /// The delimiter of the first line, where lines differ; a blank is no guess.
    #[test]
    fn uneven_lines_are_guessed_by_the_first() {
        for (text, delimiter) in [
            ("a;b;c\n1;2\n", b';'),
            ("a;b;c,d\n1\n", b';'),
            ("a|b\n1|2|3\n", b'|'),
            ("a b c\n1\n", b','),
            ("a,b\tc,d\n1\n", b','),
        ] {
            assert_eq!(find(text.as_bytes(), true), delimiter, "{text:?}");
        }
        // Lines after those that are examined do not matter.
        let text = "1;2\n".repeat(LINES) + "1;2;3\n";
        assert_eq!(find(text.as_bytes(), true), b';');
    }

    #[test]
    fn blanks_are_squeezed() {
        for (text, expected) in [
            ("a b", "a b"),
            ("  a \t b  \n\t1  2\n", "a b\n1 2\n"),
            ("a  \r\n  b", "a\r\nb"),
            ("\"a  b\"   c", "\"a  b\" c"),
            ("\" \n  x\"  1\n  2", "\" \n  x\" 1\n2"),
            ("  ", ""),
            ("", ""),
        ] {
            for room in [2, 3, 7, 64] {
                let (mut squeezed, mut all) = (Squeezed::new(text.as_bytes()), Vec::new());
                let mut buffer = vec![0; room];
                loop {
                    match squeezed.read(&mut buffer).unwrap() {
                        0 => break,
                        length => all.extend_from_slice(&buffer[..length]),
                    }
                }
                assert_eq!(String::from_utf8(all).unwrap(), expected, "{text:?} by {room}");
            }
        }
        assert!(Squeezed::new(&b"a"[..]).read(&mut [0]).is_err());
    }
}
