//! The smallest eigenpairs of a normalized Laplacian by Chebyshev-filtered subspace iteration (Zhou, Saad, Tiago and Chelikowsky
//! 2006), in single precision.
//!
//! A polynomial of the operator that is small on the unwanted part of the spectrum and grows steeply below it takes the place of an
//! inverse: no factor, no hierarchy, and two blocks of vectors besides the operator. It serves where only the space of the pairs
//! matters and the next pair is so far above that single precision can tell; elsewhere it gives way after a few rounds.

use faer::{Accum, Mat, MatRef};
use rayon::prelude::*;

use super::Context;
use super::blocks::Block;
use super::quality::Quality;
use super::single::{NormalizedLaplacian, SingleBlock, Step};
use crate::dense::{multiply, symmetric_eigen};
use crate::error::Result;

/// Applications of the operator in a round: more would let the first vectors outgrow the others beyond single precision.
const DEGREE: usize = 10;
/// Rounds after which it gives way: about the time that a hierarchy and the first steps on it take.
const MAX_ROUNDS: usize = 12;
/// The first round whose progress tells how many are still to come.
const FIRST_FORECAST: usize = 3;
/// Vectors besides the wanted ones, at least: some of them show where the wanted pairs end.
const SPARE: usize = 5;
/// Upper bound on the eigenvalues.
const BOUND: f64 = 2.0;
/// Residuals that single precision resolves, with a margin of ten.
const RESOLVED: f64 = 2e-6;
/// Directions whose squared length, relative to the longest, is below this are not new: they are rounding.
const DEPENDENT: f64 = 1e-9;
/// Random vectors differ from those of the other solvers.
const SALT: u32 = 1 << 17;

/// Parameters of the iteration.
pub(in super::super) struct ChebyshevParams<'a> {
    /// Pairs wanted.
    pub wanted: usize,
    /// Residuals of at most this fraction of the distance to the next pair suffice.
    pub angle: f64,
    /// Groups of nodes on which the vectors are about constant, if they are known.
    pub groups: Option<&'a [u32]>,
    /// Maximum number of applications of the operator to a vector.
    pub max_applications: usize,
}

/// The pairs found.
pub(in super::super) struct ChebyshevResult {
    /// Column-major, by node of the graph.
    pub vectors: Vec<f64>,
    /// Lower bound on the distance to the next eigenvalue above them.
    pub gap: f64,
}

/// Peak memory in bytes, besides the graph.
pub(in super::super) fn bytes(n: usize, n_edges: u64, wanted: usize) -> u64 {
    let (n, width) = (n as u64, width(wanted) as u64);
    // Two blocks and their null vectors, the operator, and the result.
    n * (2 * 4 * width + 8 * 4) + NormalizedLaplacian::bytes(n, n_edges) + 8 * n * wanted as u64
}

/// Vectors of a block.
fn width(wanted: usize) -> usize {
    SingleBlock::padded(wanted + SPARE)
}

/// The smallest eigenpairs in the orthogonal complement of the null vectors, with the number of applications; `None` if it gives way.
pub(in super::super) fn smallest(
    operator: &NormalizedLaplacian,
    null: &[f64],
    params: &ChebyshevParams<'_>,
    context: Context<'_>,
) -> Result<(Option<ChebyshevResult>, usize)> {
    let wanted = params.wanted;
    let width = width(wanted);
    let mut space = Space {
        operator,
        null: Block::in_order(null, operator.order()),
        vectors: start(operator, params.groups, width, context),
        other: SingleBlock::zeros(operator.len(), width),
    };
    let (mut applications, mut before) = (0, f64::INFINITY);
    for round in 0..=MAX_ROUNDS {
        (context.check)()?;
        let pairs = space.rayleigh_ritz()?;
        applications += width;
        let count = pairs.values.len();
        if count < wanted + 2 {
            break;
        }
        let quality = Quality::new(&pairs.values, pairs.residuals, wanted, 0.0, params.angle, BOUND);
        let gap = quality.distance.unwrap_or(0.0);
        let is_resolved = quality.goal() >= RESOLVED;
        if is_resolved && quality.is_done() {
            let vectors = space.vectors.by_node(wanted, operator.order());
            let gap = gap - quality.lengths[wanted];
            return Ok((Some(ChebyshevResult { vectors, gap }), applications));
        }
        // How far the worst pair is from its goal, and the rounds that it takes at the pace of the last one.
        let excess = quality.excess();
        let rounds_left = excess.ln() / (before / excess).ln().max(0.0);
        let is_slow = (round + 1) as f64 + rounds_left > (MAX_ROUNDS + 1) as f64;
        if round >= FIRST_FORECAST && (!is_resolved || is_slow) {
            break;
        }
        before = excess;
        if applications + DEGREE * width > params.max_applications {
            break;
        }
        // All above the pair that shows where the wanted ones end is damped.
        space.filter(pairs.values[wanted + 1], context)?;
        applications += DEGREE * width;
    }
    Ok((None, applications))
}

/// Groups, scaled as eigenvectors are, and random vectors.
fn start(
    operator: &NormalizedLaplacian,
    groups: Option<&[u32]>,
    width: usize,
    context: Context<'_>,
) -> SingleBlock {
    let n_groups = groups.and_then(|groups| groups.iter().max()).map_or(0, |last| *last as usize + 1);
    // More groups than there is room for beside random vectors are of no use.
    let groups = groups.filter(|_| n_groups + 2 < width);
    let n_groups = groups.map_or(0, |_| n_groups);
    let mut block = SingleBlock::zeros(operator.len(), width);
    block.for_nodes(|place, to| {
        let node = operator.order()[place] as usize;
        if let Some(groups) = groups {
            to[groups[node] as usize] = operator.lengths()[place];
        }
        let mut draws = context.stream.at(SALT, node as u32);
        to[n_groups..].iter_mut().for_each(|value| *value = draws.normal() as f32);
    });
    block
}

/// The vectors of the iteration.
struct Space<'a> {
    operator: &'a NormalizedLaplacian,
    null: Block,
    vectors: SingleBlock,
    other: SingleBlock,
}

/// The best pairs of a space, as far as its vectors are independent.
struct Pairs {
    values: Vec<f64>,
    residuals: Vec<f64>,
}

impl Space<'_> {
    /// Replaces the vectors by their images under a polynomial that is small from `edge` on and steep below.
    fn filter(&mut self, edge: f64, context: Context<'_>) -> Result<()> {
        let (center, half) = ((BOUND + edge) / 2.0, (BOUND - edge) / 2.0);
        // Scaled so that the value at 0 stays 1 (Zhou and Saad 2007).
        let mut sigma = -half / center;
        let tau = 2.0 / sigma;
        self.other.fill(0.0);
        let first = Step { center, factor: sigma / half, before: 0.0 };
        self.operator.step(&self.vectors, &mut self.other, first);
        std::mem::swap(&mut self.vectors, &mut self.other);
        for _ in 1..DEGREE {
            (context.check)()?;
            let next = 1.0 / (tau - sigma);
            let step = Step { center, factor: 2.0 * next / half, before: sigma * next };
            self.operator.step(&self.vectors, &mut self.other, step);
            std::mem::swap(&mut self.vectors, &mut self.other);
            sigma = next;
        }
        Ok(())
    }

    /// Replaces the vectors by the best approximations to eigenvectors in the space they span, ascending, and the rest by 0.
    fn rayleigh_ritz(&mut self) -> Result<Pairs> {
        self.remove_null();
        let width = self.vectors.width;
        self.other.fill(0.0);
        self.operator.step(&self.vectors, &mut self.other, Step { center: 0.0, factor: 1.0, before: 0.0 });
        let [gram, projected] = self.inner_products();
        // Columns have very different lengths after a filter.
        let length = |at: usize| {
            let square = gram[(at, at)];
            if square > f64::MIN_POSITIVE { 1.0 / square.sqrt() } else { 0.0 }
        };
        let scale: Vec<f64> = (0..width).map(length).collect();
        let scaled = Mat::from_fn(width, width, |i, j| scale[i] * gram[(i, j)] * scale[j]);
        let (squares, directions) = symmetric_eigen(scaled.as_ref())?;
        let largest = squares[width - 1];
        let kept: Vec<usize> = (0..width).filter(|&at| squares[at] > DEPENDENT * largest.max(1.0)).collect();
        let whitening = Mat::from_fn(width, kept.len(), |row, column| {
            scale[row] * directions[(row, kept[column])] / squares[kept[column]].sqrt()
        });
        let (mut half, mut inner) = (Mat::zeros(width, kept.len()), Mat::zeros(kept.len(), kept.len()));
        multiply(half.as_mut(), Accum::Replace, projected.as_ref(), whitening.as_ref(), 1.0);
        multiply(inner.as_mut(), Accum::Replace, whitening.transpose(), half.as_ref(), 1.0);
        let symmetric = Mat::from_fn(kept.len(), kept.len(), |i, j| 0.5 * (inner[(i, j)] + inner[(j, i)]));
        let (values, rotation) = symmetric_eigen(symmetric.as_ref())?;
        let mut combined = Mat::zeros(width, kept.len());
        multiply(combined.as_mut(), Accum::Replace, whitening.as_ref(), rotation.as_ref(), 1.0);
        let residuals = self.rotate(&combined, &values);
        Ok(Pairs { values, residuals })
    }

    /// Projects the null vectors out.
    fn remove_null(&mut self) {
        let (null, width) = (&self.null, self.vectors.width);
        let chunks_of_null = || {
            null.values
                .par_chunks(SingleBlock::CHUNK * null.width)
                .map(|chunk| MatRef::from_column_major_slice(chunk, null.width, chunk.len() / null.width))
        };
        let parts: Vec<Mat<f64>> = self
            .vectors
            .chunks()
            .zip(chunks_of_null())
            .map(|(vectors, null)| {
                let mut shares = Mat::zeros(null.nrows(), width);
                multiply(shares.as_mut(), Accum::Replace, null, widened(vectors, width).transpose(), 1.0);
                shares
            })
            .collect();
        let mut shares = Mat::<f64>::zeros(null.width, width);
        parts.iter().for_each(|part| shares += part);
        self.vectors.chunks_mut().zip(chunks_of_null()).for_each(|(vectors, null)| {
            let mut left = widened(vectors, width);
            multiply(left.as_mut(), Accum::Add, shares.transpose(), null, -1.0);
            for (node, to) in vectors.chunks_exact_mut(width).enumerate() {
                to.iter_mut().zip(left.col_as_slice(node)).for_each(|(to, left)| *to = *left as f32);
            }
        });
    }

    /// Vᵀ·V and Vᵀ·(A·V).
    fn inner_products(&self) -> [Mat<f64>; 2] {
        let width = self.vectors.width;
        let zeros = || [Mat::zeros(width, width), Mat::zeros(width, width)];
        let parts: Vec<[Mat<f64>; 2]> = self
            .vectors
            .chunks()
            .zip(self.other.chunks())
            .map(|(vectors, images)| {
                let (vectors, images) = (widened(vectors, width), widened(images, width));
                let mut products = zeros();
                for (product, right) in products.iter_mut().zip([&vectors, &images]) {
                    multiply(product.as_mut(), Accum::Replace, vectors.as_ref(), right.transpose(), 1.0);
                }
                products
            })
            .collect();
        parts.iter().fold(zeros(), |mut sums, part| {
            sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
            sums
        })
    }

    /// Replaces the vectors by combinations, and returns the lengths of the residuals for these values.
    fn rotate(&mut self, rotation: &Mat<f64>, values: &[f64]) -> Vec<f64> {
        let width = self.vectors.width;
        let parts: Vec<Vec<f64>> = self
            .vectors
            .chunks_mut()
            .zip(self.other.chunks())
            .map(|(vectors, images)| {
                let n = vectors.len() / width;
                let rotated = |values: &[f32]| {
                    let mut out = Mat::<f64>::zeros(rotation.ncols(), n);
                    let from = widened(values, width);
                    multiply(out.as_mut(), Accum::Replace, rotation.transpose(), from.as_ref(), 1.0);
                    out
                };
                let (new, images) = (rotated(vectors), rotated(images));
                let mut squares = vec![0.0; values.len()];
                for (node, to) in vectors.chunks_exact_mut(width).enumerate() {
                    to.fill(0.0);
                    let (new, images) = (new.col_as_slice(node), images.col_as_slice(node));
                    to.iter_mut().zip(new).for_each(|(to, new)| *to = *new as f32);
                    for (((square, value), new), image) in squares.iter_mut().zip(values).zip(new).zip(images)
                    {
                        *square += (image - value * new).powi(2);
                    }
                }
                squares
            })
            .collect();
        let mut squares = vec![0.0; values.len()];
        for part in &parts {
            squares.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        squares.into_iter().map(f64::sqrt).collect()
    }
}

/// Vectors by nodes in double precision.
fn widened(values: &[f32], width: usize) -> Mat<f64> {
    let mut widened = Mat::zeros(width, values.len() / width);
    for (node, from) in values.chunks_exact(width).enumerate() {
        widened.col_as_slice_mut(node).iter_mut().zip(from).for_each(|(to, from)| *to = f64::from(*from));
    }
    widened
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::{SpiralDensity, two_spirals, uneven_blobs};
    use crate::graph::SparseGraph;
    use crate::neighbors::{Space as Points, nearest_neighbors};
    use crate::progress::Run;
    use crate::random::{Stage, Stream};
    use crate::spectral::solvers::dense;
    use crate::spectral::solvers::measure::Measured;
    use crate::spectral::{Laplacian, LaplacianKind};

    fn neighbor_graph(points: crate::points::Points) -> SparseGraph {
        let space = Points::from_points(points, crate::distance::Metric::Euclidean).unwrap();
        let neighbors = nearest_neighbors(&space, 12, &Run::new(0)).unwrap();
        let edges = crate::edges::Edges::from_neighbors(&neighbors, 12, crate::edges::Symmetrize::Union);
        let weights = edges.map(|_, i, j| (-0.1 * space.distance(i as usize, j as usize)).exp());
        SparseGraph::from_edges(&edges, &weights).unwrap()
    }

    fn search(
        laplacian: &Laplacian<'_>,
        wanted: usize,
        groups: Option<&[u32]>,
        regions: Option<&[u32]>,
    ) -> (Option<ChebyshevResult>, Vec<f64>) {
        let components = laplacian.graph().components();
        let null = laplacian.part_vectors(components, 0..components.len());
        let operator = NormalizedLaplacian::new(laplacian.graph(), laplacian.degrees(), regions);
        let params = ChebyshevParams { wanted, angle: 1e-3, groups, max_applications: 100_000 };
        let context = Context { stream: Stream::new(1, Stage::Eigen), check: &|| Ok(()) };
        (smallest(&operator, &null, &params, context).unwrap().0, null)
    }

    /// With and without what is known, in any order of the nodes; and if what is thought to be known is wrong.
    #[test]
    fn pairs_equal_those_of_the_dense_matrix() {
        let data = uneven_blobs(2500, 6, 5, 3).unwrap();
        let graph = neighbor_graph(data.points);
        let laplacian = Laplacian::new(&graph, LaplacianKind::Symmetric);
        let wrong: Vec<u32> = (0..2500).map(|node| node % 7).collect();
        let wanted = 4usize.saturating_sub(graph.components().len() - 1).max(1);
        for (groups, regions) in [
            (None, None),
            (Some(&data.labels[..]), Some(&data.labels[..])),
            (Some(&wrong[..]), Some(&wrong[..])),
        ] {
            let (found, null) = search(&laplacian, wanted, groups, regions);
            let found = found.expect("a gap that single precision resolves");
            let exact = dense::smallest(&laplacian, &null, wanted + 1).unwrap();
            let (exact, own) = (Measured::of(&laplacian, &exact), Measured::of(&laplacian, &found.vectors));
            for (value, truth) in own.values.iter().zip(&exact.values) {
                assert!((value - truth).abs() < 1e-6, "{:?} for {:?}", own.values, exact.values);
            }
            let distance = exact.values[wanted] - exact.values[wanted - 1];
            assert!(
                found.gap <= 1.2 * distance && found.gap >= 0.5 * distance,
                "{} for {distance}",
                found.gap
            );
            assert!(own.worst() <= 1e-3 * found.gap, "{}", own.worst());
        }
    }

    /// Neighboring eigenvalues of a long graph are closer than single precision tells apart in a few rounds.
    #[test]
    fn it_gives_way_on_long_graphs() {
        let graph = neighbor_graph(two_spirals(3000, SpiralDensity::EvenLength, 1).unwrap().points);
        let laplacian = Laplacian::new(&graph, LaplacianKind::Symmetric);
        assert!(search(&laplacian, 4, None, None).0.is_none());
    }
}
