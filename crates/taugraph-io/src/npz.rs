//! NumPy's archives of arrays, and scipy's sparse matrices in them.

use std::io::{Read, Seek, Write};

use zip::ZipArchive;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;

use crate::budget::{Budget, Metered};
use crate::error::{Error, Result};
use crate::npy::{Array, Description, read_npy, read_numbers, read_text, write_header};
use crate::sparse::{SparseMatrix, check_shape};
use crate::values::Values;

/// More arrays than any sensible archive has.
const MAX_ARRAYS: usize = 10_000;

fn malformed(name: &str, problem: impl Into<String>) -> Error {
    Error::Malformed { name: name.to_string(), format: "NPZ", problem: problem.into() }
}

fn of_zip(name: &str, error: ZipError) -> Error {
    match error {
        ZipError::Io(source) => crate::source::unreadable(name, source),
        other => malformed(name, other.to_string()),
    }
}

/// What the zip crate keeps for each byte of an archive's directory, at most.
const DIRECTORY_TIMES: u64 = 16;

/// An opened archive.
pub(crate) struct Archive<'a, R> {
    zip: ZipArchive<R>,
    name: String,
    budget: &'a Budget,
}

impl<'a, R: Read + Seek> Archive<'a, R> {
    pub fn open(mut source: R, name: &str, budget: &'a Budget) -> Result<Self> {
        // Twice: the first time to see what the directory takes.
        let metered = Metered::new(&mut source, DIRECTORY_TIMES, budget);
        ZipArchive::new(metered).map_err(|error| of_zip(name, error))?.into_inner().keep();
        let zip = ZipArchive::new(source).map_err(|error| of_zip(name, error))?;
        if zip.len() > MAX_ARRAYS {
            return Err(malformed(name, format!("it contains {} files", zip.len())));
        }
        Ok(Self { zip, name: name.to_string(), budget })
    }

    /// Names of the arrays, without `.npy`.
    pub fn arrays(&self) -> Vec<String> {
        self.zip.file_names().filter_map(|file| file.strip_suffix(".npy")).map(str::to_string).collect()
    }

    /// Whether it is a scipy sparse matrix.
    pub fn is_sparse(&self) -> bool {
        let arrays = self.arrays();
        ["format", "shape", "data"].iter().all(|&needed| arrays.iter().any(|array| array == needed))
    }

    pub fn array(&mut self, array: &str) -> Result<Array> {
        let budget = self.budget;
        self.member(array, |file, name| read_npy(file, name, budget))
    }

    /// The same in single precision if it holds every number of the array's type.
    pub fn numbers(&mut self, array: &str) -> Result<Array<Values>> {
        let budget = self.budget;
        self.member(array, |file, name| read_numbers(file, name, budget))
    }

    /// Names and shapes of all arrays of numbers, from their headers alone.
    pub fn shapes(&mut self) -> Result<Vec<(String, Vec<usize>)>> {
        let mut found = Vec::new();
        for array in self.arrays() {
            let described = self.member(&array, |mut file, name| Description::if_numbers(&mut file, name))?;
            if let Some(described) = described {
                found.push((array, described.shape));
            }
        }
        Ok(found)
    }

    fn member<T>(
        &mut self,
        array: &str,
        read: impl FnOnce(zip::read::ZipFile<'_, R>, &str) -> Result<T>,
    ) -> Result<T> {
        let place = format!("{} ({array})", self.name);
        let file = self.zip.by_name(&format!("{array}.npy")).map_err(|error| of_zip(&place, error))?;
        read(file, &place)
    }

    /// The sparse matrix.
    pub fn sparse(mut self) -> Result<SparseMatrix> {
        let name = self.name.clone();
        let budget = self.budget;
        let format = self.member("format", |file, name| read_text(file, name, budget))?;
        let shape = self.array("shape")?.values;
        let [n_rows, n_columns] = shape[..] else {
            return Err(malformed(&name, "its shape is not that of a matrix"));
        };
        let whole = |length: f64| length >= 0.0 && length.fract() == 0.0 && length < 2f64.powi(53);
        if !(whole(n_rows) && whole(n_columns)) {
            return Err(malformed(&name, "its shape is not made of whole numbers"));
        }
        let shape = (n_rows as usize, n_columns as usize);
        let values = self.array("data")?.values;
        check_shape(shape, values.len(), "NPZ", &name)?;
        // Rows, columns and entries, before they are sorted.
        let _held = budget.hold(24 * values.len() as u64, &name)?;
        let ids = |archive: &mut Self, array: &str| -> Result<Vec<u32>> {
            let found = archive.array(array)?;
            budget.give_back(found.bytes());
            let found = found.values;
            if found.len() != values.len() {
                return Err(malformed(&name, format!("{array} and data differ in length")));
            }
            let bad = || malformed(&name, format!("{array} contains a number that is not an index"));
            found.iter().map(|&id| to_id(id).ok_or_else(bad)).collect()
        };
        let (rows, columns) = match format.as_str() {
            "coo" => (ids(&mut self, "row")?, ids(&mut self, "col")?),
            "csr" | "csc" => {
                let inner = ids(&mut self, "indices")?;
                let n_outer = if format == "csr" { shape.0 } else { shape.1 };
                let offsets = self.array("indptr")?.values;
                let outer = spread(&offsets, n_outer, values.len())
                    .ok_or_else(|| malformed(&name, "its indptr does not fit its shape and data"))?;
                if format == "csr" { (outer, inner) } else { (inner, outer) }
            }
            other => {
                let problem = format!("the sparse format '{other}' is not read; save it as csr, csc or coo");
                return Err(malformed(&name, problem));
            }
        };
        let mut entries = Vec::new();
        budget.reserve(&mut entries, values.len(), &name)?;
        entries.extend(
            rows.into_iter().zip(columns).zip(values).map(|((row, column), value)| (row, column, value)),
        );
        SparseMatrix::from_entries(shape, entries, "NPZ", &name, budget)
    }
}

/// Reads a sparse matrix saved by `scipy.sparse.save_npz`. `name` is for messages.
pub fn read_sparse_npz(source: impl Read + Seek, name: &str, budget: &Budget) -> Result<SparseMatrix> {
    Archive::open(source, name, budget)?.sparse()
}

/// Reads every array of numbers in an archive, with its name.
pub fn read_arrays(source: impl Read + Seek, name: &str, budget: &Budget) -> Result<Vec<(String, Array)>> {
    let mut archive = Archive::open(source, name, budget)?;
    let names = archive.shapes()?.into_iter().map(|(array, _)| array);
    names.map(|array| archive.array(&array).map(|found| (array, found))).collect()
}

fn to_id(value: f64) -> Option<u32> {
    (value >= 0.0 && value < f64::from(u32::MAX) && value.fract() == 0.0).then_some(value as u32)
}

/// The row of each entry, from where the rows begin.
fn spread(offsets: &[f64], n_rows: usize, n_entries: usize) -> Option<Vec<u32>> {
    if offsets.len() != n_rows + 1 || offsets[0] != 0.0 || offsets[n_rows] != n_entries as f64 {
        return None;
    }
    let mut rows = Vec::with_capacity(n_entries);
    for (row, pair) in offsets.windows(2).enumerate() {
        // NaN fails the comparison, too.
        if !(pair[1] >= pair[0] && pair[1] <= n_entries as f64) {
            return None;
        }
        rows.resize(pair[1] as usize, row as u32);
    }
    (rows.len() == n_entries).then_some(rows)
}

fn plain(error: ZipError) -> std::io::Error {
    match error {
        ZipError::Io(source) => source,
        other => std::io::Error::other(other),
    }
}

/// Writes what `scipy.sparse.load_npz` reads as a CSR matrix.
pub(crate) fn write_sparse_npz(matrix: &SparseMatrix, out: &mut (dyn Write + Send)) -> std::io::Result<()> {
    let mut zip = zip::ZipWriter::new_stream(out);
    // 64-bit sizes, for arrays beyond 4 GB; no time stamp, so that the same graph gives the same file.
    let options = SimpleFileOptions::default().large_file(true).compression_level(Some(1));
    let mut member = |name: &str, kind: &str, shape: &[usize], bytes: &mut dyn Iterator<Item = Vec<u8>>| {
        zip.start_file(format!("{name}.npy"), options).map_err(plain)?;
        write_header(&mut zip, kind, shape)?;
        for part in bytes {
            zip.write_all(&part)?;
        }
        Ok::<(), std::io::Error>(())
    };
    let is_long = matrix.values.len() > i32::MAX as usize || matrix.n_columns > i32::MAX as usize;
    let (index_kind, n) = (if is_long { "<i8" } else { "<i4" }, matrix.values.len());
    let index = |value: u64| match is_long {
        true => value.to_le_bytes().to_vec(),
        false => (value as u32).to_le_bytes().to_vec(),
    };
    let blocks = |values: &mut dyn Iterator<Item = Vec<u8>>| values.collect::<Vec<_>>().concat();
    let columns = matrix.columns.chunks(4096);
    member(
        "indices",
        index_kind,
        &[n],
        &mut columns.map(|part| blocks(&mut part.iter().map(|&column| index(u64::from(column))))),
    )?;
    let offsets = matrix.offsets.chunks(4096);
    member(
        "indptr",
        index_kind,
        &[matrix.n_rows + 1],
        &mut offsets.map(|part| blocks(&mut part.iter().map(|&offset| index(offset)))),
    )?;
    member("format", "|S3", &[], &mut std::iter::once(b"csr".to_vec()))?;
    let shape = [matrix.n_rows as u64, matrix.n_columns as u64];
    member("shape", "<i8", &[2], &mut shape.iter().map(|length| length.to_le_bytes().to_vec()))?;
    let values = matrix.values.chunks(4096);
    let little = |part: &[f64]| part.iter().flat_map(|value| value.to_le_bytes()).collect();
    member("data", "<f8", &[n], &mut values.map(little))?;
    zip.finish().map_err(plain)?;
    Ok(())
}
