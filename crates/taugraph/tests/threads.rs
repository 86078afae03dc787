//! The same seed gives the same bits on any number of threads.

use taugraph::cluster::{ClusterParams, StabilityParams, spectral_clustering, stability};
use taugraph::distance::{DistanceMatrix, Metric};
use taugraph::generators::{LabeledPoints, SpiralDensity, add_noise, two_spirals, uneven_blobs};
use taugraph::neighbors::Space;
use taugraph::params::{CandidatePairs, GraphParams, Preset};
use taugraph::points::{PreparationParams, prepare};
use taugraph::progress::Run;
use taugraph::quantile::{
    AutoEncoder, Community, Estimator, Factorization, NonCrossing, Optimizer, Overlap, Taus, TrainingPairs,
};
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
    let eigen = EigenParams { solver, ..EigenParams::default() };
    let cluster_params = ClusterParams { eigen, ..ClusterParams::exactly(clusters) };
    let clustering = spectral_clustering(&robust.graph, &cluster_params, &run).unwrap();
    let draws = StabilityParams { draws: 2 };
    let stable = stability(&robust, &params, &clustering, &cluster_params, &draws, &run).unwrap();
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

#[test]
fn presets_on_spirals() {
    let clean = two_spirals(240, SpiralDensity::UniformAngle, 5).unwrap();
    let noisy = add_noise(&clean, 0.1, 0.5, 5).unwrap();
    for preset in Preset::ALL {
        let mut params = preset.params();
        if let Estimator::AutoEncoder(net) = &mut params.estimator {
            net.max_epochs = 15;
        }
        assert_same_on_all_threads(&noisy, &params, 2, SolverChoice::Automatic);
    }
}

#[test]
fn trained_estimators() {
    let data = two_spirals(200, SpiralDensity::UniformAngle, 6).unwrap();
    let short = AutoEncoder { max_epochs: 6, ..AutoEncoder::default() };
    let sparse = Preset::Robust.params().candidates;
    let sampled = TrainingPairs::Sampled { per_edge: 1.0 };
    for (estimator, candidates) in [
        (
            Estimator::AutoEncoder(AutoEncoder {
                optimizer: Optimizer::Lbfgs { memory: 5 },
                ..short.clone()
            }),
            sparse,
        ),
        (Estimator::AutoEncoder(AutoEncoder { non_crossing: NonCrossing::Joint, ..short.clone() }), sparse),
        (
            Estimator::AutoEncoder(AutoEncoder { max_epochs: 6, ..AutoEncoder::linear(10) }),
            CandidatePairs::All,
        ),
        (Estimator::Factorization(Factorization { rank: 10, ..Default::default() }), CandidatePairs::All),
        (Estimator::Factorization(Factorization { rank: 10, pairs: sampled, ..Default::default() }), sparse),
        (Estimator::AutoEncoder(AutoEncoder { pairs: sampled, ..short.clone() }), sparse),
        (
            Estimator::AutoEncoder(AutoEncoder {
                pairs: sampled,
                hidden: vec![24, 8],
                optimizer: Optimizer::Lbfgs { memory: 5 },
                ..short.clone()
            }),
            sparse,
        ),
        (
            Estimator::AutoEncoder(AutoEncoder {
                pairs: sampled,
                non_crossing: NonCrossing::Joint,
                ..short.clone()
            }),
            sparse,
        ),
        (Estimator::Community(Community::default()), sparse),
        (Estimator::Overlap(Overlap { pool: 12 }), sparse),
    ] {
        let params = GraphParams { estimator, candidates, ..Preset::Paper.params() };
        assert_same_on_all_threads(&data, &params, 2, SolverChoice::Automatic);
    }
}

#[test]
fn large_enough_for_every_parallel_path() {
    let blobs = uneven_blobs(5000, 9, 6, 2).unwrap();
    let spirals = two_spirals(5000, SpiralDensity::EvenLength, 2).unwrap();
    for solver in [EigenSolver::Lanczos, EigenSolver::Chebyshev] {
        assert_same_on_all_threads(&blobs, &Preset::Robust.params(), 6, SolverChoice::Only(solver));
    }
    assert_same_on_all_threads(
        &spirals,
        &Preset::Robust.params(),
        2,
        SolverChoice::Only(EigenSolver::ShiftInvert),
    );
}

/// More rows than a batch, more nodes than a piece, vectors longer than a chunk.
#[test]
fn sampled_training_in_many_pieces() {
    let blobs = uneven_blobs(3000, 5, 4, 7).unwrap();
    let sampled = TrainingPairs::Sampled { per_edge: 1.0 };
    let taus = Taus::new(vec![0.3, 0.7]).unwrap();
    for estimator in [
        Estimator::AutoEncoder(AutoEncoder { pairs: sampled, max_epochs: 3, ..AutoEncoder::default() }),
        Estimator::Factorization(Factorization { pairs: sampled, max_iterations: 4, ..Default::default() }),
    ] {
        let params = GraphParams { estimator, taus: taus.clone(), ..Preset::Robust.params() };
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
            let preparation = PreparationParams { pca: Some(5), ..PreparationParams::default() };
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
