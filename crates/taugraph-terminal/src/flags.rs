//! Flags that every program has: threads and memory.

use crate::failure::{Failure, Outcome};

/// Sets the number of threads; to be called once, before the library is used. `None` uses all cores.
pub fn use_threads(threads: Option<usize>) -> Outcome<()> {
    let Some(threads) = threads else { return Ok(()) };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .map_err(|error| Failure::Computation(format!("{threads} threads could not be started: {error}")))
}

/// 500M, 4G, 1.5g or plain bytes.
pub fn size_in_bytes(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let lower = lower.trim_end_matches('b').trim_end_matches('i');
    let (number, unit) = match lower.char_indices().last() {
        Some((last, 'k')) => (&lower[..last], 1u64 << 10),
        Some((last, 'm')) => (&lower[..last], 1 << 20),
        Some((last, 'g')) => (&lower[..last], 1 << 30),
        Some((last, 't')) => (&lower[..last], 1 << 40),
        _ => (lower, 1),
    };
    match number.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok((number * unit as f64) as u64),
        _ => Err("a size like 500M or 4G is needed".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::size_in_bytes;

    #[test]
    fn sizes_have_units() {
        assert_eq!(size_in_bytes("500M"), Ok(500 << 20));
        assert_eq!(size_in_bytes("1.5GiB"), Ok(3 << 29));
        assert_eq!(size_in_bytes("1234"), Ok(1234));
        assert!(
            size_in_bytes("-1G").is_err() && size_in_bytes("much").is_err() && size_in_bytes("").is_err()
        );
    }
}
