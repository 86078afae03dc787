//! Which pairs the trained estimators learn from: all of them, or the candidates and a sample of the others.
//!
//! The pairs of a node that are no candidates, the non-edges, have similarity 0 and are nearly all of the N² pairs. The sample
//! cuts them, in the order of their ends, into slices of nearly equal length and draws one pair of each, which then stands for its
//! whole slice: its weight is the length. So the weighted sum of any loss over the sample has the sum over all non-edges as its
//! expectation, and is that sum where every slice is a single pair.

use crate::parameter::choices;
use crate::random::Draws;

/// Non-edges for each candidate where nothing else is said.
const PER_EDGE: f64 = 1.0;

/// Up to so many points all pairs are quick, and exact.
const FEW_NODES: u64 = 1000;

/// How many times fewer the pairs of a sample have to be. One of them takes 3 to 5 times as long as one of all pairs, where matrix
/// products do the work; below twice the speed an approximation is not worth it.
const TIMES_FEWER: f64 = 8.0;

choices! {
    /// Which pairs a model is trained on.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum TrainingPairs = "automatic" {
        /// A sample with one non-edge for each candidate where that is at least 8 times fewer pairs of more than 1000 points,
        /// else all.
        "automatic" => Automatic,
        /// All: time N² for each epoch.
        "all" => All,
        /// The candidates and sampled non-edges: time and memory linear in the candidates.
        "sampled" => Sampled {
            /// Non-edges for each candidate of a point.
            per_edge: f64 = PER_EDGE, "finite and above 0" => |count| *count > 0.0 && count.is_finite();
        },
    }
}

impl TrainingPairs {
    /// Non-edges for each candidate, or `None` where all pairs are to be used.
    pub(super) fn per_edge(self, n_nodes: u64, n_edges: u64) -> Option<f64> {
        match self {
            TrainingPairs::All => None,
            TrainingPairs::Sampled { per_edge } => Some(per_edge),
            TrainingPairs::Automatic => {
                let sampled = n_nodes as f64 + 2.0 * (1.0 + PER_EDGE) * n_edges as f64;
                let few = TIMES_FEWER * sampled < (n_nodes as f64).powi(2);
                (n_nodes > FEW_NODES && few).then_some(PER_EDGE)
            }
        }
    }

    /// Bytes of a training, from those over all pairs and those over a sample.
    ///
    /// The number of candidates may be an estimate from above, so that the automatic choice is not known for sure.
    pub(super) fn bytes(self, n_nodes: u64, n_edges: u64, all: u64, sampled: impl Fn(f64) -> u64) -> u64 {
        match self {
            TrainingPairs::All => all,
            TrainingPairs::Sampled { per_edge } => sampled(per_edge),
            TrainingPairs::Automatic if n_edges >= n_nodes * n_nodes.saturating_sub(1) / 2 => all,
            TrainingPairs::Automatic => all.max(sampled(PER_EDGE)),
        }
    }
}

/// A pair that a row has for certain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    /// The other end.
    pub node: u32,
    /// Similarity in the row.
    pub similarity: f64,
    /// Similarity in the row that it shall predict.
    pub target: f64,
}

/// A pair of a row that is its own target.
impl From<(u32, f64)> for Candidate {
    fn from((node, similarity): (u32, f64)) -> Self {
        Self { node, similarity, target: similarity }
    }
}

/// Some pairs of one row of W, their other ends ascending.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct RowPairs {
    /// The other ends.
    pub nodes: Vec<u32>,
    /// Similarities; 0 for non-edges.
    pub similarities: Vec<f64>,
    /// What shall be predicted; 0 for non-edges.
    pub targets: Vec<f64>,
    /// How many pairs each stands for: 1 for candidates.
    pub weights: Vec<f64>,
}

impl RowPairs {
    /// All candidates, whose other ends ascend, and `n_samples` of the other pairs (all, if there are not more); the other ends are
    /// among the `n_nodes` nodes from `first` on.
    pub fn sample(
        first: usize,
        n_nodes: usize,
        candidates: &[Candidate],
        n_samples: usize,
        draws: &mut Draws,
    ) -> Self {
        let n_others = n_nodes - candidates.len();
        let n_slices = n_samples.min(n_others);
        let mut sample = (0..n_slices)
            .map(|slice| {
                let begin = slice * n_others / n_slices;
                let length = (slice + 1) * n_others / n_slices - begin;
                (first + begin + draws.below(length), length as f64)
            })
            .peekable();
        let mut pairs = RowPairs::with_capacity(candidates.len() + n_slices);
        for (before, &Candidate { node, similarity, target }) in candidates.iter().enumerate() {
            // Counted among all nodes, a non-edge lies as much higher as there are candidates before it.
            while let Some((place, weight)) = sample.next_if(|(place, _)| place + before < node as usize) {
                pairs.push((place + before) as u32, 0.0, 0.0, weight);
            }
            pairs.push(node, similarity, target, 1.0);
        }
        sample.for_each(|(place, weight)| pairs.push((place + candidates.len()) as u32, 0.0, 0.0, weight));
        pairs
    }

    fn with_capacity(n: usize) -> Self {
        Self {
            nodes: Vec::with_capacity(n),
            similarities: Vec::with_capacity(n),
            targets: Vec::with_capacity(n),
            weights: Vec::with_capacity(n),
        }
    }

    fn push(&mut self, node: u32, similarity: f64, target: f64, weight: f64) {
        self.nodes.push(node);
        self.similarities.push(similarity);
        self.targets.push(target);
        self.weights.push(weight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Stage, Stream};
    use proptest::prelude::*;

    fn draws(draw: u32) -> Draws {
        Stream::new(8, Stage::NonEdges).at(0, draw)
    }

    proptest! {
        #[test]
        fn a_sample_has_every_candidate_and_weighs_as_much_as_all_pairs(
            first in 0usize..5,
            is_candidate in prop::collection::vec(any::<bool>(), 0..40),
            n_samples in 0usize..50,
            draw in 0u32..1000,
        ) {
            let n = is_candidate.len();
            let candidates: Vec<Candidate> = (0..n)
                .filter(|&at| is_candidate[at])
                .map(|at| ((first + at) as u32, 0.5).into())
                .collect();
            let n_others = n - candidates.len();
            let pairs = RowPairs::sample(first, n, &candidates, n_samples, &mut draws(draw));
            prop_assert_eq!(pairs.nodes.len(), candidates.len() + n_samples.min(n_others));
            prop_assert!(pairs.nodes.windows(2).all(|two| two[0] < two[1]));
            for (p, &node) in pairs.nodes.iter().enumerate() {
                let known = is_candidate[node as usize - first];
                prop_assert_eq!(pairs.similarities[p], if known { 0.5 } else { 0.0 });
                prop_assert!(pairs.weights[p] == 1.0 || (!known && pairs.weights[p] > 1.0));
            }
            if n_samples > 0 {
                prop_assert_eq!(pairs.weights.iter().sum::<f64>(), n as f64);
            }
            if n_samples >= n_others {
                prop_assert!(pairs.weights.iter().all(|&weight| weight == 1.0));
            }
        }
    }

    /// The mean of the weighted sums over many samples is the sum over all non-edges.
    #[test]
    fn weighted_sums_are_unbiased() {
        let n = 23;
        let candidates = [(0, 1.0), (4, 0.2), (5, 0.3), (11, 0.4), (22, 0.1)].map(Candidate::from);
        let loss = |node: u32| f64::from(node * node);
        let is_candidate = |node: u32| candidates.iter().any(|candidate| candidate.node == node);
        let all: f64 = (0..n as u32).filter(|&node| !is_candidate(node)).map(loss).sum();
        let n_draws = 20_000;
        let sums: Vec<f64> = (0..n_draws)
            .map(|draw| {
                let pairs = RowPairs::sample(0, n, &candidates, 4, &mut draws(draw));
                let weighted = pairs.nodes.iter().zip(&pairs.weights);
                weighted
                    .filter(|(node, _)| !is_candidate(**node))
                    .map(|(node, weight)| weight * loss(*node))
                    .sum()
            })
            .collect();
        let mean = sums.iter().sum::<f64>() / f64::from(n_draws);
        let variance = sums.iter().map(|sum| (sum - mean).powi(2)).sum::<f64>() / f64::from(n_draws);
        let error = (variance / f64::from(n_draws)).sqrt();
        assert!(error > 0.0 && (mean - all).abs() < 5.0 * error, "{mean} and {all}, standard error {error}");
    }

    #[test]
    fn the_automatic_choice_has_its_border() {
        let choice = |n_nodes, n_edges| TrainingPairs::Automatic.per_edge(n_nodes, n_edges);
        assert_eq!(choice(1000, 0), None);
        assert_eq!(choice(1001, 0), Some(PER_EDGE));
        // 2000 + 4·120,000 pairs are less than an eighth of 2000², and with 130,000 candidates they are not.
        assert_eq!(choice(2000, 120_000), Some(PER_EDGE));
        assert_eq!(choice(2000, 130_000), None);
        assert_eq!(choice(100_000, 100_000 * 99_999 / 2), None);
        assert_eq!(TrainingPairs::All.per_edge(100_000, 0), None);
        assert_eq!(TrainingPairs::Sampled { per_edge: 2.5 }.per_edge(10, 45), Some(2.5));
    }

    #[test]
    fn samples_depend_on_the_draw_alone() {
        let of = |draw| RowPairs::sample(0, 1000, &[(7, 0.5).into()], 20, &mut draws(draw));
        assert_eq!(of(3), of(3));
        assert_ne!(of(3), of(4));
    }
}
