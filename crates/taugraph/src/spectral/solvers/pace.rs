//! When a block Davidson iteration is over.

use super::davidson::DavidsonParams;
use super::quality::Quality;

const MAX_STEPS: u32 = 500;
/// Steps without progress after which pairs within the tolerance are accepted: the next pair is too close to be told apart.
const PATIENCE: u32 = 30;

/// How long an iteration has taken, and how far it has come.
#[derive(Clone)]
pub(crate) struct Pace {
    pub step: u32,
    /// Vectors preconditioned so far.
    pub applications: usize,
    /// The smallest worst residual so far, and the step at which it occurred.
    best: (f64, u32),
}

impl Pace {
    /// After a start that took so many applications.
    pub fn new(applications: usize) -> Self {
        Self { step: 0, applications, best: (f64::INFINITY, 0) }
    }

    /// As numbers.
    pub fn to_numbers(&self) -> ([u64; 3], f64) {
        ([u64::from(self.step), self.applications as u64, u64::from(self.best.1)], self.best.0)
    }

    /// The reverse.
    pub fn of_numbers([step, applications, best_step]: [u64; 3], best: f64) -> Self {
        Self { step: step as u32, applications: applications as usize, best: (best, best_step as u32) }
    }

    /// Takes note of the best pairs at a step.
    pub fn note(&mut self, quality: &Quality) {
        if quality.worst() < 0.5 * self.best.0 {
            self.best = (quality.worst(), self.step);
        }
    }

    /// Whether the pairs are confirmed, if the search is over; with `filled` vectors in the space.
    pub fn verdict(&self, quality: &Quality, filled: usize, params: &DavidsonParams) -> Option<bool> {
        let confirmed = filled == params.widths.room
            || quality.is_done()
            || params.told_apart && quality.is_within(params.tolerance);
        let is_stuck = quality.is_within(params.tolerance) && self.step >= self.best.1 + PATIENCE;
        let is_over =
            confirmed || is_stuck || self.applications >= params.max_applications || self.step == MAX_STEPS;
        is_over.then_some(confirmed)
    }
}
