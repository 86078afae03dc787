//! t-SNE (van der Maaten and Hinton 2008): places points in the plane so that neighbors stay neighbors, for pictures.
//!
//! For points, the attractive and repulsive forces of all pairs are exact, so time grows with N²; suited to a few thousand points. For
//! a graph, its edges attract, and distant groups of points repel as one ([`tsne_of_graph`]); suited to tens of thousands. Nothing is random.

mod of_graph;
mod quadtree;

pub use of_graph::tsne_of_graph;

use rayon::prelude::*;

use crate::error::{Result, require};
use crate::memory::{MemoryEstimate, refuse_if_over};
use crate::neighbors::Space;
use crate::progress::Run;

/// Parameters of t-SNE.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TsneParams {
    /// Effective number of neighbors of each point.
    pub perplexity: f64,
    /// Number of steps; in the first quarter, at most 250 of them, the attractive forces are exaggerated.
    pub steps: usize,
}

impl Default for TsneParams {
    fn default() -> Self {
        Self { perplexity: 30.0, steps: 750 }
    }
}

/// Exaggeration of the attractive forces in the first steps.
const EXAGGERATION: f64 = 12.0;

/// Two coordinates for each point, row by row. `start` has the same form, for example the leading principal components; its scale
/// does not matter.
pub fn tsne(space: &Space, start: &[f64], params: &TsneParams, run: &Run<'_>) -> Result<Vec<f64>> {
    let n = space.len();
    let fits = params.perplexity >= 1.0 && params.perplexity <= (n as f64 - 1.0) / 3.0;
    require(fits, "perplexity", params.perplexity, "must be between 1 and a third of the number of points")?;
    require(start.len() == 2 * n, "start", start.len(), "must have two coordinates for each point")?;
    let estimate = |n: usize| MemoryEstimate::of(vec![("t-SNE", 24 * (n as u64).pow(2))]);
    refuse_if_over(n, run.memory_limit, estimate, "show a sample of the points")?;
    run.stage("t-SNE", Some(params.steps as u64))?;
    let affinities = affinities(space, params.perplexity);
    descend(start, params.steps, |y, exaggeration| gradient(&affinities, y, exaggeration), run)
}

/// Gradient descent; the gradient is a function of the positions and the factor on the attractive forces.
fn descend(
    start: &[f64],
    steps: usize,
    gradient: impl Fn(&[f64], f64) -> Vec<f64>,
    run: &Run<'_>,
) -> Result<Vec<f64>> {
    let n = start.len() / 2;
    let spread =
        (start.iter().map(|v| v * v).sum::<f64>() / start.len() as f64).sqrt().max(f64::MIN_POSITIVE);
    // Points that start at the same position would stay together: a tiny offset separates them.
    let hair = |place: usize| 1e-6 * (place as f64 * 0.618_033_988_749_895).fract();
    let mut y: Vec<f64> =
        start.iter().enumerate().map(|(place, v)| 1e-2 * (v / spread + hair(place))).collect();
    let (mut velocity, mut gains) = (vec![0.0; 2 * n], vec![1.0f64; 2 * n]);
    let rate = (n as f64 / EXAGGERATION).max(50.0);
    let early = (steps / 4).min(250);
    for step in 0..steps {
        run.check()?;
        let (exaggeration, momentum) = if step < early { (EXAGGERATION, 0.5) } else { (1.0, 0.8) };
        let gradient = gradient(&y, exaggeration);
        for place in 0..2 * n {
            let is_turning = gradient[place] * velocity[place] > 0.0;
            gains[place] = if is_turning { (0.8 * gains[place]).max(0.01) } else { gains[place] + 0.2 };
            velocity[place] = momentum * velocity[place] - rate * gains[place] * gradient[place];
            y[place] += velocity[place];
        }
        run.progress.advance(1);
    }
    Ok(y)
}

/// p_ij = (p_{j|i} + p_{i|j})/2n, where each p_{·|i} is a Gaussian whose entropy is ln(perplexity).
fn affinities(space: &Space, perplexity: f64) -> Vec<f64> {
    let n = space.len();
    let row = |i: usize| {
        let squares: Vec<f64> = (0..n).map(|j| space.distance(i, j).powi(2)).collect();
        let nearest = (0..n).filter(|&j| j != i).map(|j| squares[j]).fold(f64::INFINITY, f64::min);
        let weights = |beta: f64| -> Vec<f64> {
            let weight = |j: usize| if j == i { 0.0 } else { (-beta * (squares[j] - nearest)).exp() };
            (0..n).map(weight).collect()
        };
        let entropy = |weights: &[f64], beta: f64| {
            let sum: f64 = weights.iter().sum();
            let mean: f64 = weights.iter().zip(&squares).map(|(w, d)| w * (d - nearest)).sum::<f64>() / sum;
            sum.ln() + beta * mean
        };
        let (mut low, mut high, mut beta) = (0.0, f64::INFINITY, 1.0);
        for _ in 0..64 {
            if entropy(&weights(beta), beta) > perplexity.ln() {
                low = beta;
                beta = if high.is_finite() { 0.5 * (low + high) } else { 2.0 * beta };
            } else {
                high = beta;
                beta = 0.5 * (low + high);
            }
        }
        let weights = weights(beta);
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(move |w| w / sum)
    };
    let conditional: Vec<f64> = (0..n).into_par_iter().flat_map_iter(row).collect();
    let both = |i: usize, j: usize| (conditional[i * n + j] + conditional[j * n + i]) / (2.0 * n as f64);
    (0..n).into_par_iter().flat_map_iter(|i| (0..n).map(move |j| both(i, j))).collect()
}

/// 4·Σ_j (exaggeration·p_ij − q_ij)·(y_i − y_j)/(1 + |y_i − y_j|²).
fn gradient(affinities: &[f64], y: &[f64], exaggeration: f64) -> Vec<f64> {
    let n = y.len() / 2;
    let closeness = |i: usize, j: usize| {
        let (a, b) = (y[2 * i] - y[2 * j], y[2 * i + 1] - y[2 * j + 1]);
        (1.0 / (1.0 + a * a + b * b), a, b)
    };
    let of_rows: Vec<f64> =
        (0..n).into_par_iter().map(|i| (0..n).filter(|&j| j != i).map(|j| closeness(i, j).0).sum()).collect();
    let total: f64 = of_rows.iter().sum();
    let row = |i: usize| {
        let mut sums = [0.0; 2];
        for (j, p) in affinities[i * n..(i + 1) * n].iter().enumerate() {
            let (close, a, b) = closeness(i, j);
            let force = 4.0 * (exaggeration * p - close / total) * close;
            sums[0] += force * a;
            sums[1] += force * b;
        }
        sums
    };
    (0..n).into_par_iter().flat_map_iter(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::Metric;
    use crate::generators::uneven_blobs;

    fn divergence(affinities: &[f64], y: &[f64]) -> f64 {
        let n = y.len() / 2;
        let close = |i: usize, j: usize| {
            1.0 / (1.0 + (y[2 * i] - y[2 * j]).powi(2) + (y[2 * i + 1] - y[2 * j + 1]).powi(2))
        };
        let pairs = || (0..n).flat_map(|i| (0..n).filter(move |&j| j != i).map(move |j| (i, j)));
        let total: f64 = pairs().map(|(i, j)| close(i, j)).sum();
        let term = |(i, j): (usize, usize)| {
            let p = affinities[i * n + j];
            if p > 0.0 { p * (p / (close(i, j) / total)).ln() } else { 0.0 }
        };
        pairs().map(term).sum()
    }

    #[test]
    fn gradients_equal_finite_differences_and_perplexity_is_met() {
        let data = uneven_blobs(24, 3, 3, 1).unwrap();
        let space = Space::from_points(data.points, Metric::Euclidean).unwrap();
        let p = affinities(&space, 5.0);
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let y: Vec<f64> = (0..48).map(|v| f64::from(v * 7 % 11) / 5.0 - 1.0).collect();
        let gradient = gradient(&p, &y, 1.0);
        for place in 0..48 {
            let moved = |by: f64| {
                let mut y = y.clone();
                y[place] += by;
                divergence(&p, &y)
            };
            let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((difference - gradient[place]).abs() < 1e-8, "{difference} {}", gradient[place]);
        }
    }

    #[test]
    fn groups_stay_apart_and_the_bits_the_same() {
        let data = uneven_blobs(150, 5, 3, 2).unwrap();
        let start: Vec<f64> = data.points.values().rows(5).flat_map(|row| [row.get(0), row.get(1)]).collect();
        let space = Space::from_points(data.points, Metric::Euclidean).unwrap();
        let params = TsneParams { perplexity: 20.0, steps: 300 };
        let y = tsne(&space, &start, &params, &Run::new(0)).unwrap();
        assert!(y.iter().all(|v| v.is_finite()));
        // The nearest neighbor in the plane belongs to the same group.
        let d = |i: usize, j: usize| (y[2 * i] - y[2 * j]).powi(2) + (y[2 * i + 1] - y[2 * j + 1]).powi(2);
        let nearest =
            |i: usize| (0..150).filter(|&j| j != i).min_by(|&a, &b| d(i, a).total_cmp(&d(i, b))).unwrap();
        assert!((0..150).all(|i| data.labels[nearest(i)] == data.labels[i]));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(pool.install(|| tsne(&space, &start, &params, &Run::new(0)).unwrap()), y);
        assert!(tsne(&space, &start, &TsneParams { perplexity: 100.0, steps: 1 }, &Run::new(0)).is_err());
    }
}
