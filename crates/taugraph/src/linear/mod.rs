//! Linear systems on a graph, (L + E)·x = b with L = D − W and a diagonal E ≥ 0, some nodes clamped to 0; several
//! right-hand sides at once.
//!
//! Conjugate gradients, preconditioned by multigrid: strongly connected nodes are merged, the merged ones again,
//! until a few remain, and every coarser level corrects the smooth error that the finer one leaves. What merges with what
//! depends on the graph alone, so one [`Hierarchy`] serves every set of labels. A few hundred nodes with most pairs as edges are solved by a factor.

mod coarsest;
mod conjugate;
mod direct;
mod hierarchy;
mod kernels;
mod level;
mod merging;
mod multigrid;
mod vectors;

pub use conjugate::SolveInfo;
pub(crate) use hierarchy::Hierarchy;
pub(crate) use kernels::{F32_LANES, LANES, Real};
pub(crate) use multigrid::{FINEST, Multigrid};

use std::ops::Range;
use std::sync::OnceLock;

use rayon::prelude::*;

use crate::error::Result;
use crate::graph::{Components, SparseGraph};
use crate::parameter::parameters;
use crate::vectorized::largest;

/// Right-hand sides that are measured together: as many as a pass over the edges serves.
const MEASURED_AT_ONCE: usize = 4 * LANES;

/// Called between the steps of a solver; an error ends it.
pub(crate) type InterruptCheck<'a> = &'a (dyn Fn() -> Result<()> + Sync);

parameters! {
    /// Precision of the linear systems.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Solver {
        /// Residual relative to the right-hand side, both measured in units of the degrees.
        tolerance: f64 = 1e-6, "at least 1e-13 and below 1" => |tolerance| (1e-13..1.0).contains(tolerance);
        /// Maximum number of iterations.
        max_iterations: usize = 1000, "at least 1" => |most| *most >= 1;
    }
}

/// What makes the Laplacian's system solvable.
pub(crate) enum Ground<'a> {
    /// Nothing: the mean of each right-hand side is removed in every component, and solutions are determined up to a constant there.
    None(&'a Components),
    /// Some nodes are clamped to 0, and every node has an entry of E. Each component needs a clamped node or a positive entry.
    Some {
        /// Whether each node is clamped.
        clamped: &'a [bool],
        /// E.
        extra: &'a [f64],
    },
}

/// The hierarchy of a graph, made when a system first needs it: a factor does without.
#[derive(Debug, Clone, Default)]
pub(crate) struct LazyHierarchy(OnceLock<Hierarchy>);

impl LazyHierarchy {
    /// Makes it, unless factors may do without.
    pub fn new(graph: &SparseGraph) -> Self {
        let lazy = Self::default();
        if graph.n_nodes() > direct::MAX_NODES {
            lazy.of(graph);
        }
        lazy
    }

    /// The hierarchy of the graph, which must always be the same.
    pub fn of(&self, graph: &SparseGraph) -> &Hierarchy {
        if self.0.get().is_none() {
            // Not made inside the lock: a thread that makes it may take up other work meanwhile, which needs it, too.
            let _ = self.0.set(Hierarchy::new(graph));
        }
        self.0.get().expect("it was just made")
    }
}

/// Right-hand sides, each node by node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Right<'a> {
    /// Those whose solutions x are wanted,
    pub solved: &'a [f64],
    /// so many;
    pub width: usize,
    /// and those of which bᵀ·x is enough: a solution half as precise has it as precisely. Systems need a ground for them.
    pub measured: &'a [f64],
    /// So many.
    pub n_measured: usize,
    /// The way is chosen as for so many: solutions are the same bits whether or not something is measured beside them.
    pub counted: usize,
}

impl<'a> Right<'a> {
    /// With nothing to measure.
    pub fn new(solved: &'a [f64], width: usize) -> Self {
        Self { solved, width, measured: &[], n_measured: 0, counted: width }
    }
}

/// What was found for [`Right`].
#[derive(Debug)]
pub(crate) struct Solved {
    /// The solutions, node by node.
    pub values: Vec<f64>,
    /// bᵀ·x of each right-hand side that was measured.
    pub measured: Vec<f64>,
    pub info: SolveInfo,
}

/// Solves from zero until each residual is below the tolerance.
pub(crate) fn solve(
    graph: &SparseGraph,
    hierarchy: &LazyHierarchy,
    ground: &Ground<'_>,
    right: &Right<'_>,
    solver: &Solver,
    check: InterruptCheck<'_>,
) -> Result<Solved> {
    if direct::pays(graph, right.counted)
        && let Some(solved) = solve_directly(graph, ground, right, solver)
    {
        return Ok(solved);
    }
    let hierarchy = hierarchy.of(graph);
    let unit = hierarchy.heaviest();
    let clamped: Option<&[bool]> = match ground {
        Ground::None(_) => None,
        Ground::Some { clamped, .. } => Some(clamped),
    };
    let multigrid = match ground {
        Ground::None(_) => Multigrid::new(hierarchy, None, None),
        Ground::Some { extra, .. } => {
            let extra: Vec<f64> = extra.iter().map(|extra| extra / unit).collect();
            Multigrid::new(hierarchy, clamped, Some(&extra))
        }
    };
    // Some columns in the order of the hierarchy, and padded to whole lanes.
    let padded = |values: &[f64], width: usize, columns: Range<usize>| {
        let padded = columns.len().next_multiple_of(LANES);
        let mut r = vec![0.0; hierarchy.order().len() * padded];
        for (row, &node) in r.chunks_exact_mut(padded).zip(hierarchy.order()) {
            if !clamped.is_some_and(|clamped| clamped[node as usize]) {
                let of_node = &values[node as usize * width..(node as usize + 1) * width][columns.clone()];
                row.iter_mut().zip(of_node).for_each(|(out, right)| *out = right / unit);
            }
        }
        (r, padded)
    };
    let solutions = || {
        let (mut r, width) = padded(right.solved, right.width, 0..right.width);
        if let Ground::None(components) = ground {
            remove_means(&mut r, width, components, hierarchy.order());
        }
        let (x, info) = conjugate::solve(&multigrid, r, width, solver, check)?;
        let mut values = vec![0.0; right.solved.len()];
        for (row, &node) in x.chunks_exact(width).zip(hierarchy.order()) {
            values[node as usize * right.width..][..right.width].copy_from_slice(&row[..right.width]);
        }
        Ok((values, info))
    };
    // Passes over few nodes are not divided among threads, so blocks of right-hand sides are.
    let block = |first: usize| {
        let columns = first..(first + MEASURED_AT_ONCE).min(right.n_measured);
        let (r, width) = padded(right.measured, right.n_measured, columns.clone());
        let (mut products, residual) = conjugate::measure(&multigrid, r, width, solver, check)?;
        products.truncate(columns.len());
        Ok((products, residual))
    };
    let blocks = || (0..right.n_measured).into_par_iter().step_by(MEASURED_AT_ONCE).map(block);
    let (solutions, blocks) = rayon::join(solutions, || blocks().collect::<Result<Vec<_>>>());
    let ((values, mut info), blocks) = (solutions?, blocks?);
    info.residual = blocks.iter().map(|block| block.1).fold(info.residual, f64::max);
    let measured = blocks.iter().flat_map(|block| &block.0).map(|product| unit * product).collect();
    Ok(Solved { values, measured, info })
}

/// The same by a factor, if it is accurate enough.
fn solve_directly(
    graph: &SparseGraph,
    ground: &Ground<'_>,
    right: &Right<'_>,
    solver: &Solver,
) -> Option<Solved> {
    let unit = unit_of(graph);
    match ground {
        Ground::Some { clamped, extra } => {
            direct::solve(&direct::System { graph, unit, is_out: clamped, extra }, right, solver)
        }
        Ground::None(components) => {
            debug_assert_eq!(right.n_measured, 0, "only systems with a ground are measured");
            let order: Vec<u32> = (0..graph.n_nodes() as u32).collect();
            let mut centered = right.solved.to_vec();
            remove_means(&mut centered, right.width, components, &order);
            // With one node of each component at 0 the solution is unique.
            let mut is_out = vec![false; graph.n_nodes()];
            components.nodes().iter().for_each(|nodes| is_out[nodes[0] as usize] = true);
            let extra = vec![0.0; graph.n_nodes()];
            let system = direct::System { graph, unit, is_out: &is_out, extra: &extra };
            direct::solve(&system, &Right { solved: &centered, ..*right }, solver)
        }
    }
}

/// The largest weight of a graph, 1 if it has none: divided by it, squares neither underflow nor overflow.
fn unit_of(graph: &SparseGraph) -> f64 {
    let heaviest = largest(graph.weights());
    if heaviest > 0.0 { heaviest } else { 1.0 }
}

/// Subtracts from each component the mean over its nodes.
fn remove_means(x: &mut [f64], width: usize, components: &Components, order: &[u32]) {
    let mut sums = vec![0.0; components.len() * width];
    let component = |node: u32| components.of_nodes()[node as usize] as usize;
    for (row, &node) in x.chunks_exact(width).zip(order) {
        let sums = &mut sums[component(node) * width..(component(node) + 1) * width];
        sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    for (row, &node) in x.chunks_exact_mut(width).zip(order) {
        let size = components.sizes()[component(node)] as f64;
        let sums = &sums[component(node) * width..(component(node) + 1) * width];
        row.iter_mut().zip(sums).for_each(|(x, sum)| *x -= sum / size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::Edges;
    use crate::random::{Draws, Stage, Stream};

    fn graph(n: usize, edges: &[(u32, u32, f64)]) -> SparseGraph {
        let frame = Edges::from_pairs(n, edges.iter().map(|&(i, j, _)| (i, j))).unwrap();
        let mut weights = vec![0.0; frame.len()];
        for &(i, j, weight) in edges {
            weights[frame.find(i.min(j), i.max(j)).unwrap()] = weight;
        }
        SparseGraph::from_edges(&frame, &weights).unwrap()
    }

    fn draws(seed: u64) -> Draws {
        Stream::new(seed, Stage::Generator).at(0, 0)
    }

    /// Several components of random edges with weights over seven orders of magnitude, and isolated nodes.
    fn uneven(seed: u64) -> SparseGraph {
        let mut draws = draws(seed);
        let mut edges = Vec::new();
        for (first, size) in [(0, 400), (400, 90), (490, 3), (493, 1), (494, 150)] {
            for i in 1..size {
                let weight = 10f64.powf(-7.0 * draws.uniform());
                edges.push((first + i as u32, first + draws.below(i) as u32, weight));
                edges.push((first + i as u32, first + draws.below(i) as u32, draws.uniform()));
            }
        }
        graph(650, &edges)
    }

    const EXACT: Solver = Solver { tolerance: 1e-12, max_iterations: 1000 };

    fn solved(
        graph: &SparseGraph,
        ground: &Ground<'_>,
        right: &[f64],
        width: usize,
        solver: &Solver,
    ) -> (Vec<f64>, SolveInfo) {
        let hierarchy = LazyHierarchy::default();
        let right = Right::new(right, width);
        let found = solve(graph, &hierarchy, ground, &right, solver, &|| Ok(())).unwrap();
        (found.values, found.info)
    }

    /// Largest entry of (L + E)·x − b over the nodes that are not clamped, relative to the largest of b.
    fn error(graph: &SparseGraph, clamped: &[bool], extra: &[f64], x: &[f64], b: &[f64]) -> f64 {
        let degrees = graph.degrees();
        let of = |i: usize| {
            let sum: f64 = graph.row(i).map(|(j, weight)| weight * x[j as usize]).sum();
            (degrees[i] + extra[i]) * x[i] - sum - b[i]
        };
        let largest = b.iter().fold(0.0f64, |most, b| most.max(b.abs()));
        (0..b.len()).filter(|&i| !clamped[i]).map(|i| of(i).abs() / largest).fold(0.0, f64::max)
    }

    #[test]
    fn grounded_systems_are_solved() {
        for seed in 0..4 {
            let graph = uneven(seed);
            let n = graph.n_nodes();
            let mut draws = draws(100 + seed);
            // The first node of every component is clamped; in the second half of the cases it has a spring instead.
            let firsts = [0, 400, 490, 493, 494, 644];
            let is_first = |i: usize| firsts.contains(&i) || i > 643;
            let clamped: Vec<bool> = (0..n).map(|i| seed < 2 && is_first(i)).collect();
            let extra: Vec<f64> = (0..n).map(|i| if seed >= 2 && is_first(i) { 0.5 } else { 0.0 }).collect();
            let b: Vec<f64> = (0..n).map(|_| draws.uniform()).collect();
            let ground = Ground::Some { clamped: &clamped, extra: &extra };
            let (x, info) = solved(&graph, &ground, &b, 1, &EXACT);
            assert!(info.residual <= 1e-12 && info.iterations < 100, "{info:?}");
            assert!(error(&graph, &clamped, &extra, &x, &b) < 1e-9);
            assert!((0..n).all(|i| !clamped[i] || x[i] == 0.0));
        }
    }

    #[test]
    fn free_systems_are_solved_up_to_constants() {
        let graph = uneven(7);
        let n = graph.n_nodes();
        let components = graph.components().clone();
        let mut draws = draws(9);
        let right: Vec<f64> = (0..5 * n).map(|_| draws.uniform()).collect();
        let ground = Ground::None(&components);
        let (x, info) = solved(&graph, &ground, &right, 5, &EXACT);
        assert!(info.residual <= 1e-12 && info.iterations < 100, "{info:?}");
        let mut centered = right.clone();
        let identity: Vec<u32> = (0..n as u32).collect();
        remove_means(&mut centered, 5, &components, &identity);
        for column in 0..5 {
            let of =
                |values: &[f64]| -> Vec<f64> { values.iter().skip(column).step_by(5).copied().collect() };
            let (clamped, extra) = (vec![false; n], vec![0.0; n]);
            assert!(error(&graph, &clamped, &extra, &of(&x), &of(&centered)) < 1e-9);
        }
    }

    /// Every pair of nodes is an edge, with weights over six orders of magnitude: both ways solve the same systems.
    #[test]
    fn dense_systems_are_solved_directly() {
        let mut draws = draws(3);
        let pairs = (0..120u32).flat_map(|i| (i + 1..120).map(move |j| (i, j)));
        let edges: Vec<_> = pairs.map(|(i, j)| (i, j, 10f64.powf(-6.0 * draws.uniform()))).collect();
        // Two nodes more: one alone, and one behind a weak edge.
        let edges: Vec<_> = edges.into_iter().chain([(0, 120, 1e-9)]).collect();
        let graph = graph(122, &edges);
        let right: Vec<f64> = (0..122 * 3).map(|_| draws.uniform()).collect();
        let (mut clamped, mut extra) = (vec![false; 122], vec![0.0; 122]);
        (clamped[5], clamped[121], extra[7]) = (true, true, 0.3);
        let components = graph.components();
        for ground in [Ground::Some { clamped: &clamped, extra: &extra }, Ground::None(components)] {
            assert!(direct::pays(&graph, 16) && !direct::pays(&graph, 3));
            let found = solve_directly(&graph, &ground, &Right::new(&right, 3), &EXACT).unwrap();
            let x = found.values;
            assert!(found.info.residual <= 1e-12);
            let identity: Vec<u32> = (0..122).collect();
            let mut b = right.clone();
            let (clamped, extra) = match ground {
                Ground::Some { clamped, extra } => (clamped.to_vec(), extra.to_vec()),
                Ground::None(_) => {
                    remove_means(&mut b, 3, components, &identity);
                    (vec![false; 122], vec![0.0; 122])
                }
            };
            for column in 0..3 {
                let of =
                    |values: &[f64]| -> Vec<f64> { values.iter().skip(column).step_by(3).copied().collect() };
                assert!(error(&graph, &clamped, &extra, &of(&x), &of(&b)) < 1e-9);
            }
        }
        // Where every node has a label, nothing is left to solve.
        let (clamped, extra) = (vec![true; 122], vec![0.0; 122]);
        let held = Ground::Some { clamped: &clamped, extra: &extra };
        let both = Right { solved: &right, width: 3, measured: &right, n_measured: 3, counted: 6 };
        let found = solve_directly(&graph, &held, &both, &EXACT).unwrap();
        assert_eq!((found.values, found.measured), (vec![0.0; 122 * 3], vec![0.0; 3]));
        // Where nothing holds a component, the factor gives up.
        let (clamped, extra) = (vec![false; 122], vec![0.0; 122]);
        let free = Ground::Some { clamped: &clamped, extra: &extra };
        assert!(solve_directly(&graph, &free, &Right::new(&right, 3), &EXACT).is_none());
        assert!(!direct::pays(&uneven(1), 16));
    }

    /// What is measured is bᵀ·x of the solutions, whichever way they are found, and as precise as these.
    #[test]
    fn products_with_the_solutions_are_measured() {
        let mut draws = draws(11);
        let pairs = (0..90u32).flat_map(|i| (i + 1..90).map(move |j| (i, j)));
        let dense: Vec<_> = pairs.map(|(i, j)| (i, j, 10f64.powf(-6.0 * draws.uniform()))).collect();
        for graph in [graph(90, &dense), uneven(5)] {
            let (n, width) = (graph.n_nodes(), 17);
            let mut clamped = vec![false; n];
            graph.components().nodes().iter().for_each(|nodes| clamped[nodes[0] as usize] = true);
            let extra: Vec<f64> = (0..n).map(|_| 1e-3 * draws.uniform()).collect();
            let b: Vec<f64> = (0..n * width).map(|_| draws.uniform()).collect();
            let ground = Ground::Some { clamped: &clamped, extra: &extra };
            let (x, _) = solved(&graph, &ground, &b, width, &EXACT);
            let product = |column: usize| -> f64 {
                (0..n).filter(|&i| !clamped[i]).map(|i| b[i * width + column] * x[i * width + column]).sum()
            };
            for (tolerance, most) in [(1e-12, 1e-10), (1e-6, 1e-6)] {
                let solver = Solver { tolerance, ..EXACT };
                let hierarchy = LazyHierarchy::default();
                let right = Right { solved: &b, width, measured: &b, n_measured: width, counted: 2 * width };
                let found = solve(&graph, &hierarchy, &ground, &right, &solver, &|| Ok(())).unwrap();
                assert!(found.info.residual <= tolerance && found.measured.len() == width);
                for (column, measured) in found.measured.iter().enumerate() {
                    let error = (measured / product(column) - 1.0).abs();
                    assert!(error < most, "{n} nodes, tolerance {tolerance}: {error}");
                }
            }
        }
    }

    /// Components that all merge away on one level, nodes without neighbors, weights near the limits of floating point.
    #[test]
    fn small_components_and_extreme_weights() {
        let pairs: Vec<_> = (0..100).map(|i| (2 * i, 2 * i + 1, 1.0)).collect();
        let rings: Vec<_> =
            (0..70).flat_map(|r| (0..12).map(move |i| (12 * r + i, 12 * r + (i + 1) % 12, 1.0))).collect();
        let path = |weight: f64| -> Vec<_> { (1..200).map(|i| (i - 1, i, weight)).collect() };
        for (n, edges) in [
            (200, pairs),
            (840, rings),
            (65, Vec::new()),
            (200, path(1e-310)),
            (200, path(1e-170)),
            (200, path(1e200)),
        ] {
            let graph = graph(n, &edges);
            let components = graph.components().clone();
            // The first node of every component is clamped to 0; the right-hand side is on the scale of the weights.
            let mut clamped = vec![false; n];
            components.nodes().iter().for_each(|nodes| clamped[nodes[0] as usize] = true);
            let unit = edges.first().map_or(1.0, |edge| edge.2);
            let (extra, b) = (vec![0.0; n], vec![unit; n]);
            let solver = Solver { tolerance: 1e-11, ..EXACT };
            let ground = Ground::Some { clamped: &clamped, extra: &extra };
            let (x, info) = solved(&graph, &ground, &b, 1, &solver);
            assert!(info.residual <= 1e-11, "{info:?}");
            let scaled: Vec<f64> = b.iter().map(|b| b / unit).collect();
            let edges: Vec<_> = edges.iter().map(|&(i, j, _)| (i, j, 1.0)).collect();
            assert!(error(&super::tests::graph(n, &edges), &clamped, &extra, &x, &scaled) < 1e-9);
        }
    }

    /// A case in which the diagonal alone would take thousands of iterations.
    #[test]
    fn long_and_lopsided_graphs_take_few_iterations() {
        let n = 20_000u32;
        let path: Vec<_> = (1..n).map(|i| (i - 1, i, 1.0)).collect();
        let star: Vec<_> = (1..n).map(|i| (0, i, 1.0)).collect();
        for (edges, most) in [(path, 120), (star, 10)] {
            let graph = graph(n as usize, &edges);
            let mut clamped = vec![false; n as usize];
            clamped[n as usize / 2] = true;
            let (extra, b) = (vec![0.0; n as usize], vec![1.0; n as usize]);
            let ground = Ground::Some { clamped: &clamped, extra: &extra };
            let solver = Solver { tolerance: 1e-8, max_iterations: 10_000 };
            let (_, info) = solved(&graph, &ground, &b, 1, &solver);
            assert!(info.iterations < most, "{info:?}");
        }
    }
}
