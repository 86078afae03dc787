//! Tables from and to Parquet files.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::error::{Error, Place, Result};
use crate::table::{Cells, MOST_COLUMNS, NewCells, NewTable, ReadOptions, Table, check_names};

/// Values read at once.
const BLOCK: usize = 1 << 16;

fn malformed(name: &str, problem: impl ToString) -> Error {
    Error::Malformed { name: name.to_string(), format: "Parquet", problem: problem.to_string() }
}

/// Reads a flat table. `name` is for messages.
pub fn read_parquet(
    source: impl ChunkReader + 'static,
    name: &str,
    options: &ReadOptions<'_>,
) -> Result<Table> {
    // The parquet crate panics on some broken files; they are errors all the same.
    let read = AssertUnwindSafe(|| read(source, name, options));
    catch_unwind(read).unwrap_or_else(|_| Err(malformed(name, "it is damaged")))
}

fn read(source: impl ChunkReader + 'static, name: &str, options: &ReadOptions<'_>) -> Result<Table> {
    let length = source.len();
    let failed = |error: ParquetError| malformed(name, error);
    let reader = SerializedFileReader::new(source).map_err(failed)?;
    let metadata = reader.metadata();
    let schema = metadata.file_metadata().schema_descr();
    let n_columns = schema.num_columns();
    if n_columns > MOST_COLUMNS {
        let name = name.to_string();
        return Err(Error::TooManyColumns { name, found: n_columns, most: MOST_COLUMNS });
    }
    for column in schema.columns() {
        if column.path().parts().len() != 1 || column.max_rep_level() > 0 || column.max_def_level() > 1 {
            let problem = format!("the column {} is nested; only plain columns are read", column.path());
            return Err(malformed(name, problem));
        }
    }
    // The row labels that pandas adds are no data.
    let is_index = |column: &str| column.starts_with("__index_level_") && column.ends_with("__");
    let all: Vec<String> = schema.columns().iter().map(|column| column.name().to_string()).collect();
    let places: Vec<usize> = (0..n_columns).filter(|&place| !is_index(&all[place])).collect();
    let names: Vec<String> = places.iter().map(|&place| all[place].clone()).collect();
    if names.is_empty() {
        return Err(Error::Empty { name: name.to_string() });
    }
    check_names(name, &names)?;
    let roles = (options.roles)(&names)?;
    let mut table = Table::empty(name, names, &roles, None);
    let n_rows = metadata.file_metadata().num_rows();
    // A row takes at least a bit of every column, compressed a thousandfold at best.
    if n_rows < 0 || n_rows as u64 / 8192 > length {
        return Err(malformed(name, format!("it claims {n_rows} rows")));
    }
    let n_rows = n_rows as usize;
    if n_rows == 0 {
        return Err(Error::NoRows { name: name.to_string() });
    }
    table.values = vec![f64::NAN; n_rows * table.n_numbers];
    table.n_rows = n_rows;
    let mut first = 0;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(failed)?;
        let in_group = usize::try_from(group.metadata().num_rows()).unwrap_or(usize::MAX);
        if in_group > n_rows - first {
            return Err(malformed(name, "its row groups hold more rows than it says"));
        }
        for (&place, column) in places.iter().zip(0..) {
            if table.columns[column].cells == Cells::Skipped {
                continue;
            }
            let reader = group.get_column_reader(place).map_err(failed)?;
            let may_miss = schema.column(place).max_def_level() > 0;
            let target =
                Target { table: &mut table, column, first, n_rows: in_group, may_miss, failed: &failed };
            target.fill(reader)?;
        }
        first += in_group;
    }
    if first != n_rows {
        return Err(malformed(name, "its row groups hold fewer rows than it says"));
    }
    table.finish()
}

/// Where the cells of one column of a row group go.
struct Target<'a> {
    table: &'a mut Table,
    column: usize,
    first: usize,
    n_rows: usize,
    /// Whether cells may be missing; their levels tell which.
    may_miss: bool,
    failed: &'a dyn Fn(ParquetError) -> Error,
}

impl Target<'_> {
    fn fill(self, reader: ColumnReader) -> Result<()> {
        match reader {
            ColumnReader::BoolColumnReader(reader) => {
                self.numbers(reader, |&value| f64::from(u8::from(value)))
            }
            ColumnReader::Int32ColumnReader(reader) => self.numbers(reader, |&value| f64::from(value)),
            ColumnReader::Int64ColumnReader(reader) => self.numbers(reader, |&value| value as f64),
            ColumnReader::FloatColumnReader(reader) => self.numbers(reader, |&value| f64::from(value)),
            ColumnReader::DoubleColumnReader(reader) => self.numbers(reader, |&value| value),
            ColumnReader::ByteArrayColumnReader(reader) => self.texts(reader),
            ColumnReader::Int96ColumnReader(_) | ColumnReader::FixedLenByteArrayColumnReader(_) => {
                self.refuse("of a type that is neither number nor text")
            }
        }
    }

    fn refuse(self, what: &str) -> Result<()> {
        let first = Place::Row(self.first as u64 + 1);
        let column = &mut self.table.columns[self.column];
        match &column.cells {
            Cells::Numbers(_) => {
                column.cells = Cells::NotNumbers(first, what.to_string());
                Ok(())
            }
            Cells::NotNumbers(..) | Cells::Skipped => Ok(()),
            Cells::Texts(_) => {
                let problem = format!("the column {} is {what}", column.name);
                Err(malformed(&self.table.name, problem))
            }
        }
    }

    /// Reads all cells; `None` is a missing one.
    fn cells<T: DataType>(
        &self,
        mut reader: ColumnReaderImpl<T>,
        mut each: impl FnMut(usize, Option<&T::T>) -> Result<()>,
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
                let is_there = !self.may_miss || levels.get(record).is_some_and(|&level| level > 0);
                each(self.first + row + record, if is_there { next.next() } else { None })?;
            }
            row += records;
        }
        Ok(())
    }

    fn numbers<T: DataType>(self, reader: ColumnReaderImpl<T>, number: impl Fn(&T::T) -> f64) -> Result<()> {
        let width = self.table.n_numbers;
        match self.table.columns[self.column].cells {
            Cells::Numbers(place) => {
                let mut values = std::mem::take(&mut self.table.values);
                let result = self.cells(reader, |row, cell| {
                    values[row * width + place] = cell.map_or(f64::NAN, &number);
                    Ok(())
                });
                self.table.values = values;
                result
            }
            Cells::Texts(_) => {
                let mut texts = Vec::new();
                self.cells(reader, |_, cell| {
                    texts.push(cell.map_or(String::new(), |cell| number(cell).to_string()));
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
}

/// Writes a table, compressed with snappy.
pub(crate) fn write_parquet(table: &NewTable, out: &mut (dyn Write + Send)) -> std::io::Result<()> {
    write(table, out).map_err(|error| match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(source) => *source,
            Err(other) => std::io::Error::other(other),
        },
        other => std::io::Error::other(other),
    })
}

fn write(table: &NewTable, out: &mut (dyn Write + Send)) -> std::result::Result<(), ParquetError> {
    let fields = table.columns().iter().map(|column| {
        let (physical, logical) = match column.cells {
            NewCells::Integers(_) => (PhysicalType::INT64, None),
            NewCells::Numbers(_) => (PhysicalType::DOUBLE, None),
            NewCells::Texts(_) => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let field = Type::primitive_type_builder(&column.name, physical)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(logical);
        field.build().map(Arc::new)
    });
    let fields = fields.collect::<std::result::Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for column in table.columns() {
        let mut cells = group.next_column()?.expect("there is a field for each column");
        match &column.cells {
            NewCells::Integers(values) => {
                cells.typed::<Int64Type>().write_batch(values, None, None)?;
            }
            NewCells::Numbers(values) => {
                cells.typed::<DoubleType>().write_batch(values, None, None)?;
            }
            NewCells::Texts(values) => {
                let bytes: Vec<ByteArray> =
                    values.iter().map(|text| text.as_bytes().to_vec().into()).collect();
                cells.typed::<ByteArrayType>().write_batch(&bytes, None, None)?;
            }
        }
        cells.close()?;
    }
    group.close()?;
    writer.close()?;
    Ok(())
}
