//! Algorithm 1 and clustering as a whole: what must not change the result, what must be refused, what is reported.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use taugraph::cluster::{ClusterParams, ComponentPolicy, spectral_clustering, stability};
use taugraph::distance::{DistanceMatrix, Metric};
use taugraph::edges::{Edges, Symmetrize};
use taugraph::error::Error;
use taugraph::generators::{SpiralDensity, circles, moons, two_spirals, uneven_blobs};
use taugraph::graph::SparseGraph;
use taugraph::metrics::{ari, nmi};
use taugraph::neighbors::{Space, nearest_neighbors};
use taugraph::params::{CandidatePairs, FinalAffinity, GraphParams, LinkComponents, Preset};
use taugraph::points::{Points, Precision, PreparationParams, SparsePoints, prepare};
use taugraph::progress::{Progress, Run};
use taugraph::random::{Stage, Stream};
use taugraph::robust::{NodeGraph, RowEdge, RowSize, memory_estimate, robust_graph};
use taugraph::scale::FirstScale;
use taugraph::spectral::LaplacianKind;
use taugraph::stochastic::RobustScale;

fn space(values: Vec<f64>, n_columns: usize) -> Space {
    Space::from_points(Points::new(values, n_columns).unwrap(), Metric::Euclidean).unwrap()
}

fn graph_of(space: &Space, params: GraphParams) -> Result<NodeGraph, Error> {
    robust_graph(space, &params.check()?, &Run::new(7))
}

fn random_values(n: usize, d: usize, seed: u64) -> Vec<f64> {
    let mut draws = Stream::new(seed, Stage::Generator).at(0, 0);
    (0..n * d).map(|_| draws.normal()).collect()
}

/// Deterministic presets: their result is a function of the points alone.
const WITHOUT_SEED: [Preset; 4] =
    [Preset::Robust, Preset::RobustMean, Preset::LocalScaling, Preset::ConstantControl];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn renumbering_the_points_renumbers_the_graph(seed in any::<u64>(), d in 1usize..9) {
        let n = 60;
        let values = random_values(n, d, seed);
        let order = Stream::new(seed, Stage::Batches).at(0, 0).permutation(n);
        let moved: Vec<f64> = order.iter().flat_map(|&i| &values[i as usize * d..(i as usize + 1) * d]).copied().collect();
        for preset in WITHOUT_SEED {
            let (a, b) = (
                graph_of(&space(values.clone(), d), preset.params()).unwrap(),
                graph_of(&space(moved.clone(), d), preset.params()).unwrap(),
            );
            for (new, &old) in order.iter().enumerate() {
                prop_assert!((a.scales.get(old as usize) - b.scales.get(new)).abs() < 1e-12 * b.scales.get(new));
                for (j, weight) in b.graph.row(new) {
                    let before = a.graph.weight(old as usize, order[j as usize] as usize).unwrap();
                    prop_assert!((weight - before).abs() < 1e-9);
                }
            }
        }
    }

    #[test]
    fn the_unit_of_length_does_not_matter(seed in any::<u64>(), power in -40i32..40) {
        let values = random_values(50, 3, seed);
        let scaled: Vec<f64> = values.iter().map(|v| v * 2f64.powi(power)).collect();
        for preset in WITHOUT_SEED {
            let (a, b) = (
                graph_of(&space(values.clone(), 3), preset.params()).unwrap(),
                graph_of(&space(scaled.clone(), 3), preset.params()).unwrap(),
            );
            prop_assert_eq!(a.graph.ids(), b.graph.ids());
            for (x, y) in a.graph.weights().iter().zip(b.graph.weights()) {
                prop_assert!((x - y).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn copies_change_nothing_and_get_the_label_of_their_point(seed in any::<u64>(), copies in 1usize..40) {
        let data = moons(120, 0.05, seed).unwrap();
        let mut values = data.points.values().to_vec();
        let mut draws = Stream::new(seed, Stage::Noise).at(0, 0);
        let copied: Vec<usize> = (0..copies).map(|_| draws.below(120)).collect();
        copied.iter().for_each(|&i| values.extend(data.points.row(i).iter()));
        let plain = graph_of(&space(data.points.values().to_vec(), 2), Preset::Robust.params()).unwrap();
        let with_copies = graph_of(&space(values, 2), Preset::Robust.params()).unwrap();
        prop_assert_eq!(&plain.graph, &with_copies.graph);
        prop_assert_eq!(with_copies.duplicates.n_copies(), copies);
        let labels = spectral_clustering(&with_copies.graph, &ClusterParams::exactly(2), &Run::new(0)).unwrap().labels;
        let rows = with_copies.duplicates.restore(&labels);
        for (copy, &original) in copied.iter().enumerate() {
            prop_assert_eq!(rows[120 + copy], rows[original]);
        }
    }

    #[test]
    fn groups_far_apart_are_linked_weakly_and_found(seed in any::<u64>(), groups in 2usize..6, d in 1usize..9) {
        // Distances of 1000 between groups of 25.
        let mut values = random_values(25 * groups, d, seed);
        values.chunks_exact_mut(d).enumerate().for_each(|(i, row)| row[0] += 1000.0 * (i / 25) as f64);
        let truth: Vec<u32> = (0..25 * groups).map(|i| (i / 25) as u32).collect();
        let robust = graph_of(&space(values, d), Preset::Robust.params()).unwrap();
        prop_assert!(robust.components.len() >= groups);
        prop_assert_eq!(robust.links.len(), robust.components.len() - 1);
        let run = Run::new(seed);
        let found = spectral_clustering(&robust.graph, &ClusterParams::exactly(groups), &run).unwrap();
        prop_assert_eq!(found.n_components, 1);
        prop_assert!(robust.components.len() > groups || nmi(&truth, &found.labels).unwrap() == 1.0);
    }

    /// Integer grids: equal distances everywhere.
    #[test]
    fn ties_everywhere_are_no_problem(side in 5usize..9, seed in any::<u64>()) {
        let values: Vec<f64> = (0..side * side).flat_map(|i| [(i % side) as f64, (i / side) as f64]).collect();
        let robust = graph_of(&space(values, 2), Preset::Robust.params()).unwrap();
        let found = spectral_clustering(&robust.graph, &ClusterParams::exactly(4), &Run::new(seed)).unwrap();
        let mut names = found.labels.to_vec();
        names.sort_unstable();
        names.dedup();
        prop_assert_eq!(names, [0, 1, 2, 3]);
    }
}

#[test]
fn precomputed_distances_give_the_graph_of_the_points() {
    let points = space(random_values(70, 4, 3), 4);
    let matrix = (0..70 * 70).map(|cell| points.distance(cell / 70, cell % 70)).collect();
    let distances = Space::Distances(DistanceMatrix::new(matrix, 70).unwrap());
    for preset in WITHOUT_SEED {
        let (a, b) =
            (graph_of(&points, preset.params()).unwrap(), graph_of(&distances, preset.params()).unwrap());
        assert_eq!(a.graph.ids(), b.graph.ids());
        assert!(a.graph.weights().iter().zip(b.graph.weights()).all(|(x, y)| (x - y).abs() < 1e-12));
    }
}

#[test]
fn a_neighbor_graph_is_enough_for_the_sparse_presets() {
    let data = circles(200, 0.4, 0.02, 1).unwrap();
    let points = space(data.points.values().to_vec(), 2);
    let neighbors = Space::Neighbors(nearest_neighbors(&points, 15, &Run::new(0)).unwrap());
    let robust = graph_of(&neighbors, Preset::Robust.params()).unwrap();
    let found = spectral_clustering(&robust.graph, &ClusterParams::exactly(2), &Run::new(0)).unwrap();
    assert_eq!(nmi(&data.labels, &found.labels).unwrap(), 1.0);
    assert!(matches!(graph_of(&neighbors, Preset::Paper.params()), Err(Error::NeedsAllPairs { .. })));
}

#[test]
fn other_metrics_run_through() {
    let data = uneven_blobs(150, 6, 3, 4).unwrap();
    for metric in [Metric::Manhattan, Metric::Cosine] {
        let space = Space::from_points(data.points.clone(), metric).unwrap();
        let robust = graph_of(&space, Preset::Robust.params()).unwrap();
        let found = spectral_clustering(&robust.graph, &ClusterParams::exactly(3), &Run::new(0)).unwrap();
        assert!(ari(&data.labels, &found.labels).unwrap() > 0.8, "{metric:?}");
    }
}

#[test]
fn final_affinities_differ_as_they_say() {
    let points = space(random_values(80, 2, 9), 2);
    let of = |final_affinity| {
        let params = Preset::Paper.params().with(|params| {
            params.final_affinity = final_affinity;
            params.link_components = LinkComponents::No;
        });
        let estimator = Preset::ThresholdControl.params().estimator;
        graph_of(&points, params.with(|params| params.estimator = estimator)).unwrap()
    };
    let (plain, masked) = (of(FinalAffinity::Plain), of(FinalAffinity::Masked));
    let weighted = of(FinalAffinity::Weighted { power: 1.0, floor: 0.0 });
    assert!(masked.graph.n_edges() < plain.graph.n_edges());
    for i in 0..80 {
        for (j, weight) in masked.graph.row(i) {
            let j = j as usize;
            assert_eq!(plain.graph.weight(i, j), Some(weight));
            // All edges of this control have probability 0.4.
            assert!((weighted.graph.weight(i, j).unwrap() - 0.4 * weight).abs() < 1e-15);
        }
    }
    assert!(masked.stochastic.has_flat_decay());
    assert!(!graph_of(&points, Preset::Robust.params()).unwrap().stochastic.has_flat_decay());
}

#[test]
fn scales_of_ones_own_are_by_row() {
    let mut values = random_values(40, 2, 5);
    values.extend_from_within(..2);
    let given: Vec<f64> = (0..41).map(|i| 1.0 + f64::from(i) / 10.0).collect();
    let with = |given: Vec<f64>| {
        let params = Preset::Robust.params().with(|params| {
            params.first_scale = FirstScale::Given { values: given };
            params.robust_scale = RobustScale::First;
        });
        graph_of(&space(values.clone(), 2), params)
    };
    assert_eq!(with(given.clone()).unwrap().scales.values(), &given[..40]);
    assert!(matches!(with(vec![1.0; 3]), Err(Error::Length { expected: 41, received: 3, .. })));
    assert!(with(vec![0.0; 41]).is_err());
}

#[test]
fn bad_input_is_refused_with_its_numbers() {
    let one = space(vec![1.0, 2.0], 2);
    assert_eq!(
        graph_of(&one, Preset::Robust.params()).unwrap_err(),
        Error::TooFewPoints { needed: 15, distinct: 1 }
    );
    let equal = space(vec![3.0; 100], 2);
    assert_eq!(
        graph_of(&equal, Preset::Robust.params()).unwrap_err(),
        Error::TooFewPoints { needed: 15, distinct: 1 }
    );
    let few = space(random_values(10, 2, 1), 2);
    assert!(graph_of(&few, Preset::PaperLiteral.params()).is_ok());
    assert_eq!(
        graph_of(&few, Preset::Robust.params()).unwrap_err(),
        Error::TooFewPoints { needed: 15, distinct: 10 }
    );
    let graph = graph_of(&space(random_values(30, 2, 1), 2), Preset::Robust.params()).unwrap().graph;
    let clusters =
        |k| spectral_clustering(&graph, &ClusterParams::exactly(k), &Run::new(0)).map(|c| c.n_clusters());
    assert_eq!(clusters(31), Err(Error::TooManyClusters { clusters: 31, distinct: 30 }));
    assert!(matches!(clusters(0), Err(Error::Parameter { .. })));
    assert_eq!(clusters(1), Ok(1));
    assert_eq!(clusters(30), Ok(30));
}

#[test]
fn components_as_the_user_chooses() {
    // Three rings of 30.
    let ring = |first: u32| (0..30).map(move |i| (first + i, first + (i + 1) % 30));
    let edges = Edges::from_pairs(90, (0..3).flat_map(|r| ring(30 * r))).unwrap();
    let graph = SparseGraph::from_edges(&edges, &vec![1.0; edges.len()]).unwrap();
    let truth: Vec<u32> = (0..90).map(|i| i / 30).collect();
    let cluster = |components, clusters| {
        spectral_clustering(
            &graph,
            &ClusterParams::default().with(|params| {
                params.components = components;
                params.n_clusters = clusters;
            }),
            &Run::new(0),
        )
    };
    for components in [ComponentPolicy::Link, ComponentPolicy::Separately, ComponentPolicy::Joint] {
        let found = cluster(components, Some(3)).unwrap();
        assert_eq!(nmi(&truth, &found.labels).unwrap(), 1.0, "{components:?}");
        assert_eq!(found.n_components, 3);
    }
    assert_eq!(cluster(ComponentPolicy::Link, Some(3)).unwrap().links.len(), 2);
    let refused = cluster(ComponentPolicy::Refuse, Some(3));
    assert_eq!(refused.unwrap_err(), Error::Disconnected { components: 3 });
    for components in [ComponentPolicy::Separately, ComponentPolicy::Joint] {
        let too_few = cluster(components, Some(2)).unwrap_err();
        assert_eq!(too_few, Error::FewerClustersThanComponents { clusters: 2, components: 3 });
    }
    assert_eq!(cluster(ComponentPolicy::Link, Some(2)).unwrap().n_clusters(), 2);
    // Five clusters: no cluster spans two rings.
    let five = cluster(ComponentPolicy::Separately, Some(5)).unwrap();
    for label in 0..5u32 {
        let rings: Vec<u32> =
            (0..90u32).filter(|&i| five.labels[i as usize] == label).map(|i| i / 30).collect();
        assert!(!rings.is_empty() && rings.iter().all(|ring| *ring == rings[0]));
    }
    for components in [ComponentPolicy::Link, ComponentPolicy::Separately] {
        assert_eq!(cluster(components, None).unwrap().n_clusters(), 3, "{components:?}");
    }
}

#[test]
fn the_number_of_clusters_is_found() {
    let spirals = two_spirals(600, SpiralDensity::EvenLength, 1).unwrap();
    let cases = [
        (uneven_blobs(400, 5, 4, 3).unwrap(), 4),
        (spirals, 2),
        (moons(300, 0.04, 2).unwrap(), 2),
        (circles(300, 0.4, 0.02, 2).unwrap(), 2),
    ];
    for (data, expected) in cases {
        let d = data.points.n_columns();
        let robust = graph_of(&space(data.points.values().to_vec(), d), Preset::Robust.params()).unwrap();
        let found = spectral_clustering(&robust.graph, &ClusterParams::default(), &Run::new(0)).unwrap();
        assert_eq!(found.n_clusters(), expected, "{:?}", found.eigengap);
        assert_eq!(nmi(&data.labels, &found.labels).unwrap(), 1.0);
    }
}

#[test]
fn stability_tells_the_clear_from_the_doubtful() {
    let clear = uneven_blobs(200, 3, 3, 6).unwrap();
    let of = |values: Vec<f64>, d: usize, clusters: usize| {
        let params = Preset::Robust.params().check().unwrap();
        let run = Run::new(2);
        let robust = robust_graph(&space(values, d), &params, &run).unwrap();
        let cluster_params = ClusterParams::exactly(clusters).with(|params| params.stability = 8);
        let clustering = spectral_clustering(&robust.graph, &cluster_params, &run).unwrap();
        stability(&robust, &clustering, &cluster_params, None, &run).unwrap()
    };
    let stable = of(clear.points.values().to_vec(), 3, 3);
    assert!(stable.overall > 0.99 && stable.of_nodes.iter().all(|&share| share > 0.8), "{stable:?}");
    // Five clusters in one blob are arbitrary.
    let doubtful = of(random_values(200, 3, 6), 3, 5);
    assert!(doubtful.overall < 0.9, "{}", doubtful.overall);
    assert_eq!(doubtful.of_draws.len(), 8);
}

#[test]
fn too_little_memory_is_said_before_anything_is_allocated() {
    let points = space(random_values(100_000, 2, 1), 2);
    let run = Run::new(0).with_memory_limit(Some(2 << 20));
    let limit = 64 << 20;
    let table = random_values(3000, 200, 1);
    let refused = prepare(&table, 200, &PreparationParams::default(), &run);
    assert!(matches!(refused, Err(Error::Memory { stage: "prepare", .. })));
    for preset in [Preset::Robust, Preset::Paper] {
        let params = preset.params().check().unwrap();
        let refused = robust_graph(&points, &params, &run.with_memory_limit(Some(limit)));
        let Err(Error::Memory { needed, available, advice, .. }) = refused else { panic!("must refuse") };
        assert!(needed > available && advice.contains("points would fit"), "{advice}");
        let fits: usize = advice.split("about ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        assert!(memory_estimate(fits, RowSize::Columns(2, Precision::Double), &params).peak().1 <= limit);
        assert!(fits > 100 && fits < 100_000);
    }
    let params = Preset::Robust.params().check().unwrap();
    let graph = robust_graph(&points, &params, &Run::new(0)).unwrap().graph;
    assert!(matches!(
        spectral_clustering(&graph, &ClusterParams::exactly(5), &run),
        Err(Error::Memory { .. })
    ));
}

/// Memory depends on the entries, not on the columns.
#[test]
fn memory_of_sparse_points_follows_their_entries() {
    let points = |n_columns: u32, per_row: u32| {
        let columns = (0..5000).flat_map(|_| (0..per_row).map(|t| t * (n_columns / per_row))).collect();
        let offsets = (0..=5000).map(|row| row * u64::from(per_row)).collect();
        let values = random_values(5000, per_row as usize, 3);
        SparsePoints::new(n_columns as usize, offsets, columns, values).unwrap()
    };
    let params = Preset::Robust.params().check().unwrap();
    let needed = |points: &SparsePoints| {
        let bytes = memory_estimate(5000, RowSize::of_sparse(points), &params).peak().1;
        let space = Space::from_sparse(points.clone(), Metric::Cosine).unwrap();
        let run = Run::new(0).with_memory_limit(Some(bytes - 1));
        assert!(
            matches!(robust_graph(&space, &params, &run), Err(Error::Memory { needed, .. }) if needed == bytes)
        );
        bytes
    };
    let few = needed(&points(100, 10));
    assert_eq!(needed(&points(4_000_000_000, 10)), few);
    // Points and distinct copy, columns and values of each entry.
    assert!(needed(&points(1000, 100)) >= few + 2 * 12 * 5000 * 90);
}

/// Cancels after some number of checks, and counts the steps reported.
struct Impatient {
    questions: AtomicUsize,
    limit: usize,
    stages: std::sync::Mutex<Vec<(String, Option<u64>, u64)>>,
}

impl Progress for Impatient {
    fn stage(&self, name: &str, total: Option<u64>) {
        self.stages.lock().unwrap().push((name.to_string(), total, 0));
    }

    fn advance(&self, steps: u64) {
        self.stages.lock().unwrap().last_mut().unwrap().2 += steps;
    }

    fn canceled(&self) -> bool {
        self.questions.fetch_add(1, Ordering::Relaxed) >= self.limit
    }
}

#[test]
fn every_stage_reports_and_can_be_canceled() {
    let data = two_spirals(200, SpiralDensity::UniformAngle, 1).unwrap();
    let points = space(data.points.values().to_vec(), 2);
    let work = |preset: Preset, limit: usize| {
        let listener = Impatient { questions: 0.into(), limit, stages: Default::default() };
        let run = Run::new(1).with_progress(&listener);
        let result = robust_graph(&points, &preset.params().check().unwrap(), &run)
            .and_then(|robust| spectral_clustering(&robust.graph, &ClusterParams::exactly(2), &run));
        (result.map(|_| ()), listener.questions.into_inner(), listener.stages.into_inner().unwrap())
    };
    for preset in Preset::ALL {
        let (result, questions, stages) = work(preset, usize::MAX);
        result.unwrap();
        assert!(questions > 5 && stages.len() >= 3, "{stages:?}");
        for (name, total, steps) in &stages {
            assert!(total.is_none_or(|total| *steps == total), "{preset:?}, {name}: {steps} of {total:?}");
        }
        if preset == Preset::Paper {
            continue;
        }
        for limit in [0, 1, questions / 3, questions / 2, questions - 1] {
            assert_eq!(
                work(preset, limit).0,
                Err(Error::Canceled),
                "{preset:?} after {limit} of {questions}"
            );
        }
    }
    assert_eq!(work(Preset::Paper, 40).0, Err(Error::Canceled));
}

#[test]
fn values_out_of_range_are_refused_and_standardized_ones_are_not() {
    let data = uneven_blobs(120, 3, 2, 1).unwrap();
    for factor in [1e160, 1e-170] {
        let values: Vec<f64> = data.points.values().iter().map(|v| v * factor).collect();
        let refused = graph_of(&space(values.clone(), 3), Preset::Robust.params());
        assert!(matches!(refused, Err(Error::Numerical { .. })), "{factor}");
        let prepared = prepare(&values, 3, &PreparationParams::default(), &Run::new(0)).unwrap();
        let robust = graph_of(&space(prepared.points.values().to_vec(), 3), Preset::Robust.params()).unwrap();
        let found = spectral_clustering(&robust.graph, &ClusterParams::exactly(2), &Run::new(0)).unwrap();
        assert_eq!(nmi(&data.labels, &found.labels).unwrap(), 1.0, "{factor}");
    }
}

#[test]
fn many_components_are_many_clusters() {
    // Twenty rings of 20, with weights in any unit.
    let ring = |first: u32| (0..20).map(move |i| (first + i, first + (i + 1) % 20));
    let edges = Edges::from_pairs(400, (0..20).flat_map(|r| ring(20 * r))).unwrap();
    for (weight, laplacian) in [(1.0, LaplacianKind::Symmetric), (1e-9, LaplacianKind::Unnormalized)] {
        let graph = SparseGraph::from_edges(&edges, &vec![weight; edges.len()]).unwrap();
        for components in [ComponentPolicy::Link, ComponentPolicy::Joint, ComponentPolicy::Separately] {
            let params = ClusterParams::default().with(|params| {
                params.components = components;
                params.laplacian = laplacian;
            });
            let found = spectral_clustering(&graph, &params, &Run::new(0)).unwrap();
            assert_eq!(found.n_clusters(), 20, "{components:?}, {laplacian:?}");
        }
    }
    let most = ClusterParams::default().with(|params| params.max_clusters = Some(usize::MAX));
    let small = SparseGraph::from_edges(&Edges::all_pairs(10), &[1.0; 45]).unwrap();
    assert!(spectral_clustering(&small, &most, &Run::new(0)).is_ok());
    let huge = CandidatePairs::Neighbors { k: usize::MAX, symmetrize: Symmetrize::Union };
    let refused = graph_of(
        &space(random_values(30, 2, 1), 2),
        Preset::Robust.params().with(|params| params.candidates = huge),
    );
    assert!(matches!(refused, Err(Error::TooFewPoints { .. })));
}

#[test]
fn mutual_neighbors_are_fewer() {
    let points = space(random_values(100, 3, 8), 3);
    let of = |symmetrize| {
        let candidates = CandidatePairs::Neighbors { k: 15, symmetrize };
        graph_of(&points, Preset::Robust.params().with(|params| params.candidates = candidates))
            .unwrap()
            .stochastic
            .edges()
            .len()
    };
    assert!(of(Symmetrize::Mutual) < of(Symmetrize::Union));
}

/// Copies are attached to the row they equal; everything else is the graph of the distinct rows.
#[test]
fn the_graph_of_rows_holds_every_row() {
    let mut values = random_values(40, 2, 8);
    values.extend_from_within(20..24);
    values.extend_from_within(20..22);
    let robust = graph_of(&space(values, 2), Preset::Robust.params()).unwrap();
    let rows = robust.graph_of_rows();
    assert_eq!((rows.n_nodes(), robust.graph.n_nodes()), (43, 40));
    assert_eq!(rows.n_edges(), robust.graph.n_edges() + 3);
    for (copy, first) in [(40, 10), (41, 11), (42, 10)] {
        assert_eq!(rows.row(copy).collect::<Vec<_>>(), [(first, 1.0)]);
        assert_eq!(robust.row_edge(copy as u32, first), RowEdge::Copy);
    }
    for i in 0..40 {
        for (j, weight) in rows.row(i).filter(|&(j, _)| j < 40) {
            assert_eq!(robust.graph.weight(i, j as usize), Some(weight));
            let RowEdge::Candidate { probability, distance } = robust.row_edge(j, i as u32) else { continue };
            assert!(probability > 0.0 && distance > 0.0);
        }
    }
    let asymmetric = SparseGraph::new(rows.offsets().to_vec(), rows.ids().to_vec(), rows.weights().to_vec());
    assert!(asymmetric.is_ok());
}

/// The search already knows the distances of the candidates: they equal those of the metric, for any kind of search.
#[test]
fn edges_have_the_distances_of_the_space_to_the_bit() {
    for (d, metric) in [
        (2, Metric::Euclidean),
        (9, Metric::Euclidean),
        (9, Metric::Cosine),
        (3, Metric::Cosine),
        (4, Metric::Manhattan),
    ] {
        let points = Points::new(random_values(300, d, 5), d).unwrap();
        let space = Space::from_points(points, metric).unwrap();
        let robust = graph_of(&space, Preset::Robust.params()).unwrap();
        for ((i, j), &distance) in robust.stochastic.edges().iter().zip(&robust.distances) {
            let expected = space.distance(i as usize, j as usize);
            assert_eq!(distance.to_bits(), expected.to_bits(), "{metric:?}, {d} columns, {i} and {j}");
        }
    }
}
