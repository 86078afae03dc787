//! Class-mass normalization (Zhu, Ghahramani, Lafferty 2003), as far as masses and priors mean something.
//!
//! The mass of a class is the sum of its scores over the unlabeled nodes. With one labeled point for each class masses depend on where
//! these points happen to lie, and dividing by them helps most; with a single node left to label its scores are the masses, and dividing
//! by them would leave nothing but the prior. The scores of class c are therefore multiplied by (π_c·U/mass_c)^t with
//!
//! t = U/(U + L/4)
//!
//! for U unlabeled and L labeled nodes. Priors π that were not given are (n_c + 1)/(L + C), n_c the labeled nodes of each of the C classes.
//!
//! On dense graphs harmonic functions are nearly constant, at the shares of the classes among the labels. Such scores tell classes apart
//! only by small deviations, and the class with the largest estimated prior would take all. With κ the mean deviation of the scores from
//! the shares of the labels (0 if they are constant, 1 if they are decided), estimated priors are therefore raised to the power
//! κ⁴/(κ⁴ + .35⁴). docs/decisions/0026 tells how the constants were chosen.

use super::Priors;
use super::decide::checked_shares;
use super::labeled_nodes::LabeledNodes;
use crate::error::Result;

/// Unlabeled nodes for each labeled one at which masses count half.
const FEW_UNLABELED: f64 = 0.25;
/// The mean deviation at which scores count as half decided.
const HALF_DECIDED: f64 = 0.35;

/// How likely the classes are before anything is known of a node.
pub(super) fn priors_of(params: &Priors, labeled: &LabeledNodes) -> Result<Vec<f64>> {
    let width = labeled.n_classes();
    Ok(match params {
        Priors::Uniform => vec![1.0 / width as f64; width],
        Priors::Given { shares } => checked_shares("class priors", shares, width)?,
        Priors::Estimated => {
            let counts: Vec<f64> = labeled.weight_of_classes().iter().map(|weight| weight + 1.0).collect();
            let total: f64 = counts.iter().sum();
            counts.into_iter().map(|count| count / total).collect()
        }
    })
}

/// t.
pub(super) fn exponent(n_unlabeled: usize, n_labeled: f64) -> f64 {
    n_unlabeled as f64 / (n_unlabeled as f64 + FEW_UNLABELED * n_labeled)
}

/// What is known of the classes over the unlabeled nodes.
pub(super) struct ClassMasses {
    /// Sum of the scores of each class.
    pub masses: Vec<f64>,
    /// Number of unlabeled nodes.
    pub n_unlabeled: usize,
    /// Number of labeled nodes, by weight.
    pub n_labeled: f64,
    /// κ.
    pub deviation: f64,
}

impl ClassMasses {
    /// What the scores of each class are multiplied by. A class that reaches no unlabeled node has no mass to normalize. Priors that
    /// were given hold whatever the scores are.
    pub fn weights(&self, priors: &[f64], are_given: bool) -> Vec<f64> {
        let t = exponent(self.n_unlabeled, self.n_labeled);
        let decided = 1.0 / (1.0 + (HALF_DECIDED / self.deviation.max(f64::MIN_POSITIVE)).powi(4));
        let of_prior = if are_given { t } else { decided * t };
        let weight = |(mass, prior): (&f64, &f64)| match *mass > 0.0 {
            true => prior.powf(of_prior) * (self.n_unlabeled as f64 / mass).powf(t),
            false => 1.0,
        };
        self.masses.iter().zip(priors).map(weight).collect()
    }
}

/// κ: the mean over rows of the total variation between the shares of the classes there and among the labels, over its largest mean.
pub(super) fn deviation<'a>(rows: impl Iterator<Item = &'a [f64]>, of_labels: &[f64]) -> f64 {
    let (mut sum, mut n) = (0.0, 0.0);
    for row in rows {
        let total: f64 = row.iter().map(|score| score.max(0.0)).sum();
        if total > 0.0 {
            let differences =
                row.iter().zip(of_labels).map(|(score, share)| (score.max(0.0) / total - share).abs());
            sum += 0.5 * differences.sum::<f64>();
            n += 1.0;
        }
    }
    let largest = 1.0 - of_labels.iter().map(|share| share * share).sum::<f64>();
    if n > 0.0 { sum / n / largest } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masses_count_where_they_mean_something() {
        // One label for each class and many unlabeled nodes: nearly all.
        assert!(exponent(1000, 3.0) > 0.999);
        // One node left: next to nothing.
        assert!(exponent(1, 149.0) < 0.03);
        assert_eq!((exponent(0, 150.0), exponent(25, 100.0)), (0.0, 0.5));
        let masses = |n_labeled, deviation| ClassMasses {
            masses: vec![30.0, 10.0],
            n_unlabeled: 40,
            n_labeled,
            deviation,
        };
        // Flat scores: by mass alone; estimated priors do not count, given ones do.
        let ratio = |weights: Vec<f64>| weights[1] / weights[0];
        let t = exponent(40, 2.0);
        assert!((ratio(masses(2.0, 0.0).weights(&[0.9, 0.1], false)) - 3.0f64.powf(t)).abs() < 1e-12);
        assert!((ratio(masses(2.0, 0.0).weights(&[0.9, 0.1], true)) - (3.0f64 / 9.0).powf(t)).abs() < 1e-12);
        let decided = ratio(masses(2.0, 1.0).weights(&[0.9, 0.1], false));
        assert!((decided - (3.0f64 / 9.0).powf(t)).abs() < 0.02, "{decided}");
        // Decided scores and many labels: the plain answer.
        assert!((ratio(masses(1e6, 1e9).weights(&[0.9, 0.1], false)) - 1.0).abs() < 1e-3);
    }

    #[test]
    fn deviation_is_0_for_the_shares_of_the_labels_and_1_for_decisions() {
        let flat = [0.2, 0.8, 0.1, 0.4];
        assert!(deviation(flat.chunks(2), &[0.2, 0.8]) < 1e-12);
        let decided = [1.0, 0.0, 0.0, 3.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0];
        assert!((deviation(decided.chunks(2), &[0.2, 0.8]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn priors_are_those_of_the_labeled_nodes() {
        let labeled = LabeledNodes::new(vec![Some(0), Some(1), Some(1), None, Some(1)], 2).unwrap();
        assert_eq!(priors_of(&Priors::Estimated, &labeled).unwrap(), [2.0 / 6.0, 4.0 / 6.0]);
        assert_eq!(priors_of(&Priors::Uniform, &labeled).unwrap(), [0.5, 0.5]);
    }
}
