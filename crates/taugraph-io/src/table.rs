//! Tables as they are read: numbers row by row, texts column by column; and as they are written.

use crate::budget::Budget;
use crate::error::{Error, Place, Result};
use crate::values::{Number, Values, with_either};

/// What a column takes beside its cells: its name in every place that keeps it, and what is known about it.
const COLUMN_BYTES: u64 = 320;

/// Maximum number of columns of a table.
pub(crate) const MAX_COLUMNS: usize = 1_000_000;

/// What a column is read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Numbers; missing cells are NaN.
    Number,
    /// Text, whatever is in it.
    Text,
    /// Not read.
    Skip,
}

/// Whether the first line of a text table names the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Header {
    /// Detected: it does if it has text above a number, or no number at all.
    #[default]
    Automatic,
    /// It does.
    Yes,
    /// It does not.
    No,
}

/// How to read a table.
#[derive(Clone, Copy)]
pub struct ReadOptions<'a> {
    /// What each column is read for, given all their names.
    pub roles: &'a dyn Fn(&[String]) -> Result<Vec<Role>>,
    /// Delimiter of a text table; `None` detects it.
    pub delimiter: Option<u8>,
    /// Header of a text table.
    pub header: Header,
    /// The array of an NPZ archive; `None` if there is only one.
    pub array: Option<&'a str>,
    /// The bytes that may be held.
    pub budget: &'a Budget,
}

impl ReadOptions<'static> {
    /// Every column as numbers.
    pub fn numbers() -> Self {
        let roles = &|names: &[String]| Ok(vec![Role::Number; names.len()]);
        Self { roles, delimiter: None, header: Header::Automatic, array: None, budget: Budget::unlimited() }
    }
}

/// A column as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name; `column_1`, `column_2`, … if the file has none.
    pub name: String,
    /// What is in it.
    pub cells: Cells,
}

/// The cells of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells {
    /// Numbers, at this position in every row of [`Table::values`].
    Numbers(usize),
    /// Text.
    Texts(Vec<String>),
    /// Numbers were expected, but it contains text: the first cell that is not a number, shortened. The other cells are discarded.
    NotNumbers(Place, String),
    /// Not read.
    Skipped,
}

/// A table as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Where it came from, for messages.
    pub name: String,
    /// All columns of the file.
    pub columns: Vec<Column>,
    /// Rows.
    pub n_rows: usize,
    /// The columns of numbers, row by row; NaN is a missing cell, no cell is infinite. In single precision if that is how the file
    /// stores all of them, or if they are of one byte.
    pub values: Values,
    /// How many columns of numbers there are: the length of a row of [`Table::values`].
    pub n_numbers: usize,
    /// Lines before the first row, for messages about rows; `None` if rows do not correspond to lines.
    pub header_lines: Option<u64>,
}

impl Table {
    /// The texts of a column that was read as text.
    pub fn texts(&self, name: &str) -> Option<&[String]> {
        self.columns.iter().find(|column| column.name == name).and_then(|column| match &column.cells {
            Cells::Texts(texts) => Some(texts.as_slice()),
            _ => None,
        })
    }

    /// Names of the columns of numbers, in the order of a row of [`Table::values`].
    pub fn number_names(&self) -> Vec<&str> {
        let is_number = |column: &&Column| matches!(column.cells, Cells::Numbers(_));
        self.columns.iter().filter(is_number).map(|column| column.name.as_str()).collect()
    }

    /// The error for the first column that should be numbers but is not.
    pub fn refuse_text(&self, hint: &'static str) -> Result<()> {
        for column in &self.columns {
            if let Cells::NotNumbers(place, cell) = &column.cells {
                let is_decimal_comma = cell.replacen(',', ".", 1).parse::<f64>().is_ok();
                let hint = if is_decimal_comma { "; write decimal points, not commas" } else { hint };
                return Err(Error::NotANumber {
                    name: self.name.clone(),
                    place: *place,
                    column: column.name.clone(),
                    cell: cell.clone(),
                    hint,
                });
            }
        }
        Ok(())
    }

    /// Builds a table from names, roles and a reader of cells that fills it; used by every format.
    pub(crate) fn empty(name: &str, names: Vec<String>, roles: &[Role], header_lines: Option<u64>) -> Self {
        let mut n_numbers = 0;
        let columns = names
            .into_iter()
            .zip(roles)
            .map(|(name, role)| {
                let cells = match role {
                    Role::Number => {
                        n_numbers += 1;
                        Cells::Numbers(n_numbers - 1)
                    }
                    Role::Text => Cells::Texts(Vec::new()),
                    Role::Skip => Cells::Skipped,
                };
                Column { name, cells }
            })
            .collect();
        Self {
            name: name.to_string(),
            columns,
            n_rows: 0,
            values: Values::default(),
            n_numbers,
            header_lines,
        }
    }

    /// Removes columns that turned out to be text from the rows of numbers; refuses infinite cells.
    pub(crate) fn finish(mut self) -> Result<Self> {
        let mut values = std::mem::take(&mut self.values);
        with_either!(&mut values, values => {
            let n_values = self.arrange(values)?;
            values.truncate(n_values);
        });
        self.values = values;
        Ok(self)
    }

    /// The same for values stored anywhere; returns how many remain, moved to the beginning.
    pub(crate) fn arrange<T: Number>(&mut self, values: &mut [T]) -> Result<usize> {
        self.refuse_infinite(values)?;
        let mut kept = Vec::new();
        for column in &mut self.columns {
            if let Cells::Numbers(place) = &mut column.cells {
                kept.push(*place);
                *place = kept.len() - 1;
            }
        }
        let before = std::mem::replace(&mut self.n_numbers, kept.len());
        if kept.len() < before {
            // Values only move towards the beginning, so nothing is overwritten before it has been moved.
            for row in 0..self.n_rows {
                for (new, &old) in kept.iter().enumerate() {
                    values[row * kept.len() + new] = values[row * before + old];
                }
            }
        }
        Ok(self.n_rows * kept.len())
    }

    pub(crate) fn refuse_infinite<T: Number>(&self, values: &[T]) -> Result<()> {
        let infinite = values.iter().position(|value| value.widened().is_infinite());
        let Some(position) = infinite else { return Ok(()) };
        let (row, place) = ((position / self.n_numbers) as u64, position % self.n_numbers);
        let of_column = |column: &&Column| column.cells == Cells::Numbers(place);
        let Some(column) = self.columns.iter().find(of_column) else { return Ok(()) };
        Err(Error::Infinite {
            name: self.name.clone(),
            place: self.place_of_row(row),
            column: column.name.clone(),
        })
    }

    fn place_of_row(&self, row: u64) -> Place {
        match self.header_lines {
            Some(header) => Place::Line(header + row + 1),
            None => Place::Row(row + 1),
        }
    }
}

/// Charges columns whose names have so many bytes together; to be called before they are named.
pub(crate) fn charge_columns(n: usize, name_bytes: usize, file: &str, budget: &Budget) -> Result<()> {
    budget.take((COLUMN_BYTES * n as u64).saturating_add(4 * name_bytes as u64), file)
}

/// Names for columns that have none.
pub(crate) fn numbered_names(n_columns: usize) -> Vec<String> {
    (1..=n_columns).map(|number| format!("column_{number}")).collect()
}

/// Refuses two columns with the same name.
pub(crate) fn check_names(file: &str, names: &[String]) -> Result<()> {
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Error::DuplicateColumn { name: file.to_string(), column: pair[0].clone() }),
        None => Ok(()),
    }
}

/// A column to write.
#[derive(Debug, Clone, PartialEq)]
pub struct NewColumn {
    /// Its name.
    pub name: String,
    /// Its cells.
    pub cells: NewCells,
}

/// Cells to write.
#[derive(Debug, Clone, PartialEq)]
pub enum NewCells {
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Numbers, written so that reading gives the same bits.
    Numbers(Vec<f64>),
    /// Text.
    Texts(Vec<String>),
}

impl NewColumn {
    /// A column of whole numbers.
    pub fn integers(name: impl Into<String>, cells: impl IntoIterator<Item = i64>) -> Self {
        Self { name: name.into(), cells: NewCells::Integers(cells.into_iter().collect()) }
    }

    /// A column of numbers.
    pub fn numbers(name: impl Into<String>, cells: impl IntoIterator<Item = f64>) -> Self {
        Self { name: name.into(), cells: NewCells::Numbers(cells.into_iter().collect()) }
    }

    /// A column of text.
    pub fn texts(name: impl Into<String>, cells: impl IntoIterator<Item = String>) -> Self {
        Self { name: name.into(), cells: NewCells::Texts(cells.into_iter().collect()) }
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        match &self.cells {
            NewCells::Integers(cells) => cells.len(),
            NewCells::Numbers(cells) => cells.len(),
            NewCells::Texts(cells) => cells.len(),
        }
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A table to write: columns of the same length.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTable {
    columns: Vec<NewColumn>,
}

impl NewTable {
    /// # Panics
    /// If there is no column, or the columns differ in length.
    pub fn new(columns: Vec<NewColumn>) -> Self {
        assert!(!columns.is_empty(), "a table has at least one column");
        assert!(columns.windows(2).all(|pair| pair[0].len() == pair[1].len()), "columns of the same length");
        Self { columns }
    }

    /// The columns.
    pub fn columns(&self) -> &[NewColumn] {
        &self.columns
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.columns[0].len()
    }
}
