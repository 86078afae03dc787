//! Numbers and lists as people read them.

pub use taugraph::error::grouped;

/// The first names of a list, and how many more there are.
pub fn listed(names: &[String]) -> String {
    const MAX: usize = 12;
    let shown = names[..names.len().min(MAX)].join(", ");
    if names.len() > MAX { format!("{shown} and {} more", grouped(names.len() - MAX)) } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_short() {
        let names: Vec<String> = (0..14).map(|name| name.to_string()).collect();
        assert_eq!(listed(&names), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more");
    }
}
