//! Quantiles must not cross: Ŵ_τ may not rise with τ.
//!
//! Models trained separately for each τ cross on almost every edge. Sorting the values of an edge in descending
//! order (rearrangement: Chernozhukov, Fernández-Val, Galichon 2010) removes the crossings and never makes the
//! estimate worse.

use rayon::prelude::*;

/// Share of the edges whose values rise somewhere along τ.
pub fn crossing_rate(reconstructions: &[f64], n_taus: usize) -> f64 {
    if reconstructions.is_empty() {
        return 0.0;
    }
    let crossing = reconstructions
        .par_chunks_exact(n_taus)
        .filter(|values| values.windows(2).any(|pair| pair[1] > pair[0]))
        .count();
    crossing as f64 / (reconstructions.len() / n_taus) as f64
}

/// Sorts the values of each edge in descending order.
pub fn rearrange(reconstructions: &mut [f64], n_taus: usize) {
    reconstructions
        .par_chunks_exact_mut(n_taus)
        .for_each(|values| values.sort_unstable_by(|a, b| b.total_cmp(a)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rearrangement_removes_crossings() {
        let mut values = vec![0.9, 0.5, 0.1, 0.2, 0.3, 0.1];
        assert_eq!(crossing_rate(&values, 3), 0.5);
        rearrange(&mut values, 3);
        assert_eq!(values, [0.9, 0.5, 0.1, 0.3, 0.2, 0.1]);
        assert_eq!(crossing_rate(&values, 3), 0.0);
        assert_eq!(crossing_rate(&[], 3), 0.0);
    }
}
