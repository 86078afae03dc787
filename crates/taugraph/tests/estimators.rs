//! One contract for every quantile estimator, then what is particular to each.

use taugraph::affinity::{AffinityKind, Similarities};
use taugraph::distance::Metric;
use taugraph::edges::{Edges, Symmetrize};
use taugraph::error::Error;
use taugraph::generators::{SpiralDensity, two_spirals};
use taugraph::neighbors::{NeighborGraph, Space, nearest_neighbors};
use taugraph::params::{CandidatePairs, Preset};
use taugraph::points::Points;
use taugraph::progress::Run;
use taugraph::quantile::loss::Loss;
use taugraph::quantile::{
    Activation, AutoEncoder, Biases, Community, DecoderWeights, Estimator, Factorization, Initialization,
    KeepReconstructions, Neighborhood, NonCrossing, Optimizer, Overlap, PoolStatistic, ProblemSize, Product,
    Quantiles, Schedule, StartOfTau, StopReason, Taus, TrainingPairs, crossing_rate,
};
use taugraph::robust::robust_graph;
use taugraph::scale::{FirstScale, LocalScales, first_scales};

/// Spirals, their neighbors and scales; candidates are chosen by each test.
pub(crate) struct Problem {
    space: Space,
    pub(crate) neighbors: NeighborGraph,
    scales: LocalScales,
}

impl Problem {
    pub(crate) fn new(n: usize) -> Self {
        let data = two_spirals(n, SpiralDensity::UniformAngle, 3).unwrap();
        let space = Space::from_points(data.points, Metric::Euclidean).unwrap();
        let neighbors = nearest_neighbors(&space, 15, &Run::new(0)).unwrap();
        let scales = first_scales(&neighbors, &FirstScale::KthNeighbor { k: 7 }, 0.25).unwrap();
        Self { space, neighbors, scales }
    }

    pub(crate) fn all(&self) -> Edges {
        Edges::all_pairs(self.space.len())
    }

    fn sparse(&self) -> Edges {
        Edges::from_neighbors(&self.neighbors, 15, Symmetrize::Union)
    }

    /// The estimate, and the similarities it was made from.
    pub(crate) fn estimate(
        &self,
        edges: &Edges,
        estimator: &Estimator,
        taus: &Taus,
    ) -> Result<(Quantiles, Vec<f64>), Error> {
        let distances = edges.map(|_, i, j| self.space.distance(i as usize, j as usize));
        let kind = AffinityKind::SquaredDistance;
        let similarities =
            Similarities::new(&self.space, &self.neighbors, &self.scales, kind, edges, &distances);
        estimator.check()?;
        let quantiles = estimator.as_dyn().estimate(&similarities, taus, 0.2, &Run::new(5))?;
        Ok((quantiles, similarities.values().to_vec()))
    }
}

const SAMPLED: TrainingPairs = TrainingPairs::Sampled { per_edge: 1.0 };
/// More non-edges than there are.
const EVERY: TrainingPairs = TrainingPairs::Sampled { per_edge: 1e6 };

/// So many epochs or iterations, unless the loss stops falling before.
fn until(max_epochs: usize) -> Schedule {
    Schedule::UntilConverged { max_epochs, tolerance: 1e-3, patience: 10 }
}

pub(crate) fn steps(steps: usize) -> Schedule {
    Schedule::Steps { steps, min_epochs: 0, constant: 0.5, last_rate: 0.02 }
}

/// Rows are their own targets.
fn quick_net() -> AutoEncoder {
    AutoEncoder::literal().with(|params| {
        params.hidden = vec![12];
        params.schedule = until(30);
    })
}

/// Rows predict those of their neighbors.
fn neighbor_net() -> AutoEncoder {
    AutoEncoder::default().with(|params| {
        params.hidden = vec![12];
        params.schedule = steps(25);
        params.start_of_tau = StartOfTau::Common { steps: 20 };
    })
}

fn linear_net(rank: usize, max_epochs: usize) -> AutoEncoder {
    AutoEncoder::linear(rank).with(|params| {
        params.target_neighbors = 0;
        params.start_of_tau = StartOfTau::Warm;
        params.schedule = until(max_epochs);
    })
}

/// Without rearrangement, which would put any values in the right order.
fn as_they_come() -> AutoEncoder {
    AutoEncoder::literal().with(|params| params.non_crossing = NonCrossing::Leave)
}

/// One estimator that knows the persistence and one that derives it from reconstructions.
fn together() -> Estimator {
    let parts = [Estimator::Overlap(Overlap::default().with(|params| params.pool = 10)), Estimator::Identity];
    Estimator::Product(Product::of(parts.to_vec()))
}

fn every_estimator() -> Vec<Estimator> {
    let net = quick_net;
    vec![
        Estimator::Neighborhood(
            Neighborhood::default().with(|params| params.reconstructions = KeepReconstructions::Yes),
        ),
        Estimator::Neighborhood(
            Neighborhood::default().with(|params| params.statistic = PoolStatistic::Mean),
        ),
        Estimator::AutoEncoder(net()),
        Estimator::AutoEncoder(net().with(|params| params.optimizer = Optimizer::Lbfgs { memory: 6 })),
        Estimator::AutoEncoder(net().with(|params| {
            params.optimizer = Optimizer::Sgd { learning_rate: 0.01, momentum: 0.9, batch: 20 }
        })),
        Estimator::AutoEncoder(net().with(|params| {
            params.activation = Activation::Tanh;
            params.loss = Loss::Check;
        })),
        Estimator::AutoEncoder(net().with(|params| {
            params.activation = Activation::Relu;
            params.initialization = Initialization::Random;
        })),
        Estimator::AutoEncoder(net().with(|params| {
            params.hidden = vec![20, 8];
            params.start_of_tau = StartOfTau::Fresh;
        })),
        Estimator::AutoEncoder(net().with(|params| {
            params.decoder = DecoderWeights::Free;
            params.biases = Biases::No;
        })),
        Estimator::AutoEncoder(net().with(|params| {
            params.weight_decay = 1e-3;
            params.code_sparsity = 1e-3;
        })),
        Estimator::AutoEncoder(net().with(|params| params.non_crossing = NonCrossing::Joint)),
        Estimator::AutoEncoder(linear_net(12, 30)),
        Estimator::AutoEncoder(neighbor_net()),
        Estimator::AutoEncoder(neighbor_net().with(|params| params.pairs = SAMPLED)),
        Estimator::AutoEncoder(neighbor_net().with(|params| params.non_crossing = NonCrossing::Joint)),
        Estimator::AutoEncoder(neighbor_net().with(|params| params.hidden = vec![20, 8])),
        Estimator::AutoEncoder(neighbor_net().with(|params| {
            params.optimizer = Optimizer::Lbfgs { memory: 6 };
            params.target_neighbors = 3;
        })),
        Estimator::Factorization(Factorization::default().with(|params| {
            params.rank = 12;
            params.pairs = TrainingPairs::All;
        })),
        Estimator::Factorization(Factorization::default().with(|params| {
            params.rank = 12;
            params.pairs = SAMPLED;
        })),
        Estimator::AutoEncoder(net().with(|params| params.pairs = SAMPLED)),
        Estimator::AutoEncoder(net().with(|params| {
            params.pairs = SAMPLED;
            params.optimizer = Optimizer::Lbfgs { memory: 6 };
        })),
        Estimator::AutoEncoder(net().with(|params| {
            params.pairs = SAMPLED;
            params.hidden = vec![20, 8];
        })),
        Estimator::AutoEncoder(net().with(|params| {
            params.pairs = SAMPLED;
            params.non_crossing = NonCrossing::Joint;
        })),
        Estimator::AutoEncoder(linear_net(12, 30).with(|params| params.pairs = SAMPLED)),
        Estimator::Overlap(Overlap::default().with(|params| params.pool = 10)),
        Estimator::Community(Community::default()),
        together(),
        Estimator::Identity,
        Estimator::Constant,
    ]
}

#[test]
fn the_contract_holds_for_every_estimator_on_all_and_on_sparse_candidates() {
    let problem = Problem::new(80);
    let taus = Taus::new(vec![0.2, 0.5, 0.8]).unwrap();
    for edges in [problem.all(), problem.sparse()] {
        for estimator in every_estimator() {
            let (quantiles, similarities) = problem.estimate(&edges, &estimator, &taus).unwrap();
            assert_eq!(quantiles.taus, taus);
            assert!(quantiles.reconstructions.is_some() || quantiles.persistence.is_some(), "{estimator:?}");
            if let Some(values) = &quantiles.reconstructions {
                assert_eq!(values.len(), similarities.len() * 3);
                assert!(values.iter().all(|value| value.is_finite()), "{estimator:?}");
                assert_eq!(crossing_rate(values, 3), 0.0, "{estimator:?}");
            }
            if let Some(persistence) = &quantiles.persistence {
                assert_eq!(persistence.len(), similarities.len());
                assert!(persistence.iter().all(|p| (0.0..=1.0).contains(p)), "{estimator:?}");
            }
            // Later quantiles start at the solution of the previous one, with hardly anything left to gain.
            if let Some(training) = quantiles.training.first() {
                let (first, last) = (training.losses[0], *training.losses.last().unwrap());
                assert!(last < first, "{estimator:?}: {first} to {last}");
            }
            let size = ProblemSize { n_nodes: 80, n_edges: edges.len() as u64, n_taus: 3 };
            assert!(estimator.as_dyn().bytes(size) >= 8 * edges.len() as u64);
        }
    }
}

/// The product of two persistences: that of shared neighbors, and 0.8 if the similarity exceeds 0.2 at every τ.
#[test]
fn persistences_multiply() {
    let problem = Problem::new(80);
    let taus = Taus::new(vec![0.2, 0.5, 0.8]).unwrap();
    let edges = problem.sparse();
    let (of_both, similarities) = problem.estimate(&edges, &together(), &taus).unwrap();
    let overlap = Estimator::Overlap(Overlap::default().with(|params| params.pool = 10));
    let shared = problem.estimate(&edges, &overlap, &taus).unwrap().0.persistence.unwrap();
    let both = of_both.persistence.unwrap();
    assert!(similarities.iter().any(|&w| w > 0.2) && similarities.iter().any(|&w| w <= 0.2));
    for ((both, shared), similarity) in both.iter().zip(shared).zip(similarities) {
        assert_eq!(*both, shared * if similarity > 0.2 { 0.8 } else { 0.0 });
    }
    let none = Estimator::Product(Product::of(Vec::new()));
    assert!(matches!(none.check(), Err(Error::Parameter { .. })));
}

#[test]
fn a_wide_net_reconstructs_and_a_higher_tau_lies_lower() {
    let problem = Problem::new(100);
    let edges = problem.all();
    let taus = Taus::new(vec![0.1, 0.5, 0.9]).unwrap();
    for estimator in [
        Estimator::AutoEncoder(as_they_come().with(|params| params.hidden = vec![60])),
        Estimator::AutoEncoder(linear_net(60, 200).with(|params| params.non_crossing = NonCrossing::Leave)),
    ] {
        let (quantiles, similarities) = problem.estimate(&edges, &estimator, &taus).unwrap();
        let values = quantiles.reconstructions.unwrap();
        let share_below = |t: usize| {
            let below = similarities
                .iter()
                .zip(values.chunks_exact(3))
                .filter(|(w, of_edge)| of_edge[t] < **w)
                .count();
            below as f64 / similarities.len() as f64
        };
        let error =
            similarities.iter().zip(values.chunks_exact(3)).map(|(w, v)| (w - v[1]).abs()).sum::<f64>()
                / similarities.len() as f64;
        assert!(error < 0.02, "{estimator:?}: mean error {error}");
        assert!(share_below(0) < share_below(2), "{estimator:?}: {} and {}", share_below(0), share_below(2));
    }
}

#[test]
fn networks_trained_apart_cross_and_joint_ones_do_not() {
    let problem = Problem::new(80);
    let taus = Taus::default();
    let of = |non_crossing| {
        let net = quick_net().with(|params| params.non_crossing = non_crossing);
        problem.estimate(&problem.all(), &Estimator::AutoEncoder(net), &taus).unwrap().0
    };
    let apart = of(NonCrossing::Leave);
    assert!(apart.crossing_rate.unwrap() > 0.1);
    assert_eq!(crossing_rate(&apart.reconstructions.unwrap(), 9), apart.crossing_rate.unwrap());
    assert_eq!(of(NonCrossing::Joint).crossing_rate, Some(0.0));
    assert_eq!(of(NonCrossing::Joint).training.len(), 1);
    assert_eq!(of(NonCrossing::Rearrange).training.len(), 9);
}

#[test]
fn the_factorization_beats_the_linear_net_at_its_own_loss() {
    // Both minimize the same quantile Huber loss over linear models of one rank; the factorization is symmetric.
    let problem = Problem::new(120);
    let taus = Taus::new(vec![0.3, 0.7]).unwrap();
    let last = |estimator| -> Vec<f64> {
        let (quantiles, _) = problem.estimate(&problem.all(), &estimator, &taus).unwrap();
        quantiles.training.iter().map(|training| *training.losses.last().unwrap()).collect()
    };
    let linear = linear_net(15, 300).with(|params| params.weight_decay = 0.0);
    let net = last(Estimator::AutoEncoder(linear));
    let factorization =
        last(Estimator::Factorization(Factorization::literal().with(|params| params.rank = 15)));
    for (net, factorization) in net.iter().zip(&factorization) {
        assert!(factorization < &(1.1 * net), "{factorization} against {net}");
    }
}

#[test]
fn stops_have_reasons_and_bad_parameters_are_refused() {
    let problem = Problem::new(60);
    let taus = Taus::new(vec![0.5]).unwrap();
    let stop = |net: AutoEncoder| {
        problem.estimate(&problem.all(), &Estimator::AutoEncoder(net), &taus).unwrap().0.training[0].stop
    };
    assert_eq!(stop(quick_net().with(|params| params.schedule = until(2))), StopReason::IterationLimit);
    let easy = Schedule::UntilConverged { max_epochs: 200, tolerance: 0.5, patience: 10 };
    assert_eq!(stop(quick_net().with(|params| params.schedule = easy)), StopReason::Converged);
    assert_eq!(stop(neighbor_net()), StopReason::Completed);
    let wild = Optimizer::Sgd { learning_rate: 1e12, momentum: 0.9, batch: 10 };
    let diverging = quick_net().with(|params| {
        params.optimizer = wild;
        params.activation = Activation::Identity;
        params.schedule = until(100);
    });
    let error = problem.estimate(&problem.all(), &Estimator::AutoEncoder(diverging), &taus);
    assert!(matches!(error, Err(Error::Diverged { tau: Some(0.5), .. })));
    for bad in [
        quick_net().with(|params| params.hidden = vec![0]),
        quick_net().with(|params| params.loss = Loss::Huber { kappa: 0.0 }),
        quick_net().with(|params| params.schedule = until(0)),
        quick_net().with(|params| params.schedule = steps(0)),
        neighbor_net().with(|params| params.start_of_tau = StartOfTau::Common { steps: 0 }),
        // More than the neighbors that are known.
        neighbor_net().with(|params| params.target_neighbors = 16),
        quick_net().with(|params| params.weight_decay = f64::NAN),
        quick_net().with(|params| params.optimizer = Optimizer::Adam { learning_rate: -1.0, batch: 10 }),
        quick_net().with(|params| params.optimizer = Optimizer::Lbfgs { memory: 0 }),
    ] {
        let refused = problem.estimate(&problem.all(), &Estimator::AutoEncoder(bad.clone()), &taus);
        assert!(matches!(refused, Err(Error::Parameter { .. })), "{bad:?}");
    }
    let negative = TrainingPairs::Sampled { per_edge: -1.0 };
    let refused = Estimator::AutoEncoder(quick_net().with(|params| params.pairs = negative));
    assert!(matches!(refused.check(), Err(Error::Parameter { .. })));
    let refused = Estimator::Factorization(Factorization::default().with(|params| params.pairs = negative));
    assert!(matches!(refused.check(), Err(Error::Parameter { .. })));
    for bad in [
        Factorization::default().with(|params| params.rank = 0),
        Factorization::default().with(|params| params.kappa = -1.0),
    ] {
        assert!(problem.estimate(&problem.all(), &Estimator::Factorization(bad), &taus).is_err());
    }
}

/// The dense training is the oracle of the sampled one, from the first weights to the reconstructions.
#[test]
fn with_every_non_edge_sampled_training_is_the_dense_one() {
    let problem = Problem::new(60);
    let taus = Taus::new(vec![0.3, 0.7]).unwrap();
    let short = || quick_net().with(|params| params.schedule = until(4));
    let neighbors = || neighbor_net().with(|params| params.schedule = steps(7));
    let nets = [
        short(),
        short().with(|params| params.optimizer = Optimizer::Lbfgs { memory: 5 }),
        short().with(|params| params.hidden = vec![16, 6]),
        short().with(|params| params.non_crossing = NonCrossing::Joint),
        linear_net(8, 4),
        neighbors(),
        neighbors().with(|params| params.optimizer = Optimizer::Lbfgs { memory: 5 }),
        neighbors().with(|params| params.non_crossing = NonCrossing::Joint),
    ];
    let mut cases: Vec<[Estimator; 2]> = Vec::new();
    for net in nets {
        let with = |pairs| Estimator::AutoEncoder(net.clone().with(|params| params.pairs = pairs));
        cases.push([with(TrainingPairs::All), with(EVERY)]);
    }
    for target_neighbors in [0, 5] {
        let with = |pairs| {
            Estimator::Factorization(Factorization::default().with(|params| {
                params.rank = 8;
                params.max_iterations = 5;
                params.pairs = pairs;
                params.target_neighbors = target_neighbors;
            }))
        };
        cases.push([with(TrainingPairs::All), with(EVERY)]);
    }
    for [dense, sampled] in cases {
        let (dense, _) = problem.estimate(&problem.sparse(), &dense, &taus).unwrap();
        let (all_sampled, _) = problem.estimate(&problem.sparse(), &sampled, &taus).unwrap();
        // They differ only by rounding, which training magnifies a little.
        let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-8 * a.abs().max(1.0);
        for (dense, sampled) in dense.training.iter().zip(&all_sampled.training) {
            assert_eq!(dense.losses.len(), sampled.losses.len());
            assert!(dense.losses.iter().zip(&sampled.losses).all(close), "{dense:?} and {sampled:?}");
        }
        let (dense, all_sampled) = (dense.reconstructions.unwrap(), all_sampled.reconstructions.unwrap());
        assert!(dense.iter().zip(&all_sampled).all(close), "{sampled:?}");
    }
}

#[test]
fn samples_follow_the_seed() {
    let problem = Problem::new(120);
    let taus = Taus::new(vec![0.5]).unwrap();
    let edges = problem.sparse();
    let distances = edges.map(|_, i, j| problem.space.distance(i as usize, j as usize));
    let kind = AffinityKind::SquaredDistance;
    let similarities =
        Similarities::new(&problem.space, &problem.neighbors, &problem.scales, kind, &edges, &distances);
    for estimator in [
        Estimator::AutoEncoder(quick_net().with(|params| params.pairs = SAMPLED)),
        Estimator::Factorization(Factorization::default().with(|params| {
            params.rank = 12;
            params.pairs = SAMPLED;
        })),
    ] {
        let of = |seed| {
            let made = estimator.as_dyn().estimate(&similarities, &taus, 0.2, &Run::new(seed)).unwrap();
            made.reconstructions.unwrap()
        };
        assert_eq!(of(1), of(1), "{estimator:?}");
        assert_ne!(of(1), of(2), "{estimator:?}");
    }
}

/// Two points, three points, points without any candidate, and candidates that leave no non-edge.
#[test]
fn sampled_training_takes_the_smallest_inputs() {
    let taus = Taus::new(vec![0.5]).unwrap();
    for n in [2, 3, 6] {
        let points = Points::new((0..n).map(|i| f64::from(i * i)).collect(), 1).unwrap();
        let space = Space::from_points(points, Metric::Euclidean).unwrap();
        let neighbors = nearest_neighbors(&space, 1, &Run::new(0)).unwrap();
        let scales = first_scales(&neighbors, &FirstScale::KthNeighbor { k: 1 }, 0.25).unwrap();
        let problem = Problem { space, neighbors, scales };
        let some = Edges::from_neighbors(&problem.neighbors, 1, Symmetrize::Union);
        let none = Edges::from_pairs(n as usize, []).unwrap();
        for edges in [problem.all(), some, none] {
            for estimator in [
                Estimator::AutoEncoder(quick_net().with(|params| params.pairs = SAMPLED)),
                Estimator::AutoEncoder(neighbor_net().with(|params| {
                    params.pairs = SAMPLED;
                    params.target_neighbors = 1;
                })),
                Estimator::Factorization(Factorization::literal().with(|params| params.pairs = SAMPLED)),
            ] {
                let (quantiles, _) = problem.estimate(&edges, &estimator, &taus).unwrap();
                let values = quantiles.reconstructions.unwrap();
                assert_eq!(values.len(), edges.len());
                assert!(values.iter().all(|value| value.is_finite()), "{n} points: {estimator:?}");
            }
        }
    }
}

/// Copies have been merged when the training begins.
#[test]
fn duplicates_do_not_reach_sampled_training() {
    let once = two_spirals(60, SpiralDensity::UniformAngle, 4).unwrap().points;
    let twice = Points::new(once.values().to_vec().repeat(2), 2).unwrap();
    let candidates = CandidatePairs::Neighbors { k: 10, symmetrize: Symmetrize::Union };
    for estimator in [
        Estimator::AutoEncoder(quick_net().with(|params| params.pairs = SAMPLED)),
        Estimator::Factorization(Factorization::default().with(|params| params.pairs = SAMPLED)),
    ] {
        let params = Preset::Robust
            .params()
            .with(|params| {
                params.candidates = candidates;
                params.estimator = estimator;
            })
            .check()
            .unwrap();
        let of = |points: &Points| {
            let space = Space::from_points(points.clone(), Metric::Euclidean).unwrap();
            robust_graph(&space, &params, &Run::new(1)).unwrap()
        };
        assert_eq!(of(&once).graph, of(&twice).graph);
    }
}

/// Small inputs and complete ones are trained on all pairs; a sample is drawn if it is a small part of them.
#[test]
fn the_automatic_choice_is_the_cheaper_one() {
    let taus = Taus::new(vec![0.5]).unwrap();
    let of = |problem: &Problem, edges: &Edges, pairs| {
        let net = quick_net().with(|params| {
            params.pairs = pairs;
            params.schedule = until(2);
        });
        problem.estimate(edges, &Estimator::AutoEncoder(net), &taus).unwrap().0
    };
    let small = Problem::new(80);
    for edges in [small.all(), small.sparse()] {
        let (automatic, all) =
            (of(&small, &edges, TrainingPairs::Automatic), of(&small, &edges, TrainingPairs::All));
        assert_eq!(automatic, all);
    }
    let large = Problem::new(3000);
    let edges = large.sparse();
    assert_eq!(of(&large, &edges, TrainingPairs::Automatic), of(&large, &edges, SAMPLED));
}
