//! How long a training lasts, and how its steps shrink.

use crate::parameter::choices;

choices! {
    /// How long each network is trained, and how its learning rate falls.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Schedule = "steps" {
        /// A fixed number of steps; the learning rate is constant at first and then falls linearly.
        "steps" => Steps {
            /// Mini-batches (SGD, Adam) or iterations (L-BFGS) for each network.
            steps: usize = 250, "at least 1" => |steps| *steps >= 1;
            /// More steps where the points are many: at least so many epochs.
            min_epochs: usize = 25;
            /// Share of the steps at the full learning rate.
            constant: f64 = 0.5, "between 0 and 1" => |share| (0.0..=1.0).contains(share);
            /// Learning rate of the last step, as a share of the full one.
            last_rate: f64 = 0.02, "above 0 and at most 1" => |rate| *rate > 0.0 && *rate <= 1.0;
        },
        /// Epochs at the full learning rate until the loss stops falling.
        "until-converged" => UntilConverged {
            /// Maximum number of epochs (SGD, Adam) or iterations (L-BFGS) for each network.
            max_epochs: usize = 150, "at least 1" => |most| *most >= 1;
            /// Stop once the loss falls by less than this share within `patience` epochs.
            tolerance: f64 = 1e-3, "at least 0" => |tolerance| *tolerance >= 0.0;
            /// Epochs that the loss is watched for.
            patience: usize = 10, "at least 1" => |patience| *patience >= 1;
        },
    }
}

impl Schedule {
    /// The same for another number of steps; converging is up to the loss.
    pub(super) fn with_steps(self, n_steps: usize) -> Self {
        match self {
            Schedule::Steps { min_epochs, constant, last_rate, .. } => {
                Schedule::Steps { steps: n_steps, min_epochs, constant, last_rate }
            }
            until_converged => until_converged,
        }
    }

    /// The same with as many steps as epochs of so many mini-batches need.
    pub(super) fn for_batches(self, n_batches: usize) -> Self {
        match self {
            Schedule::Steps { steps, min_epochs, .. } => {
                self.with_steps(steps.max(min_epochs.saturating_mul(n_batches)))
            }
            until_converged => until_converged,
        }
    }

    /// The learning rate of a step, counted from 0, as a share of the full one.
    pub(super) fn rate(self, step: usize) -> f64 {
        match self {
            Schedule::UntilConverged { .. } => 1.0,
            Schedule::Steps { steps, constant, last_rate, .. } => {
                let progress = (step + 1) as f64 / steps as f64;
                if progress <= constant {
                    1.0
                } else {
                    1.0 - (1.0 - last_rate) * (progress - constant) / (1.0 - constant)
                }
            }
        }
    }

    /// Whether a training of so many steps, or epochs, is over.
    pub(super) fn is_over(self, n_steps: usize, n_epochs: usize) -> bool {
        match self {
            Schedule::Steps { steps, .. } => n_steps >= steps,
            Schedule::UntilConverged { max_epochs, .. } => n_epochs >= max_epochs,
        }
    }

    /// Whether the loss, after each epoch, has stopped falling.
    pub(super) fn has_converged(self, losses: &[f64]) -> bool {
        let Schedule::UntilConverged { tolerance, patience, .. } = self else { return false };
        let Some(before) = losses.len().checked_sub(patience.saturating_add(1)) else { return false };
        let best = |part: &[f64]| part.iter().copied().fold(f64::INFINITY, f64::min);
        let (earlier, recent) = (best(&losses[..=before]), best(&losses[before + 1..]));
        earlier - recent <= tolerance * earlier.abs()
    }

    /// The most epochs of `n_batches` mini-batches each.
    pub(super) fn max_epochs(self, n_batches: usize) -> usize {
        match self {
            Schedule::Steps { steps, .. } => steps.div_ceil(n_batches),
            Schedule::UntilConverged { max_epochs, .. } => max_epochs,
        }
    }

    /// The most iterations of a method that needs all rows for each.
    pub(super) fn max_iterations(self) -> usize {
        self.max_epochs(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_constant_and_then_falls_to_its_last_value() {
        let schedule = Schedule::Steps { steps: 100, min_epochs: 0, constant: 0.5, last_rate: 0.02 };
        assert_eq!((schedule.rate(0), schedule.rate(49)), (1.0, 1.0));
        assert!((schedule.rate(74) - 0.51).abs() < 1e-12 && (schedule.rate(99) - 0.02).abs() < 1e-12);
        assert!((50..99).all(|step| schedule.rate(step + 1) < schedule.rate(step)));
        // Constant throughout, and falling from the first step on.
        let steps = 4;
        assert_eq!(Schedule::Steps { steps, min_epochs: 0, constant: 1.0, last_rate: 0.02 }.rate(3), 1.0);
        assert_eq!(Schedule::Steps { steps, min_epochs: 0, constant: 0.0, last_rate: 0.5 }.rate(1), 0.75);
    }

    #[test]
    fn convergence_needs_patience() {
        let schedule = Schedule::UntilConverged { max_epochs: 10, tolerance: 0.01, patience: 2 };
        assert!(!schedule.has_converged(&[3.0, 2.0]));
        assert!(!schedule.has_converged(&[3.0, 2.0, 1.0]));
        assert!(schedule.has_converged(&[1.0, 1.0, 0.999]));
        assert!(!Schedule::default().has_converged(&[1.0; 50]), "a fixed number of steps is a fixed number");
    }

    #[test]
    fn there_are_enough_epochs_for_many_points() {
        let epochs = |n_batches| Schedule::default().for_batches(n_batches).max_epochs(n_batches);
        assert_eq!([3, 10, 11, 1000].map(epochs), [84, 25, 25, 25]);
        let few = Schedule::default().for_batches(3);
        assert!(few.is_over(250, 1) && !few.is_over(249, 1000));
        assert!(!Schedule::default().for_batches(20).is_over(499, 24));
    }
}
