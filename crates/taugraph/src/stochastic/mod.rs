//! Stage 7, stochastic graph: the persistence of each edge over the quantiles becomes its probability.

mod realizations;

pub(crate) use realizations::for_each_presence;
pub use realizations::{Realizations, RobustScale, robust_scales};

use rayon::prelude::*;

use crate::edges::Edges;
use crate::graph::{Components, Joined};
use crate::parameter::choices;
use crate::quantile::Quantiles;

choices! {
    /// How persistence becomes probability.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Probability = "persistence" {
        /// The paper's p = max(δ, 1 − β_τ̂/β_τ₁) (eq. prob), 0 for edges absent at the lowest τ.
        "decay" => Decay {
            /// δ, the smallest probability of an edge that is present at the lowest τ.
            floor: f64 = 0.4, "between 0 and 1" => |floor| (0.0..=1.0).contains(floor);
        },
        /// The persistence itself: p = max(floor, τ̂) for every candidate.
        "persistence" => Persistence {
            /// The smallest probability.
            floor: f64 = 0.01, "between 0 and 1" => |floor| (0.0..=1.0).contains(floor);
        },
    }
}

impl Probability {
    /// The probability of an edge, from its persistence and the number of edges present at each τ.
    pub(crate) fn of(self, persistence: f64, taus: &[f64], counts: &[usize], open_ended: bool) -> f64 {
        match self {
            Probability::Persistence { floor } => persistence.max(floor),
            Probability::Decay { floor } => {
                match taus.iter().rposition(|&tau| is_present(persistence, tau, open_ended)) {
                    None => 0.0,
                    Some(t) => (1.0 - counts[t] as f64 / counts[0].max(1) as f64).max(floor),
                }
            }
        }
    }
}

/// Candidate edges with their persistence and probability.
#[derive(Debug, Clone, PartialEq)]
pub struct StochasticGraph {
    /// The candidate edges.
    edges: Edges,
    persistence: Vec<f64>,
    probabilities: Vec<f64>,
    /// Whether an edge is present up to its persistence but not at it.
    open_ended: bool,
    decay: Vec<(f64, usize)>,
    flat_decay: bool,
}

impl StochasticGraph {
    /// Counts the edges at each τ and gives each candidate its probability.
    ///
    /// An edge is present at τ while Ŵ_τ > threshold. Its persistence τ̂ is the highest τ at which it is present,
    /// 0 if it is absent at the lowest; where the estimator knows the persistence itself, the edge is present at τ < τ̂.
    pub fn new(edges: Edges, quantiles: &Quantiles, threshold: f64, probability: Probability) -> Self {
        let taus = quantiles.taus.values();
        let persistence = quantiles.persistence(edges.len(), threshold).into_owned();
        let open_ended = quantiles.persistence.is_some();
        let counts: Vec<usize> = match &quantiles.reconstructions {
            Some(values) if !open_ended => (0..taus.len())
                .map(|t| values.par_chunks_exact(taus.len()).filter(|of_edge| of_edge[t] > threshold).count())
                .collect(),
            _ => taus
                .iter()
                .map(|&tau| persistence.par_iter().filter(|&&p| is_present(p, tau, open_ended)).count())
                .collect(),
        };
        let probabilities: Vec<f64> = persistence
            .par_iter()
            .map(|&persistence| probability.of(persistence, taus, &counts, open_ended))
            .collect();
        let (Probability::Decay { floor } | Probability::Persistence { floor }) = probability;
        let mut present = probabilities.iter().filter(|&&p| p > 0.0).peekable();
        let flat_decay = present.peek().is_some() && floor < 1.0 && present.all(|&p| p == floor);
        let decay = taus.iter().copied().zip(counts).collect();
        Self { edges, persistence, probabilities, open_ended, decay, flat_decay }
    }

    /// The candidate edges.
    pub fn edges(&self) -> &Edges {
        &self.edges
    }

    /// τ̂ of each edge.
    pub fn persistence(&self) -> &[f64] {
        &self.persistence
    }

    /// p of each edge.
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// The decay curve: each τ with β_τ, the number of edges present at it.
    pub fn decay(&self) -> &[(f64, usize)] {
        &self.decay
    }

    /// Whether every edge has the least probability, so that the quantiles told nothing apart.
    ///
    /// With a trained estimator a lower rank usually brings the decay back.
    pub fn has_flat_decay(&self) -> bool {
        self.flat_decay
    }

    /// Which edges are present at τ.
    pub fn present_at(&self, tau: f64) -> Vec<bool> {
        self.persistence.iter().map(|&p| is_present(p, tau, self.open_ended)).collect()
    }

    /// Connected components of the edges present at each τ of the decay curve.
    pub fn component_counts(&self) -> Vec<usize> {
        let taus = || self.decay.iter().map(|(tau, _)| *tau);
        let mut joined = Joined::new(self.edges.n_nodes());
        let mut counts = Vec::with_capacity(self.decay.len());
        // From the highest τ down edges only come back: each is joined once.
        let mut above = f64::INFINITY;
        for tau in taus().rev() {
            let edges = self.edges.iter().zip(&self.persistence);
            let is_new = |persistence: f64| {
                is_present(persistence, tau, self.open_ended)
                    && !is_present(persistence, above, self.open_ended)
            };
            let new = edges.filter(|(_, persistence)| is_new(**persistence)).map(|(edge, _)| edge);
            counts.push(joined.join(new));
            above = tau;
        }
        counts.reverse();
        counts
    }

    /// Nodes of each connected component of the edges present at τ, in the order of their first nodes.
    pub fn component_sizes_at(&self, tau: f64) -> Vec<usize> {
        let edges = self.edges.iter().zip(&self.persistence);
        let present = edges.filter(|(_, persistence)| is_present(**persistence, tau, self.open_ended));
        Components::of_pairs(self.edges.n_nodes(), present.map(|(edge, _)| edge)).sizes().to_vec()
    }
}

fn is_present(persistence: f64, tau: f64, open_ended: bool) -> bool {
    if open_ended { persistence > tau } else { persistence >= tau && persistence > 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantile::Taus;

    fn quantiles(reconstructions: Option<Vec<f64>>, persistence: Option<Vec<f64>>) -> Quantiles {
        let taus = Taus::new(vec![0.1, 0.5, 0.9]).unwrap();
        Quantiles { taus, reconstructions, persistence, training: vec![], crossing_rate: None }
    }

    fn path(n: u32) -> Edges {
        Edges::from_pairs(n as usize, (1..n).map(|i| (i - 1, i))).unwrap()
    }

    #[test]
    fn the_papers_formula_by_hand() {
        // Present up to 0.9, 0.5, 0.1 and never: β = 3, 2, 1.
        let values = vec![0.9, 0.8, 0.7, 0.9, 0.8, 0.1, 0.9, 0.1, 0.1, 0.1, 0.1, 0.1];
        let graph = StochasticGraph::new(
            path(5),
            &quantiles(Some(values), None),
            0.2,
            Probability::Decay { floor: 0.4 },
        );
        assert_eq!(graph.decay(), [(0.1, 3), (0.5, 2), (0.9, 1)]);
        assert_eq!(graph.persistence(), [0.9, 0.5, 0.1, 0.0]);
        assert_eq!(graph.probabilities(), [1.0 - 1.0 / 3.0, 0.4, 0.4, 0.0]);
        assert!(!graph.has_flat_decay());
        assert_eq!(graph.present_at(0.5), [true, true, false, false]);
        assert_eq!(graph.component_counts(), [2, 3, 4]);
        assert_eq!(graph.component_sizes_at(0.1), [4, 1]);
        assert_eq!(graph.component_sizes_at(0.5), [3, 1, 1]);
        assert_eq!(graph.component_sizes_at(0.95), [1; 5]);
    }

    #[test]
    fn flat_decay_is_noticed() {
        let values = vec![0.9; 9];
        let graph = StochasticGraph::new(
            path(4),
            &quantiles(Some(values), None),
            0.2,
            Probability::Decay { floor: 0.4 },
        );
        assert_eq!(graph.probabilities(), [0.4; 3]);
        assert!(graph.has_flat_decay());
    }

    #[test]
    fn known_persistence_is_the_probability() {
        let known = quantiles(None, Some(vec![0.0, 0.5, 0.95]));
        let graph = StochasticGraph::new(path(4), &known, 0.3, Probability::Persistence { floor: 0.01 });
        assert_eq!(graph.probabilities(), [0.01, 0.5, 0.95]);
        // Present at τ while the persistence exceeds τ.
        assert_eq!(graph.decay(), [(0.1, 2), (0.5, 1), (0.9, 1)]);
        let decay = StochasticGraph::new(path(4), &known, 0.3, Probability::Decay { floor: 0.2 });
        assert_eq!(decay.probabilities(), [0.0, 0.2, 0.5]);
    }
}
