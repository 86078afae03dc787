//! A symmetric operator within a space of orthonormal vectors, wherever these are stored.

use faer::{Accum, Mat, MatRef};

use crate::dense::{multiply, orthonormalize, symmetric_eigen};
use crate::error::Result;
use crate::random::Stream;

/// Draws of restarts and of the start, distinct from those of the other solvers.
const SALT: u32 = 1 << 16;
pub(crate) const START: u32 = SALT + 1;
/// Draws of steps that find nothing new.
pub(crate) const FRESH: u32 = SALT + 16;

/// What is known of the operator within the space.
#[derive(Clone)]
pub(crate) struct Projection {
    /// Vectors in the space, out of at most `room`.
    pub filled: usize,
    pub room: usize,
    /// vᵀ·A·v; only the first `filled` rows and columns are valid.
    products: Mat<f64>,
    /// The best vectors of the previous step, in terms of the first basis vectors.
    before: Option<Mat<f64>>,
    stream: Stream,
}

impl Projection {
    /// What is known, as numbers: the products row by row, then the rows of the best vectors of the previous step, if there are any.
    pub fn to_numbers(&self) -> ([u64; 3], Vec<f64>) {
        let (rows, columns) = self.before.as_ref().map_or((0, 0), |before| (before.nrows(), before.ncols()));
        let products = self.products.as_ref().submatrix(0, 0, self.filled, self.filled);
        let mut values = Vec::with_capacity(self.filled * self.filled + rows * columns);
        for matrix in [Some(products), self.before.as_ref().map(Mat::as_ref)].into_iter().flatten() {
            for row in 0..matrix.nrows() {
                values.extend((0..matrix.ncols()).map(|column| matrix[(row, column)]));
            }
        }
        ([self.filled as u64, rows as u64, columns as u64], values)
    }

    /// The reverse, for a space of the same room; `None` if they do not fit.
    pub fn with_numbers(mut self, numbers: [u64; 3], values: &[f64]) -> Option<Self> {
        let [filled, rows, columns] = numbers.map(|number| number as usize);
        if filled > self.room || rows > self.room || columns > self.room {
            return None;
        }
        let (products, before) = values.split_at_checked(filled * filled)?;
        if before.len() != rows * columns {
            return None;
        }
        self.filled = filled;
        for (at, value) in products.iter().enumerate() {
            self.products[(at / filled, at % filled)] = *value;
        }
        let is_there = columns > 0;
        self.before =
            is_there.then(|| Mat::from_fn(rows, columns, |row, column| before[row * columns + column]));
        Some(self)
    }

    /// Of an empty space.
    pub fn new(room: usize, stream: Stream) -> Self {
        Self { filled: 0, room, products: Mat::zeros(room, room), before: None, stream }
    }

    /// How many of `count` new vectors fit.
    pub fn fitting(&self, count: usize) -> usize {
        count.min(self.room - self.filled)
    }

    /// Adds vectors, given the products of all vectors with the images of the new ones.
    pub fn widen(&mut self, new: MatRef<'_, f64>) {
        let before = self.filled;
        self.filled += new.ncols();
        for column in 0..new.ncols() {
            for row in 0..self.filled {
                self.products[(row, before + column)] = new[(row, column)];
                self.products[(before + column, row)] = new[(row, column)];
            }
        }
    }

    /// Ritz values, ascending, and their vectors in terms of the basis.
    pub fn ritz(&self) -> Result<(Vec<f64>, Mat<f64>)> {
        symmetric_eigen(self.products.as_ref().submatrix(0, 0, self.filled, self.filled))
    }

    /// Ensures room for `count` vectors, if necessary by a restart from the `leading` vectors and those of the previous step: then the basis is to be
    /// replaced by the combinations given by the columns that are returned.
    pub fn make_room(&mut self, count: usize, leading: MatRef<'_, f64>, step: u32) -> Option<Mat<f64>> {
        if self.filled + count <= self.room {
            self.before = Some(leading.to_owned());
            return None;
        }
        let most = self.room.saturating_sub(count);
        let kept = now_and_before(leading, self.before.as_ref(), most, &self.stream, step);
        self.restart(kept.as_ref());
        // The vectors of this step come first in the new basis.
        let is_same = |row, column| f64::from(u8::from(row == column));
        self.before = Some(Mat::from_fn(kept.ncols(), leading.ncols(), is_same));
        Some(kept)
    }

    fn restart(&mut self, rotation: MatRef<'_, f64>) {
        let (filled, kept) = (self.filled, rotation.ncols());
        let (mut half, mut whole) = (Mat::zeros(filled, kept), Mat::zeros(kept, kept));
        let inner = self.products.as_ref().submatrix(0, 0, filled, filled);
        multiply(half.as_mut(), Accum::Replace, inner, rotation, 1.0);
        multiply(whole.as_mut(), Accum::Replace, rotation.transpose(), half.as_ref(), 1.0);
        self.products.as_mut().submatrix_mut(0, 0, kept, kept).copy_from(whole);
        self.filled = kept;
    }
}

/// The columns of `now`, and as many of `before` (given in the first basis vectors only) as fit, made orthonormal.
fn now_and_before(
    now: MatRef<'_, f64>,
    before: Option<&Mat<f64>>,
    most: usize,
    stream: &Stream,
    step: u32,
) -> Mat<f64> {
    let (filled, count) = (now.nrows(), now.ncols());
    let old = before.map_or(0, |before| before.ncols().min(most.saturating_sub(count)));
    let mut columns = vec![0.0; filled * (count + old)];
    for (at, column) in columns.chunks_exact_mut(filled).enumerate() {
        match before {
            Some(before) if at >= count => {
                column.iter_mut().zip(before.col(at - count).iter()).for_each(|(to, from)| *to = *from);
            }
            _ => column.iter_mut().zip(now.col(at).iter()).for_each(|(to, from)| *to = *from),
        }
    }
    orthonormalize(&mut columns, filled, &mut stream.at(SALT, step));
    MatRef::from_column_major_slice(&columns, filled, count + old).to_owned()
}
