//! Labeled sparse rows as text, `label column:value column:value …`, as SVMlight, LIBSVM and scikit-learn write them.

use std::io::BufRead;

use crate::budget::{Budget, text_bytes};
use crate::error::{Error, Place, Result, shortened};
use crate::source::read_line;
use crate::sparse::{LabeledMatrix, SparseMatrix};

/// The largest column that a file may name.
const MAX: u64 = u32::MAX as u64 - 2;

/// Lines examined to detect the format.
const LINES: usize = 16;

fn malformed(name: &str, line: u64, problem: impl std::fmt::Display) -> Error {
    let problem = format!("{}: {problem}", Place::Line(line));
    Error::Malformed { name: name.to_string(), format: "svmlight", problem }
}

/// Whether a text begins like this format: the first lines are numeric labels followed by pairs, and there is at least one
/// pair. Text labels are read, but prove nothing: dates and times look like that, too.
pub(crate) fn is_svmlight(start: &[u8]) -> bool {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    // The last line may be truncated where the bytes end.
    let whole = start.iter().rposition(|&byte| byte == b'\n').map_or(start, |end| &start[..end]);
    let lines = whole.split(|&byte| byte == b'\n').map(without_comment);
    let mut has_pair = false;
    for line in lines.filter(|line| !line.is_empty()).take(LINES) {
        let mut words = words_of(line);
        let is_number = |part: &[u8]| number(part).is_some();
        if !words.next().is_some_and(|label| label.split(|&byte| byte == b',').all(is_number)) {
            return false;
        }
        let mut words = words.peekable();
        words.next_if(|word| word.starts_with(b"qid:"));
        for word in words {
            if pair(word).is_none() {
                return false;
            }
            has_pair = true;
        }
    }
    has_pair
}

/// Reads labeled sparse rows. Columns count from 1, or from 0 if the file has a column 0; within a row they ascend without
/// repetition. `qid:` is ignored. `name` is for messages.
pub fn read_svmlight(mut source: impl BufRead, name: &str, budget: &Budget) -> Result<LabeledMatrix> {
    let mut labels: Vec<String> = Vec::new();
    let (mut offsets, mut columns, mut values) = (vec![0u64], Vec::new(), Vec::new());
    let (mut bytes, mut number, mut held) = (Vec::new(), 0, budget.hold(0, name)?);
    loop {
        number += 1;
        read_line(&mut source, &mut bytes, &mut held, name)?;
        if bytes.is_empty() {
            break;
        }
        let line = if number == 1 { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes) } else { &bytes };
        let line = without_comment(line);
        if line.is_empty() {
            continue;
        }
        // A pair has at least four characters with the blank before it.
        let most = line.len() / 4 + 1;
        budget.reserve(&mut columns, most, name)?;
        budget.reserve(&mut values, most, name)?;
        let before = values.len();
        let label =
            pairs_of(line, &mut columns, &mut values).map_err(|problem| malformed(name, number, problem))?;
        budget.take(12 * (values.len() - before) as u64 + 8 + text_bytes(label.len()), name)?;
        labels.push(label);
        offsets.push(values.len() as u64);
    }
    if labels.is_empty() {
        return Err(Error::Empty { name: name.to_string() });
    }
    if labels.len() as u64 > MAX {
        return Err(malformed(name, number, "there are more rows than 32-bit ids can name"));
    }
    // Column 0 is the first one if it occurs, and otherwise column 1 is.
    if !columns.contains(&0) {
        columns.iter_mut().for_each(|column| *column -= 1);
    }
    let n_columns = columns.iter().max().map_or(0, |&last| last as usize + 1);
    let n_rows = labels.len();
    Ok(LabeledMatrix { labels, matrix: SparseMatrix { n_rows, n_columns, offsets, columns, values } })
}

/// Appends the pairs of a line; returns its label, or what is wrong.
fn pairs_of(
    line: &[u8],
    columns: &mut Vec<u32>,
    values: &mut Vec<f64>,
) -> std::result::Result<String, String> {
    let mut words = words_of(line).peekable();
    let label = words.next().unwrap_or_default();
    if label.contains(&b':') {
        return Err(format!("it begins with '{}'; a label is needed before the pairs", shortened(label)));
    }
    words.next_if(|word| word.starts_with(b"qid:"));
    let mut before = None;
    for word in words {
        let Some((column, value)) = pair(word) else {
            return Err(format!("'{}' is not a pair column:value", shortened(word)));
        };
        if column > MAX {
            let advice = "hash the columns to fewer";
            return Err(format!("column {column} is beyond the last one possible, {MAX}; {advice}"));
        }
        if !value.is_finite() {
            return Err(format!("the value of column {column} is not finite; replace it or omit the pair"));
        }
        if before.is_some_and(|before| column <= before) {
            let problem = if before == Some(column) { "occurs twice" } else { "comes after a higher one" };
            return Err(format!("column {column} {problem}; columns must ascend within a row"));
        }
        before = Some(column);
        columns.push(column as u32);
        values.push(value);
    }
    Ok(canonical(label))
}

/// The label as text; numbers are normalized, so that +1, 1.0 and 1 are one class.
fn canonical(label: &[u8]) -> String {
    match number(label) {
        // Adding 0 turns −0 into +0.
        Some(value) if value.is_finite() => (value + 0.0).to_string(),
        _ => String::from_utf8_lossy(label).into_owned(),
    }
}

fn without_comment(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|&byte| byte == b'#').unwrap_or(line.len());
    line[..end].trim_ascii()
}

fn words_of(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty())
}

/// A number, including `nan` and `inf`.
fn number(word: &[u8]) -> Option<f64> {
    fast_float2::parse(word).ok()
}

fn pair(word: &[u8]) -> Option<(u64, f64)> {
    let colon = word.iter().position(|&byte| byte == b':')?;
    let (column, value) = (&word[..colon], &word[colon + 1..]);
    if !column.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some((std::str::from_utf8(column).ok()?.parse().ok()?, number(value)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<LabeledMatrix> {
        read_svmlight(text.as_bytes(), "x", Budget::unlimited())
    }

    #[test]
    fn labels_pairs_and_comments() {
        let text = "\u{feff}# a comment\n+1 qid:3 1:0.5 3:-2e1 # more\r\n\n-1\n2.50\t2:1\nsport 3:7\n1,2 1:1";
        let found = read(text).unwrap();
        assert_eq!(found.labels, ["1", "-1", "2.5", "sport", "1,2"]);
        assert_eq!((found.matrix.n_rows, found.matrix.n_columns), (5, 3));
        let entries: Vec<_> = found.matrix.entries().collect();
        assert_eq!(entries, [(0, 0, 0.5), (0, 2, -20.0), (2, 1, 1.0), (3, 2, 7.0), (4, 0, 1.0)]);
    }

    #[test]
    fn a_column_zero_makes_it_count_from_zero() {
        let found = read("1 2:1\n2 0:1 5:1\n").unwrap().matrix;
        assert_eq!((found.n_columns, &found.columns[..]), (6, &[2, 0, 5][..]));
    }

    #[test]
    fn columns_far_out_cost_nothing() {
        let found = read("1 4000000000:1\n0 7:1\n").unwrap().matrix;
        assert_eq!((found.n_columns, &found.columns[..]), (4_000_000_000, &[3_999_999_999, 6][..]));
        assert_eq!(read("0\n1\n").unwrap().matrix.n_columns, 0);
    }

    #[test]
    fn faults_name_the_line_and_what_to_do() {
        for (text, expected) in [
            ("1 1:1\n1 2\n", "line 2: '2' is not a pair"),
            ("1 a:1\n", "line 1: 'a:1' is not a pair"),
            ("1 -1:1\n", "line 1: '-1:1' is not a pair"),
            ("1 +1:1\n", "line 1: '+1:1' is not a pair"),
            ("1 1:\n", "line 1: '1:' is not a pair"),
            ("1 :1\n", "line 1: ':1' is not a pair"),
            ("1 1:2:3\n", "line 1: '1:2:3' is not a pair"),
            ("1 1:1 qid:2\n", "line 1: 'qid:2' is not a pair"),
            ("1:1 2:1\n", "line 1: it begins with '1:1'; a label is needed"),
            ("#\n\n1 3:1 2:1\n", "line 3: column 2 comes after a higher one; columns must ascend"),
            ("1 3:1 3:1\n", "line 1: column 3 occurs twice"),
            ("1 1:nan\n", "line 1: the value of column 1 is not finite"),
            ("1 1:1e999\n", "line 1: the value of column 1 is not finite"),
            ("1 4294967295:1\n", "line 1: column 4294967295 is beyond the last one"),
            ("1 99999999999999999999999:1\n", "is not a pair"),
            ("# nothing\n", "x is empty"),
        ] {
            let message = read(text).unwrap_err().to_string();
            assert!(message.contains(expected), "{text:?}: {message}");
        }
    }

    #[test]
    fn other_texts_are_not_taken_for_it() {
        for text in [
            "1 1:2\n",
            "# made by a program\n\n-1 qid:2 3:1e-4 7:.5\n2\n",
            "1,3 0:1\n",
            "0\n0\n1 5:1\n1 5:",
            "nan 1:1\n",
        ] {
            assert!(is_svmlight(text.as_bytes()), "{text}");
        }
        for text in [
            "1 2 3\n4 5 6\n",
            "1,2\n3,4\n",
            "1\n2\n",
            "",
            "a,b\n1,12:30\n",
            "5.0,2020-01-01 12:30\n6.0,2020-01-01 12:31\n",
            "2020-01-01 12:30\n",
            "time 12:30\n",
            "12:30 1\n",
            "5 12:30:00\n",
        ] {
            assert!(!is_svmlight(text.as_bytes()), "{text}");
        }
    }
}
