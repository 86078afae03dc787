//! Reads a table and prints how long that took; used by `make bench`.
//!
//! `read_table FILE`

use std::path::Path;
use std::time::Instant;

use taugraph_io::{Contents, ReadOptions, Source, read};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("give a file")?;
    let start = Instant::now();
    let contents = read(&Source::new(Path::new(&file)), &ReadOptions::numbers())?;
    let seconds = start.elapsed().as_secs_f64();
    let Contents::Table(table) = contents else { return Err("no table".into()) };
    let sum: f64 = table.values.iter().sum();
    println!("seconds {seconds}\nrows {}\ncolumns {}\nsum {sum}", table.n_rows, table.n_numbers);
    Ok(())
}
