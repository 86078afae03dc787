//! Consensus clustering after Race and Meyer (2014): many clusterings, how often they put points together, and the
//! random walk on these counts.
//!
//! Clusterings with different numbers of clusters vote on every pair of points. The votes, each row divided by its sum, are the
//! transition probabilities of a random walk; groups that the walk hardly leaves show as eigenvalues near 1, and there are as many
//! groups as eigenvalues before the widest gap. As long as the gap is not clear, the votes themselves are clustered and vote again.

use faer::Mat;
use rayon::prelude::*;

use crate::cluster::{KMeansParams, kmeans};
use crate::dense::{columns_of, symmetric_eigen};
use crate::error::{Error, Result, require};
use crate::labels::Labels;
use crate::memory::{MemoryEstimate, refuse_if_over};
use crate::points::Points;
use crate::progress::Run;

/// Parameters of consensus clustering.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsensusParams {
    /// Numbers of clusters to try; they should exceed the number of groups, since too few clusters merge groups for good.
    pub clusters: Vec<usize>,
    /// Number of clusterings with each of these.
    pub repeats: usize,
    /// Votes below this share of the clusterings are set to 0.
    pub drop: f64,
    /// Width of the gap at which the number of groups is clear.
    pub clear_gap: f64,
    /// Maximum number of rounds of voting.
    pub max_rounds: usize,
    /// The number of groups, if known.
    pub n_clusters: Option<usize>,
}

impl Default for ConsensusParams {
    fn default() -> Self {
        Self {
            clusters: (5..=20).collect(),
            repeats: 3,
            drop: 0.1,
            clear_gap: 0.25,
            max_rounds: 10,
            n_clusters: None,
        }
    }
}

/// The consensus.
#[derive(Debug, Clone)]
pub struct Consensus {
    /// Group of each point.
    pub labels: Labels,
    /// Eigenvalues of the random walk of the last round, largest first.
    pub eigenvalues: Vec<f64>,
    /// Number of rounds of voting.
    pub rounds: usize,
    /// Whether the gap became clear before the rounds ran out.
    pub is_clear: bool,
}

/// Clusters points by the consensus of k-means with many numbers of clusters. Memory grows with N².
pub fn consensus_clustering(points: &Points, params: &ConsensusParams, run: &Run<'_>) -> Result<Consensus> {
    let numbers = params.numbers_below(points.len())?;
    let quick = KMeansParams { restarts: 1, ..KMeansParams::default() };
    let mut clusterings = Vec::new();
    let values = points.values().to_f64();
    for (k, repeat) in params.votes(&numbers) {
        let run = run.with_seed(seed_of(run, 0, k, repeat));
        match kmeans(&values, points.n_columns(), k, &quick, &run) {
            Ok(found) => clusterings.push(found.labels),
            // More clusters than distinct points: this number does not vote.
            Err(Error::TooManyClusters { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    consensus_of(&clusterings, params, run)
}

/// The consensus of given clusterings; later rounds vote with the numbers of clusters in `params`.
pub fn consensus_of(clusterings: &[Labels], params: &ConsensusParams, run: &Run<'_>) -> Result<Consensus> {
    let n = clusterings.first().map_or(0, |labels| labels.len());
    let numbers = params.numbers_below(n)?;
    require((0.0..1.0).contains(&params.drop), "drop", params.drop, "must be at least 0 and below 1")?;
    let estimate = |n: usize| MemoryEstimate::of(vec![("consensus", 48 * (n as u64).pow(2))]);
    refuse_if_over(n, run.memory_limit, estimate, "cluster a sample of the points")?;
    require(params.n_clusters != Some(0), "clusters", 0, "must be at least 1")?;
    let most = numbers.iter().copied().max().unwrap_or(2);
    let mut votes = consensus_matrix(clusterings)?;
    let mut rounds = 1;
    loop {
        run.stage("consensus", None)?;
        let walk = Walk::new(&votes, params.drop, run)?;
        let (n_groups, gap) = walk.groups(most);
        let is_clear = gap >= params.clear_gap;
        if is_clear || rounds >= params.max_rounds {
            let k = params.n_clusters.unwrap_or(n_groups).min(n);
            let labels = walk.cluster(k, &KMeansParams::default(), run)?;
            return Ok(Consensus { labels, eigenvalues: walk.eigenvalues, rounds, is_clear });
        }
        let quick = KMeansParams { restarts: 1, ..KMeansParams::default() };
        let vote = |(k, repeat)| walk.cluster(k, &quick, &run.with_seed(seed_of(run, rounds, k, repeat)));
        votes = consensus_matrix(&params.votes(&numbers).map(vote).collect::<Result<Vec<_>>>()?)?;
        rounds += 1;
    }
}

impl ConsensusParams {
    /// The numbers of clusters that `n` points allow.
    fn numbers_below(&self, n: usize) -> Result<Vec<usize>> {
        require(self.repeats >= 1, "repeats", self.repeats, "must be at least 1")?;
        let numbers: Vec<usize> = self.clusters.iter().copied().filter(|&k| k < n).collect();
        let rule = "must contain a number of at least 2 and below the number of points";
        let fine = !numbers.is_empty() && numbers.iter().all(|&k| k >= 2);
        require(fine, "clusters", format!("{:?}", self.clusters), rule)?;
        Ok(numbers)
    }

    /// Every number of clusters, as often as it votes.
    fn votes<'a>(&'a self, numbers: &'a [usize]) -> impl Iterator<Item = (usize, usize)> + 'a {
        numbers.iter().flat_map(|&k| (0..self.repeats).map(move |repeat| (k, repeat)))
    }
}

fn seed_of(run: &Run<'_>, round: usize, k: usize, repeat: usize) -> u64 {
    // Spread over all bits, so that small seeds and small numbers do not collide.
    let vote = (round as u64) << 40 | (k as u64) << 20 | (repeat as u64 + 1);
    run.seed.wrapping_add(vote.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// The share of the clusterings that put each pair of points together, row by row; 1 on the diagonal.
pub fn consensus_matrix(clusterings: &[Labels]) -> Result<Vec<f64>> {
    let Some(first) = clusterings.first() else { return Err(Error::Empty { what: "clusterings" }) };
    let n = first.len();
    if let Some(other) = clusterings.iter().find(|labels| labels.len() != n) {
        return Err(Error::Length { what: "labels", expected: n, received: other.len() });
    }
    let together = |i: usize, j: usize| clusterings.iter().filter(|labels| labels[i] == labels[j]).count();
    let row = |i: usize| (0..n).map(move |j| together(i, j) as f64 / clusterings.len() as f64);
    Ok((0..n).into_par_iter().flat_map_iter(row).collect())
}

/// The random walk on the votes.
struct Walk {
    n: usize,
    /// Largest first.
    eigenvalues: Vec<f64>,
    /// Of the symmetric form, in the order of faer: smallest first.
    vectors: Mat<f64>,
}

impl Walk {
    fn new(votes: &[f64], drop: f64, run: &Run<'_>) -> Result<Self> {
        let n = votes.len().isqrt();
        let kept = |value: f64| if value < drop { 0.0 } else { value };
        let roots: Vec<f64> = votes
            .chunks_exact(n)
            .map(|row| row.iter().map(|&value| kept(value)).sum::<f64>().sqrt())
            .collect();
        let mut symmetric = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                symmetric[i * n + j] = kept(votes[i * n + j]) / (roots[i] * roots[j]);
            }
        }
        let (values, vectors) = run.unstoppable(move || symmetric_eigen(columns_of(&symmetric, n)))??;
        Ok(Self { n, eigenvalues: values.into_iter().rev().collect(), vectors })
    }

    /// The number of eigenvalues before the widest gap, and its width; at least 2, at most `most`.
    fn groups(&self, most: usize) -> (usize, f64) {
        let gap = |k: usize| (k, self.eigenvalues[k - 1] - self.eigenvalues.get(k).copied().unwrap_or(0.0));
        let gaps = (2..=most.min(self.n - 1).max(2)).map(gap);
        gaps.fold((2, f64::NEG_INFINITY), |best, gap| if gap.1 > best.1 { gap } else { best })
    }

    /// k-means on the rows of the leading eigenvectors, scaled to length 1.
    fn cluster(&self, k: usize, params: &KMeansParams, run: &Run<'_>) -> Result<Labels> {
        let mut rows = vec![0.0; self.n * k];
        for (i, row) in rows.chunks_exact_mut(k).enumerate() {
            row.iter_mut()
                .enumerate()
                .for_each(|(column, out)| *out = self.vectors[(i, self.n - 1 - column)]);
            let length = row.iter().map(|v| v * v).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
            row.iter_mut().for_each(|v| *v /= length);
        }
        // Points with identical votes share a row: there may be fewer distinct rows than requested clusters.
        match kmeans(&rows, k, k, params, run) {
            Err(Error::TooManyClusters { distinct, .. }) => {
                Ok(kmeans(&rows, k, distinct, params, run)?.labels)
            }
            found => Ok(found?.labels),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::uneven_blobs;
    use crate::metrics::ari;

    /// Four points, three clusterings: {0 1}{2 3}, {0 1}{2}{3}, {0 1 2}{3}.
    #[test]
    fn votes_and_walk_by_hand() {
        let clusterings: Vec<Labels> =
            [[0, 0, 1, 1], [0, 0, 1, 2], [0, 0, 0, 1]].map(Labels::in_order_of_appearance).to_vec();
        let votes = consensus_matrix(&clusterings).unwrap();
        let third = 1.0 / 3.0;
        let expected = [
            [1.0, 1.0, third, 0.0],
            [1.0, 1.0, third, 0.0],
            [third, third, 1.0, third],
            [0.0, 0.0, third, 1.0],
        ];
        assert_eq!(votes, expected.as_flattened());
        // Without votes of one third the walk falls apart into {0 1}, {2}, {3}: eigenvalues 1, 1, 1, 0.
        let walk = Walk::new(&votes, 0.5, &Run::new(0)).unwrap();
        for (found, expected) in walk.eigenvalues.iter().zip([1.0, 1.0, 1.0, 0.0]) {
            assert!((found - expected).abs() < 1e-12);
        }
        assert_eq!(walk.groups(4).0, 3);
        let labels = walk.cluster(3, &KMeansParams::default(), &Run::new(0)).unwrap();
        assert_eq!(labels[..], [0, 0, 1, 2]);
    }

    #[test]
    fn groups_are_found_with_their_number() {
        let data = uneven_blobs(150, 4, 3, 1).unwrap();
        let params = ConsensusParams { clusters: (4..=10).collect(), ..Default::default() };
        let found = consensus_clustering(&data.points, &params, &Run::new(1)).unwrap();
        assert!(found.is_clear, "{:?}", &found.eigenvalues[..6]);
        assert_eq!(ari(&data.labels, &found.labels).unwrap(), 1.0);
        let two = ConsensusParams { n_clusters: Some(2), ..params };
        assert_eq!(consensus_clustering(&data.points, &two, &Run::new(1)).unwrap().labels.n_classes(), 2);
        let none = ConsensusParams { clusters: vec![1], ..Default::default() };
        assert!(consensus_clustering(&data.points, &none, &Run::new(1)).is_err());
    }
}
