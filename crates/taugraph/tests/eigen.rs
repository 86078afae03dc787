//! Eigenpairs of hard graphs: the definition holds, or there is an error; never a hang, never a missing pair.

use taugraph::cluster::{ClusterParams, spectral_clustering};
use taugraph::distance::Metric;
use taugraph::edges::Edges;
use taugraph::error::Error;
use taugraph::generators::{SpiralDensity, two_spirals};
use taugraph::graph::SparseGraph;
use taugraph::metrics::nmi;
use taugraph::neighbors::Space;
use taugraph::params::Preset;
use taugraph::progress::Run;
use taugraph::random::{Stage, Stream};
use taugraph::robust::robust_graph;
use taugraph::spectral::{
    EigenParams, EigenSolver, Eigenpairs, Laplacian, LaplacianKind, SolverChoice, smallest_eigenpairs,
};

fn solve(
    graph: &SparseGraph,
    kind: LaplacianKind,
    n_pairs: usize,
    solver: SolverChoice,
) -> Result<Eigenpairs, Error> {
    let laplacian = Laplacian::new(graph, kind);
    let params = EigenParams::default().with(|params| params.solver = solver);
    let pairs = smallest_eigenpairs(&laplacian, n_pairs, &params, &Run::new(4))?;
    // The definition, checked independently.
    let n = graph.n_nodes();
    for (vector, value) in pairs.vectors.chunks_exact(n).zip(&pairs.values) {
        let mut image = vec![0.0; n];
        laplacian.apply(vector, &mut image);
        let residual: f64 =
            image.iter().zip(vector).map(|(y, x)| (y - value * x).powi(2)).sum::<f64>().sqrt();
        assert!(residual <= 1.01e-8 * laplacian.norm_bound(), "residual {residual}");
    }
    for (a, first) in pairs.vectors.chunks_exact(n).enumerate() {
        for (b, second) in pairs.vectors.chunks_exact(n).enumerate().take(a + 1) {
            let product: f64 = first.iter().zip(second).map(|(x, y)| x * y).sum();
            assert!((product - f64::from(u8::from(a == b))).abs() < 1e-6, "pairs {a} and {b}: {product}");
        }
    }
    assert!(pairs.values.windows(2).all(|pair| pair[0] <= pair[1] + 1e-9));
    Ok(pairs)
}

fn unweighted(n: usize, pairs: impl Iterator<Item = (u32, u32)>) -> SparseGraph {
    let edges = Edges::from_pairs(n, pairs).unwrap();
    SparseGraph::from_edges(&edges, &vec![1.0; edges.len()]).unwrap()
}

#[test]
fn path_graph_has_its_cosines() {
    let n = 2000;
    let graph = unweighted(n, (1..n as u32).map(|i| (i - 1, i)));
    let pairs = solve(&graph, LaplacianKind::Unnormalized, 6, SolverChoice::Automatic).unwrap();
    for (k, value) in pairs.values.iter().enumerate() {
        let exact = 2.0 - 2.0 * (std::f64::consts::PI * k as f64 / n as f64).cos();
        assert!((value - exact).abs() < 1e-10, "{k}: {value} against {exact}");
    }
}

#[test]
fn star_graph_has_one_eigenvalue_many_times() {
    let n = 1000;
    let graph = unweighted(n, (1..n as u32).map(|i| (0, i)));
    let pairs = solve(&graph, LaplacianKind::Unnormalized, 8, SolverChoice::Automatic).unwrap();
    assert!(pairs.values[1..].iter().all(|value| (value - 1.0).abs() < 1e-9), "{:?}", pairs.values);
}

#[test]
fn components_are_found_and_deflated() {
    // Seven rings of 200 nodes.
    let ring = |first: u32| (0..200).map(move |i| (first + i, first + (i + 1) % 200));
    let graph = unweighted(1400, (0..7).flat_map(|r| ring(200 * r)));
    let pairs = solve(&graph, LaplacianKind::Symmetric, 9, SolverChoice::Automatic).unwrap();
    assert_eq!(pairs.info.n_components, 7);
    assert!(pairs.values[..7].iter().all(|value| value.abs() < 1e-14));
    let next = 1.0 - (2.0 * std::f64::consts::PI / 200.0).cos();
    assert!(
        (pairs.values[7] - next).abs() < 1e-9 && (pairs.values[8] - next).abs() < 1e-9,
        "{:?}",
        pairs.values
    );
    // Only part of the null space, and isolated nodes.
    let lonely = unweighted(5, std::iter::empty());
    assert_eq!(
        solve(&lonely, LaplacianKind::Symmetric, 3, SolverChoice::Automatic).unwrap().values,
        [0.0; 3]
    );
}

#[test]
fn nearly_equal_eigenvalues_are_not_missed() {
    // Eight equal rings, joined by links of weight 1e-6: seven eigenvalues near 1e-9.
    let ring = |first: u32| (0..150).map(move |i| (first + i, first + (i + 1) % 150));
    let links = (1..8u32).map(|r| (150 * (r - 1), 150 * r));
    let edges = Edges::from_pairs(1200, (0..8).flat_map(|r| ring(150 * r)).chain(links)).unwrap();
    let weights: Vec<f64> =
        edges.iter().map(|(i, j)| if i % 150 == 0 && j == i + 150 { 1e-6 } else { 1.0 }).collect();
    let graph = SparseGraph::from_edges(&edges, &weights).unwrap();
    for solver in [SolverChoice::Automatic, SolverChoice::Only(EigenSolver::ShiftInvert)] {
        let pairs = solve(&graph, LaplacianKind::Symmetric, 9, solver).unwrap();
        assert!(pairs.values[..8].iter().all(|&value| value < 1e-7), "{solver:?}: {:?}", pairs.values);
        assert!(pairs.values[8] > 1e-4, "{solver:?}: {:?}", pairs.values);
    }
}

#[test]
fn every_solver_agrees_on_a_tiny_eigengap() {
    // Two spirals of 4000 points in one graph.
    let data = two_spirals(4000, SpiralDensity::EvenLength, 1).unwrap();
    let space = Space::from_points(data.points, Metric::Euclidean).unwrap();
    let robust = robust_graph(&space, &Preset::Robust.params().check().unwrap(), &Run::new(1)).unwrap();
    let inverse =
        solve(&robust.graph, LaplacianKind::Symmetric, 5, SolverChoice::Only(EigenSolver::ShiftInvert))
            .unwrap();
    let filtered =
        solve(&robust.graph, LaplacianKind::Symmetric, 5, SolverChoice::Only(EigenSolver::Multigrid))
            .unwrap();
    for (a, b) in inverse.values.iter().zip(&filtered.values) {
        assert!((a - b).abs() < 1e-9, "{:?} against {:?}", inverse.values, filtered.values);
    }
    let clustering = spectral_clustering(&robust.graph, &ClusterParams::exactly(2), &Run::new(1)).unwrap();
    assert_eq!(nmi(&data.labels, &clustering.labels).unwrap(), 1.0);
}

const ALL_SOLVERS: [SolverChoice; 5] = [
    SolverChoice::Automatic,
    SolverChoice::Only(EigenSolver::Dense),
    SolverChoice::Only(EigenSolver::Lanczos),
    SolverChoice::Only(EigenSolver::ShiftInvert),
    SolverChoice::Only(EigenSolver::Multigrid),
];

/// Every solver finds what the dense one finds, multiplicities included.
fn assert_all_agree(graph: &SparseGraph, n_pairs: usize, solvers: &[SolverChoice], what: &str) {
    let dense = SolverChoice::Only(EigenSolver::Dense);
    let exact = solve(graph, LaplacianKind::Symmetric, n_pairs, dense).unwrap();
    for &solver in solvers {
        let found = solve(graph, LaplacianKind::Symmetric, n_pairs, solver).expect(what);
        for (a, b) in exact.values.iter().zip(&found.values) {
            assert!(
                (a - b).abs() < 1e-7,
                "{what}, {solver:?}: {:?} against {:?}",
                found.values,
                exact.values
            );
        }
    }
}

#[test]
fn small_rings_and_complete_graphs_with_every_solver() {
    for n in (3..46).chain([60, 100]) {
        let ring = unweighted(n, (0..n as u32).map(|i| (i, (i + 1) % n as u32)));
        assert_all_agree(&ring, 3, &ALL_SOLVERS, &format!("ring of {n}"));
        let pairs = (0..n as u32).flat_map(|i| (0..i).map(move |j| (j, i)));
        assert_all_agree(&unweighted(n, pairs), 3, &ALL_SOLVERS, &format!("complete graph of {n}"));
    }
    assert_all_agree(&unweighted(2, [(0, 1)].into_iter()), 2, &ALL_SOLVERS, "one edge");
    assert_all_agree(&unweighted(1, std::iter::empty()), 1, &ALL_SOLVERS, "one node");
}

#[test]
fn multiple_eigenvalues_are_found_as_often_as_they_are_there() {
    for n in [310u32, 401, 800] {
        let ring = unweighted(n as usize, (0..n).map(|i| (i, (i + 1) % n)));
        assert_all_agree(&ring, 7, &ALL_SOLVERS[..3], &format!("ring of {n}"));
    }
    // On a torus the smallest eigenvalue above 0 has multiplicity four.
    for side in [18u32, 20, 25] {
        let node = move |x: u32, y: u32| (x % side) * side + y % side;
        let edges = (0..side * side).flat_map(move |i| {
            let (x, y) = (i / side, i % side);
            [(i, node(x + 1, y)), (i, node(x, y + 1))]
        });
        assert_all_agree(
            &unweighted((side * side) as usize, edges),
            5,
            &ALL_SOLVERS,
            &format!("torus of side {side}"),
        );
    }
    // In copies of one random graph every eigenvalue occurs once per copy.
    for (copies, size, n_pairs) in [(3u32, 200usize, 6), (4, 500, 10)] {
        let mut draws = Stream::new(9, Stage::Generator).at(size as u32, 0);
        let one: Vec<(u32, u32)> = (0..4 * size)
            .map(|_| (draws.below(size) as u32, draws.below(size) as u32))
            .filter(|(i, j)| i != j)
            .collect();
        let all = (0..copies)
            .flat_map(|c| one.iter().map(move |&(i, j)| (i + c * size as u32, j + c * size as u32)));
        assert_all_agree(&unweighted(copies as usize * size, all), n_pairs, &ALL_SOLVERS, "copies");
    }
}

#[test]
fn running_out_of_steps_is_an_error() {
    let n = 3000;
    let graph = unweighted(n, (1..n as u32).map(|i| (i - 1, i)));
    let laplacian = Laplacian::new(&graph, LaplacianKind::Symmetric);
    let params = EigenParams::default().with(|params| {
        params.solver = SolverChoice::Only(EigenSolver::Lanczos);
        params.max_applications = 60;
    });
    let found = smallest_eigenpairs(&laplacian, 5, &params, &Run::new(0));
    assert!(matches!(found, Err(Error::EigenNotConverged { wanted: 4, .. })), "{found:?}");
}

#[test]
fn impossible_requests_are_refused() {
    let graph = unweighted(4, [(0, 1), (1, 2)].into_iter());
    for n_pairs in [0, 5] {
        assert!(matches!(
            solve(&graph, LaplacianKind::Symmetric, n_pairs, SolverChoice::Automatic),
            Err(Error::Parameter { .. })
        ));
    }
    let all = solve(&graph, LaplacianKind::Symmetric, 4, SolverChoice::Automatic).unwrap();
    assert_eq!(all.info.n_components, 2);
}

/// If only the space matters: pairs accepted as converged are within the angle of the space that the strict pairs span.
#[test]
fn spaces_are_known_to_the_angle() {
    let data = taugraph::generators::uneven_blobs(4000, 8, 6, 2).unwrap();
    let space = Space::from_points(data.points, Metric::Euclidean).unwrap();
    let params = Preset::Robust.params().check().unwrap();
    let graph = robust_graph(&space, &params, &Run::new(0)).unwrap().graph;
    let laplacian = Laplacian::new(&graph, LaplacianKind::Symmetric);
    let solve = |params: &EigenParams| smallest_eigenpairs(&laplacian, 6, params, &Run::new(4)).unwrap();
    let (strict, loose) = (solve(&EigenParams::default()), solve(&EigenParams::for_space()));
    assert!(loose.info.applications <= strict.info.applications);
    let n = graph.n_nodes();
    for vector in loose.vectors.chunks_exact(n) {
        let inside: f64 = strict
            .vectors
            .chunks_exact(n)
            .map(|other| other.iter().zip(vector).map(|(x, y)| x * y).sum::<f64>().powi(2))
            .sum();
        assert!((1.0 - inside).max(0.0).sqrt() <= 1e-4, "{inside}");
    }
}

/// Two spirals of 100,000 points: neighboring eigenvalues are 1e-6 and less apart.
#[test]
fn two_very_long_spirals() {
    let data = two_spirals(100_000, SpiralDensity::EvenLength, 1).unwrap();
    let space = Space::from_points(data.points, Metric::Euclidean).unwrap();
    let params = Preset::Robust.params().check().unwrap();
    let robust = robust_graph(&space, &params, &Run::new(0)).unwrap();
    let pairs = solve(&robust.graph, LaplacianKind::Symmetric, 4, SolverChoice::Automatic).unwrap();
    assert!(pairs.info.confirmed && pairs.values[3] < 1e-5, "{:?}", pairs.values);
    let found = spectral_clustering(&robust.graph, &ClusterParams::exactly(2), &Run::new(0)).unwrap();
    let labels = robust.duplicates.restore(&found.labels);
    assert!(nmi(&data.labels, &labels).unwrap() > 0.99);
}

/// A sheet of 20,000 nodes, wide and without a gap: too long for plain Lanczos.
#[test]
fn a_wide_sheet() {
    let (height, width) = (100u32, 200u32);
    let at = |row: u32, column: u32| row * width + column;
    let along = (0..height).flat_map(|r| (1..width).map(move |c| (at(r, c - 1), at(r, c))));
    let across = (1..height).flat_map(|r| (0..width).map(move |c| (at(r - 1, c), at(r, c))));
    let graph = unweighted((height * width) as usize, along.chain(across));
    let cosine = |k: u32, n: u32| 2.0 - 2.0 * (std::f64::consts::PI * f64::from(k) / f64::from(n)).cos();
    let mut exact: Vec<f64> =
        (0..10).flat_map(|a| (0..10).map(move |b| cosine(a, height) + cosine(b, width))).collect();
    exact.sort_by(f64::total_cmp);
    for solver in [SolverChoice::Automatic, SolverChoice::Only(EigenSolver::Multigrid)] {
        let pairs = solve(&graph, LaplacianKind::Unnormalized, 8, solver).unwrap();
        for (value, exact) in pairs.values.iter().zip(&exact) {
            assert!((value - exact).abs() < 1e-8, "{value} against {exact}");
        }
    }
}

/// Clusters that are nearly copies of each other: every eigenvalue occurs nearly once per cluster.
#[test]
fn near_duplicate_clusters() {
    let mut draws = Stream::new(5, Stage::Generator).at(0, 0);
    let (size, copies) = (60u32, 8u32);
    let inner: Vec<(u32, u32)> = (0..size * 6)
        .map(|_| (draws.below(size as usize) as u32, draws.below(size as usize) as u32))
        .filter(|(i, j)| i != j)
        .chain((1..size).map(|i| (i - 1, i)))
        .collect();
    let all =
        (0..copies).flat_map(|copy| inner.iter().map(move |&(i, j)| (copy * size + i, copy * size + j)));
    let links = (1..copies).map(|copy| ((copy - 1) * size, copy * size));
    let edges = Edges::from_pairs((size * copies) as usize, all.chain(links)).unwrap();
    let weights: Vec<f64> = edges
        .iter()
        .map(|(i, j)| if i / size == j / size { 1.0 + 1e-9 * draws.uniform() } else { 1e-7 })
        .collect();
    let graph = SparseGraph::from_edges(&edges, &weights).unwrap();
    let solvers = [SolverChoice::Automatic, SolverChoice::Only(EigenSolver::Lanczos)];
    assert_all_agree(&graph, 2 * copies as usize, &solvers, "copies");
}

/// Two grids joined by one link of this weight.
fn linked_grids(sides: [(u32, u32); 2], link: f64) -> SparseGraph {
    let mut pairs = Vec::new();
    let mut first = 0;
    for (rows, columns) in sides {
        let at = |r: u32, c: u32| first + r * columns + c;
        for r in 0..rows {
            for c in 0..columns {
                pairs.extend((c + 1 < columns).then(|| (at(r, c), at(r, c + 1))));
                pairs.extend((r + 1 < rows).then(|| (at(r, c), at(r + 1, c))));
            }
        }
        first += rows * columns;
    }
    let border = sides[0].0 * sides[0].1;
    pairs.push((border - 1, border));
    let edges = Edges::from_pairs(first as usize, pairs).unwrap();
    let weights: Vec<f64> =
        edges.iter().map(|(i, j)| if (i, j) == (border - 1, border) { link } else { 1.0 }).collect();
    SparseGraph::from_edges(&edges, &weights).unwrap()
}

/// One eigenvalue far below all others, down to links that vanish next to the other weights, and groups of a few nodes.
#[test]
fn weakly_linked_parts_are_found_by_multigrid() {
    let multigrid = SolverChoice::Only(EigenSolver::Multigrid);
    for sides in
        [[(20, 30), (10, 20)], [(20, 30), (1, 2)], [(20, 30), (2, 4)], [(20, 30), (1, 9)], [(20, 30), (3, 4)]]
    {
        for link in [1e-3, 1e-6, 1e-9, 1e-13, 1e-18, 1e-200] {
            let graph = linked_grids(sides, link);
            for n_pairs in [2, 4] {
                let dense = SolverChoice::Only(EigenSolver::Dense);
                let exact = solve(&graph, LaplacianKind::Symmetric, n_pairs, dense).unwrap();
                for solver in [multigrid, SolverChoice::Automatic] {
                    let found = solve(&graph, LaplacianKind::Symmetric, n_pairs, solver)
                        .unwrap_or_else(|error| panic!("{sides:?}, {link:e}, {solver:?}: {error}"));
                    for (a, b) in exact.values.iter().zip(&found.values) {
                        assert!(
                            (a - b).abs() < 1e-8,
                            "{sides:?}, {link:e}: {:?} {:?}",
                            exact.values,
                            found.values
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn units_do_not_matter_to_multigrid() {
    let n = 400;
    let edges = Edges::from_pairs(n, (1..n as u32).map(|i| (i - 1, i))).unwrap();
    for unit in [1.0, 1e-200, 1e200] {
        let graph = SparseGraph::from_edges(&edges, &vec![unit; n - 1]).unwrap();
        let laplacian = Laplacian::new(&graph, LaplacianKind::Unnormalized);
        let params =
            EigenParams::default().with(|params| params.solver = SolverChoice::Only(EigenSolver::Multigrid));
        let pairs = smallest_eigenpairs(&laplacian, 4, &params, &Run::new(4)).unwrap();
        for (k, value) in pairs.values.iter().enumerate().skip(1) {
            let exact = 2.0 - 2.0 * (std::f64::consts::PI * k as f64 / n as f64).cos();
            assert!((value / unit / exact - 1.0).abs() < 1e-5, "{unit:e}, {k}: {value:e}");
        }
    }
}

/// Sixty nearly equal copies, thirty of them wanted: no block is large enough, and the policy finds a method that works.
#[test]
fn a_crowd_of_equal_eigenvalues_is_cut() {
    let ring = |first: u32| (0..60).map(move |i| (first + i, first + (i + 1) % 60));
    let edges = Edges::from_pairs(3600, (0..60).flat_map(|r| ring(60 * r))).unwrap();
    let weights: Vec<f64> =
        edges.iter().map(|(i, _)| 1.0 + 1e-10 * f64::from(i / 60) + f64::from(i % 60) * 1e-3).collect();
    let graph = SparseGraph::from_edges(&edges, &weights).unwrap();
    let found = solve(&graph, LaplacianKind::Unnormalized, 90, SolverChoice::Automatic).unwrap();
    assert!(found.values[..60].iter().all(|value| value.abs() < 1e-12));
    let (first, last) = (found.values[60], found.values[89]);
    assert!(first > 1e-3 && last - first < 1e-6, "{first} {last}");
}
