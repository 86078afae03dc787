//! Class-mass normalization (Zhu, Ghahramani, Lafferty 2003), as far as masses and priors mean something.
//!
//! The mass of a class is the sum of its scores over the unlabeled nodes. With one labeled point for each class masses depend on where
//! these points happen to lie, and dividing by them helps most; with a single node left to label its scores are the masses, and dividing
//! by them would leave nothing but the prior. The scores of class c are therefore multiplied by (π_c·U/mass_c)^t with
//!
//! t = U/(U + L/4)
//!
//! for U unlabeled and L labeled nodes. Priors π that were not given are (n_c + 1)/(L + C), n_c the labeled nodes of each of the C classes.
//! docs/decisions/0026 tells how the constant was chosen.

use super::Priors;
use super::decide::checked_shares;
use super::labeled_nodes::LabeledNodes;
use crate::error::Result;

/// Unlabeled nodes for each labeled one at which masses count half.
const FEW_UNLABELED: f64 = 0.25;

/// How likely the classes are before anything is known of a node.
pub(super) fn priors_of(params: &Priors, labeled: &LabeledNodes) -> Result<Vec<f64>> {
    let width = labeled.n_classes();
    Ok(match params {
        Priors::Uniform => vec![1.0 / width as f64; width],
        Priors::Given { shares } => checked_shares("class priors", shares, width)?,
        Priors::Estimated => {
            let mut counts = vec![1.0; width];
            labeled.iter().for_each(|(_, class)| counts[class as usize] += 1.0);
            let total: f64 = counts.iter().sum();
            counts.into_iter().map(|count| count / total).collect()
        }
    })
}

/// t.
pub(super) fn exponent(n_unlabeled: usize, n_labeled: usize) -> f64 {
    n_unlabeled as f64 / (n_unlabeled as f64 + FEW_UNLABELED * n_labeled as f64)
}

/// What the scores of each class are multiplied by. A class that reaches no unlabeled node has no mass to normalize.
pub(super) fn class_weights(masses: &[f64], priors: &[f64], n_unlabeled: usize, exponent: f64) -> Vec<f64> {
    let weight = |(mass, prior): (&f64, &f64)| {
        if *mass > 0.0 { (prior * n_unlabeled as f64 / mass).powf(exponent) } else { 1.0 }
    };
    masses.iter().zip(priors).map(weight).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masses_count_where_they_mean_something() {
        // One label for each class and many unlabeled nodes: nearly all.
        assert!(exponent(1000, 3) > 0.999);
        // One node left: next to nothing.
        assert!(exponent(1, 149) < 0.03);
        assert_eq!((exponent(0, 150), exponent(25, 100)), (0.0, 0.5));
        assert_eq!(class_weights(&[30.0, 10.0], &[0.5, 0.5], 40, 1.0), [20.0 / 30.0, 2.0]);
        assert_eq!(class_weights(&[30.0, 0.0], &[0.5, 0.5], 30, 0.0), [1.0, 1.0]);
    }

    #[test]
    fn priors_are_those_of_the_labeled_nodes() {
        let labeled = LabeledNodes::new(vec![Some(0), Some(1), Some(1), None, Some(1)], 2).unwrap();
        assert_eq!(priors_of(&Priors::Estimated, &labeled).unwrap(), [2.0 / 6.0, 4.0 / 6.0]);
        assert_eq!(priors_of(&Priors::Uniform, &labeled).unwrap(), [0.5, 0.5]);
    }
}
