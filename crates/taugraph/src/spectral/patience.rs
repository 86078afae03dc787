//! When plain Lanczos stops in favor of another method.

use super::solvers::lanczos::Patience;

/// Worst residual after the first steps above which convergence looks doubtful.
const DOUBTFUL: f64 = 2e-2;

/// Continues as long as the pairs look likely to converge in time.
pub(super) struct Forecast {
    tolerance: f64,
    max_applications: usize,
    /// The worst residual at each restart so far.
    seen: Vec<f64>,
}

impl Forecast {
    pub fn new(tolerance: f64, max_applications: usize) -> Self {
        Self { tolerance, max_applications, seen: Vec::new() }
    }

    /// Extrapolates the geometric decrease of the residual over the restarts seen.
    fn is_hopeless(&self, applications: usize) -> bool {
        // Two restarts show a rough rate, three a better one.
        let (worst, rate, patience) = match *self.seen {
            [.., before, _, worst] => (worst, (worst / before).sqrt(), 1.0),
            [before, worst] => (worst, worst / before, 3.0),
            _ => return false,
        };
        if rate >= 1.0 {
            return self.seen.len() > 2;
        }
        let restarts = (0.25 * self.tolerance / worst).ln() / rate.ln();
        let each = applications as f64 / self.seen.len() as f64;
        restarts * each > patience * self.max_applications.saturating_sub(applications) as f64
    }
}

impl Patience for Forecast {
    fn is_doubtful(&self, worst: f64) -> bool {
        worst > DOUBTFUL
    }

    fn gives_up(&mut self, worst: f64, applications: usize) -> bool {
        self.seen.push(worst);
        self.is_hopeless(applications)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steady_progress_is_awaited_and_slow_progress_is_not() {
        let gives_up = |residuals: &[f64]| -> Vec<bool> {
            let mut forecast = Forecast::new(4e-8, 250);
            residuals
                .iter()
                .zip(1..)
                .map(|(&worst, restart)| forecast.gives_up(worst, 20 * restart))
                .collect()
        };
        // Two digits per restart: four more suffice.
        assert_eq!(gives_up(&[1e-2, 1e-4, 1e-6]), [false; 3]);
        // A tenth of a digit per restart; after two the rate is not trusted much.
        assert_eq!(gives_up(&[1e-2, 8e-3, 6.4e-3]), [false, true, true]);
        // A setback is forgiven once.
        assert_eq!(gives_up(&[1e-2, 2e-2, 2e-2]), [false, false, true]);
    }
}
