//! Which nodes lie apart: scales and persistences compared with those of the neighbors.

use rayon::prelude::*;

use crate::parameter::choices;
use crate::robust::NodeGraph;

/// `auto` takes a score as an outlier's if its logarithm is so many robust standard deviations above the median.
const DEVIATIONS: f64 = 5.0;
/// The standard deviation of a normal distribution over its median absolute deviation.
const MAD: f64 = 1.4826;
/// Scores below this are ordinary, however narrow their distribution.
const ORDINARY: f64 = 1.5;

choices! {
    /// Which rows get no cluster because they lie apart.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Outliers = "none" {
        /// None: every row is placed.
        "none" => None,
        /// Those whose outlier score stands out from the others'.
        "auto" => Auto,
        /// The share of the rows with the highest outlier scores.
        "share" => Share {
            /// Share of the rows.
            share: f64 = 0.01, "between 0 and 1" => |share| (0.0..=1.0).contains(share);
        },
    }
}

/// The outlier score of each node: about 1 among its like, higher the farther apart.
///
/// # Formula
///
/// (σ_i/σ̄)·√(p̄/p_i), with σ_i the robust local scale of node i and p_i the mean probability of its edges; σ̄ and p̄ are their
/// means over its nearest neighbors. As the local outlier factor does, it compares a point with its neighbors only, so that thin regions as such
/// do not stand out.
pub fn outlier_scores(robust: &NodeGraph) -> Vec<f64> {
    let persistence = mean_probabilities(robust);
    let scales = robust.scales.values();
    (0..scales.len())
        .into_par_iter()
        .map(|i| {
            let near = robust.neighbors.ids(i);
            let mean =
                |values: &[f64]| near.iter().map(|&j| values[j as usize]).sum::<f64>() / near.len() as f64;
            score(scales[i], mean(scales), persistence[i], mean(&persistence))
        })
        .collect()
}

/// The score from the own scale and persistence and the neighbors'.
pub(crate) fn score(scale: f64, scale_beside: f64, persistence: f64, persistence_beside: f64) -> f64 {
    let ratio = |own: f64, beside: f64| if beside > 0.0 { own / beside } else { 1.0 };
    ratio(scale, scale_beside) * ratio(persistence_beside, persistence.max(1e-3)).sqrt()
}

/// The mean probability of the edges of each node; of one without edges 0.
pub(crate) fn mean_probabilities(robust: &NodeGraph) -> Vec<f64> {
    let edges = robust.stochastic.edges();
    let probabilities = robust.stochastic.probabilities();
    let of_node = |i: usize| {
        let (mut sum, mut count) = (0.0, 0);
        for (_, edge) in edges.incident(i) {
            sum += probabilities[edge];
            count += 1;
        }
        if count > 0 { sum / f64::from(count) } else { 0.0 }
    };
    (0..edges.n_nodes()).into_par_iter().map(of_node).collect()
}

impl Outliers {
    /// The score above which a row is an outlier, from the scores of all rows; infinite if none is.
    pub fn threshold(self, scores: &[f64]) -> f64 {
        let mut sorted = scores.to_vec();
        sorted.sort_by(f64::total_cmp);
        match self {
            Outliers::None => f64::INFINITY,
            Outliers::Share { share } => {
                let n_outliers = (share * sorted.len() as f64).round() as usize;
                if n_outliers == 0 {
                    return f64::INFINITY;
                }
                // Equal scores are outliers together or not at all.
                sorted.get(sorted.len().wrapping_sub(n_outliers + 1)).copied().unwrap_or(f64::NEG_INFINITY)
            }
            Outliers::Auto => {
                let logarithms: Vec<f64> = sorted.iter().map(|score| score.max(1e-9).ln()).collect();
                let median = logarithms[logarithms.len() / 2];
                let mut apart: Vec<f64> = logarithms.iter().map(|value| (value - median).abs()).collect();
                apart.sort_by(f64::total_cmp);
                (median + DEVIATIONS * MAD * apart[apart.len() / 2]).exp().max(ORDINARY)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_mark_what_they_say() {
        let scores: Vec<f64> = (0..100).map(|i| 1.0 + 0.001 * f64::from(i)).chain([4.0]).collect();
        let marked = |rule: Outliers| {
            let threshold = rule.threshold(&scores);
            scores.iter().filter(|score| **score > threshold).count()
        };
        assert_eq!(marked(Outliers::None), 0);
        assert_eq!(marked(Outliers::Auto), 1);
        assert_eq!(marked(Outliers::Share { share: 0.05 }), 5);
        assert_eq!(marked(Outliers::Share { share: 1.0 }), 101);
        assert_eq!(Outliers::Auto.threshold(&[1.0; 5]), ORDINARY);
    }
}
