//! `taugraph generate`.

use taugraph::error::human_bytes;
use taugraph::generators::{
    LabeledPoints, SpiralDensity, add_noise, circles, moons, pinwheel, two_spirals, uneven_blobs,
};
use taugraph::memory::available;
use taugraph_io::{NewColumn, NewTable, check_table_output, write_table};

use crate::args::{Density, GenerateArgs, Shape};
use crate::failure::{Failure, Outcome};
use crate::outputs::output;

pub fn generate(args: &GenerateArgs) -> Outcome<()> {
    let target = output(args.output.as_deref());
    check_table_output(&target)?;
    check_memory(args)?;
    let (n, seed) = (args.points, args.seed);
    let data = match args.shape {
        Shape::Spirals => {
            let density = match args.density {
                Density::UniformAngle => SpiralDensity::UniformAngle,
                Density::EvenLength => SpiralDensity::EvenLength,
            };
            two_spirals(n, density, seed)?
        }
        Shape::Pinwheel => pinwheel(n, seed)?,
        Shape::Moons => moons(n, 0.0, seed)?,
        Shape::Circles => circles(n, args.inner, 0.0, seed)?,
        Shape::Blobs => uneven_blobs(n, args.columns, args.blobs, seed)?,
    };
    let noisy = add_noise(&data, args.noise, args.share, seed)?;
    Ok(write_table(&as_table(&noisy), &target)?)
}

/// The points, a noisy copy and the columns to write.
fn check_memory(args: &GenerateArgs) -> Outcome<()> {
    let columns = if args.shape == Shape::Blobs { args.columns } else { 2 } as u64;
    let needed = (args.points as u64).saturating_mul(columns.saturating_mul(24).saturating_add(16));
    match available().filter(|&bytes| needed > bytes) {
        None => Ok(()),
        Some(bytes) => Err(Failure::Memory(format!(
            "{} points of {columns} columns need about {}, but {} are available",
            args.points,
            human_bytes(needed),
            human_bytes(bytes)
        ))),
    }
}

/// Columns x1, x2, … and label.
pub fn as_table(data: &LabeledPoints) -> NewTable {
    let d = data.points.n_columns();
    let features = (0..d).map(|column| {
        NewColumn::numbers(
            format!("x{}", column + 1),
            data.points.values().iter().skip(column).step_by(d).copied(),
        )
    });
    let labels = NewColumn::integers("label", data.labels.iter().map(|&label| i64::from(label)));
    NewTable::new(features.chain([labels]).collect())
}
