//! Text for people, JSON for machines.

use std::io::Write;
use std::path::Path;

use serde_json::Value;
use taugraph_io::Output;

use crate::failure::Outcome;

/// Writes to standard error; where that cannot be written there is nobody to tell.
pub fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Writes JSON to a file; `-` is standard output.
pub fn write_json(value: &Value, path: &Path) -> Outcome<()> {
    Ok(Output::new(path).write(|out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        out.write_all(b"\n")
    })?)
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
    use super::grouped;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
