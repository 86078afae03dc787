//! The cells of one field of a row group: numbers, texts, or lists of numbers.

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, FixedLenByteArray};
use parquet::errors::ParquetError;

use crate::budget::{Budget, text_bytes};
use crate::error::{Error, Place, Result};
use crate::parquet_fields::{Field, List, Meaning};
use crate::parquet_pages::Decoded;
use crate::parquet_table::malformed;
use crate::table::{Cells, Table};
use crate::values::Number;

/// Values read at once.
const BLOCK: usize = 1 << 16;

/// Where the cells of one field of a row group go.
pub(crate) struct Target<'a, T> {
    pub table: &'a mut Table,
    pub values: &'a mut [T],
    /// The first column of the field.
    pub column: usize,
    /// The first row of the group, and how many there are.
    pub first: usize,
    pub n_rows: usize,
    pub field: &'a Field,
    /// What is decoded of lists.
    pub decoded: Decoded,
    pub budget: &'a Budget,
    pub failed: &'a dyn Fn(ParquetError) -> Error,
}

impl<T: Number> Target<'_, T> {
    pub fn fill(self, reader: ColumnReader) -> Result<()> {
        let meaning = self.field.meaning;
        if meaning == Meaning::Time {
            return self.refuse("a date or time");
        }
        // What a whole number stands for, as a number and as text.
        let number = move |value: i64| match meaning {
            Meaning::Decimal(scale) => value as f64 / 10f64.powi(scale),
            _ => value as f64,
        };
        let whole = move |value: i64| match meaning {
            Meaning::Decimal(_) => number(value).to_string(),
            _ => value.to_string(),
        };
        let is_unsigned = meaning == Meaning::Unsigned;
        match reader {
            ColumnReader::BoolColumnReader(reader) => {
                self.numbers(reader, |&value| f64::from(u8::from(value)), |value| value.to_string())
            }
            ColumnReader::Int32ColumnReader(reader) if is_unsigned => {
                let unsigned = |&value: &i32| value as u32;
                self.numbers(reader, |value| f64::from(unsigned(value)), |value| unsigned(value).to_string())
            }
            ColumnReader::Int64ColumnReader(reader) if is_unsigned => {
                let unsigned = |&value: &i64| value as u64;
                self.numbers(reader, |value| unsigned(value) as f64, |value| unsigned(value).to_string())
            }
            ColumnReader::Int32ColumnReader(reader) => {
                self.numbers(reader, |&value| number(value.into()), |&value| whole(value.into()))
            }
            ColumnReader::Int64ColumnReader(reader) => {
                self.numbers(reader, |&value| number(value), |&value| whole(value))
            }
            ColumnReader::FloatColumnReader(reader) => {
                self.numbers(reader, |&value| f64::from(value), |value| value.to_string())
            }
            ColumnReader::DoubleColumnReader(reader) => {
                self.numbers(reader, |&value| value, |value| value.to_string())
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) if meaning == Meaning::Half => {
                let half = |value: &FixedLenByteArray| match value.data() {
                    &[low, high] => crate::npy::half(u16::from_le_bytes([low, high])),
                    _ => f64::NAN,
                };
                self.numbers(reader, half, |value| half(value).to_string())
            }
            ColumnReader::ByteArrayColumnReader(reader) if meaning == Meaning::Plain => self.texts(reader),
            ColumnReader::ByteArrayColumnReader(_)
            | ColumnReader::Int96ColumnReader(_)
            | ColumnReader::FixedLenByteArrayColumnReader(_) => self.refuse("neither a number nor text"),
        }
    }

    pub fn refuse(self, what: &str) -> Result<()> {
        let first = Place::Row(self.first as u64 + 1);
        let column = &mut self.table.columns[self.column];
        match &column.cells {
            Cells::Numbers(_) => {
                column.cells = Cells::NotNumbers(first, format!("({what})"));
                Ok(())
            }
            Cells::NotNumbers(..) | Cells::Skipped => Ok(()),
            Cells::Texts(_) => {
                let problem = format!("the cells of column '{}' are {what}; save them as text", column.name);
                Err(malformed(&self.table.name, problem))
            }
        }
    }

    /// Reads all cells; `None` is a missing one.
    fn cells<D: DataType>(
        &self,
        mut reader: ColumnReaderImpl<D>,
        mut each: impl FnMut(usize, Option<&D::T>) -> Result<()>,
    ) -> Result<()> {
        let (mut row, mut values, mut levels) = (0, Vec::new(), Vec::new());
        while row < self.n_rows {
            values.clear();
            levels.clear();
            let most = BLOCK.min(self.n_rows - row);
            let (records, n_values, _) =
                reader.read_records(most, Some(&mut levels), None, &mut values).map_err(self.failed)?;
            if records == 0 {
                return Err(malformed(&self.table.name, "a column ends too early"));
            }
            let mut next = values[..n_values.min(values.len())].iter();
            for record in 0..records {
                let is_there = !self.field.may_miss || levels.get(record).is_some_and(|&level| level > 0);
                each(self.first + row + record, if is_there { next.next() } else { None })?;
            }
            row += records;
        }
        Ok(())
    }

    fn numbers<D: DataType>(
        mut self,
        reader: ColumnReaderImpl<D>,
        number: impl Fn(&D::T) -> f64,
        text: impl Fn(&D::T) -> String,
    ) -> Result<()> {
        if let Some(list) = self.field.list {
            return self.lists(reader, list, number);
        }
        let width = self.table.n_numbers;
        match self.table.columns[self.column].cells {
            Cells::Numbers(place) => {
                let values = std::mem::take(&mut self.values);
                self.cells(reader, |row, cell| {
                    values[row * width + place] = cell.map_or(T::MISSING, |cell| T::rounded(number(cell)));
                    Ok(())
                })
            }
            Cells::Texts(_) => {
                let mut texts = Vec::new();
                self.cells(reader, |_, cell| {
                    let text = cell.map_or(String::new(), &text);
                    self.budget.take(text_bytes(text.len()), &self.table.name)?;
                    texts.push(text);
                    Ok(())
                })?;
                self.append(texts);
                Ok(())
            }
            Cells::NotNumbers(..) | Cells::Skipped => Ok(()),
        }
    }

    fn texts(self, reader: ColumnReaderImpl<ByteArrayType>) -> Result<()> {
        match self.table.columns[self.column].cells {
            Cells::Texts(_) => {
                let mut texts = Vec::new();
                let name = self.table.name.clone();
                self.cells(reader, |row, cell| {
                    let bytes = cell.map_or(&[][..], ByteArray::data);
                    let place = Place::Row(row as u64 + 1);
                    let text = std::str::from_utf8(bytes)
                        .map_err(|_| Error::NotUtf8 { name: name.clone(), place })?;
                    self.budget.take(text_bytes(text.len()), &name)?;
                    texts.push(text.to_string());
                    Ok(())
                })?;
                self.append(texts);
                Ok(())
            }
            Cells::Numbers(_) => {
                let mut first = None;
                self.cells(reader, |row, cell| {
                    if let (None, Some(cell)) = (&first, cell) {
                        first = Some((row, crate::error::shortened(cell.data())));
                    }
                    Ok(())
                })?;
                if let Some((row, text)) = first {
                    let place = Place::Row(row as u64 + 1);
                    self.table.columns[self.column].cells = Cells::NotNumbers(place, text);
                }
                Ok(())
            }
            Cells::NotNumbers(..) | Cells::Skipped => Ok(()),
        }
    }

    fn append(self, more: Vec<String>) {
        if let Cells::Texts(texts) = &mut self.table.columns[self.column].cells {
            texts.extend(more);
        }
    }

    /// Lists of the same length: the i-th number goes to the i-th column of the field.
    fn lists<D: DataType>(
        self,
        reader: ColumnReaderImpl<D>,
        list: List,
        number: impl Fn(&D::T) -> f64,
    ) -> Result<()> {
        let columns = &self.table.columns[self.column..self.column + list.length];
        if let Some(text) = columns.iter().find(|column| matches!(column.cells, Cells::Texts(_))) {
            let problem = format!("column '{}' is part of a list, which is read as numbers only", text.name);
            return Err(malformed(&self.table.name, problem));
        }
        let places: Vec<Option<usize>> = columns
            .iter()
            .map(|column| match column.cells {
                Cells::Numbers(place) => Some(place),
                _ => None,
            })
            .collect();
        let (width, first) = (self.table.n_numbers, self.first);
        let of_length = |row: usize, found: usize| {
            if found == list.length {
                return Ok(());
            }
            Err(Error::ListLength {
                name: self.table.name.clone(),
                place: Place::Row((first + row) as u64 + 1),
                column: self.field.name.clone(),
                found,
                expected: list.length,
            })
        };
        let mut lists = Lists { reader, list, decoded: &self.decoded, failed: self.failed };
        let (values, mut row) = (self.values, 0);
        while row < self.n_rows {
            let most = (BLOCK / list.length.max(1)).max(1).min(self.n_rows - row);
            let records = lists.read(most, |within, elements| {
                let out = &mut values[(first + row + within) * width..][..width];
                match elements {
                    None => places.iter().flatten().for_each(|&place| out[place] = T::MISSING),
                    Some(elements) => {
                        of_length(row + within, elements.len())?;
                        for (element, place) in elements.iter().zip(&places) {
                            if let Some(place) = place {
                                out[*place] = element.map_or(T::MISSING, |cell| T::rounded(number(cell)));
                            }
                        }
                    }
                }
                Ok(())
            })?;
            if records == 0 {
                return Err(malformed(&self.table.name, "a column ends too early"));
            }
            row += records;
        }
        Ok(())
    }
}

/// The lists of a column, one after the other.
struct Lists<'a, D: DataType> {
    reader: ColumnReaderImpl<D>,
    list: List,
    decoded: &'a Decoded,
    failed: &'a dyn Fn(ParquetError) -> Error,
}

impl<D: DataType> Lists<'_, D> {
    /// Reads up to `most` lists and passes each with its number among them: `None` is a missing list, and within a list a missing
    /// element. Returns how many there were.
    fn read(
        &mut self,
        most: usize,
        mut each: impl FnMut(usize, Option<&[Option<&D::T>]>) -> Result<()>,
    ) -> Result<usize> {
        let (mut values, mut levels, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
        let read = self.reader.read_records(most, Some(&mut levels), Some(&mut repetitions), &mut values);
        let (records, _, n_levels) = read.map_err(self.failed)?;
        let (levels, repetitions) = (&levels[..n_levels.min(levels.len())], &repetitions[..]);
        let mut next = values.iter();
        let mut elements: Vec<Option<&D::T>> = Vec::new();
        let (mut list, mut at) = (0, 0);
        while at < levels.len() {
            let begin = at;
            at += 1;
            // A repetition level of 0 begins a list.
            while at < levels.len() && repetitions.get(at).is_some_and(|&level| level > 0) {
                at += 1;
            }
            elements.clear();
            let of_list = &levels[begin..at];
            if of_list[0] >= self.list.of_element {
                elements.extend(
                    of_list
                        .iter()
                        .map(|&level| if level >= self.list.of_number { next.next() } else { None }),
                );
                each(list, Some(&elements))?;
            } else if self.list.is_empty_at(of_list[0]) {
                each(list, Some(&[]))?;
            } else {
                each(list, None)?;
            }
            list += 1;
        }
        self.decoded.settle();
        Ok(records.min(list))
    }
}

/// The number of elements of the first list that is not missing, if there is one among the next `n_rows`.
pub(crate) fn first_length(
    reader: ColumnReader,
    list: List,
    n_rows: usize,
    decoded: &Decoded,
    failed: &dyn Fn(ParquetError) -> Error,
) -> Result<Option<usize>> {
    fn of<D: DataType>(mut lists: Lists<'_, D>, n_rows: usize) -> Result<Option<usize>> {
        let (mut row, mut most, mut found) = (0, 1, None);
        while row < n_rows && found.is_none() {
            let records = lists.read(most.min(n_rows - row), |_, elements| {
                found = found.or(elements.map(<[_]>::len));
                Ok(())
            })?;
            if records == 0 {
                break;
            }
            (row, most) = (row + records, (2 * most).min(1024));
        }
        Ok(found)
    }
    macro_rules! of_type {
        ($($Variant:ident),+) => {
            match reader {
                $(ColumnReader::$Variant(reader) => of(Lists { reader, list, decoded, failed }, n_rows),)+
            }
        };
    }
    of_type!(
        BoolColumnReader,
        Int32ColumnReader,
        Int64ColumnReader,
        Int96ColumnReader,
        FloatColumnReader,
        DoubleColumnReader,
        ByteArrayColumnReader,
        FixedLenByteArrayColumnReader
    )
}
