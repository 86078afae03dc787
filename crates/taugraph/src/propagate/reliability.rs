//! How reliable probabilities are: of the rows that were given a class with probability p, the share p should be right.

/// Number of bins, of equal width.
const BINS: usize = 10;

/// Rows whose likeliest class has about the same probability.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ReliabilityBin {
    /// Number of rows.
    pub rows: usize,
    /// Mean probability of their likeliest class.
    pub confidence: f64,
    /// Share of them that have it.
    pub accuracy: f64,
}

/// The reliability curve of probabilities on rows whose class is known but was not given.
#[derive(Debug, Clone, PartialEq)]
pub struct Reliability {
    /// Bins of equal width from 0 to 1.
    pub bins: Vec<ReliabilityBin>,
}

impl Reliability {
    /// Expected calibration error: the mean over rows of the distance between confidence and accuracy of their bin.
    pub fn calibration_error(&self) -> f64 {
        let rows: usize = self.bins.iter().map(|bin| bin.rows).sum();
        let of_bin = |bin: &ReliabilityBin| bin.rows as f64 * (bin.confidence - bin.accuracy).abs();
        if rows == 0 { 0.0 } else { self.bins.iter().map(of_bin).sum::<f64>() / rows as f64 }
    }
}

/// Counts rows by confidence.
#[derive(Debug, Clone)]
pub(super) struct Counts([(usize, f64, usize); BINS]);

impl Default for Counts {
    fn default() -> Self {
        Self([(0, 0.0, 0); BINS])
    }
}

impl Counts {
    pub fn add(&mut self, confidence: f64, is_right: bool) {
        let bin = ((confidence * BINS as f64) as usize).min(BINS - 1);
        let (rows, sum, right) = &mut self.0[bin];
        *rows += 1;
        *sum += confidence;
        *right += usize::from(is_right);
    }

    pub fn join(mut self, other: &Counts) -> Self {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            *own = (own.0 + other.0, own.1 + other.1, own.2 + other.2);
        }
        self
    }

    pub fn reliability(&self) -> Reliability {
        let bin = |&(rows, sum, right): &(usize, f64, usize)| match rows {
            0 => ReliabilityBin::default(),
            _ => ReliabilityBin { rows, confidence: sum / rows as f64, accuracy: right as f64 / rows as f64 },
        };
        Reliability { bins: self.0.iter().map(bin).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_the_distance_between_confidence_and_accuracy() {
        let mut first = Counts::default();
        (0..10).for_each(|row| first.add(0.95, row < 9));
        let mut second = Counts::default();
        (0..10).for_each(|row| second.add(0.65, row < 4));
        second.add(1.0, true);
        let found = first.join(&second).reliability();
        assert_eq!((found.bins[9].rows, found.bins[6].rows, found.bins[0].rows), (11, 10, 0));
        let expected = (11.0 * (10.5f64 / 11.0 - 10.0 / 11.0).abs() + 10.0 * 0.25) / 21.0;
        assert!((found.calibration_error() - expected).abs() < 1e-12);
        assert_eq!(Counts::default().reliability().calibration_error(), 0.0);
    }
}
