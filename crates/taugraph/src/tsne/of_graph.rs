//! t-SNE of a graph: its edges attract, all points repel.

use rayon::prelude::*;

use super::descend;
use super::quadtree::Quadtree;
use crate::error::{Result, require};
use crate::graph::SparseGraph;
use crate::progress::Run;

/// Two coordinates for each node, row by row. `start` has the same form; its scale does not matter.
///
/// The attractive force of an edge follows from its share of the weights of either end.
pub fn tsne_of_graph(graph: &SparseGraph, start: &[f64], steps: usize, run: &Run<'_>) -> Result<Vec<f64>> {
    let n = graph.n_nodes();
    require(start.len() == 2 * n, "start", start.len(), "must have two coordinates for each point")?;
    run.stage("t-SNE", Some(steps as u64))?;
    let attraction = Attraction::new(graph);
    descend(start, steps, |y, exaggeration| attraction.gradient(y, exaggeration), run)
}

/// p_ij = (w_ij/d_i + w_ij/d_j)/2n of the edges of each node.
struct Attraction<'a> {
    graph: &'a SparseGraph,
    shares: Vec<f64>,
}

impl<'a> Attraction<'a> {
    fn new(graph: &'a SparseGraph) -> Self {
        let (n, degrees) = (graph.n_nodes(), graph.degrees());
        let of_node = |i: usize| {
            let degrees = &degrees;
            graph.row(i).map(move |(j, weight)| {
                (weight / degrees[i] + weight / degrees[j as usize]) / (2.0 * n as f64)
            })
        };
        Self { graph, shares: (0..n).flat_map(of_node).collect() }
    }

    /// 4·Σ_j (exaggeration·p_ij − q_ij)·(y_i − y_j)/(1 + |y_i − y_j|²).
    fn gradient(&self, y: &[f64], exaggeration: f64) -> Vec<f64> {
        let points = y.as_chunks::<2>().0;
        let tree = Quadtree::new(y);
        let repulsions: Vec<([f64; 2], f64)> =
            points.par_iter().with_min_len(64).map(|&point| tree.repulsion(point)).collect();
        let total: f64 = repulsions.iter().map(|(_, sum)| sum).sum::<f64>().max(f64::MIN_POSITIVE);
        let of_node = |i: usize| {
            let mut attractive = [0.0; 2];
            let first = self.graph.offsets()[i] as usize;
            for ((j, _), share) in self.graph.row(i).zip(&self.shares[first..]) {
                let away = [points[i][0] - points[j as usize][0], points[i][1] - points[j as usize][1]];
                let strength = exaggeration * share / (1.0 + away[0] * away[0] + away[1] * away[1]);
                attractive[0] += strength * away[0];
                attractive[1] += strength * away[1];
            }
            let repulsive = repulsions[i].0;
            [4.0 * (attractive[0] - repulsive[0] / total), 4.0 * (attractive[1] - repulsive[1] / total)]
        };
        (0..points.len()).into_par_iter().with_min_len(64).flat_map_iter(of_node).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::Metric;
    use crate::generators::uneven_blobs;
    use crate::neighbors::Space;
    use crate::params::Preset;
    use crate::robust::robust_graph;

    fn graph_and_start(n: usize) -> (SparseGraph, Vec<f64>, Vec<u32>) {
        let data = uneven_blobs(n, 5, 4, 2).unwrap();
        let start = data.points.values().rows(5).flat_map(|row| [row.get(0), row.get(1)]).collect();
        let space = Space::from_points(data.points, Metric::Euclidean).unwrap();
        let params = Preset::Robust.params().check().unwrap();
        (robust_graph(&space, &params, &Run::new(0)).unwrap().graph, start, data.labels.to_vec())
    }

    /// Against all pairs, one by one.
    #[test]
    fn gradients_are_close_to_the_exact_ones() {
        let (graph, start, _) = graph_and_start(300);
        let attraction = Attraction::new(&graph);
        let found = attraction.gradient(&start, 1.0);
        let n = 300;
        let mut affinities = vec![0.0; n * n];
        for i in 0..n {
            let first = graph.offsets()[i] as usize;
            for ((j, _), share) in graph.row(i).zip(&attraction.shares[first..]) {
                affinities[i * n + j as usize] = *share;
            }
        }
        assert!((affinities.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let exact = super::super::gradient(&affinities, &start, 1.0);
        let error: f64 = found.iter().zip(&exact).map(|(a, b)| (a - b).powi(2)).sum();
        let length: f64 = exact.iter().map(|v| v * v).sum();
        assert!(error < 1e-2 * length, "{error} of {length}");
    }

    #[test]
    fn groups_stay_apart_and_the_bits_the_same() {
        let (graph, start, labels) = graph_and_start(400);
        let y = tsne_of_graph(&graph, &start, 300, &Run::new(0)).unwrap();
        assert!(y.iter().all(|v| v.is_finite()));
        let d = |i: usize, j: usize| (y[2 * i] - y[2 * j]).powi(2) + (y[2 * i + 1] - y[2 * j + 1]).powi(2);
        let nearest =
            |i: usize| (0..400).filter(|&j| j != i).min_by(|&a, &b| d(i, a).total_cmp(&d(i, b))).unwrap();
        let alike = (0..400).filter(|&i| labels[nearest(i)] == labels[i]).count();
        assert!(alike >= 396, "{alike} of 400");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(pool.install(|| tsne_of_graph(&graph, &start, 300, &Run::new(0)).unwrap()), y);
        assert!(tsne_of_graph(&graph, &start[..4], 1, &Run::new(0)).is_err());
    }
}
