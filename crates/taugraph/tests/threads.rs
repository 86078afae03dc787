//! The same seed gives the same bits on any number of threads.

use taugraph::cluster::{ClusterParams, spectral_clustering, stability};
use taugraph::distance::{DistanceMatrix, Metric};
use taugraph::generators::{LabeledPoints, SpiralDensity, add_noise, two_spirals, uneven_blobs};
use taugraph::neighbors::{SearchMethod, SearchParams, Space, UsedSearch};
use taugraph::params::{CandidatePairs, GraphParams, Preset};
use taugraph::points::{PreparationParams, SparsePoints, prepare};
use taugraph::progress::Run;
use taugraph::quantile::{
    AutoEncoder, Community, Estimator, Factorization, NonCrossing, Optimizer, Overlap, Schedule, Taus,
    TrainingPairs,
};
use taugraph::random::{Stage, Stream};
use taugraph::robust::robust_graph;
use taugraph::spectral::{EigenParams, EigenSolver, SolverChoice};

/// Every number of a whole run, as bits.
fn all_bits(data: &LabeledPoints, params: &GraphParams, clusters: usize, solver: SolverChoice) -> Vec<u64> {
    let run = Run::new(11);
    let d = data.points.n_columns();
    let prepared = prepare(data.points.values(), d, &PreparationParams::default(), &run).unwrap();
    let space = Space::from_points(prepared.points, Metric::Euclidean).unwrap();
    let params = params.clone().check().unwrap();
    let robust = robust_graph(&space, &params, &run).unwrap();
    let eigen = EigenParams::for_space().with(|params| params.solver = solver);
    let cluster_params = ClusterParams::exactly(clusters).with(|params| {
        params.eigen = eigen;
        params.stability = 2;
    });
    let clustering = spectral_clustering(&robust.graph, &cluster_params, &run).unwrap();
    let stable = stability(&robust, &clustering, &cluster_params, None, &run).unwrap();
    let embedding = clustering.embedding.unwrap();
    let mut bits: Vec<u64> = clustering.labels.iter().map(|&label| u64::from(label)).collect();
    for values in [
        robust.scales.values(),
        robust.stochastic.probabilities(),
        robust.graph.weights(),
        &embedding.coordinates,
        &embedding.eigenvalues,
        &stable.of_nodes,
        &stable.of_draws,
    ] {
        bits.extend(values.iter().map(|value| value.to_bits()));
    }
    bits
}

fn assert_same_on_all_threads(
    data: &LabeledPoints,
    params: &GraphParams,
    clusters: usize,
    solver: SolverChoice,
) {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| all_bits(data, params, clusters, solver))
    };
    let one = on(1);
    for threads in [2, 4] {
        assert!(on(threads) == one, "{threads} threads differ from one: {params:?}");
    }
}

/// Inverted lists, probing and samples, links between large groups, and pairs that are good enough for their space.
#[test]
fn approximate_neighbors() {
    let data = uneven_blobs(5000, 8, 6, 3).unwrap();
    let search = SearchParams::default().with(|params| {
        params.method = SearchMethod::Approximate;
        params.recall = 0.95;
    });
    let params = Preset::Robust.params().with(|params| params.search = search);
    let space = Space::from_points(data.points.clone(), Metric::Euclidean).unwrap();
    let graph = robust_graph(&space, &params.clone().check().unwrap(), &Run::new(11)).unwrap();
    assert!(matches!(graph.search.used, UsedSearch::Ivf { .. }), "{:?}", graph.search);
    assert_same_on_all_threads(&data, &params, 6, SolverChoice::Automatic);
}

#[test]
fn presets_on_spirals() {
    let clean = two_spirals(240, SpiralDensity::UniformAngle, 5).unwrap();
    let noisy = add_noise(&clean, 0.1, 0.5, 5).unwrap();
    for preset in Preset::ALL {
        let mut params = preset.params();
        if let Estimator::AutoEncoder(net) = &mut params.estimator {
            net.schedule = Schedule::Steps { steps: 30, min_epochs: 0, constant: 0.5, last_rate: 0.1 };
        }
        assert_same_on_all_threads(&noisy, &params, 2, SolverChoice::Automatic);
    }
}

#[test]
fn trained_estimators() {
    let data = two_spirals(200, SpiralDensity::UniformAngle, 6).unwrap();
    let schedule = Schedule::Steps { steps: 6, min_epochs: 0, constant: 0.5, last_rate: 0.1 };
    let short = AutoEncoder::default().with(|params| params.schedule = schedule);
    let sparse = Preset::Robust.params().candidates;
    let sampled = TrainingPairs::Sampled { per_edge: 1.0 };
    for (estimator, candidates) in [
        (
            Estimator::AutoEncoder(
                short.clone().with(|params| params.optimizer = Optimizer::Lbfgs { memory: 5 }),
            ),
            sparse,
        ),
        (
            Estimator::AutoEncoder(short.clone().with(|params| params.non_crossing = NonCrossing::Joint)),
            sparse,
        ),
        (
            Estimator::AutoEncoder(AutoEncoder::linear(10).with(|params| params.schedule = schedule)),
            CandidatePairs::All,
        ),
        (
            Estimator::Factorization(Factorization::default().with(|params| params.rank = 10)),
            CandidatePairs::All,
        ),
        (
            Estimator::Factorization(Factorization::default().with(|params| {
                params.rank = 10;
                params.pairs = sampled;
            })),
            sparse,
        ),
        (Estimator::AutoEncoder(short.clone().with(|params| params.pairs = sampled)), sparse),
        (
            Estimator::AutoEncoder(short.clone().with(|params| {
                params.pairs = sampled;
                params.hidden = vec![24, 8];
                params.optimizer = Optimizer::Lbfgs { memory: 5 };
            })),
            sparse,
        ),
        (
            Estimator::AutoEncoder(short.clone().with(|params| {
                params.pairs = sampled;
                params.non_crossing = NonCrossing::Joint;
            })),
            sparse,
        ),
        (Estimator::Community(Community::default()), sparse),
        (Estimator::Overlap(Overlap::default().with(|params| params.pool = 12)), sparse),
    ] {
        let params = Preset::Paper.params().with(|params| {
            params.estimator = estimator;
            params.candidates = candidates;
        });
        assert_same_on_all_threads(&data, &params, 2, SolverChoice::Automatic);
    }
}

#[test]
fn large_enough_for_every_parallel_path() {
    let blobs = uneven_blobs(5000, 9, 6, 2).unwrap();
    let spirals = two_spirals(5000, SpiralDensity::EvenLength, 2).unwrap();
    for solver in [EigenSolver::Lanczos, EigenSolver::Multigrid, EigenSolver::Chebyshev] {
        assert_same_on_all_threads(&blobs, &Preset::Robust.params(), 6, SolverChoice::Only(solver));
    }
    assert_same_on_all_threads(
        &spirals,
        &Preset::Robust.params(),
        2,
        SolverChoice::Only(EigenSolver::ShiftInvert),
    );
}

/// More rows than a batch, more nodes than a chunk, vectors longer than a chunk.
#[test]
fn sampled_training_in_many_chunks() {
    let blobs = uneven_blobs(3000, 5, 4, 7).unwrap();
    let sampled = TrainingPairs::Sampled { per_edge: 1.0 };
    let taus = Taus::new(vec![0.3, 0.7]).unwrap();
    for estimator in [
        Estimator::AutoEncoder(AutoEncoder::default().with(|params| {
            params.pairs = sampled;
            params.schedule = Schedule::Steps { steps: 40, min_epochs: 0, constant: 0.5, last_rate: 0.1 };
        })),
        Estimator::Factorization(Factorization::default().with(|params| {
            params.pairs = sampled;
            params.max_iterations = 4;
        })),
    ] {
        let params = Preset::Robust.params().with(|params| {
            params.estimator = estimator;
            params.taus = taus.clone();
        });
        assert_same_on_all_threads(&blobs, &params, 4, SolverChoice::Automatic);
    }
}

/// Preparation with principal components, and every kind of space.
#[test]
fn other_spaces() {
    let blobs = uneven_blobs(400, 30, 4, 3).unwrap();
    let params = Preset::Robust.params().check().unwrap();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let run = Run::new(4);
            let preparation = PreparationParams::default().with(|params| params.pca = Some(5));
            let points = prepare(blobs.points.values(), 30, &preparation, &run).unwrap().points;
            let mut bits: Vec<u64> = points.values().iter().map(|value| value.to_bits()).collect();
            let wide = || blobs.points.clone();
            let city = Space::from_points(wide(), Metric::Manhattan).unwrap();
            let n = wide().len();
            let all = (0..n * n).map(|at| city.distance(at / n, at % n)).collect();
            for space in [
                Space::from_points(points, Metric::Euclidean).unwrap(),
                Space::from_points(wide(), Metric::Cosine).unwrap(),
                Space::Distances(DistanceMatrix::new(all, n).unwrap()),
                city,
            ] {
                let graph = robust_graph(&space, &params, &run).unwrap().graph;
                bits.extend(graph.ids().iter().map(|&id| u64::from(id)));
                bits.extend(graph.weights().iter().map(|weight| weight.to_bits()));
            }
            bits
        })
    };
    let one = on(1);
    assert!(on(2) == one && on(4) == one);
}

/// Several chunks of work and tiles of the sparse search; rare columns leave several components, which are linked.
#[test]
fn sparse_points() {
    let n = 9000;
    let mut draws = Stream::new(3, Stage::Generator).at(0, 0);
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..n {
        let own = 400 * (row % 5);
        let mut of_row: Vec<u32> = (0..12).map(|_| (own + draws.below(400)) as u32).collect();
        of_row.sort_unstable();
        of_row.dedup();
        values.extend(of_row.iter().map(|_| 0.5 + draws.uniform()));
        columns.extend(of_row);
        offsets.push(values.len() as u64);
    }
    let points = SparsePoints::new(2000, offsets, columns, values).unwrap();
    let params = Preset::Robust.params().check().unwrap();
    for metric in [Metric::Cosine, Metric::Euclidean] {
        let space = Space::from_sparse(points.clone(), metric).unwrap();
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let robust = pool.install(|| robust_graph(&space, &params, &Run::new(4)).unwrap());
            let mut bits: Vec<u64> = robust.graph.ids().iter().map(|&id| u64::from(id)).collect();
            bits.extend(robust.graph.weights().iter().map(|weight| weight.to_bits()));
            bits.extend(robust.distances.iter().map(|distance| distance.to_bits()));
            (bits, robust.links.len())
        };
        let one = on(1);
        // Rows without a common word are equally far apart by the cosine; by Euclidean distance short rows are close to all.
        assert!(metric == Metric::Euclidean || one.1 >= 4, "{} links", one.1);
        assert!(on(2) == one && on(4) == one, "{metric:?}");
    }
}
