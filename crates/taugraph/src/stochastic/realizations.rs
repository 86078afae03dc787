//! Realizations: local scales from draws of the stochastic graph, or from its expectation.

use rayon::prelude::*;

use super::StochasticGraph;
use crate::error::Result;
use crate::parameter::choices;
use crate::points::sorted_quantile;
use crate::progress::Run;
use crate::random::{Stage, Stream};
use crate::scale::{LocalScales, ScaleShrinkage};

choices! {
    /// How the robust scales are computed from the stochastic graph.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RobustScale = "expectation" {
        /// Median over draws of the mean distance to the neighbors in the draw (Algorithm 1, steps 5 to 7). Draws
        /// in which the point has no neighbor do not count; if it never has one, its first scale stays.
        "median-of-realizations" => MedianOfRealizations {
            /// R, the number of draws.
            draws: usize = 25, "between 1 and 1048576" => |draws| (1..=1 << 20).contains(draws);
        },
        /// Σ p·d / Σ p over the edges of the point: what the draws estimate, without their noise.
        "expectation" => Expectation,
        /// The first scales stay: plain local scaling.
        "first" => First,
    }
}

/// Draws of a stochastic graph. Edge (i, j) in draw r is a function of (seed, stage, i, j, r) alone, so a draw
/// needs no storage and can be asked from either end of an edge.
#[derive(Debug, Clone, Copy)]
pub struct Realizations<'a> {
    graph: &'a StochasticGraph,
    stream: Stream,
}

impl<'a> Realizations<'a> {
    /// The draws of a stage under a seed.
    pub fn new(graph: &'a StochasticGraph, seed: u64, stage: Stage) -> Self {
        Self { graph, stream: Stream::new(seed, stage) }
    }

    /// Calls `visit(draw)` for each of the first `n_draws` draws in which the edge between i and j is present.
    fn for_each_presence(&self, i: u32, j: u32, edge: usize, n_draws: usize, visit: impl FnMut(usize)) {
        for_each_presence(&self.stream, i, j, self.graph.probabilities[edge], n_draws, visit);
    }
}

/// The same for an edge of this probability.
pub(crate) fn for_each_presence(
    stream: &Stream,
    i: u32,
    j: u32,
    probability: f64,
    n_draws: usize,
    mut visit: impl FnMut(usize),
) {
    if probability <= 0.0 {
        return;
    }
    let mut draws = stream.at(i.min(j), i.max(j));
    for draw in 0..n_draws {
        if draws.coarse_uniform() < probability {
            visit(draw);
        }
    }
}

/// The robust local scales: at least `floor` × the median of the positive ones, then shrunk.
///
/// # Panics
/// If there is not one distance for each edge.
pub fn robust_scales(
    graph: &StochasticGraph,
    distances: &[f64],
    first: &LocalScales,
    scale: RobustScale,
    (floor, shrinkage): (f64, ScaleShrinkage),
    run: &Run<'_>,
) -> Result<LocalScales> {
    assert_eq!(distances.len(), graph.edges.len(), "one distance for each edge");
    let n = graph.edges.n_nodes();
    if scale != RobustScale::First {
        run.stage("local scales", Some(n as u64))?;
    }
    let measure: Box<dyn Fn(usize) -> Option<f64> + Sync> = match scale {
        RobustScale::First => return Ok(first.clone().shrunk(shrinkage)),
        RobustScale::Expectation => Box::new(|i| {
            let (mut weight, mut sum) = (0.0, 0.0);
            for (_, edge) in graph.edges.incident(i) {
                weight += graph.probabilities[edge];
                sum += graph.probabilities[edge] * distances[edge];
            }
            (weight > 0.0).then(|| sum / weight)
        }),
        RobustScale::MedianOfRealizations { draws: n_draws } => {
            let draws = Realizations::new(graph, run.seed, Stage::Realizations);
            Box::new(move |i| {
                let mut sums = vec![(0.0, 0u32); n_draws];
                for (j, edge) in graph.edges.incident(i) {
                    draws.for_each_presence(i as u32, j, edge, n_draws, |draw| {
                        sums[draw].0 += distances[edge];
                        sums[draw].1 += 1;
                    });
                }
                let mut means: Vec<f64> = sums
                    .iter()
                    .filter(|(_, count)| *count > 0)
                    .map(|(sum, count)| sum / f64::from(*count))
                    .collect();
                means.sort_unstable_by(f64::total_cmp);
                (!means.is_empty()).then(|| sorted_quantile(&means, 0.5))
            })
        }
    };
    let values: Vec<f64> = (0..n)
        .into_par_iter()
        .with_min_len(64)
        .map(|i| {
            run.check()?;
            run.progress.advance(1);
            Ok(measure(i).unwrap_or(first.get(i)))
        })
        .collect::<Result<_>>()?;
    Ok(LocalScales::with_floor(values, floor).shrunk(shrinkage))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::Edges;
    use crate::quantile::{Quantiles, Taus};
    use crate::stochastic::Probability;

    /// A star: node 0 linked to 1, 2, 3, …; the last node isolated.
    fn star(probabilities: Vec<f64>) -> StochasticGraph {
        let n = probabilities.len() as u32 + 2;
        let edges = Edges::from_pairs(n as usize, (1..n - 1).map(|j| (0, j))).unwrap();
        let quantiles = Quantiles {
            taus: Taus::default(),
            reconstructions: None,
            persistence: Some(probabilities),
            training: vec![],
            crossing_rate: None,
        };
        StochasticGraph::new(edges, &quantiles, 0.3, Probability::Persistence { floor: 0.0 })
    }

    #[test]
    fn expectation_by_hand_and_isolated_nodes_keep_their_first_scale() {
        let graph = star(vec![0.5, 1.0, 0.0]);
        let first = LocalScales::new(vec![9.0; 5]).unwrap();
        let scales = robust_scales(
            &graph,
            &[1.0, 4.0, 100.0],
            &first,
            RobustScale::Expectation,
            (0.0, ScaleShrinkage::None),
            &Run::new(1),
        )
        .unwrap();
        assert_eq!(scales.values(), [3.0, 1.0, 4.0, 9.0, 9.0]);
    }

    #[test]
    fn draws_come_as_often_as_their_probability_and_agree_from_both_ends() {
        let graph = star(vec![0.2, 0.7]);
        let draws = Realizations::new(&graph, 5, Stage::Realizations);
        let n_draws = 4000;
        for (edge, j, p) in [(0, 1, 0.2), (1, 2, 0.7)] {
            let (mut forward, mut backward) = (Vec::new(), Vec::new());
            draws.for_each_presence(0, j, edge, n_draws, |draw| forward.push(draw));
            draws.for_each_presence(j, 0, edge, n_draws, |draw| backward.push(draw));
            assert_eq!(forward, backward);
            assert!((forward.len() as f64 / n_draws as f64 - p).abs() < 0.04);
        }
    }

    #[test]
    fn median_of_many_draws_approaches_the_expectation() {
        let graph = star(vec![0.6; 40]);
        let distances: Vec<f64> = (0..40).map(|t| 1.0 + 0.01 * f64::from(t)).collect();
        let first = LocalScales::new(vec![1.0; 42]).unwrap();
        let of = |scale| {
            let unshrunk = (0.0, ScaleShrinkage::None);
            robust_scales(&graph, &distances, &first, scale, unshrunk, &Run::new(2)).unwrap().get(0)
        };
        let (median, mean) =
            (of(RobustScale::MedianOfRealizations { draws: 200 }), of(RobustScale::Expectation));
        assert!((median / mean - 1.0).abs() < 0.04, "{median} against {mean}");
    }
}
