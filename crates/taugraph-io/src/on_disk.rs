//! Tables whose numbers stay on disk: NPY in single or double precision is mapped in place, everything else is written block by
//! block to a scratch folder. The whole table is never in memory.

use std::io::{BufRead, Seek};

use crate::budget::{Budget, text_bytes};
use crate::error::{Error, Result};
use crate::format::{table_shape, text_of_number};
use crate::mapped::{MappedValues, ScratchFolder, ScratchTable, ScratchWriter};
use crate::npy::{self, Description};
use crate::parquet_table::{parquet_extent, read_parquet_into};
use crate::source::{Source, expect_end, goes_on, open_file};
use crate::table::{Cells, ReadOptions, Table, charge_columns, numbered_names};
use crate::values::{Either, Number, Room};

/// Values transposed from columns to rows at once.
const BLOCK: usize = 1 << 20;

/// A table whose numbers are on disk.
#[derive(Debug)]
pub struct DiskTable {
    /// Everything but the numbers.
    pub table: Table,
    /// The numbers that belong in [`Table::values`].
    pub values: DiskValues,
}

/// Numbers on disk, in the precision that they would have in memory.
pub type DiskValues = Either<DiskNumbers<f64>, DiskNumbers<f32>>;

/// Numbers on disk.
#[derive(Debug)]
pub enum DiskNumbers<T> {
    /// In the file that was read.
    File(MappedValues<T>),
    /// In a scratch folder.
    Scratch(ScratchTable<T>),
}

impl<T: bytemuck::Pod> AsRef<[T]> for DiskNumbers<T> {
    fn as_ref(&self) -> &[T] {
        match self {
            DiskNumbers::File(values) => values.as_ref(),
            DiskNumbers::Scratch(table) => table.as_ref(),
        }
    }
}

/// The size of a table, as its metadata tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Rows.
    pub n_rows: usize,
    /// Columns of numbers.
    pub n_numbers: usize,
    /// Whether the numbers are read in single precision.
    pub is_single: bool,
}

/// The size of an NPY or Parquet file, reading only its metadata and the first list of a column of lists; `None` for formats that
/// would have to be read entirely.
pub fn extent(source: &Source, options: &ReadOptions<'_>) -> Result<Option<Extent>> {
    let Source::File(path) = source else { return Ok(None) };
    let name = source.to_string();
    let mut bytes = source.open(options.budget)?;
    let start = bytes.fill_buf().map_err(|error| source.unreadable(error))?;
    if start.starts_with(npy::MAGIC) {
        let array = Description::of_numbers(&mut bytes, &name)?;
        let table = empty_table(&array, &name, options)?;
        let Table { n_rows, n_numbers, .. } = table;
        return Ok(Some(Extent { n_rows, n_numbers, is_single: array.fits_single() }));
    }
    if start.starts_with(b"PAR1") && !source.is_compressed()? {
        return parquet_extent(open_file(path, &name)?, &name, options).map(Some);
    }
    Ok(None)
}

/// Reads an NPY or Parquet file; its numbers stay on disk.
pub fn read_on_disk(
    source: &Source,
    options: &ReadOptions<'_>,
    scratch: &ScratchFolder,
) -> Result<DiskTable> {
    let name = source.to_string();
    let mut bytes = source.open(options.budget)?;
    let start = bytes.fill_buf().map_err(|error| source.unreadable(error))?;
    if start.is_empty() {
        return Err(Error::Empty { name });
    }
    if start.starts_with(npy::MAGIC) {
        return read_npy(bytes, source, options, scratch);
    }
    if !start.starts_with(b"PAR1") {
        return Err(Error::OnlyInMemory { name });
    }
    let file = match source {
        Source::File(path) if !source.is_compressed()? => open_file(path, &name)?,
        // Parquet is read from its end: it is decompressed to disk before it is read.
        _ => {
            let mut file = scratch.file()?;
            let copied = std::io::copy(&mut bytes, &mut file).and_then(|_| file.rewind());
            copied.map_err(|error| source.unreadable(error))?;
            file
        }
    };
    let (mut table, values) = read_parquet_into(file, &name, options, &OnDisk(scratch))?;
    let values = match values {
        Either::F64(values) => Either::F64(arranged(&mut table, values)?),
        Either::F32(values) => Either::F32(arranged(&mut table, values)?),
    };
    Ok(DiskTable { table, values })
}

/// A scratch folder as the place of the numbers of a Parquet file.
struct OnDisk<'a>(&'a ScratchFolder);

impl Room for OnDisk<'_> {
    type Of<T: Number> = ScratchTable<T>;

    fn room<T: Number>(&self, n_values: usize) -> Result<ScratchTable<T>> {
        self.0.zeros(n_values)
    }
}

fn arranged<T: Number>(table: &mut Table, mut values: ScratchTable<T>) -> Result<DiskNumbers<T>> {
    let kept = table.arrange(values.as_mut())?;
    values.truncate(kept);
    Ok(DiskNumbers::Scratch(values))
}

fn empty_table(array: &Description, name: &str, options: &ReadOptions<'_>) -> Result<Table> {
    let (n_rows, n_columns) = table_shape(&array.shape, name)?;
    charge_columns(n_columns, 0, name, options.budget)?;
    let names = numbered_names(n_columns);
    let roles = (options.roles)(&names)?;
    let mut table = Table::empty(name, names, &roles, None);
    table.n_rows = n_rows;
    Ok(table)
}

fn read_npy(
    mut bytes: Box<dyn BufRead + Send>,
    source: &Source,
    options: &ReadOptions<'_>,
    scratch: &ScratchFolder,
) -> Result<DiskTable> {
    let name = source.to_string();
    let array = Description::of_numbers(&mut bytes, &name)?;
    let mut table = empty_table(&array, &name, options)?;
    let place = (options.budget, scratch);
    let values = match array.fits_single() {
        true => Either::F32(place_array(&array, bytes, source, &mut table, place)?),
        false => Either::F64(place_array(&array, bytes, source, &mut table, place)?),
    };
    Ok(DiskTable { table, values })
}

fn place_array<T: Number>(
    array: &Description,
    mut bytes: Box<dyn BufRead + Send>,
    source: &Source,
    table: &mut Table,
    (budget, scratch): (&Budget, &ScratchFolder),
) -> Result<DiskNumbers<T>> {
    let name = source.to_string();
    let (n_rows, n_columns) = (table.n_rows, table.columns.len());
    let mapped = map_array(array, source)?;
    let values = match mapped {
        Some(values) if !array.is_fortran && table.n_numbers == n_columns => DiskNumbers::File(values),
        mapped => {
            let mut rows = Rows::new(table, scratch, budget)?;
            match mapped {
                Some(values) if array.is_fortran => turn(values.as_ref(), n_rows, n_columns, &mut rows)?,
                Some(values) => {
                    let block = (BLOCK / n_columns).max(1) * n_columns;
                    values.as_ref().chunks(block).try_for_each(|block| rows.push(block))?;
                }
                None if array.is_fortran => {
                    let mut columns = scratch.writer::<T>()?;
                    array.read_in_blocks(&mut bytes, &name, 1, |block| columns.push(block))?;
                    expect_end(&mut bytes, &name, "NPY")?;
                    turn(columns.finish()?.as_ref(), n_rows, n_columns, &mut rows)?;
                }
                None => {
                    array.read_in_blocks(&mut bytes, &name, n_columns, |block| rows.push(block))?;
                    expect_end(&mut bytes, &name, "NPY")?;
                }
            }
            DiskNumbers::Scratch(rows.out.finish()?)
        }
    };
    table.refuse_infinite(values.as_ref())?;
    Ok(values)
}

/// The array mapped in place, if it is in a plain file and in the machine's own representation.
fn map_array<T: Number>(array: &Description, source: &Source) -> Result<Option<MappedValues<T>>> {
    let name = source.to_string();
    let Source::File(path) = source else { return Ok(None) };
    if !array.is_native(size_of::<T>()) || source.is_compressed()? {
        return Ok(None);
    }
    let file = open_file(path, &name)?;
    let metadata = file.metadata().map_err(|error| source.unreadable(error))?;
    let length = array.begin.saturating_add((array.n_values as u64).saturating_mul(size_of::<T>() as u64));
    // Pipes and devices have no length and cannot be mapped.
    if !metadata.is_file() {
        return Ok(None);
    }
    if metadata.len() < length {
        return Err(array.ends_early(&name));
    }
    if metadata.len() > length {
        return Err(goes_on(&name, "NPY"));
    }
    MappedValues::open(&file, array.begin, array.n_values).map_err(|error| source.unreadable(error))
}

/// Converts a column-major table to rows.
fn turn<T: Number>(columns: &[T], n_rows: usize, n_columns: usize, rows: &mut Rows<'_, T>) -> Result<()> {
    let at_once = (BLOCK / n_columns).max(1);
    let mut block = vec![T::MISSING; at_once.min(n_rows) * n_columns];
    for first in (0..n_rows).step_by(at_once) {
        let count = at_once.min(n_rows - first);
        for column in 0..n_columns {
            let cells = &columns[column * n_rows + first..][..count];
            block.iter_mut().skip(column).step_by(n_columns).zip(cells).for_each(|(out, cell)| *out = *cell);
        }
        rows.push(&block[..count * n_columns])?;
    }
    Ok(())
}

/// Takes whole rows and keeps the columns that their roles require.
struct Rows<'a, T> {
    table: &'a mut Table,
    budget: &'a Budget,
    out: ScratchWriter<'a, T>,
    /// The numbers of a block.
    numbers: Vec<T>,
}

impl<'a, T: Number> Rows<'a, T> {
    fn new(table: &'a mut Table, scratch: &'a ScratchFolder, budget: &'a Budget) -> Result<Self> {
        Ok(Self { table, budget, out: scratch.writer()?, numbers: Vec::new() })
    }

    fn push(&mut self, block: &[T]) -> Result<()> {
        if self.table.n_numbers == self.table.columns.len() {
            return self.out.push(block);
        }
        self.numbers.clear();
        for row in block.chunks_exact(self.table.columns.len()) {
            for (&cell, column) in row.iter().zip(&mut self.table.columns) {
                match &mut column.cells {
                    Cells::Numbers(_) => self.numbers.push(cell),
                    Cells::Texts(texts) => {
                        let text = text_of_number(cell.widened());
                        self.budget.take(text_bytes(text.len()), &self.table.name)?;
                        texts.push(text);
                    }
                    Cells::NotNumbers(..) | Cells::Skipped => {}
                }
            }
        }
        self.out.push(&self.numbers)
    }
}
