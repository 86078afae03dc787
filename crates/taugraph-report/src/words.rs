//! Numbers and lists as people read them.

/// The first names of a list, and how many more there are.
pub fn listed(names: &[String]) -> String {
    const MAX: usize = 12;
    let shown = names[..names.len().min(MAX)].join(", ");
    if names.len() > MAX { format!("{shown} and {} more", grouped(names.len() - MAX)) } else { shown }
}

/// 1234567 as 1,234,567.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_lists_are_short() {
        assert_eq!([0, 999, 1_234_567].map(grouped), ["0", "999", "1,234,567"]);
        let names: Vec<String> = (0..14).map(|name| name.to_string()).collect();
        assert_eq!(listed(&names), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more");
    }
}
