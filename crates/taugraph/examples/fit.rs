//! The front door from a terminal: a table or sparse points on standard input, labels and edges on standard output.
//!
//! `fit PRESET CLUSTERS SEED` reads rows of comma-separated numbers; `fit PRESET CLUSTERS SEED N_COLUMNS` reads rows of `column:value`, columns
//! counted from 0. It prints the label of each row, an empty line, and the edges `i j weight`.

use std::error::Error;
use std::io::{Read, Write};

use taugraph::points::SparsePoints;
use taugraph::{Config, Input, SpectralClustering, Table};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [preset, clusters, seed, sparse @ ..] = &arguments[..] else {
        return Err("usage: fit PRESET CLUSTERS SEED [N_COLUMNS]".into());
    };
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let input = match sparse {
        [n_columns] => Input::from(sparse_points(&text, n_columns.parse()?)?),
        _ => Input::from(table(&text)?),
    };
    let mut config = Config::default();
    config.set("preset", preset.as_str())?;
    config.set("cluster.n_clusters", clusters.as_str())?;
    config.set("seed", seed.parse::<u64>()?)?;
    let found = SpectralClustering::with_config(config).fit(input)?;
    let mut out = std::io::stdout().lock();
    for label in found.labels() {
        writeln!(out, "{label}")?;
    }
    writeln!(out)?;
    let graph = found.graph().graph();
    for i in 0..graph.n_nodes() {
        for (j, weight) in graph.row(i).filter(|(j, _)| i < *j as usize) {
            writeln!(out, "{i} {j} {weight:?}")?;
        }
    }
    Ok(())
}

fn table(text: &str) -> Result<Table<'static>, Box<dyn Error>> {
    let n_columns = text.lines().next().map_or(0, |line| line.split(',').count());
    let values =
        text.lines().flat_map(|line| line.split(',')).map(str::parse).collect::<Result<Vec<f64>, _>>()?;
    Ok(Table::new(values, n_columns)?)
}

fn sparse_points(text: &str, n_columns: usize) -> Result<SparsePoints, Box<dyn Error>> {
    let (mut offsets, mut columns, mut values) = (vec![0u64], Vec::new(), Vec::new());
    for line in text.lines() {
        for entry in line.split_whitespace() {
            let (column, value) = entry.split_once(':').ok_or("column:value is needed")?;
            columns.push(column.parse()?);
            values.push(value.parse()?);
        }
        offsets.push(columns.len() as u64);
    }
    Ok(SparsePoints::new(n_columns, offsets, columns, values)?)
}
