//! Numbers and lists as people read them.

use taugraph_terminal::visible_in_line;

/// Heights of a few numbers, in one line.
pub fn sparkline(counts: &[usize]) -> String {
    const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    counts.iter().map(|&count| BARS[(count * 8).div_ceil(most)]).collect()
}

/// The first of many, in one line.
pub fn listed(parts: impl IntoIterator<Item = String>) -> String {
    const MAX: usize = 12;
    let parts: Vec<String> = parts.into_iter().collect();
    let rest = if parts.len() > MAX { format!(" and {} more", parts.len() - MAX) } else { String::new() };
    visible_in_line(&parts[..parts.len().min(MAX)].join(", ")).into_owned() + &rest
}

/// The first names of many.
pub fn some_of(names: &[String]) -> String {
    listed(names.iter().map(|name| format!("'{name}'")))
}

/// Six significant digits.
pub fn significant(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-4..1e9).contains(&magnitude) {
        return format!("{value:.4e}");
    }
    let before = if magnitude >= 1.0 { magnitude.log10().floor() as i32 + 1 } else { 1 };
    let text = format!("{value:.*}", (6 - before).max(0) as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
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
    fn numbers_are_short() {
        assert_eq!(significant(0.0), "0");
        assert_eq!(significant(1.5), "1.5");
        assert_eq!(significant(-123.456789), "-123.457");
        assert_eq!(significant(1e-9), "1.0000e-9");
        assert_eq!(significant(1234567.0), "1234567");
        assert_eq!(significant(0.1 + 0.2), "0.3");
    }

    #[test]
    fn long_lists_are_cut() {
        let numbers = |n: usize| listed((1..=n).map(|number| number.to_string()));
        assert_eq!((numbers(0), numbers(2)), (String::new(), "1, 2".into()));
        assert!(numbers(12).ends_with(", 12") && numbers(15).ends_with(", 12 and 3 more"));
    }

    #[test]
    fn numbers_are_drawn_and_averaged() {
        assert_eq!(sparkline(&[8, 4, 1, 0]), "█▄▁ ");
        assert_eq!(sparkline(&[0, 0]), "  ");
        assert_eq!(mean_and_deviation(&[1.0, 2.0, 3.0], 2), "2.00 ± 1.00");
        assert_eq!(mean_and_deviation(&[1.0], 1), "1.0 ± 0.0");
    }
}
