//! Tables from and to Parquet files.

use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, ConvertedType, IntType, LogicalType, Repetition, Type as PhysicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor, Type, TypePtr};

use crate::budget::{Budget, Held, Refusal, text_bytes};
use crate::error::{Error, Place, Result};
use crate::output::Output;
use crate::parquet_pages::{Pages, Shared, check_metadata};
use crate::source::{Source, open_file};
use crate::table::{Cells, MAX_COLUMNS, NewCells, NewTable, ReadOptions, Table, charge_columns, check_names};

/// Values read at once.
const BLOCK: usize = 1 << 16;

/// What the parquet crate keeps for each byte of a file's metadata, at most.
const METADATA_TIMES: u64 = 32;

fn malformed(name: &str, problem: impl ToString) -> Error {
    Error::Malformed { name: name.to_string(), format: "Parquet", problem: problem.to_string() }
}

/// A refusal for want of memory passes through the parquet crate.
fn of_parquet(name: &str, error: ParquetError) -> Error {
    if let ParquetError::External(inner) = &error
        && let Some(refusal) = inner.downcast_ref::<std::io::Error>().and_then(Refusal::within)
    {
        return refusal.of(name);
    }
    malformed(name, error)
}

/// Reads a flat table. `name` is for messages.
pub fn read_parquet(
    source: impl ChunkReader + 'static,
    name: &str,
    options: &ReadOptions<'_>,
) -> Result<Table> {
    let room = |n_values: usize| {
        let mut values = Vec::new();
        options.budget.take((n_values as u64).saturating_mul(8), name)?;
        options.budget.reserve(&mut values, n_values, name)?;
        values.resize(n_values, f64::NAN);
        Ok(values)
    };
    let (mut table, values) = read_parquet_into(source, name, options, room)?;
    table.values = values;
    table.finish()
}

/// The same for a source whose first `bytes` have been examined.
pub(crate) fn read_parquet_source(
    source: &Source,
    bytes: Box<dyn BufRead + Send>,
    options: &ReadOptions<'_>,
) -> Result<Table> {
    let name = source.to_string();
    // A file is read in place; anything else has to be in memory, because Parquet is read from its end.
    match source {
        Source::File(path) if path.is_file() && !source.is_compressed()? => {
            read_parquet(open_file(path, &name)?, &name, options)
        }
        _ => {
            let (all, _held) = source.rest_of(bytes, options.budget)?;
            read_parquet(Bytes::from(all), &name, options)
        }
    }
}

/// Reads a flat table into space allocated for its numbers. Columns that turn out to be text are still to be removed.
pub(crate) fn read_parquet_into<V: AsMut<[f64]>>(
    source: impl ChunkReader + 'static,
    name: &str,
    options: &ReadOptions<'_>,
    room: impl FnOnce(usize) -> Result<V>,
) -> Result<(Table, V)> {
    whole_or_damaged(name, || {
        let Opened { source, reader, mut table, fields, _held } = open(source, name, options)?;
        let n_values = table.n_rows.checked_mul(table.n_numbers);
        let mut values = room(n_values.ok_or_else(|| malformed(name, "it claims too many cells"))?)?;
        read((&source, &reader), &mut table, &fields, values.as_mut(), options.budget)?;
        Ok((table, values))
    })
}

/// Rows and columns of numbers.
pub(crate) fn parquet_extent(
    source: impl ChunkReader + 'static,
    name: &str,
    options: &ReadOptions<'_>,
) -> Result<(usize, usize)> {
    whole_or_damaged(name, || {
        open(source, name, options).map(|opened| (opened.table.n_rows, opened.table.n_numbers))
    })
}

/// The parquet crate panics on some broken files; these panics become errors.
fn whole_or_damaged<T>(name: &str, read: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(malformed(name, "it is damaged")))
}

/// The table without its cells, and where they are.
struct Opened<R: ChunkReader + 'static> {
    source: Shared<R>,
    reader: SerializedFileReader<Shared<R>>,
    table: Table,
    fields: Vec<Field>,
    /// For the metadata.
    _held: Held,
}

fn open<R: ChunkReader + 'static>(source: R, name: &str, options: &ReadOptions<'_>) -> Result<Opened<R>> {
    let (length, source) = (source.len(), Shared::new(source));
    let _held = options.budget.hold(METADATA_TIMES * metadata_length(&source), name)?;
    check_metadata(&source, metadata_length(&source)).map_err(|error| of_parquet(name, error))?;
    let reader = SerializedFileReader::new(source.clone()).map_err(|error| of_parquet(name, error))?;
    let metadata = reader.metadata();
    let schema = metadata.file_metadata().schema_descr();
    let found = schema.root_schema().get_fields().len();
    if found > MAX_COLUMNS {
        return Err(Error::TooManyColumns { name: name.to_string(), found, most: MAX_COLUMNS });
    }
    let fields = fields(schema);
    let name_bytes = fields.iter().map(|field| field.name.len()).sum();
    charge_columns(fields.len(), name_bytes, name, options.budget)?;
    let names: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
    if names.is_empty() {
        return Err(Error::Empty { name: name.to_string() });
    }
    check_names(name, &names)?;
    let roles = (options.roles)(&names)?;
    let mut table = Table::empty(name, names, &roles, None);
    let n_rows = metadata.file_metadata().num_rows();
    // A row takes at least one bit per column, compressed a thousandfold at best.
    if n_rows < 0 || n_rows as u64 / 8192 > length {
        return Err(malformed(name, format!("it claims {n_rows} rows")));
    }
    table.n_rows = n_rows as usize;
    if table.n_rows == 0 {
        return Err(Error::NoRows { name: name.to_string() });
    }
    Ok(Opened { source, reader, table, fields, _held })
}

/// Bytes of the metadata at the end of a file, as the last eight bytes say; 0 if that cannot be.
fn metadata_length(source: &impl ChunkReader) -> u64 {
    let end = source.len().checked_sub(8).and_then(|end| source.get_bytes(end, 4).ok());
    let claimed = end.and_then(|bytes| Some(u32::from_le_bytes(bytes.as_ref().try_into().ok()?)));
    claimed.map(u64::from).filter(|&length| length <= source.len()).unwrap_or(0)
}

/// Fills the table; numbers go to `values`, row by row.
fn read<R: ChunkReader + 'static>(
    (source, reader): (&Shared<R>, &SerializedFileReader<Shared<R>>),
    table: &mut Table,
    fields: &[Field],
    values: &mut [f64],
    budget: &Budget,
) -> Result<()> {
    let (name, n_rows) = (table.name.clone(), table.n_rows);
    let failed = |error: ParquetError| of_parquet(&name, error);
    let mut first = 0;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(failed)?;
        let in_group = usize::try_from(group.metadata().num_rows()).unwrap_or(usize::MAX);
        if in_group > n_rows - first {
            return Err(malformed(&name, "its row groups contain more rows than it announces"));
        }
        for (column, field) in fields.iter().enumerate() {
            if table.columns[column].cells == Cells::Skipped {
                continue;
            }
            let target = Target {
                table: &mut *table,
                values: &mut *values,
                column,
                first,
                n_rows: in_group,
                field,
                budget,
                failed: &failed,
            };
            match field.leaf {
                None => target.refuse("a nested value")?,
                Some(leaf) => {
                    let column = group.metadata().column(leaf);
                    let pages = group.get_column_page_reader(leaf).map_err(failed)?;
                    let pages = Pages::new(pages, source.clone(), column, budget);
                    target.fill(get_column_reader(column.column_descr_ptr(), Box::new(pages)))?;
                }
            }
        }
        first += in_group;
    }
    if first != n_rows {
        return Err(malformed(&name, "its row groups contain fewer rows than it announces"));
    }
    Ok(())
}

/// A field of the schema as a column of a table.
struct Field {
    name: String,
    /// The leaf of the schema that contains it; `None` if it is nested.
    leaf: Option<usize>,
    /// Whether cells may be missing; their levels tell which.
    may_miss: bool,
    /// What its numbers mean.
    meaning: Meaning,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Plain,
    Unsigned,
    /// Whole numbers with this many decimals.
    Decimal(i32),
    /// Half precision in two bytes.
    Half,
    /// Dates, times of day, timestamps.
    Time,
}

/// The columns, without the row labels that pandas adds.
fn fields(schema: &SchemaDescriptor) -> Vec<Field> {
    let is_index = |name: &str| name.starts_with("__index_level_") && name.ends_with("__");
    let roots = schema.root_schema().get_fields();
    let mut leaves: Vec<Vec<usize>> = vec![Vec::new(); roots.len()];
    for leaf in 0..schema.num_columns() {
        leaves[schema.get_column_root_idx(leaf)].push(leaf);
    }
    let describe = |(root, leaves): (&TypePtr, Vec<usize>)| {
        let leaf = match leaves[..] {
            [leaf] if root.is_primitive() && schema.column(leaf).max_rep_level() == 0 => Some(leaf),
            _ => None,
        };
        let column = leaf.map(|leaf| schema.column(leaf));
        Field {
            name: root.name().to_string(),
            leaf,
            may_miss: column.as_ref().is_some_and(|column| column.max_def_level() > 0),
            meaning: column.map_or(Meaning::Plain, |column| meaning(&column)),
        }
    };
    roots.iter().zip(leaves).map(describe).filter(|field| !is_index(&field.name)).collect()
}

fn meaning(column: &ColumnDescriptor) -> Meaning {
    match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Integer(IntType { is_signed: false, .. })), _)
        | (
            _,
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64,
        ) => Meaning::Unsigned,
        (Some(LogicalType::Float16), _) => Meaning::Half,
        (Some(LogicalType::Decimal(_)), _) | (_, ConvertedType::DECIMAL) => {
            Meaning::Decimal(column.type_scale())
        }
        (Some(LogicalType::Date | LogicalType::Time(_) | LogicalType::Timestamp(_)), _)
        | (
            _,
            ConvertedType::DATE
            | ConvertedType::TIME_MILLIS
            | ConvertedType::TIME_MICROS
            | ConvertedType::TIMESTAMP_MILLIS
            | ConvertedType::TIMESTAMP_MICROS
            | ConvertedType::INTERVAL,
        ) => Meaning::Time,
        _ => Meaning::Plain,
    }
}

/// Where the cells of one column of a row group go.
struct Target<'a> {
    table: &'a mut Table,
    values: &'a mut [f64],
    column: usize,
    first: usize,
    n_rows: usize,
    field: &'a Field,
    budget: &'a Budget,
    failed: &'a dyn Fn(ParquetError) -> Error,
}

impl Target<'_> {
    fn fill(self, reader: ColumnReader) -> Result<()> {
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

    fn refuse(self, what: &str) -> Result<()> {
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
                let is_there = !self.field.may_miss || levels.get(record).is_some_and(|&level| level > 0);
                each(self.first + row + record, if is_there { next.next() } else { None })?;
            }
            row += records;
        }
        Ok(())
    }

    fn numbers<T: DataType>(
        mut self,
        reader: ColumnReaderImpl<T>,
        number: impl Fn(&T::T) -> f64,
        text: impl Fn(&T::T) -> String,
    ) -> Result<()> {
        let width = self.table.n_numbers;
        match self.table.columns[self.column].cells {
            Cells::Numbers(place) => {
                let values = std::mem::take(&mut self.values);
                self.cells(reader, |row, cell| {
                    values[row * width + place] = cell.map_or(f64::NAN, &number);
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
}

/// Whether a table can be written there.
pub(crate) fn check_parquet_output(output: &Output) -> Result<()> {
    output.check()
}

/// Writes a table, compressed with snappy.
pub(crate) fn write_parquet(table: &NewTable, output: &Output) -> Result<()> {
    output.write(|out| {
        write(table, out).map_err(|error| match error {
            ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
                Ok(source) => *source,
                Err(other) => std::io::Error::other(other),
            },
            other => std::io::Error::other(other),
        })
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
