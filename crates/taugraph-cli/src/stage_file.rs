//! A finished stage as a file: a mark, the arrays with the description of their run, and a hash of all of it. Nothing of it is
//! believed before the hash is verified.

use std::fmt;
use std::io::{Read, Write};

use sha2::{Digest, Sha256};
use taugraph::arrays::Arrays;

/// The first bytes: a file with others is not ours.
pub const MARK: &[u8] = b"taugraph stage 1\n";
/// Bytes of the hash, which are the last ones.
const HASH_BYTES: u64 = 32;

/// Why a stage is computed again.
#[derive(Debug, PartialEq)]
pub enum Unusable {
    /// It is not what was written.
    Damaged(String),
    /// It is whole, but of another run.
    OfAnotherRun,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unusable::Damaged(problem) => write!(f, "is damaged ({problem})"),
            Unusable::OfAnotherRun => f.write_str("belongs to a run with other data or parameters"),
        }
    }
}

/// Everything that passes, hashed.
struct Hashed<T> {
    inner: T,
    hash: Sha256,
}

impl<T> Hashed<T> {
    /// The name of the stage counts: a stage under the name of another is damaged.
    fn new(inner: T, stage: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update((stage.len() as u64).to_le_bytes());
        hash.update(stage);
        Self { inner, hash }
    }
}

impl<T: Write> Write for Hashed<T> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

impl<T: Read> Read for Hashed<T> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.read(bytes)?;
        self.hash.update(&bytes[..read]);
        Ok(read)
    }
}

/// Writes a stage of a run.
pub fn write_stage(stage: &str, run: &str, arrays: &Arrays<'_>, out: &mut dyn Write) -> std::io::Result<()> {
    let mut hashed = Hashed::new(out, stage);
    hashed.write_all(MARK)?;
    arrays.write(run, &mut hashed)?;
    let Hashed { inner, hash } = hashed;
    inner.write_all(&hash.finalize())
}

/// Reads a stage of `size` bytes that was written with the same name and the same description.
pub fn read_stage(
    stage: &str,
    run: &str,
    input: &mut dyn Read,
    size: u64,
) -> Result<Arrays<'static>, Unusable> {
    let damaged = |problem: &str| Unusable::Damaged(problem.to_string());
    let n_arrays =
        size.checked_sub(MARK.len() as u64 + HASH_BYTES).ok_or_else(|| damaged("it is too short"))?;
    let mut hashed = Hashed::new(&mut *input, stage);
    let mut mark = [0; MARK.len()];
    hashed.read_exact(&mut mark).map_err(|error| damaged(&error.to_string()))?;
    if mark != MARK {
        return Err(damaged("it does not begin as a stage does"));
    }
    // The arrays take no more memory than the file has bytes, whatever it claims.
    let (of_run, arrays) = Arrays::read(&mut (&mut hashed).take(n_arrays), Some(n_arrays))
        .map_err(|error| damaged(&error.to_string()))?;
    let expected = hashed.hash.finalize();
    let mut found = [0; HASH_BYTES as usize];
    input.read_exact(&mut found).map_err(|error| damaged(&error.to_string()))?;
    if found[..] != expected[..] {
        return Err(damaged("its hash does not match"));
    }
    if input.read(&mut [0]).map_err(|error| damaged(&error.to_string()))? > 0 {
        return Err(damaged("it continues after its end"));
    }
    if of_run == run { Ok(arrays) } else { Err(Unusable::OfAnotherRun) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "{\"settings\":{\"seed\":7}}";

    /// The stages that tests damage: many values, few values, none.
    fn samples() -> Vec<(&'static str, Arrays<'static>)> {
        let mut graph = Arrays::new();
        graph.put("weights", None, (0..2000).map(|i| (i as f64).sin()).collect::<Vec<_>>());
        graph.put("ids", None, (0..2000).map(|i| i * 7 % 2000).collect::<Vec<u32>>());
        let mut clusters = Arrays::new();
        clusters.put("labels", None, vec![0u32, 1, 1, 0]);
        vec![("graph", graph), ("clusters", clusters), ("empty", Arrays::new())]
    }

    /// A linear congruential generator (Knuth's MMIX).
    struct Draws(u64);

    impl Draws {
        fn below(&mut self, bound: usize) -> usize {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((self.0 >> 33) % bound as u64) as usize
        }
    }

    fn bytes_of(stage: &str, run: &str, arrays: &Arrays<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_stage(stage, run, arrays, &mut bytes).unwrap();
        bytes
    }

    fn read(stage: &str, bytes: &[u8]) -> Result<Arrays<'static>, Unusable> {
        read_stage(stage, RUN, &mut &bytes[..], bytes.len() as u64)
    }

    #[test]
    fn stages_come_back() {
        for (stage, arrays) in samples() {
            let bytes = bytes_of(stage, RUN, &arrays);
            assert!(bytes.starts_with(MARK));
            assert_eq!(read(stage, &bytes).unwrap(), arrays);
            let other = bytes_of(stage, "{\"settings\":{\"seed\":8}}", &arrays);
            assert_eq!(read(stage, &other), Err(Unusable::OfAnotherRun));
            assert!(matches!(read("neighbors", &bytes), Err(Unusable::Damaged(_))), "under another name");
            // A file that has grown since its size was asked for.
            let longer = [&bytes[..], b"x"].concat();
            let found = read_stage(stage, RUN, &mut &longer[..], bytes.len() as u64);
            assert_eq!(found, Err(Unusable::Damaged("it continues after its end".to_string())));
        }
    }

    #[test]
    fn of_twelve_thousand_damaged_stages_none_is_believed() {
        let (samples, mut n_damaged) = (samples(), 0);
        let mut draws = Draws(5);
        for round in 0..12_000 {
            let (stage, arrays) = &samples[round % samples.len()];
            let whole = bytes_of(stage, RUN, arrays);
            let mut bytes = whole.clone();
            let place = draws.below(bytes.len());
            match round % 8 {
                0 | 1 => bytes[place] ^= 1 << draws.below(8),
                2 => bytes.truncate(place),
                3 => {
                    let end = (place + 1 + draws.below(4096)).min(bytes.len());
                    bytes[place..end].fill(0);
                }
                4 => {
                    let start = bytes.len().saturating_sub(1 + draws.below(4096));
                    bytes[start..].fill(0);
                }
                5 => {
                    let more = 1 + draws.below(64);
                    bytes.extend((0..more).map(|_| draws.below(256) as u8));
                }
                6 => {
                    let other = draws.below(bytes.len());
                    bytes.swap(place, other);
                }
                _ => {
                    // The beginning of one stage and the end of another.
                    let (stage, arrays) = &samples[(round + 1) % samples.len()];
                    let other = bytes_of(stage, RUN, arrays);
                    bytes.truncate(place);
                    bytes.extend(&other[place.min(other.len())..]);
                }
            }
            if bytes == whole {
                continue;
            }
            n_damaged += 1;
            assert!(matches!(read(stage, &bytes), Err(Unusable::Damaged(_))), "round {round}");
        }
        assert!(n_damaged > 10_000, "{n_damaged}");
    }
}
