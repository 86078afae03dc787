//! Texts split into cells: lines separated by commas or blanks, and ARFF. The files are small and known, so the parser is simple
//! and strict: an unexpected cell is an error with its line, never a guess.

use super::{Error, Result};

/// A file in memory, with the name that messages use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFile {
    /// The name.
    pub name: String,
    /// What is in it.
    pub text: String,
}

impl TextFile {
    /// An error about the whole file.
    pub fn wrong(&self, problem: impl Into<String>) -> Error {
        Error::File { file: self.name.clone(), problem: problem.into() }
    }
}

/// What separates cells. None of the files has a separator within quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delimiter {
    /// A comma.
    Comma,
    /// Any number of blanks.
    Blanks,
}

/// A line split into cells, without the blanks and quotes around them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row<'a> {
    file: &'a str,
    line: usize,
    cells: Vec<&'a str>,
}

/// All lines that are not blank.
pub fn rows(file: &TextFile, delimiter: Delimiter) -> Vec<Row<'_>> {
    numbered_lines(&file.text).map(|(line, text)| Row::new(&file.name, line, text, delimiter)).collect()
}

fn numbered_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.split('\n').enumerate().map(|(place, text)| (place + 1, text.trim()));
    lines.filter(|(_, text)| !text.is_empty())
}

impl<'a> Row<'a> {
    fn new(file: &'a str, line: usize, text: &'a str, delimiter: Delimiter) -> Self {
        let cells = match delimiter {
            Delimiter::Comma => text.split(',').map(bare).collect(),
            Delimiter::Blanks => text.split_whitespace().map(bare).collect(),
        };
        Self { file, line, cells }
    }

    /// Number of cells.
    pub fn width(&self) -> usize {
        self.cells.len()
    }

    /// An error about this line.
    pub fn wrong(&self, problem: impl Into<String>) -> Error {
        Error::Line { file: self.file.to_string(), line: self.line, problem: problem.into() }
    }

    /// An error if the line has more or fewer cells than expected.
    pub fn check_width(&self, expected: usize) -> Result<()> {
        match self.width() {
            found if found == expected => Ok(()),
            found => Err(self.wrong(format!("{found} cells, but {expected} were expected"))),
        }
    }

    /// If a line has one cell too many and an empty one, a comma was typed twice or at an end: the empty cell is dropped.
    pub fn drop_stray_cell(&mut self, expected: usize) {
        let empty = self.cells.iter().position(|cell| cell.is_empty());
        if let Some(empty) = empty.filter(|_| self.width() == expected + 1) {
            self.cells.remove(empty);
        }
    }

    /// The text of a cell.
    pub fn text(&self, column: usize) -> Result<&'a str> {
        let cell = self.cells.get(column).copied();
        cell.ok_or_else(|| self.wrong(format!("there is no cell {}", column + 1)))
    }

    /// Whether a cell is marked as missing.
    pub fn is_missing(&self, column: usize) -> bool {
        self.cells.get(column).is_some_and(|cell| matches!(*cell, "?" | "nan"))
    }

    /// The text of a cell that may not be missing: the class.
    pub fn label(&self, column: usize) -> Result<String> {
        match self.text(column)? {
            "" => Err(self.wrong(format!("cell {}, the class, is empty", column + 1))),
            _ if self.is_missing(column) => {
                Err(self.wrong(format!("cell {}, the class, is missing", column + 1)))
            }
            label => Ok(label.to_string()),
        }
    }

    /// The number in a cell; NaN where it is missing.
    pub fn number(&self, column: usize) -> Result<f64> {
        let cell = self.text(column)?;
        if self.is_missing(column) {
            return Ok(f64::NAN);
        }
        match cell.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(self.unexpected(column, "a number")),
        }
    }

    /// The number that stands for the word in a cell; NaN where it is missing.
    pub fn coded(&self, column: usize, codes: &[(&str, f64)]) -> Result<f64> {
        let cell = self.text(column)?;
        if self.is_missing(column) {
            return Ok(f64::NAN);
        }
        let code = codes.iter().find(|(word, _)| *word == cell).map(|(_, code)| *code);
        code.ok_or_else(|| {
            let words: Vec<&str> = codes.iter().map(|(word, _)| *word).collect();
            self.unexpected(column, &words.join(", "))
        })
    }

    /// One column for each of `words`: 1 where the cell is that word; NaN in all of them where it is missing.
    pub fn one_of(&self, column: usize, words: &[&str]) -> Result<Vec<f64>> {
        let cell = self.text(column)?;
        if self.is_missing(column) {
            return Ok(vec![f64::NAN; words.len()]);
        }
        if !words.contains(&cell) {
            return Err(self.unexpected(column, &words.join(", ")));
        }
        Ok(words.iter().map(|word| f64::from(u8::from(*word == cell))).collect())
    }

    /// An error about what is in a cell.
    pub fn unexpected(&self, column: usize, expected: &str) -> Error {
        let cell = self.cells.get(column).copied().unwrap_or_default();
        let shown: String = cell.chars().take(40).flat_map(char::escape_debug).collect();
        self.wrong(format!("cell {} is '{shown}', but {expected} was expected", column + 1))
    }
}

fn bare(cell: &str) -> &str {
    cell.trim().trim_matches(['\'', '"'])
}

/// A Weka file: the attributes and the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arff<'a> {
    /// Names of the columns.
    pub names: Vec<&'a str>,
    /// The rows, each as long as the names.
    pub rows: Vec<Row<'a>>,
}

/// Reads ARFF: numeric attributes and lists of words. A stray comma in a row is tolerated, a word that is not in the list of its
/// attribute is not.
pub fn arff(file: &TextFile) -> Result<Arff<'_>> {
    let mut names = Vec::new();
    let mut words: Vec<Option<Vec<&str>>> = Vec::new();
    let mut lines = numbered_lines(&file.text).filter(|(_, text)| !text.starts_with('%'));
    let mut has_data = false;
    for (line, text) in &mut lines {
        let wrong =
            |problem: &str| Error::Line { file: file.name.clone(), line, problem: problem.to_string() };
        let (keyword, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match keyword.to_ascii_lowercase().as_str() {
            "@relation" => {}
            "@attribute" => {
                let (name, kind) =
                    attribute(rest.trim()).ok_or_else(|| wrong("an attribute has a name and a type"))?;
                names.push(name);
                words.push(
                    words_of(kind).ok_or_else(|| wrong("a type is numeric, or a list of words in braces"))?,
                );
            }
            "@data" => {
                has_data = true;
                break;
            }
            _ => return Err(wrong("@attribute or @data was expected")),
        }
    }
    if !has_data || names.is_empty() {
        return Err(file.wrong("this is not an ARFF file: it needs @attribute lines and @data"));
    }
    let mut rows = Vec::new();
    for (line, text) in lines {
        let mut row = Row::new(&file.name, line, text, Delimiter::Comma);
        row.drop_stray_cell(names.len());
        row.check_width(names.len())?;
        for (column, words) in words.iter().enumerate() {
            let Some(words) = words else { continue };
            if !row.is_missing(column) && !words.contains(&row.text(column)?) {
                return Err(row.unexpected(column, &words.join(", ")));
            }
        }
        rows.push(row);
    }
    Ok(Arff { names, rows })
}

/// The name, which may be quoted, and what follows it.
fn attribute(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|first| matches!(first, '\'' | '"'));
    let (name, kind) = match quote {
        Some(quote) => text[1..].split_once(quote)?,
        None => text.split_once(char::is_whitespace)?,
    };
    (!name.is_empty()).then_some((name, kind.trim()))
}

/// The words of a list, `None` within for a number, `None` for anything else.
fn words_of(kind: &str) -> Option<Option<Vec<&str>>> {
    if let Some(list) = kind.strip_prefix('{') {
        return Some(Some(list.strip_suffix('}')?.split(',').map(bare).collect()));
    }
    matches!(kind.to_ascii_lowercase().as_str(), "numeric" | "real" | "integer").then_some(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> TextFile {
        TextFile { name: "x.data".into(), text: text.into() }
    }

    #[test]
    fn cells_lose_blanks_quotes_and_carriage_returns() {
        let text = file("\r\n2 ,'a b',\"c\", ?\r\n\n 1.5,x,y,nan");
        let rows = rows(&text, Delimiter::Comma);
        assert_eq!(rows[0].cells, ["2", "a b", "c", "?"]);
        assert_eq!((rows[0].line, rows[1].line), (2, 4));
        assert!(rows[0].number(3).unwrap().is_nan() && rows[1].number(3).unwrap().is_nan());
        assert_eq!(rows[1].number(0).unwrap(), 1.5);
        let text = file("A_B   0.49  0.29\t cp \n");
        assert_eq!(super::rows(&text, Delimiter::Blanks)[0].cells, ["A_B", "0.49", "0.29", "cp"]);
    }

    #[test]
    fn errors_name_file_line_and_cell() {
        let text = file("1,2\n3,x\n\n4,inf,\n");
        let rows = rows(&text, Delimiter::Comma);
        let message = |error: Error| error.to_string();
        let of_x = message(rows[1].number(1).unwrap_err());
        assert_eq!(of_x, "x.data, line 2: cell 2 is 'x', but a number was expected");
        assert_eq!(
            message(rows[2].check_width(2).unwrap_err()),
            "x.data, line 4: 3 cells, but 2 were expected"
        );
        assert!(message(rows[2].number(1).unwrap_err()).contains("'inf'"));
        assert!(message(rows[2].label(2).unwrap_err()).contains("is empty"));
        assert!(message(rows[0].text(2).unwrap_err()).contains("no cell 3"));
        assert!(rows[1].coded(1, &[("yes", 1.0)]).is_err() && rows[1].one_of(1, &["a", "b"]).is_err());
    }

    #[test]
    fn one_stray_comma_is_forgiven_two_are_not() {
        for text in [",1,2,3", "1,,2,3", "1,2,3,"] {
            let text = file(text);
            let mut row = rows(&text, Delimiter::Comma).remove(0);
            row.drop_stray_cell(3);
            assert_eq!(row.cells, ["1", "2", "3"]);
        }
        let text = file("1,,,2,3");
        let mut row = rows(&text, Delimiter::Comma).remove(0);
        row.drop_stray_cell(3);
        assert!(row.check_width(3).is_err());
        // The right number of cells: an empty one is a wrong value, not an extra comma.
        let text = file("1,,3");
        let mut row = rows(&text, Delimiter::Comma).remove(0);
        row.drop_stray_cell(3);
        assert!(row.check_width(3).is_ok() && row.number(1).is_err());
    }

    const KIDNEYS: &str = "% a comment\r\n@relation Kidneys\r\n\r\n@attribute 'age' numeric\r\n@ATTRIBUTE 'p c'\t{normal, abnormal} \r\n\
                           @attribute class {ckd,notckd}\r\n\r\n@DATA\r\n48,normal,ckd\r\n?,\tabnormal,ckd\t\r\n7,?,notckd,\r\n8,,normal,ckd\r\n\r\n";

    #[test]
    fn arff_with_tabs_and_stray_commas() {
        let text = file(KIDNEYS);
        let arff = arff(&text).unwrap();
        assert_eq!(arff.names, ["age", "p c", "class"]);
        let cells: Vec<&[&str]> = arff.rows.iter().map(|row| &row.cells[..]).collect();
        let expected: [&[&str]; 4] = [
            &["48", "normal", "ckd"],
            &["?", "abnormal", "ckd"],
            &["7", "?", "notckd"],
            &["8", "normal", "ckd"],
        ];
        assert_eq!(cells, expected);
        assert_eq!(arff.rows[3].line, 12);
    }

    #[test]
    fn arff_that_is_none() {
        let message = |text: &str| arff(&file(text)).unwrap_err().to_string();
        assert!(message("").contains("not an ARFF file"));
        assert!(message("@data\n1,2\n").contains("not an ARFF file"));
        assert!(message("1,2\n").contains("line 1: @attribute or @data"));
        assert!(message("@attribute x\n@data\n").contains("a name and a type"));
        assert!(message("@attribute x date\n@data\n").contains("a type is numeric"));
        assert!(message("@attribute x {a,b\n@data\n").contains("a type is numeric"));
        assert!(
            message("@attribute x {a,b}\n@data\nc\n")
                .contains("line 3: cell 1 is 'c', but a, b was expected")
        );
        assert!(message("@attribute x numeric\n@data\n1,2\n").contains("line 3: 2 cells, but 1"));
    }
}
