//! `taugraph generate`.

use taugraph::error::human_bytes;
use taugraph::generators::{SpiralDensity, add_noise, circles, moons, pinwheel, two_spirals, uneven_blobs};
use taugraph::memory::available;
use taugraph_io::check_table_output;

use crate::args::{Density, GenerateArgs, Shape};
use crate::failure::{Failure, Outcome};
use crate::outputs::output;
use crate::results::write_points;

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
    write_points(&noisy, &target)
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
