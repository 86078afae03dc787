//! Nearly separate parts of a graph, as guesses for its smallest eigenvectors.
//!
//! Clusters connected only by weak links give eigenvalues near 0 that are almost equal. Their eigenvectors are
//! almost those of the separate parts, D^½·1 on each: as starting vectors these provide what a random start would have to
//! find one by one. If there are more parts than pairs are wanted, the vectors are about constant on each: the same eigenproblem for
//! vectors that are, much smaller, tells which.

use super::laplacian::Laplacian;
use super::solvers::lanczos::{self, LanczosParams, Unlimited};
use super::solvers::multilevel::Masses;
use super::solvers::shift_invert::Shifted;
use super::solvers::{Context, SymmetricMatrix, SymmetricOperator};
use crate::dense::{dot, norm};
use crate::error::Result;
use crate::graph::{Components, SparseGraph};
use crate::progress::unstoppable;

/// Edges lighter than this fraction of the geometric mean of their ends' degrees are weak.
const WEAK: f64 = 1e-3;
/// A part is nearly separate if its Rayleigh quotient (cut over volume) is below this fraction of the norm.
const NEARLY: f64 = 5e-3;
/// Minimum number of nodes per part for the eigenproblem of parts to be worthwhile.
const NODES: usize = 8;
/// Its inverse may take as many bytes as so many vectors of the whole problem.
const VECTORS: u64 = 8;
/// Shift of the inverse, as a fraction of the norm: below the eigenvalues of a path of 100,000 parts.
const SHIFT: f64 = 1e-10;
/// Relative residual of its eigenvalues, and the angle to which its space is solved for.
const TOLERANCE: f64 = 1e-9;
const ANGLE: f64 = 1e-3;
/// Eigenvalues of the parts below this fraction of the norm are taken to lie far below those of vectors that vary within a part.
const FAR_BELOW: f64 = 1e-6;
/// Lanczos steps between two convergence checks, and in all for each wanted pair.
const STEPS: usize = 8;
const APPLICATIONS: usize = 40;
/// Random vectors of its own.
const SALT: u32 = 2;

/// Starting vectors.
#[derive(Default)]
pub(super) struct Guesses {
    /// Column-major.
    pub vectors: Vec<f64>,
    /// An upper bound on the last wanted eigenvalue, if there are more parts than pairs are wanted.
    pub last: Option<f64>,
    /// Whether the eigenproblem of the parts tells the wanted pairs from the next. Vectors that vary within a part, which it leaves out,
    /// have far larger eigenvalues then, and change the pairs only by the square of their residuals.
    pub told_apart: bool,
}

/// Guesses for at most `wanted` + 1 vectors; none if the graph has no nearly separate parts.
pub(super) fn guesses(laplacian: &Laplacian<'_>, wanted: usize, context: Context<'_>) -> Result<Guesses> {
    let graph = laplacian.graph();
    let n = graph.n_nodes();
    let degrees = laplacian.degrees();
    let strong = |i: usize, j: u32, weight: f64| weight >= WEAK * (degrees[i] * degrees[j as usize]).sqrt();
    let parts = Components::of_strong_edges(graph, strong);
    if parts.len() == 1 {
        return Ok(Guesses::default());
    }
    if n >= NODES * parts.len() && parts.len() > graph.components().len() + wanted {
        let of_parts = PartMatrix::new(laplacian, &parts)?;
        if let Some(guesses) = of_parts.guesses(laplacian, &parts, wanted, context)? {
            return Ok(guesses);
        }
    }
    let mut volumes = vec![0.0; parts.len()];
    parts.of_nodes().iter().zip(degrees).for_each(|(&part, degree)| volumes[part as usize] += degree);
    let mut largest: Vec<usize> = (0..parts.len()).collect();
    largest.sort_by(|&a, &b| volumes[b].total_cmp(&volumes[a]).then(a.cmp(&b)));
    largest.truncate(wanted + 1);
    let mut image = vec![0.0; n];
    let vectors = laplacian
        .part_vectors(&parts, largest)
        .chunks_exact(n)
        .filter(|guess| {
            laplacian.apply(guess, &mut image);
            dot(guess, &image) <= NEARLY * laplacian.norm_bound()
        })
        .flatten()
        .copied()
        .collect();
    Ok(Guesses { vectors, ..Guesses::default() })
}

/// The Laplacian for vectors M^½·y with y constant on each part: M_p^−½·(D_p − W_p)·M_p^−½ with the weights between parts, and the
/// masses of all their nodes.
struct PartMatrix {
    graph: SparseGraph,
    degrees: Vec<f64>,
    masses: Vec<f64>,
    norm_bound: f64,
}

impl PartMatrix {
    fn new(laplacian: &Laplacian<'_>, parts: &Components) -> Result<Self> {
        let part_of = parts.of_nodes();
        let mut masses = vec![0.0; parts.len()];
        (0..).zip(part_of).for_each(|(node, &part)| masses[part as usize] += mass(laplacian, node));
        let graph = parts.graph_between(laplacian.graph())?;
        let degrees = graph.degrees();
        let diagonal = degrees.iter().zip(&masses).map(|(degree, mass)| degree / mass);
        let norm_bound = 2.0 * diagonal.fold(f64::MIN_POSITIVE, f64::max);
        Ok(Self { graph, degrees, masses, norm_bound })
    }

    /// The smallest pairs, as vectors of all nodes; `None` if an inverse takes too much memory or cannot be had.
    fn guesses(
        &self,
        laplacian: &Laplacian<'_>,
        parts: &Components,
        wanted: usize,
        context: Context<'_>,
    ) -> Result<Option<Guesses>> {
        let n = laplacian.degrees().len();
        let shifted = Shifted::new(self, SHIFT * self.norm_bound);
        let Some(shifted) = shifted.filter(|shifted| shifted.bytes() <= VECTORS * 8 * n as u64) else {
            return Ok(None);
        };
        let Some(inverse) = unstoppable(context.check, move || shifted.factorize())? else { return Ok(None) };
        let params = LanczosParams {
            wanted,
            tolerance: TOLERANCE,
            angle: ANGLE,
            steps: STEPS,
            max_applications: APPLICATIONS * (wanted + 1),
            guesses: &[],
            salt: SALT,
        };
        let found = lanczos::largest(&inverse, &self.null_vectors(), &params, &mut Unlimited, context)?;
        let mut vectors = Vec::with_capacity(n * wanted);
        for vector in found.vectors.chunks_exact(parts.len()) {
            vectors.extend((0..).zip(parts.of_nodes()).map(|(node, &part)| {
                vector[part as usize] * (mass(laplacian, node) / self.masses[part as usize]).sqrt()
            }));
        }
        let last = vectors.chunks_exact(n).last().map(|last| {
            let mut image = vec![0.0; n];
            laplacian.apply(last, &mut image);
            dot(last, &image)
        });
        let is_far_below = last.is_some_and(|last| last <= FAR_BELOW * laplacian.norm_bound());
        Ok(Some(Guesses { vectors, last, told_apart: found.confirmed && is_far_below }))
    }

    /// M_p^½ on each component, of length 1.
    fn null_vectors(&self) -> Vec<f64> {
        let (n, components) = (self.masses.len(), self.graph.components());
        let mut vectors = vec![0.0; n * components.len()];
        for (part, &component) in components.of_nodes().iter().enumerate() {
            vectors[component as usize * n + part] = self.masses[part].sqrt();
        }
        for vector in vectors.chunks_exact_mut(n) {
            let length = norm(vector);
            vector.iter_mut().for_each(|value| *value /= length);
        }
        vectors
    }
}

impl SymmetricOperator for PartMatrix {
    fn len(&self) -> usize {
        self.masses.len()
    }

    fn norm_bound(&self) -> f64 {
        self.norm_bound
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        for (i, y) in y.iter_mut().enumerate() {
            *y = self.diagonal(i) * x[i]
                + self.off_diagonal(i).map(|(j, value)| value * x[j as usize]).sum::<f64>();
        }
    }
}

impl SymmetricMatrix for PartMatrix {
    fn diagonal(&self, i: usize) -> f64 {
        self.degrees[i] / self.masses[i]
    }

    fn off_diagonal(&self, i: usize) -> impl Iterator<Item = (u32, f64)> {
        let of_pair = move |j: u32| (self.masses[i] * self.masses[j as usize]).sqrt();
        self.graph.row(i).map(move |(j, weight)| (j, -weight / of_pair(j)))
    }
}

/// How much a node counts.
fn mass(laplacian: &Laplacian<'_>, node: usize) -> f64 {
    match laplacian.masses() {
        Masses::Degrees => laplacian.degrees()[node],
        Masses::Ones => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::Edges;
    use crate::progress::Run;
    use crate::random::{Stage, Stream};
    use crate::spectral::{EigenParams, LaplacianKind, smallest_eigenpairs};

    /// Rings of eight nodes, joined in a tree by links that are a million times weaker.
    fn rings(n_rings: u32) -> SparseGraph {
        let mut draws = Stream::new(5, Stage::Generator).at(0, 0);
        let mut edges: Vec<((u32, u32), f64)> = Vec::new();
        for ring in 0..n_rings {
            let node = |at: u32| 8 * ring + at % 8;
            edges.extend((0..8).map(|at| ((node(at), node(at + 1)), 0.5 + draws.uniform())));
            if ring > 0 {
                let other = 8 * draws.below(ring as usize) as u32;
                edges.push(((node(3), other + 5), 1e-6 * (0.5 + draws.uniform())));
            }
        }
        let sorted = |&((i, j), weight): &((u32, u32), f64)| ((i.min(j), i.max(j)), weight);
        let mut edges: Vec<_> = edges.iter().map(sorted).collect();
        edges.sort_by_key(|edge| edge.0);
        let (pairs, weights): (Vec<_>, Vec<f64>) = edges.into_iter().unzip();
        SparseGraph::from_edges(&Edges::from_pairs(8 * n_rings as usize, pairs).unwrap(), &weights).unwrap()
    }

    /// The parts give the pairs of the dense solver, for every kind, and the whole solver keeps them.
    #[test]
    fn many_parts_give_the_smallest_pairs() {
        let graph = rings(60);
        let context = Context { stream: Stream::new(0, Stage::Eigen), check: &|| Ok(()) };
        for kind in [LaplacianKind::Symmetric, LaplacianKind::Unnormalized] {
            let laplacian = Laplacian::new(&graph, kind);
            let wanted = 7;
            let exact = crate::spectral::solvers::dense::smallest(
                &laplacian,
                &laplacian.part_vectors(graph.components(), 0..1),
                wanted,
            );
            let exact = exact.unwrap();
            let found = guesses(&laplacian, wanted, context).unwrap();
            assert!(found.told_apart && found.last.is_some_and(|last| last < 1e-5));
            // The share of every vector within the exact space.
            for vector in found.vectors.chunks_exact(480) {
                let inside: f64 = exact.chunks_exact(480).map(|exact| dot(exact, vector).powi(2)).sum();
                assert!(
                    (inside - dot(vector, vector)).abs() < 1e-4 && (inside - 1.0).abs() < 1e-4,
                    "{inside}"
                );
            }
        }
    }

    /// Far more parts than pairs: the search ends soon, with pairs that are pairs.
    #[test]
    fn thousands_of_parts_are_no_trouble() {
        let graph = rings(2_000);
        let laplacian = Laplacian::new(&graph, LaplacianKind::Symmetric);
        let found = smallest_eigenpairs(&laplacian, 12, &EigenParams::for_space(), &Run::new(0)).unwrap();
        assert!(found.info.confirmed && found.info.applications < 2_000, "{:?}", found.info);
        assert!(found.residuals.iter().all(|residual| *residual < 2.1e-8), "{:?}", found.residuals);
        // Upper bounds: Rayleigh quotients of the parts alone.
        let parts =
            guesses(&laplacian, 11, Context { stream: Stream::new(0, Stage::Eigen), check: &|| Ok(()) });
        assert!(found.values[11] <= parts.unwrap().last.unwrap() * (1.0 + 1e-9));
    }
}
