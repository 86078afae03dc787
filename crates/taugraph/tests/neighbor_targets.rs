//! What the trained estimators learn when rows predict those of their neighbors.

use taugraph::quantile::loss::Loss;
use taugraph::quantile::{
    AutoEncoder, DecoderWeights, Estimator, Factorization, KeepReconstructions, Neighborhood, Optimizer, Taus,
};

use crate::estimators::{Problem, steps};

/// Without a limit on the rank, the best prediction of the neighbors' rows is the quantile of a pool: for the nets of the rows of points like one
/// end, averaged over both ends; for the factorization of both together, as the neighborhood estimator has it.
#[test]
fn with_neighbor_targets_the_estimate_approaches_the_pooled_quantile() {
    const POOL: usize = 6;
    let (n, problem) = (60, Problem::new(60));
    let edges = problem.all();
    let taus = Taus::new(vec![0.2, 0.5, 0.8]).unwrap();
    let pooled = Neighborhood::default().with(|params| {
        params.pool = POOL;
        params.reconstructions = KeepReconstructions::Yes;
    });
    let (together, similarities) = problem.estimate(&edges, &Estimator::Neighborhood(pooled), &taus).unwrap();
    let together = together.reconstructions.unwrap();
    let mut w = vec![1.0; n * n];
    edges.iter().zip(&similarities).for_each(|((i, j), &value)| {
        (w[i as usize * n + j as usize], w[j as usize * n + i as usize]) = (value, value);
    });
    let of_one_end = |i: usize, j: usize, tau: f64| {
        let like = problem.neighbors.ids(i)[..POOL].iter().map(|&k| k as usize).chain([i]);
        let mut pool: Vec<f64> = like.map(|k| w[k * n + j]).collect();
        pool.sort_unstable_by(|a, b| b.total_cmp(a));
        pool[(tau * pool.len() as f64) as usize]
    };
    let apart: Vec<f64> = edges
        .iter()
        .flat_map(|(i, j)| {
            let (i, j) = (i as usize, j as usize);
            [0.2, 0.5, 0.8].map(|tau| 0.5 * of_one_end(i, j, tau) + 0.5 * of_one_end(j, i, tau))
        })
        .collect();
    let distance = |values: &[f64], expected: &[f64]| {
        values.iter().zip(expected).map(|(a, b)| (a - b).abs()).sum::<f64>() / expected.len() as f64
    };
    let net = AutoEncoder::default().with(|params| {
        params.hidden = vec![59];
        params.decoder = DecoderWeights::Free;
        params.weight_decay = 0.0;
        params.loss = Loss::Huber { kappa: 0.01 };
        params.schedule = steps(3000);
        params.optimizer = Optimizer::Adam { learning_rate: 0.01, batch: 60 };
        params.target_neighbors = POOL;
    });
    let factorization = Factorization::default().with(|params| {
        params.rank = 59;
        params.kappa = 0.01;
        params.tolerance = 1e-6;
        params.max_iterations = 2000;
        params.target_neighbors = POOL;
    });
    let literal = factorization.with(|params| params.target_neighbors = 0);
    let of = |estimator| problem.estimate(&edges, &estimator, &taus).unwrap().0.reconstructions.unwrap();
    let input: Vec<f64> = similarities.iter().flat_map(|&value| [value; 3]).collect();
    let of_net = distance(&of(Estimator::AutoEncoder(net)), &apart) / distance(&input, &apart);
    let of_factorization =
        distance(&of(Estimator::Factorization(factorization)), &together) / distance(&input, &together);
    assert!(of_net < 0.25 && of_factorization < 0.1, "{of_net} and {of_factorization} of the way are left");
    let copied = distance(&of(Estimator::Factorization(literal)), &input) / distance(&input, &together);
    assert!(copied < 0.05, "a row that is its own target is copied, not {copied}");
}

/// What the paper promises of its networks, and what predicting one's own row does not give.
#[test]
fn neighbor_targets_thin_the_graph_out() {
    let problem = Problem::new(200);
    let count = |net: AutoEncoder| {
        let found =
            problem.estimate(&problem.all(), &Estimator::AutoEncoder(net), &Taus::default()).unwrap().0;
        let values = found.reconstructions.unwrap();
        (0..9)
            .map(|t| values.iter().skip(t).step_by(9).filter(|value| **value > 0.3).count())
            .collect::<Vec<_>>()
    };
    let (thinning, flat) = (count(AutoEncoder::default()), count(AutoEncoder::literal()));
    assert!(
        thinning.windows(2).all(|pair| pair[1] <= pair[0]) && thinning[8] * 2 < thinning[0],
        "{thinning:?}"
    );
    assert!(flat[8] * 10 > flat[0] * 8, "{flat:?}");
}
