//! Against numpy, scipy and scikit-learn; `scripts/reference_values.py` writes the files.

use taugraph::distance::Metric;
use taugraph::edges::Edges;
use taugraph::graph::SparseGraph;
use taugraph::metrics;
use taugraph::neighbors::{Space, nearest_neighbors};
use taugraph::points::{Points, PreparationParams, Standardize, prepare};
use taugraph::progress::Run;
use taugraph::propagate::WalkTable;
use taugraph::spectral::{
    EigenParams, EigenSolver, Laplacian, LaplacianKind, SolverChoice, smallest_eigenpairs,
};

fn numbers(line: &str) -> Vec<f64> {
    line.split_whitespace().map(|word| word.parse().expect("a number")).collect()
}

fn ids(line: &str) -> Vec<u32> {
    line.split_whitespace().map(|word| word.parse().expect("a whole number")).collect()
}

/// A graph of `n` nodes from a line of i j w triples.
fn graph_of(line: &str, n: usize) -> SparseGraph {
    let triples = numbers(line);
    let edges = Edges::from_pairs(n, triples.chunks_exact(3).map(|t| (t[0] as u32, t[1] as u32))).unwrap();
    let weights: Vec<f64> = triples.chunks_exact(3).map(|t| t[2]).collect();
    SparseGraph::from_edges(&edges, &weights).unwrap()
}

fn assert_close(own: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(own.len(), expected.len(), "{what}");
    for (index, (a, b)) in own.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{what}, entry {index}: {a} against {b}");
    }
}

#[test]
fn metrics_equal_scikit_learn() {
    let lines: Vec<&str> = include_str!("reference/metrics.txt").lines().collect();
    for (case, lines) in lines.chunks_exact(3).enumerate() {
        let (truth, found) = (ids(lines[0]), ids(lines[1]));
        let own = [
            metrics::nmi(&truth, &found).unwrap(),
            metrics::ari(&truth, &found).unwrap(),
            metrics::ami(&truth, &found).unwrap(),
            metrics::matched_accuracy(&truth, &found).unwrap(),
            metrics::balanced_accuracy(&truth, &found).unwrap(),
        ];
        assert_close(&own, &numbers(lines[2]), 1e-9, &format!("case {case}"));
    }
}

#[test]
fn eigenvalues_equal_scipy_with_every_solver() {
    let lines: Vec<&str> = include_str!("reference/eigen.txt").lines().collect();
    for (case, lines) in lines.chunks_exact(3).enumerate() {
        let expected = [numbers(lines[1]), numbers(lines[2])];
        let graph = graph_of(lines[0], expected[0].len());
        for (kind, expected) in
            [LaplacianKind::Symmetric, LaplacianKind::Unnormalized].into_iter().zip(&expected)
        {
            let laplacian = Laplacian::new(&graph, kind);
            for solver in
                [EigenSolver::Dense, EigenSolver::Lanczos, EigenSolver::ShiftInvert, EigenSolver::Multigrid]
            {
                let what = format!("case {case}, {kind:?}, {solver:?}");
                let params = EigenParams::default().with(|params| params.solver = SolverChoice::Only(solver));
                let found = smallest_eigenpairs(&laplacian, 10, &params, &Run::new(3)).expect(&what);
                assert_close(&found.values, &expected[..10], 1e-8, &what);
                assert!(found.residuals.iter().all(|&r| r <= 1e-8 * laplacian.norm_bound()), "{what}");
            }
        }
    }
}

/// S_ij = K_ii + K_jj − 2·K_ij with numpy's pseudo-inverse of a connected graph.
#[test]
fn the_kernel_equals_the_pseudo_inverse() {
    let mut lines = include_str!("reference/kernel.txt").lines();
    let (graph, kernel) = (graph_of(lines.next().unwrap(), 60), numbers(lines.next().unwrap()));
    let table = WalkTable::exact(&graph, 5, &Run::new(0)).unwrap();
    let pairs = (0..60).flat_map(|i| (0..60).map(move |j| (i, j)));
    let own: Vec<f64> = pairs.clone().map(|(i, j)| table.kernel_distance(i, j)).collect();
    let k = |i: usize, j: usize| kernel[i * 60 + j];
    let expected: Vec<f64> = pairs.map(|(i, j)| k(i, i) + k(j, j) - 2.0 * k(i, j)).collect();
    assert_close(&own, &expected, 1e-9, "kernel distances");
}

#[test]
fn preparation_equals_scikit_learn() {
    let lines: Vec<&str> = include_str!("reference/preparation.txt").lines().collect();
    let table = numbers(lines[0]);
    let prepared = |standardize, pca| {
        let params = PreparationParams::default().with(|params| {
            params.standardize = standardize;
            params.pca = pca;
        });
        prepare(&table, 5, &params, &Run::new(0)).unwrap()
    };
    assert_close(
        &prepared(Standardize::ZScore, None).points.values().to_vec(),
        &numbers(lines[1]),
        1e-10,
        "z-score",
    );
    assert_close(
        &prepared(Standardize::MinMax, None).points.values().to_vec(),
        &numbers(lines[2]),
        1e-10,
        "min-max",
    );
    let pca = prepared(Standardize::ZScore, Some(3)).pca.unwrap();
    let ratios: Vec<f64> = pca.variances.iter().map(|v| v / pca.total_variance).collect();
    assert_close(&ratios, &numbers(lines[3]), 1e-10, "explained variance");
}

#[test]
fn neighbors_equal_scikit_learn() {
    let lines: Vec<&str> = include_str!("reference/neighbors.txt").lines().collect();
    for (lines, d) in lines.chunks_exact(7).zip([2, 9]) {
        for (index, metric) in [Metric::Euclidean, Metric::Manhattan, Metric::Cosine].into_iter().enumerate()
        {
            let points = Points::new(numbers(lines[0]), d).unwrap();
            let space = Space::from_points(points, metric).unwrap();
            let found = nearest_neighbors(&space, 6, &Run::new(0)).unwrap();
            let own: Vec<u32> = (0..50).flat_map(|i| found.ids(i).to_vec()).collect();
            assert_eq!(own, ids(lines[1 + 2 * index]), "{metric:?} in {d} columns");
            let own: Vec<f64> = (0..50).flat_map(|i| found.distances(i).to_vec()).collect();
            assert_close(&own, &numbers(lines[2 + 2 * index]), 1e-12, "distances");
        }
    }
}
