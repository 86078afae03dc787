//! Format detection: by the first bytes when reading, by the name when writing.

use std::io::{BufRead, BufReader, Cursor, Read, Seek, Write};
use std::path::Path;

use crate::budget::{Budget, text_bytes};
use crate::csv_table::read_csv;
use crate::error::{Error, Result, shortened};
use crate::matrix_market::{read_matrix_market, write_matrix_market};
use crate::npy::{Array, MAGIC, read_numbers, write_header};
use crate::npz::{Archive, write_sparse_npz};
use crate::output::Output;
use crate::parquet_table::{check_parquet_output, read_parquet_source, write_parquet};
use crate::source::{Source, open_file};
use crate::sparse::{LabeledMatrix, SparseMatrix};
use crate::svmlight::{is_svmlight, read_svmlight};
use crate::table::{
    Cells, MAX_COLUMNS, NewCells, NewColumn, NewTable, ReadOptions, Role, Table, charge_columns, check_names,
    numbered_names,
};
use crate::values::{Number, Values};

/// The contents of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Contents {
    /// Rows and columns.
    Table(Table),
    /// A sparse matrix.
    Sparse(SparseMatrix),
    /// A sparse matrix whose rows have labels.
    Labeled(LabeledMatrix),
}

/// Reads a table (CSV and other delimited text, NPY, NPZ, Parquet) or a sparse matrix (scipy's NPZ, MatrixMarket, svmlight).
pub fn read(source: &Source, options: &ReadOptions<'_>) -> Result<Contents> {
    let name = source.to_string();
    let budget = options.budget;
    let mut bytes = source.open(budget)?;
    let start = bytes.fill_buf().map_err(|error| source.unreadable(error))?;
    if start.is_empty() {
        return Err(Error::Empty { name });
    }
    if start.starts_with(MAGIC) {
        let array = read_numbers(bytes, &name, budget)?;
        return table_of_array(array, &name, options).map(Contents::Table);
    }
    if start.starts_with(b"PK\x03\x04") {
        // A file is read in place; anything else has to be in memory, because archives are read from their end.
        return match source {
            Source::File(path) if path.is_file() && !source.is_compressed()? => {
                read_archive(BufReader::new(open_file(path, &name)?), &name, options)
            }
            _ => {
                let (all, _held) = source.rest_of(bytes, budget)?;
                read_archive(Cursor::new(all), &name, options)
            }
        };
    }
    if start.starts_with(b"PAR1") {
        return read_parquet_source(source, bytes, options).map(Contents::Table);
    }
    if begins_like_safetensors(start) {
        let problem = "it contains named arrays (safetensors), as written by --save-model";
        return Err(not_a_table(&name, problem.into()));
    }
    if start.len() > 14 && start[..14].eq_ignore_ascii_case(b"%%MatrixMarket") {
        return read_matrix_market(bytes, &name, budget).map(Contents::Sparse);
    }
    if is_svmlight(start) || is_named_svmlight(source) {
        return read_svmlight(bytes, &name, budget).map(Contents::Labeled);
    }
    read_csv(bytes, &name, options).map(Contents::Table)
}

fn read_archive(source: impl Read + Seek, name: &str, options: &ReadOptions<'_>) -> Result<Contents> {
    let archive = Archive::open(source, name, options.budget)?;
    match archive.is_sparse() {
        true => archive.sparse().map(Contents::Sparse),
        false => table_of_archive(archive, name, options).map(Contents::Table),
    }
}

/// Whether a file contains named arrays (safetensors), by its first bytes. Standard input, which cannot be read twice, counts as
/// something else.
pub fn is_safetensors(source: &Source, budget: &Budget) -> Result<bool> {
    if *source == Source::Stdin {
        return Ok(false);
    }
    let mut bytes = source.open(budget)?;
    Ok(begins_like_safetensors(bytes.fill_buf().map_err(|error| source.unreadable(error))?))
}

/// Eight bytes with the length of a JSON header, and its first byte: no text has the zeros of such a length.
fn begins_like_safetensors(start: &[u8]) -> bool {
    matches!(start, [_, _, _, _, 0, 0, 0, 0, b'{', ..])
}

/// Whether the name says so, for files whose first lines are broken or have no pairs: the svmlight reader can best say what is wrong.
fn is_named_svmlight(source: &Source) -> bool {
    let Source::File(path) = source else { return false };
    matches!(inner_extension(path).as_deref(), Some("svm" | "svmlight" | "libsvm"))
}

/// The extension, ignoring `.gz` and `.zst`.
fn inner_extension(path: &Path) -> Option<String> {
    let extension = |path: &Path| Some(path.extension()?.to_str()?.to_ascii_lowercase());
    match extension(path)?.as_str() {
        "gz" | "zst" => extension(Path::new(path.file_stem()?)),
        other => Some(other.to_string()),
    }
}

fn not_a_table(name: &str, problem: String) -> Error {
    Error::Malformed { name: name.to_string(), format: "table", problem }
}

/// Rows and columns of an array; one axis is one column.
pub(crate) fn table_shape(shape: &[usize], name: &str) -> Result<(usize, usize)> {
    let (n_rows, n_columns) = match shape[..] {
        [n] => (n, 1),
        [n, d] => (n, d),
        _ => return Err(not_a_table(name, format!("its shape is {shape:?}; two axes are needed"))),
    };
    if n_rows == 0 || n_columns == 0 {
        return Err(Error::Empty { name: name.to_string() });
    }
    if n_columns > MAX_COLUMNS {
        let name = name.to_string();
        return Err(Error::TooManyColumns { name, found: n_columns, most: MAX_COLUMNS });
    }
    Ok((n_rows, n_columns))
}

fn table_of_array(array: Array<Values>, name: &str, options: &ReadOptions<'_>) -> Result<Table> {
    let (_, n_columns) = table_shape(&array.shape, name)?;
    charge_columns(n_columns, 0, name, options.budget)?;
    table_of_columns(vec![(array, numbered_names(n_columns))], name, options)
}

/// The only array with two axes, or the named one; arrays with one axis of the same length are additional columns. No other array
/// is read.
fn table_of_archive<R: Read + Seek>(
    mut archive: Archive<'_, R>,
    name: &str,
    options: &ReadOptions<'_>,
) -> Result<Table> {
    let mut arrays = archive.shapes()?;
    if arrays.is_empty() {
        return Err(not_a_table(name, "it contains no array of numbers".into()));
    }
    let is_main = |(array, shape): &(String, Vec<usize>)| match options.array {
        Some(wanted) => array == wanted,
        None => shape.len() == 2 || arrays.len() == 1,
    };
    let mains: Vec<usize> = (0..arrays.len()).filter(|&place| is_main(&arrays[place])).collect();
    let [main] = mains[..] else {
        let names: Vec<&str> = arrays.iter().map(|(array, _)| array.as_str()).collect();
        let names = shortened(names.join(", ").as_bytes());
        let problem = match options.array {
            Some(wanted) => format!("it has no array '{wanted}', but {names}"),
            None => {
                format!("it contains {} arrays with two axes ({names}); choose one with --array", mains.len())
            }
        };
        return Err(not_a_table(name, problem));
    };
    let (main, shape) = arrays.swap_remove(main);
    let (n_rows, n_columns) = table_shape(&shape, name)?;
    arrays.retain(|(_, shape)| *shape == [n_rows]);
    arrays.sort_unstable();
    let more: usize = arrays.iter().map(|(array, _)| array.len()).sum();
    charge_columns(n_columns + arrays.len(), more, name, options.budget)?;
    let mut parts = vec![(archive.numbers(&main)?, numbered_names(n_columns))];
    for (array, _) in arrays {
        parts.push((archive.numbers(&array)?, vec![array]));
    }
    table_of_columns(parts, name, options)
}

/// Puts arrays with the same number of rows side by side.
fn table_of_columns(
    parts: Vec<(Array<Values>, Vec<String>)>,
    name: &str,
    options: &ReadOptions<'_>,
) -> Result<Table> {
    let names: Vec<String> = parts.iter().flat_map(|(_, names)| names.clone()).collect();
    check_names(name, &names)?;
    let roles = (options.roles)(&names)?;
    let mut table = Table::empty(name, names, &roles, None);
    table.n_rows = parts[0].0.shape[0];
    if parts.len() == 1 && roles.iter().all(|&role| role == Role::Number) {
        // Nothing to rearrange: the array is the table.
        table.values = parts.into_iter().next().expect("there is one").0.values;
        return table.finish();
    }
    let mut columns = roles.iter();
    let is_single = parts.iter().all(|(array, names)| {
        let is_used = columns.by_ref().take(names.len()).any(|&role| role == Role::Number);
        array.values.is_single() || !is_used
    });
    table.values = match is_single {
        true => beside::<f32>(&parts, &mut table, options.budget)?.into(),
        false => beside::<f64>(&parts, &mut table, options.budget)?.into(),
    };
    options.budget.give_back(parts.iter().map(|(array, _)| array.values.bytes()).sum());
    table.finish()
}

/// The numbers of arrays with the same number of rows, row by row; texts go to the table.
fn beside<T: Number>(
    parts: &[(Array<Values>, Vec<String>)],
    table: &mut Table,
    budget: &Budget,
) -> Result<Vec<T>> {
    let n_values = table.n_rows.saturating_mul(table.n_numbers);
    budget.take((n_values as u64).saturating_mul(size_of::<T>() as u64), &table.name)?;
    let mut values = Vec::new();
    budget.reserve(&mut values, n_values, &table.name)?;
    for row in 0..table.n_rows {
        let cells = parts.iter().flat_map(|(array, names)| {
            let width = names.len();
            (row * width..(row + 1) * width).map(|place| array.values.get(place))
        });
        for (cell, column) in cells.zip(&mut table.columns) {
            match &mut column.cells {
                Cells::Numbers(_) => values.push(T::rounded(cell)),
                Cells::Texts(texts) => {
                    let text = text_of_number(cell);
                    budget.take(text_bytes(text.len()), &table.name)?;
                    texts.push(text);
                }
                Cells::NotNumbers(..) | Cells::Skipped => {}
            }
        }
    }
    Ok(values)
}

/// A number that is read as text; a missing one is empty.
pub(crate) fn text_of_number(cell: f64) -> String {
    if cell.is_nan() { String::new() } else { cell.to_string() }
}

/// The format that a name implies when writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Delimited text: comma, or tab.
    Text(u8),
    /// NumPy's array.
    Npy,
    /// Scipy's sparse matrix.
    Npz,
    /// Parquet.
    Parquet,
    /// MatrixMarket.
    MatrixMarket,
}

impl Format {
    /// By the extension, ignoring `.gz` and `.zst`; standard output is CSV.
    pub fn of(output: &Output) -> Option<Format> {
        let Output::File(path) = output else { return Some(Format::Text(b',')) };
        // Devices and pipes have no extension.
        if path.metadata().is_ok_and(|data| !data.is_file() && !data.is_dir()) {
            return Some(Format::Text(b','));
        }
        match inner_extension(path)?.as_str() {
            "csv" | "txt" => Some(Format::Text(b',')),
            "tsv" | "tab" => Some(Format::Text(b'\t')),
            "npy" => Some(Format::Npy),
            "npz" => Some(Format::Npz),
            "parquet" | "pq" => Some(Format::Parquet),
            "mtx" => Some(Format::MatrixMarket),
            _ => None,
        }
    }
}

fn unknown(output: &Output, advice: &'static str) -> Error {
    Error::UnknownFormat { name: output.to_string(), advice }
}

const TABLE_NAMES: &str = "use .csv, .tsv, .parquet or .npy (text also with .gz or .zst)";
const SPARSE_NAMES: &str = "use .npz or .mtx for a matrix, .csv, .tsv or .parquet for a list of edges";

/// Whether the name implies a format for tables; to be checked before the work begins.
pub fn check_table_output(output: &Output) -> Result<()> {
    match Format::of(output) {
        Some(Format::Text(_) | Format::Npy) => output.check(),
        Some(Format::Parquet) => check_parquet_output(output),
        _ => Err(unknown(output, TABLE_NAMES)),
    }
}

/// Whether the name implies a format for graphs.
pub fn check_graph_output(output: &Output) -> Result<()> {
    match Format::of(output) {
        Some(Format::Npy) | None => Err(unknown(output, SPARSE_NAMES)),
        Some(Format::Parquet) => check_parquet_output(output),
        Some(_) => output.check(),
    }
}

/// Writes a table in the format that the name implies.
pub fn write_table(table: &NewTable, output: &Output) -> Result<()> {
    match Format::of(output) {
        Some(Format::Text(delimiter)) => output.write(|out| write_text(table, delimiter, out)),
        Some(Format::Parquet) => write_parquet(table, output),
        Some(Format::Npy) => {
            let is_text = |column: &&NewColumn| matches!(column.cells, NewCells::Texts(_));
            if let Some(column) = table.columns().iter().find(is_text) {
                return Err(Error::CannotHold {
                    name: output.to_string(),
                    problem: format!(
                        "NPY stores numbers, but '{}' is text; write .csv or .parquet",
                        column.name
                    ),
                });
            }
            output.write(|out| write_npy(table, out))
        }
        _ => Err(unknown(output, TABLE_NAMES)),
    }
}

/// Writes a symmetric matrix, or, for the formats of tables, what `edges` gives.
pub fn write_graph(matrix: &SparseMatrix, edges: impl FnOnce() -> NewTable, output: &Output) -> Result<()> {
    write_entries(matrix, true, edges, output)
}

/// The same for a matrix of any shape.
pub fn write_matrix(matrix: &SparseMatrix, edges: impl FnOnce() -> NewTable, output: &Output) -> Result<()> {
    write_entries(matrix, false, edges, output)
}

fn write_entries(
    matrix: &SparseMatrix,
    is_symmetric: bool,
    edges: impl FnOnce() -> NewTable,
    output: &Output,
) -> Result<()> {
    match Format::of(output) {
        Some(Format::Npz) => output.write(|out| write_sparse_npz(matrix, out)),
        Some(Format::MatrixMarket) => output.write(|out| write_matrix_market(matrix, is_symmetric, out)),
        Some(Format::Text(_) | Format::Parquet) => write_table(&edges(), output),
        _ => Err(unknown(output, SPARSE_NAMES)),
    }
}

fn write_text(table: &NewTable, delimiter: u8, out: &mut (dyn Write + Send)) -> std::io::Result<()> {
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
    let rows = write_rows(table, &mut writer);
    rows.map_err(|error| match error.into_kind() {
        csv::ErrorKind::Io(source) => source,
        other => std::io::Error::other(format!("{other:?}")),
    })?;
    writer.flush()
}

fn write_rows<W: Write>(table: &NewTable, writer: &mut csv::Writer<W>) -> csv::Result<()> {
    writer.write_record(table.columns().iter().map(|column| column.name.as_bytes()))?;
    for row in 0..table.n_rows() {
        for column in table.columns() {
            match &column.cells {
                NewCells::Integers(cells) => writer.write_field(cells[row].to_string())?,
                // The shortest text that reads back as the same bits; a missing value is an empty cell.
                NewCells::Numbers(cells) if cells[row].is_nan() => writer.write_field("")?,
                NewCells::Numbers(cells) => writer.write_field(format!("{:?}", cells[row]))?,
                NewCells::Texts(cells) => writer.write_field(&cells[row])?,
            }
        }
        writer.write_record(None::<&[u8]>)?;
    }
    Ok(())
}

fn write_npy(table: &NewTable, out: &mut (dyn Write + Send)) -> std::io::Result<()> {
    let (columns, n_rows) = (table.columns(), table.n_rows());
    let shape = if columns.len() == 1 { vec![n_rows] } else { vec![n_rows, columns.len()] };
    let all_whole = columns.iter().all(|column| matches!(column.cells, NewCells::Integers(_)));
    let mut out = std::io::BufWriter::new(out);
    write_header(&mut out, if all_whole { "<i8" } else { "<f8" }, &shape)?;
    for row in 0..n_rows {
        for column in columns {
            let bytes = match &column.cells {
                NewCells::Integers(cells) if all_whole => cells[row].to_le_bytes(),
                NewCells::Integers(cells) => (cells[row] as f64).to_le_bytes(),
                NewCells::Numbers(cells) => cells[row].to_le_bytes(),
                NewCells::Texts(_) => unreachable!("refused before"),
            };
            out.write_all(&bytes)?;
        }
    }
    out.flush()
}
