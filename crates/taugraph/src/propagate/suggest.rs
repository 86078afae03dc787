//! Which nodes to label next: those whose label would tell most about the others.
//!
//! Harmonic functions are the mean of a Gaussian field with covariance G = (L + E)⁻¹ over the unlabeled nodes. A label at k takes
//! (Σ_i G_ik)²/G_kk from the variance of their sum (Σ-optimality; Ma, Garnett, Schneider 2013): high in dense regions far from labels, and
//! highest in components without any, because E = ε·D is small. That is multiplied by how undecided the node is. Nodes are taken one by one,
//! each as if the ones before were labeled.

use super::refuse_share;
use crate::error::Result;
use crate::graph::SparseGraph;
use crate::linear::{Ground, Hierarchy, LazyHierarchy, Right, Solver, solve};
use crate::progress::Run;

/// ε.
const GROUND: f64 = 1e-3;
/// For so many nodes G_kk is computed: those with the highest bound, G_kk ≥ 1/((1 + ε)·d_k).
const CANDIDATES: usize = 32;
/// How much a decided node counts, compared with an undecided one.
const DECIDED: f64 = 0.1;
/// Enough to rank nodes.
const SOLVER: Solver = Solver { tolerance: 1e-4, max_iterations: 1000 };

/// Why a node is worth a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// No label reaches it.
    Unreached,
    /// Its classes are nearly tied.
    Undecided,
    /// Many nodes are near it and few labels.
    FarFromLabels,
}

impl Reason {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Unreached => "no label reaches it",
            Self::Undecided => "its classes are nearly tied",
            Self::FarFromLabels => "it stands for many rows far from labels",
        }
    }
}

/// A node to label next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Suggestion {
    /// The node.
    pub node: u32,
    /// Why.
    pub reason: Reason,
}

/// Up to `n` nodes without a label, the most useful first. `margins` are those of a propagation; where no label reaches they are 0.
///
/// # Panics
/// If there is not one entry for each node.
pub fn suggest(
    graph: &SparseGraph,
    is_labeled: &[bool],
    margins: &[f64],
    n: usize,
    run: &Run<'_>,
) -> Result<Vec<Suggestion>> {
    let n_nodes = graph.n_nodes();
    assert!(is_labeled.len() == n_nodes && margins.len() == n_nodes, "one entry for each node");
    let n = n.min(is_labeled.iter().filter(|labeled| !**labeled).count());
    run.stage("suggest", Some(n as u64))?;
    let components = graph.components();
    let mut is_reached = vec![false; components.len()];
    (0..n_nodes)
        .filter(|&i| is_labeled[i])
        .for_each(|i| is_reached[components.of_nodes()[i] as usize] = true);
    // The hierarchy; twelve vectors of the iteration for each candidate.
    let [making, _] = Hierarchy::bytes(n_nodes as u64, graph.n_edges() as u64);
    let bytes = making + 8 * n_nodes as u64 * 12 * CANDIDATES as u64;
    refuse_share("suggest", bytes, n_nodes, run, "suggest rows of a smaller table")?;
    let hierarchy = LazyHierarchy::new(graph);
    let degrees = graph.degrees();
    let lightest = degrees.iter().copied().filter(|degree| *degree > 0.0).fold(f64::INFINITY, f64::min);
    // A node without neighbors has a row of its own, and the system must not be singular there.
    let extra: Vec<f64> = degrees
        .iter()
        .map(|&degree| if degree > 0.0 { GROUND * degree } else { lightest.min(1.0) })
        .collect();
    let undecided: Vec<f64> =
        margins.iter().map(|margin| DECIDED + (1.0 - DECIDED) * (1.0 - margin)).collect();
    let mut clamped = is_labeled.to_vec();
    let mut found = Vec::with_capacity(n);
    while found.len() < n {
        let system = |right: &[f64], width: usize| {
            let ground = Ground::Some { clamped: &clamped, extra: &extra };
            let right = Right::new(right, width);
            solve(graph, &hierarchy, &ground, &right, &SOLVER, &|| run.check()).map(|solved| solved.values)
        };
        let sums = system(&vec![1.0; n_nodes], 1)?;
        // The square of the sum over G_kk, at most.
        let bound = |k: usize| undecided[k] * sums[k] * sums[k] * (degrees[k] + extra[k]);
        let mut candidates: Vec<usize> = (0..n_nodes).filter(|&k| !clamped[k]).collect();
        let by_bound = |a: &usize, b: &usize| bound(*b).total_cmp(&bound(*a)).then(a.cmp(b));
        if candidates.len() > CANDIDATES {
            candidates.select_nth_unstable_by(CANDIDATES - 1, by_bound);
            candidates.truncate(CANDIDATES);
        }
        candidates.sort_unstable();
        let width = candidates.len();
        let mut right = vec![0.0; n_nodes * width];
        candidates.iter().enumerate().for_each(|(column, &k)| right[k * width + column] = 1.0);
        let columns = system(&right, width)?;
        let gain = |column: usize| {
            let k = candidates[column];
            undecided[k] * sums[k] * sums[k] / columns[k * width + column].max(f64::MIN_POSITIVE)
        };
        // The first of equals: the lowest node.
        let best = (1..width).fold(0, |best, column| if gain(column) > gain(best) { column } else { best });
        let node = candidates[best];
        let component = components.of_nodes()[node] as usize;
        let reason = match (is_reached[component], margins[node] < 0.2) {
            (false, _) => Reason::Unreached,
            (true, true) => Reason::Undecided,
            (true, false) => Reason::FarFromLabels,
        };
        is_reached[component] = true;
        clamped[node] = true;
        found.push(Suggestion { node: node as u32, reason });
        run.progress.advance(1);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::Edges;

    /// A path of 9 nodes, a star of 6 and a node without neighbors.
    fn graph() -> SparseGraph {
        let path = (1..9).map(|i| (i - 1, i));
        let star = (10..15).map(|i| (9, i));
        let edges = Edges::from_pairs(16, path.chain(star)).unwrap();
        SparseGraph::from_edges(&edges, &vec![1.0; edges.len()]).unwrap()
    }

    fn found(labeled: &[usize], margins: &[f64], n: usize) -> Vec<(u32, Reason)> {
        let is_labeled: Vec<bool> = (0..16).map(|i| labeled.contains(&i)).collect();
        let found = suggest(&graph(), &is_labeled, margins, n, &Run::new(0)).unwrap();
        found.iter().map(|suggestion| (suggestion.node, suggestion.reason)).collect()
    }

    #[test]
    fn components_without_a_label_come_first_by_their_middle() {
        let margins: Vec<f64> = (0..16).map(|i| if i < 9 { 1.0 } else { 0.0 }).collect();
        let first = found(&[0], &margins, 2);
        assert_eq!(first[0], (9, Reason::Unreached));
        assert_eq!(first[1].1, Reason::FarFromLabels);
        assert!((4..9).contains(&first[1].0), "{first:?}");
        // Nothing is suggested twice or labeled already.
        let mut all: Vec<u32> = found(&[0, 4], &margins, 99).iter().map(|suggestion| suggestion.0).collect();
        all.sort_unstable();
        assert_eq!(all, [1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
    }

    #[test]
    fn nothing_labeled_begins_with_the_largest_component() {
        let first = found(&[], &[0.0; 16], 3);
        assert_eq!(first[0], (4, Reason::Unreached));
        assert_eq!(first[1], (9, Reason::Unreached));
    }

    #[test]
    fn undecided_nodes_come_before_decided_ones() {
        let mut margins = [1.0; 16];
        margins[4] = 0.05;
        assert_eq!(found(&[0, 8, 9, 15], &margins, 1), [(4, Reason::Undecided)]);
    }
}
