//! Mean, deviation and range of a column, block by block: blocks may be on different machines, and joined in their order they have the same bits
//! as in one table.

/// Rows of a block.
pub const BLOCK: usize = 1 << 16;

/// What is known of the cells of a column in some rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// Cells that are not missing.
    pub count: u64,
    /// The smallest of them; infinite if there are none.
    pub least: f64,
    /// The largest; minus infinity if there are none.
    pub most: f64,
    /// Their mean; 0 if there are none.
    pub mean: f64,
    /// The sum of the squared distances from the mean, in squares of `unit`: those of large values would overflow.
    pub squares: f64,
    /// A power of two.
    pub unit: f64,
}

impl Moments {
    /// Of no cells.
    pub const NONE: Self = Self {
        count: 0,
        least: f64::INFINITY,
        most: f64::NEG_INFINITY,
        mean: 0.0,
        squares: 0.0,
        unit: f64::MIN_POSITIVE,
    };

    /// Of the cells of one block.
    pub fn of(cells: impl Iterator<Item = f64> + Clone) -> Self {
        let (mut count, mut least, mut most) = (0u64, f64::INFINITY, f64::NEG_INFINITY);
        for cell in cells.clone() {
            (count, least, most) = (count + 1, least.min(cell), most.max(cell));
        }
        if count == 0 {
            return Self::NONE;
        }
        let unit = power_of_two(least.abs().max(most.abs()));
        let mean = cells.clone().map(|cell| cell / unit).sum::<f64>() / count as f64;
        let squares = cells.map(|cell| (cell / unit - mean).powi(2)).sum();
        Self { count, least, most, mean: mean * unit, squares, unit }
    }

    /// With those of the rows that follow (Chan, Golub and LeVeque 1979).
    pub fn joined(self, next: Self) -> Self {
        if self.count == 0 || next.count == 0 {
            return if self.count == 0 { next } else { self };
        }
        let unit = self.unit.max(next.unit);
        let count = self.count + next.count;
        let (own, other) = (self.mean / unit, next.mean / unit);
        let share = next.count as f64 / count as f64;
        let squares = self.squares * (self.unit / unit).powi(2)
            + next.squares * (next.unit / unit).powi(2)
            + (other - own).powi(2) * self.count as f64 * share;
        Self {
            count,
            least: self.least.min(next.least),
            most: self.most.max(next.most),
            mean: (own + (other - own) * share) * unit,
            squares,
            unit,
        }
    }

    /// With so many more cells that all have the same value.
    pub fn filled(self, value: f64, count: u64) -> Self {
        let unit = power_of_two(value.abs());
        match count {
            0 => self,
            _ => self.joined(Self { count, least: value, most: value, mean: value, squares: 0.0, unit }),
        }
    }

    /// The standard deviation, with the number of cells as the divisor.
    pub fn deviation(&self) -> f64 {
        self.unit * (self.squares / self.count.max(1) as f64).sqrt()
    }
}

/// The largest power of two that is not above a positive number; at least the smallest normal one.
fn power_of_two(value: f64) -> f64 {
    const EXPONENT: u64 = 0x7FF0_0000_0000_0000;
    f64::from_bits(value.to_bits() & EXPONENT).max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Stage, Stream};

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * b.abs()
    }

    #[test]
    fn blocks_give_mean_and_deviation_whatever_the_unit() {
        for unit in [1.0, 1e-300, 1e300] {
            let mut draws = Stream::new(4, Stage::Generator).at(0, 0);
            let cells: Vec<f64> = (0..1000).map(|_| unit * (5.0 + draws.normal())).collect();
            let parts = [&cells[..1], &cells[1..400], &[], &cells[400..]];
            let found =
                parts.iter().fold(Moments::NONE, |all, part| all.joined(Moments::of(part.iter().copied())));
            let mean = cells.iter().map(|cell| cell / unit).sum::<f64>() / 1000.0;
            let variance = cells.iter().map(|cell| (cell / unit - mean).powi(2)).sum::<f64>() / 1000.0;
            assert!(
                close(found.mean, mean * unit) && close(found.deviation(), variance.sqrt() * unit),
                "{found:?}"
            );
            assert_eq!(found.count, 1000);
            assert_eq!(found.least, cells.iter().copied().fold(f64::INFINITY, f64::min));
            let filled = found.filled(0.0, 1000);
            assert!(close(filled.mean, 0.5 * mean * unit) && filled.count == 2000);
        }
    }

    #[test]
    fn extremes_neither_overflow_nor_vanish() {
        let found = Moments::of([f64::MAX, f64::MIN].into_iter());
        assert_eq!((found.mean, found.deviation()), (0.0, f64::MAX));
        let tiny = Moments::of([5e-324, 1.5e-323].into_iter());
        assert!(tiny.mean > 0.0 && tiny.deviation() > 0.0);
        assert_eq!(Moments::NONE.joined(Moments::NONE).deviation(), 0.0);
    }
}
