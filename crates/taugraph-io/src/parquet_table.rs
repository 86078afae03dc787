//! Tables from and to Parquet files.

use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::budget::{Budget, Held, Refusal};
use crate::error::{Error, Result};
use crate::on_disk::Extent;
use crate::output::Output;
use crate::parquet_cells::{Target, first_length};
use crate::parquet_fields::{Field, fields};
use crate::parquet_headers::check_metadata;
use crate::parquet_pages::{Decoded, Pages, Shared};
use crate::source::{Source, open_file};
use crate::table::{
    Cells, MAX_COLUMNS, NewCells, NewTable, ReadOptions, Role, Table, charge_columns, check_names,
};
use crate::values::{Either, Filled, Number, Room};

/// What the parquet crate keeps for each byte of a file's metadata, at most.
const METADATA_TIMES: u64 = 32;

pub(crate) fn malformed(name: &str, problem: impl ToString) -> Error {
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

/// Reads a table: its numbers, texts, and lists of numbers, which become a column for each place. `name` is for messages.
pub fn read_parquet(
    source: impl ChunkReader + 'static,
    name: &str,
    options: &ReadOptions<'_>,
) -> Result<Table> {
    let (mut table, values) = read_parquet_into(source, name, options, &InMemory(options.budget, name))?;
    table.values = values;
    table.finish()
}

/// Memory as the place of a table's numbers.
struct InMemory<'a>(&'a Budget, &'a str);

impl Room for InMemory<'_> {
    type Of<T: Number> = Vec<T>;

    fn room<T: Number>(&self, n_values: usize) -> Result<Vec<T>> {
        let mut values = Vec::new();
        self.0.take((n_values as u64).saturating_mul(size_of::<T>() as u64), self.1)?;
        self.0.reserve(&mut values, n_values, self.1)?;
        values.resize(n_values, T::MISSING);
        Ok(values)
    }
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

/// Reads a table into space allocated for its numbers. Columns that turn out to be text are still to be removed.
pub(crate) fn read_parquet_into<R: Room>(
    source: impl ChunkReader + 'static,
    name: &str,
    options: &ReadOptions<'_>,
    room: &R,
) -> Result<(Table, Filled<R>)> {
    whole_or_damaged(name, || {
        let mut opened = open(source, name, options)?;
        let Opened { table, is_single, .. } = &opened;
        let n_values = table.n_rows.checked_mul(table.n_numbers);
        let n_values = n_values.ok_or_else(|| malformed(name, "it claims too many cells"))?;
        let values = match is_single {
            true => {
                let mut values = room.room::<f32>(n_values)?;
                read(&mut opened, values.as_mut(), options.budget)?;
                Either::F32(values)
            }
            false => {
                let mut values = room.room::<f64>(n_values)?;
                read(&mut opened, values.as_mut(), options.budget)?;
                Either::F64(values)
            }
        };
        Ok((opened.table, values))
    })
}

/// Rows and columns of numbers.
pub(crate) fn parquet_extent(
    source: impl ChunkReader + 'static,
    name: &str,
    options: &ReadOptions<'_>,
) -> Result<Extent> {
    whole_or_damaged(name, || {
        let Opened { table, is_single, .. } = open(source, name, options)?;
        Ok(Extent { n_rows: table.n_rows, n_numbers: table.n_numbers, is_single })
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
    /// Whether single precision holds the numbers of all columns.
    is_single: bool,
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
    let n_rows = metadata.file_metadata().num_rows();
    // A row takes at least one bit per column, compressed a thousandfold at best.
    if n_rows < 0 || n_rows as u64 / 8192 > length {
        return Err(malformed(name, format!("it claims {n_rows} rows")));
    }
    let mut fields = fields(schema);
    for field in fields.iter_mut().filter(|field| field.list.is_some()) {
        measure_lists(&source, &reader, field, name, options.budget)?;
    }
    let found = fields.iter().fold(0usize, |sum, field| sum.saturating_add(field.width()));
    if found > MAX_COLUMNS {
        return Err(Error::TooManyColumns { name: name.to_string(), found, most: MAX_COLUMNS });
    }
    let name_bytes = fields.iter().fold(0usize, |sum, field| sum.saturating_add(field.name_bytes()));
    charge_columns(found, name_bytes, name, options.budget)?;
    let names: Vec<String> = fields.iter().flat_map(Field::names).collect();
    if names.is_empty() {
        return Err(Error::Empty { name: name.to_string() });
    }
    check_names(name, &names)?;
    let roles = (options.roles)(&names)?;
    let mut of_fields = fields.iter().flat_map(|field| std::iter::repeat_n(field, field.width())).zip(&roles);
    let is_single = of_fields.all(|(field, &role)| role != Role::Number || field.fits_single != Some(false));
    let mut table = Table::empty(name, names, &roles, None);
    table.n_rows = n_rows as usize;
    if table.n_rows == 0 {
        return Err(Error::NoRows { name: name.to_string() });
    }
    Ok(Opened { source, reader, table, fields, is_single, _held })
}

/// Looks for the first list of a field that is not missing: all must have its length. Without one there is a column that is missing.
fn measure_lists<R: ChunkReader + 'static>(
    source: &Shared<R>,
    reader: &SerializedFileReader<Shared<R>>,
    field: &mut Field,
    name: &str,
    budget: &Budget,
) -> Result<()> {
    let failed = |error: ParquetError| of_parquet(name, error);
    let (Some(list), Some(leaf)) = (&mut field.list, field.leaf) else { return Ok(()) };
    list.length = 1;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(failed)?;
        let n_rows = usize::try_from(group.metadata().num_rows()).unwrap_or(usize::MAX);
        let (cells, decoded) = column_reader(source, &*group, leaf, budget).map_err(failed)?;
        if let Some(length) = first_length(cells, *list, n_rows, &decoded, &failed)? {
            list.length = length;
            break;
        }
    }
    Ok(())
}

/// The cells of a leaf in a row group, and what is decoded of them.
fn column_reader<R: ChunkReader + 'static>(
    source: &Shared<R>,
    group: &dyn RowGroupReader,
    leaf: usize,
    budget: &Budget,
) -> std::result::Result<(ColumnReader, Decoded), ParquetError> {
    let column = group.metadata().column(leaf);
    let pages = group.get_column_page_reader(leaf)?;
    let decoded = Decoded::new(budget);
    let pages = Pages::new(pages, source.clone(), column, budget, &decoded);
    Ok((get_column_reader(column.column_descr_ptr(), Box::new(pages)), decoded))
}

/// Bytes of the metadata at the end of a file, as the last eight bytes say; 0 if that cannot be.
fn metadata_length(source: &impl ChunkReader) -> u64 {
    let end = source.len().checked_sub(8).and_then(|end| source.get_bytes(end, 4).ok());
    let claimed = end.and_then(|bytes| Some(u32::from_le_bytes(bytes.as_ref().try_into().ok()?)));
    claimed.map(u64::from).filter(|&length| length <= source.len()).unwrap_or(0)
}

/// Fills the table; numbers go to `values`, row by row.
fn read<R: ChunkReader + 'static, T: Number>(
    opened: &mut Opened<R>,
    values: &mut [T],
    budget: &Budget,
) -> Result<()> {
    let Opened { source, reader, table, fields, .. } = opened;
    let (name, n_rows) = (table.name.clone(), table.n_rows);
    let failed = |error: ParquetError| of_parquet(&name, error);
    let mut first = 0;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(failed)?;
        let in_group = usize::try_from(group.metadata().num_rows()).unwrap_or(usize::MAX);
        if in_group > n_rows - first {
            return Err(malformed(&name, "its row groups contain more rows than it announces"));
        }
        let mut column = 0;
        for field in &*fields {
            let begin = column;
            column += field.width();
            let of_field = &table.columns[begin..column];
            if of_field.iter().all(|column| column.cells == Cells::Skipped) {
                continue;
            }
            let found = field.leaf.map(|leaf| column_reader(source, &*group, leaf, budget));
            let (cells, decoded) = found.transpose().map_err(failed)?.unzip();
            let target = Target {
                table: &mut *table,
                values: &mut *values,
                column: begin,
                first,
                n_rows: in_group,
                field,
                decoded: decoded.unwrap_or_else(|| Decoded::new(budget)),
                budget,
                failed: &failed,
            };
            match cells {
                None => target.refuse("a nested value")?,
                Some(cells) => target.fill(cells)?,
            }
        }
        first += in_group;
    }
    if first != n_rows {
        return Err(malformed(&name, "its row groups contain fewer rows than it announces"));
    }
    Ok(())
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
