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

/// How scores become probabilities, from all of them together.
pub(super) struct Comparison {
    how: How,
    priors: Vec<f64>,
}

enum How {
    /// Scores times the weights of the classes.
    Weighted(Vec<f64>),
    /// Softmax of the scores in units of their spread: a graded ranking, not calibrated frequencies.
    Softened { spread: f64, priors: Vec<f64> },
}

impl Comparison {
    pub fn new(
        scores: &[f64],
        scale: Scale,
        labeled: &LabeledNodes,
        reached: &[bool],
        priors: &Priors,
    ) -> Result<Self> {
        let width = labeled.n_classes();
        let are_given = *priors != Priors::Estimated;
        let priors = priors_of(priors, labeled)?;
        let how = match scale {
            Scale::Mass => How::Weighted(class_weights(scores, (&priors, are_given), labeled, reached)),
            Scale::Difference => How::Softened {
                spread: spread(scores, width, reached),
                priors: if are_given { priors.clone() } else { vec![1.0 / width as f64; width] },
            },
        };
        Ok(Self { how, priors })
    }

    /// Probabilities of the classes from their scores at a node that a label reaches.
    pub fn probabilities(&self, row: &[f64]) -> Vec<f64> {
        let mut values: Vec<f64> = match &self.how {
            How::Weighted(weights) => {
                row.iter().zip(weights).map(|(score, weight)| score.max(0.0) * weight).collect()
            }
            How::Softened { spread, priors } => {
                let best = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let softly = |(score, prior): (&f64, &f64)| match best.is_finite() {
                    true => prior * ((score - best) / spread).exp(),
                    false => 0.0,
                };
                row.iter().zip(priors).map(softly).collect()
            }
        };
        let sum: f64 = values.iter().sum();
        if sum > 0.0 && sum.is_finite() {
            values.iter_mut().for_each(|value| *value /= sum);
            values
        } else {
            // Every score underflowed: all that is known is that some label reaches the node.
            self.priors.clone()
        }
    }
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

/// What each class's scores are multiplied by, so that their sum over the unlabeled nodes approaches its prior.
fn class_weights(
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
    let of_classes = labeled.weight_of_classes();
    let n_labeled: f64 = of_classes.iter().sum();
    let of_labels: Vec<f64> = of_classes.iter().map(|weight| weight / n_labeled).collect();
    let deviation = deviation(free(), &of_labels);
    ClassMasses { masses, n_unlabeled: free().count(), n_labeled, deviation }.weights(priors, are_given)
}

/// Standard deviation of the scores below the best of their node.
fn spread(scores: &[f64], width: usize, reached: &[bool]) -> f64 {
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
    if spread > 0.0 { spread } else { 1.0 }
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
