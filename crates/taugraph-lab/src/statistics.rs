//! Means with their spreads, and paired comparisons.

/// Mean.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Standard deviation, over n − 1.
pub fn deviation(values: &[f64]) -> f64 {
    let center = mean(values);
    (values.iter().map(|v| (v - center).powi(2)).sum::<f64>() / (values.len() - 1) as f64).sqrt()
}

/// Mean difference with its standard error, and wins, ties and losses of the first: the end of a table's row.
pub fn paired(a: &[f64], b: &[f64], digits: usize) -> String {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let count = |holds: fn(f64) -> bool| differences.iter().filter(|d| holds(**d)).count();
    format!(
        "{:+.digits$} ± {:.digits$} | {} / {} / {} |",
        mean(&differences),
        deviation(&differences) / (differences.len() as f64).sqrt(),
        count(|d| d > 1e-9),
        count(|d| d.abs() <= 1e-9),
        count(|d| d < -1e-9)
    )
}

/// Correlation of two measurements of the same things; `None` if one of them is constant.
pub fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let (center_a, center_b) = (mean(a), mean(b));
    let product = |x: &[f64], center_x: f64, y: &[f64], center_y: f64| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - center_x) * (y - center_y)).sum()
    };
    let spread = (product(a, center_a, a, center_a) * product(b, center_b, b, center_b)).sqrt();
    (spread > 0.0).then(|| product(a, center_a, b, center_b) / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        assert_eq!((mean(&[1.0, 2.0, 6.0]), deviation(&[1.0, 3.0])), (3.0, 2f64.sqrt()));
        assert_eq!(correlation(&[1.0, 2.0, 3.0], &[6.0, 4.0, 2.0]), Some(-1.0));
        assert_eq!(correlation(&[1.0, 2.0], &[5.0, 5.0]), None);
        assert_eq!(paired(&[1.0, 2.0, 3.0], &[0.0, 2.0, 4.0], 2), "+0.00 ± 0.58 | 1 / 1 / 1 |");
    }
}
