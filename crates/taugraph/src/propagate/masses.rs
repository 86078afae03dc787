//! Class-mass normalization (Zhu, Ghahramani, Lafferty 2003), as far as masses and priors mean something.
//!
//! The mass of a class is the sum of its scores over the unlabeled nodes. With one labeled point for each class masses depend on where
//! these points happen to lie, and dividing by them helps most; with a single node left to label its scores are the masses, and dividing
//! by them would leave nothing but the prior. The scores of class c are therefore multiplied by (π_c·U/mass_c)^t with
//!
//! t = U/(U + C/4) · 5C/(5C + L − C)
//!
//! for U unlabeled and L labeled nodes of C classes. The second factor is 1 if the priors π were given: the more is labeled, the better the
//! scores tell the shares of the classes by themselves. Priors that were not given are (n_c + 1)/(L + C), n_c the labeled nodes of the
//! class. docs/decisions/0026 tells how the constants were chosen.

use super::Priors;
use super::decide::checked_shares;
use super::labeled_nodes::LabeledNodes;
use crate::error::Result;

/// Unlabeled nodes for each class at which masses count half.
const FEW_UNLABELED: f64 = 0.25;
/// Labeled nodes for each class, beyond the first, at which estimated priors count half.
const MANY_LABELED: f64 = 5.0;

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
pub(super) fn exponent(n_unlabeled: usize, n_labeled: usize, n_classes: usize, are_given: bool) -> f64 {
    let (unlabeled, classes) = (n_unlabeled as f64, n_classes as f64);
    let beyond_first = n_labeled as f64 - classes;
    let of_masses = unlabeled / (unlabeled + FEW_UNLABELED * classes);
    let of_priors = MANY_LABELED * classes / (MANY_LABELED * classes + beyond_first);
    if are_given { of_masses } else { of_masses * of_priors }
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
        assert!(exponent(1000, 3, 3, false) > 0.999);
        // One node left: next to nothing, but what was given counts.
        assert!(exponent(1, 149, 3, false) < 0.06);
        assert!((exponent(1, 149, 3, true) - 1.0 / 1.75).abs() < 1e-12);
        assert_eq!(exponent(0, 150, 3, true), 0.0);
        let half = exponent(1_000_000, 2 + 10, 2, false);
        assert!((half - 0.5).abs() < 1e-6, "{half}");
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
