//! Points in single precision, for filters whose results are checked in double precision.

use rayon::prelude::*;

use super::reordered::Reordered;
use crate::error::Result;
use crate::points::{Numbers, Points, Value, with_values};
use crate::progress::Run;

/// Points that are read in single precision, centered and scaled to norms of at most 1. They are converted whenever they are
/// needed, which costs little compared with their use; only the norms are stored.
pub(super) struct F32Points<'a> {
    points: &'a Points,
    /// For out-of-core points: a copy in the order in which they are read.
    reordered: Option<Reordered>,
    norms: Vec<f64>,
    frame: Frame,
}

/// What is subtracted from every point, and what the difference is multiplied by.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// The mean of the points that it was made for.
    pub mean: Vec<f64>,
    /// Makes their norms at most 1.
    pub scale: f64,
}

impl Frame {
    #[inline]
    fn convert(&self, row: Numbers<'_>) -> impl Iterator<Item = f32> {
        row.iter().zip(&self.mean).map(|(value, mean)| ((value - mean) * self.scale) as f32)
    }

    /// Appends a converted row. The precision is looked at once, not for every value, so that the loop vectorizes.
    #[inline]
    fn append(&self, row: Numbers<'_>, out: &mut Vec<f32>) {
        with_values!(row, row => {
            out.extend(row.iter().zip(&self.mean).map(|(value, mean)| ((value.widened() - mean) * self.scale) as f32));
        });
    }
}

impl<'a> F32Points<'a> {
    /// Centering makes the norms, and with them the rounding errors, small; scaling keeps the squares within the range of
    /// single precision.
    pub fn new(points: &'a Points) -> Self {
        let (n, d) = (points.len(), points.n_columns());
        let share = 1.0 / n as f64;
        let mut mean = vec![0.0; d];
        let largest = with_values!(points.values(), values => {
            for row in values.chunks_exact(d) {
                mean.iter_mut().zip(row).for_each(|(m, &v)| *m += v.widened() * share);
            }
            let of_row = |row: &[_]| largest_difference(row, &mean);
            values.par_chunks_exact(d).map(of_row).reduce(|| 0.0, f64::max)
        });
        let scale = 1.0 / (largest.max(f64::MIN_POSITIVE) * (d as f64).sqrt());
        Self::in_frame(points, Frame { mean, scale })
    }

    /// Other points in the same frame. Points too far away for single precision get scores that prove nothing.
    pub fn of_new<'b>(&self, new: &'b Points) -> F32Points<'b> {
        F32Points::in_frame(new, self.frame.clone())
    }

    /// What all of these points, and others in the same frame, are measured in.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    pub fn in_frame(points: &'a Points, frame: Frame) -> Self {
        let norms = (0..points.len()).into_par_iter().with_min_len(64);
        let norms = norms.map_init(Vec::new, |row, i| {
            row.clear();
            frame.append(points.row(i), row);
            norm(row.iter().copied())
        });
        let norms = norms.collect();
        Self { points, reordered: None, norms, frame }
    }

    /// Copies out-of-core points in this order, and from then on reads them from the copy.
    pub fn reorder(&mut self, order: &[u32], run: &Run<'_>) -> Result<()> {
        self.reordered = Reordered::new(self.points, || order.to_vec(), run)?;
        Ok(())
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.norms.len()
    }

    /// Number of columns.
    pub fn n_columns(&self) -> usize {
        self.frame.mean.len()
    }

    /// One point.
    #[inline]
    pub fn row(&self, i: usize) -> impl Iterator<Item = f32> {
        self.frame.convert(self.exact_row(i))
    }

    /// Appends a point to others.
    #[inline]
    pub fn append_row(&self, i: usize, out: &mut Vec<f32>) {
        self.frame.append(self.exact_row(i), out);
    }

    /// Points one after the other.
    pub fn gathered(&self, ids: &[u32]) -> Vec<f32> {
        let mut rows = Vec::with_capacity(ids.len() * self.n_columns());
        ids.iter().for_each(|&i| self.append_row(i as usize, &mut rows));
        rows
    }

    /// The same as it is stored, unscaled.
    #[inline]
    pub fn exact_row(&self, i: usize) -> Numbers<'_> {
        match &self.reordered {
            None => self.points.row(i),
            Some(copy) => copy.row(i),
        }
    }

    /// |x|² of a point.
    #[inline]
    pub fn squared_norm(&self, i: usize) -> f32 {
        (self.norms[i] * self.norms[i]) as f32
    }

    /// The score (|y|² − 2·x·y) below which a pair may be as close as `squared` (a squared distance in the points' own
    /// unit): a candidate y with a higher score is certainly farther from the point x = `query`.
    ///
    /// Score + |x|² is the squared distance but for rounding. Conversion, d products and sums, norms and the last sums (one more
    /// where a score serves both points) are at most d + 12 roundings of 2⁻²⁴ of (|x| + |y|)², doubled for safety, and
    /// |y| ≤ |x| + distance for every pair that close. Each underflow adds at most the smallest normal number.
    pub fn limit(&self, query: usize, squared: f64) -> f64 {
        let squared = squared * self.frame.scale * self.frame.scale;
        let roundings = (self.n_columns() + 12) as f64;
        let reach = 2.0 * self.norms[query] + squared.sqrt();
        let rounding = roundings * (f64::from(f32::EPSILON) * reach * reach + f64::from(f32::MIN_POSITIVE));
        squared + rounding - self.norms[query] * self.norms[query]
    }
}

/// max |x − mean| over the coordinates of a row.
fn largest_difference<T: Value>(row: &[T], mean: &[f64]) -> f64 {
    row.iter().zip(mean).map(|(&v, m)| (v.widened() - m).abs()).fold(0.0, f64::max)
}

/// |x| of a point in single precision.
pub(super) fn norm(row: impl Iterator<Item = f32>) -> f64 {
    row.map(|value| f64::from(value) * f64::from(value)).sum::<f64>().sqrt()
}
