//! Results of the nodes that extend to new points: an embedding, clusters, classes.

use super::edges::NewEdge;
use crate::cluster::{ClusterParams, Clustering, memberships};
use crate::distance::squared_euclidean;
use crate::error::{Error, Result, require};
use crate::graph::SparseGraph;
use crate::propagate::{Propagation, best};
use crate::spectral::{Embedding, LaplacianKind, RowNormalization, unit_row};

/// Smallest divisor in the extension of a coordinate. Eigenvalues this close to the middle of the
/// spectrum separate nothing, and dividing by less would amplify noise.
const MIN_DIVISOR: f64 = 0.05;

/// Clusters of the nodes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Clusters {
    pub labels: Vec<u32>,
    pub n_clusters: usize,
    /// Membership of each node in each cluster, node by node; empty for an embedding alone, and above [`MAX_MEMBERSHIPS`] clusters.
    pub memberships: Vec<f64>,
    /// The cluster of each node in each layer, from coarse to fine.
    pub layers: Vec<Vec<u32>>,
    /// `None` without eigenvectors, or if the graph's components were clustered separately.
    pub spectral: Option<Spectral>,
}

/// With more clusters a point equal to a node belongs to that node's cluster alone: a table of all nodes and clusters would be larger
/// than the points.
const MAX_MEMBERSHIPS: usize = 100;

/// The cluster of a new point, and all that goes with it.
pub(super) struct PlacedCluster {
    pub cluster: u32,
    pub margin: f64,
    pub embedded: Vec<f64>,
    pub memberships: Vec<f64>,
    pub layers: Vec<u32>,
}

/// The embedding of the nodes, and how it was computed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spectral {
    pub kind: LaplacianKind,
    pub rows: RowNormalization,
    pub eigenvalues: Vec<f64>,
    /// Row by row, one row for each node.
    pub coordinates: Vec<f64>,
    /// Length of each row before it was scaled to 1; empty if rows were not scaled.
    pub row_lengths: Vec<f64>,
    /// Degree of each node in the graph that was embedded.
    pub degrees: Vec<f64>,
    /// Mean of the rows of each cluster.
    pub centers: Vec<f64>,
}

impl Spectral {
    fn new(
        embedding: &Embedding,
        kind: LaplacianKind,
        rows: RowNormalization,
        degrees: Vec<f64>,
        centers: Vec<f64>,
    ) -> Self {
        Self {
            kind,
            rows,
            eigenvalues: embedding.eigenvalues.clone(),
            coordinates: embedding.coordinates.clone(),
            row_lengths: embedding.row_lengths.clone().unwrap_or_default(),
            degrees,
            centers,
        }
    }
}

impl Clusters {
    pub(super) fn learned(graph: &SparseGraph, clustering: &Clustering, params: &ClusterParams) -> Self {
        let n_clusters = clustering.n_clusters();
        let labels = clustering.labels.to_vec();
        let spectral = clustering.embedding.as_ref().map(|embedding| {
            let mut degrees = graph.degrees();
            for link in &clustering.links {
                degrees[link.i as usize] += link.weight;
                degrees[link.j as usize] += link.weight;
            }
            let centers = centers(&embedding.coordinates, embedding.n_columns, &labels, n_clusters);
            Spectral::new(embedding, params.laplacian, params.row_normalization, degrees, centers)
        });
        let memberships = match n_clusters <= MAX_MEMBERSHIPS {
            true => memberships(graph, &clustering.labels),
            false => Vec::new(),
        };
        let layers = clustering.layers.iter().map(|layer| layer.labels.to_vec()).collect();
        Self { labels, n_clusters, memberships, layers, spectral }
    }

    /// An embedding alone: all nodes form one cluster.
    pub(super) fn embedded(
        graph: &SparseGraph,
        embedding: &Embedding,
        kind: LaplacianKind,
        rows: RowNormalization,
    ) -> Self {
        let labels = vec![0; graph.n_nodes()];
        let centers = centers(&embedding.coordinates, embedding.n_columns, &labels, 1);
        let spectral = Spectral::new(embedding, kind, rows, graph.degrees(), centers);
        Self { labels, n_clusters: 1, memberships: Vec::new(), layers: Vec::new(), spectral: Some(spectral) }
    }

    pub(super) fn len(&self) -> usize {
        self.n_clusters
    }

    pub(super) fn n_embedded(&self) -> Option<usize> {
        self.spectral.as_ref().map(|spectral| spectral.eigenvalues.len())
    }

    pub(super) fn check(&self, n: usize) -> Result<()> {
        let length = |what, expected, received| match expected == received {
            true => Ok(()),
            false => Err(Error::Length { what, expected, received }),
        };
        length("cluster labels", n, self.labels.len())?;
        let sensible = (1..=n).contains(&self.n_clusters);
        require(sensible, "clusters", self.n_clusters, "must be at least 1 and at most the number of nodes")?;
        if let Some(row) = self.labels.iter().position(|&label| label as usize >= self.n_clusters) {
            return Err(Error::BadLabel { row, label: self.labels[row], n_classes: self.n_clusters });
        }
        let n_memberships = if self.memberships.is_empty() { 0 } else { n * self.n_clusters };
        length("memberships", n_memberships, self.memberships.len())?;
        let outside = self.memberships.iter().find(|share| !(0.0..=1.0 + 1e-9).contains(*share));
        require(outside.is_none(), "membership", outside.unwrap_or(&0.0), "must be between 0 and 1")?;
        for layer in &self.layers {
            length("labels of a layer", n, layer.len())?;
            if let Some(row) = layer.iter().position(|&label| label as usize >= n) {
                return Err(Error::BadLabel { row, label: layer[row], n_classes: n });
            }
        }
        let Some(spectral) = &self.spectral else { return Ok(()) };
        let d = spectral.eigenvalues.len();
        require(d >= 1, "coordinates", d, "must be at least 1")?;
        length("coordinates of the nodes", n * d, spectral.coordinates.len())?;
        length("coordinates of the centers", self.n_clusters * d, spectral.centers.len())?;
        length("degrees", n, spectral.degrees.len())?;
        let scaled = if spectral.rows == RowNormalization::UnitLength { n } else { 0 };
        length("lengths of the rows", scaled, spectral.row_lengths.len())?;
        let negative = spectral.degrees.iter().chain(&spectral.row_lengths).find(|&&value| value < 0.0);
        require(negative.is_none(), "degree or length", negative.unwrap_or(&0.0), "must be at least 0")
    }

    /// A new point: its cluster is that of the nearest center in the embedding, or without an embedding the one with most votes of its
    /// neighbors; its memberships are the shares of the votes.
    pub(super) fn of_new(&self, edges: &[NewEdge], votes: &[f64]) -> PlacedCluster {
        let memberships = shares(&self.labels, self.n_clusters, edges, votes);
        let of_layer = |labels: &Vec<u32>| {
            let n_labels =
                edges.iter().map(|edge| labels[edge.node as usize]).max().map_or(1, |last| last as usize + 1);
            best(&shares(labels, n_labels, edges, votes)).0
        };
        let layers = self.layers.iter().map(of_layer).collect();
        let (cluster, margin, embedded) = match &self.spectral {
            Some(spectral) => {
                let embedded = spectral.extend(edges, votes);
                let (cluster, _) = nearest(&spectral.centers, &embedded, None);
                (cluster, self.margin(cluster, &embedded), embedded)
            }
            None => {
                let (cluster, margin) = best(&memberships);
                (cluster, margin, Vec::new())
            }
        };
        PlacedCluster { cluster, margin, embedded, memberships, layers }
    }

    /// The same for a node.
    pub(super) fn of_node(&self, node: usize) -> PlacedCluster {
        let (cluster, k) = (self.labels[node], self.n_clusters);
        let memberships = match self.memberships.is_empty() {
            true => (0..k as u32).map(|other| f64::from(u8::from(other == cluster))).collect(),
            false => self.memberships[node * k..(node + 1) * k].to_vec(),
        };
        let layers = self.layers.iter().map(|labels| labels[node]).collect();
        let (margin, embedded) = match &self.spectral {
            Some(spectral) => {
                let embedded = spectral.row(node).to_vec();
                (self.margin(cluster, &embedded), embedded)
            }
            None => (1.0, Vec::new()),
        };
        PlacedCluster { cluster, margin, embedded, memberships, layers }
    }

    /// 1 − (distance to the own center)/(distance to the nearest other): 1 at the center, 0 halfway between two.
    fn margin(&self, cluster: u32, embedded: &[f64]) -> f64 {
        let Some(spectral) = self.spectral.as_ref().filter(|_| self.n_clusters > 1) else { return 1.0 };
        let d = embedded.len();
        let own = &spectral.centers[cluster as usize * d..(cluster as usize + 1) * d];
        let (_, other) = nearest(&spectral.centers, embedded, Some(cluster));
        let own = squared_euclidean(own, embedded);
        if other > 0.0 { (1.0 - (own / other).sqrt()).max(0.0) } else { 0.0 }
    }
}

/// The share of the votes for each label.
fn shares(labels: &[u32], n_labels: usize, edges: &[NewEdge], votes: &[f64]) -> Vec<f64> {
    let mut shares = vec![0.0; n_labels];
    let total: f64 = votes.iter().sum();
    for (edge, vote) in edges.iter().zip(votes) {
        shares[labels[edge.node as usize] as usize] += vote / total;
    }
    shares
}

/// The center nearest to a point, optionally excluding one, and its squared distance; ties go to the lower index.
fn nearest(centers: &[f64], point: &[f64], without: Option<u32>) -> (u32, f64) {
    let distances = centers.chunks_exact(point.len()).map(|center| squared_euclidean(center, point));
    let all = distances.enumerate().map(|(center, squared)| (center as u32, squared));
    all.filter(|(center, _)| Some(*center) != without)
        .fold((0, f64::INFINITY), |best, next| if next.1 < best.1 { next } else { best })
}

fn centers(coordinates: &[f64], d: usize, labels: &[u32], n_clusters: usize) -> Vec<f64> {
    let mut centers = vec![0.0; n_clusters * d];
    let mut sizes = vec![0.0; n_clusters];
    for (row, &label) in coordinates.chunks_exact(d).zip(labels) {
        let center = &mut centers[label as usize * d..(label as usize + 1) * d];
        center.iter_mut().zip(row).for_each(|(sum, v)| *sum += v);
        sizes[label as usize] += 1.0;
    }
    for (center, size) in centers.chunks_exact_mut(d).zip(&sizes) {
        center.iter_mut().for_each(|v| *v /= size);
    }
    centers
}

impl Spectral {
    fn row(&self, node: usize) -> &[f64] {
        let d = self.eigenvalues.len();
        &self.coordinates[node * d..(node + 1) * d]
    }

    /// The eigenvectors at a new point x, by the equation that they satisfy at the nodes (Bengio et al. 2004): with w(x, j) its
    /// weights, d(x) their sum and d(j) the degrees,
    /// - symmetric: u(x) = Σ w(x, j)/√(d(x)·d(j))·u(j) / (1 − λ),
    /// - random walk: u(x) = Σ w(x, j)/d(x)·u(j) / (1 − λ),
    /// - unnormalized: u(x) = Σ w(x, j)·u(j) / (d(x) − λ).
    ///
    /// Scaled coordinates are extended by the same equation. Rows are scaled to length 1 if those of the
    /// nodes were.
    fn extend(&self, edges: &[NewEdge], weights: &[f64]) -> Vec<f64> {
        let total: f64 = weights.iter().sum();
        let mut embedded = vec![0.0; self.eigenvalues.len()];
        for (edge, weight) in edges.iter().zip(weights) {
            let node = edge.node as usize;
            let share = match self.kind {
                // An isolated node does not influence others.
                LaplacianKind::Symmetric if self.degrees[node] <= 0.0 => 0.0,
                LaplacianKind::Symmetric => weight / (total.sqrt() * self.degrees[node].sqrt()),
                LaplacianKind::RandomWalk | LaplacianKind::Unnormalized => weight / total,
            };
            let length = self.row_lengths.get(node).copied().unwrap_or(1.0);
            embedded.iter_mut().zip(self.row(node)).for_each(|(sum, u)| *sum += share * length * u);
        }
        let unit = if self.kind == LaplacianKind::Unnormalized { total } else { 1.0 };
        for (u, eigenvalue) in embedded.iter_mut().zip(&self.eigenvalues) {
            let divisor = 1.0 - eigenvalue / unit;
            *u /= divisor.abs().max(MIN_DIVISOR).copysign(divisor);
        }
        if self.rows == RowNormalization::UnitLength {
            unit_row(&mut embedded);
        }
        embedded
    }
}

/// Probabilities of the classes at the nodes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Classes {
    pub n_classes: usize,
    /// Node by node; all 0 where no label reaches.
    pub probabilities: Vec<f64>,
}

impl Classes {
    pub(super) fn learned(propagation: &Propagation) -> Result<Self> {
        let n = propagation.labels.len();
        let n_classes = propagation.probabilities.len().checked_div(n).unwrap_or(0);
        Ok(Self { n_classes, probabilities: propagation.probabilities.clone() })
    }

    pub(super) fn len(&self) -> usize {
        self.n_classes
    }

    pub(super) fn check(&self, n: usize) -> Result<()> {
        require(self.n_classes >= 2, "classes", self.n_classes, "must be at least 2")?;
        if self.probabilities.len() != n * self.n_classes {
            let (expected, received) = (n * self.n_classes, self.probabilities.len());
            return Err(Error::Length { what: "probabilities of the classes", expected, received });
        }
        let outside = self.probabilities.iter().find(|p| !(0.0..=1.0 + 1e-9).contains(*p));
        require(outside.is_none(), "probability", outside.unwrap_or(&0.0), "must be between 0 and 1")
    }

    pub(super) fn of_node(&self, node: usize) -> &[f64] {
        &self.probabilities[node * self.n_classes..(node + 1) * self.n_classes]
    }

    /// The weighted mean over the neighbors that a label reaches; all 0 if there are none.
    pub(super) fn of_new(&self, edges: &[NewEdge], votes: &[f64]) -> Vec<f64> {
        let mut mean = vec![0.0; self.n_classes];
        for (edge, vote) in edges.iter().zip(votes) {
            mean.iter_mut().zip(self.of_node(edge.node as usize)).for_each(|(sum, p)| *sum += vote * p);
        }
        let total: f64 = mean.iter().sum();
        if total > 0.0 {
            mean.iter_mut().for_each(|p| *p /= total);
        }
        mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::Edges;
    use crate::progress::Run;
    use crate::random::{Stage, Stream};
    use crate::spectral::{EigenParams, embed};

    /// A dense random graph: no weight is 0.
    fn graph(n: u32) -> SparseGraph {
        let mut draws = Stream::new(3, Stage::Generator).at(0, 0);
        let edges = Edges::all_pairs(n as usize);
        let weights: Vec<f64> = edges.iter().map(|_| 0.1 + draws.uniform()).collect();
        SparseGraph::from_edges(&edges, &weights).unwrap()
    }

    fn spectral(graph: &SparseGraph, kind: LaplacianKind, rows: RowNormalization, d: usize) -> Spectral {
        let found = embed(graph, kind, d, rows, &EigenParams::default(), &Run::new(0)).unwrap();
        Spectral {
            kind,
            rows,
            eigenvalues: found.eigenvalues,
            coordinates: found.coordinates,
            row_lengths: found.row_lengths.unwrap_or_default(),
            degrees: graph.degrees(),
            centers: vec![],
        }
    }

    fn edges_of(graph: &SparseGraph, node: usize) -> (Vec<NewEdge>, Vec<f64>) {
        let edge = |node| NewEdge { node, distance: 1.0, probability: 1.0, weight: 1.0, log_affinity: 0.0 };
        graph.row(node).map(|(j, weight)| (edge(j), weight)).unzip()
    }

    /// At a node the extension is the eigenvalue equation itself, for every kind and row normalization.
    #[test]
    fn a_node_with_its_own_weights_gets_its_own_coordinates() {
        let graph = graph(30);
        for kind in [LaplacianKind::Symmetric, LaplacianKind::RandomWalk, LaplacianKind::Unnormalized] {
            for rows in [RowNormalization::UnitLength, RowNormalization::Diffusion, RowNormalization::Plain] {
                // Only the first eigenvalues: all others of a dense graph are near 1.
                let all = spectral(&graph, kind, rows, 30);
                let unit = if kind == LaplacianKind::Unnormalized { graph.degrees()[0] } else { 1.0 };
                let sure = |value: &f64| (1.0 - value / unit).abs() > 2.0 * MIN_DIVISOR;
                let d = all.eigenvalues.iter().take_while(|value| sure(value)).count();
                assert!(d >= 2, "{kind:?}: {:?}", all.eigenvalues);
                let spectral = spectral(&graph, kind, rows, d);
                for node in [0, 7, 29] {
                    let (edges, weights) = edges_of(&graph, node);
                    let found = spectral.extend(&edges, &weights);
                    for (new, known) in found.iter().zip(spectral.row(node)) {
                        assert!((new - known).abs() < 1e-9, "{kind:?} {rows:?} {node}: {found:?}");
                    }
                }
            }
        }
    }

    /// The symmetric extension against the matrix product that defines it.
    #[test]
    fn the_extension_equals_a_dense_computation() {
        let graph = graph(12);
        let spectral = spectral(&graph, LaplacianKind::Symmetric, RowNormalization::Plain, 1);
        let weights: Vec<f64> = (0..12).map(|j| 0.5 + f64::from(j)).collect();
        let edges: Vec<NewEdge> = (0..12)
            .map(|node| NewEdge { node, distance: 0.0, probability: 1.0, weight: 0.0, log_affinity: 0.0 })
            .collect();
        let found = spectral.extend(&edges, &weights)[0];
        let degrees = graph.degrees();
        let d_new: f64 = weights.iter().sum();
        // The first eigenvector is √d, normalized, with eigenvalue 0.
        let norm = degrees.iter().sum::<f64>().sqrt();
        let expected: f64 =
            (0..12).map(|j| weights[j] / (d_new * degrees[j]).sqrt() * degrees[j].sqrt() / norm).sum();
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        assert!((found - d_new.sqrt() / norm).abs() < 1e-12);
    }

    #[test]
    fn eigenvalues_in_the_middle_of_the_spectrum_do_not_blow_up() {
        let mut spectral = spectral(&graph(12), LaplacianKind::Symmetric, RowNormalization::Plain, 2);
        spectral.eigenvalues[1] = 1.0;
        let (edges, weights) = edges_of(&graph(12), 3);
        assert!(spectral.extend(&edges, &weights).iter().all(|v| v.is_finite() && v.abs() < 20.0));
    }

    #[test]
    fn margins_are_one_at_the_center_and_nothing_half_way() {
        let spectral = Spectral {
            kind: LaplacianKind::Symmetric,
            rows: RowNormalization::Plain,
            eigenvalues: vec![0.0],
            coordinates: vec![0.0, 4.0],
            row_lengths: vec![],
            degrees: vec![1.0; 2],
            centers: vec![0.0, 4.0],
        };
        let clusters = Clusters {
            labels: vec![0, 1],
            n_clusters: 2,
            memberships: Vec::new(),
            layers: Vec::new(),
            spectral: Some(spectral),
        };
        clusters.check(2).unwrap();
        assert_eq!(clusters.margin(1, &[4.0]), 1.0);
        assert_eq!(clusters.margin(1, &[2.0]), 0.0);
        assert_eq!(clusters.margin(0, &[1.0]), 1.0 - 1.0 / 3.0);
        assert_eq!(clusters.margin(0, &[3.0]), 0.0);
    }
}
