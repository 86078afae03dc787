//! Probabilities, robust scales and final weights of a machine's own edges.

use crate::affinity::AffinityKind;
use crate::error::{Error, Result};
use crate::params::FinalAffinity;
use crate::points::sorted_quantile;
use crate::random::{Stage, Stream};
use crate::scale::ScaleShrinkage;
use crate::stochastic::{Probability, RobustScale};

/// The probability of each edge from its persistence; the paper's rule also needs how many edges of the whole graph are present at each τ.
pub fn probabilities(rule: Probability, persistence: &[f64], taus: &[f64], counts: &[usize]) -> Vec<f64> {
    persistence.iter().map(|&persistence| rule.of(persistence, taus, counts, true)).collect()
}

/// The robust scale of each own node before the floor: that of its edges, or its first scale if it has none.
pub fn robust_values(
    rule: RobustScale,
    first: &[f64],
    own: &[u32],
    (offsets, targets): (&[u64], &[u32]),
    distances: &[f64],
    probabilities: &[f64],
    seed: u64,
) -> Result<Vec<f64>> {
    for (what, expected, received) in [
        ("first scales", own.len(), first.len()),
        ("offsets of edges", own.len() + 1, offsets.len()),
        ("lengths of edges", targets.len(), distances.len()),
        ("probabilities", targets.len(), probabilities.len()),
    ] {
        if expected != received {
            return Err(Error::Length { what, expected, received });
        }
    }
    let draws = Stream::new(seed, Stage::Realizations);
    let of_node = |place: usize| {
        let row = offsets[place] as usize..offsets[place + 1] as usize;
        let edges = distances[row.clone()].iter().zip(&probabilities[row.clone()]);
        match rule {
            RobustScale::First => None,
            RobustScale::Expectation => {
                let (mut weight, mut sum) = (0.0, 0.0);
                for (distance, probability) in edges {
                    weight += probability;
                    sum += probability * distance;
                }
                (weight > 0.0).then(|| sum / weight)
            }
            RobustScale::MedianOfRealizations { draws: n_draws } => {
                let mut sums = vec![(0.0, 0u32); n_draws];
                for (&other, (&distance, &probability)) in targets[row].iter().zip(edges) {
                    crate::stochastic::for_each_presence(
                        &draws,
                        own[place],
                        other,
                        probability,
                        n_draws,
                        |draw| {
                            sums[draw].0 += distance;
                            sums[draw].1 += 1;
                        },
                    );
                }
                let drawn = sums.iter().filter(|(_, count)| *count > 0);
                let mut means: Vec<f64> = drawn.map(|(sum, count)| sum / f64::from(*count)).collect();
                means.sort_unstable_by(f64::total_cmp);
                (!means.is_empty()).then(|| sorted_quantile(&means, 0.5))
            }
        }
    };
    Ok((0..own.len()).map(|place| of_node(place).unwrap_or(first[place])).collect())
}

/// Scales raised to the least one, and then shrunk toward the median of all raised scales.
pub fn finished_scales(values: &[f64], least: f64, median: f64, shrinkage: ScaleShrinkage) -> Vec<f64> {
    values.iter().map(|value| shrinkage.apply(value.max(least), median)).collect()
}

/// The weight of each own edge. `scale_of_target` are the scales of the other ends.
pub fn edge_weights(
    (kind, affinity): (AffinityKind, FinalAffinity),
    (offsets, distances): (&[u64], &[f64]),
    (persistence, probabilities): (&[f64], &[f64]),
    scale_of_own: &[f64],
    scale_of_target: &[f64],
    is_lower: &[bool],
) -> Vec<f64> {
    let mut weights = Vec::with_capacity(distances.len());
    for (place, ends) in offsets.windows(2).enumerate() {
        let own = 1.0 / scale_of_own[place];
        for edge in ends[0] as usize..ends[1] as usize {
            let other = 1.0 / scale_of_target[edge];
            // From the lower to the higher end, as on one machine.
            let (a, b) = if is_lower[edge] { (own, other) } else { (other, own) };
            let similarity = (-kind.exponent(distances[edge] * distances[edge], a, b)).exp();
            weights.push(affinity.weight(similarity, persistence[edge], probabilities[edge]));
        }
    }
    weights
}
