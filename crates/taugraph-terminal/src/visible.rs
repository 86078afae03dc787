//! Text from a file on a terminal: what would control the terminal is made visible.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with control characters escaped, as `\u{1b}`; lines and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| acts(letter) && !matches!(letter, '\n' | '\t'))
}

/// The same for a text that is to stay in its line.
pub fn visible_in_line(text: &str) -> Cow<'_, str> {
    escaped(text, acts)
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut visible = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match (is_escaped(letter), letter) {
            (false, _) => visible.push(letter),
            (true, '\n' | '\t' | '\r') => visible.extend(letter.escape_debug()),
            (true, _) => {
                let _ = write!(visible, "\\u{{{:x}}}", u32::from(letter));
            }
        }
    }
    Cow::Owned(visible)
}

/// Whether a character does something other than to be seen: controls, line separators, and those that turn the direction of text.
fn acts(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{61c}')
        || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_made_visible_and_the_rest_stays() {
        let plain = "größe µ 你好 ▁▂▃ 'a b'\n\tnext";
        assert!(matches!(visible(plain), Cow::Borrowed(_)));
        assert_eq!(visible("\x1b[31mred\x07\r\u{9b}2J\u{202e}"), "\\u{1b}[31mred\\u{7}\\r\\u{9b}2J\\u{202e}");
        assert_eq!(visible_in_line("a\nerror: b\tc"), "a\\nerror: b\\tc");
    }
}
