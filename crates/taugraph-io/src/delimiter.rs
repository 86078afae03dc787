//! Finds the delimiter of a text table.

/// The delimiters that are tried, the likelier first.
const CANDIDATES: [u8; 5] = [b',', b'\t', b';', b'|', b' '];

/// Lines looked at.
const LINES: usize = 20;

/// The delimiter that cuts the first lines into the most cells of which every line has equally many; a comma where
/// there is only one column. `start` is the beginning of the file; its last line may be cut off if the file goes on.
pub(crate) fn find(start: &[u8], is_whole: bool) -> u8 {
    let mut best = (b',', 1);
    for delimiter in CANDIDATES {
        let lines = cells_of_lines(start, delimiter, is_whole);
        let Some(&first) = lines.first() else { continue };
        let even = lines.iter().all(|&cells| cells == first);
        if even && first > best.1 {
            best = (delimiter, first);
        }
    }
    if best.1 == 1 {
        // Ragged in every way: the delimiter of the first line is the best guess, and the reader names the line.
        let of_first =
            |delimiter: u8| cells_of_lines(start, delimiter, true).first().copied().unwrap_or_default();
        let most = CANDIDATES[..4].iter().copied().max_by_key(|&delimiter| of_first(delimiter));
        return most.filter(|&delimiter| of_first(delimiter) > 1).unwrap_or(b',');
    }
    best.0
}

/// Cells of each of the first lines, delimiters and line breaks within quotes not counted.
fn cells_of_lines(start: &[u8], delimiter: u8, is_whole: bool) -> Vec<usize> {
    let (mut lines, mut cells, mut quoted, mut empty) = (Vec::new(), 1, false, true);
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

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn delimiters_are_found() {
        for (text, delimiter) in [
            ("a,b,c\n1,2,3\n", b','),
            ("a\tb\n1,5\t2\n3,5\t4", b'\t'),
            ("a;b\n1,5;2\n", b';'),
            ("a|b\n1|2\n", b'|'),
            ("1 2 3\n4 5 6\n", b' '),
            ("\"x, y\",b\n\"1,\n2\",3\n", b','),
            ("only\n1\n2\n", b','),
            ("first name,b\n1,2\n", b','),
            ("a,b\n1,2,3\n", b','),
            ("", b','),
        ] {
            assert_eq!(find(text.as_bytes(), true), delimiter, "{text:?}");
        }
        // The last line is cut off: it does not count.
        assert_eq!(find(b"a;b;c\n1;2;3\n4;5", false), b';');
    }
}
