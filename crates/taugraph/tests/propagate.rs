//! Propagation as users see it: moons, unreachable points, priors, sizes, soft clamping, threads.

use taugraph::distance::Metric;
use taugraph::edges::Symmetrize;
use taugraph::generators::{LabeledPoints, moons, uneven_blobs};
use taugraph::graph::SparseGraph;
use taugraph::metrics::accuracy;
use taugraph::neighbors::{Space, neighbors_of_new};
use taugraph::params::{CandidatePairs, LinkComponents, Preset};
use taugraph::points::Points;
use taugraph::progress::Run;
use taugraph::propagate::{
    Clamping, LabeledNodes, Priors, PropagateParams, Propagation, Rule, Solver, Trials, evaluate, propagate,
};
use taugraph::robust::robust_graph;

const RULES: [Rule; 7] = [
    Rule::Harmonic,
    Rule::Poisson,
    Rule::Consistency { alpha: 0.99 },
    Rule::KernelCosine,
    Rule::NearestInKernel,
    Rule::GreedyWalk { max_walk: 5, pairs: None },
    Rule::GreedyWalk { max_walk: 5, pairs: Some(4) },
];

fn graph_of(data: &LabeledPoints, link_components: LinkComponents) -> SparseGraph {
    let space = Space::from_points(data.points.clone(), Metric::Euclidean).unwrap();
    let params = Preset::Robust.params().with(|params| params.link_components = link_components);
    robust_graph(&space, &params.check().unwrap(), &Run::new(0)).unwrap().graph
}

/// One labeled point per class: its first point.
fn one_each(data: &LabeledPoints) -> LabeledNodes {
    let mut labels = vec![None; data.labels.len()];
    for class in 0..data.labels.n_classes() as u32 {
        let first = data.labels.iter().position(|&label| label == class).unwrap();
        labels[first] = Some(class);
    }
    LabeledNodes::new(labels, data.labels.n_classes()).unwrap()
}

fn with(rule: Rule) -> PropagateParams {
    PropagateParams::default().with(|params| params.rule = rule)
}

fn labels(found: &Propagation) -> Vec<u32> {
    found.labels.iter().map(|label| label.unwrap()).collect()
}

/// Two moons that do not touch, one labeled point each: every rule labels all of them, linked or not.
#[test]
fn separated_moons_are_labeled_by_every_rule() {
    let data = moons(300, 0.03, 1).unwrap();
    let labeled = one_each(&data);
    for link in [LinkComponents::No, LinkComponents::Weakly] {
        let graph = graph_of(&data, link);
        for rule in RULES {
            let found = propagate(&graph, &labeled, &with(rule), &Run::new(0)).unwrap();
            assert_eq!(accuracy(&data.labels, &labels(&found)).unwrap(), 1.0, "{rule:?}, {link:?}");
            assert_eq!(found.n_abstained(), 0);
            for row in found.probabilities.chunks_exact(2) {
                assert!((row[0] + row[1] - 1.0).abs() < 1e-12 && row.iter().all(|p| (0.0..=1.0).contains(p)));
            }
            assert!(found.margins.iter().all(|margin| (0.0..=1.0).contains(margin)));
        }
    }
}

/// Taken literally the pseudo-inverse gives a finite distance between separate moons, and the nearest label in the kernel is
/// then often that of the other moon.
#[test]
fn the_literal_pseudo_inverse_would_fail() {
    let data = moons(300, 0.03, 1).unwrap();
    let graph = graph_of(&data, LinkComponents::No);
    let laplacian = taugraph::spectral::Laplacian::new(&graph, taugraph::spectral::LaplacianKind::Symmetric);
    let params = taugraph::spectral::EigenParams::default().with(|params| {
        params.solver = taugraph::spectral::SolverChoice::Only(taugraph::spectral::EigenSolver::Dense)
    });
    let pairs = taugraph::spectral::smallest_eigenpairs(&laplacian, 300, &params, &Run::new(0)).unwrap();
    assert!(pairs.info.n_components > 1);
    let n_null = pairs.info.n_components;
    let k = |i: usize, j: usize| -> f64 {
        (n_null..300).map(|p| pairs.vectors[p * 300 + i] * pairs.vectors[p * 300 + j] / pairs.values[p]).sum()
    };
    let labeled = one_each(&data);
    let own: Vec<(usize, u32, f64)> =
        labeled.iter().map(|(l, class)| (l as usize, class, k(l as usize, l as usize))).collect();
    let literal: Vec<u32> = (0..300)
        .map(|j| {
            let nearest =
                own.iter().min_by(|a, b| (a.2 - 2.0 * k(j, a.0)).total_cmp(&(b.2 - 2.0 * k(j, b.0))));
            nearest.unwrap().1
        })
        .collect();
    let score = accuracy(&data.labels, &literal).unwrap();
    assert!(score < 0.9, "{score}");
}

#[test]
fn points_that_no_label_reaches_get_none() {
    let data = uneven_blobs(300, 2, 3, 4).unwrap();
    let graph = graph_of(&data, LinkComponents::No);
    let mut given: Vec<Option<u32>> = vec![None; 300];
    let of = |class: u32| data.labels.iter().position(|&label| label == class).unwrap();
    (given[of(0)], given[of(1)]) = (Some(0), Some(1));
    let labeled = LabeledNodes::new(given, 2).unwrap();
    for rule in RULES {
        let found = propagate(&graph, &labeled, &with(rule), &Run::new(0)).unwrap();
        assert!(found.n_components >= 3);
        for (i, label) in found.labels.iter().enumerate() {
            let row = &found.probabilities[2 * i..2 * i + 2];
            match label {
                None => assert!(row == [0.0, 0.0] && found.margins[i] == 0.0),
                Some(_) => assert!(data.labels[i] < 2 && (row[0] + row[1] - 1.0).abs() < 1e-12),
            }
        }
        assert!(found.n_abstained() >= data.labels.iter().filter(|&&label| label == 2).count());
    }
}

/// A class without a labeled point in a component has no chance there, whatever the priors.
#[test]
fn classes_do_not_reach_across_components() {
    let entries = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2), (4, 5), (5, 4)].map(|(i, j)| (i, j, 1.0));
    let graph = SparseGraph::from_entries(6, entries, taugraph::graph::Asymmetry::Refuse).unwrap().0;
    let given = vec![Some(0), None, None, Some(1), Some(2), None];
    let labeled = LabeledNodes::new(given, 3).unwrap();
    for rule in RULES.into_iter().filter(|rule| !matches!(rule, Rule::GreedyWalk { pairs: Some(_), .. })) {
        let params =
            with(rule).with(|params| params.priors = Priors::Given { shares: vec![0.01, 0.01, 0.98] });
        let found = propagate(&graph, &labeled, &params, &Run::new(0)).unwrap();
        assert_eq!(found.labels, [0, 0, 1, 1, 2, 2].map(Some), "{rule:?}");
        assert!((0..4).all(|node| found.probabilities[3 * node + 2] == 0.0), "{rule:?}");
    }
}

/// No neighbor can outvote an isolated labeled point.
#[test]
fn an_isolated_point_keeps_its_label_under_soft_clamping() {
    let entries = [(0, 1, 1.0), (1, 0, 1.0)];
    let graph = SparseGraph::from_entries(3, entries, taugraph::graph::Asymmetry::Refuse).unwrap().0;
    let labeled = LabeledNodes::new(vec![Some(0), None, Some(1)], 2).unwrap();
    let params = PropagateParams::default().with(|params| params.clamping = Clamping::Soft { strength: 1.0 });
    let found = propagate(&graph, &labeled, &params, &Run::new(0)).unwrap();
    assert_eq!(found.labels, [Some(0), Some(0), Some(1)]);
}

/// A wrong label is outvoted under soft clamping and kept under hard clamping.
#[test]
fn wrong_labels_are_corrected_under_soft_clamping() {
    let data = moons(200, 0.03, 2).unwrap();
    let graph = graph_of(&data, LinkComponents::Weakly);
    let mut given: Vec<Option<u32>> = (0..200).map(|i| (i % 10 == 0).then_some(data.labels[i])).collect();
    given[50] = Some(1 - data.labels[50]);
    let labeled = LabeledNodes::new(given, 2).unwrap();
    let at = |clamping: Clamping| {
        let params = PropagateParams::default().with(|params| params.clamping = clamping);
        propagate(&graph, &labeled, &params, &Run::new(0)).unwrap().labels[50].unwrap()
    };
    assert_eq!(at(Clamping::Hard), 1 - data.labels[50]);
    assert_eq!(at(Clamping::Soft { strength: 0.1 }), data.labels[50]);
    let params = PropagateParams::default().with(|params| {
        params.rule = Rule::Poisson;
        params.clamping = Clamping::Soft { strength: 1.0 };
    });
    assert!(propagate(&graph, &labeled, &params, &Run::new(0)).is_err());
}

#[test]
fn priors_and_sizes_shift_the_decision() {
    let data = uneven_blobs(400, 2, 2, 7).unwrap();
    let graph = graph_of(&data, LinkComponents::Weakly);
    let labeled = one_each(&data);
    let count = |params: PropagateParams| {
        let found = propagate(&graph, &labeled, &params, &Run::new(0)).unwrap();
        found.labels.iter().filter(|label| **label == Some(0)).count()
    };
    let few = count(
        PropagateParams::default().with(|params| params.priors = Priors::Given { shares: vec![1.0, 99.0] }),
    );
    let many = count(
        PropagateParams::default().with(|params| params.priors = Priors::Given { shares: vec![99.0, 1.0] }),
    );
    assert!(few <= many);
    let sized = count(PropagateParams::default().with(|params| params.sizes = Some(vec![0.25, 0.75])));
    assert!((sized as f64 / 400.0 - 0.25).abs() < 0.02, "{sized}");
    let wrong = PropagateParams::default().with(|params| params.priors = Priors::Given { shares: vec![1.0] });
    assert!(propagate(&graph, &labeled, &wrong, &Run::new(0)).is_err());
    let zero =
        PropagateParams::default().with(|params| params.priors = Priors::Given { shares: vec![0.0, 1.0] });
    assert!(propagate(&graph, &labeled, &zero, &Run::new(0)).is_err());
}

#[test]
fn labels_do_not_depend_on_the_threads() {
    let data = uneven_blobs(3000, 5, 4, 9).unwrap();
    let graph = graph_of(&data, LinkComponents::Weakly);
    let labeled = one_each(&data);
    for rule in [Rule::Harmonic, Rule::Poisson, Rule::Consistency { alpha: 0.9 }, Rule::KernelCosine] {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let found = pool.install(|| propagate(&graph, &labeled, &with(rule), &Run::new(0)).unwrap());
            found.probabilities.iter().map(|p| p.to_bits()).collect::<Vec<_>>()
        };
        let one = on(1);
        assert!(on(2) == one && on(4) == one, "{rule:?}");
    }
}

#[test]
fn unconverged_systems_are_errors() {
    let data = moons(300, 0.03, 1).unwrap();
    let graph = graph_of(&data, LinkComponents::Weakly);
    let solver = Solver::default().with(|params| {
        params.tolerance = 1e-12;
        params.max_iterations = 2;
    });
    let params = PropagateParams::default().with(|params| params.solver = solver);
    let error = propagate(&graph, &one_each(&data), &params, &Run::new(0)).unwrap_err();
    assert!(error.to_string().contains("conjugate gradients"), "{error}");
}

/// The closed form over all pairs agrees with solving a system for each pair; with copies, and in components.
#[test]
fn all_pairs_at_once_equal_pair_by_pair() {
    let data = moons(40, 0.1, 3).unwrap();
    // Rows 0 to 4 once more, the last of them with the other label.
    let mut values = data.points.values().to_vec();
    values.extend(data.points.values().iter().take(10));
    let mut classes: Vec<u32> = data.labels.to_vec();
    classes.extend_from_slice(&data.labels[..5]);
    classes[44] = 1 - classes[44];
    let labels = taugraph::labels::Labels::new(classes, 2).unwrap();
    let space = Space::from_points(Points::new(values, 2).unwrap(), Metric::Euclidean).unwrap();
    for (k, link_components) in [(15, LinkComponents::Weakly), (3, LinkComponents::No)] {
        let candidates = CandidatePairs::Neighbors { k, symmetrize: Symmetrize::Union };
        let params = Preset::Robust.params().with(|params| {
            params.candidates = candidates;
            params.link_components = link_components;
        });
        let robust = robust_graph(&space, &params.check().unwrap(), &Run::new(0)).unwrap();
        let nodes = robust.duplicates.node_of_row();
        let params = PropagateParams::default();
        let found = evaluate(&robust.graph, nodes, &labels, &params, Trials::AllPairs, &Run::new(0)).unwrap();
        let mut expected = Vec::new();
        for first in (0..45).filter(|&row| labels[row] == 0) {
            for second in (0..45).filter(|&row| labels[row] == 1 && nodes[row] != nodes[first]) {
                let mut given = vec![None; robust.graph.n_nodes()];
                (given[nodes[first] as usize], given[nodes[second] as usize]) = (Some(0), Some(1));
                let labeled = LabeledNodes::new(given, 2).unwrap();
                let spread = propagate(&robust.graph, &labeled, &params, &Run::new(0)).unwrap();
                let others = (0..45).filter(|row| ![first, second].contains(row));
                let is_right = |row: &usize| spread.labels[nodes[*row] as usize] == Some(labels[*row]);
                expected.push(others.filter(is_right).count() as f64 / 43.0);
            }
        }
        let mut accuracies = found.accuracies.clone();
        assert_eq!(accuracies.len(), expected.len());
        accuracies.sort_by(f64::total_cmp);
        expected.sort_by(f64::total_cmp);
        assert!(accuracies.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "k = {k}");
    }
}

/// All pairs of two classes are the exact expectation; random trials come close to it.
#[test]
fn trials_agree_with_the_exact_expectation() {
    let data = moons(60, 0.15, 5).unwrap();
    let space = Space::from_points(data.points.clone(), Metric::Euclidean).unwrap();
    let robust = robust_graph(&space, &Preset::Robust.params().check().unwrap(), &Run::new(0)).unwrap();
    let nodes = robust.duplicates.node_of_row();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    for rule in [Rule::Harmonic, Rule::GreedyWalk { max_walk: 5, pairs: None }] {
        let of =
            |trials| evaluate(&robust.graph, nodes, &data.labels, &with(rule), trials, &Run::new(3)).unwrap();
        let (all, some) = (of(Trials::AllPairs), of(Trials::Random { draws: 300, per_class: 1 }));
        assert_eq!((all.accuracies.len(), some.balanced.len(), all.majority), (900, 300, 0.5));
        assert!((mean(&all.accuracies) - mean(&some.accuracies)).abs() < 0.05, "{rule:?}");
        // Naively, for one pair.
        let mut given = vec![None; 60];
        (given[0], given[30]) = (Some(0), Some(1));
        let found =
            propagate(&robust.graph, &LabeledNodes::new(given, 2).unwrap(), &with(rule), &Run::new(0))
                .unwrap();
        let right = (0..60).filter(|&i| i % 30 != 0 && found.labels[i] == Some(data.labels[i])).count();
        assert_eq!(all.accuracies[0], right as f64 / 58.0);
    }
    let three = uneven_blobs(90, 2, 3, 1).unwrap();
    let graph = graph_of(&three, LinkComponents::Weakly);
    let rows: Vec<u32> = (0..90).collect();
    let refused =
        evaluate(&graph, &rows, &three.labels, &with(Rule::Harmonic), Trials::AllPairs, &Run::new(0));
    assert!(refused.is_err());
}

/// Against sorting all distances, for every metric.
#[test]
fn neighbors_of_new_points_are_the_nearest() {
    let known = uneven_blobs(60, 3, 3, 1).unwrap().points;
    let new = uneven_blobs(20, 3, 3, 2).unwrap().points;
    for metric in [Metric::Euclidean, Metric::Manhattan, Metric::Cosine] {
        let both: Vec<f64> = known.values().iter().chain(new.values().iter()).collect();
        let all = Space::from_points(Points::new(both, 3).unwrap(), metric).unwrap();
        let Space::Points(space) = Space::from_points(known.clone(), metric).unwrap() else {
            panic!("points")
        };
        let found = neighbors_of_new(&space, &new, 5, &Run::new(0)).unwrap();
        for row in 0..20 {
            let mut order: Vec<(f64, u32)> = (0..60).map(|i| (all.distance(60 + row, i), i as u32)).collect();
            order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let expected: Vec<u32> = order[..5].iter().map(|pair| pair.1).collect();
            assert_eq!(found.ids(row), expected, "{metric:?}");
            assert!(found.distances(row).iter().zip(&order).all(|(d, pair)| *d == pair.0));
        }
    }
}
