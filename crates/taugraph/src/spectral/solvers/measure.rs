//! Measures how good vectors are as eigenvectors, whatever a solver reports.

use rayon::prelude::*;

use super::SymmetricMatrix;
use super::davidson::LONG;
use crate::dense::{dot, norm};

/// Long vectors are measured this many at a time: a neighbor's values are fetched from memory at once.
const AT_ONCE: usize = 8;
/// Rows per thread at a time.
const ROWS: usize = 512;

/// Vectors taken as eigenvectors of a positive semidefinite operator.
#[derive(Default)]
pub(in super::super) struct Measured {
    /// Rayleigh quotients.
    pub values: Vec<f64>,
    /// |A·u − λ·u|.
    pub residuals: Vec<f64>,
}

impl Measured {
    /// Measures vectors stored one after the other.
    pub fn of(operator: &impl SymmetricMatrix, vectors: &[f64]) -> Self {
        let n = operator.len();
        if n <= LONG {
            return one_by_one(operator, vectors);
        }
        let (values, residuals): (Vec<_>, Vec<_>) =
            vectors.chunks(n * AT_ONCE).map(|vectors| several(operator, vectors)).unzip();
        Self { values: values.concat(), residuals: residuals.concat() }
    }

    pub fn worst(&self) -> f64 {
        self.residuals.iter().copied().fold(0.0, f64::max)
    }
}

fn one_by_one(operator: &impl SymmetricMatrix, vectors: &[f64]) -> Measured {
    let (n, unit) = (operator.len(), operator.norm_bound());
    let mut image = vec![0.0; n];
    let (values, residuals) = vectors
        .chunks_exact(n)
        .map(|vector| {
            operator.apply(vector, &mut image);
            // In units of the bound, so that squares neither underflow nor overflow.
            image.iter_mut().for_each(|image| *image /= unit);
            // Rounding may leave the value of a null vector slightly below 0.
            let value = (dot(vector, &image) / dot(vector, vector)).max(0.0);
            image.iter_mut().zip(vector).for_each(|(image, v)| *image -= value * v);
            (unit * value, unit * (norm(&image) / norm(vector)))
        })
        .unzip();
    Measured { values, residuals }
}

/// One value of each of several vectors.
type Lanes = [f64; AT_ONCE];

/// Rayleigh quotients and residuals of at most [`AT_ONCE`] vectors, which are interleaved first.
fn several(operator: &impl SymmetricMatrix, vectors: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (n, unit) = (operator.len(), operator.norm_bound());
    let count = vectors.len() / n;
    let mut x: Vec<Lanes> = vec![[0.0; AT_ONCE]; n];
    x.par_iter_mut().with_min_len(ROWS).enumerate().for_each(|(node, to)| {
        to.iter_mut().zip(vectors.chunks_exact(n)).for_each(|(to, vector)| *to = vector[node]);
    });
    let image_at = |node: usize| {
        let mut sums = x[node].map(|x| operator.diagonal(node) * x);
        for (other, entry) in operator.off_diagonal(node) {
            let x = x[other as usize];
            (0..AT_ONCE).for_each(|lane| sums[lane] += entry * x[lane]);
        }
        // In units of the bound, so that squares neither underflow nor overflow.
        sums.map(|sum| sum / unit)
    };
    let images: Vec<Lanes> = (0..n).into_par_iter().with_min_len(ROWS).map(image_at).collect();
    let squares = products(&x, |node| x[node]);
    let quotients = products(&x, |node| images[node]);
    // Rounding may leave the value of a null vector slightly below 0.
    let values: Lanes = std::array::from_fn(|lane| (quotients[lane] / squares[lane]).max(0.0));
    let residual_at = |node: usize| -> Lanes {
        std::array::from_fn(|lane| images[node][lane] - values[lane] * x[node][lane])
    };
    let nodes: Vec<Lanes> = (0..n).into_par_iter().with_min_len(ROWS).map(residual_at).collect();
    let residuals = products(&nodes, |node| nodes[node]);
    let lengths = (0..count).map(|lane| unit * (residuals[lane] / squares[lane]).sqrt());
    (values[..count].iter().map(|value| unit * value).collect(), lengths.collect())
}

/// The inner products of vectors with others, summed in a fixed order.
fn products(x: &[Lanes], other: impl Fn(usize) -> Lanes + Sync) -> Lanes {
    let add = |mut sums: Lanes, lanes: Lanes| {
        (0..AT_ONCE).for_each(|lane| sums[lane] += lanes[lane]);
        sums
    };
    let of_chunk = |(chunk, x): (usize, &[Lanes])| {
        x.iter().enumerate().fold([0.0; AT_ONCE], |sums, (place, x)| {
            let other = other(chunk * ROWS + place);
            add(sums, std::array::from_fn(|lane| x[lane] * other[lane]))
        })
    };
    let chunks: Vec<Lanes> = x.par_chunks(ROWS).enumerate().map(of_chunk).collect();
    chunks.into_iter().fold([0.0; AT_ONCE], add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::SparseGraph;
    use crate::random::{Stage, Stream};
    use crate::spectral::{Laplacian, LaplacianKind};

    /// Eleven vectors on a ring: more than are measured at once, and not a multiple of it.
    #[test]
    fn several_at_once_equal_one_after_the_other() {
        let n = LONG + 77;
        let edges =
            crate::edges::Edges::from_pairs(n, (0..n as u32).map(|i| (i, (i + 1) % n as u32))).unwrap();
        let weights: Vec<f64> = (0..edges.len()).map(|edge| 1.0 + (edge % 7) as f64).collect();
        let graph = SparseGraph::from_edges(&edges, &weights).unwrap();
        let mut draws = Stream::new(1, Stage::Weights).at(0, 0);
        let vectors: Vec<f64> = (0..11 * n).map(|_| draws.normal()).collect();
        for kind in [LaplacianKind::Symmetric, LaplacianKind::Unnormalized] {
            let laplacian = Laplacian::new(&graph, kind);
            let found = Measured::of(&laplacian, &vectors);
            let naive = one_by_one(&laplacian, &vectors);
            let pairs =
                found.values.iter().zip(&naive.values).chain(found.residuals.iter().zip(&naive.residuals));
            assert_eq!((found.values.len(), found.residuals.len()), (11, 11));
            pairs.for_each(|(a, b)| assert!((a - b).abs() < 1e-11 * b.abs(), "{a} and {b}"));
        }
    }
}
