//! Every rule against its closed form or a naive version, on random graphs.

use super::rules::{Problem, Scores};
use super::*;
use crate::distance::Metric;
use crate::edges::Edges;
use crate::generators::uneven_blobs;
use crate::neighbors::Space;
use crate::params::Preset;
use crate::random::{Draws, Stage, Stream};
use crate::robust::robust_graph;

/// A random graph with components of the given sizes; weights take few values, so that there are ties.
fn random_graph(sizes: &[usize], seed: u64) -> SparseGraph {
    let mut draws = Stream::new(seed, Stage::Generator).at(0, 0);
    let mut pairs = Vec::new();
    let mut first = 0;
    for &size in sizes {
        for i in 1..size {
            pairs.push(((first + i) as u32, (first + draws.below(i)) as u32));
        }
        for _ in 0..2 * size {
            let (i, j) = (draws.below(size), draws.below(size));
            if i != j {
                pairs.push(((first + i) as u32, (first + j) as u32));
            }
        }
        first += size;
    }
    let edges = Edges::from_pairs(first, pairs).unwrap();
    let weights: Vec<f64> = (0..edges.len()).map(|_| 0.25 * (1 + draws.below(4)) as f64).collect();
    SparseGraph::from_edges(&edges, &weights).unwrap()
}

/// `n_classes` classes, `each` labeled points of each, at random nodes.
fn random_labeled(n: usize, n_classes: usize, each: usize, draws: &mut Draws) -> LabeledNodes {
    let mut labels = vec![None; n];
    for (place, &node) in draws.permutation(n).iter().take(n_classes * each).enumerate() {
        labels[node as usize] = Some((place % n_classes) as u32);
    }
    LabeledNodes::new(labels, n_classes).unwrap()
}

const EXACT: Solver = Solver { tolerance: 1e-13, max_iterations: 10_000 };

/// Runs `rule` as [`propagate`] would and returns its scores.
fn scores(
    graph: &SparseGraph,
    labeled: &LabeledNodes,
    rule: impl Fn(&Problem<'_>) -> Result<Scores>,
) -> (Vec<f64>, SolveInfo, Components) {
    let params = PropagateParams { solver: EXACT, ..PropagateParams::default() };
    let run = Run::new(0);
    let of = Propagator::new(graph, 2, &params, &run).unwrap();
    let by_component = labeled.reached(&of.components);
    let reached: Vec<bool> = of.components.of_nodes().iter().map(|&c| by_component[c as usize]).collect();
    let Means::Systems { hierarchy, .. } = &of.means else { panic!("harmonic functions solve systems") };
    let problem = Problem { of: &of, hierarchy, labeled, reached: &reached, groups: None, run: &run };
    let found = rule(&problem).unwrap();
    (found.values, found.info, of.components.clone())
}

/// Solves a dense system by Gaussian elimination; the columns of `right` are stored side by side.
fn dense_solve(mut a: Vec<Vec<f64>>, mut right: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n = a.len();
    for pivot in 0..n {
        let best = (pivot..n).max_by(|&i, &j| a[i][pivot].abs().total_cmp(&a[j][pivot].abs())).unwrap();
        a.swap(pivot, best);
        right.swap(pivot, best);
        for row in 0..n {
            if row != pivot {
                let factor = a[row][pivot] / a[pivot][pivot];
                let subtract = |rows: &mut [Vec<f64>]| {
                    let above = rows[pivot].clone();
                    rows[row].iter_mut().zip(above).for_each(|(value, above)| *value -= factor * above);
                };
                subtract(&mut a);
                subtract(&mut right);
            }
        }
    }
    (0..n).map(|i| right[i].iter().map(|value| value / a[i][i]).collect()).collect()
}

fn dense_weights(graph: &SparseGraph) -> Vec<Vec<f64>> {
    let n = graph.n_nodes();
    (0..n).map(|i| (0..n).map(|j| graph.weight(i, j).unwrap_or(0.0)).collect()).collect()
}

#[test]
fn harmonic_functions_equal_their_closed_form() {
    for seed in 0..5 {
        let graph = random_graph(&[25], seed);
        let labeled = random_labeled(25, 3, 2, &mut Stream::new(seed, Stage::Noise).at(0, 0));
        let (w, degrees) = (dense_weights(&graph), graph.degrees());
        let free: Vec<usize> = (0..25).filter(|&i| labeled.get(i).is_none()).collect();
        let laplacian = |i: usize, j: usize| if i == j { degrees[i] } else { -w[i][j] };
        let a = free.iter().map(|&i| free.iter().map(|&j| laplacian(i, j)).collect()).collect();
        let right = free
            .iter()
            .map(|&i| {
                let mut row = vec![0.0; 3];
                labeled.iter().for_each(|(l, class)| row[class as usize] += w[i][l as usize]);
                row
            })
            .collect();
        let expected = dense_solve(a, right);
        let (found, info, _) = scores(&graph, &labeled, |problem| problem.harmonic(Clamping::Hard, &[]));
        assert!(info.iterations > 0 && info.residual <= 1e-13);
        for (row, &i) in expected.iter().zip(&free) {
            for class in 0..3 {
                assert!((row[class] - found[i * 3 + class]).abs() < 1e-8);
            }
        }
        // Springs.
        let spring = |i: usize| if labeled.get(i).is_some() { 2.0 * degrees[i] } else { 0.0 };
        let a = (0..25)
            .map(|i| (0..25).map(|j| laplacian(i, j) + if i == j { spring(i) } else { 0.0 }).collect());
        let right = (0..25).map(|i| {
            (0..3).map(|class| if labeled.get(i) == Some(class) { spring(i) } else { 0.0 }).collect()
        });
        let expected = dense_solve(a.collect(), right.collect());
        let (found, _, _) =
            scores(&graph, &labeled, |problem| problem.harmonic(Clamping::Soft { strength: 2.0 }, &[]));
        for i in 0..25 {
            for class in 0..3 {
                assert!((expected[i][class] - found[i * 3 + class]).abs() < 1e-8);
            }
        }
    }
}

#[test]
fn consistency_equals_its_closed_form() {
    let graph = random_graph(&[20, 7], 3);
    let labeled = random_labeled(20, 2, 2, &mut Stream::new(3, Stage::Noise).at(0, 0));
    let mut labels: Vec<Option<u32>> = (0..20).map(|i| labeled.get(i)).collect();
    labels.resize(27, None);
    let labeled = LabeledNodes::new(labels, 2).unwrap();
    let (w, degrees) = (dense_weights(&graph), graph.degrees());
    let s = |i: usize, j: usize| w[i][j] / (degrees[i] * degrees[j]).sqrt();
    let a = (0..27).map(|i| (0..27).map(|j| f64::from(u8::from(i == j)) - 0.9 * s(i, j)).collect());
    let right = (0..27).map(|i| (0..2).map(|c| f64::from(u8::from(labeled.get(i) == Some(c)))).collect());
    let expected = dense_solve(a.collect(), right.collect());
    let (found, _, _) = scores(&graph, &labeled, |problem| problem.consistency(0.9));
    for i in 0..27 {
        for class in 0..2 {
            assert!((expected[i][class] - found[i * 2 + class]).abs() < 1e-8);
        }
    }
}

#[test]
fn poisson_learning_equals_its_closed_form() {
    let graph = random_graph(&[30], 4);
    let labeled = random_labeled(30, 3, 2, &mut Stream::new(4, Stage::Noise).at(0, 0));
    let (w, degrees) = (dense_weights(&graph), graph.degrees());
    // L + 1·1ᵀ solves the system in the complement of the constants.
    let a = (0..30).map(|i| (0..30).map(|j| 1.0 + if i == j { degrees[i] } else { -w[i][j] }).collect());
    let right = (0..30).map(|i| {
        let of = |class: u32| f64::from(u8::from(labeled.get(i) == Some(class)));
        (0..3).map(|class| if labeled.get(i).is_some() { of(class) - 1.0 / 3.0 } else { 0.0 }).collect()
    });
    let mut expected = dense_solve(a.collect(), right.collect());
    for class in 0..3 {
        let mean =
            (0..30).map(|i| degrees[i] * expected[i][class]).sum::<f64>() / degrees.iter().sum::<f64>();
        expected.iter_mut().for_each(|row| row[class] -= mean);
    }
    let (found, _, _) = scores(&graph, &labeled, |problem| problem.poisson());
    for i in 0..30 {
        for class in 0..3 {
            assert!((expected[i][class] - found[i * 3 + class]).abs() < 1e-8);
        }
    }
}

/// L·K = I − P and P·K = 0 with P the projector on D^½·1 of each component: the conditions of the pseudo-inverse.
#[test]
fn kernel_columns_are_those_of_the_pseudo_inverse() {
    let graph = random_graph(&[18, 9], 5);
    let labeled = random_labeled(27, 2, 3, &mut Stream::new(5, Stage::Noise).at(0, 0));
    let (found, _, components) = scores(&graph, &labeled, |problem| problem.kernel_columns());
    let (w, degrees) = (dense_weights(&graph), graph.degrees());
    let m = labeled.nodes().len();
    let of = components.of_nodes();
    let volume = |c: u32| (0..27).filter(|&i| of[i] == c).map(|i| degrees[i]).sum::<f64>();
    for (column, &l) in labeled.nodes().iter().enumerate() {
        for i in 0..27 {
            let k = |j: usize| found[j * m + column];
            let applied =
                k(i) - (0..27).map(|j| w[i][j] / (degrees[i] * degrees[j]).sqrt() * k(j)).sum::<f64>();
            let p = match of[i] == of[l as usize] {
                true => (degrees[i] * degrees[l as usize]).sqrt() / volume(of[i]),
                false => 0.0,
            };
            let identity = f64::from(u8::from(i == l as usize));
            assert!((applied - identity + p).abs() < 1e-8);
        }
        for c in 0..2 {
            let sum: f64 =
                (0..27).filter(|&i| of[i] == c).map(|i| degrees[i].sqrt() * found[i * m + column]).sum();
            assert!(sum.abs() < 1e-8);
        }
    }
}

/// Algorithm 2 word for word, with all of S at hand.
fn naive_walk(s: &[Vec<f64>], labeled: &LabeledNodes, max_walk: usize) -> Vec<Vec<f64>> {
    let n = s.len();
    (0..n)
        .map(|j| {
            let mut gamma = vec![f64::INFINITY; labeled.n_classes()];
            let (mut visited, mut here) = (vec![j], j);
            for _ in 0..max_walk {
                for (l, class) in labeled.iter() {
                    let g = &mut gamma[class as usize];
                    *g = g.min(s[here][l as usize]);
                }
                let unvisited = (0..n).filter(|t| !visited.contains(t) && s[here][*t].is_finite());
                let nearest = unvisited.min_by(|&a, &b| s[here][a].total_cmp(&s[here][b]));
                match nearest {
                    Some(t) if labeled.get(t).is_none() => {
                        visited.push(t);
                        here = t;
                    }
                    _ => break,
                }
            }
            gamma
        })
        .collect()
}

#[test]
fn the_walk_equals_the_naive_one() {
    for seed in 0..4 {
        let graph = random_graph(&[14, 6, 1, 2], seed);
        let n = graph.n_nodes();
        let table = WalkTable::exact(&graph, 5, &Run::new(0)).unwrap();
        let s: Vec<Vec<f64>> =
            (0..n).map(|i| (0..n).map(|j| table.kernel_distance(i, j)).collect()).collect();
        for draw in 0..10 {
            let labeled =
                random_labeled(n, 2, 1 + draw as usize % 3, &mut Stream::new(seed, Stage::Noise).at(draw, 0));
            let expected = naive_walk(&s, &labeled, 5);
            let found = table.scores(&labeled).values;
            for i in 0..n {
                for class in 0..2 {
                    let (e, f) = (expected[i][class], -found[i * 2 + class]);
                    assert!(e == f || (e - f).abs() < 1e-9 * e, "{e} {f}");
                }
            }
        }
    }
}

/// S of the walk is that of the pseudo-inverse.
#[test]
fn the_walk_measures_in_the_kernel() {
    let graph = random_graph(&[16], 6);
    let labeled = random_labeled(16, 2, 2, &mut Stream::new(6, Stage::Noise).at(0, 0));
    let (k, _, _) = scores(&graph, &labeled, |problem| problem.kernel_columns());
    let table = WalkTable::exact(&graph, 5, &Run::new(0)).unwrap();
    let nodes = labeled.nodes();
    let m = nodes.len();
    for (a, &i) in nodes.iter().enumerate() {
        for (b, &j) in nodes.iter().enumerate() {
            let (i, j) = (i as usize, j as usize);
            let expected = k[i * m + a] + k[j * m + b] - 2.0 * k[i * m + b];
            assert!((expected - table.kernel_distance(i, j)).abs() < 1e-9);
        }
    }
}

/// The harmonic function at a labeled node whose own label is taken away, computed anew.
#[test]
fn left_out_scores_are_those_without_the_label() {
    for seed in 0..4 {
        let graph = random_graph(&[30], seed);
        let labeled = random_labeled(30, 3, 3, &mut Stream::new(seed, Stage::Noise).at(1, 0));
        let params = PropagateParams { solver: EXACT, ..PropagateParams::default() };
        let run = Run::new(0);
        let of = Propagator::new(&graph, 3, &params, &run).unwrap();
        let Means::Systems { hierarchy, .. } = &of.means else { panic!("harmonic functions solve systems") };
        let reached = vec![true; 30];
        let problem =
            Problem { of: &of, hierarchy, labeled: &labeled, reached: &reached, groups: None, run: &run };
        let all = problem.harmonic(Clamping::Hard, labeled.nodes()).unwrap();
        let found = problem.harmonic_left_out(&all, labeled.nodes());
        for (place, &node) in labeled.nodes().iter().enumerate() {
            let rest = (0..30).map(|i| labeled.get(i).filter(|_| i != node as usize)).collect();
            let rest = LabeledNodes::new(rest, 3).unwrap();
            let (expected, _, _) = scores(&graph, &rest, |problem| problem.harmonic(Clamping::Hard, &[]));
            let found = found[place].as_ref().unwrap();
            for class in 0..3 {
                let difference = (found[class] - expected[node as usize * 3 + class]).abs();
                assert!(difference < 1e-8, "seed {seed}, node {node}: {difference}");
            }
        }
    }
}

/// Alone in its component, nothing is known of a labeled point without its label.
#[test]
fn left_out_points_that_nothing_else_reaches_have_no_scores() {
    let graph = random_graph(&[12, 8], 1);
    let mut labels = vec![None; 20];
    (labels[0], labels[1], labels[15]) = (Some(0), Some(1), Some(1));
    let labeled = LabeledNodes::new(labels, 2).unwrap();
    let (params, run) = (PropagateParams::default(), Run::new(0));
    let of = Propagator::new(&graph, 2, &params, &run).unwrap();
    let Means::Systems { hierarchy, .. } = &of.means else { panic!("harmonic functions solve systems") };
    let problem =
        Problem { of: &of, hierarchy, labeled: &labeled, reached: &[true; 20], groups: None, run: &run };
    let all = problem.harmonic(Clamping::Hard, labeled.nodes()).unwrap();
    let found = problem.harmonic_left_out(&all, labeled.nodes());
    assert!(found[0].is_some() && found[1].is_some() && found[2].is_none());
}

/// A label of weight 2 pulls like two points with the same neighbors.
#[test]
fn weights_are_copies_with_the_same_neighbors() {
    let graph = random_graph(&[20], 8);
    let twin = graph.row(3).map(|(j, weight)| (j, 20, weight)).collect::<Vec<_>>();
    let rows: Vec<(u32, u32, f64)> = (0..20)
        .flat_map(|i| graph.row(i).map(move |(j, w)| (i as u32, j, w)).collect::<Vec<_>>())
        .filter(|(i, j, _)| i < j)
        .chain(twin)
        .collect();
    let edges = Edges::from_pairs(21, rows.iter().map(|row| (row.0, row.1))).unwrap();
    let mut weights = vec![0.0; edges.len()];
    rows.iter().for_each(|&(i, j, w)| weights[edges.find(i.min(j), i.max(j)).unwrap()] = w);
    let doubled = SparseGraph::from_edges(&edges, &weights).unwrap();
    let given = |n: usize| -> Vec<Option<u32>> {
        (0..n).map(|i| [(3, 0), (20, 0), (7, 1), (11, 1)].iter().find(|l| l.0 == i).map(|l| l.1)).collect()
    };
    let weighted = LabeledNodes::new(given(20), 2).unwrap().weighted(vec![2.0, 1.0, 1.0]);
    let copied = LabeledNodes::new(given(21), 2).unwrap();
    let (found, _, _) = scores(&graph, &weighted, |problem| problem.harmonic(Clamping::Hard, &[]));
    let (expected, _, _) = scores(&doubled, &copied, |problem| problem.harmonic(Clamping::Hard, &[]));
    for at in 0..40 {
        assert!((found[at] - expected[at]).abs() < 1e-8);
    }
    // Poisson learning and consistency: one label of weight 2 has twice the source.
    for rule in [Rule::Poisson, Rule::Consistency { alpha: 0.9 }, Rule::Harmonic] {
        let params = PropagateParams { rule, ..PropagateParams::default() };
        let more = propagate(&graph, &weighted, &params, &Run::new(0)).unwrap();
        let same =
            propagate(&graph, &LabeledNodes::new(given(20), 2).unwrap(), &params, &Run::new(0)).unwrap();
        assert_ne!(more.probabilities, same.probabilities, "{rule:?}");
    }
    let params = PropagateParams { rule: Rule::KernelCosine, ..PropagateParams::default() };
    assert!(propagate(&graph, &weighted, &params, &Run::new(0)).is_err());
}

#[test]
fn every_class_gets_a_group_where_the_graph_has_as_many() {
    let data = uneven_blobs(600, 5, 4, 2).unwrap();
    let truth = data.labels;
    let space = Space::from_points(data.points, Metric::Euclidean).unwrap();
    let graph = robust_graph(&space, &Preset::Robust.params().check().unwrap(), &Run::new(0)).unwrap();
    let of_class = |class: u32| (0..600).filter(|&i| truth[i] == class).collect::<Vec<usize>>();
    let params = PropagateParams { groups: Groups::Yes, ..PropagateParams::default() };
    let spread = |labels: &[(usize, u32)], params: &PropagateParams| {
        let mut given = vec![None; 600];
        labels.iter().for_each(|&(node, class)| given[node] = Some(class));
        propagate(&graph, &LabeledNodes::new(given, 4).unwrap(), params, &Run::new(0)).unwrap()
    };
    let right =
        |found: &Propagation| (0..600).filter(|&i| found.labels[i] == Some(truth[i])).count() as f64 / 600.0;
    let one_each: Vec<(usize, u32)> = (0..4).map(|class| (of_class(class)[0], class)).collect();
    let found = spread(&one_each, &params);
    assert_eq!((right(&found), found.outside_group.as_deref()), (1.0, Some(&[][..])));
    // Class 3 has its labeled point among those of class 2, on the side of its own; its group is what is left.
    let to_class_3 =
        |i: &usize| of_class(3).iter().map(|&j| space.distance(*i, j)).fold(f64::INFINITY, f64::min);
    let mut by_distance = of_class(2);
    by_distance.sort_by(|a, b| to_class_3(a).total_cmp(&to_class_3(b)));
    let (stray, far) = (by_distance[0], by_distance[by_distance.len() - 1]);
    let moved = [&one_each[..2], &[(far, 2), (stray, 3)]].concat();
    let found = spread(&moved, &params);
    assert_eq!(found.outside_group, Some(vec![stray as u32]));
    assert_eq!(found.labels[stray], Some(3));
    assert!(right(&found) > 0.99, "{}", right(&found));
    let without = spread(&moved, &PropagateParams { groups: Groups::No, ..params.clone() });
    assert!(without.outside_group.is_none() && right(&without) < 0.9);
    // Two labeled points of class 3 together in another group: classes are not groups.
    let both = [&moved[..], &[(by_distance[1], 3)]].concat();
    assert!(spread(&both, &params).outside_group.is_none());
    // Three classes, four groups.
    let mut given = vec![None; 600];
    one_each[..3].iter().for_each(|&(node, class)| given[node] = Some(class));
    let found = propagate(&graph, &LabeledNodes::new(given, 3).unwrap(), &params, &Run::new(0)).unwrap();
    assert!(found.outside_group.is_none());
}

/// Components that hang together by weights of 1e-8, where the inverse is nearly singular.
#[test]
fn the_inverse_gives_the_distances_of_the_eigenpairs() {
    for link in [1e-2, 1e-8] {
        let graph = random_graph(&[20, 15], 9).with_edges(&[(3, 25, link)]);
        let exact = WalkTable::exact(&graph, 5, &Run::new(0)).unwrap();
        let by_pairs = WalkTable::truncated(&graph, 34, 5, &Run::new(0)).unwrap();
        for i in 0..35 {
            for j in 0..35 {
                let (a, b) = (exact.kernel_distance(i, j), by_pairs.kernel_distance(i, j));
                assert!((a - b).abs() <= 1e-5 * b.max(1e-3), "{link}: {i} {j} {a} {b}");
            }
        }
        assert_eq!((exact.info().n_pairs, exact.info().truncation), (34, 0.0));
    }
}
