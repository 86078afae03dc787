//! Numbers and lists as people read them.

/// Heights of a few numbers, in one line.
pub fn sparkline(counts: &[usize]) -> String {
    const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    counts.iter().map(|&count| BARS[(count * 8).div_ceil(most)]).collect()
}

/// Mean and standard deviation, as 0.97 ± 0.02.
pub fn mean_and_deviation(values: &[f64], digits: usize) -> String {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    format!("{mean:.digits$} ± {:.digits$}", variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_drawn() {
        assert_eq!(sparkline(&[8, 4, 1, 0]), "█▄▁ ");
        assert_eq!(sparkline(&[0, 0]), "  ");
        assert_eq!(mean_and_deviation(&[1.0, 2.0, 3.0], 2), "2.00 ± 1.00");
        assert_eq!(mean_and_deviation(&[1.0], 1), "1.0 ± 0.0");
    }
}
