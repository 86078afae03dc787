//! Every test of the readers and writers in one program: it is linked once.

mod archives;
mod charges;
mod checksums;
mod common;
mod files;
mod formats;
mod lists;
mod on_disk;
mod parquet_cells;
