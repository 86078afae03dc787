//! Files of numbers: those of `bench points`, and NPY as scripts/hard_sets.py writes it.

use std::error::Error;
use std::fs;
use std::path::Path;

use taugraph::generators::LabeledPoints;
use taugraph::labels::Labels;
use taugraph::points::Points;

pub fn write(path: &str, values: impl Iterator<Item = f64>) -> Result<(), Box<dyn Error>> {
    Ok(fs::write(path, values.flat_map(f64::to_le_bytes).collect::<Vec<u8>>())?)
}

pub fn read(path: &str) -> Result<Vec<f64>, std::io::Error> {
    Ok(fs::read(path)?.chunks_exact(8).map(double).collect())
}

/// Points and labels. The labels of NAME.npy are in NAME-labels.npy.
pub fn read_points(path: &str) -> Result<LabeledPoints, Box<dyn Error>> {
    if let Some(name) = path.strip_suffix(".npy") {
        let (values, d) = read_npy(path)?;
        let (labels, _) = read_npy(format!("{name}-labels.npy"))?;
        return labeled(values, d, &labels);
    }
    let mut all = read(path)?;
    let (n, d) = (all[0] as usize, all[1] as usize);
    let labels = all.split_off(2 + n * d);
    labeled(all.split_off(2), d, &labels)
}

fn labeled(values: Vec<f64>, d: usize, labels: &[f64]) -> Result<LabeledPoints, Box<dyn Error>> {
    let labels = Labels::in_order_of_appearance(labels.iter().map(|&label| label as u32));
    Ok(LabeledPoints { points: Points::new(values, d)?, labels })
}

fn double(bytes: &[u8]) -> f64 {
    f64::from_le_bytes(bytes.try_into().expect("8 bytes"))
}

/// Values and columns of an array in C order. Only what numpy.save writes for our own sets; taugraph-io has the reader for everything.
fn read_npy(path: impl AsRef<Path>) -> Result<(Vec<f64>, usize), Box<dyn Error>> {
    let all = fs::read(path)?;
    let start = 10 + usize::from(u16::from_le_bytes([all[8], all[9]]));
    let header = std::str::from_utf8(&all[10..start])?;
    let after = |key: &str| header.split_once(key).map(|(_, rest)| rest).ok_or("not an NPY file of ours");
    let kind = after("'descr': '")?.split('\'').next().unwrap_or_default();
    let shape = after("'shape': (")?.split(')').next().unwrap_or_default();
    let columns = shape.split(',').nth(1).and_then(|text| text.trim().parse().ok()).unwrap_or(1);
    let bytes = &all[start..];
    let values = match kind {
        "<f8" => bytes.chunks_exact(8).map(double).collect(),
        "<f4" => bytes
            .chunks_exact(4)
            .map(|bytes| f64::from(f32::from_le_bytes(bytes.try_into().expect("4 bytes"))))
            .collect(),
        "<i8" => bytes
            .chunks_exact(8)
            .map(|bytes| i64::from_le_bytes(bytes.try_into().expect("8 bytes")) as f64)
            .collect(),
        "|u1" => bytes.iter().map(|&byte| f64::from(byte)).collect(),
        _ => return Err(format!("{kind} is not read here").into()),
    };
    Ok((values, columns))
}
