//! Replaces reading and writing Parquet files if the feature `parquet` is off: every function returns an error.

use std::fs::File;
use std::io::BufRead;

use crate::error::{Error, Result};
use crate::on_disk::Extent;
use crate::output::Output;
use crate::source::Source;
use crate::table::{NewTable, ReadOptions, Table};
use crate::values::{Filled, Room};

const MISSING: &str = "Parquet is not supported: this was built without the feature 'parquet'";

fn unreadable<T>(name: &str) -> Result<T> {
    Err(Error::Malformed { name: name.to_string(), format: "table", problem: MISSING.to_string() })
}

pub(crate) fn read_parquet_source(
    source: &Source,
    _: Box<dyn BufRead + Send>,
    _: &ReadOptions<'_>,
) -> Result<Table> {
    unreadable(&source.to_string())
}

pub(crate) fn read_parquet_into<R: Room>(
    _: File,
    name: &str,
    _: &ReadOptions<'_>,
    _: &R,
) -> Result<(Table, Filled<R>)> {
    unreadable(name)
}

pub(crate) fn parquet_extent(_: File, name: &str, _: &ReadOptions<'_>) -> Result<Extent> {
    unreadable(name)
}

pub(crate) fn check_parquet_output(output: &Output) -> Result<()> {
    Err(Error::CannotHold { name: output.to_string(), problem: MISSING.to_string() })
}

pub(crate) fn write_parquet(_: &NewTable, output: &Output) -> Result<()> {
    check_parquet_output(output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapped::ScratchFolder;
    use crate::{
        NewColumn, SparseMatrix, check_graph_output, check_table_output, extent, read, read_on_disk,
        write_graph, write_table,
    };

    /// Reading and writing name the feature; nothing is written, and compressed text is read as ever.
    #[test]
    fn the_missing_feature_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let table = || NewTable::new(vec![NewColumn::numbers("x", [1.0, 2.0])]);
        let matrix =
            SparseMatrix { n_rows: 1, n_columns: 1, offsets: vec![0, 0], columns: vec![], values: vec![] };
        let output = Output::new(&path);
        for refused in [
            check_table_output(&output),
            check_graph_output(&output),
            write_table(&table(), &output),
            write_graph(&matrix, table, &output),
        ] {
            let error = refused.unwrap_err();
            assert!(error.is_output() && error.to_string().contains("feature 'parquet'"), "{error}");
        }
        assert!(!path.exists());
        std::fs::write(&path, b"PAR1 and more").unwrap();
        let (source, options) = (Source::new(&path), ReadOptions::numbers());
        let scratch = ScratchFolder::new(folder.path()).unwrap();
        for refused in [
            read(&source, &options).map(drop),
            read_on_disk(&source, &options, &scratch).map(drop),
            extent(&source, &options).map(drop),
        ] {
            let error = refused.unwrap_err();
            assert!(!error.is_output() && error.to_string().contains("feature 'parquet'"), "{error}");
        }
        let packed = folder.path().join("t.csv.zst");
        write_table(&table(), &Output::new(&packed)).unwrap();
        assert!(read(&Source::new(&packed), &options).is_ok());
    }
}
