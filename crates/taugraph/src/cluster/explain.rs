//! What a cluster is: its most typical rows, and the columns that set it apart.

use std::sync::OnceLock;

use rayon::prelude::*;

use crate::graph::SparseGraph;
use crate::labels::Labels;
use crate::points::Numbers;

/// Typical rows of each cluster.
const TYPICAL: usize = 3;
/// Columns of each cluster.
const COLUMNS: usize = 5;
/// Conditions of a rule.
const CONDITIONS: usize = 2;
/// Thresholds tried in each column: quantiles.
const THRESHOLDS: usize = 31;
/// Rows on which rules are searched; more are sampled evenly.
const MAX_ROWS: usize = 20_000;

/// A column that differs inside a cluster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DistinctColumn {
    /// The column.
    pub column: usize,
    /// Mean inside the cluster.
    pub mean: f64,
    /// Mean outside.
    pub mean_outside: f64,
    /// The difference of the means over the standard deviation of the column.
    pub standardized_difference: f64,
}

/// A condition on a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Condition {
    /// The column.
    pub column: usize,
    /// Whether values have to be above the threshold, and not at most the threshold.
    pub is_above: bool,
    /// The threshold.
    pub threshold: f64,
}

/// A conjunction of conditions that describes a cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct ShallowRule {
    /// The conditions.
    pub conditions: Vec<Condition>,
    /// Share of the rows that fulfill them which are in the cluster.
    pub precision: f64,
    /// Share of the rows in the cluster which fulfill them.
    pub recall: f64,
}

/// What a cluster is.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// Number of rows.
    pub size: usize,
    /// The rows that are tied to their cluster most, the first most of all.
    pub typical_rows: Vec<usize>,
    /// The columns that differ most, the first most of all.
    pub columns: Vec<DistinctColumn>,
    /// The rule with the best balance of precision and recall; `None` for one cluster.
    pub rule: Option<ShallowRule>,
}

/// The nodes of each cluster with the largest sum of weights inside it, at most three.
pub fn typical_nodes(graph: &SparseGraph, labels: &Labels) -> Vec<Vec<usize>> {
    let inside = |i: usize| -> f64 {
        graph.row(i).filter(|(j, _)| labels[*j as usize] == labels[i]).map(|(_, weight)| weight).sum()
    };
    let sums: Vec<f64> = (0..graph.n_nodes()).into_par_iter().map(inside).collect();
    let mut best: Vec<Vec<usize>> = vec![Vec::new(); labels.n_classes()];
    for (node, &label) in labels.iter().enumerate() {
        let list = &mut best[label as usize];
        let place = list.iter().position(|&other| sums[node] > sums[other]).unwrap_or(list.len());
        if place < TYPICAL {
            list.insert(place, node);
            list.truncate(TYPICAL);
        }
    }
    best
}

/// Explains clusters of the rows of a table; NaN is a missing cell. `typical_rows` come from [`typical_nodes`].
pub fn explain<'a>(
    values: impl Into<Numbers<'a>>,
    n_columns: usize,
    labels: &[u32],
    n_clusters: usize,
    typical_rows: Vec<Vec<usize>>,
) -> Vec<Explanation> {
    let values = values.into();
    let sums: Vec<ColumnSums> = (0..n_columns)
        .into_par_iter()
        .map(|column| ColumnSums::new(values, n_columns, column, labels, n_clusters))
        .collect();
    let step = labels.len().div_ceil(MAX_ROWS).max(1);
    let rows: Vec<usize> = (0..labels.len()).step_by(step).collect();
    let sample = Sample::new(values, n_columns, labels, &rows);
    let mut sizes = vec![0; n_clusters];
    labels.iter().for_each(|&label| sizes[label as usize] += 1);
    (0..n_clusters)
        .into_par_iter()
        .zip(typical_rows)
        .map(|(cluster, typical_rows)| {
            let mut columns: Vec<DistinctColumn> = sums
                .iter()
                .enumerate()
                .filter_map(|(column, sums)| sums.difference(column, cluster))
                .collect();
            let size_of = |column: &DistinctColumn| column.standardized_difference.abs();
            columns.sort_by(|a, b| size_of(b).total_cmp(&size_of(a)));
            let rule = if n_clusters > 1 { sample.rule(cluster as u32, &columns) } else { None };
            columns.truncate(COLUMNS);
            Explanation { size: sizes[cluster], typical_rows, columns, rule }
        })
        .collect()
}

/// Sums of one column, missing cells left out.
struct ColumnSums {
    /// (count, sum) of each cluster.
    of_clusters: Vec<(f64, f64)>,
    deviation: f64,
}

impl ColumnSums {
    fn new(values: Numbers<'_>, n_columns: usize, column: usize, labels: &[u32], n_clusters: usize) -> Self {
        let mut of_clusters = vec![(0.0, 0.0); n_clusters];
        let cell = |row: usize| values.get(row * n_columns + column);
        let labeled = || labels.iter().enumerate().map(|(row, label)| (cell(row), label));
        let cells = || labeled().filter(|(value, _)| !value.is_nan());
        for (value, &label) in cells() {
            let sums = &mut of_clusters[label as usize];
            *sums = (sums.0 + 1.0, sums.1 + value);
        }
        let (count, sum) = of_clusters.iter().fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
        let mean = sum / count;
        let squares: f64 = cells().map(|(value, _)| (value - mean).powi(2)).sum();
        Self { of_clusters, deviation: (squares / count).sqrt() }
    }

    fn difference(&self, column: usize, cluster: usize) -> Option<DistinctColumn> {
        let inside = self.of_clusters[cluster];
        let all = self.of_clusters.iter().fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
        let outside = (all.0 - inside.0, all.1 - inside.1);
        if inside.0 == 0.0 || outside.0 == 0.0 || self.deviation.is_nan() || self.deviation <= 0.0 {
            return None;
        }
        let (mean, mean_outside) = (inside.1 / inside.0, outside.1 / outside.0);
        let standardized_difference = (mean - mean_outside) / self.deviation;
        Some(DistinctColumn { column, mean, mean_outside, standardized_difference })
    }
}

/// Rows on which rules are searched.
struct Sample<'a> {
    values: Numbers<'a>,
    n_columns: usize,
    labels: &'a [u32],
    rows: &'a [usize],
    /// Rows by their value in a column, missing cells left out; columns that nothing asked for are not sorted.
    by_value: Vec<OnceLock<Vec<u32>>>,
}

impl<'a> Sample<'a> {
    fn new(values: Numbers<'a>, n_columns: usize, labels: &'a [u32], rows: &'a [usize]) -> Self {
        Self { values, n_columns, labels, rows, by_value: vec![OnceLock::new(); n_columns] }
    }

    fn value(&self, row: usize, column: usize) -> f64 {
        self.values.get(row * self.n_columns + column)
    }

    fn by_value(&self, column: usize) -> &[u32] {
        self.by_value[column].get_or_init(|| {
            let value = |row: u32| self.value(row as usize, column);
            let rows = self.rows.iter().map(|&row| row as u32);
            let mut known: Vec<u32> = rows.filter(|&row| !value(row).is_nan()).collect();
            known.sort_by(|&a, &b| value(a).total_cmp(&value(b)));
            known
        })
    }

    /// Conditions added one by one, each the one that improves the balance of precision and recall (F₁) most, in the columns that
    /// differ most.
    fn rule(&self, cluster: u32, columns: &[DistinctColumn]) -> Option<ShallowRule> {
        let total = self.rows.iter().filter(|&&row| self.labels[row] == cluster).count() as f64;
        let mut is_covered = vec![true; self.labels.len()];
        let mut rule: Option<ShallowRule> = None;
        let mut best_balance = 0.0;
        for _ in 0..CONDITIONS {
            let candidates = columns
                .iter()
                .take(4 * COLUMNS)
                .filter_map(|column| self.best_condition(column.column, cluster, &is_covered, total));
            let best = candidates.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.column.cmp(&a.1.column)));
            let Some((balance, condition)) = best.filter(|(balance, _)| *balance > best_balance + 1e-3)
            else {
                break;
            };
            best_balance = balance;
            let (mut inside, mut covered) = (0.0, 0.0);
            for &row in self.rows {
                is_covered[row] &= condition.holds(self.value(row, condition.column));
                covered += f64::from(u8::from(is_covered[row]));
                inside += f64::from(u8::from(is_covered[row] && self.labels[row] == cluster));
            }
            let mut conditions = rule.map_or(Vec::new(), |rule| rule.conditions);
            conditions.push(condition);
            rule = Some(ShallowRule { conditions, precision: inside / covered, recall: inside / total });
        }
        rule
    }

    /// The condition on a column with the largest F₁ among the covered rows, and that F₁.
    fn best_condition(
        &self,
        column: usize,
        cluster: u32,
        is_covered: &[bool],
        total: f64,
    ) -> Option<(f64, Condition)> {
        let cells: Vec<(f64, bool)> = self
            .by_value(column)
            .iter()
            .map(|&row| row as usize)
            .filter(|&row| is_covered[row])
            .map(|row| (self.value(row, column), self.labels[row] == cluster))
            .collect();
        let all_inside = cells.iter().filter(|(_, is_inside)| *is_inside).count() as f64;
        let mut best: Option<(f64, Condition)> = None;
        let (mut below, mut inside_below, mut next) = (0.0, 0.0, 0);
        for step in 1..=THRESHOLDS {
            let place = step * cells.len() / (THRESHOLDS + 1);
            if place == 0 || place >= cells.len() || cells[place - 1].0 == cells[place].0 {
                continue;
            }
            while next < place {
                below += 1.0;
                inside_below += f64::from(u8::from(cells[next].1));
                next += 1;
            }
            let threshold = 0.5 * (cells[place - 1].0 + cells[place].0);
            let balance = |inside: f64, covered: f64| 2.0 * inside / (covered + total);
            let sides = [
                (balance(inside_below, below), false),
                (balance(all_inside - inside_below, cells.len() as f64 - below), true),
            ];
            for (balance, is_above) in sides {
                if best.is_none_or(|(value, _)| balance > value) {
                    best = Some((balance, Condition { column, is_above, threshold }));
                }
            }
        }
        best
    }
}

impl Condition {
    fn holds(&self, value: f64) -> bool {
        if self.is_above { value > self.threshold } else { value <= self.threshold }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_column_that_separates_is_found_with_its_rule() {
        // Column 0 is noise, column 1 separates, column 2 is constant, and one cell is missing.
        let mut values: Vec<f64> = (0..120)
            .flat_map(|i| {
                [f64::from(i * 37 % 11), if i < 40 { 1.0 } else { 5.0 } + f64::from(i % 7) * 0.1, 2.0]
            })
            .collect();
        values[0] = f64::NAN;
        let labels: Vec<u32> = (0..120).map(|i| u32::from(i >= 40)).collect();
        let found = explain(&values, 3, &labels, 2, vec![vec![3], vec![50]]);
        assert_eq!((found[0].size, found[1].size), (40, 80));
        assert_eq!(found[0].columns[0].column, 1);
        assert!(found[0].columns[0].standardized_difference < -1.5);
        assert!(found[0].columns.iter().all(|column| column.column != 2), "a constant column says nothing");
        let rule = found[0].rule.as_ref().unwrap();
        assert_eq!((rule.conditions[0].column, rule.conditions[0].is_above), (1, false));
        assert!(rule.precision > 0.9 && rule.recall > 0.9, "{rule:?}");
        assert_eq!(explain(&values, 3, &[0; 120], 1, vec![vec![]])[0].rule, None);
    }
}
