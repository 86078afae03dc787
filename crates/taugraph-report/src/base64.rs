//! Base64 (RFC 4648), and columns of numbers as bytes.

use serde_json::{Value, json};

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |place: usize| u32::from(chunk.get(place).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place)) as usize & 63];
            text.push(if place <= chunk.len() { letter as char } else { '=' });
        }
    }
    text
}

/// A column for the script, which reads it by its type.
macro_rules! packed {
    ($name:ident, $type:ty, $label:literal) => {
        pub fn $name(values: impl IntoIterator<Item = $type>) -> Value {
            let bytes: Vec<u8> = values.into_iter().flat_map(|value| value.to_le_bytes()).collect();
            json!({ "type": $label, "base64": encode(&bytes) })
        }
    };
}
packed!(packed_u8, u8, "u8");
packed!(packed_u16, u16, "u16");
packed!(packed_u32, u32, "u32");
packed!(packed_f64, f64, "f64");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_the_standard() {
        let expected = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        for (length, expected) in expected.into_iter().enumerate() {
            assert_eq!(encode(&b"foobar"[..length]), expected);
        }
        assert_eq!(encode(&[0xff, 0xef, 0xbe]), "/+++");
        assert_eq!(packed_u16([1, 258])["base64"], "AQACAQ==");
    }
}
