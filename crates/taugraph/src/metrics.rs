//! How well two labelings agree.
//!
//! Labels are any numbers below 2³²; only which points share a label matters, except for [`balanced_accuracy`]
//! and [`accuracy`], which compare the labels themselves. Values equal scikit-learn's.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::labels::Labels;

/// Joint counts of two labelings.
#[derive(Debug, Clone)]
struct Contingency {
    /// (row, column, count), only counts above 0.
    cells: Vec<(usize, usize, f64)>,
    rows: Vec<f64>,
    columns: Vec<f64>,
    n: f64,
}

impl Contingency {
    fn new(a: &[u32], b: &[u32]) -> Result<Self> {
        check_lengths(a, b)?;
        let (a, b) = (Labels::from_names(a).0, Labels::from_names(b).0);
        let (mut rows, mut columns) = (vec![0.0; a.n_classes()], vec![0.0; b.n_classes()]);
        let mut joint: HashMap<(usize, usize), f64> = HashMap::new();
        for (&i, &j) in a.iter().zip(b.iter()) {
            let (i, j) = (i as usize, j as usize);
            rows[i] += 1.0;
            columns[j] += 1.0;
            *joint.entry((i, j)).or_default() += 1.0;
        }
        let mut cells: Vec<(usize, usize, f64)> =
            joint.into_iter().map(|((i, j), count)| (i, j, count)).collect();
        // A fixed order makes the sums below the same in every run.
        cells.sort_unstable_by_key(|&(i, j, _)| (i, j));
        Ok(Self { cells, rows, columns, n: a.len() as f64 })
    }

    fn mutual_information(&self) -> f64 {
        let term = |&(i, j, count): &(usize, usize, f64)| {
            count / self.n * (self.n * count / (self.rows[i] * self.columns[j])).ln()
        };
        self.cells.iter().map(term).sum::<f64>().max(0.0)
    }

    fn entropies(&self) -> (f64, f64) {
        let entropy = |counts: &[f64]| -> f64 {
            -counts.iter().map(|count| count / self.n * (count / self.n).ln()).sum::<f64>()
        };
        (entropy(&self.rows), entropy(&self.columns))
    }

    /// Whether both labelings are a single cluster, or both all singletons: agreement without information.
    fn is_trivial(&self) -> bool {
        let all = |counts: &[f64]| counts.len() == self.n as usize;
        (self.rows.len() == 1 && self.columns.len() == 1) || (all(&self.rows) && all(&self.columns))
    }
}

fn check_lengths(a: &[u32], b: &[u32]) -> Result<()> {
    if a.is_empty() {
        return Err(Error::Empty { what: "rows" });
    }
    if a.len() != b.len() {
        return Err(Error::Length { what: "labels", expected: a.len(), received: b.len() });
    }
    Ok(())
}

/// Normalized mutual information 2·I/(H + H), between 0 and 1.
///
/// Two labelings of one cluster each agree fully: 1.
pub fn nmi(a: &[u32], b: &[u32]) -> Result<f64> {
    let table = Contingency::new(a, b)?;
    if table.is_trivial() {
        return Ok(1.0);
    }
    let (of_a, of_b) = table.entropies();
    let mutual = table.mutual_information();
    // Rounding may leave the value of independent labels slightly above 0.
    Ok(if mutual <= f64::EPSILON { 0.0 } else { (2.0 * mutual / (of_a + of_b)).min(1.0) })
}

/// Adjusted Rand index (Hubert and Arabie 1985): 1 for equal partitions, 0 on average for unrelated ones.
pub fn ari(a: &[u32], b: &[u32]) -> Result<f64> {
    let table = Contingency::new(a, b)?;
    let squares = |counts: &mut dyn Iterator<Item = f64>| counts.map(|count| count * count).sum::<f64>();
    let cells = squares(&mut table.cells.iter().map(|cell| cell.2));
    let rows = squares(&mut table.rows.iter().copied());
    let columns = squares(&mut table.columns.iter().copied());
    // Pairs in the same cluster in both labelings, in neither, in one only.
    let both = cells - table.n;
    let only_b = columns - cells;
    let only_a = rows - cells;
    let neither = table.n * table.n - only_a - only_b - cells;
    if only_a == 0.0 && only_b == 0.0 {
        return Ok(1.0);
    }
    let expected = (both + only_b) * (only_b + neither) + (both + only_a) * (only_a + neither);
    Ok(2.0 * (both * neither - only_a * only_b) / expected)
}

/// Adjusted mutual information (Vinh, Epps, Bailey 2010), normalized by the mean of the entropies.
///
/// Cost: about (clusters of a) × (clusters of b) × the size of a typical overlap.
pub fn ami(a: &[u32], b: &[u32]) -> Result<f64> {
    let table = Contingency::new(a, b)?;
    if table.is_trivial() {
        return Ok(1.0);
    }
    let expected = expected_mutual_information(&table);
    let (of_a, of_b) = table.entropies();
    let normalizer = (of_a + of_b) / 2.0;
    let denominator = normalizer - expected;
    // As in scikit-learn: rounding must not make it 0 or change its sign.
    let denominator =
        if denominator < 0.0 { denominator.min(-f64::EPSILON) } else { denominator.max(f64::EPSILON) };
    Ok((table.mutual_information() - expected) / denominator)
}

/// Mean of the mutual information over random labelings with the same cluster sizes.
fn expected_mutual_information(table: &Contingency) -> f64 {
    let n = table.n as usize;
    let mut ln_factorial = vec![0.0; n + 1];
    for value in 1..=n {
        ln_factorial[value] = ln_factorial[value - 1] + (value as f64).ln();
    }
    let factorial = |value: f64| ln_factorial[value as usize];
    // Clusters of equal size give equal terms: count sizes instead of clusters.
    let sizes = |counts: &[f64]| {
        let mut grouped: Vec<(f64, f64)> = Vec::new();
        let mut sorted = counts.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        for size in sorted {
            match grouped.last_mut() {
                Some((known, times)) if *known == size => *times += 1.0,
                _ => grouped.push((size, 1.0)),
            }
        }
        grouped
    };
    let columns = sizes(&table.columns);
    let mut total = 0.0;
    for (a, times_a) in sizes(&table.rows) {
        for &(b, times_b) in &columns {
            let fixed = factorial(a) + factorial(b) + factorial(table.n - a) + factorial(table.n - b)
                - factorial(table.n);
            let mut overlap = (a + b - table.n).max(1.0);
            let mut sum = 0.0;
            while overlap <= a.min(b) {
                let information = overlap / table.n * (table.n * overlap / (a * b)).ln();
                let ln_probability = fixed
                    - factorial(overlap)
                    - factorial(a - overlap)
                    - factorial(b - overlap)
                    - factorial(table.n - a - b + overlap);
                sum += information * ln_probability.exp();
                overlap += 1.0;
            }
            total += times_a * times_b * sum;
        }
    }
    total
}

/// Share of correctly labeled points under the best one-to-one matching of clusters to classes.
pub fn matched_accuracy(truth: &[u32], clusters: &[u32]) -> Result<f64> {
    let table = Contingency::new(truth, clusters)?;
    let matched = table.matched();
    let right: f64 = table.cells.iter().filter(|&&(i, j, _)| matched[j] == Some(i)).map(|cell| cell.2).sum();
    Ok(right / table.n)
}

/// The clusters relabeled so that as many points as possible have the label they have in `reference`.
///
/// Clusters without a counterpart get the lowest labels that the reference does not use.
pub fn match_labels(reference: &[u32], clusters: &[u32]) -> Result<Vec<u32>> {
    let table = Contingency::new(reference, clusters)?;
    let (_, names) = Labels::from_names(reference);
    let mut unused = (0..=u32::MAX).filter(|label| names.binary_search(label).is_err());
    let name = |class: Option<usize>| match class {
        Some(class) => names[class],
        None => unused.next().expect("there are more numbers than clusters"),
    };
    let of_clusters: Vec<u32> = table.matched().into_iter().map(name).collect();
    Ok(Labels::from_names(clusters).0.iter().map(|&cluster| of_clusters[cluster as usize]).collect())
}

impl Contingency {
    /// The class of each cluster under the matching on which most points agree; `None` for clusters left over.
    fn matched(&self) -> Vec<Option<usize>> {
        let (classes, clusters) = (self.rows.len(), self.columns.len());
        let (rows, columns) = (classes.min(clusters), classes.max(clusters));
        let mut cost = vec![0.0; rows * columns];
        for &(class, cluster, count) in &self.cells {
            let (row, column) = if clusters <= classes { (cluster, class) } else { (class, cluster) };
            cost[row * columns + column] = -count;
        }
        let found = assignment(&cost, rows, columns);
        if clusters <= classes {
            return found.into_iter().map(Some).collect();
        }
        let mut matched = vec![None; clusters];
        found.into_iter().enumerate().for_each(|(class, cluster)| matched[cluster] = Some(class));
        matched
    }
}

/// The column assigned to each row so that the sum of the costs is minimal. There must be no more rows than columns.
///
/// Shortest augmenting paths (Jonker and Volgenant 1987), O(rows² · columns).
pub(crate) fn assignment(cost: &[f64], rows: usize, columns: usize) -> Vec<usize> {
    const FREE: usize = usize::MAX;
    let (mut row_price, mut column_price) = (vec![0.0; rows], vec![0.0; columns]);
    let mut row_of_column = vec![FREE; columns];
    for start in 0..rows {
        let mut distance = vec![f64::INFINITY; columns];
        let mut previous = vec![FREE; columns];
        let mut done = vec![false; columns];
        let (mut row, mut base, mut from) = (start, 0.0, FREE);
        let last = loop {
            let mut next = FREE;
            for column in (0..columns).filter(|&column| !done[column]) {
                let reduced = base + cost[row * columns + column] - row_price[row] - column_price[column];
                if reduced < distance[column] {
                    distance[column] = reduced;
                    previous[column] = from;
                }
                if next == FREE || distance[column] < distance[next] {
                    next = column;
                }
            }
            done[next] = true;
            base = distance[next];
            if row_of_column[next] == FREE {
                break next;
            }
            from = next;
            row = row_of_column[next];
        };
        row_price[start] += base;
        for column in (0..columns).filter(|&column| done[column] && column != last) {
            row_price[row_of_column[column]] += base - distance[column];
            column_price[column] -= base - distance[column];
        }
        let mut column = last;
        while column != FREE {
            let before = previous[column];
            row_of_column[column] = if before == FREE { start } else { row_of_column[before] };
            column = before;
        }
    }
    let mut column_of_row = vec![0; rows];
    for (column, &row) in row_of_column.iter().enumerate().filter(|(_, row)| **row != FREE) {
        column_of_row[row] = column;
    }
    column_of_row
}

/// Share of equal labels.
pub fn accuracy(truth: &[u32], predicted: &[u32]) -> Result<f64> {
    check_lengths(truth, predicted)?;
    let right = truth.iter().zip(predicted).filter(|(t, p)| t == p).count();
    Ok(right as f64 / truth.len() as f64)
}

/// Mean over the true classes of the share of their points with the correct label.
pub fn balanced_accuracy(truth: &[u32], predicted: &[u32]) -> Result<f64> {
    check_lengths(truth, predicted)?;
    let (classes, _) = Labels::from_names(truth);
    let mut right = vec![0.0; classes.n_classes()];
    for ((&class, t), p) in classes.iter().zip(truth).zip(predicted) {
        right[class as usize] += f64::from(u8::from(t == p));
    }
    let shares = right.iter().zip(classes.sizes()).map(|(right, size)| right / size as f64);
    Ok(shares.sum::<f64>() / classes.n_classes() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Stage, Stream};
    use proptest::prelude::*;

    #[test]
    fn limits_and_refusals() {
        let (same, other) = ([0, 0, 1, 1], [7, 7, 3, 3]);
        for metric in [nmi, ari, ami, matched_accuracy] {
            assert!((metric(&same, &other).unwrap() - 1.0).abs() < 1e-12);
            assert!(metric(&same, &[0, 1]).is_err());
            assert!(metric(&[], &[]).is_err());
        }
        assert_eq!(nmi(&[0; 4], &[1; 4]).unwrap(), 1.0);
        assert_eq!(nmi(&[0, 1, 0, 1], &[0, 0, 1, 1]).unwrap(), 0.0);
        assert_eq!(nmi(&[0; 4], &[0, 1, 2, 3]).unwrap(), 0.0);
        assert_eq!(ari(&[0, 1, 2, 3], &[0, 1, 2, 3]).unwrap(), 1.0);
        assert_eq!(balanced_accuracy(&[0, 0, 0, 1], &[0, 0, 0, 0]).unwrap(), 0.5);
        assert_eq!(accuracy(&[0, 0, 0, 1], &[0, 0, 0, 0]).unwrap(), 0.75);
    }

    #[test]
    fn matching_renames() {
        let renamed = match_labels(&[5, 5, 5, 9, 9], &[1, 1, 0, 0, 0]).unwrap();
        assert_eq!(renamed, [5, 5, 9, 9, 9]);
        let more = match_labels(&[0, 0, 0, 0], &[2, 2, 1, 3]).unwrap();
        assert_eq!(&more[..2], [0, 0]);
        assert!(more[2] > 0 && more[3] > 0 && more[2] != more[3]);
        assert_eq!(match_labels(&[u32::MAX; 3], &[0, 0, 1]).unwrap(), [u32::MAX, u32::MAX, 0]);
    }

    proptest! {
        #[test]
        fn assignment_equals_trying_all(rows in 1usize..6, more in 0usize..3, seed in any::<u64>()) {
            let size = rows + more;
            let mut draws = Stream::new(seed, Stage::Generator).at(0, 0);
            let cost: Vec<f64> = (0..rows * size).map(|_| draws.below(5) as f64).collect();
            let total = |columns: &[usize]| {
                columns.iter().take(rows).enumerate().map(|(i, &j)| cost[i * size + j]).sum::<f64>()
            };
            let mut best = f64::INFINITY;
            let mut columns: Vec<usize> = (0..size).collect();
            permutations(&mut columns, 0, &mut |columns| best = f64::min(best, total(columns)));
            let found = assignment(&cost, rows, size);
            prop_assert_eq!(total(&found), best);
            let mut used = found.clone();
            used.sort_unstable();
            used.dedup();
            prop_assert_eq!(used.len(), rows);
        }

        #[test]
        fn names_do_not_matter(labels in prop::collection::vec((0u32..4, 0u32..3), 1..60)) {
            let (a, b): (Vec<u32>, Vec<u32>) = labels.into_iter().unzip();
            let renamed: Vec<u32> = b.iter().map(|label| 100 - 7 * label).collect();
            for metric in [nmi, ari, ami, matched_accuracy] {
                prop_assert!((metric(&a, &b).unwrap() - metric(&a, &renamed).unwrap()).abs() < 1e-9);
                prop_assert!((metric(&a, &b).unwrap() - metric(&b, &a).unwrap()).abs() < 1e-9);
            }
        }
    }

    fn permutations(items: &mut Vec<usize>, from: usize, visit: &mut impl FnMut(&[usize])) {
        if from == items.len() {
            return visit(items);
        }
        for other in from..items.len() {
            items.swap(from, other);
            permutations(items, from + 1, visit);
            items.swap(from, other);
        }
    }
}
