//! The quantile losses, in the paper's convention.
//!
//! For a residual r = w − ŵ the check loss is q_τ(r) = (−τ + 1[r ≥ 0])·r (eq. quant_loss): a positive residual
//! (ŵ too low) weighs 1 − τ, a negative one weighs τ. The usual pinball loss weighs them the other way round:
//! q_τ(r) = pinball_{1−τ}(r). So the minimizer of the paper's loss is the usual (1 − τ)-quantile, and a high τ
//! underestimates.
//!
//! The quantile Huber loss ρ_τ (eq. quantileHuber) replaces the kink by a parabola on [−κτ, κ(1−τ)]; its
//! derivative is ρ′_τ(r) = clip(r/κ, −τ, 1−τ), and ρ_τ → q_τ as κ → 0.

use crate::parameter::choices;

choices! {
    /// The loss of a residual.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Loss = "huber" {
        /// q_τ; its derivative at 0 is taken as 1 − τ, as the paper's 1[r ≥ 0] has it.
        "check" => Check,
        /// ρ_τ, the quantile Huber loss.
        "huber" => Huber {
            /// κ, the half-width of the smoothing.
            kappa: f64 = 0.05, "finite and above 0" => |kappa| *kappa > 0.0 && kappa.is_finite();
        },
    }
}

impl Loss {
    /// The loss of a residual.
    #[inline(always)]
    pub fn value(self, tau: f64, r: f64) -> f64 {
        match self {
            Loss::Check => (if r >= 0.0 { 1.0 - tau } else { -tau }) * r,
            // The parabola and both lines in one formula without branches, so that loops over it vectorize.
            Loss::Huber { kappa } => {
                let slope = self.derivative(tau, r);
                slope * (r - 0.5 * kappa * slope)
            }
        }
    }

    /// Its derivative with respect to the residual.
    #[inline(always)]
    pub fn derivative(self, tau: f64, r: f64) -> f64 {
        match self {
            Loss::Check => {
                if r >= 0.0 {
                    1.0 - tau
                } else {
                    -tau
                }
            }
            Loss::Huber { kappa } => (r / kappa).clamp(-tau, 1.0 - tau),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn derivatives_match_finite_differences(tau in 0.05f64..0.95, r in -2.0f64..2.0, kappa in 0.05f64..1.0) {
            for loss in [Loss::Check, Loss::Huber { kappa }] {
                let h = 1e-6;
                let kinks = [0.0, -tau * kappa, (1.0 - tau) * kappa];
                prop_assume!(kinks.iter().all(|kink| (r - kink).abs() > 2.0 * h));
                let slope = (loss.value(tau, r + h) - loss.value(tau, r - h)) / (2.0 * h);
                prop_assert!((slope - loss.derivative(tau, r)).abs() < 1e-6 / kappa, "{loss:?}");
            }
        }

        #[test]
        fn huber_is_continuous_and_tends_to_check(tau in 0.05f64..0.95, r in -2.0f64..2.0) {
            for kappa in [0.5, 0.05] {
                let huber = Loss::Huber { kappa };
                for joint in [-tau * kappa, (1.0 - tau) * kappa] {
                    prop_assert!((huber.value(tau, joint - 1e-12) - huber.value(tau, joint + 1e-12)).abs() < 1e-11);
                }
                prop_assert!((huber.value(tau, r) - Loss::Check.value(tau, r)).abs() <= kappa / 2.0);
            }
        }

        #[test]
        fn check_is_the_pinball_of_the_opposite_quantile(tau in 0.05f64..0.95, r in -2.0f64..2.0) {
            let pinball = |q: f64| if r >= 0.0 { q * r } else { (q - 1.0) * r };
            prop_assert!((Loss::Check.value(tau, r) - pinball(1.0 - tau)).abs() < 1e-15);
        }
    }

    #[test]
    fn a_high_tau_underestimates() {
        let sample: Vec<f64> = (0..101).map(f64::from).collect();
        let best = |tau: f64| {
            let cost = |guess: f64| sample.iter().map(|w| Loss::Check.value(tau, w - guess)).sum::<f64>();
            (0..101).map(f64::from).min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap()
        };
        assert!((best(0.9) - 10.0).abs() <= 1.0);
        assert!((best(0.1) - 90.0).abs() <= 1.0);
    }
}
