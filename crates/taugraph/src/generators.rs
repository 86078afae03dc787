//! Synthetic points with known groups, for users as well as tests.
//!
//! Every point is a function of (seed, shape, group, index), whatever the number of threads.

use std::f64::consts::{PI, TAU};

use crate::error::{Result, require};
use crate::labels::Labels;
use crate::points::Points;
use crate::random::{Draws, Stage, Stream};

/// Points and the group each belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct LabeledPoints {
    /// The points, in the units of their definition.
    pub points: Points,
    /// The group of each point.
    pub labels: Labels,
}

/// How the points are distributed along a spiral arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SpiralDensity {
    /// Uniform in the angle, offset up to 0.2: the arms become sparser outward.
    #[default]
    UniformAngle,
    /// Denser outward (square root of a uniform number), offset up to 0.5.
    EvenLength,
}

/// Draws `n` points; `place(group, draws)` gives the coordinates of one.
fn generate(
    shape: u32,
    groups: impl Iterator<Item = u32>,
    n_groups: u32,
    seed: u64,
    place: impl Fn(u32, &mut Draws) -> Vec<f64>,
) -> Result<LabeledPoints> {
    let stream = Stream::new(seed, Stage::Generator);
    let labels = Labels::new(groups.collect(), n_groups as usize)?;
    let mut values = Vec::new();
    for (index, &group) in labels.iter().enumerate() {
        values.extend(place(group, &mut stream.at(index as u32, shape)));
    }
    let n_columns = values.len() / labels.len().max(1);
    Ok(LabeledPoints { points: Points::new(values, n_columns)?, labels })
}

/// Group of each of `n` points, divided into equal consecutive parts.
fn equal_parts(n: usize, n_groups: u32) -> impl Iterator<Item = u32> {
    (0..n).map(move |index| (index * n_groups as usize / n) as u32)
}

/// Two spirals, one turn each, π apart: t = 90° + 360°·u, point = ±(t cos t, −t sin t) + a uniform offset.
pub fn two_spirals(n: usize, density: SpiralDensity, seed: u64) -> Result<LabeledPoints> {
    require(n >= 2, "points", n, "must be at least 2")?;
    generate(1, equal_parts(n, 2), 2, seed, |arm, draws| {
        let sign = if arm == 0 { 1.0 } else { -1.0 };
        let u = draws.uniform();
        let (along, offset) = match density {
            SpiralDensity::UniformAngle => (u, 0.2),
            SpiralDensity::EvenLength => (u.sqrt(), 0.5),
        };
        let t = PI / 2.0 + TAU * along;
        let mut coordinate = |value: f64| sign * value + offset * draws.uniform();
        vec![coordinate(t * t.cos()), coordinate(-t * t.sin())]
    })
}

/// Five arms of a pinwheel: (r, s) ~ N(0, diag(0.3², 0.1²)), r shifted by 1, rotated by the arm's angle + 0.25·eʳ,
/// times 10.
pub fn pinwheel(n: usize, seed: u64) -> Result<LabeledPoints> {
    require(n >= 5, "points", n, "must be at least 5")?;
    generate(2, equal_parts(n, 5), 5, seed, |arm, draws| {
        let (r, s) = (1.0 + 0.3 * draws.normal(), 0.1 * draws.normal());
        let angle = TAU * f64::from(arm) / 5.0 + 0.25 * r.exp();
        let (sin, cos) = angle.sin_cos();
        vec![10.0 * (r * cos - s * sin), 10.0 * (r * sin + s * cos)]
    })
}

/// Two interleaved half circles of radius 1, with Gaussian noise.
pub fn moons(n: usize, noise: f64, seed: u64) -> Result<LabeledPoints> {
    require(n >= 2, "points", n, "must be at least 2")?;
    require(noise >= 0.0 && noise.is_finite(), "noise", noise, "must be finite and at least 0")?;
    generate(3, equal_parts(n, 2), 2, seed, |moon, draws| {
        let (sin, cos) = (PI * draws.uniform()).sin_cos();
        let (x, y) = if moon == 0 { (cos, sin) } else { (1.0 - cos, 0.5 - sin) };
        vec![x + noise * draws.normal(), y + noise * draws.normal()]
    })
}

/// Two circles around one center, radii 1 and `inner`, with Gaussian noise.
pub fn circles(n: usize, inner: f64, noise: f64, seed: u64) -> Result<LabeledPoints> {
    require(n >= 2, "points", n, "must be at least 2")?;
    require(inner > 0.0 && inner < 1.0, "inner radius", inner, "must be between 0 and 1")?;
    require(noise >= 0.0 && noise.is_finite(), "noise", noise, "must be finite and at least 0")?;
    generate(4, equal_parts(n, 2), 2, seed, |circle, draws| {
        let (sin, cos) = (TAU * draws.uniform()).sin_cos();
        let radius = if circle == 0 { 1.0 } else { inner };
        vec![radius * cos + noise * draws.normal(), radius * sin + noise * draws.normal()]
    })
}

/// Gaussian blobs of uneven density: centers uniform in a cube of side 20, the deviation of blob b between 0.4
/// and 1.6, its size proportional to 1, 2 or 3 in turn.
pub fn uneven_blobs(n: usize, n_columns: usize, n_blobs: u32, seed: u64) -> Result<LabeledPoints> {
    require(n_columns >= 1, "columns", n_columns, "must be at least 1")?;
    require(n_blobs >= 1 && n >= 3 * n_blobs as usize, "points", n, "must be at least 3 for each blob")?;
    let shares: Vec<f64> = (0..n_blobs).map(|blob| f64::from(1 + blob % 3)).collect();
    let total: f64 = shares.iter().sum();
    let mut ends = Vec::new();
    let mut sum = 0.0;
    for share in &shares {
        sum += share;
        ends.push((sum / total * n as f64).round() as usize);
    }
    let stream = Stream::new(seed, Stage::Generator);
    let blobs: Vec<(Vec<f64>, f64)> = (0..n_blobs)
        .map(|blob| {
            let mut draws = stream.at(blob, 6);
            ((0..n_columns).map(|_| 20.0 * draws.uniform()).collect(), 0.4 + 1.2 * draws.uniform())
        })
        .collect();
    let group = |index: usize| ends.iter().position(|&end| index < end).expect("the last end is n") as u32;
    generate(5, (0..n).map(group), n_blobs, seed, |blob, draws| {
        let (center, deviation) = &blobs[blob as usize];
        center.iter().map(|c| c + deviation * draws.normal()).collect()
    })
}

/// The paper's noise: Gaussian of deviation `sigma` on a random `share` of the points.
pub fn add_noise(data: &LabeledPoints, sigma: f64, share: f64, seed: u64) -> Result<LabeledPoints> {
    require(sigma >= 0.0 && sigma.is_finite(), "noise", sigma, "must be finite and at least 0")?;
    require((0.0..=1.0).contains(&share), "share", share, "must be between 0 and 1")?;
    let (n, d) = (data.points.len(), data.points.n_columns());
    let stream = Stream::new(seed, Stage::Noise);
    let mut chosen = stream.at(0, 1).permutation(n);
    chosen.truncate((share * n as f64).round() as usize);
    let mut values = data.points.values().to_vec();
    for &row in &chosen {
        let mut draws = stream.at(row, 0);
        values[row as usize * d..(row as usize + 1) * d]
            .iter_mut()
            .for_each(|v| *v += sigma * draws.normal());
    }
    Ok(LabeledPoints { points: Points::new(values, d)?, labels: data.labels.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_have_their_sizes_and_groups() {
        let all = [
            (two_spirals(300, SpiralDensity::UniformAngle, 1), 2),
            (two_spirals(300, SpiralDensity::EvenLength, 1), 2),
            (pinwheel(300, 1), 5),
            (moons(300, 0.05, 1), 2),
            (circles(300, 0.5, 0.05, 1), 2),
            (uneven_blobs(300, 4, 6, 1), 6),
        ];
        for (data, groups) in all {
            let data = data.unwrap();
            assert_eq!((data.points.len(), data.labels.len()), (300, 300));
            assert_eq!(data.labels.n_classes(), groups);
            assert!(data.labels.sizes().iter().all(|&size| size > 0));
        }
        assert!(two_spirals(1, SpiralDensity::UniformAngle, 0).is_err());
        assert!(uneven_blobs(5, 2, 4, 0).is_err());
        assert!(circles(10, 1.5, 0.0, 0).is_err());
    }

    #[test]
    fn spirals_lie_on_their_arms() {
        let data = two_spirals(200, SpiralDensity::UniformAngle, 3).unwrap();
        for (index, &arm) in data.labels.iter().enumerate() {
            let row = data.points.row(index);
            let radius = row.get(0).hypot(row.get(1));
            assert!(radius > PI / 2.0 - 0.3 && radius < 2.5 * PI + 0.3, "arm {arm}: {radius}");
        }
    }

    #[test]
    fn noise_touches_its_share_only() {
        let data = two_spirals(100, SpiralDensity::UniformAngle, 3).unwrap();
        let noisy = add_noise(&data, 0.4, 0.25, 9).unwrap();
        let moved = (0..100).filter(|&i| data.points.row(i) != noisy.points.row(i)).count();
        assert_eq!(moved, 25);
        assert_eq!(add_noise(&data, 0.4, 0.0, 9).unwrap(), data);
        assert_ne!(two_spirals(100, SpiralDensity::UniformAngle, 4).unwrap(), data);
    }
}
