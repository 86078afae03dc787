//! Points with known groups, and how well two groupings agree.

use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use taugraph::generators::{SpiralDensity, add_noise, circles, moons, pinwheel, two_spirals, uneven_blobs};
use taugraph::metrics;

use crate::arrays::{labels_of, table};
use crate::errors::{checked, unknown_name};

const SCORES: [&str; 6] = ["nmi", "ari", "ami", "matched_accuracy", "balanced_accuracy", "accuracy"];
const SHAPES: [&str; 5] = ["spirals", "pinwheel", "moons", "circles", "blobs"];

/// A score by its name, of two lists of classes counted from 0.
#[pyfunction]
pub fn score(
    py: Python<'_>,
    name: &str,
    truth: PyReadonlyArray1<'_, u32>,
    found: PyReadonlyArray1<'_, u32>,
) -> PyResult<f64> {
    let score = match name {
        "nmi" => metrics::nmi,
        "ari" => metrics::ari,
        "ami" => metrics::ami,
        "matched_accuracy" => metrics::matched_accuracy,
        "balanced_accuracy" => metrics::balanced_accuracy,
        "accuracy" => metrics::accuracy,
        other => return Err(unknown_name(py, "score", other, &SCORES)),
    };
    checked(py, score(truth.as_slice()?, found.as_slice()?))
}

/// Points of a shape and their classes, a `share` of them perturbed by `noise`.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn generate<'py>(
    py: Python<'py>,
    shape: &str,
    n: usize,
    density: &str,
    n_columns: usize,
    n_blobs: u32,
    inner: f64,
    noise: f64,
    share: f64,
    seed: u64,
) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<i64>>)> {
    let density = match density {
        "uniform-angle" => SpiralDensity::UniformAngle,
        "even-length" => SpiralDensity::EvenLength,
        other => return Err(unknown_name(py, "density", other, &["uniform-angle", "even-length"])),
    };
    let made = match shape {
        "spirals" => two_spirals(n, density, seed),
        "pinwheel" => pinwheel(n, seed),
        "moons" => moons(n, 0.0, seed),
        "circles" => circles(n, inner, 0.0, seed),
        "blobs" => uneven_blobs(n, n_columns, n_blobs, seed),
        other => return Err(unknown_name(py, "shape", other, &SHAPES)),
    };
    let data = checked(py, made.and_then(|data| add_noise(&data, noise, share, seed)))?;
    let points = table(py, data.points.values().to_vec(), data.points.n_columns())?;
    Ok((points, labels_of(py, &data.labels)))
}
