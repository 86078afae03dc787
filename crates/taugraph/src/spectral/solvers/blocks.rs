//! Several vectors at once, interleaved by node: one pass over the edges serves all of them.
//!
//! Sums over the nodes are computed in fixed chunks and added in order: the same bits on any number of threads.

use faer::{Accum, Mat, MatMut, MatRef};
use rayon::prelude::*;

use crate::dense::{multiply, symmetric_eigen};
use crate::error::{Error, Result};
use crate::linear::LANES;

/// Nodes per chunk.
pub(crate) const CHUNK: usize = 2048;
/// Directions of a block whose squared length, relative to the longest, is below this are not new.
const DEPENDENT: f64 = 1e-12;
/// A vector of which less than this fraction is orthogonal to the space lies in it.
const KNOWN: f64 = 1e-10;
/// If rounding errors grow by no more than this, vectors stay orthogonal enough: to 1e-13.
pub(crate) const HARMLESS: f64 = 1e3;

/// `width` vectors, padded with zeros to whole lanes.
#[derive(Clone)]
pub(crate) struct Block {
    pub width: usize,
    pub values: Vec<f64>,
}

impl Block {
    /// A block of `n_vectors` zero vectors on `n` nodes.
    pub fn zeros(n: usize, n_vectors: usize) -> Self {
        let width = n_vectors.max(1).next_multiple_of(LANES);
        Self { width, values: vec![0.0; n * width] }
    }

    /// The vectors (column-major, by node of the graph) with the nodes in this order.
    pub fn in_order(vectors: &[f64], order: &[u32]) -> Self {
        let n = order.len();
        let mut block = Self::zeros(n, vectors.len() / n);
        let width = block.width;
        block.values.par_chunks_mut(width).with_min_len(CHUNK).zip(order).for_each(|(to, &node)| {
            to.iter_mut().zip(vectors.chunks_exact(n)).for_each(|(to, vector)| *to = vector[node as usize]);
        });
        block
    }

    /// The first vectors, column-major, by node of the graph.
    pub fn by_node(&self, n_vectors: usize, order: &[u32]) -> Vec<f64> {
        let n = order.len();
        let mut vectors = vec![0.0; n * n_vectors];
        vectors.par_chunks_mut(n * LANES).enumerate().for_each(|(first, vectors)| {
            for (from, &node) in self.nodes().zip(order) {
                let places = vectors[node as usize..].iter_mut().step_by(n);
                places.zip(&from[first * LANES..]).for_each(|(to, from)| *to = *from);
            }
        });
        vectors
    }

    /// The last vectors, with what pads them.
    pub fn last(&self, n_vectors: usize) -> Block {
        let mut last = Self::zeros(self.values.len() / self.width, n_vectors.min(self.width));
        let first = self.width - last.width;
        last.update(self, |to, from| to.copy_from_slice(&from[first..]));
        last
    }

    /// Vectors by nodes.
    pub fn view(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.values, self.width, self.values.len() / self.width)
    }

    pub fn view_mut(&mut self) -> MatMut<'_, f64> {
        let n = self.values.len() / self.width;
        MatMut::from_column_major_slice_mut(&mut self.values, self.width, n)
    }

    /// The vectors at each node.
    pub fn nodes(&self) -> std::slice::ChunksExact<'_, f64> {
        self.values.chunks_exact(self.width)
    }

    /// Calls `work` with the vectors of both blocks at every node.
    pub fn update(&mut self, other: &Block, work: impl Fn(&mut [f64], &[f64]) + Sync) {
        let (width, theirs) = (self.width, other.width);
        let chunks = self.values.par_chunks_mut(CHUNK * width).zip(other.values.par_chunks(CHUNK * theirs));
        chunks.for_each(|(ours, other)| {
            ours.chunks_exact_mut(width)
                .zip(other.chunks_exact(theirs))
                .for_each(|(to, from)| work(to, from));
        });
    }

    /// Multiplies the vectors at each node by `factor` of that node's number.
    pub fn scale(&mut self, numbers: &[f64], factor: impl Fn(f64) -> f64 + Sync) {
        let width = self.width;
        let chunks = self.values.par_chunks_mut(CHUNK * width).zip(numbers.par_chunks(CHUNK));
        chunks.for_each(|(values, numbers)| {
            for (node, &number) in values.chunks_exact_mut(width).zip(numbers) {
                let factor = factor(number);
                node.iter_mut().for_each(|value| *value *= factor);
            }
        });
    }

    /// Multiplies each vector by its own factor.
    pub fn multiply_each(&mut self, numbers: &[f64]) {
        self.values.par_chunks_mut(self.width).with_min_len(CHUNK).for_each(|node| {
            node.iter_mut().zip(numbers).for_each(|(value, number)| *value *= number);
        });
    }

    /// Euclidean length of each vector.
    pub fn lengths(&self) -> Vec<f64> {
        self.squares().into_iter().map(f64::sqrt).collect()
    }

    /// Its square.
    pub fn squares(&self) -> Vec<f64> {
        let squares_of = |chunk: &[f64]| {
            let mut squares = vec![0.0; self.width];
            for node in chunk.chunks_exact(self.width) {
                squares.iter_mut().zip(node).for_each(|(square, value)| *square += value * value);
            }
            squares
        };
        let chunks: Vec<Vec<f64>> = self.values.par_chunks(CHUNK * self.width).map(squares_of).collect();
        let mut squares = vec![0.0; self.width];
        for chunk in &chunks {
            squares.iter_mut().zip(chunk).for_each(|(square, part)| *square += part);
        }
        squares
    }

    /// Scales every nonzero vector to length 1; returns the original lengths.
    pub fn normalize(&mut self) -> Vec<f64> {
        let lengths = self.lengths();
        let inverse = |&length: &f64| if length > f64::MIN_POSITIVE { 1.0 / length } else { 0.0 };
        self.multiply_each(&lengths.iter().map(inverse).collect::<Vec<_>>());
        lengths
    }

    /// The same span with orthonormal vectors, their number, and by how much errors in the vectors may have grown; dependent vectors
    /// are dropped (Stathopoulos and Wu 2002).
    pub fn orthonormal(mut self) -> Result<(Block, usize, f64)> {
        let lengths = self.normalize();
        if lengths.iter().any(|length| !length.is_finite()) {
            return Err(Error::Numerical { what: "an eigenproblem" });
        }
        let directions = Directions::of(products(self.view(), self.view()).as_ref())?;
        Ok((self.combined(directions.rotation.as_ref()), directions.count, directions.growth))
    }

    /// The combinations of the vectors given by the columns of `rotation`.
    pub fn combined(&self, rotation: MatRef<'_, f64>) -> Block {
        let mut out = Block::zeros(self.values.len() / self.width, rotation.ncols());
        let to = out.view_mut().subrows_mut(0, rotation.ncols());
        let from = self.view().subrows(0, rotation.nrows());
        multiply(to, Accum::Replace, rotation.transpose(), from, 1.0);
        out
    }

    /// Replaces the first vectors by combinations of them, given by the columns of `rotation`.
    pub fn rotate(&mut self, rotation: MatRef<'_, f64>) {
        let (before, after, width) = (rotation.nrows(), rotation.ncols(), self.width);
        self.values.par_chunks_mut(CHUNK * width).for_each(|chunk| {
            let n = chunk.len() / width;
            let mut rotated = Mat::<f64>::zeros(after, n);
            let view = MatRef::from_column_major_slice(&*chunk, width, n).subrows(0, before);
            multiply(rotated.as_mut(), Accum::Replace, rotation.transpose(), view, 1.0);
            MatMut::from_column_major_slice_mut(chunk, width, n).subrows_mut(0, after).copy_from(rotated);
        });
    }
}

/// Orthonormal combinations of vectors of length 1, or 0.
pub(crate) struct Directions {
    /// A column for each, padded with zeros to whole lanes.
    pub rotation: Mat<f64>,
    /// Their number: dependent vectors are dropped.
    pub count: usize,
    /// By how much errors in the vectors may have grown.
    pub growth: f64,
}

impl Directions {
    /// From all inner products of the vectors (Stathopoulos and Wu 2002).
    pub fn of(products: MatRef<'_, f64>) -> Result<Self> {
        let width = products.nrows();
        let (squares, directions) = symmetric_eigen(products)?;
        let kept: Vec<usize> = (0..width)
            .rev()
            .take_while(|&at| squares[at] > DEPENDENT * squares[width - 1].max(1.0))
            .collect();
        let n_columns = kept.len().max(1).next_multiple_of(LANES);
        let rotation = Mat::from_fn(width, n_columns, |row, column| match kept.get(column) {
            Some(&at) => directions[(row, at)] / squares[at].sqrt(),
            None => 0.0,
        });
        let growth = kept.last().map_or(1.0, |&least| 1.0 / squares[least].sqrt());
        Ok(Self { rotation, count: kept.len(), growth })
    }
}

/// Which vectors have a direction that is new after known ones were removed, by their lengths before and after, and by how much rounding
/// errors of these have grown. What is left of known vectors is rounding error: scaled up to length 1 it would be neither new nor orthogonal.
pub(crate) fn new_ones(before: &[f64], after: &[f64]) -> (Vec<bool>, f64) {
    let is_new = |(before, after): (&f64, &f64)| *after > KNOWN * before;
    let kept: Vec<bool> = before.iter().zip(after).map(is_new).collect();
    let growths = before.iter().zip(after).zip(&kept).filter(|(_, kept)| **kept);
    let growth = growths.map(|((before, after), _)| before / after).fold(1.0, f64::max);
    (kept, growth)
}

/// All inner products between the rows of `a` and `b`.
pub(crate) fn products(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let n = a.ncols();
    let of_chunk = |chunk: usize| {
        let (first, length) = (chunk * CHUNK, CHUNK.min(n - chunk * CHUNK));
        let mut out = Mat::zeros(a.nrows(), b.nrows());
        let (a, b) = (a.subcols(first, length), b.subcols(first, length));
        multiply(out.as_mut(), Accum::Replace, a, b.transpose(), 1.0);
        out
    };
    let chunks: Vec<Mat<f64>> = (0..n.div_ceil(CHUNK)).into_par_iter().map(of_chunk).collect();
    let mut sum = Mat::zeros(a.nrows(), b.nrows());
    chunks.iter().for_each(|chunk| sum += chunk);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Stage, Stream};

    fn random(n: usize, n_vectors: usize) -> Block {
        let mut block = Block::zeros(n, n_vectors);
        let mut draws = Stream::new(3, Stage::Weights).at(n as u32, 0);
        for node in block.values.chunks_exact_mut(block.width) {
            node[..n_vectors].iter_mut().for_each(|value| *value = draws.normal());
        }
        block
    }

    #[test]
    fn products_over_many_chunks_equal_the_naive_ones() {
        let (a, b) = (random(2 * CHUNK + 77, 3), random(2 * CHUNK + 77, 6));
        let found = products(a.view(), b.view());
        for (i, length) in a.lengths().iter().enumerate() {
            let square: f64 = a.nodes().map(|node| node[i] * node[i]).sum();
            assert!((square.sqrt() - length).abs() < 1e-10);
            for j in 0..b.width {
                let naive: f64 = a.nodes().zip(b.nodes()).map(|(a, b)| a[i] * b[j]).sum();
                assert!((found[(i, j)] - naive).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn dependent_vectors_are_left_out() {
        let mut block = random(500, 6);
        for node in block.values.chunks_exact_mut(8) {
            node[4] = node[0] - 3.0 * node[2];
        }
        let (found, count, _) = block.orthonormal().unwrap();
        assert_eq!((found.width, count), (8, 5));
        let gram = products(found.view(), found.view());
        for i in 0..8 {
            for j in 0..8 {
                let expected = f64::from(u8::from(i == j && i < count));
                assert!((gram[(i, j)] - expected).abs() < 1e-10);
            }
        }
        assert_eq!(Block::zeros(50, 2).orthonormal().unwrap().1, 0);
    }
}
