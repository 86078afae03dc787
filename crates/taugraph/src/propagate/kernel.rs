//! Distances in the graph Laplacian kernel K = L_sym†: S_ij = K_ii + K_jj − 2·K_ij = |z_i − z_j|², with z_i the entries of the
//! eigenvectors at i, each divided by the square root of its eigenvalue.
//!
//! All of K is an inverse: with P the projector on D^½·1 of a component, K = (L_sym + P)⁻¹ − P there. The leading eigenpairs give it
//! in part, for graphs too large for a dense matrix.

use faer::Mat;
use rayon::prelude::*;

use crate::dense::Cholesky;
use crate::distance::Metric;
use crate::error::{Result, require};
use crate::graph::SparseGraph;
use crate::memory::{MemoryEstimate, refuse_if_over, zeros};
use crate::neighbors::{Space, nearest_neighbors};
use crate::points::Points;
use crate::progress::Run;
use crate::spectral::{
    EigenParams, EigenSolver, Laplacian, LaplacianKind, SolverChoice, smallest_eigenpairs,
};

/// S within components. Across them it has no meaning.
#[derive(Debug, Clone)]
pub(super) enum KernelDistances {
    /// Every distance.
    All { n: usize, distances: Vec<f64> },
    /// Coordinates in the leading eigenpairs.
    Leading {
        /// z of each node.
        coordinates: Vec<f64>,
        n_pairs: usize,
        /// The smallest eigenvalue in use over the largest.
        truncation: f64,
    },
}

impl KernelDistances {
    /// In the whole kernel: N² memory.
    pub fn exact(graph: &SparseGraph, run: &Run<'_>) -> Result<Self> {
        // The distances; the matrix, its inverse and what the inversion needs, for the largest component.
        let estimate = |n: usize| MemoryEstimate::of(vec![("kernel", 32 * (n as u64).pow(2))]);
        refuse_if_over(graph.n_nodes(), run.memory_limit, estimate, "walk in fewer eigenpairs")?;
        run.stage("kernel", None)?;
        match inverted(graph, run)? {
            Some(found) => Ok(found),
            // Components held together by weights at the limit of precision: L_sym + P is singular to working precision.
            None => {
                let dense =
                    EigenParams { solver: SolverChoice::Only(EigenSolver::Dense), ..EigenParams::default() };
                let n_pairs = graph.n_nodes() - graph.components().len();
                in_pairs(graph, n_pairs, &dense, run)
            }
        }
    }

    /// In the `n_pairs` leading eigenpairs only.
    pub fn truncated(graph: &SparseGraph, n_pairs: usize, run: &Run<'_>) -> Result<Self> {
        let n_null = graph.components().len();
        let rule = "must be at least 1 and at most the number of nodes minus the number of components";
        require(n_pairs >= 1 && n_pairs + n_null <= graph.n_nodes(), "kernel pairs", n_pairs, rule)?;
        in_pairs(graph, n_pairs, &EigenParams::default(), run)
    }

    /// S between two nodes of one component.
    pub fn distance(&self, i: usize, j: usize) -> f64 {
        match self {
            Self::All { n, distances } => distances[i * n + j],
            Self::Leading { coordinates, n_pairs, .. } => {
                let at = |node: usize| &coordinates[node * n_pairs..(node + 1) * n_pairs];
                at(i).iter().zip(at(j)).map(|(a, b)| (a - b) * (a - b)).sum()
            }
        }
    }

    /// The number of pairs in use and a bound on what is missing; `None` if nothing is.
    pub fn truncation(&self) -> Option<(usize, f64)> {
        match self {
            Self::All { .. } => None,
            Self::Leading { n_pairs, truncation, .. } => Some((*n_pairs, *truncation)),
        }
    }

    /// The `k` nearest of each of some nodes among them, as their places in `nodes`; ties go to the lower place.
    pub fn nearest(&self, nodes: &[u32], k: usize, run: &Run<'_>) -> Result<Vec<Vec<u32>>> {
        if k == 0 {
            return Ok(vec![Vec::new(); nodes.len()]);
        }
        if let Self::Leading { coordinates, n_pairs, .. } = self {
            let at = |&node: &u32| &coordinates[node as usize * n_pairs..(node as usize + 1) * n_pairs];
            let points = Points::new(nodes.iter().flat_map(at).copied().collect(), *n_pairs)?;
            let found = nearest_neighbors(&Space::from_points(points, Metric::Euclidean)?, k, run)?;
            return Ok((0..nodes.len()).map(|i| found.ids(i).to_vec()).collect());
        }
        let of_place = |i: usize| {
            let distance = |j: u32| self.distance(nodes[i] as usize, nodes[j as usize] as usize);
            let mut others: Vec<(f64, u32)> =
                (0..nodes.len() as u32).filter(|&j| j as usize != i).map(|j| (distance(j), j)).collect();
            let order = |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
            if k < others.len() {
                others.select_nth_unstable_by(k - 1, order);
                others.truncate(k);
            }
            others.sort_unstable_by(order);
            others.into_iter().map(|other| other.1).collect()
        };
        Ok((0..nodes.len()).into_par_iter().map(of_place).collect())
    }
}

/// S from the inverse of L_sym + P, component by component; `None` if that is singular to working precision.
fn inverted(graph: &SparseGraph, run: &Run<'_>) -> Result<Option<KernelDistances>> {
    let n = graph.n_nodes();
    let degrees = graph.degrees();
    let mut distances = zeros(n * n, "kernel")?;
    for nodes in graph.components().nodes().iter().filter(|nodes| nodes.len() > 1) {
        run.check()?;
        let volume: f64 = nodes.iter().map(|&node| degrees[node as usize]).sum();
        let root: Vec<f64> = nodes.iter().map(|&node| degrees[node as usize].sqrt()).collect();
        let mut kernel = Mat::from_fn(nodes.len(), nodes.len(), |i, j| {
            root[i] * root[j] / volume + f64::from(u8::from(i == j))
        });
        for (i, &node) in nodes.iter().enumerate() {
            for (other, weight) in graph.row(node as usize) {
                let j = nodes.binary_search(&other).expect("neighbors share a component");
                kernel[(i, j)] -= weight / (root[i] * root[j]);
            }
        }
        let inverse = run.unstoppable(move || Cholesky::of(kernel)?.inverse())?;
        let Ok(kernel) = inverse else { return Ok(None) };
        let between = |i: usize, j: usize| {
            // What P adds to S.
            let of_projector = (root[i] - root[j]) * (root[i] - root[j]) / volume;
            (kernel[(i, i)] + kernel[(j, j)] - 2.0 * kernel[(i, j)] - of_projector).max(0.0)
        };
        for (i, &node) in nodes.iter().enumerate() {
            let row = &mut distances[node as usize * n..(node as usize + 1) * n];
            nodes.iter().enumerate().for_each(|(j, &other)| row[other as usize] = between(i, j));
        }
    }
    Ok(Some(KernelDistances::All { n, distances }))
}

/// Coordinates in the leading eigenpairs.
fn in_pairs(
    graph: &SparseGraph,
    n_pairs: usize,
    params: &EigenParams,
    run: &Run<'_>,
) -> Result<KernelDistances> {
    let (n, n_null) = (graph.n_nodes(), graph.components().len());
    // Coordinates, the copy that is searched, and the eigenvectors they come from.
    let estimate = |n: usize| MemoryEstimate::of(vec![("kernel", 32 * n as u64 * n_pairs.min(n) as u64)]);
    refuse_if_over(n, run.memory_limit, estimate, "walk in fewer eigenpairs")?;
    let laplacian = Laplacian::new(graph, LaplacianKind::Symmetric);
    let found = smallest_eigenpairs(&laplacian, n_null + n_pairs, params, run)?;
    // The null space comes first; it is known from the components, not from a threshold.
    let (values, vectors) = (&found.values[n_null..], &found.vectors[n_null * n..]);
    let mut coordinates = vec![0.0; n * n_pairs];
    for (pair, (value, vector)) in values.iter().zip(vectors.chunks_exact(n)).enumerate() {
        let root = value.sqrt();
        let places = coordinates[pair..].iter_mut().step_by(n_pairs);
        places.zip(vector).for_each(|(place, v)| *place = v / root);
    }
    // Eigenvalues of K are the inverses: those after the last pair are no larger than its own.
    let truncation = if n_pairs + n_null == n { 0.0 } else { values[0] / values[n_pairs - 1] };
    Ok(KernelDistances::Leading { coordinates, n_pairs, truncation })
}
