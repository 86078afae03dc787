//! Harmonic functions for every pair of labeled points of two classes, without solving a system for each pair.
//!
//! With labeled points a of the first class and b of the second in a connected graph, the score of the first class at x is
//! u(x) = (G_xa − G_xb − G_ab + G_bb) / (G_aa + G_bb − 2·G_ab), where G = L†: one table of G serves all pairs. It has N²
//! entries; but there are also on the order of N² pairs, each with N labels to score, so N is small anyway.

use rayon::prelude::*;

use super::evaluate::Score;
use super::masses::{ClassMasses, deviation};
use crate::dense::{columns_of, symmetric_eigen};
use crate::error::{Error, Result};
use crate::graph::{Components, SparseGraph};
use crate::memory::{MemoryEstimate, refuse_if_over, zeros};
use crate::progress::Run;

/// How many rows of each of the two classes share a node.
pub(super) type RowsOfNode = [usize; 2];

/// The scores of all pairs of labeled points on different nodes, in order of the first class's node, then the second's; each
/// repeated for every pair of rows on the two nodes.
pub(super) fn harmonic_scores(
    graph: &SparseGraph,
    rows: &[RowsOfNode],
    run: &Run<'_>,
) -> Result<Vec<(Score, usize)>> {
    let n = graph.n_nodes();
    if n <= 2 {
        return Err(Error::NothingToLabel);
    }
    let estimate = |n: usize| MemoryEstimate::of(vec![("all pairs", 64 * (n as u64).pow(2))]);
    refuse_if_over(n, run.memory_limit, estimate, "try random draws")?;
    let components = graph.components();
    let green = green(graph, components, run)?;
    let firsts: Vec<usize> = (0..n).filter(|&node| rows[node][0] > 0).collect();
    run.stage("trials", Some(firsts.len() as u64))?;
    let of_first = |&a: &usize| {
        run.check()?;
        let seconds = (0..n).filter(|&b| b != a && rows[b][1] > 0);
        let scores = seconds.map(|b| (of_pair(&green, components, rows, a, b), rows[a][0] * rows[b][1]));
        let scores: Vec<(Score, usize)> = scores.collect();
        run.progress.advance(1);
        Ok(scores)
    };
    let of_firsts: Vec<Vec<(Score, usize)>> = firsts.par_iter().map(of_first).collect::<Result<_>>()?;
    Ok(of_firsts.into_iter().flatten().collect())
}

/// L†, component by component; 0 across them.
fn green(graph: &SparseGraph, components: &Components, run: &Run<'_>) -> Result<Vec<f64>> {
    let n = graph.n_nodes();
    let degrees = graph.degrees();
    let mut green = zeros(n * n, "all pairs")?;
    for nodes in components.nodes() {
        run.check()?;
        let size = nodes.len();
        let place = |node: u32| nodes.binary_search(&node).expect("neighbors share a component");
        let mut laplacian = vec![0.0; size * size];
        for (i, &node) in nodes.iter().enumerate() {
            laplacian[i * size + i] = degrees[node as usize];
            graph.row(node as usize).for_each(|(other, weight)| laplacian[i * size + place(other)] = -weight);
        }
        let (values, vectors) = run.unstoppable(move || symmetric_eigen(columns_of(&laplacian, size)))??;
        // The constant vectors come first; they are known, not detected by a threshold.
        for (pair, value) in values.iter().enumerate().skip(1) {
            run.check()?;
            let vector = vectors.col(pair);
            for (i, &node) in nodes.iter().enumerate() {
                let factor = vector[i] / value;
                let row = &mut green[node as usize * n..(node as usize + 1) * n];
                nodes.iter().enumerate().for_each(|(j, &other)| row[other as usize] += factor * vector[j]);
            }
        }
    }
    Ok(green)
}

fn of_pair(green: &[f64], components: &Components, rows: &[RowsOfNode], a: usize, b: usize) -> Score {
    let n = rows.len();
    let of = components.of_nodes();
    let (of_a, of_b) = (&green[a * n..(a + 1) * n], &green[b * n..(b + 1) * n]);
    let is_joint = of[a] == of[b];
    let span = of_a[a] + of_b[b] - 2.0 * of_a[b];
    // The probability of the first class at a node; `None` if no labeled point reaches it.
    let share = |x: usize| match (is_joint, of[x] == of[a], of[x] == of[b]) {
        (true, true, _) => Some(((of_a[x] - of_b[x] - of_a[b] + of_b[b]) / span).clamp(0.0, 1.0)),
        (false, true, false) => Some(1.0),
        (false, false, true) => Some(0.0),
        _ => None,
    };
    let free = || (0..n).filter(|&x| x != a && x != b).filter_map(share);
    let masses = [free().sum::<f64>(), free().map(|share| 1.0 - share).sum::<f64>()];
    let shares: Vec<[f64; 2]> = free().map(|share| [share, 1.0 - share]).collect();
    let deviation = deviation(shares.iter().map(|row| &row[..]), &[0.5; 2]);
    let weights =
        ClassMasses { masses: masses.to_vec(), n_unlabeled: shares.len(), n_labeled: 2.0, deviation }
            .weights(&[0.5; 2], false);
    let mut score = Score::default();
    for (x, of_classes) in rows.iter().enumerate() {
        let label = match share(x) {
            _ if x == a => Some(0),
            _ if x == b => Some(1),
            None => None,
            Some(share) => Some(usize::from((1.0 - share) * weights[1] > share * weights[0])),
        };
        for (class, &count) in of_classes.iter().enumerate() {
            // A labeled row itself does not count among the rows of its node.
            let is_labeled = (class == 0 && x == a) || (class == 1 && x == b);
            score.add(class, count - usize::from(is_labeled), label == Some(class));
        }
    }
    score
}
