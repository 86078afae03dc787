//! From scores to labels: class masses, probabilities, margins, class sizes.

use super::Priors;
use super::labeled_nodes::LabeledNodes;
use super::masses::{ClassMasses, deviation, priors_of};
use crate::error::{Error, Result, require};

/// Steps in which the class weights approach the given sizes.
const SIZE_STEPS: usize = 200;

/// How scores are to be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// Nonnegative; class masses are normalized to the priors.
    Mass,
    /// Of any sign; only differences matter.
    Difference,
}

/// Probabilities node by node, all 0 where no label reaches.
pub(super) fn probabilities(
    scores: &[f64],
    scale: Scale,
    labeled: &LabeledNodes,
    reached: &[bool],
    priors: &Priors,
) -> Result<Vec<f64>> {
    let width = labeled.n_classes();
    let are_given = *priors != Priors::Estimated;
    let priors = priors_of(priors, labeled)?;
    let mut values = match scale {
        Scale::Mass => by_mass(scores, (&priors, are_given), labeled, reached),
        Scale::Difference if are_given => softened(scores, width, &priors, reached),
        Scale::Difference => softened(scores, width, &vec![1.0 / width as f64; width], reached),
    };
    for (row, reached) in values.chunks_exact_mut(width).zip(reached) {
        let sum: f64 = row.iter().sum();
        if !reached {
            row.fill(0.0);
        } else if sum > 0.0 && sum.is_finite() {
            row.iter_mut().for_each(|value| *value /= sum);
        } else {
            // Every score underflowed: all that is known is that some label reaches the node.
            row.copy_from_slice(&priors);
        }
    }
    Ok(values)
}

/// Shares of the classes, normalized to sum to 1.
pub(super) fn checked_shares(name: &'static str, shares: &[f64], width: usize) -> Result<Vec<f64>> {
    if shares.len() != width {
        return Err(Error::Length { what: name, expected: width, received: shares.len() });
    }
    let fine = shares.iter().all(|share| share.is_finite() && *share > 0.0);
    require(
        fine,
        name,
        format!("{shares:?}"),
        "must be finite and above 0 for every class with a labeled point",
    )?;
    let sum: f64 = shares.iter().sum();
    Ok(shares.iter().map(|share| share / sum).collect())
}

/// Scales each class's scores so that their sum over the unlabeled nodes approaches its prior.
fn by_mass(
    scores: &[f64],
    (priors, are_given): (&[f64], bool),
    labeled: &LabeledNodes,
    reached: &[bool],
) -> Vec<f64> {
    let width = labeled.n_classes();
    let is_free = |node: usize| reached[node] && labeled.get(node).is_none();
    let free =
        || scores.chunks_exact(width).enumerate().filter(|(node, _)| is_free(*node)).map(|(_, row)| row);
    let mut masses = vec![0.0; width];
    // The iterative solver may leave a score slightly below 0.
    free().for_each(|row| masses.iter_mut().zip(row).for_each(|(mass, score)| *mass += score.max(0.0)));
    let n_labeled = labeled.nodes().len();
    let mut of_labels = vec![0.0; width];
    labeled.iter().for_each(|(_, class)| of_labels[class as usize] += 1.0 / n_labeled as f64);
    let deviation = deviation(free(), &of_labels);
    let weights =
        ClassMasses { masses, n_unlabeled: free().count(), n_labeled, deviation }.weights(priors, are_given);
    let rows = scores.chunks_exact(width);
    rows.flat_map(|row| row.iter().zip(&weights).map(|(score, weight)| score.max(0.0) * weight)).collect()
}

/// Softmax of the scores in units of their spread: a graded ranking, not calibrated frequencies.
fn softened(scores: &[f64], width: usize, priors: &[f64], reached: &[bool]) -> Vec<f64> {
    let rows =
        || scores.chunks_exact(width).zip(reached).filter(|(_, reached)| **reached).map(|(row, _)| row);
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for row in rows() {
        let finite = row.iter().copied().filter(|score| score.is_finite());
        let best = finite.clone().fold(f64::NEG_INFINITY, f64::max);
        for score in finite {
            n += 1.0;
            sum += score - best;
            squares += (score - best) * (score - best);
        }
    }
    let mean = if n > 0.0 { sum / n } else { 0.0 };
    let spread = if n > 0.0 { (squares / n - mean * mean).max(0.0).sqrt() } else { 0.0 };
    let spread = if spread > 0.0 { spread } else { 1.0 };
    let mut values = vec![0.0; scores.len()];
    for (row, out) in scores.chunks_exact(width).zip(values.chunks_exact_mut(width)) {
        let best = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if best.is_finite() {
            let softly = |score: f64, prior: f64| prior * ((score - best) / spread).exp();
            out.iter_mut()
                .zip(row)
                .zip(priors)
                .for_each(|((out, score), prior)| *out = softly(*score, *prior));
        }
    }
    values
}

/// The likeliest class of a node (the lowest in case of ties) and its lead over the second.
pub(crate) fn best(row: &[f64]) -> (u32, f64) {
    let (mut first, mut second) = (0, f64::NEG_INFINITY);
    for class in 1..row.len() {
        if row[class] > row[first] {
            second = row[first];
            first = class;
        } else {
            second = second.max(row[class]);
        }
    }
    (first as u32, row[first] - second.max(0.0))
}

/// Reweights the classes until they have the given sizes among the free nodes, as closely as ties allow.
///
/// Sizes are shares of the free nodes. The weights approach them in ever smaller steps; the best weights seen are used.
pub(super) fn to_sizes(probabilities: &mut [f64], width: usize, free: &[bool], shares: &[f64]) -> Result<()> {
    let wanted = checked_shares("class sizes", shares, width)?;
    let n_free = free.iter().filter(|free| **free).count() as f64;
    let mut logs = vec![0.0f64; width];
    let mut kept = (f64::INFINITY, logs.clone());
    for step in 0..SIZE_STEPS {
        let mut sizes = vec![0.0; width];
        for (row, _) in probabilities.chunks_exact(width).zip(free).filter(|(_, free)| **free) {
            let weighed: Vec<f64> = row.iter().zip(&logs).map(|(p, log)| p.max(1e-300).ln() + log).collect();
            sizes[best(&weighed).0 as usize] += 1.0;
        }
        let miss: f64 = sizes.iter().zip(&wanted).map(|(size, share)| (size / n_free - share).abs()).sum();
        if miss < kept.0 {
            kept = (miss, logs.clone());
        }
        if miss == 0.0 {
            break;
        }
        let rate = 2.0 / (1.0 + step as f64 / 20.0);
        for class in 0..width {
            logs[class] += rate * (wanted[class] - sizes[class] / n_free);
        }
    }
    for (row, _) in probabilities.chunks_exact_mut(width).zip(free).filter(|(_, free)| **free) {
        row.iter_mut().zip(&kept.1).for_each(|(p, log)| *p *= log.exp());
        let sum: f64 = row.iter().sum();
        if sum > 0.0 {
            row.iter_mut().for_each(|p| *p /= sum);
        }
    }
    Ok(())
}
