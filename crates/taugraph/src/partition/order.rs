//! Order statistics of values that are spread over machines: histograms of the leading bits, sixteen at a time.
//!
//! The bits of a number, with the sign turned around, order like the numbers themselves. Four rounds of 65,536 bins find the value of any
//! rank exactly.

/// Bits of one round.
const BITS: u32 = 16;
const ROUNDS: u32 = u64::BITS / BITS;

/// Numbers of values by their next sixteen bits, among those whose leading bits, as many as `round` rounds have found, are those of `prefix`.
///
/// # Panics
/// If there are no further bits in that round.
pub fn bit_histogram(values: &[f64], prefix: u64, round: u32) -> Vec<u64> {
    assert!(round < ROUNDS, "four rounds find all bits");
    let mut counts = vec![0; 1 << BITS];
    let shift = u64::BITS - BITS * (round + 1);
    for &value in values {
        let key = key_of(value) >> shift;
        if key >> BITS == prefix {
            counts[(key & 0xFFFF) as usize] += 1;
        }
    }
    counts
}

/// Orders like the number.
fn key_of(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

/// The number with these bits, found by four rounds.
pub fn value_of_key(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Stage, Stream};

    /// The value of a rank, from several parts of the values.
    fn of_rank(parts: &[&[f64]], rank: u64) -> f64 {
        let (mut prefix, mut rank) = (0, rank);
        for round in 0..ROUNDS {
            let mut counts = vec![0; 1 << BITS];
            for part in parts {
                counts
                    .iter_mut()
                    .zip(bit_histogram(part, prefix, round))
                    .for_each(|(sum, count)| *sum += count);
            }
            let mut bin = 0;
            while rank >= counts[bin] {
                rank -= counts[bin];
                bin += 1;
            }
            prefix = prefix << BITS | bin as u64;
        }
        value_of_key(prefix)
    }

    #[test]
    fn every_rank_is_found() {
        let mut draws = Stream::new(3, Stage::Generator).at(0, 0);
        let mut values: Vec<f64> =
            (0..300).map(|_| draws.normal() * 10f64.powf(draws.normal() * 20.0)).collect();
        values.extend([0.0, 1.0, 1.0, 1.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, -1e-320, 1e-320]);
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        for n_parts in [1, 3] {
            let parts: Vec<&[f64]> = values.chunks(values.len().div_ceil(n_parts)).collect();
            for (rank, &value) in sorted.iter().enumerate() {
                assert_eq!(of_rank(&parts, rank as u64).to_bits(), value.to_bits());
            }
        }
    }
}
