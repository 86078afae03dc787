//! Progress of a block Davidson iteration: which pairs have converged, and which to improve next.

use crate::linear::LANES;

/// Residuals relative to the norm bound below this are rounding.
const ROUNDING: f64 = 1e-14;
/// The next pair is taken to lie above the wanted ones once its residual is below this fraction of its distance.
const SURE: f64 = 0.1;
/// Residuals must fall to this fraction of what the angle allows: the distance to the next pair is known only to a tenth ([`SURE`]).
const OF_ANGLE: f64 = 0.5;
/// The space of the wanted pairs must be known to within this angle, however close their eigenvalues are.
const LARGEST_ANGLE: f64 = 1e-3;

/// How good the best pairs of a space are.
#[derive(Clone)]
pub(crate) struct Quality {
    wanted: usize,
    /// |L·u − λ·u| of each pair.
    pub lengths: Vec<f64>,
    /// Distance from the last wanted eigenvalue to the next, if there is one.
    pub distance: Option<f64>,
    /// Residual at which a wanted pair has converged.
    goal: f64,
    rounding: f64,
}

impl Quality {
    /// All arguments are in the unit of the residuals.
    pub fn new(
        values: &[f64],
        lengths: Vec<f64>,
        wanted: usize,
        tolerance: f64,
        angle: f64,
        bound: f64,
    ) -> Self {
        let distance = (values.len() > wanted).then(|| values[wanted] - values[wanted - 1]);
        let gap = distance.unwrap_or(0.0);
        let rounding = ROUNDING * bound;
        let goal = tolerance.min(LARGEST_ANGLE * gap).max(OF_ANGLE * angle * gap).max(rounding);
        Self { wanted, lengths: lengths[..values.len()].to_vec(), distance, goal, rounding }
    }

    /// Residual at which a wanted pair has converged.
    pub fn goal(&self) -> f64 {
        self.goal
    }

    /// Whether a pair has not converged.
    pub fn is_pending(&self, rank: usize) -> bool {
        self.lengths[rank] > self.goal_of(rank)
    }

    fn goal_of(&self, rank: usize) -> f64 {
        match rank {
            rank if rank < self.wanted => self.goal,
            rank if rank == self.wanted => self.goal.max(SURE * self.distance.unwrap_or(0.0)),
            _ => f64::INFINITY,
        }
    }

    /// The largest residual in units of what suffices for its pair.
    pub fn excess(&self) -> f64 {
        let lengths = self.lengths.iter().enumerate();
        lengths.map(|(rank, length)| length / self.goal_of(rank)).fold(0.0, f64::max)
    }

    /// Whether the wanted pairs have converged, and the next is known to lie above them.
    pub fn is_done(&self) -> bool {
        self.distance.is_some() && !(0..=self.wanted).any(|rank| self.is_pending(rank))
    }

    /// Whether the wanted pairs are within the tolerance.
    pub fn is_within(&self, tolerance: f64) -> bool {
        self.distance.is_some() && self.lengths[..self.wanted].iter().all(|&length| length <= tolerance)
    }

    pub fn worst(&self) -> f64 {
        self.lengths.iter().take(self.wanted + 1).copied().fold(0.0, f64::max)
    }

    /// Pairs that have not converged, and as many of the next pairs as fit in the lanes.
    pub fn to_improve(&self) -> Vec<usize> {
        let ranks = 0..self.lengths.len();
        let mut named: Vec<usize> = ranks.clone().filter(|&rank| self.is_pending(rank)).collect();
        let is_other = |&rank: &usize| !self.is_pending(rank) && self.lengths[rank] > self.rounding;
        let spare = named.len().next_multiple_of(LANES) - named.len();
        named.extend(ranks.rev().filter(is_other).take(spare));
        named
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quality(lengths: [f64; 5]) -> Quality {
        Quality::new(&[0.1, 0.2, 1.2, 1.3, 1.4], lengths.to_vec(), 2, 1e-6, 0.0, 2.0)
    }

    #[test]
    fn done_once_the_wanted_pairs_have_converged_and_the_next_is_known_to_lie_above() {
        assert!(quality([1e-7, 1e-7, 0.05, 0.4, 0.4]).is_done());
        assert!(!quality([1e-7, 1e-7, 0.2, 0.4, 0.4]).is_done());
        let unconverged = quality([1e-7, 1e-5, 0.05, 0.4, 0.4]);
        assert!(!unconverged.is_done() && !unconverged.is_within(1e-6));
        assert_eq!(unconverged.worst(), 0.05);
    }

    /// The last pairs fill up the lanes, except those that are exact up to rounding.
    #[test]
    fn pending_pairs_come_first() {
        assert_eq!(quality([1e-7, 1e-5, 0.2, 0.4, 0.3]).to_improve(), [1, 2, 4, 3]);
        assert_eq!(quality([1e-15, 1e-5, 0.2, 0.4, 1e-15]).to_improve(), [1, 2, 3]);
    }

    #[test]
    fn an_angle_loosens_the_tolerance() {
        let loose = Quality::new(&[0.1, 0.2, 1.2], vec![1e-4, 1e-4, 0.05], 2, 1e-6, 1e-3, 2.0);
        assert!(loose.is_done());
    }
}
