//! Calibrated probabilities: a temperature, fitted on labeled points whose own label is left out.
//!
//! Class masses are shares, but not frequencies: harmonic functions are flat where labels are few and too sure where they are many.
//! p^(1/T), normalized, has the same order for any T; T is the one under which the left-out labels are likeliest, with a prior that
//! ln T is about 0 ± .3: a few dozen rows without an error would otherwise make all others certain. That needs enough labeled points,
//! and classes with more than one.

use super::labeled_nodes::LabeledNodes;
use crate::random::{Stage, Stream};

/// Fewer labeled points say too little.
const MIN_LEFT_OUT: usize = 20;
/// More cost time and add nothing.
const MAX_LEFT_OUT: usize = 128;
/// Standard deviation of ln T before anything is known.
const PRIOR: f64 = 0.3;
/// Probabilities below this count as this.
const LEAST: f64 = 1e-6;
/// Temperatures between its inverse and this.
const MAX_TEMPERATURE: f64 = 10.0;

/// The labeled nodes to leave out, one at a time: those whose class has others, at most [`MAX_LEFT_OUT`] drawn at random, none if there are
/// too few.
pub(super) fn left_out(labeled: &LabeledNodes, seed: u64) -> Vec<u32> {
    let mut counts = vec![0; labeled.n_classes()];
    labeled.iter().for_each(|(_, class)| counts[class as usize] += 1);
    let mut drawn: Vec<(u32, u32)> = labeled
        .iter()
        .filter(|(_, class)| counts[*class as usize] > 1)
        .map(|(node, _)| (Stream::new(seed, Stage::Calibration).at(node, 0).bits(), node))
        .collect();
    if drawn.len() < MIN_LEFT_OUT {
        return Vec::new();
    }
    drawn.sort_unstable();
    let mut nodes: Vec<u32> = drawn.into_iter().take(MAX_LEFT_OUT).map(|drawn| drawn.1).collect();
    nodes.sort_unstable();
    nodes
}

/// How many labeled nodes may be left out, whichever are drawn.
pub(super) fn n_left_out(labeled: &LabeledNodes) -> usize {
    left_out(labeled, 0).len()
}

/// The temperature under which the true classes are likeliest; `None` if there are too few rows.
pub(super) fn temperature(rows: &[(Vec<f64>, u32)]) -> Option<f64> {
    if rows.len() < MIN_LEFT_OUT {
        return None;
    }
    let logs: Vec<(Vec<f64>, usize)> = rows
        .iter()
        .map(|(row, class)| (row.iter().map(|p| p.max(LEAST).ln()).collect(), *class as usize))
        .collect();
    let loss = |log_temperature: f64| {
        let inverse = (-log_temperature).exp();
        let of_row = |(logs, class): &(Vec<f64>, usize)| {
            let highest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = logs.iter().map(|log| ((log - highest) * inverse).exp()).sum();
            sum.ln() - (logs[*class] - highest) * inverse
        };
        logs.iter().map(of_row).sum::<f64>() + 0.5 * (log_temperature / PRIOR).powi(2)
    };
    // Golden sections. The likelihood alone is convex in 1/T; with the prior a second minimum would have to lie far from T = 1.
    let golden = 0.5 * (5f64.sqrt() - 1.0);
    let (mut low, mut high) = (-MAX_TEMPERATURE.ln(), MAX_TEMPERATURE.ln());
    while high - low > 1e-4 {
        let (left, right) = (high - golden * (high - low), low + golden * (high - low));
        if loss(left) < loss(right) {
            high = right;
        } else {
            low = left;
        }
    }
    Some((0.5 * (low + high)).exp())
}

/// p^(1/T), normalized.
pub(super) fn at_temperature(row: &mut [f64], temperature: f64) {
    let highest = row.iter().copied().fold(0.0, f64::max);
    if highest > 0.0 {
        row.iter_mut().for_each(|p| *p = (*p / highest).powf(1.0 / temperature));
        let sum: f64 = row.iter().sum();
        row.iter_mut().for_each(|p| *p /= sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that say .9 and are right in a share of the cases.
    fn rows(n: usize, right: usize) -> Vec<(Vec<f64>, u32)> {
        (0..n).map(|row| (vec![0.9, 0.1], u32::from(row >= right))).collect()
    }

    #[test]
    fn temperatures_make_probabilities_frequencies() {
        for right in [6000, 7500, 9000, 9800] {
            let temperature = temperature(&rows(10_000, right)).unwrap();
            let mut row = [0.9, 0.1];
            at_temperature(&mut row, temperature);
            assert!((row[0] - right as f64 / 10_000.0).abs() < 0.01, "{right}: {row:?} at {temperature}");
            assert!((row[0] + row[1] - 1.0).abs() < 1e-12);
        }
        assert_eq!(temperature(&rows(19, 15)), None);
        // All wrong: nearly flat, but the order stays. A few rows without an error hardly change anything.
        assert!(temperature(&rows(1000, 0)).unwrap() > 0.9 * MAX_TEMPERATURE);
        assert!(temperature(&rows(20, 20)).unwrap() > 0.7);
        let mut nothing = [0.0; 3];
        at_temperature(&mut nothing, 2.0);
        assert_eq!(nothing, [0.0; 3]);
    }

    #[test]
    fn only_classes_with_other_labeled_points_are_left_out() {
        let mut labels: Vec<Option<u32>> = (0..200).map(|node| Some(node % 2)).collect();
        labels.extend([Some(2), None]);
        let labeled = LabeledNodes::new(labels, 3).unwrap();
        let nodes = left_out(&labeled, 7);
        assert_eq!(nodes.len(), MAX_LEFT_OUT);
        assert!(nodes.windows(2).all(|pair| pair[0] < pair[1]) && nodes.iter().all(|&node| node < 200));
        assert_ne!(nodes, left_out(&labeled, 8));
        let few = LabeledNodes::new((0..19).map(|node| Some(node % 2)).collect(), 2).unwrap();
        assert!(left_out(&few, 7).is_empty());
    }
}
