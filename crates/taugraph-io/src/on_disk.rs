//! Tables whose numbers stay on disk: NPY in double precision is mapped in place, everything else is written block by block
//! to a scratch folder. The whole table is never in memory.

use std::io::{BufRead, Seek};

use crate::budget::{Budget, text_bytes};
use crate::error::{Error, Result};
use crate::format::{table_shape, text_of_number};
use crate::mapped::{MappedValues, ScratchFolder, ScratchTable, ScratchWriter};
use crate::npy::{self, Description};
use crate::parquet_table::{parquet_extent, read_parquet_into};
use crate::source::{Source, expect_end, goes_on, open_file};
use crate::table::{Cells, ReadOptions, Table, charge_columns, numbered_names};

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

/// Numbers on disk.
#[derive(Debug)]
pub enum DiskValues {
    /// In the file that was read.
    File(MappedValues),
    /// In a scratch folder.
    Scratch(ScratchTable),
}

impl AsRef<[f64]> for DiskValues {
    fn as_ref(&self) -> &[f64] {
        match self {
            DiskValues::File(values) => values.as_ref(),
            DiskValues::Scratch(table) => table.as_ref(),
        }
    }
}

/// Number of rows, and of columns of numbers, of an NPY or Parquet file, reading only its metadata; `None` for formats
/// that would have to be read entirely.
pub fn extent(source: &Source, options: &ReadOptions<'_>) -> Result<Option<(usize, usize)>> {
    let Source::File(path) = source else { return Ok(None) };
    let name = source.to_string();
    let mut bytes = source.open(options.budget)?;
    let start = bytes.fill_buf().map_err(|error| source.unreadable(error))?;
    if start.starts_with(npy::MAGIC) {
        let array = Description::of_numbers(&mut bytes, &name)?;
        let table = empty_table(&array, &name, options)?;
        return Ok(Some((table.n_rows, table.n_numbers)));
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
    let (mut table, mut values) =
        read_parquet_into(file, &name, options, |n_values| scratch.table(n_values))?;
    let kept = table.arrange(values.as_mut())?;
    values.truncate(kept);
    Ok(DiskTable { table, values: DiskValues::Scratch(values) })
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
    let (n_rows, n_columns) = (table.n_rows, table.columns.len());
    let mapped = map_array(&array, source)?;
    let values = match mapped {
        Some(values) if !array.is_fortran && table.n_numbers == n_columns => DiskValues::File(values),
        mapped => {
            let mut rows = Rows::new(&mut table, scratch, options.budget)?;
            match mapped {
                Some(values) if array.is_fortran => turn(values.as_ref(), n_rows, n_columns, &mut rows)?,
                Some(values) => {
                    let block = (BLOCK / n_columns).max(1) * n_columns;
                    values.as_ref().chunks(block).try_for_each(|block| rows.push(block))?;
                }
                None if array.is_fortran => {
                    let mut columns = scratch.writer()?;
                    array.read_in_blocks(&mut bytes, &name, 1, |block| columns.push(block))?;
                    expect_end(&mut bytes, &name, "NPY")?;
                    turn(columns.finish()?.as_ref(), n_rows, n_columns, &mut rows)?;
                }
                None => {
                    array.read_in_blocks(&mut bytes, &name, n_columns, |block| rows.push(block))?;
                    expect_end(&mut bytes, &name, "NPY")?;
                }
            }
            DiskValues::Scratch(rows.out.finish()?)
        }
    };
    table.refuse_infinite(values.as_ref())?;
    Ok(DiskTable { table, values })
}

/// The array mapped in place, if it is in a plain file and in the machine's own representation.
fn map_array(array: &Description, source: &Source) -> Result<Option<MappedValues>> {
    let name = source.to_string();
    let Source::File(path) = source else { return Ok(None) };
    if !array.is_native_double() || source.is_compressed()? {
        return Ok(None);
    }
    let file = open_file(path, &name)?;
    let metadata = file.metadata().map_err(|error| source.unreadable(error))?;
    let length = array.begin.saturating_add((array.n_values as u64).saturating_mul(8));
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
fn turn(columns: &[f64], n_rows: usize, n_columns: usize, rows: &mut Rows<'_>) -> Result<()> {
    let at_once = (BLOCK / n_columns).max(1);
    let mut block = vec![0.0; at_once.min(n_rows) * n_columns];
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
struct Rows<'a> {
    table: &'a mut Table,
    budget: &'a Budget,
    out: ScratchWriter<'a>,
    /// The numbers of a block.
    numbers: Vec<f64>,
}

impl<'a> Rows<'a> {
    fn new(table: &'a mut Table, scratch: &'a ScratchFolder, budget: &'a Budget) -> Result<Self> {
        Ok(Self { table, budget, out: scratch.writer()?, numbers: Vec::new() })
    }

    fn push(&mut self, block: &[f64]) -> Result<()> {
        if self.table.n_numbers == self.table.columns.len() {
            return self.out.push(block);
        }
        self.numbers.clear();
        for row in block.chunks_exact(self.table.columns.len()) {
            for (&cell, column) in row.iter().zip(&mut self.table.columns) {
                match &mut column.cells {
                    Cells::Numbers(_) => self.numbers.push(cell),
                    Cells::Texts(texts) => {
                        let text = text_of_number(cell);
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
