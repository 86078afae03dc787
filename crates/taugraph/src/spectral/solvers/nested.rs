//! Starting vectors: the eigenproblem is first solved roughly for merged nodes, level by level.
//!
//! A level has about a quarter of the nodes of the one before, so a few steps on all coarser levels take about as long as one
//! or two on the graph itself.

use super::Context;
use super::blocks::Block;
use super::davidson::{self, DavidsonParams, LONG, PreconditionedOperator, Start, Widths};
use super::preconditioned::Preconditioned;
use super::search_space::SearchSpace;
use crate::error::{Error, Result};
use crate::linear::Multigrid;

/// Steps of the iteration on each level.
const STEPS: usize = 2;
/// Minimum number of nodes per vector for a level to be worthwhile.
const NODES: usize = 16;
/// Vectors that are to begin a search on a finer graph are known to within this angle: they are about as far from its eigenvectors.
const ROUGH_ANGLE: f64 = 0.05;

/// Approximations to the smallest `count` eigenvectors from merged nodes; `None` if the graph is small. `null` are the null vectors.
pub(super) fn rough_vectors(
    laplacian: &Preconditioned<'_>,
    null: &Block,
    count: usize,
    context: Context<'_>,
) -> Result<Option<Block>> {
    let Some(coarser) = laplacian.coarser().filter(|coarser| coarser.len() >= NODES * (count + null.width))
    else {
        return Ok(None);
    };
    let mut null = laplacian.restricted(null, &coarser);
    null.normalize();
    let start = rough_vectors(&coarser, &null, count, context)?;
    // Steps on long vectors pay only with the whole graph.
    if let Some(start) = start.as_ref().filter(|_| coarser.len() > LONG) {
        return Ok(Some(laplacian.prolonged(start, &coarser)));
    }
    let mut space = SearchSpace::new(&coarser, null, (STEPS + 1) * count, context.stream);
    match start {
        Some(start) => {
            space.widen(start)?;
        }
        None => {
            space.widen_at_random(count)?;
        }
    }
    for _ in 0..STEPS {
        (context.check)()?;
        let (values, rotation) = space.ritz()?;
        let count = count.min(space.filled());
        let residuals = space.residuals(rotation.as_ref().subcols(0, count), &values);
        if !space.widen(coarser.solve(residuals, &(0..count).collect::<Vec<_>>()))? {
            break;
        }
    }
    let (_, rotation) = space.ritz()?;
    let found = space.combined(rotation.as_ref().subcols(0, count.min(space.filled())));
    Ok(Some(laplacian.prolonged(&found, &coarser)))
}

/// The `wanted` smallest eigenvectors of a connected graph for L·y = λ·M·y, and a few more, as starting vectors on a graph whose nodes were merged into
/// its nodes. In the order of its hierarchy; `None` if there are few nodes. Without steps they are only interpolated from merged nodes.
pub(crate) fn coarse_vectors(
    multigrid: &Multigrid,
    masses: Vec<f64>,
    wanted: usize,
    max_steps: usize,
    context: Context<'_>,
) -> Result<Option<Block>> {
    let n = masses.len();
    let widths = Widths::new(n, wanted, n - 1, 0);
    if n < NODES * (widths.block + 1) {
        return Ok(None);
    }
    let operator = Preconditioned::of_masses(multigrid, masses, widths.at_once);
    let mut null = Block::zeros(n, 1);
    let width = null.width;
    null.values.chunks_exact_mut(width).for_each(|node| node[0] = 1.0);
    null.scale(operator.scales(), |scale| if scale > 0.0 { 1.0 / scale } else { 0.0 });
    null.normalize();
    let rough = rough_vectors(&operator, &null, widths.block, context)?;
    let scaled = |mut vectors: Block| {
        vectors.scale(operator.scales(), |scale| scale);
        vectors
    };
    if max_steps == 0 {
        return Ok(rough.map(scaled));
    }
    let params = DavidsonParams {
        wanted,
        tolerance: f64::MIN_POSITIVE,
        angle: ROUGH_ANGLE,
        norm_bound: 2.0,
        max_applications: max_steps * widths.block,
        told_apart: false,
        widths: Widths { space: widths.space.max(Widths::n_start(widths.block)).min(n - 1), ..widths },
    };
    match davidson::smallest(&operator, null, Start { guesses: Vec::new(), rough }, &params, context) {
        Ok(found) => Ok(Some(scaled(found.vectors))),
        // They are only to save time.
        Err(Error::Numerical { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::Edges;
    use crate::graph::SparseGraph;
    use crate::linear::{Hierarchy, Multigrid};
    use crate::random::{Stage, Stream};
    use crate::spectral::solvers::multilevel::Masses;
    use crate::spectral::solvers::preconditioned::Inverse;

    /// With and without steps the span of the vectors is near that of the smallest eigenvectors.
    #[test]
    fn coarse_vectors_come_close() {
        let n = 3000;
        let pairs = (1..n as u32).map(|i| (i - 1, i));
        let edges = Edges::from_pairs(n, pairs).unwrap();
        let graph = SparseGraph::from_edges(&edges, &vec![1.0; edges.len()]).unwrap();
        let hierarchy = Hierarchy::new(&graph);
        let multigrid = Multigrid::new(&hierarchy, None, None);
        let context = Context { stream: Stream::new(0, Stage::Eigen), check: &|| Ok(()) };
        for max_steps in [0, 20] {
            let found = coarse_vectors(&multigrid, vec![1.0; n], 2, max_steps, context).unwrap().unwrap();
            let (basis, count, _) = found.orthonormal().unwrap();
            assert!(count >= 2);
            for rank in [1.0, 2.0] {
                // The cosine along the path.
                let at =
                    |&node: &u32| (std::f64::consts::PI * rank * (f64::from(node) + 0.5) / n as f64).cos();
                let exact: Vec<f64> = hierarchy.order().iter().map(at).collect();
                let share = |column: usize| -> f64 {
                    basis.nodes().zip(&exact).map(|(node, exact)| node[column] * exact).sum()
                };
                let inside: f64 = (0..count).map(|column| share(column).powi(2)).sum();
                assert!(inside > 0.99 * 0.5 * n as f64, "{max_steps} steps, {rank}: {inside}");
            }
        }
    }

    /// The smallest eigenvalues of a long grid are those of a path; null vectors stay null vectors on every level.
    #[test]
    fn merged_nodes_come_close() {
        let (long, wide) = (120u32, 25u32);
        let name = |x: u32, y: u32| x * wide + y;
        let places = (0..long).flat_map(|x| (0..wide).map(move |y| (x, y)));
        let pairs = places.flat_map(|(x, y)| {
            let along = (x + 1 < long).then(|| (name(x, y), name(x + 1, y)));
            along.into_iter().chain((y + 1 < wide).then(|| (name(x, y), name(x, y + 1))))
        });
        let edges = Edges::from_pairs((long * wide) as usize, pairs.collect::<Vec<_>>()).unwrap();
        let graph = SparseGraph::from_edges(&edges, &vec![1.0; edges.len()]).unwrap();
        let hierarchy = Hierarchy::new(&graph);
        let multigrid = Multigrid::new(&hierarchy, None, None);
        let laplacian = Preconditioned::new(&hierarchy, &multigrid, Masses::Ones, 8, Inverse::Double);
        let mut null = Block::zeros(graph.n_nodes(), 1);
        null.values.chunks_exact_mut(null.width).for_each(|node| node[0] = 1.0);
        null.normalize();
        let coarser = laplacian.coarser().unwrap();
        let mut coarse_null = laplacian.restricted(&null, &coarser);
        assert!((coarse_null.normalize()[0] - 1.0).abs() < 1e-12);
        assert!(coarser.image(coarse_null).lengths()[0] < 1e-12);

        let context = Context { stream: Stream::new(0, Stage::Eigen), check: &|| Ok(()) };
        let rough = rough_vectors(&laplacian, &null, 4, context).unwrap().unwrap();
        let mut space = SearchSpace::new(&laplacian, null, 4, context.stream);
        space.widen(rough).unwrap();
        for (rank, value) in space.ritz().unwrap().0.into_iter().enumerate().take(3) {
            let angle = std::f64::consts::PI * (rank + 1) as f64 / f64::from(2 * long);
            let truth = 4.0 * angle.sin().powi(2);
            assert!(value >= truth * (1.0 - 1e-9) && value < 1.1 * truth, "{rank}: {value} for {truth}");
        }
    }
}
