//! Tables that stay on disk: memory-mapped files, whose pages the system reclaims when it needs memory.
//!
//! This is the only file of the project with `unsafe` blocks: a mapped file is memory that other programs can change. The
//! user's own file must not change while it is read, and a file that is truncated meanwhile ends the program with a bus
//! error. Scratch files have no name, so nobody else can reach them, and they disappear when the program ends, however it ends.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use memmap2::{Mmap, MmapMut};

use crate::error::{Error, Result};
use crate::faults::{self, Operation, Watched};
use crate::values::Number;

/// Zeros written at once.
const BLOCK: usize = 1 << 15;

/// Numbers of the user's own file, mapped in place.
#[derive(Debug)]
pub struct MappedValues<T = f64> {
    map: Mmap,
    /// Where the numbers begin, in bytes.
    begin: usize,
    n_values: usize,
    precision: PhantomData<T>,
}

impl<T: bytemuck::Pod> MappedValues<T> {
    /// Numbers from byte `begin` on; `None` if they are not properly aligned.
    ///
    /// # Panics
    /// If the file is shorter than that.
    pub(crate) fn open(file: &File, begin: u64, n_values: usize) -> std::io::Result<Option<Self>> {
        let map = map_for_reading(file)?;
        let begin = begin as usize;
        let bytes = &map[begin..begin + size_of::<T>() * n_values];
        let is_aligned = bytemuck::try_cast_slice::<u8, T>(bytes).is_ok();
        Ok(is_aligned.then_some(Self { map, begin, n_values, precision: PhantomData }))
    }
}

impl<T: bytemuck::Pod> AsRef<[T]> for MappedValues<T> {
    fn as_ref(&self) -> &[T] {
        bytemuck::cast_slice(&self.map[self.begin..self.begin + size_of::<T>() * self.n_values])
    }
}

/// A folder for tables that do not fit in memory.
#[derive(Debug, Clone)]
pub struct ScratchFolder {
    folder: PathBuf,
}

impl ScratchFolder {
    /// Checks that files can be created there.
    pub fn new(folder: &Path) -> Result<Self> {
        let scratch = Self { folder: folder.to_path_buf() };
        scratch.file()?;
        Ok(scratch)
    }

    /// A table of zeros. Its blocks are already on disk, so later writes cannot fail because the disk is full.
    pub fn table(&self, n_values: usize) -> Result<ScratchTable> {
        self.zeros(n_values)
    }

    /// The same in either precision.
    pub(crate) fn zeros<T: Number>(&self, n_values: usize) -> Result<ScratchTable<T>> {
        let mut writer = self.writer()?;
        let zeros = vec![T::rounded(0.0); BLOCK.min(n_values)];
        while writer.n_values < n_values {
            writer.push(&zeros[..zeros.len().min(n_values - writer.n_values)])?;
        }
        writer.finish()
    }

    /// A table that is written sequentially.
    pub(crate) fn writer<T: Number>(&self) -> Result<ScratchWriter<'_, T>> {
        let out = BufWriter::with_capacity(8 * BLOCK, Watched(self.file()?));
        Ok(ScratchWriter { scratch: self, out, n_values: 0, precision: PhantomData })
    }

    /// A file without a name.
    pub(crate) fn file(&self) -> Result<File> {
        let file = faults::check(Operation::Create).and_then(|()| tempfile::tempfile_in(&self.folder));
        file.map_err(|source| self.refused(0, source))
    }

    pub(crate) fn refused(&self, n_bytes: usize, source: std::io::Error) -> Error {
        Error::Scratch { folder: self.folder.clone(), bytes: n_bytes as u64, source }
    }
}

/// A table that is being written to disk.
pub(crate) struct ScratchWriter<'a, T> {
    scratch: &'a ScratchFolder,
    out: BufWriter<Watched<File>>,
    n_values: usize,
    precision: PhantomData<T>,
}

impl<T: Number> ScratchWriter<'_, T> {
    pub fn push(&mut self, values: &[T]) -> Result<()> {
        let written = self.out.write_all(bytemuck::cast_slice(values));
        let n_bytes = size_of::<T>() * (self.n_values + values.len());
        written.map_err(|source| self.scratch.refused(n_bytes, source))?;
        self.n_values += values.len();
        Ok(())
    }

    pub fn finish(self) -> Result<ScratchTable<T>> {
        let Self { scratch, out, n_values, precision } = self;
        let refused = |source| scratch.refused(size_of::<T>() * n_values, source);
        let Watched(file) = out.into_inner().map_err(|error| refused(error.into_error()))?;
        Ok(ScratchTable { map: map_scratch(&file).map_err(refused)?, n_values, precision })
    }
}

/// A table in a scratch file, deleted when it is dropped.
#[derive(Debug)]
pub struct ScratchTable<T = f64> {
    map: MmapMut,
    n_values: usize,
    precision: PhantomData<T>,
}

impl<T> ScratchTable<T> {
    /// Keeps only the first values.
    pub(crate) fn truncate(&mut self, n_values: usize) {
        self.n_values = self.n_values.min(n_values);
    }
}

impl<T: bytemuck::Pod> AsRef<[T]> for ScratchTable<T> {
    fn as_ref(&self) -> &[T] {
        bytemuck::cast_slice(&self.map[..size_of::<T>() * self.n_values])
    }
}

impl<T: bytemuck::Pod> AsMut<[T]> for ScratchTable<T> {
    fn as_mut(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.map[..size_of::<T>() * self.n_values])
    }
}

#[allow(unsafe_code)]
fn map_for_reading(file: &File) -> std::io::Result<Mmap> {
    faults::check(Operation::Map)?;
    // SAFETY: we never write to the file. The documentation requires that nobody else changes or truncates it while we
    // read; any bytes are valid numbers.
    unsafe { Mmap::map(file) }
}

#[allow(unsafe_code)]
fn map_scratch(file: &File) -> std::io::Result<MmapMut> {
    faults::check(Operation::Map)?;
    // SAFETY: the file has no name and its only handle is ours, so nobody else can change or truncate it; its blocks have
    // been written, and it is mapped once.
    unsafe { MmapMut::map_mut(file) }
}
