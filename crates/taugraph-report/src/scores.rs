//! How well groups agree with known labels, and with other groups.

use taugraph::Result;
use taugraph::labels::Labels;
use taugraph::metrics::{ari, nmi};

/// Agreement of found groups with known labels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scores {
    pub nmi: f64,
    pub ari: f64,
}

impl Scores {
    /// Over the rows that have a label in both; `None` if there are none.
    pub fn new(known: &[Option<&str>], found: &[Option<u32>]) -> Result<Option<Self>> {
        let both = known.iter().zip(found).filter_map(|(known, found)| known.zip(*found));
        let (known, found): (Vec<&str>, Vec<u32>) = both.unzip();
        if known.is_empty() {
            return Ok(None);
        }
        let (known, _) = Labels::from_names(&known);
        Ok(Some(Self { nmi: nmi(&known, &found)?, ari: ari(&known, &found)? }))
    }
}

/// NMI of two groupings, over the rows that have a group in both.
pub fn agreement(a: &[Option<u32>], b: &[Option<u32>]) -> Result<f64> {
    let both = a.iter().zip(b).filter_map(|(a, b)| a.zip(*b));
    let (a, b): (Vec<u32>, Vec<u32>) = both.unzip();
    Ok(if a.is_empty() { 0.0 } else { nmi(&a, &b)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_a_label_do_not_count() {
        let known = [Some("a"), None, Some("b"), Some("b"), Some("b")];
        let scores = Scores::new(&known, &[Some(1), Some(5), Some(0), Some(0), None]).unwrap().unwrap();
        assert_eq!((scores.nmi, scores.ari), (1.0, 1.0));
        assert_eq!(Scores::new(&[None], &[Some(0)]).unwrap(), None);
        assert_eq!(agreement(&[None, Some(1)], &[Some(0), None]).unwrap(), 0.0);
    }
}
